/* actions.c - see actions.h. */
#include "engine/actions.h"

#include "base/names.h"

const struct action_spec action_specs[ACTION_COUNT] = {
#define TAKES(field) (1u << ACTION_FIELD_##field)
#define ACTION(symbol, word, makes, fields, needed, many, when, row_text, done_text, begun_text)   \
    [ACTION_##symbol] = {                                                                          \
        .name = #word,                                                                             \
        .audit = "execution." #word,                                                               \
        .takes = (fields),                                                                         \
        .needs = (needed),                                                                         \
        .is_for_many = (many),                                                                     \
        .row = (row_text),                                                                         \
        .done = (done_text),                                                                       \
        .begun = (begun_text),                                                                     \
    },
#include "engine/actions.def"
#undef ACTION
#undef TAKES
};

const struct action_field_spec action_field_specs[ACTION_FIELD_COUNT] = {
#define ACTION_FIELD(symbol, text, kind, audited, alone, lacking)                                  \
    [ACTION_FIELD_##symbol] = {                                                                    \
        .name = (text), .audit = ACTION_AUDIT_##audited, .only = (alone), .missing = (lacking)},
#include "engine/action_fields.def"
#undef ACTION_FIELD
};

NAMES_READ(action_read, enum action, action_specs)

bool action_takes(enum action action, enum action_field field)
{
    return (action_specs[action].takes & 1u << field) != 0;
}

struct str action_row(enum action action)
{
    ASSERT(action_specs[action].row != NULL);
    return str_of(action_specs[action].row);
}

bool action_is_row(struct str status)
{
    for (unsigned i = 0; i < ACTION_COUNT; i++)
        if (action_specs[i].row != NULL && str_eq(status, str_of(action_specs[i].row)))
            return true;
    return str_eq(status, ACTION_ROW_RESOLVED);
}
