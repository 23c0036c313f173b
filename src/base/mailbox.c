/* mailbox.c - a ring under a mutex, and an eventfd that mirrors whether it is empty. */
#include "base/mailbox.h"

#include "base/alloc.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool mailbox_init(struct mailbox *m, size_t capacity, struct err *err)
{
    ASSERT(capacity > 0);
    *m = (struct mailbox){.capacity = capacity};
    m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m->fd < 0)
        return err_set(err, ERR_IO, "no eventfd: %s", strerrordesc_np(errno));
    m->items = alloc_array(capacity, sizeof(*m->items));
    if (pthread_mutex_init(&m->lock, NULL) != 0)
        PANIC("no mutex");
    return true;
}

void mailbox_fini(struct mailbox *m)
{
    pthread_mutex_destroy(&m->lock);
    close(m->fd);
    free(m->items);
    *m = (struct mailbox){.fd = -1};
}

int mailbox_fd(const struct mailbox *m)
{
    return m->fd;
}

static void enter(struct mailbox *m)
{
    if (pthread_mutex_lock(&m->lock) != 0)
        PANIC("mailbox used after its end");
}

static void leave(struct mailbox *m)
{
    ASSERT_SLOW(m->count + m->reserved <= m->capacity);
    pthread_mutex_unlock(&m->lock);
}

/*
 * Both are called under the lock, on the way from empty to not empty and back:
 * outside of it a reader could swallow the signal of an item it has not seen.
 */
static void make_readable(struct mailbox *m)
{
    uint64_t one = 1;

    if (write(m->fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
        PANIC("eventfd cannot be written");
}

static void make_unreadable(struct mailbox *m)
{
    uint64_t count;

    if (read(m->fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
        PANIC("eventfd cannot be read");
}

static void append(struct mailbox *m, void *item)
{
    size_t place = m->first + m->count;

    m->items[place < m->capacity ? place : place - m->capacity] = item;
    m->count++;
    if (m->count == 1 && !m->closed)
        make_readable(m);
}

static bool has_slot(const struct mailbox *m)
{
    return !m->closed && m->count + m->reserved < m->capacity;
}

bool mailbox_put(struct mailbox *m, void *item)
{
    bool fits;

    enter(m);
    fits = has_slot(m);
    if (fits)
        append(m, item);
    leave(m);
    return fits;
}

bool mailbox_reserve(struct mailbox *m)
{
    bool fits;

    enter(m);
    fits = has_slot(m);
    if (fits)
        m->reserved++;
    leave(m);
    return fits;
}

void mailbox_put_reserved(struct mailbox *m, void *item)
{
    enter(m);
    ASSERT(m->reserved > 0);
    m->reserved--;
    append(m, item);
    leave(m);
}

void mailbox_unreserve(struct mailbox *m)
{
    enter(m);
    ASSERT(m->reserved > 0);
    m->reserved--;
    leave(m);
}

size_t mailbox_take(struct mailbox *m, void **out, size_t max)
{
    size_t n;

    enter(m);
    n = m->count < max ? m->count : max;
    for (size_t i = 0; i < n; i++) {
        out[i] = m->items[m->first];
        m->first = m->first + 1 < m->capacity ? m->first + 1 : 0;
    }
    m->count -= n;
    if (n > 0 && m->count == 0 && !m->closed)
        make_unreadable(m);
    leave(m);
    return n;
}

void mailbox_close(struct mailbox *m)
{
    enter(m);
    if (!m->closed && m->count == 0)
        make_readable(m);
    m->closed = true;
    leave(m);
}

size_t mailbox_depth(struct mailbox *m)
{
    size_t depth;

    enter(m);
    depth = m->count;
    leave(m);
    return depth;
}

bool mailbox_is_done(struct mailbox *m)
{
    bool done;

    enter(m);
    done = m->closed && m->count == 0 && m->reserved == 0;
    leave(m);
    return done;
}
