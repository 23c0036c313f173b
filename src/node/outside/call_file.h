/*
 * call_file.h - which calls were in flight when the process died. Internal to
 * src/node.
 *
 * The attempt of a call is durable before it leaves, but not that this process
 * makes it: a small mapped file in the data folder says so. The kernel keeps
 * its pages when the process is killed. What is found there at the next start
 * is answered at once: nobody knows what became of it. After a loss of power,
 * or without a data folder, the deadline of the attempt says the same later.
 */
#ifndef PAWL_NODE_OUTSIDE_CALL_FILE_H
#define PAWL_NODE_OUTSIDE_CALL_FILE_H

#include "base/err.h"
#include "base/uuid.h"

struct call_slot {
    struct uuid execution;
    int64_t seq; /* of the row that holds the attempt; 0 = the slot is free */
};

struct call_file {
    int fd;                  /* -1: there is no file, and nothing is noted */
    struct call_slot *slots; /* mapped */
    unsigned *free;          /* numbers of free slots, the next one last */
    unsigned free_count, slot_count;
};

/* Map the file; an empty path: there is none. ERR_IO. */
bool call_file_open(struct call_file *f, struct str data_path, unsigned slot_count,
                    struct err *err) MUST_USE;
void call_file_close(struct call_file *f);

/* Whether slot `number` was left by the process before; then it stays taken. */
bool call_file_left(const struct call_file *f, unsigned number, struct call_slot *out);

/* Note a call; the number of its slot. There are never more than there are slots. */
unsigned call_file_enter(struct call_file *f, struct uuid execution, int64_t seq);
void call_file_leave(struct call_file *f, unsigned number);

#endif
