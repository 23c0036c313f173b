/* show.c - executions and history rows as clients see them; see show.h. */
#include "engine/show.h"

#include "engine/commit/ask.h"
#include "engine/context.h"
#include "value/json.h"
#include "value/object.h"

static bool waits_for(const struct stored_execution *x, enum waiting_kind kind)
{
    return x->status == STATUS_WAITING && x->waiting_kind == kind;
}

bool show_allows(const struct stored_execution *x, enum action action)
{
    bool is_terminal = status_is_terminal(x->status);

    switch (action) {
#define ACTION(symbol, name, makes, takes, needs, many, when, ...)                                 \
    case ACTION_##symbol:                                                                          \
        return (when);
#include "engine/actions.def"
#undef ACTION
    case ACTION_COUNT:
        break;
    }
    PANIC("no action");
}

static bool is_machine(const struct stored_execution *x)
{
    return str_eq(x->kind, str_of(kind_spec(KIND_MACHINE)->name));
}

/* "signal:NAME" of every event that the state of a machine waits for. */
static void event_actions(struct buf *out, const struct stored_execution *x)
{
    struct value why, events;
    struct arena mem;
    struct err err;

    arena_init(&mem);
    if (json_read(&mem, x->waiting_for_json, &why, &err)) {
        events = value_map_member(why, STR("signalType"));
        for (uint32_t i = 0; events.kind == VALUE_LIST && i < events.len; i++) {
            object_next(out);
            json_write_string(out, str_printf(&mem, "signal:%.*s",
                                              STR_ARG(value_text_or(events.items[i], STR_NONE))));
        }
    }
    arena_fini(&mem);
}

/* What may be done with it now: as engine_advance() would decide. */
static void actions_field(struct buf *out, const struct stored_execution *x)
{
    object_list(out, "actions");
    for (unsigned i = 0; i < ACTION_COUNT; i++) {
        /* A machine that is held takes no event. */
        if (!show_allows(x, (enum action)i) ||
            (i == ACTION_SIGNAL && is_machine(x) && waits_for(x, WAITING_INCIDENT)))
            continue;
        object_next(out);
        json_write_string(out, str_of(action_specs[i].name));
        if (i == ACTION_SIGNAL && is_machine(x) && waits_for(x, WAITING_SIGNAL))
            event_actions(out, x);
    }
    buf_char(out, ']');
}

static void write_id_or_null(struct buf *out, const char *name, bool is_there, struct uuid id)
{
    if (is_there)
        object_id(out, name, id);
    else
        object_json(out, name, STR_NONE);
}

/* Everything but input and context, which come before it. */
static void write_rest(struct buf *out, const struct stored_execution *x)
{
    object_text(out, "currentStep", x->current_step);
    object_json(out, "waitingFor", x->waiting_for_json);
    object_json(out, "error", x->error_json);
    object_json(out, "result", x->result_json);
    object_int(out, "rowVersion", x->row_version);
    object_bool(out, "debug", x->is_debugged);
    write_id_or_null(out, "parentId", x->has_parent, x->parent_id);
    write_id_or_null(out, "againOf", x->has_again_of, x->again_of);
    if (x->record.len > 0)
        object_text(out, "record", x->record);
    if (x->has_again_as)
        object_id(out, "againAs", x->again_as);
    object_json(out, "user", x->user_json);
    actions_field(out, x);
    object_time(out, "createdAt", x->created_at_us);
    object_time(out, "startedAt", x->started_at_us);
    object_time(out, "completedAt", x->completed_at_us);
    object_time(out, "updatedAt", x->updated_at_us);
    object_time(out, "deadlineAt", x->deadline_at_us);
    buf_char(out, '}');
}

static void write_head(struct buf *out, const struct stored_execution *x)
{
    buf_char(out, '{');
    object_id(out, "id", x->id);
    object_text(out, "kind", x->kind);
    object_text(out, "code", x->code);
    object_int(out, "version", x->version);
    object_text(out, "status", str_of(status_name(x->status)));
    object_text(out, "key", x->key);
}

