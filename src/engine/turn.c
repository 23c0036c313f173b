/* turn.c - the bookkeeping of one advance; see turn.h. */
#include "engine/turn.h"

#include "value/json.h"

#include <stdarg.h>
#include <stdio.h>

void turn_init(struct turn *t, struct arena *mem, const struct execution *exec,
               const struct event *ev, int64_t now_us, struct commit *out)
{
    struct execution *x = arena_alloc(mem, sizeof(*x));
    uint32_t steps = exec->program->step_count;

    *x = *exec;
    x->steps = ARENA_ARRAY(mem, steps, struct step_state);
    if (steps > 0)
        memcpy(x->steps, exec->steps, steps * sizeof(*x->steps));
    /* Adding to a vector that is shared would write into the execution's own memory. */
    x->signals.room = x->signals.count;
    *out = (struct commit){.read_version = exec->row_version, .after = x};
    *t = (struct turn){.mem = mem, .ev = ev, .x = x, .out = out};
    /* Times in one history never go backwards. */
    t->now_us = now_us > x->updated_at_us ? now_us : x->updated_at_us;
    t->activation.now_us = t->now_us;
    t->activation.load = context_load;
    t->activation.context = t;
}

void turn_begin_step(struct turn *t, const struct step *step)
{
    if (step->slot_count > t->slot_count) {
        t->slots = ARENA_ARRAY(t->mem, step->slot_count, struct value);
        t->slot_count = step->slot_count;
    }
    for (uint32_t i = 0; i < step->slot_count; i++)
        t->slots[i] = value_absent();
    t->activation.slots = t->slots;
    t->variables = t->x->variables;
    t->records.count = t->logs.count = 0;
    t->ids = 0;
}

struct history_row *turn_row(struct turn *t, enum history_kind kind, struct str step,
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

enum step_end turn_fail(struct turn *t, struct str code, struct str class, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    t->failure = (struct failure){
        .code = code, .class = class, .message = str_copy(t->mem, str_of(message))};
    return STEP_FAILED;
}

enum step_end turn_fail_value(struct turn *t, struct value error, struct str pointer)
{
    ASSERT(error.kind == VALUE_ERROR);
    t->failure = (struct failure){
        .code = str_of(err_code_name(error.error->code)),
        .class = STR("business"),
        .message = str_copy(t->mem, str_of(error.error->message)),
        .source = pointer,
    };
    return STEP_FAILED;
}

static void add_entry(struct value_entry *entries, size_t *count, struct str key, struct value v)
{
    entries[(*count)++] = (struct value_entry){.key = value_key(key), .value = v};
}

struct value turn_failure_value(struct turn *t)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 6, struct value_entry);
    const struct failure *f = &t->failure;
    size_t count = 0, duplicate;

    add_entry(entries, &count, STR("code"), value_string(f->code));
    add_entry(entries, &count, STR("message"), value_string(f->message));
    add_entry(entries, &count, STR("class"), value_string(f->class));
    add_entry(entries, &count, STR("retryable"),
              value_bool(str_eq(f->class, STR("transient"))));
    if (f->details.kind != VALUE_ABSENT)
        add_entry(entries, &count, STR("details"), f->details);
    if (f->source.len > 0)
        add_entry(entries, &count, STR("source"), value_string(f->source));
    return value_map_make(t->mem, entries, count, &duplicate);
}

bool turn_json(struct turn *t, struct value v, struct str *out)
{
    struct buf text;
    struct err err;

    buf_init_arena(&text, t->mem);
    /* What is larger cannot become part of the context anyway. */
    text.limit = 2 * CONTEXT_BYTES_MAX;
    if (json_write(&text, v, &err)) {
        *out = buf_view(&text);
        return true;
    }
    if (err.code == ERR_TOO_LARGE)
        (void)turn_fail(t, STR("limit_context_size"), STR("business"),
                        "the value is larger than %d bytes of JSON", CONTEXT_BYTES_MAX);
    else
        (void)turn_fail(t, STR("expression_error"), STR("business"), "%s", err.message);
    return false;
}
