/* folder.h - the data folder of a node: one server at a time. */
#ifndef PAWL_STORE_FOLDER_H
#define PAWL_STORE_FOLDER_H

#include "base/err.h"

/*
 * Make the folder unless it is there, and lock it until the descriptor in *fd
 * is closed or the process ends. ERR_IO with what to do: another server has
 * it, or it cannot be written.
 */
bool folder_lock(struct str path, int *fd, struct err *err) MUST_USE;

/* Of the volume that the folder is on. */
struct folder_space {
    int64_t free_bytes; /* that may be written without special rights */
    int64_t size_bytes; /* of all of it */
};

/* False when it cannot be told. */
bool folder_space(struct str path, struct folder_space *out) MUST_USE;

/* Write what `path`, a file or folder, holds to the disk. */
bool folder_sync(const char *path, struct err *err) MUST_USE;

/* A copy of file `from` as new file `to`, durable when this returns. */
bool folder_copy_file(struct str from, struct str to, struct err *err) MUST_USE;

/* Give `from` the name `to`, in the same folder, durably. */
bool folder_rename(struct str from, struct str to, struct err *err) MUST_USE;

#endif