/* --- the context, with or without its program --- */

static void write_value(struct buf *out, struct value v)
{
    struct err err;

    if (!json_write(out, v, &err))
        buf_text(out, "null");
}

/* The fields of a result beside those that the engine sets itself. */
static void write_fields(struct buf *out, const struct step_state *s)
{
    uint32_t own = 0;

    for (uint32_t i = 0; i < s->output.len; i++)
        own += context_is_engines(value_text(s->output.map->entries[i].key));
    if (own == 0 && s->output.len > 0) {
        buf_add(out, s->output_json.ptr + 1, s->output_json.len - 2);
        return;
    }
    for (uint32_t i = 0; i < s->output.len; i++) {
        const struct value_entry *e = &s->output.map->entries[i];
        if (context_is_engines(value_text(e->key)))
            continue;
        object_next(out);
        json_write_string(out, value_text(e->key));
        buf_char(out, ':');
        write_value(out, e->value);
    }
}

/* A step as context_step_view() has it: {field..., success, output, error, meta}. */
static void write_step_view(struct buf *out, const struct step_state *s, const struct step *step)
{
    bool completed = s->outcome == OUTCOME_COMPLETED;

    if (s->outcome == OUTCOME_SKIPPED) {
        buf_text(out, "null");
        return;
    }
    buf_char(out, '{');
    if (completed && s->output.kind == VALUE_MAP)
        write_fields(out, s);
    object_bool(out, "success", completed);
    object_json(out, "output", completed ? s->output_json : STR_NONE);
    object_json(out, "error", completed ? STR_NONE : s->error_json);
    object_name(out, "meta");
    write_value(out, step->meta);
    buf_char(out, '}');
}

static void write_context(struct buf *out, const struct execution *x)
{
    struct shared_iter iter = signals_last(&x->signals, SIGNALS_SHOWN);
    const struct signal *signal;

    object_nested(out, "context");
    object_json(out, "input", x->input_json);
    if (x->webhook_json.len > 0)
        object_json(out, "webhook", x->webhook_json);
    object_nested(out, "steps");
    for (uint32_t i = 0; i < x->program->step_count; i++) {
        if (x->steps[i].outcome == OUTCOME_NONE)
            continue;
        object_next(out);
        json_write_string(out, x->program->steps[i].code);
        buf_char(out, ':');
        write_step_view(out, &x->steps[i], &x->program->steps[i]);
    }
    buf_char(out, '}');
    object_json(out, "variables", x->variables_json.len > 0 ? x->variables_json : STR("{}"));
    object_list(out, "signals");
    while ((signal = signals_next(&x->signals, &iter)) != NULL) {
        object_next(out);
        buf_str(out, signal->json);
    }
    buf_text(out, "]}");
}

/* Of one that is debugged: where it stops. */
static void write_breakpoints(struct buf *out, const struct execution *x)
{
    if (x->debug != NULL && !status_is_terminal(x->status))
        object_json(out, "breakpoints",
                    x->debug->breakpoints_json.len > 0 ? x->debug->breakpoints_json : STR("[]"));
}

static struct stored_execution as_stored(const struct execution *x)
{
    return (struct stored_execution){
        .id = x->id,
        .kind = str_of(kind_spec(x->program->kind)->name),
        .code = x->program->code,
        .version = x->program->version,
        .status = x->status,
        .is_debugged = x->debug != NULL,
        .has_parent = x->has_parent,
        .parent_id = x->parent_id,
        .has_again_of = x->has_again_of,
        .again_of = x->again_of,
        .record = x->record,
        .key = x->key,
        .user_json = x->user_json,
        .waiting_kind = x->waiting_kind,
        .waiting_for_json = x->waiting_for_json,
        .current_step = execution_current_step(x),
        .is_rolled_back = execution_is_rolled_back(x),
        .error_json = x->error_json,
        .result_json = x->result_json,
        .row_version = x->row_version,
        .created_at_us = x->created_at_us,
        .started_at_us = x->started_at_us,
        .completed_at_us = x->completed_at_us,
        .updated_at_us = x->updated_at_us,
        .deadline_at_us = x->deadline_at_us,
    };
}

