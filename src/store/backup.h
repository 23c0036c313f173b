/* backup.h - a copy of a store in a file, and back (SQLite only). */
#ifndef PAWL_STORE_BACKUP_H
#define PAWL_STORE_BACKUP_H

#include "base/err.h"

/*
 * A copy of the store in a data folder as a new file, as of one moment, without
 * opening the store as a node does: a server may run on it or not. The copy
 * grows as path.part until it is whole, and ends with a sum of its bytes behind
 * the last page.
 */
bool store_backup_folder(struct str data_path, struct str path, struct err *err) MUST_USE;

/* Put a copy that store_backup_folder() made into an empty data folder, after looking it
 * through: a copy whose bytes are not those of its sum is refused. */
bool store_restore(struct str path, struct str data_path, struct err *err) MUST_USE;

#endif
