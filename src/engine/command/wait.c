/* wait.c - steps that wait for a signal, a duration or a point in time; see wait.h. */
#include "engine/command/wait.h"
#include "define/calendar.h"
#include "define/catalog/catalog.h"
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/command/task.h"
#include "engine/context.h"
#include "engine/flow/repair.h"
#include "engine/flow/step.h"
#include "value/timefmt.h"

bool wait_is(const struct command *c)
{
    return catalog_command(c->type)->ends == ENDS_WAITS;
}

/* {firedAt}; of a sleep {until}: the time that it was for. */
static struct value fired(struct turn *t, const struct command *c)
{
    bool is_sleep = c->type == COMMAND_SLEEP;
    int64_t at_us = is_sleep ? t->x->cursor.timeout_at_us : t->now_us;

    return value_map_of(t->mem, VALUE_ENTRIES({value_key(is_sleep ? STR("until") : STR("firedAt")),
                                               time_text(t->mem, at_us)}));
}

/* Whether the form of a wait lets a payload through: then *filled has its defaults, too. */
static bool form_takes(struct turn *t, const struct command *c, struct value payload,
                       struct value *filled, struct findings *findings)
{
    *filled = payload;
    if (c->wait->form == NULL)
        return true;
    define_check_params(t->mem, c->wait->form, c->wait->form_count, STR("/payload"), payload,
                        filled, findings);
    return !findings_have_errors(findings);
}

struct value wait_answer(struct turn *t, const struct signal *signal, struct value payload)
{
    struct value view = signal == NULL ? value_map_empty() : signal->view;
    struct value type = value_map_get_str(view, STR("type"));
    struct value by = value_map_get_str(view, STR("by"));
    struct value at = value_map_get_str(view, STR("receivedAt"));

    return value_map_of(t->mem,
                        VALUE_ENTRIES({value_key(STR("type")), turn_or_null(type)},
                                      {value_key(STR("payload")), payload},
                                      {value_key(STR("by")), turn_or_null(by)},
                                      {value_key(STR("receivedAt")), turn_or_null(at)},
                                      {value_key(STR("timedOut")), value_bool(signal == NULL)}));
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

/* A match that cannot be evaluated is no match; one of the right type is counted. */
static bool matches(struct turn *t, const struct command *c, struct value types,
                    const struct signal *signal)
{
    const struct cel_program *match = c->expressions[FIELD_MATCH];

    if (!has_type(types, signal->type))
        return false;
    if (match == NULL)
        return true;
    t->slots[ROOT_SIGNAL] = signal->view;
    if (value_is_true(cel_evaluate(t->mem, match, &t->activation, NULL)))
        return true;
    t->x->cursor.unmatched++;
    return false;
}

/* --- what it waits for, for people --- */

/* A field that is given, as a member. False: the step has failed. */
static bool describe_field(struct turn *t, const struct command *c, enum command_field field,
                           struct buf *out)
{
    struct value v;
    struct str json;

    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (!turn_json(t, v, &json))
        return false;
    field_json(out, catalog_field_name(field).ptr, json);
    return true;
}

static enum waiting_kind wait_kind(const struct step *step)
{
    const struct command *c = &step->procedure->commands[0];

    /* A state without events waits for its times alone. */
    if (step->state != NULL && step->state->event_count == 0)
        return WAITING_TIMER;
    return c->type == COMMAND_WAIT_SIGNAL ? WAITING_SIGNAL : WAITING_TIMER;
}

static bool wait_describe(struct turn *t, const struct step *step, struct str *out)
{
    const struct cursor *cursor = &t->x->cursor;
    const struct command *c = &step->procedure->commands[0];
    bool is_signal = wait_kind(step) == WAITING_SIGNAL;
    struct str form;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, wait_kind(step));
    field_text(&why, "step", step->code);
    if (is_signal) {
        field_json(&why, "signalType", cursor->types_json);
        if (!describe_field(t, c, FIELD_TITLE, &why) || !describe_field(t, c, FIELD_ASSIGNEE, &why))
            return false;
        if (cursor->correlation.len > 0)
            field_text(&why, "correlation", cursor->correlation);
        if (c->wait->form_written.kind == VALUE_LIST) {
            if (!turn_json(t, c->wait->form_written, &form))
                return false;
            field_json(&why, "form", form);
        }
        if (c->wait->is_public)
            field_json(&why, "public", STR("true"));
    }
    field_time(&why, "since", step->state != NULL ? t->x->machine.entered_at_us : t->now_us);
    if (cursor->timeout_at_us > 0)
        field_time(&why, "until", cursor->timeout_at_us);
    if (cursor->unmatched > 0)
        field_json(&why, "unmatched", str_printf(t->mem, "%lld", (long long)cursor->unmatched));
    *out = field_end(&why);
    return true;
}

