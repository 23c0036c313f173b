/* turn.c - the bookkeeping of one advance; see turn.h. */
#include "define/define.h"
#include "engine/command/procedure.h"
#include "engine/context.h"

#include "engine/commit/reads.h"
#include "value/json.h"
#include "value/number.h"
#include "value/object.h"

#include <stdarg.h>
#include <stdio.h>

void turn_init(struct turn *t, struct arena *mem, const struct execution *exec,
               const struct event *ev, int64_t now_us, struct commit *out)
{
    struct execution *x = arena_alloc(mem, sizeof(*x));
    uint32_t steps = exec->program->step_count;

    *x = *exec;
    execution_set_waiting(x, execution_waits_for(exec, 0), execution_waits(exec, 0));
    x->steps = ARENA_ARRAY(mem, steps + 1u, struct step_state);
    if (steps > 0)
        memcpy(x->steps, exec->steps, steps * sizeof(*x->steps));
    *out = (struct commit){.read_version = exec->row_version, .after = x, .wall_us = now_us};
    *t = (struct turn){.mem = mem,
                       .ev = ev,
                       .x = x,
                       .before = exec,
                       .out = out,
                       .has_strands = exec->other_count > 0};
    t->wall_us = now_us;
    t->now_us = now_us > x->updated_at_us ? now_us : x->updated_at_us;
    t->slots = ARENA_ARRAY(mem, exec->program->slot_count + 1u, struct value);
    t->activation.slots = t->slots;
    t->activation.now_us = t->now_us;
    t->activation.spent = &t->spent;
    t->activation.load = context_load;
    t->activation.context = t;
    t->error = value_absent();
}

const struct step *turn_step(const struct turn *t)
{
    ASSERT(t->x->cursor.step < t->x->program->step_count);
    return &t->x->program->steps[t->x->cursor.step];
}

struct str turn_code(const struct turn *t)
{
    return execution_code(t->x, &t->x->cursor);
}

void turn_begin_step(struct turn *t)
{
    _Static_assert(VALUE_ABSENT == 0, "an absent value is all zeros");
    memset(t->slots, 0, t->x->program->slot_count * sizeof(*t->slots));
    t->variables = t->x->variables;
    t->assigned = value_map_empty();
    t->records.count = t->looked.count = t->logs.count = t->starts.count = 0;
    t->messages.count = t->joined.count = 0;
    t->refused_output_json = STR_NONE;
    t->ids = 0;
    t->run.finished.count = 0;
    t->run.frozen = t->run.warnings = value_absent();
    t->activation.cost_end = t->spent.cost + ATTEMPT_COST_MAX;
}

const struct turn_reads *event_reads(const struct event *ev)
{
    static const struct turn_reads nothing;

    return ev->reads != NULL ? ev->reads : &nothing;
}

static struct history_row *add_row(struct turn *t, enum history_kind kind, struct str step,
                                   struct str status)
{
    struct history_row *row = VEC_ADD(t->mem, &t->out->history);

    *row = (struct history_row){
        .seq = ++t->x->seq,
        .kind = kind,
        .step = step,
        .status = status,
        .started_at_us = t->now_us,
        .completed_at_us = t->now_us,
    };
    return row;
}

void turn_answered(struct turn *t)
{
    t->answered = t->x->cursor.awaited;
    t->answered_step = turn_code(t);
}

void turn_record_answer(struct turn *t)
{
    struct history_row *row;

    if (t->answered.len == 0)
        return;
    row = add_row(t, HISTORY_EVENT, t->answered_step, STR("answer"));
    row->key = row->answered = t->answered;
    t->answered = STR_NONE;
}

struct history_row *turn_row(struct turn *t, enum history_kind kind, struct str step,
                             struct str status)
{
    struct history_row *row;

    if (kind == HISTORY_EVENT || !str_eq(step, t->answered_step))
        turn_record_answer(t);
    row = add_row(t, kind, step, status);
    row->answered = t->answered;
    t->answered = STR_NONE;
    return row;
}

