/*
 * reserve.h - some space of the volume that is kept for opening the store and for deletions.
 *
 * SQLite cannot open a file on a full volume: it needs space for the index of
 * its log. Nor can it delete anything: a deletion is written into the log
 * first. The file `reserve` in the data folder holds that space. It is given up
 * when the store cannot be opened without it, and lent to transactions that do
 * nothing but delete (checkpoint_lend_reserve()).
 *
 * why: decisions 0141, 0405
 */
#ifndef PAWL_STORE_DB_RESERVE_H
#define PAWL_STORE_DB_RESERVE_H

#include "base/str.h"

/*
 * Make the file, or let it grow to its full size: it takes half of what is free
 * at most. Whether it could be made is no matter.
 */
void reserve_keep(struct str data_path);

/* The same after it was lent: it takes all that is free, up to its full size. */
void reserve_take_back(struct str data_path);

/* Give the space up; false when there is none. */
bool reserve_drop(struct str data_path);

#endif