void wait_describe_more(struct turn *t, struct str name, struct value v)
{
    struct value why = turn_read(t, t->x->waiting_for_json, value_null());

    why = state_with(t->mem, why, name, v);
    if (!turn_json(t, why, &t->x->waiting_for_json))
        PANIC("what was read from JSON has no JSON form");
}

/* --- signals --- */

/* A signal that came by correlation is for waits that have it. */
static bool is_meant(const struct turn *t)
{
    return t->ev->signal_correlation.len == 0 ||
           str_eq(t->ev->signal_correlation, t->x->cursor.correlation);
}

bool wait_fits_form(struct turn *t, const struct command *c, const struct signal *signal,
                    struct value *filled)
{
    struct findings findings = {0};

    if (form_takes(t, c, value_map_get_str(signal->view, STR("payload")), filled, &findings))
        return true;
    t->x->cursor.unmatched++;
    return false;
}

bool wait_takes(struct turn *t, const struct step *step, const struct signal *signal,
                struct value *out)
{
    const struct command *c = &step->procedure->commands[0];
    int64_t unmatched = t->x->cursor.unmatched;
    struct value payload;

    if (c->type != COMMAND_WAIT_SIGNAL || signal->is_taken || !is_meant(t))
        return false;
    if (matches(t, c, turn_read(t, t->x->cursor.types_json, value_null()), signal) &&
        wait_fits_form(t, c, signal, &payload)) {
        *out = wait_answer(t, signal, payload);
        return true;
    }
    if (t->x->cursor.unmatched > unmatched)
        wait_describe_more(t, STR("unmatched"), value_int(t->x->cursor.unmatched));
    return false;
}

bool wait_is_for(struct turn *t, const struct step *step)
{
    const struct command *c = &step->procedure->commands[0];

    return c->type == COMMAND_WAIT_SIGNAL && is_meant(t) &&
           has_type(turn_read(t, t->x->cursor.types_json, value_null()), t->ev->signal_type);
}

bool wait_checks_form(struct turn *t, const struct step *step, struct err *err)
{
    const struct command *c = &step->procedure->commands[0];
    struct findings findings = {0};
    struct value filled;

    if (form_takes(t, c, t->ev->signal_payload, &filled, &findings))
        return true;
    t->out->findings = findings;
    return err_set(err, ERR_INVALID, "the payload does not fit the form: %pS",
                   SENTENCE_ARG(findings.items[0].message));
}

/*
 * An answer is for the wait that it names. Of those that are buffered the next visit takes one
 * alone: that with which the last one has failed.
 */
static bool is_for_another(struct turn *t, const struct signal *signal)
{
    const struct step_state *s = state_step(t->x, t->x->cursor.step);

    return signal->answers.len > 0 &&
           !(s->outcome == OUTCOME_FAILED &&
             str_eq(signal->answers,
                    str_printf(t->mem, "%.*s:%lld", STR_ARG(turn_code(t)), (long long)s->visit)));
}

/* The oldest signal that nobody has taken and this wait is for. */
static const struct signal *find_buffered(struct turn *t, const struct command *c,
                                          struct value types, struct value *payload)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    while ((s = signals_next(&t->x->signals, &iter)) != NULL)
        if (!s->is_taken && !pause_defers(t->x, s->seq) && !is_for_another(t, s) &&
            matches(t, c, types, s) && wait_fits_form(t, c, s, payload))
            return s;
    return NULL;
}

