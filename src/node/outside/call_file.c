/* call_file.c - see call_file.h. */
#include "node/outside/call_file.h"

#include "base/alloc.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Space on the disk too: a hole that cannot be filled would end the process when it is written. */
static int call_file_allocate(int fd, size_t bytes)
{
    struct stat s;

    if (fstat(fd, &s) != 0)
        return errno;
    return s.st_size >= (off_t)bytes ? 0 : posix_fallocate(fd, 0, (off_t)bytes);
}

/* What was written of it before the space was used up says nothing. */
static bool go_without(struct call_file *f, const char *path)
{
    log_write(LOG_WARN, "there is no space to note calls: after a kill they wait for their timeout",
              LOG_FIELDS(log_str("file", str_of(path))));
    (void)!ftruncate(f->fd, 0);
    call_file_close(f);
    return true;
}

static bool map_file(struct call_file *f, const char *path, struct err *err)
{
    size_t bytes = f->slot_count * sizeof(*f->slots);
    void *page;
    int error;

    f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    error = f->fd < 0 ? errno : call_file_allocate(f->fd, bytes);
    if (f->fd >= 0 && error == ENOSPC)
        return go_without(f, path);
    if (error != 0)
        return err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(error));
    page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (page == MAP_FAILED)
        return err_set(err, ERR_IO, "cannot map %s: %s", path, strerror(errno));
    f->slots = page;
    return true;
}

bool call_file_open(struct call_file *f, struct str data_path, unsigned slot_count, struct err *err)
{
    char path[4096];

    *f = (struct call_file){.fd = -1, .slot_count = slot_count};
    if (data_path.len == 0)
        return true;
    if (snprintf(path, sizeof(path), "%.*s/calls", STR_ARG(data_path)) >= (int)sizeof(path))
        return err_set(err, ERR_IO, "the path of the data folder is too long");
    if (!map_file(f, path, err)) {
        call_file_close(f);
        return false;
    }
    if (f->slots == NULL)
        return true;
    f->free = alloc_bytes(slot_count * sizeof(*f->free));
    for (unsigned i = slot_count; i > 0; i--)
        if (f->slots[i - 1].seq == 0)
            f->free[f->free_count++] = i - 1;
    /* The pages stay in the file; few of them are used at once. */
    (void)madvise(f->slots, slot_count * sizeof(*f->slots), MADV_DONTNEED);
    return true;
}

void call_file_close(struct call_file *f)
{
    if (f->slots != NULL)
        munmap(f->slots, f->slot_count * sizeof(*f->slots));
    if (f->fd >= 0)
        close(f->fd);
    free(f->free);
    *f = (struct call_file){.fd = -1};
}

bool call_file_left(const struct call_file *f, unsigned number, struct call_slot *out)
{
    if (f->slots == NULL || f->slots[number].seq == 0)
        return false;
    *out = f->slots[number];
    return true;
}

unsigned call_file_enter(struct call_file *f, struct uuid execution, int64_t seq)
{
    unsigned number;

    if (f->slots == NULL)
        return 0;
    ASSERT(f->free_count > 0);
    number = f->free[--f->free_count];
    f->slots[number] = (struct call_slot){.execution = execution, .seq = seq};
    return number;
}

void call_file_leave(struct call_file *f, unsigned number)
{
    if (f->slots == NULL)
        return;
    f->slots[number].seq = 0;
    f->free[f->free_count++] = number;
}
