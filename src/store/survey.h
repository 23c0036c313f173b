/* survey.h - look at a store from outside, also while a server runs on it. */
#ifndef PAWL_STORE_SURVEY_H
#define PAWL_STORE_SURVEY_H

#include "base/err.h"

/* So many executions, and one of them. */
struct survey_found {
    int64_t count;
    char id[40]; /* empty when there is none */
};

enum { SURVEY_LETTER_KINDS_MAX = 8 };

struct store_survey {
    bool is_there;      /* false: nothing else is known */
    int64_t version;    /* of its tables */
    int64_t baseline;   /* the oldest that this program takes over */
    int64_t newest;     /* that this program knows */
    int64_t file_bytes; /* of an SQLite file; 0 on a server */
    int64_t log_bytes;  /* of its write-ahead log */
    char damage[200];   /* what is wrong with the file; empty when it is whole */

    /* What a person has to see to. Only when `version` is the newest. */
    bool knows_work;
    struct survey_letters {
        char kind[32];
        int64_t count;
    } letters[SURVEY_LETTER_KINDS_MAX]; /* open dead letters */
    unsigned letter_kinds;
    struct survey_found held;   /* they wait for an operator */
    struct survey_found parked; /* advancing them has ended the server again and again */
    struct survey_found asleep; /* nothing will wake them, for a minute or longer */
    struct survey_found torn;   /* deleted, ten minutes ago or longer, and rows are left */
};

/*
 * Look at the store of a data folder, or at that of `url` unless it is empty.
 * Reads all of an SQLite file and writes nothing. False when it cannot be
 * opened, with the reason.
 */
bool store_survey(struct str url, struct str data_path, struct store_survey *out,
                  struct err *err) MUST_USE;

/* What can be seen of a store without reading all of it. */
struct store_glance {
    bool is_used;    /* there is an execution or a definition */
    char key_id[40]; /* of the master key that secrets in it are sealed with; empty: of none */
};

/*
 * Glance at the store of a data folder, or at that of `url`, as store_survey() does. One that is
 * not there, or has no tables yet, is not used. False when it cannot be read, with the reason.
 */
bool store_glance(struct str url, struct str data_path, struct store_glance *out,
                  struct err *err) MUST_USE;

#endif
