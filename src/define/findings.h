/* findings.h - what is wrong with a definition, and where in its text. */
#ifndef PAWL_DEFINE_FINDINGS_H
#define PAWL_DEFINE_FINDINGS_H

#include "base/vec.h"
#include "value/place.h"
#include "value/value.h"

struct source_text; /* value/source.h */

/*
 * What mends a finding: `value` in place of what stands at its pointer, or at
 * the pointer of the object around it when the field has another name in it.
 * What stands there may be no more than FIX_MAX_BYTES as JSON.
 *
 * why: decision 0484
 */
struct finding_fix {
    struct value value; /* VALUE_ABSENT: it is not known */
    bool is_around;
    struct sentence label; /* "write 'x'" */
};

enum { FIX_MAX_BYTES = 4096 };

/* One thing that is wrong with a definition. */
struct finding {
    struct str pointer; /* JSON pointer */
    struct str step;    /* code of the step, or empty */
    struct str code;    /* stable: "unknown_field", "expression_syntax", ... */
    struct sentence message;
    uint32_t column; /* in an expression: code points from 1 on, over all its lines; else 0 */
    bool is_warning;
    struct sentence hint; /* or empty */
    uint8_t about;        /* enum err_about: what is not declared, which `name` is */
    struct str name;      /* or empty */
    struct finding_fix fix;
    struct place place; /* in the text that was read; line 0 unless findings_locate() was called */
};

struct findings {
    VEC_OF(struct finding);
};

/* Add copies of `from`, texts included: what they were found in may go. */
void findings_add(struct arena *mem, const struct findings *from, struct findings *to);

/* Whether any finding is an error. */
bool findings_have_errors(const struct findings *findings);

/*
 * Say where in a text the findings stand; `at` is the JSON pointer of the
 * definition in it, before those of the findings.
 */
void findings_locate(struct arena *mem, const struct source_text *source, struct str at,
                     struct findings *findings);

/* The same for a text that json_read() has accepted. */
void findings_locate_json(struct arena *mem, struct str json, struct str at,
                          struct findings *findings);

/* The same for one that a server has found: its pointer in the text, its code, its column or 0. */
struct place finding_place(struct arena *mem, const struct source_text *source, struct str pointer,
                           struct str code, uint32_t column);

/* How many findings one answer of the API holds. */
enum { FINDINGS_SHOWN_MAX = 50 };

/* Whether an answer needs no more: whoever goes through what a caller has sent stops then. */
static inline bool findings_are_full(const struct findings *findings)
{
    return findings->count > FINDINGS_SHOWN_MAX;
}

/*
 * The findings that an answer holds, all of them in `mem`: nothing of `from` need outlive the
 * call. Of more than FINDINGS_SHOWN_MAX the errors come first, then the warnings. NULL: none.
 */
struct findings findings_copy(struct arena *mem, const struct findings *from);

/* The findings as the API shows them: a list of {pointer, step?, code, message, ...}. */
struct value findings_value(struct arena *mem, const struct findings *findings);

#endif
