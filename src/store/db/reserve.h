/*
 * reserve.h - some space of the volume that is kept for opening the store.
 *
 * SQLite cannot open a file on a full volume: it needs room for the index of
 * its log. The file `reserve` in the data folder is that room. It is given up
 * when the store cannot be opened without it, and made again when there is
 * space.
 *
 * why: decision 0141
 */
#ifndef PAWL_STORE_DB_RESERVE_H
#define PAWL_STORE_DB_RESERVE_H

#include "base/str.h"

/* Make the file unless it is there: at most half of what is free. Whether it could be made is no matter. */
void reserve_keep(struct str data_path);

/* Give the space up; false when there is none. */
bool reserve_drop(struct str data_path);

#endif