/* The same among those that are kept for its correlation. STEP_NEEDS: they must be read first. */
static enum step_result find_correlated(struct turn *t, const struct command *c, struct value types,
                                        const struct signal **out, struct value *payload)
{
    const struct kept_read *kept;

    if (t->x->cursor.correlation.len == 0)
        return STEP_DONE;
    if (!correlation_look(t, t->x->cursor.correlation, &kept))
        return STEP_NEEDS;
    for (uint32_t i = 0; kept != NULL && i < kept->count; i++) {
        struct signal *signal;
        struct err err;

        if (correlation_has(t, &kept->signals[i]) || !has_type(types, kept->signals[i].signal.type))
            continue;
        signal = ARENA_NEW(t->mem, struct signal);
        if (!receive_make(t, &kept->signals[i].signal, signal, &err) ||
            !matches(t, c, types, signal) || !wait_fits_form(t, c, signal, payload))
            continue;
        correlation_take(t, &kept->signals[i], signal);
        *out = signal;
        return STEP_DONE;
    }
    return STEP_DONE;
}

enum step_result wait_looks(struct turn *t, const struct step *step, struct value *out,
                            int64_t *took)
{
    const struct command *c = &step->procedure->commands[0];
    const struct signal *signal = NULL;
    struct value payload;

    *took = 0;
    if (c->type != COMMAND_WAIT_SIGNAL || c->wait->accepts_new_only)
        return STEP_DONE;
    if (find_correlated(t, c, turn_read(t, t->x->cursor.types_json, value_null()), &signal,
                        &payload) == STEP_NEEDS)
        return STEP_NEEDS;
    if (signal != NULL) {
        *out = wait_answer(t, signal, payload);
        *took = signal->seq;
    }
    return STEP_DONE;
}

/* So many business days on, by the calendar as it is now. False: the step has failed. */
static bool business_days_end(struct turn *t, int64_t from_us, int64_t days, int64_t *out_us)
{
    struct value config = value_map_member(t->ev->config, STR("calendar"));
    struct findings findings = {0};
    struct calendar calendar;

    if (!calendar_read(t->mem, config, STR_NONE, &calendar, &findings))
        return turn_fail(t, STR("expression_calendar"), ERR_CLASS_BUSINESS,
                         "$.config.calendar is no calendar: %.*s: %pS",
                         STR_ARG(findings.items[0].pointer),
                         SENTENCE_ARG(findings.items[0].message)) == STEP_DONE;
    if (calendar_add(&calendar, from_us, days, out_us))
        return true;
    return turn_fail(t, STR("validation_duration"), ERR_CLASS_BUSINESS,
                     "%lld business days end after the year 9999", (long long)days) == STEP_DONE;
}

bool wait_span_from(struct turn *t, int64_t from_us, struct value v, struct str field,
                    int64_t *out_us)
{
    struct span span;

    if (define_span(v, &span)) {
        if (span.business_days > 0)
            return business_days_end(t, from_us, span.business_days, out_us);
        if (!__builtin_add_overflow(from_us, span.us, out_us))
            return true;
    }
    return turn_fail(t, STR("validation_duration"), ERR_CLASS_BUSINESS,
                     "'%.*s' must be a duration such as \"30s\" or \"7d\"",
                     STR_ARG(field)) == STEP_DONE;
}

bool wait_span_end(struct turn *t, struct value v, struct str field, int64_t *out_us)
{
    return wait_span_from(t, t->wall_us, v, field, out_us);
}

/* When a wait ends by itself: 0 = never. False: the step has failed. */
static bool wait_end(struct turn *t, const struct command *c, int64_t *out_us)
{
    enum command_field field = c->type == COMMAND_WAIT_SIGNAL   ? FIELD_TIMEOUT
                               : c->type == COMMAND_WAIT_TIMER  ? FIELD_DURATION
                               : c->type == COMMAND_WAIT_UNTIL  ? FIELD_TIMESTAMP
                               : c->fields[FIELD_UNTIL] != NULL ? FIELD_UNTIL
                                                                : FIELD_DURATION;
    struct value v, at;

    *out_us = 0;
    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (field != FIELD_TIMESTAMP && field != FIELD_UNTIL)
        return wait_span_end(t, v, catalog_field_name(field), out_us);
    at = v;
    if (v.kind == VALUE_STRING && !timestamp_read(value_text(v), &at) &&
        !timestamp_read_date(value_text(v), &at))
        at = value_null();
    if (at.kind != VALUE_TIMESTAMP)
        return turn_fail(t, STR("validation_timestamp"), ERR_CLASS_BUSINESS,
                         "'%.*s' must be a time such as \"2026-01-31T09:00:00Z\"",
                         STR_ARG(catalog_field_name(field))) == STEP_DONE;
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
        (void)turn_fail(t, STR("validation_signal_type"), ERR_CLASS_BUSINESS,
                        "'signalType' must be a string or a list of strings");
    return ok;
}

