/* context.c - what the expressions of an execution see; see context.h. */
#include "engine/context.h"
#include "engine/command/machine.h"
#include "engine/commit/link.h"
#include "value/json.h"
#include "value/timefmt.h"

struct value time_value(int64_t us)
{
    return timestamp_of_us(us);
}

struct value time_text(struct arena *mem, int64_t us)
{
    char text[TIMESTAMP_TEXT_MAX];

    return value_string(str_copy(mem, str_from(text, timestamp_write(text, time_value(us)))));
}

bool context_is_engines(struct str name)
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
        if (e->key.kind != VALUE_STRING || !context_is_engines(value_text(e->key)))
            entries[count++] = *e;
    }
    value_entry_add(entries, &count, STR("success"), value_bool(completed));
    value_entry_add(entries, &count, STR("output"), completed ? state->output : value_null());
    value_entry_add(entries, &count, STR("error"), completed ? value_null() : state->error);
    if (step != NULL)
        value_entry_add(entries, &count, STR("meta"), step->meta);
    return value_map_take(mem, entries, count);
}

/* A rollback sees the visit that it undoes. */
static struct value step_view(struct turn *t, uint32_t index)
{
    if (t->about != NULL && t->about->step->index == index)
        return t->about->view;
    /* Rolling back sees what everybody sees. */
    return context_step_view(t->mem, &t->x->program->steps[index],
                             t->x->rollback != NULL ? &t->x->steps[index]
                                                    : state_step(t->x, index));
}

static struct value all_steps(struct turn *t)
{
    const struct program *p = t->x->program;
    struct value_entry *entries = ARENA_ARRAY(t->mem, p->step_count + 1, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < p->step_count; i++)
        value_entry_add(entries, &count, p->steps[i].code, step_view(t, i));
    return value_map_take(t->mem, entries, count);
}

struct value context_signals(struct arena *mem, const struct signals *signals)
{
    size_t shown = signals->list.count > SIGNALS_SHOWN ? SIGNALS_SHOWN : signals->list.count;
    struct shared_iter iter = signals_last(signals, shown);
    struct value *items = ARENA_ARRAY(mem, shown + 1, struct value);

    for (size_t i = 0; i < shown; i++)
        items[i] = signals_next(signals, &iter)->view;
    return value_list(items, shown);
}

static struct value text_or_null(struct str text)
{
    return text.len > 0 ? value_string(text) : value_null();
}

static struct value about_execution(struct turn *t)
{
    const struct execution *x = t->x;
    struct str url = t->ev->links == NULL ? STR_NONE : link_url(t->mem, t->ev->links, x);

    return value_map_of(
        t->mem, VALUE_ENTRIES({value_key(STR("id")), value_string(uuid_text(t->mem, x->id))},
                              {value_key(STR("code")), value_string(x->program->code)},
                              {value_key(STR("version")), value_int(x->program->version)},
                              {value_key(STR("key")), text_or_null(x->key)},
                              {value_key(STR("startedAt")), time_value(x->started_at_us)},
                              {value_key(STR("attempt")), value_int(x->cursor.attempt)},
                              {value_key(STR("visit")), value_int(x->cursor.visit)},
                              {value_key(STR("callbackUrl")), text_or_null(url)}));
}

static struct value starter(struct turn *t)
{
    struct value user;
    struct err err;

    if (t->x->user_json.len == 0 || !json_read(t->mem, t->x->user_json, &user, &err))
        return value_map_empty();
    return user;
}

struct value context_input_over(struct turn *t, struct value input)
{
    return input.kind == VALUE_MAP ? state_merge(t->mem, t->x->input, input) : t->x->input;
}

/* $.input: the execution's, with that of the current step laid over it. */
static struct value input_of_step(struct turn *t)
{
    struct str json = t->x->cursor.input_json;

    if (t->about != NULL)
        return context_input_over(t, t->about->input);
    if (json.len == 0)
        return t->x->input;
    return context_input_over(t, turn_read(t, json, value_absent()));
}

struct value context_input(struct turn *t)
{
    return t->scope != NULL ? t->scope->input : input_of_step(t);
}

/* {index, item, as, parent} of the frames up to one, or absent when none is a loop. */
static struct value loop_view(struct turn *t, uint32_t frame_count)
{
    const struct frame *frame;
    const struct loop_data *data;
    const struct loop *loop;
    struct value_entry *entries;
    struct value parent;
    size_t count = 0;