void show_execution(struct buf *out, const struct execution *exec)
{
    struct stored_execution x = as_stored(exec);

    write_head(out, &x);
    object_json(out, "input", exec->input_json);
    write_context(out, exec);
    write_breakpoints(out, exec);
    write_rest(out, &x);
}

static void add_step(struct program *p, struct step *made, struct value code)
{
    if (code.kind == VALUE_STRING && code.len > 0 && program_step(p, value_text(code)) == NULL)
        made[p->step_count++].code = value_text(code);
}

/* The steps that a strand stands at and in. */
static size_t strand_capacity(struct value strand)
{
    struct value frames = value_map_get_str(strand, STR("in"));

    return 1 + (frames.kind == VALUE_LIST ? frames.len : 0);
}

static void add_strand(struct program *p, struct step *made, struct value strand)
{
    struct value frames = value_map_get_str(strand, STR("in"));

    for (uint32_t i = 0; frames.kind == VALUE_LIST && i < frames.len; i++)
        add_step(p, made, value_map_get_str(frames.items[i], STR("step")));
    add_step(p, made, value_map_get_str(strand, STR("step")));
}

/* Of "CODE:VISIT". */
static struct value code_of(struct value key)
{
    struct str text = value_text(key);
    int64_t colon = str_find(text, STR(":"), 0);

    return colon < 0 ? key : value_string(str_slice(text, 0, (size_t)colon));
}

/*
 * Without the program: a stand-in that has just the steps that the stored
 * execution mentions, which is all that restoring it asks of a program.
 */
static struct program *stand_in(struct arena *mem, const struct stored_execution *stored,
                                struct value context, struct value cursor)
{
    struct program *p = ARENA_NEW(mem, struct program);
    struct value steps = value_map_get_str(context, STR("steps"));
    struct value loops = value_map_get_str(context, STR("loops"));
    struct value rounds = value_map_get_str(context, STR("rounds"));
    struct value beside = value_map_get_str(cursor, STR("beside"));
    /* The strands that were stopped before everything was rolled back. */
    struct value left = value_map_member(value_map_get_str(cursor, STR("undo")), STR("beside"));
    size_t capacity = (steps.kind == VALUE_MAP ? steps.len : 0) +
                      (loops.kind == VALUE_MAP ? loops.len : 0) +
                      (rounds.kind == VALUE_LIST ? 2u * rounds.len : 0) + strand_capacity(cursor) +
                      stored->history.count;
    struct step *made;

    for (uint32_t i = 0; beside.kind == VALUE_LIST && i < beside.len; i++)
        capacity += strand_capacity(beside.items[i]);
    for (uint32_t i = 0; left.kind == VALUE_LIST && i < left.len; i++)
        capacity += strand_capacity(left.items[i]);
    made = arena_zalloc(mem, (capacity + 1) * sizeof(*made));

    p->code = stored->code;
    p->version = stored->version;
    p->steps = made;
    for (uint32_t i = 0; steps.kind == VALUE_MAP && i < steps.len; i++)
        made[p->step_count++].code = value_text(steps.map->entries[i].key);
    for (uint32_t i = 0; loops.kind == VALUE_MAP && i < loops.len; i++)
        add_step(p, made, code_of(loops.map->entries[i].key));
    for (uint32_t i = 0; rounds.kind == VALUE_LIST && i < rounds.len; i++) {
        add_step(p, made, value_map_get_str(rounds.items[i], STR("loop")));
        add_step(p, made, value_map_get_str(rounds.items[i], STR("step")));
    }
    for (uint32_t i = 0; beside.kind == VALUE_LIST && i < beside.len; i++)
        add_strand(p, made, beside.items[i]);
    for (uint32_t i = 0; left.kind == VALUE_LIST && i < left.len; i++)
        add_strand(p, made, left.items[i]);
    for (size_t i = 0; i < stored->history.count; i++)
        add_step(p, made, value_string(stored->history.items[i].step));
    add_strand(p, made, cursor);
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct value meta = value_map_member(stored->step_meta, made[i].code);
        made[i].index = i;
        made[i].meta = meta.kind == VALUE_MAP ? meta : value_map_empty();
    }
    return p;
}