static bool evaluate_correlation(struct turn *t, const struct command *c)
{
    struct value v;

    t->x->cursor.correlation = STR_NONE;
    if (!command_field(t, c, FIELD_CORRELATION, &v))
        return false;
    if (v.kind == VALUE_ABSENT || define_correlation(t->mem, v, &t->x->cursor.correlation))
        return true;
    return turn_fail(t, STR("validation_correlation"), ERR_CLASS_BUSINESS,
                     "'correlation' must be an integer or a text of 1 to %d bytes",
                     CORRELATION_LEN_MAX) == STEP_DONE;
}

void wait_set_timer(struct cursor *cursor)
{
    cursor->wake_at_us = cursor->timeout_at_us;
    if (cursor->remind_at_us > 0 &&
        (cursor->wake_at_us == 0 || cursor->remind_at_us < cursor->wake_at_us))
        cursor->wake_at_us = cursor->remind_at_us;
}

enum step_result wait_stand(struct turn *t, const struct step *step)
{
    struct str why;

    wait_set_timer(&t->x->cursor);
    if (!wait_describe(t, step, &why))
        return STEP_FAILED;
    step_wait(t, PHASE_WAIT, wait_kind(step), STR("waiting"), why);
    return STEP_WAITS;
}

enum step_result wait_begin(struct turn *t, const struct step *step, struct value *out,
                            int64_t *took)
{
    const struct command *c = &step->procedure->commands[0];
    struct cursor *cursor = &t->x->cursor;
    const struct signal *signal = NULL;
    struct value types, payload;

    *took = 0;
    if (c->type == COMMAND_TASK_CREATE)
        return task_begin(t, step);
    if (step->state != NULL && !step->state->is_final)
        return machine_wait(t, step, out, took);
    cursor->unmatched = 0;
    if (!wait_end(t, c, &cursor->timeout_at_us))
        return STEP_FAILED;
    if (c->type != COMMAND_WAIT_SIGNAL) {
        if (cursor->timeout_at_us > t->wall_us)
            return wait_stand(t, step);
        *out = fired(t, c);
        return STEP_DONE;
    }
    if (!signal_types(t, c, &types) || !evaluate_correlation(t, c) || !people_begin(t, c))
        return STEP_FAILED;
    if (!c->wait->accepts_new_only)
        signal = find_buffered(t, c, types, &payload);
    if (!c->wait->accepts_new_only && signal == NULL &&
        find_correlated(t, c, types, &signal, &payload) == STEP_NEEDS)
        return STEP_NEEDS;
    if (signal != NULL) {
        people_leave(t, c);
        *out = wait_answer(t, signal, payload);
        *took = signal->seq;
        return STEP_DONE;
    }
    if (!remind_begin(t, c->wait) || !turn_json(t, types, &cursor->types_json))
        return STEP_FAILED;
    return wait_stand(t, step);
}

/* --- time --- */

bool wait_is_over(const struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;

    return cursor->timeout_at_us > 0 && cursor->timeout_at_us <= t->wall_us;
}

enum step_result wait_expired(struct turn *t, const struct step *step, struct value *out)
{
    const struct command *c = &step->procedure->commands[0];

    if (c->type != COMMAND_WAIT_SIGNAL) {
        *out = fired(t, c);
        return STEP_DONE;
    }
    if (c->wait->on_timeout == ON_TIMEOUT_FAIL)
        return turn_fail(t, STR("timeout_signal"), ERR_CLASS_BUSINESS,
                         "no signal came before the time was up");
    *out = wait_answer(t, NULL, value_null());
    return STEP_DONE;
}