    while (frame_count > 0 &&
           t->x->program->steps[t->x->frames[frame_count - 1].step].kind != STEP_LOOP)
        frame_count--;
    if (frame_count == 0)
        return value_absent();
    frame = &t->x->frames[frame_count - 1];
    loop = t->x->program->steps[frame->step].loop;
    data = state_loop(t->x, frame->step, frame->visit);
    entries = ARENA_ARRAY(t->mem, 4, struct value_entry);
    value_entry_add(entries, &count, STR("index"), value_int(frame->index));
    if (data != NULL && data->list.kind == VALUE_LIST && frame->index < (int64_t)data->list.len) {
        value_entry_add(entries, &count, STR("item"), data->list.items[frame->index]);
        if (loop->as.len > 0 && !str_eq(loop->as, STR("item")))
            value_entry_add(entries, &count, loop->as, data->list.items[frame->index]);
    }
    parent = loop_view(t, frame_count - 1);
    value_entry_add(entries, &count, STR("parent"),
                    parent.kind == VALUE_ABSENT ? value_null() : parent);
    return value_map_take(t->mem, entries, count);
}

struct value context_loop(struct turn *t)
{
    return loop_view(t, t->x->frame_count);
}

struct value context_compensation(struct turn *t)
{
    return value_map_of(
        t->mem,
        VALUE_ENTRIES({value_key(STR("compensated")), items_value(t->mem, &t->x->compensated)},
                      {value_key(STR("failed")), items_value(t->mem, &t->x->failed)}));
}

static struct value reminder_view(struct turn *t)
{
    const struct cursor *c;
    struct value until;

    if (t->reminded == NULL)
        return value_absent();
    c = &t->reminded->wait.cursor;
    until = c->timeout_at_us > 0 ? time_value(c->timeout_at_us) : value_null();
    return value_map_of(
        t->mem,
        VALUE_ENTRIES(
            {value_key(STR("index")), value_int(t->reminder)},
            {value_key(STR("title")), text_or_null(c->title)},
            {value_key(STR("assignee")), turn_read(t, c->assignees_json, value_list(NULL, 0))},
            {value_key(STR("show")), turn_read(t, c->show_json, value_list(NULL, 0))},
            {value_key(STR("then")), turn_read(t, c->then_json, value_list(NULL, 0))},
            {value_key(STR("since")), time_value(c->started_at_us)},
            {value_key(STR("until")), until}));
}

/* A named procedure sees its own input, and nothing of the process that calls it. */
static const bool is_of_process[ROOT_COUNT] = {
    [ROOT_STEPS] = true,        [ROOT_SIGNALS] = true,  [ROOT_VARIABLES] = true,
    [ROOT_META] = true,         [ROOT_WEBHOOK] = true,  [ROOT_LOOP] = true,
    [ROOT_COMPENSATION] = true, [ROOT_REMINDER] = true, [ROOT_SIGNAL] = true};

static struct value load_root(struct turn *t, enum context_root root)
{
    if (t->scope != NULL && is_of_process[root])
        return value_absent();
    switch (root) {
    case ROOT_INPUT:
        return context_input(t);
    case ROOT_STEPS:
        return all_steps(t);
    case ROOT_SIGNALS:
        return context_signals(t->mem, &t->x->signals);
    case ROOT_VARIABLES:
        return t->variables;
    case ROOT_CONFIG:
        /* It may change while the execution keeps what it took from it. */
        return t->ev->config.kind == VALUE_MAP ? value_copy(t->mem, t->ev->config)
                                               : value_map_empty();
    case ROOT_META:
        return t->x->program->meta.kind == VALUE_MAP ? t->x->program->meta : value_map_empty();
    case ROOT_USER:
        return starter(t);
    case ROOT_EXECUTION:
        return about_execution(t);
    case ROOT_NOW:
        return time_value(t->now_us);
    case ROOT_LOOP:
        return t->about != NULL ? t->about->loop : context_loop(t);
    case ROOT_COMPENSATION:
        return t->about != NULL && t->x->rollback != NULL ? context_compensation(t)
                                                          : value_absent();
    case ROOT_REMINDER:
        return reminder_view(t);
    case ROOT_ERROR:
        return t->error;
    case ROOT_WARNINGS:
        return t->run.warnings.kind == VALUE_LIST ? t->run.warnings : value_list(NULL, 0);
    case ROOT_WEBHOOK:
        return t->x->webhook_json.len > 0 ? t->x->webhook : value_absent();
    case ROOT_SIGNAL:
        return machine_event(t);
    case ROOT_RESPONSE:
    case ROOT_RECORD:
    case ROOT_SECRETS:
    case ROOT_SCHEDULE:
    case ROOT_EVENT:
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
    else if (t->scope == NULL && slot < ROOT_COUNT + p->step_count)
        v = step_view(t, slot - ROOT_COUNT);
    else
        return value_absent(); /* the result of a command that was skipped or has not run */
    t->slots[slot] = v;
    return v;
}
