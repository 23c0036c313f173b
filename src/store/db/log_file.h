/*
 * log_file.h - SQLite's log, written in large pieces. Internal to src/store.
 *
 * SQLite writes each page of a transaction to its log with two calls of the
 * system, one for 24 bytes of head and one for the page. A transaction here has
 * dozens of pages. Under this VFS the writes of a connection to its log are
 * gathered, and handed to the system at once when the log is synced, read, or
 * the room for them is used up.
 *
 * Only for connections with synchronous=FULL: there a transaction is seen by
 * others after its sync, so nobody looks for pages that are still gathered.
 *
 * why: decisions 0242, 0417
 */
#ifndef PAWL_STORE_DB_LOG_FILE_H
#define PAWL_STORE_DB_LOG_FILE_H

#include <stdbool.h>

/* The name of the VFS, for sqlite3_open_v2(); or NULL: there is no memory for it. Once per process. */
const char *log_file_register(void);

/*
 * Whether who reads this log rests now and then: a checkpoint beside the writer copies thousands of
 * pages at a stretch, and the writer, which wants a moment of the same processor for each commit,
 * would stand behind it. `file` is the log of a connection, or anything else, which is left alone.
 */
struct sqlite3_file;
void log_file_yield(struct sqlite3_file *file, bool yields);

#endif
