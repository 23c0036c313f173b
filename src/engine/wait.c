/* wait.c - steps that wait for a signal, a duration or a point in time; see turn.h. */
#include "define/catalog.h"
#include "define/define.h"
#include "engine/turn.h"
#include "value/json.h"
#include "value/timefmt.h"

bool wait_is(const struct command *c)
{
    return c->type == COMMAND_WAIT_SIGNAL || c->type == COMMAND_WAIT_TIMER ||
           c->type == COMMAND_WAIT_UNTIL;
}

static void put(struct value_entry *entries, size_t *count, struct str key, struct value v)
{
    entries[(*count)++] = (struct value_entry){.key = value_key(key), .value = v};
}

static struct value fired(struct turn *t)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 1, struct value_entry);
    size_t count = 0, duplicate;

    put(entries, &count, STR("firedAt"), time_text(t->mem, t->now_us));
    return value_map_make(t->mem, entries, count, &duplicate);
}

/* {type, payload, by, receivedAt, timedOut} */
static struct value answer(struct turn *t, const struct signal *signal)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 5, struct value_entry);
    size_t count = 0, duplicate;
    static const char *const fields[] = {"type", "payload", "by", "receivedAt"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct str name = str_of(fields[i]);
        put(entries, &count, name,
            signal == NULL ? value_null() : value_map_get_str(signal->view, name));
    }
    put(entries, &count, STR("timedOut"), value_bool(signal == NULL));
    return value_map_make(t->mem, entries, count, &duplicate);
}

/* Whether a wait for `types` (a string or a list of them) is for this type. */
static bool has_type(struct value types, struct str type)
{
    if (types.kind == VALUE_STRING)
        return str_eq(value_text(types), type);
    for (uint32_t i = 0; i < types.len; i++)
        if (types.items[i].kind == VALUE_STRING && str_eq(value_text(types.items[i]), type))
            return true;
    return false;
}

/* A match that cannot be evaluated is no match. */
static bool matches(struct turn *t, const struct command *c, struct value types,
                    const struct signal *signal)
{
    const struct cel_program *match = c->expressions[FIELD_MATCH];

    if (!has_type(types, signal->type))
        return false;
    if (match == NULL)
        return true;
    t->slots[ROOT_SIGNAL] = signal->view;
    return value_is_true(cel_evaluate(t->mem, match, &t->activation, NULL));
}

static struct value read_types(struct turn *t, struct str json)
{
    struct value types;
    struct err err;

    if (!json_read(t->mem, json, &types, &err))
        PANIC("the types of a wait do not read back");
    return types;
}

bool wait_takes(struct turn *t, const struct step *step, const struct signal *signal,
                struct value *out)
{
    const struct command *c = &step->procedure->commands[0];

    if (c->type != COMMAND_WAIT_SIGNAL || signal->is_taken ||
        !matches(t, c, read_types(t, t->x->cursor.types_json), signal))
        return false;
    *out = answer(t, signal);
    return true;
}

/* The oldest signal that nobody has taken and this wait is for. */
static const struct signal *find_buffered(struct turn *t, const struct command *c,
                                          struct value types)
{
    struct signal_place place = {0};
    const struct signal *s;

    while ((s = signals_next(&t->x->signals, &place)) != NULL)
        if (!s->is_taken && matches(t, c, types, s))
            return s;
    return NULL;
}

/* When a wait ends by itself: 0 = never. False: the step has failed. */
static bool wait_end(struct turn *t, const struct command *c, int64_t *out_us)
{
    enum command_field field = c->type == COMMAND_WAIT_SIGNAL  ? FIELD_TIMEOUT
                               : c->type == COMMAND_WAIT_TIMER ? FIELD_DURATION
                                                               : FIELD_TIMESTAMP;
    struct value v, at;
    int64_t us;

    *out_us = 0;
    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (field != FIELD_TIMESTAMP) {
        if (define_duration_us(v, &us) && us >= 0 &&
            !__builtin_add_overflow(t->wall_us, us, out_us))
            return true;
        return turn_fail(t, STR("validation_duration"), STR("business"),
                         "'%.*s' must be a duration such as \"30s\" or \"7d\"",
                         STR_ARG(catalog_field_name(field))) == STEP_DONE;
    }
    at = v;
    if (v.kind == VALUE_STRING && !timestamp_read(value_text(v), &at) &&
        !timestamp_read_date(value_text(v), &at))
        at = value_null();
    if (at.kind != VALUE_TIMESTAMP)
        return turn_fail(t, STR("validation_timestamp"), STR("business"),
                         "'timestamp' must be a time such as \"2026-01-31T09:00:00Z\"") ==
               STEP_DONE;
    *out_us = at.seconds * 1000000 + (at.nanos + 999) / 1000;
    /* 0 stands for "no time"; and the past fires at once. */
    if (*out_us < 1)
        *out_us = 1;
    return true;
}

static bool signal_types(struct turn *t, const struct command *c, struct value *out)
{
    bool ok;

    if (!command_field(t, c, FIELD_SIGNAL_TYPE, out))
        return false;
    ok = out->kind == VALUE_STRING || (out->kind == VALUE_LIST && out->len > 0);
    for (uint32_t i = 0; ok && out->kind == VALUE_LIST && i < out->len; i++)
        ok = out->items[i].kind == VALUE_STRING;
    if (!ok)
        (void)turn_fail(t, STR("validation_signal_type"), STR("business"),
                        "'signalType' must be a string or a list of strings");
    return ok;
}

enum step_end wait_begin(struct turn *t, const struct step *step, struct value *out, int64_t *took)
{
    const struct command *c = &step->procedure->commands[0];
    struct cursor *cursor = &t->x->cursor;
    const struct signal *signal;
    struct value types;

    *took = 0;
    if (!wait_end(t, c, &cursor->wake_at_us))
        return STEP_FAILED;
    if (c->type != COMMAND_WAIT_SIGNAL) {
        if (cursor->wake_at_us > t->wall_us)
            return STEP_WAITS;
        *out = fired(t);
        return STEP_DONE;
    }
    if (!signal_types(t, c, &types))
        return STEP_FAILED;
    signal = find_buffered(t, c, types);
    if (signal != NULL) {
        *out = answer(t, signal);
        *took = signal->seq;
        return STEP_DONE;
    }
    return turn_json(t, types, &cursor->types_json) ? STEP_WAITS : STEP_FAILED;
}

enum step_end wait_expired(struct turn *t, const struct step *step, struct value *out)
{
    const struct command *c = &step->procedure->commands[0];
    struct str then;

    if (c->type != COMMAND_WAIT_SIGNAL) {
        *out = fired(t);
        return STEP_DONE;
    }
    if (!command_text(t, c, FIELD_ON_TIMEOUT, STR("fail"), &then))
        return STEP_FAILED;
    if (!str_eq(then, STR("continue")))
        return turn_fail(t, STR("timeout_signal"), STR("business"),
                         "no signal came before the time was up");
    *out = answer(t, NULL);
    return STEP_DONE;
}
