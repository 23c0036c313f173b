/*
 * ident.h - identifiers that the pure core makes.
 *
 * They come from what is already known (the execution, the number of a history
 * row, a counter), so that the same advance makes the same ids everywhere.
 */
#ifndef PAWL_ENGINE_IDENT_H
#define PAWL_ENGINE_IDENT_H

#include "base/uuid.h"

/* The id number `n` that row `seq` of an execution makes at that time. */
struct uuid ident_make(struct uuid execution, int64_t seq, uint32_t n, int64_t now_us);

/* The same for an execution that this one starts. Its last byte is the same: they belong together. */
struct uuid ident_make_child(struct uuid execution, int64_t seq, uint32_t n, int64_t now_us);

/* A number from 0 to 2^32 - 1, for jitter, from the same source. */
uint32_t ident_random(struct uuid execution, int64_t seq, uint32_t n);

#endif
