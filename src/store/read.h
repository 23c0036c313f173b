/*
 * read.h - what can be asked of the store. Each kind of row has a header of its
 * own, read_*.h; each function runs on a reader thread, sees one committed
 * snapshot and answers in the caller's arena.
 *
 * A function answers false and fills *err when the database failed (ERR_IO,
 * ERR_OVERLOADED when it took longer than a reader may). What does not exist is
 * not a failure: *found says it.
 *
 * why: decisions 0032, 0055
 */
#ifndef PAWL_STORE_READ_H
#define PAWL_STORE_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "value/value.h"

struct reader; /* a connection for reading */
struct idempotency;

enum { READ_BYTES_MAX = 4 << 20 }; /* of the rows of one page of a list, and one row beyond */

#endif
