/*
 * progress.h - how far long work has come, on standard error.
 *
 * On a terminal a bar that is drawn over itself; elsewhere a line at the
 * beginning and one for each quarter, so that a log stays short.
 */
#ifndef PAWL_CLI_PROGRESS_H
#define PAWL_CLI_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress_line {
    const char *what; /* "copying the store" */
    bool is_terminal;
    int shown_percent; /* -1: nothing yet */
};

void progress_begin(struct progress_line *p, const char *what);

/* `done` of `total`, and a word behind the bar, or NULL. */
void progress_set(struct progress_line *p, int64_t done, int64_t total, const char *note);

/* Take the bar away, so that the next line stands alone. */
void progress_end(struct progress_line *p);

/* How far a file has grown, while one long call writes it. */
struct progress_file {
    struct progress_line progress;
    const char *path;
    int64_t total_bytes;
    bool is_watched;
    pthread_t thread;
    atomic_bool is_done;
};

/* Show the growth of `path` towards `total_bytes` until progress_file_end(). */
void progress_file_begin(struct progress_file *f, const char *what, const char *path,
                         int64_t total_bytes);
void progress_file_end(struct progress_file *f);

/* The size of a file, or 0. */
int64_t progress_file_bytes(const char *path);

#endif
