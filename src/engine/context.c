/* context.c - what the expressions of an execution see; see turn.h. */
#include "engine/turn.h"
#include "value/json.h"
#include "value/timefmt.h"

static struct value make_map(struct arena *mem, struct value_entry *entries, size_t count)
{
    size_t duplicate;

    return value_map_make(mem, entries, count, &duplicate);
}

static void put(struct value_entry *entries, size_t *count, struct str key, struct value v)
{
    entries[(*count)++] = (struct value_entry){.key = value_key(key), .value = v};
}

struct value time_value(int64_t us)
{
    int64_t seconds = us / 1000000, rest = us % 1000000;

    if (rest < 0) {
        rest += 1000000;
        seconds--;
    }
    return value_timestamp(seconds, (uint32_t)rest * 1000);
}

struct value time_text(struct arena *mem, int64_t us)
{
    char text[TIMESTAMP_TEXT_MAX];

    return value_string(str_copy(mem, str_from(text, timestamp_write(text, time_value(us)))));
}

/* A field that the engine sets itself, whatever the result has under that name. */
static bool is_engines(struct str name)
{
    return str_eq(name, STR("success")) || str_eq(name, STR("output")) ||
           str_eq(name, STR("error")) || str_eq(name, STR("meta"));
}

struct value context_step_view(struct arena *mem, const struct step *step,
                               const struct step_state *state)
{
    bool completed = state->outcome == OUTCOME_COMPLETED;
    uint32_t fields = completed && state->output.kind == VALUE_MAP ? state->output.len : 0;
    struct value_entry *entries;
    size_t count = 0;

    if (state->outcome == OUTCOME_NONE || state->outcome == OUTCOME_SKIPPED)
        return value_null();
    entries = ARENA_ARRAY(mem, fields + 4, struct value_entry);
    for (uint32_t i = 0; i < fields; i++) {
        const struct value_entry *e = &state->output.map->entries[i];
        if (e->key.kind != VALUE_STRING || !is_engines(value_text(e->key)))
            entries[count++] = *e;
    }
    put(entries, &count, STR("success"), value_bool(completed));
    put(entries, &count, STR("output"), completed ? state->output : value_null());
    put(entries, &count, STR("error"), completed ? value_null() : state->error);
    if (step != NULL)
        put(entries, &count, STR("meta"), step->meta);
    return make_map(mem, entries, count);
}

static struct value all_steps(struct turn *t)
{
    const struct program *p = t->x->program;
    struct value_entry *entries = ARENA_ARRAY(t->mem, p->step_count + 1, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < p->step_count; i++)
        put(entries, &count, p->steps[i].code,
            context_step_view(t->mem, &p->steps[i], &t->x->steps[i]));
    return make_map(t->mem, entries, count);
}

struct value context_signals(struct arena *mem, const struct signals *signals)
{
    size_t shown = signals->count > SIGNALS_SHOWN ? SIGNALS_SHOWN : signals->count;
    struct signal_place place = signals_last(signals, shown);
    struct value *items = ARENA_ARRAY(mem, shown + 1, struct value);

    for (size_t i = 0; i < shown; i++)
        items[i] = signals_next(signals, &place)->view;
    return value_list(items, shown);
}

static struct value about_execution(struct turn *t)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 8, struct value_entry);
    char *id = arena_alloc(t->mem, UUID_TEXT_LEN + 1);
    const struct execution *x = t->x;
    size_t count = 0;

    uuid_write(x->id, id);
    put(entries, &count, STR("id"), value_string(str_from(id, UUID_TEXT_LEN)));
    put(entries, &count, STR("code"), value_string(x->program->code));
    put(entries, &count, STR("version"), value_int(x->program->version));
    put(entries, &count, STR("key"), x->key.len > 0 ? value_string(x->key) : value_null());
    put(entries, &count, STR("startedAt"), time_value(x->started_at_us));
    put(entries, &count, STR("attempt"), value_int(x->cursor.attempt));
    put(entries, &count, STR("visit"), value_int(x->cursor.visit));
    return make_map(t->mem, entries, count);
}

static struct value starter(struct turn *t)
{
    struct value user;
    struct err err;

    if (t->x->user_json.len == 0 || !json_read(t->mem, t->x->user_json, &user, &err))
        return value_map_empty();
    return user;
}

/* $.input: the execution's, with that of the step under way laid over it. */
static struct value input_of_step(struct turn *t)
{
    struct str json = t->x->cursor.input_json;
    struct value input;
    struct err err;

    if (json.len == 0)
        return t->x->input;
    if (!json_read(t->mem, json, &input, &err))
        PANIC("the input of a step does not read back");
    return input.kind == VALUE_MAP ? state_merge(t->mem, t->x->input, input) : t->x->input;
}

static struct value load_root(struct turn *t, enum context_root root)
{
    switch (root) {
    case ROOT_INPUT:
        return input_of_step(t);
    case ROOT_STEPS:
        return all_steps(t);
    case ROOT_SIGNALS:
        return context_signals(t->mem, &t->x->signals);
    case ROOT_VARIABLES:
        return t->variables;
    case ROOT_CONFIG:
        return t->ev->config.kind == VALUE_MAP ? t->ev->config : value_map_empty();
    case ROOT_META:
        return t->x->program->meta.kind == VALUE_MAP ? t->x->program->meta : value_map_empty();
    case ROOT_USER:
        return starter(t);
    case ROOT_EXECUTION:
        return about_execution(t);
    case ROOT_NOW:
        return time_value(t->now_us);
    case ROOT_WEBHOOK:
    case ROOT_SIGNAL:
    case ROOT_RESPONSE:
    case ROOT_ERROR:
    case ROOT_WARNINGS:
    case ROOT_RECORD:
    case ROOT_LOOP:
    case ROOT_COMPENSATION:
    case ROOT_REMINDER:
    case ROOT_COUNT:
        return value_absent();
    }
    PANIC("unknown root");
}

struct value context_load(void *turn, uint32_t slot)
{
    struct turn *t = turn;
    const struct program *p = t->x->program;
    struct value v;

    if (slot < ROOT_COUNT)
        v = load_root(t, (enum context_root)slot);
    else if (slot < ROOT_COUNT + p->step_count)
        v = context_step_view(t->mem, &p->steps[slot - ROOT_COUNT],
                              &t->x->steps[slot - ROOT_COUNT]);
    else
        return value_absent(); /* the result of a command that was skipped or has not run */
    t->slots[slot] = v;
    return v;
}
