/* poison.c - see poison.h. */
#include "node/poison.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POISON_BYTES = 16 };

/* Room on the disk too: a hole that cannot be filled would end the process when it is written. */
static bool make_room(int fd)
{
    static const uint8_t nobody[POISON_BYTES];
    struct stat s;

    if (fstat(fd, &s) != 0)
        return false;
    return s.st_size >= POISON_BYTES ||
           pwrite(fd, nobody, sizeof(nobody), 0) == (ssize_t)sizeof(nobody);
}

bool poison_open(struct poison *p, struct str data_path, struct uuid *found, bool *was_found,
                 struct err *err)
{
    static const struct uuid none;
    char path[4096];

    *was_found = false;
    *p = (struct poison){.fd = -1};
    if (snprintf(path, sizeof(path), "%.*s/poison", STR_ARG(data_path)) >= (int)sizeof(path))
        return err_set(err, ERR_IO, "the path of the data folder is too long");
    p->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (p->fd < 0 || !make_room(p->fd)) {
        err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
        poison_close(p);
        return false;
    }
    p->page = mmap(NULL, POISON_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (p->page == MAP_FAILED) {
        p->page = NULL;
        err_set(err, ERR_IO, "cannot map %s: %s", path, strerror(errno));
        poison_close(p);
        return false;
    }
    memcpy(found->bytes, p->page, POISON_BYTES);
    *was_found = uuid_cmp(*found, none) != 0;
    return true;
}

void poison_close(struct poison *p)
{
    if (p->page != NULL)
        munmap(p->page, POISON_BYTES);
    if (p->fd >= 0)
        close(p->fd);
    *p = (struct poison){.fd = -1};
}

void poison_set(struct poison *p, struct uuid id)
{
    if (p->page != NULL)
        memcpy(p->page, id.bytes, POISON_BYTES);
}

void poison_clear(struct poison *p)
{
    if (p->page != NULL)
        memset(p->page, 0, POISON_BYTES);
}
