/* wait.c - what wait.signal and task.create have beside the fields that are values. */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/compile/scenario.h"

enum { REMINDERS_MAX = 10000, REMINDERS_AT_MAX = 50, REMINDERS_APART_US = 10000 };
enum { TOLD_MAX = 20 }; /* facts, and consequences, of one question */

static void compile_on_timeout(struct compiler *c, struct value v, struct command *command,
                               struct wait *wait)
{
    struct value then = compile_field(v, "onTimeout");
    size_t outer = compile_enter(c, STR("onTimeout"));
    struct jump jump;

    if (then.kind == VALUE_STRING && str_eq(value_text(then), STR("continue")))
        wait->on_timeout = ON_TIMEOUT_CONTINUE;
    if (then.kind == VALUE_MAP && compile_fields(c, then, TABLE_ON_TIMEOUT)) {
        size_t inner = compile_enter(c, STR("to"));
        wait->on_timeout = ON_TIMEOUT_JUMP;
        if (compile_field(then, "to").kind != VALUE_ABSENT &&
            compile_target(c, compile_field(then, "to"), &jump)) {
            wait->timeout_kind = jump.kind;
            wait->timeout_step = jump.step;
        }
        compile_leave(c, inner);
    }
    if (then.kind != VALUE_ABSENT && command->fields[FIELD_TIMEOUT] == NULL)
        compile_warning(c, FINDING_MISPLACED, "without a 'timeout' this never happens");
    compile_leave(c, outer);
}

static void compile_every(struct compiler *c, struct value v, struct wait *wait)
{
    size_t outer = compile_enter(c, STR("every"));
    struct span span;

    wait->reminder_every = compile_value(c, v, ARGUMENT_DURATION);
    if (wait->reminder_every->kind == MAPPING_CONST &&
        define_span(wait->reminder_every->value, &span)) {
        if (span.business_days > 0)
            compile_error(c, FINDING_BAD_DURATION,
                          "business days stand in `at`: \"at\": [\"1bd\", \"2bd\"]");
        else if (span.us < REMINDERS_APART_US)
            compile_error(c, FINDING_BAD_DURATION, "reminders are at least 10ms apart");
    }
    compile_leave(c, outer);
}

/* Whether a span that is written out comes before the one behind it, as far as can be told. */
static bool is_before(const struct mapping *a, const struct mapping *b)
{
    struct span one, other;

    if (a->kind != MAPPING_CONST || b->kind != MAPPING_CONST || !define_span(a->value, &one) ||
        !define_span(b->value, &other) || (one.business_days > 0) != (other.business_days > 0))
        return true;
    return one.business_days < other.business_days || one.us < other.us;
}

static void wait_compile_at(struct compiler *c, struct value list, struct wait *wait)
{
    size_t outer = compile_enter(c, STR("at"));
    const struct mapping **at;

    if (list.kind != VALUE_LIST || list.len == 0 || list.len > REMINDERS_AT_MAX) {
        compile_error(c, list.kind == VALUE_LIST ? FINDING_BAD_VALUE : FINDING_WRONG_TYPE,
                      "at must be a list of 1 to %d durations such as [\"1d\", \"3d\"]",
                      REMINDERS_AT_MAX);
        compile_leave(c, outer);
        return;
    }
    at = ARENA_ARRAY(c->mem, list.len, const struct mapping *);
    for (uint32_t i = 0; i < list.len; i++) {
        size_t inner = compile_enter_index(c, i);
        uint32_t errors = c->errors;

        at[i] = compile_value(c, list.items[i], ARGUMENT_DURATION);
        if (i > 0 && c->errors == errors && !is_before(at[i - 1], at[i]))
            compile_error(c, FINDING_BAD_DURATION,
                          "each reminder comes later than the one before it: times count from the "
                          "beginning of the wait");
        compile_leave(c, inner);
    }
    wait->reminder_at = at;
    wait->reminder_at_count = list.len;
    compile_leave(c, outer);
}

static void compile_reminder(struct compiler *c, struct value v, struct wait *wait)
{
    size_t outer = compile_enter(c, STR("reminder"));
    const struct cel_env *outer_env = c->env;

    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, catalog_wanted(ARGUMENT_REMINDER));
    } else {
        c->env = compile_showing(c, ROOT_REMINDER);
        (void)compile_call(c, v, TABLE_REMINDER, &wait->reminder);
        c->env = outer_env;
        compile_count(c, v, "max", 1, REMINDERS_MAX, &wait->reminder_max);
        if (compile_has(v, "every") == compile_has(v, "at"))
            compile_error(c, FINDING_ONE_OF, "a reminder has either 'every' or 'at'");
        if (compile_has(v, "every"))
            compile_every(c, compile_field(v, "every"), wait);
        if (compile_has(v, "at"))
            wait_compile_at(c, compile_field(v, "at"), wait);
        if (compile_has(v, "at") && compile_has(v, "max"))
            compile_error_at(c, "max", FINDING_MISPLACED,
                             "'at' says how many there are: leave 'max' out");
    }
    compile_leave(c, outer);
}

static void compile_form(struct compiler *c, struct value v, struct wait *wait)
{
    size_t outer = compile_enter(c, STR("form"));
    struct params params;

    (void)compile_params(c, v, PARAMS_PAYLOAD, &params);
    wait->form = params.items;
    wait->form_count = params.count;
    wait->form_written = v;
    compile_leave(c, outer);
}