void turn_note(struct turn *t, const char *name, struct str json)
{
    struct history_row *row;
    struct buf delta;

    turn_record_answer(t); /* what is noted comes with the answer */
    ASSERT(t->out->history.count > 0);
    row = &t->out->history.items[t->out->history.count - 1];
    buf_init_arena(&delta, t->mem);
    if (row->delta_json.len > 0)
        buf_add(&delta, row->delta_json.ptr, row->delta_json.len - 1);
    field_json(&delta, name, json);
    row->delta_json = field_end(&delta);
}

/* A number as JSON writes it. */
static struct str turn_number(struct turn *t, int64_t n)
{
    char text[NUMBER_TEXT_MAX];

    return str_copy(t->mem, str_from(text, number_write_int(text, n)));
}

void turn_note_sent(struct turn *t, struct history_row *row)
{
    row->dep = t->dep;
    row->sent = t->sent;
    t->dep = STR_NONE;
    t->sent = 0;
    /* The row of the next call follows from this one; it has a request of its own. */
    if (row->sent > 0 && row->kind != HISTORY_EVENT)
        turn_note(t, "sent", turn_number(t, row->sent));
}

void turn_note_visit(struct turn *t, const char *name)
{
    struct buf note;

    object_begin(&note, t->mem);
    json_write_string(&note, turn_code(t));
    buf_printf(&note, ":%lld}", (long long)t->x->cursor.visit);
    turn_note(t, name, buf_view(&note));
}

/* --- failures --- */

static bool is_own_code(struct str code)
{
    return str_starts_with(code, STR("expression_")) || str_starts_with(code, STR("limit_"));
}

bool turn_is_in_visit(const struct execution *x)
{
    return x->cursor.step < x->program->step_count &&
           x->cursor.visit > state_step(x, x->cursor.step)->visit;
}

struct str turn_round_text(struct turn *t, struct round round)
{
    if (round.loop == 0)
        return STR_NONE;
    return str_printf(t->mem, "\"%.*s:%lld:%lld\"",
                      STR_ARG(t->x->program->steps[round.loop - 1].code), (long long)round.visit,
                      (long long)round.index);
}

/* Whether somebody outside was asked and may be doing it; the deadline may have held it meanwhile. */
static bool is_asking_outside(const struct cursor *cursor)
{
    return (cursor->phase == PHASE_JOB || cursor->phase == PHASE_HELD) && cursor->ask != ASK_NONE &&
           !call_is_queued(cursor);
}

bool turn_is_in_doubt(const struct execution *x)
{
    return x->cursor.reconciling != NULL ||
           ((x->cursor.is_unsure || is_asking_outside(&x->cursor)) && turn_is_in_visit(x));
}

void turn_leave_visit(struct turn *t)
{
    struct execution *x = t->x;
    struct round round;

    if (!turn_is_in_visit(x))
        return;
    round = state_round(x, x->cursor.step);
    turn_note_visit(t, "visits");
    if (round.loop > 0)
        turn_note(t, "visitsIn", turn_round_text(t, round));
    state_count_visit(t->mem, x, round, turn_code(t), x->cursor.visit);
}

enum step_result turn_fail(struct turn *t, struct str code, enum err_class class,
                           const char *format, ...)
{
    va_list args;

    va_start(args, format);
    t->failure = (struct failure){
        .code = code,
        .class = class,
        .message = sentence_vmake(t->mem, FAILURE_TEXT_MAX, format, args),
        .is_own = is_own_code(code),
    };
    va_end(args);
    return STEP_FAILED;
}

enum step_result turn_fail_value(struct turn *t, struct value error, struct str pointer)
{
    ASSERT(error.kind == VALUE_ERROR);
    if (error.error->code == ERR_LIMIT_EXPRESSION_COST && t->spent.cost >= t->activation.cost_end) {
        (void)turn_fail(t, STR("limit_time"), ERR_CLASS_BUSINESS,
                        "the expressions of one attempt take more than %d seconds",
                        ATTEMPT_SECONDS_MAX);
        t->failure.source = pointer;
        return STEP_FAILED;
    }
    t->failure = (struct failure){
        .code = str_of(err_code_name(error.error->code)),
        .class = ERR_CLASS_BUSINESS,
        .message = sentence_copy(t->mem, value_sentence(error)),
        .source = pointer,
        .is_own = is_own_code(str_of(err_code_name(error.error->code))),
    };
    return STEP_FAILED;
}

