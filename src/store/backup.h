/* backup.h - a copy of a store in a file, and back (SQLite only). */
#ifndef PAWL_STORE_BACKUP_H
#define PAWL_STORE_BACKUP_H

#include "base/err.h"

struct arena;

/*
 * A copy of the store in a data folder as a new file, as of one moment, without
 * opening the store as a node does: a server may run on it or not. The copy
 * grows as path.part until it is whole, and ends with a sum of its bytes behind
 * the last page.
 */
bool store_backup_folder(struct str data_path, struct str path, struct err *err) MUST_USE;

/*
 * The same with a text behind the copy, of at most BACKUP_NOTE_MAX printable characters: the
 * master key, sealed. It is part of what the sum is of.
 */
enum { BACKUP_NOTE_MAX = 480 };
bool store_backup_with_note(struct str data_path, struct str path, struct str note,
                            struct err *err) MUST_USE;

/* The text behind a copy, in `mem`; empty when there is none. ERR_IO: the file cannot be read. */
bool store_backup_note(struct arena *mem, struct str path, struct str *out,
                       struct err *err) MUST_USE;

/* Put a copy that store_backup_folder() made into an empty data folder, after looking it
 * through: a copy whose bytes are not those of its sum is refused. */
bool store_restore(struct str path, struct str data_path, struct err *err) MUST_USE;

#endif
