/* poison.c - see poison.h. */
#include "node/guard/poison.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SLOT_BYTES = 16,
    FILE_BYTES = POISON_SLOTS * SLOT_BYTES,
    FILES_MAX = 64, /* without a data folder: processes on one machine */
};

static const struct uuid nobody;

/* Space on the disk too: a hole that cannot be filled would end the process when it is written. */
static bool poison_allocate(int fd)
{
    static const uint8_t zeros[FILE_BYTES];
    struct stat s;

    if (fstat(fd, &s) != 0)
        return false;
    return s.st_size >= FILE_BYTES ||
           pwrite(fd, zeros, (size_t)(FILE_BYTES - s.st_size), s.st_size) == FILE_BYTES - s.st_size;
}

static int open_file(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* The first file that no other process has locked; a lock ends with its process. */
static int open_unlocked(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");

    for (int i = 0; i < FILES_MAX; i++) {
        int fd;

        (void)snprintf(path, size, "%s/pawl-poison-%u-%d", folder != NULL ? folder : "/tmp",
                       (unsigned)getuid(), i);
        fd = open_file(path);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

static struct uuid slot_id(const struct poison *p, unsigned slot)
{
    struct uuid id;

    memcpy(id.bytes, p->page + (size_t)slot * SLOT_BYTES, SLOT_BYTES);
    return id;
}

static void write_slot(struct poison *p, unsigned slot, struct uuid id)
{
    if (p->page != NULL && slot < POISON_SLOTS)
        memcpy(p->page + (size_t)slot * SLOT_BYTES, id.bytes, SLOT_BYTES);
}

/* An id that stands in several slots ended the process once. */
static void find_left(struct poison *p, struct poison_left *left, unsigned *count)
{
    for (unsigned slot = 0; slot < POISON_SLOTS; slot++) {
        struct uuid id = slot_id(p, slot);
        bool is_known = uuid_cmp(id, nobody) == 0;

        for (unsigned i = 0; i < *count && !is_known; i++)
            is_known = uuid_cmp(left[i].id, id) == 0;
        if (is_known) {
            write_slot(p, slot, nobody);
            continue;
        }
        left[(*count)++] = (struct poison_left){.id = id, .slot = slot};
        p->is_taken[slot] = true;
    }
}

bool poison_open(struct poison *p, struct str data_path, struct poison_left left[POISON_SLOTS],
                 unsigned *count, struct err *err)
{
    char path[4096];

    *count = 0;
    *p = (struct poison){.fd = -1};
    if (data_path.len > 0 &&
        snprintf(path, sizeof(path), "%.*s/poison", STR_ARG(data_path)) >= (int)sizeof(path))
        return err_set(err, ERR_IO, "the path of the data folder is too long");
    p->fd = data_path.len > 0 ? open_file(path) : open_unlocked(path, sizeof(path));
    if (p->fd < 0 || !poison_allocate(p->fd)) {
        err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
        poison_close(p);
        return false;
    }
    p->page = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (p->page == MAP_FAILED) {
        p->page = NULL;
        err_set(err, ERR_IO, "cannot map %s: %s", path, strerror(errno));
        poison_close(p);
        return false;
    }
    find_left(p, left, count);
    /* Only a file that somebody has filled by hand has none free. */
    p->own = poison_enter(p, nobody);
    return true;
}

void poison_close(struct poison *p)
{
    if (p->page != NULL)
        munmap(p->page, FILE_BYTES);
    if (p->fd >= 0)
        close(p->fd);
    p->page = NULL;
    p->fd = -1;
}

void poison_set(struct poison *p, struct uuid id)
{
    write_slot(p, p->own, id);
}

void poison_clear(struct poison *p)
{
    write_slot(p, p->own, nobody);
}

void poison_forgive(struct poison *p)
{
    for (unsigned slot = 0; slot < POISON_SLOTS; slot++)
        write_slot(p, slot, nobody);
}

unsigned poison_enter(struct poison *p, struct uuid id)
{
    for (unsigned slot = 0; slot < POISON_SLOTS; slot++) {
        bool is_free = false;

        if (!atomic_compare_exchange_strong(&p->is_taken[slot], &is_free, true))
            continue;
        write_slot(p, slot, id);
        return slot;
    }
    return POISON_SLOTS; /* all are taken: this one is not watched */
}

void poison_leave(struct poison *p, unsigned slot)
{
    if (slot == POISON_SLOTS)
        return;
    write_slot(p, slot, nobody);
    atomic_store(&p->is_taken[slot], false);
}