/* One of them: its label and what it tells, which are values. False: something is wrong with it. */
static bool compile_told_item(struct compiler *c, struct value v, enum field_table table,
                              struct mapping *out)
{
    bool is_fact = table == TABLE_FACT;
    const char *told = is_fact ? "value" : "text";
    uint32_t before = c->errors;
    struct mapping *items = ARENA_ARRAY(c->mem, 2, struct mapping);
    struct value *keys = ARENA_ARRAY(c->mem, 2, struct value);
    const struct mapping *parts[2];

    if (!compile_fields(c, v, table))
        return false;
    parts[0] = compile_value_of(c, v, "label", ARGUMENT_TEXT);
    parts[1] = compile_value_of(c, v, told, is_fact ? ARGUMENT_VALUE : ARGUMENT_TEXT);
    if (c->errors > before)
        return false;
    for (int i = 0; i < 2; i++) {
        items[i] = *parts[i];
        keys[i] = value_key(i == 0 ? STR("label") : str_of(told));
    }
    *out = (struct mapping){.kind = MAPPING_MAP,
                            .count = 2,
                            .items = items,
                            .keys = keys,
                            .pointer = compile_pointer(c)};
    return true;
}

/* `show` or `then`: what who answers is told beside the question; NULL: nothing. */
static const struct mapping *compile_told(struct compiler *c, struct value v, const char *name,
                                          enum argument_kind kind, enum field_table table)
{
    struct value list = compile_of_kind(c, v, name, VALUE_LIST, catalog_wanted(kind));
    struct mapping *told = ARENA_NEW(c->mem, struct mapping);
    struct mapping *items = ARENA_ARRAY(c->mem, TOLD_MAX, struct mapping);
    size_t outer = compile_enter(c, str_of(name));

    *told = (struct mapping){.kind = MAPPING_LIST, .items = items, .pointer = compile_pointer(c)};
    if (list.kind == VALUE_LIST && list.len > TOLD_MAX)
        compile_error(c, FINDING_BAD_VALUE, "at most %d of these are shown, and there are %u",
                      TOLD_MAX, list.len);
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len && i < TOLD_MAX; i++) {
        size_t inner = compile_enter_index(c, i);

        if (compile_told_item(c, list.items[i], table, &items[told->count]))
            told->count++;
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
    return told->count > 0 ? told : NULL;
}

void compile_wait(struct compiler *c, struct value v, struct command *command)
{
    struct wait *wait = ARENA_NEW(c->mem, struct wait);
    const struct mapping *accept = command->fields[FIELD_ACCEPT];
    const struct mapping *is_public = command->fields[FIELD_PUBLIC];

    command->wait = wait;
    compile_on_timeout(c, v, command, wait);
    wait->accepts_new_only = accept != NULL && accept->value.kind == VALUE_STRING &&
                             str_eq(value_text(accept->value), STR("new"));
    if (is_public != NULL && is_public->kind != MAPPING_CONST)
        compile_error_at(c, "public", FINDING_WRONG_TYPE,
                         "public must be true or false, not an expression");
    wait->is_public = is_public != NULL && value_is_true(is_public->value);
    if (compile_has(v, "reminder"))
        compile_reminder(c, compile_field(v, "reminder"), wait);
    if (compile_has(v, "form"))
        compile_form(c, compile_field(v, "form"), wait);
    command->fields[FIELD_SHOW] = compile_told(c, v, "show", ARGUMENT_FACTS, TABLE_FACT);
    command->fields[FIELD_THEN] =
        compile_told(c, v, "then", ARGUMENT_CONSEQUENCES, TABLE_CONSEQUENCE);
}

/* Whether a field says something only of a task that is waited for. */
static const char *const only_with_wait[] = {"timeout", "onTimeout", "reminder", "keep"};

static void refuse_sensitive_param(struct compiler *c, const struct param *param);

static void refuse_sensitive_list(struct compiler *c, const struct param *params, uint32_t count,
                                  struct str name)
{
    size_t outer = compile_enter(c, name);

    for (uint32_t i = 0; i < count; i++) {
        size_t inner = compile_enter_index(c, i);

        refuse_sensitive_param(c, &params[i]);
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
}

static void refuse_sensitive_param(struct compiler *c, const struct param *param)
{
    size_t outer;

    if (param->sensitive)
        compile_error_at(c, "sensitive", FINDING_MISPLACED,
                         "the planner shows what is submitted to all who see the task; ask "
                         "for this with a wait.signal");
    refuse_sensitive_list(c, param->fields, param->field_count, STR("fields"));
    if (param->item == NULL)
        return;
    outer = compile_enter(c, STR("items"));
    refuse_sensitive_param(c, param->item);
    compile_leave(c, outer);
}

/* What is submitted is shown with the task and its log, to everyone of the organisation. */
static void refuse_sensitive(struct compiler *c, const struct wait *wait)
{
    refuse_sensitive_list(c, wait->form, wait->form_count, STR("form"));
}

void compile_task(struct compiler *c, struct value v, struct command *command)
{
    struct wait *wait = ARENA_NEW(c->mem, struct wait);
    const struct mapping *waits = command->fields[FIELD_WAIT];
    bool never_waits =
        waits == NULL || (waits->kind == MAPPING_CONST && !value_is_true(waits->value));

    command->wait = wait;
    compile_on_timeout(c, v, command, wait);
    if (compile_has(v, "reminder"))
        compile_reminder(c, compile_field(v, "reminder"), wait);
    if (compile_has(v, "form"))
        compile_form(c, compile_field(v, "form"), wait);
    refuse_sensitive(c, wait);
    for (size_t i = 0; never_waits && i < ARRAY_SIZE(only_with_wait); i++)
        if (compile_has(v, only_with_wait[i]))
            compile_warning_at(c, only_with_wait[i], FINDING_MISPLACED,
                               "it says nothing without \"wait\": true");
}
