/*
 * stored_mask.h - what is sensitive in an execution, from its rows: names from
 * the facts of its version (define/facts.h), values from its inputs and from
 * the answers of people. For readers and for the writer.
 *
 * Most versions hide nothing, and the database finds that out. What cannot be
 * read hides everything: a damaged row refuses no list.
 */
#ifndef PAWL_STORE_WRITE_STORED_MASK_H
#define PAWL_STORE_WRITE_STORED_MASK_H

#include "base/uuid.h"
#include "store/db/db.h"
#include "value/mask.h"

/* Begin with the facts of the version and the input; the columns of SQL_READ_SENSITIVE. */
void stored_mask_begin(struct arena *mem, struct str facts_json, struct str input_json,
                       struct mask *out);

/* Learn what retries and people have added; `row` is the execution's. DB_DONE, or why not. */
enum db_status stored_mask_events(struct db *db, struct arena *mem, int64_t row, struct mask *out);

/* All of it. An execution that is not there has an empty mask. */
enum db_status stored_mask_read(struct db *db, struct arena *mem, struct uuid id, struct mask *out);

#endif
