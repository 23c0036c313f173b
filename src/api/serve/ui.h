/*
 * ui.h - the pages of the web UI, as they are inside the program.
 *
 * The table is written by web/scripts/build.mjs and linked into build/pawl
 * alone. Every other program takes the empty one of ui_none.c out of the
 * library, so that no test waits for npm.
 *
 * why: decision 0252
 */
#ifndef PAWL_API_SERVE_UI_H
#define PAWL_API_SERVE_UI_H

#include "base/str.h"

/* How the bytes of a file are sent; the order is that of preference. */
enum ui_encoding { UI_BROTLI, UI_GZIP, UI_PLAIN, UI_ENCODING_COUNT };

struct ui_file {
    struct str path; /* "/assets/index-a1b2.js"; the page itself is "/index.html" */
    const char *type;
    bool is_immutable;                /* its name changes with its content */
    struct str hash;                  /* of its content, for ETag */
    struct str as[UI_ENCODING_COUNT]; /* one that is not worth it is none */
};

/* Sorted by path. */
extern const struct ui_file ui_files[];
extern const size_t ui_file_count;

/* Whether the header Accept-Encoding takes `name`: it is listed, or `*` is, and not with q=0. */
bool ui_accepts(struct str header, struct str name);

/* Whether the header If-None-Match has that tag, quotes included; a weak one is as good. */
bool ui_tag_matches(struct str header, struct str tag);

#endif