enum step_result turn_fail_answer(struct turn *t, struct value error)
{
    enum err_class class;
    struct value retryable;

    /* What a worker said lives as long as its request; the step keeps its error for longer. */
    error = value_copy(t->mem, error);
    retryable = value_map_member(error, STR("retryable"));
    class = err_class_find(value_map_text(error, STR("class")));
    t->failure = (struct failure){
        .code = value_text_or(value_map_member(error, STR("code")), STR("external_failed")),
        .message = sentence_of(value_text_or(value_map_member(error, STR("message")),
                                             STR("the worker said that it failed"))),
        .class = class == ERR_CLASS_NONE ? ERR_CLASS_BUSINESS : class,
        .details = value_map_member(error, STR("details")),
        .is_foreign = true,
        .is_final = retryable.kind == VALUE_BOOL && !retryable.b,
    };
    return STEP_FAILED;
}

enum step_result turn_fail_size(struct turn *t)
{
    return turn_fail(t, STR("limit_context_size"), ERR_CLASS_BUSINESS,
                     "the context would be larger than %d bytes", CONTEXT_BYTES_MAX);
}

static struct value failure_value(struct turn *t)
{
    const struct failure *f = &t->failure;
    bool may_pass = f->class != ERR_CLASS_BUSINESS && !f->is_final;
    int64_t version = f->version > 0 ? f->version : t->x->program->version;
    struct value_entry *entries = ARENA_ARRAY(t->mem, 7, struct value_entry);
    size_t count = 0;

    value_entry_add(entries, &count, STR("code"), value_string(f->code));
    value_entry_add(entries, &count, STR("message"), value_string(f->message.text));
    value_entry_add(entries, &count, STR("class"), value_string(str_of(err_class_name(f->class))));
    value_entry_add(entries, &count, STR("retryable"), value_bool(may_pass));
    value_entry_add(entries, &count, STR("details"), turn_or_null(f->details));
    value_entry_add(entries, &count, STR("source"),
                    f->source.len > 0 ? value_string(f->source) : value_null());
    /* The execution may go on with another version, where the pointer leads elsewhere. */
    if (f->source.len > 0 && version > 0)
        value_entry_add(entries, &count, STR("version"), value_int(version));
    return value_map_take(t->mem, entries, count);
}

bool turn_drop_details(struct turn *t)
{
    bool drops = t->failure.is_foreign && t->failure.details.kind != VALUE_ABSENT;

    if (drops)
        t->failure.details = value_absent();
    return drops;
}

struct value turn_failure(struct turn *t, struct str *json)
{
    struct value error = failure_value(t);
    struct failure failure = t->failure;

    if (turn_freeze(t, &error, json))
        return error;
    if (failure.is_foreign) {
        t->failure = failure;
        if (turn_drop_details(t))
            return turn_failure(t, json);
    }
    /* What the user wrote has no JSON form, or is too large: that is now what is wrong. */
    error = failure_value(t);
    if (!turn_freeze(t, &error, json))
        PANIC("a failure of our own has a JSON form");
    return error;
}

enum step_result turn_evaluate(struct turn *t, const struct mapping *m, struct value *out)
{
    const struct mapping *failed;

    *out = value_absent();
    if (m == NULL)
        return STEP_DONE;
    *out = mapping_evaluate_at(t->mem, m, &t->activation, &failed);
    return out->kind == VALUE_ERROR ? turn_fail_value(t, *out, failed->pointer) : STEP_DONE;
}

/* --- JSON --- */

bool turn_json(struct turn *t, struct value v, struct str *out)
{
    struct buf text;
    struct err err;

    buf_init_arena(&text, t->mem);
    /* What is larger cannot become part of the context anyway. */
    text.limit = CONTEXT_BYTES_MAX;
    if (json_write(&text, v, &err)) {
        *out = buf_view(&text);
        return true;
    }
    if (err.code == ERR_TOO_LARGE)
        (void)turn_fail_size(t);
    else
        (void)turn_fail(t, STR("expression_error"), ERR_CLASS_BUSINESS, "%pS", ERR_ARG(&err));
    return false;
}

