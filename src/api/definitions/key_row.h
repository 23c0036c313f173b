/*
 * key_row.h - the row that names the master key.
 *
 * Beside the definitions with a sealed secret stands one row that names the
 * key which they are sealed with. Every change that seals something rests on
 * it and writes it, so that nothing is sealed with a key that another node has
 * just rotated away: the change is refused with ERR_PRECONDITION_FAILED, and
 * whoever made it looks again.
 */
#ifndef PAWL_API_DEFINITIONS_KEY_ROW_H
#define PAWL_API_DEFINITIONS_KEY_ROW_H

#include "api/definitions/definitions.h"
#include "effect/secret/vault.h"
#include "store/read_definition.h"

struct key_row {
    int64_t version; /* 0: there is none */
    struct str text; /* what it is to be */
};

/* Everything that is stored with a secret. */
struct sealed_rows {
    struct stored_definitions credentials, subscriptions;
};

bool sealed_rows_read(struct reader *reader, struct arena *mem, struct sealed_rows *out,
                      struct err *err) MUST_USE;

/* ERR_CONFLICT: what is stored needs another key than this server has, or it has none. */
bool key_row_read(struct lookup *q, struct reader *reader, const struct sealed_rows *all,
                  struct key_row *out, struct err *err) MUST_USE;

/* The change that stands beside those that rest on the row. */
struct definition_change key_row_change(const struct call *c, const struct key_row *row);

/*
 * Let changes[0], which rests on the row, be followed by that change in
 * changes[1]; `owner` is found again in the first. Answers changes[0].
 */
struct definition_change *key_row_beside(const struct call *c, const struct key_row *row,
                                         struct definition_change changes[2], void *owner);

/* The text of the row that names this key. */
struct str key_row_text(struct arena *mem, struct str id);

#endif
