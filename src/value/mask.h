/*
 * mask.h - keep secrets out of what is shown.
 *
 * A mask knows which members of an input, and which fields of the answers of
 * people, are sensitive and which values they had. Wherever one of these values comes up again, whole or within a text,
 * "***" is shown in its place: in the results of steps, in errors, in logs, in
 * events of the engine, also where it stands escaped within JSON that was made a text.
 * Values that say little (true, null, numbers and texts of fewer than
 * MASK_LEN_MIN characters) are hidden under their name; a short text also
 * where it is the whole of another one.
 *
 * Hiding cannot fail, whatever is given: what cannot be masked is hidden whole.
 * It takes time in proportion to the text, however many secrets there are.
 *
 * why: decisions 0057, 0363, 0364
 */
#ifndef PAWL_VALUE_MASK_H
#define PAWL_VALUE_MASK_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "value/pattern_set.h"
#include "value/value.h"

enum { MASK_LEN_MIN = 4 };

/* What a mask keeps of secrets; one with more hides everything. */
enum { MASK_SECRETS_MAX = 16384, MASK_BYTES_MAX = 256 * 1024 };

/*
 * Links that let whoever has them answer a wait (engine/commit/link.h) hold this mark
 * and at least MASK_LINK_MIN further characters: they are hidden wherever they
 * come up, whoever looks.
 */
#define MASK_LINK_MARK "pawlcb_"
enum { MASK_LINK_MIN = 40 };

struct mask_names {
    VEC_OF(struct str);
};

struct mask_secrets {
    VEC_OF(struct str);
};

struct mask {
    struct mask_names names;
    struct mask_names fields;  /* of answers */
    struct mask_secrets texts; /* and numbers, as JSON writes them; each once */
    struct map whole;          /* the same */
    struct pattern_set *parts; /* those to be found within texts; NULL: not sealed */
    size_t bytes;              /* of all texts */
    bool hides_all;            /* what is sensitive is too much, or not known */
};

/* A member of the input that is sensitive; `name` must live as long as the mask. */
void mask_add(struct arena *mem, struct mask *m, struct str name);

/* A field of an answer that is; the same. */
void mask_add_field(struct arena *mem, struct mask *m, struct str name);

/* A text that is a secret; it is copied. */
void mask_add_secret(struct arena *mem, struct mask *m, struct str secret);

/*
 * Make ready what looks for the secrets, once all are known. A mask that is not
 * sealed hides the same, and makes it ready each time.
 */
void mask_seal(struct arena *mem, struct mask *m);

/* What is sensitive cannot be told: every text and number is hidden where secrets are. */
void mask_hide_all(struct mask *m);

/* Learn the values that the sensitive members of an input have. */
void mask_learn(struct arena *mem, struct mask *m, struct value input);

/* The same for the sensitive fields of an answer. */
void mask_learn_answer(struct arena *mem, struct mask *m, struct value answer);

static inline bool mask_is_empty(const struct mask *m)
{
    return m->names.count + m->fields.count == 0 && !m->hides_all;
}

/* The value without secrets; it shares what has none. */
struct value mask_value(struct arena *mem, const struct mask *m, struct value v);

/* Append a value that is masked as JSON; one that JSON cannot say is hidden whole. */
void mask_write(struct buf *out, struct value masked);

/* A text without secrets; the same one when it has none. */
struct str mask_text(struct arena *mem, const struct mask *m, struct str text);

/* A text, JSON or not, without links that answer waits; the same one when it has none. */
struct str mask_links(struct arena *mem, struct str text);

/* The same in place; answers how long the text is then. */
size_t mask_links_in(char *text, size_t len);

/* A JSON text without secrets and links; the same one when there are none to be hidden. */
struct str mask_json(struct arena *mem, const struct mask *m, struct str json);

/*
 * Append the JSON of an execution, of a row of its history or of a dead letter, as the API shows
 * them (compact), without secrets. What cannot hold any (ids, codes, times)
 * stays as it is. A member that cannot be read is hidden whole; a text that is no
 * object has no members.
 */
void mask_view(struct arena *mem, const struct mask *m, struct str json, struct buf *out);

/* The same as a text; the given one without links when the mask is empty. */
struct str mask_view_text(struct arena *mem, const struct mask *m, struct str json);

/* The JSON of a member of a view, whose name needs no escapes; null when there is none. */
struct str mask_view_member(struct str view, struct str name);

#endif