/* How a value compares with what reading its JSON gives. */
enum form { FORM_PLAIN, FORM_OTHER, FORM_TOO_DEEP };

static enum form json_form(struct value v, unsigned depth);

static enum form form_of_all(struct value v, unsigned depth)
{
    enum form form = FORM_PLAIN;

    for (uint32_t i = 0; i < v.len && form == FORM_PLAIN; i++)
        if (v.kind == VALUE_LIST)
            form = json_form(v.items[i], depth);
        else if (json_form(v.map->entries[i].key, depth) != FORM_PLAIN)
            form = FORM_OTHER;
        else
            form = json_form(v.map->entries[i].value, depth);
    return form;
}

static enum form json_form(struct value v, unsigned depth)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_DOUBLE:
        return FORM_PLAIN;
    case VALUE_STRING:
        /* No text that comes from outside has a zero byte; an expression can make one. */
        return v.len > 0 && memchr(v.text, 0, v.len) != NULL ? FORM_OTHER : FORM_PLAIN;
    case VALUE_LIST:
    case VALUE_MAP:
        return depth == STATE_DEPTH_MAX ? FORM_TOO_DEEP : form_of_all(v, depth + 1);
    case VALUE_ABSENT:
    case VALUE_UINT:
    case VALUE_BYTES:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        break;
    }
    return FORM_OTHER;
}

void turn_damaged(struct turn *t, const char *what)
{
    t->damaged = what;
}

/* Whether a value is what its text says. */
static bool is_text_of(struct turn *t, struct value v, struct str json)
{
    struct buf text;
    struct err err;

    buf_init_arena(&text, t->mem);
    return json_write(&text, v, &err) && str_eq(buf_view(&text), json);
}

void turn_has_read(struct turn *t, struct str json, struct value v)
{
    ASSERT_SLOW(is_text_of(t, v, json));
    t->last_read = (struct turn_text){.json = json, .value = v};
}

struct value turn_read(struct turn *t, struct str json, struct value none)
{
    struct value v = none;
    struct err err;

    if (json.len == 0)
        return none;
    if (json.ptr == t->last_read.json.ptr && json.len == t->last_read.json.len)
        return t->last_read.value;
    if (!json_read(t->mem, json, &v, &err)) {
        turn_damaged(t, "a text of the state is no JSON");
        return none;
    }
    t->last_read = (struct turn_text){.json = json, .value = v};
    return v;
}

static bool refuse_depth(struct turn *t)
{
    return turn_fail(t, STR("limit_context_depth"), ERR_CLASS_BUSINESS,
                     "lists and objects are nested deeper than %d levels",
                     STATE_DEPTH_MAX) == STEP_DONE;
}

bool turn_freeze(struct turn *t, struct value *v, struct str *json)
{
    enum form form;
    struct err err;

    if (!turn_json(t, *v, json))
        return false;
    form = json_form(*v, 0);
    if (form == FORM_OTHER) {
        if (!json_read(t->mem, *json, v, &err))
            return turn_fail(t, STR("expression_error"), ERR_CLASS_BUSINESS, "%pS",
                             ERR_ARG(&err)) == STEP_DONE;
        form = json_form(*v, 0);
    }
    return form == FORM_PLAIN || refuse_depth(t);
}

bool turn_make_plain(struct turn *t, struct value *v)
{
    struct str json;

    return json_form(*v, 0) == FORM_PLAIN || turn_freeze(t, v, &json);
}

/* The first member opens the object, so that one without members stays empty. */
static void field_begin(struct buf *out)
{
    if (out->len == 0)
        buf_char(out, '{');
}

void field_json(struct buf *out, const char *name, struct str json)
{
    field_begin(out);
    object_json(out, name, json);
}

void field_text(struct buf *out, const char *name, struct str text)
{
    field_begin(out);
    object_name(out, name);
    json_write_string(out, text);
}

void field_kind(struct buf *out, enum waiting_kind kind)
{
    field_text(out, "kind", str_of(waiting_kind_shown(kind)));
}

void field_time(struct buf *out, const char *name, int64_t us)
{
    field_begin(out);
    object_time(out, name, us);
}

struct str field_end(struct buf *out)
{
    if (out->len > 0)
        buf_char(out, '}');
    return buf_view(out);
}
