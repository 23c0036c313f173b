/*
 * secret_mask.h - hide secrets in what comes back.
 *
 * A service may repeat what it was sent: as it is, percent-encoded, in base64
 * (alone or within a longer text, as in Basic), in hexadecimal, escaped as
 * JSON. All these forms are hidden.
 */
#ifndef PAWL_EFFECT_SECRET_SECRET_MASK_H
#define PAWL_EFFECT_SECRET_SECRET_MASK_H

#include "value/mask.h"

/*
 * Append a text percent-encoded: letters, digits and the characters of `also` as
 * they are, with `has_plus` a space as a plus.
 */
void secret_add_percent(struct buf *out, struct str text, const char *also, bool is_upper,
                        bool has_plus);

/* A secret and its forms, which live in `mem`. */
void secret_mask_add(struct arena *mem, struct mask *m, struct str secret);

/* Whether a text holds one of the forms. */
bool secret_mask_finds(const struct mask *m, struct str text);

/* The text, or the JSON text, without them; the same one when it has none. */
struct str secret_mask_text(struct arena *mem, const struct mask *m, struct str text);
struct str secret_mask_json(struct arena *mem, const struct mask *m, struct str json);

#endif
