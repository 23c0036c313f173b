/* trigger_fire.c - what a trigger comes to when it fires; see trigger.h. */
#include "cel/cel.h"
#include "define/define.h"
#include "define/program.h"
#include "define/trigger.h"
#include "value/json.h"
#include "value/timefmt.h"

/* Evaluating, for messages: "triggers[0].key: ..." */
struct firing {
    struct arena *mem;
    const struct trigger *trigger;
    struct cel_activation activation;
    struct err *err;
};

static bool fire_failed(struct firing *f, const char *field, struct sentence why)
{
    return err_set(f->err, ERR_INVALID, "triggers[%u].%s: %pS", f->trigger->position, field,
                   SENTENCE_ARG(why));
}

/* A text of 1 to `max` bytes; an integer is its digits. */
static bool fire_text(struct firing *f, const struct mapping *m, const char *field, size_t max,
                      struct str *out)
{
    struct value v;

    *out = STR_NONE;
    if (m == NULL)
        return true;
    v = mapping_evaluate(f->mem, m, &f->activation);
    if (v.kind == VALUE_ERROR)
        return fire_failed(f, field, value_sentence(v));
    if (v.kind == VALUE_INT)
        *out = str_printf(f->mem, "%lld", (long long)v.i);
    else if (v.kind == VALUE_STRING)
        *out = value_text(v);
    else
        return fire_failed(f, field, SENTENCE("this is no text"));
    if (out->len == 0 || out->len > max)
        return fire_failed(f, field,
                           out->len == 0 ? SENTENCE("this is an empty text")
                                         : SENTENCE("this text is too long"));
    return true;
}

/* What a client would have sent: times and durations are texts. */
static bool fire_input(struct firing *f, struct value *out)
{
    struct buf text;
    struct err err;
    struct value v;

    if (f->trigger->input == NULL)
        return true;
    v = mapping_evaluate(f->mem, f->trigger->input, &f->activation);
    if (v.kind == VALUE_ERROR)
        return fire_failed(f, "input", value_sentence(v));
    buf_init_arena(&text, f->mem);
    if (!json_write(&text, v, &err) || !json_read(f->mem, buf_view(&text), out, &err))
        return fire_failed(f, "input", err_sentence(&err));
    return true;
}

static bool fire_when(struct firing *f, bool *out)
{
    struct value v;

    *out = f->trigger->when == NULL;
    if (*out)
        return true;
    v = cel_evaluate(f->mem, f->trigger->when, &f->activation, NULL);
    if (v.kind == VALUE_ERROR)
        return fire_failed(f, "when", value_sentence(v));
    if (v.kind != VALUE_BOOL)
        return fire_failed(f, "when", SENTENCE("this is neither true nor false"));
    *out = value_is_true(v);
    return true;
}

bool trigger_evaluate(struct arena *mem, const struct program *p, const struct trigger *t,
                      const struct trigger_context *context, struct trigger_outcome *out,
                      struct err *err)
{
    struct value *slots = ARENA_ARRAY(mem, p->slot_count + ROOT_COUNT, struct value);
    struct firing f = {.mem = mem,
                       .trigger = t,
                       .activation = {.slots = slots, .now_us = context->now_us},
                       .err = err};

    for (size_t i = 0; i < p->slot_count + ROOT_COUNT; i++)
        slots[i] = value_absent();
    slots[ROOT_WEBHOOK] = context->webhook;
    slots[ROOT_EVENT] = context->event;
    slots[ROOT_RECORD] = context->record;
    slots[ROOT_SCHEDULE] = context->schedule;
    slots[ROOT_CONFIG] = context->config.kind == VALUE_MAP ? context->config : value_map_empty();
    slots[ROOT_USER] = context->user;
    slots[ROOT_META] = p->meta;
    slots[ROOT_NOW] = timestamp_of_us(context->now_us);
    *out = (struct trigger_outcome){.input = value_absent()};
    if (!fire_text(&f, t->id, "id", TRIGGER_ID_MAX, &out->id) || !fire_when(&f, &out->fires))
        return false;
    if (!out->fires)
        return true;
    return fire_input(&f, &out->input) &&
           fire_text(&f, t->key, "key", BUSINESS_KEY_MAX, &out->key) &&
           fire_text(&f, t->signal_type, "signal.type", TRIGGER_SIGNAL_TYPE_MAX,
                     &out->signal_type) &&
           fire_text(&f, t->correlation, "signal.correlation", CORRELATION_LEN_MAX,
                     &out->correlation);
}