static bool read_object(struct arena *mem, struct str json, struct value *out, struct err *err)
{
    *out = value_map_empty();
    return json.len == 0 || json_read(mem, json, out, err);
}

bool show_stored(struct arena *mem, struct buf *out, const struct stored_execution *stored,
                 bool with_context, struct err *err)
{
    struct value context, cursor;
    struct execution *x;

    write_head(out, stored);
    if (with_context) {
        if (!read_object(mem, stored->cursor_json, &cursor, err) ||
            !read_object(mem, stored->context_json, &context, err) ||
            !state_restore_shown(mem, stand_in(mem, stored, context, cursor), stored, &x, err))
            return false;
        object_json(out, "input", x->input_json);
        write_context(out, x);
        write_breakpoints(out, x);
    }
    write_rest(out, stored);
    return true;
}

/* --- history --- */

void show_history_row(struct buf *out, struct uuid execution, const struct history_row *row)
{
    struct str id = UUID_STR(execution);

    buf_char(out, '{');
    object_id(out, "id", engine_row_id(execution, row->seq, row->completed_at_us));
    object_int(out, "seq", row->seq);
    object_text(out, "step", row->step);
    object_text(out, "kind", str_of(history_kind_name(row->kind)));
    object_int(out, "visit", row->visit);
    object_int(out, "attempt", row->attempt);
    object_text(out, "status", row->status);
    object_json(out, "input", row->input_json.len > 0 ? row->input_json : row->sent_json);
    object_json(out, "output", row->output_json);
    object_json(out, "error", row->error_json);
    object_name(out, "idempotencyKey");
    if (row->input_json.len == 0 && row->sent_key.len > 0)
        json_write_string(out, row->sent_key);
    else if (row->key.len > 0)
        json_write_string(out, row->key);
    else if (row->step.len == 0)
        buf_text(out, "null");
    else if (row->visit > 1)
        buf_printf(out, "\"%s-%.*s-%lld\"", id.ptr, STR_ARG(row->step), (long long)row->visit);
    else
        buf_printf(out, "\"%s-%.*s\"", id.ptr, STR_ARG(row->step));
    object_time(out, "startedAt", row->started_at_us);
    object_time(out, "completedAt", row->completed_at_us);
    buf_char(out, '}');
}

bool show_is_sent(const struct history_row *row)
{
    return row->kind == HISTORY_EVENT && (str_eq(row->status, str_of(ask_name(ASK_CALL))) ||
                                          str_eq(row->status, str_of(ask_name(ASK_JOB))));
}

struct str show_sent(struct arena *mem, const struct history_row *row)
{
    static const char *const shown[] = {"method", "url", "headers", "body", "credential"};
    struct value_entry entries[ARRAY_SIZE(shown)];
    size_t count = 0, duplicate;
    struct value request;
    struct err err;

    /* The rest of a request says how its answer is judged. */
    if (!str_eq(row->status, str_of(ask_name(ASK_CALL))) ||
        !json_read(mem, row->input_json, &request, &err) || request.kind != VALUE_MAP)
        return row->input_json;
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        struct value v = value_map_get_str(request, str_of(shown[i]));

        if (v.kind != VALUE_ABSENT)
            entries[count++] = (struct value_entry){.key = value_key(str_of(shown[i])), .value = v};
    }
    return json_must_text(mem, value_map_make(mem, entries, count, &duplicate));
}
