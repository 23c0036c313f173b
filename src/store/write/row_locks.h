/*
 * row_locks.h - the rows that a batch is going to write, locked before anything
 * is decided.
 *
 * On a database that others share (db->has_sets) row_locks_ask() asks for every
 * row that the members name, in every table: one statement for each way of
 * naming them (LOCK_... in sql.def), in the order in which these stand there and
 * in the order of keys within each. A row that another session has locked is not
 * waited for: row_locks_take() marks the members that need it as passed over, and
 * they are refused with MEMBER_LOCKED before they have done anything. The others
 * are applied. So a lock delays what needs its row and nothing else, and no two
 * batches wait for each other.
 *
 * What a member turns out to need only while it is applied is locked by its own
 * statements, which do not wait either (SQL_LOCKING); a statement that has to
 * wait all the same ends after a second with DB_LOCKED: see writer.h.
 *
 * Which rows a member needs: member_locks.c.
 *
 * why: decision 0390
 */
#ifndef PAWL_STORE_WRITE_ROW_LOCKS_H
#define PAWL_STORE_WRITE_ROW_LOCKS_H

#include "store/write/apply.h"

/* Ask for the rows of all members; they are locked by the next flush. Nothing to do for a file. */
enum db_status row_locks_ask(struct apply *a, const struct members *members);

/* After the flush: mark the members whose rows were not got. */
enum db_status row_locks_take(struct apply *a);

/*
 * Lock what a key names by these statements, at once. *is_free is false when another session has
 * one of the rows; a file has no other sessions. False: a->status says why.
 */
bool row_locks_try(struct apply *a, const enum sql *locks, size_t count, struct str key,
                   bool *is_free) MUST_USE;

/* Whether it locks rows or may have to wait for a key that it inserts. */
bool member_may_wait(const struct member *m);

/* --- for member_locks.c --- */

/* The locks of one member are asked for. */
struct member_locks {
    struct apply *a;
    struct member *m;
};

/* One more: `sql` is a LOCK_... statement. */
void member_lock(struct member_locks *l, enum sql sql, const struct db_value *key, unsigned count);

/* All that a member needs. */
void member_locks_ask(struct member_locks *l);

#endif
