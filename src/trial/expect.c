/*
 * expect.c - holding a trial against what a case expects; see case.h.
 *
 * `result` must be equal. Of error, waitingFor, context, records, children and
 * deadLetters, what is given must be there: members of objects may be left out,
 * items of lists may not. `steps`, `commands` and `logs` are whole lists, in
 * order; `steps` may also say what became of some steps, by their codes.
 */
#include "base/buf.h"
#include "define/catalog/catalog.h"
#include "engine/show.h"
#include "trial/case.h"
#include "trial/refusal.h"
#include "trial/script.h"
#include "value/json.h"

enum { SHOWN_MAX = 200 };

struct check {
    struct arena *mem;
    struct trial_problems *problems;
    bool is_exact; /* members may not be left out */
};

static struct str shown(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    if (v.kind == VALUE_ABSENT)
        return STR("nothing");
    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        return STR("a value without a JSON form");
    if (out.len <= SHOWN_MAX)
        return buf_view(&out);
    return str_printf(mem, "%.*s...", SHOWN_MAX, out.ptr);
}

static void differs(struct check *k, struct str path, struct value expected, struct value is)
{
    struct str wanted = shown(k->mem, expected), found = shown(k->mem, is);

    *VEC_ADD(k->mem, k->problems) = sentence_make(k->mem, "%.*s: expected %.*s, is %.*s",
                                                  STR_ARG(path), STR_ARG(wanted), STR_ARG(found));
}

static void compare(struct check *k, struct str path, struct value expected, struct value is);

static void compare_maps(struct check *k, struct str path, struct value expected, struct value is)
{
    for (uint32_t i = 0; i < expected.len; i++) {
        struct str name = value_text(expected.map->entries[i].key);
        struct value v = value_map_get_str(is, name);
        struct value wanted = expected.map->entries[i].value;

        if (v.kind == VALUE_ABSENT && wanted.kind == VALUE_NULL && !k->is_exact)
            continue;
        compare(k, str_printf(k->mem, "%.*s.%.*s", STR_ARG(path), STR_ARG(name)), wanted, v);
    }
    for (uint32_t i = 0; k->is_exact && i < is.len; i++) {
        struct str name = value_text(is.map->entries[i].key);

        if (value_map_get_str(expected, name).kind == VALUE_ABSENT)
            differs(k, str_printf(k->mem, "%.*s.%.*s", STR_ARG(path), STR_ARG(name)),
                    value_absent(), is.map->entries[i].value);
    }
}

static void compare(struct check *k, struct str path, struct value expected, struct value is)
{
    if (expected.kind == VALUE_MAP && is.kind == VALUE_MAP) {
        compare_maps(k, path, expected, is);
        return;
    }
    if (expected.kind == VALUE_LIST && is.kind == VALUE_LIST && expected.len == is.len) {
        for (uint32_t i = 0; i < expected.len; i++)
            compare(k, str_printf(k->mem, "%.*s[%u]", STR_ARG(path), i), expected.items[i],
                    is.items[i]);
        return;
    }
    if (is.kind == VALUE_ABSENT || !value_equal(expected, is, NULL))
        differs(k, path, expected, is);
}

/* --- steps --- */

/* "pay" completed; "pay failed", "pay skipped"; "pay rollback" when it was undone. */
static struct str row_text(struct arena *mem, const struct history_row *row)
{
    bool is_plain = row->kind == HISTORY_FORWARD && str_eq(row->status, STR("completed"));
    bool is_undone = row->kind == HISTORY_ROLLBACK && str_eq(row->status, STR("compensated"));

    if (is_plain)
        return row->step;
    if (row->kind == HISTORY_FORWARD)
        return str_printf(mem, "%.*s %.*s", STR_ARG(row->step), STR_ARG(row->status));
    if (is_undone || str_eq(row->status, STR("completed")))
        return str_printf(mem, "%.*s %s", STR_ARG(row->step), history_kind_name(row->kind));
    return str_printf(mem, "%.*s %s %.*s", STR_ARG(row->step), history_kind_name(row->kind),
                      STR_ARG(row->status));
}

/* The rows that clients see, as texts. */
static struct value step_texts(struct arena *mem, const struct history *history)
{
    struct value *items = ARENA_ARRAY(mem, history->count + 1, struct value);
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        if (history->items[i].kind != HISTORY_EVENT)
            items[count++] = value_string(row_text(mem, &history->items[i]));
    return value_list(items, count);
}

static struct value command_texts(struct arena *mem, const struct command_runs *runs)
{
    struct value *items = ARENA_ARRAY(mem, runs->count + 1, struct value);

    for (size_t i = 0; i < runs->count; i++)
        items[i] = value_string(str_of(runs->items[i].command->name));
    return value_list(items, runs->count);
}

/* The place where two lists of texts part, and what stands around it. */
static void check_texts(struct check *k, const char *what, struct value expected, struct value are)
{
    struct str wanted, found;

    if (value_equal(expected, are, NULL))
        return;
    wanted = shown(k->mem, expected);
    found = shown(k->mem, are);
    *VEC_ADD(k->mem, k->problems) = sentence_make(
        k->mem, "%s: expected %.*s,\n    but they are %.*s", what, STR_ARG(wanted), STR_ARG(found));
}

/* A row as the API shows it. */
static struct value row_value(struct arena *mem, const struct trial *trial,
                              const struct history_row *row)
{
    struct value v;
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    show_history_row(&out, trial->main.x->id, row);
    return json_read(mem, buf_view(&out), &v, &err) ? v : value_null();
}

/* What is expected of one row: its status, or members of it. */
static void check_row(struct check *k, struct str path, struct value expected,
                      const struct trial *trial, const struct history_row *row)
{
    struct value is = row_value(k->mem, trial, row);

    compare(k, path, expected,
            expected.kind == VALUE_MAP ? is : value_map_get_str(is, STR("status")));
}

/* The last row of a step, or NULL when it never ran. */
static const struct history_row *last_row(const struct history *history, struct str step)
{
    for (size_t i = history->count; i > 0; i--)
        if (history->items[i - 1].kind == HISTORY_FORWARD &&
            str_eq(history->items[i - 1].step, step))
            return &history->items[i - 1];
    return NULL;
}

/* {code: status, members of its last row, or null when it must not have run} */
static void check_steps_by_code(struct check *k, struct value expected, const struct trial *trial)
{
    for (uint32_t i = 0; i < expected.len; i++) {
        struct str code = value_text(expected.map->entries[i].key);
        struct str path = str_printf(k->mem, "steps.%.*s", STR_ARG(code));
        struct value wanted = expected.map->entries[i].value;
        const struct history_row *row = last_row(&trial->main.history, code);

        if (row != NULL)
            check_row(k, path, wanted, trial, row);
        else if (wanted.kind != VALUE_NULL)
            differs(k, path, wanted, value_absent());
    }
}

/* A list of texts, or of members of rows. */
static void check_steps(struct check *k, struct value expected, const struct trial *trial)
{
    const struct history *history = &trial->main.history;
    struct value texts = step_texts(k->mem, history);
    uint32_t n = 0;

    if (expected.kind == VALUE_MAP) {
        check_steps_by_code(k, expected, trial);
        return;
    }
    if (expected.kind != VALUE_LIST || expected.len != texts.len) {
        check_texts(k, "steps", expected, texts);
        return;
    }
    for (size_t i = 0; i < history->count; i++) {
        struct str path = str_printf(k->mem, "steps[%u]", n);

        if (history->items[i].kind == HISTORY_EVENT)
            continue;
        if (expected.items[n].kind == VALUE_MAP)
            check_row(k, path, expected.items[n], trial, &history->items[i]);
        else if (!value_equal(expected.items[n], texts.items[n], NULL)) {
            check_texts(k, "steps", expected, texts);
            return;
        }
        n++;
    }
}

/* --- records --- */

/* {object: {id: data, or null when it must not be}} */
static void check_records(struct check *k, struct value expected, const struct trial *trial)
{
    for (uint32_t i = 0; i < expected.len; i++) {
        struct str object = value_text(expected.map->entries[i].key);
        struct value of = expected.map->entries[i].value;

        for (uint32_t n = 0; of.kind == VALUE_MAP && n < of.len; n++) {
            struct str id = value_text(of.map->entries[n].key);
            struct value is = value_null();

            for (size_t r = 0; r < trial->records.count; r++)
                if (str_eq(trial->records.items[r].read.object, object) &&
                    str_eq(trial->records.items[r].read.id, id) &&
                    trial->records.items[r].read.version > 0)
                    is = trial->records.items[r].read.data;
            compare(k, str_printf(k->mem, "records.%.*s.%.*s", STR_ARG(object), STR_ARG(id)),
                    of.map->entries[n].value, is);
        }
    }
}

/* --- all of it --- */

static void check_members(struct check *k, struct value expect, struct value is)
{
    static const struct {
        const char *name;
        bool is_exact;
    } members[] = {{"status", true},      {"result", true},   {"error", false},
                   {"waitingFor", false}, {"context", false}, {"deadLetters", false}};

    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        struct str name = str_of(members[i].name);
        struct value expected = value_map_get_str(expect, name);

        k->is_exact = members[i].is_exact;
        if (expected.kind != VALUE_ABSENT)
            compare(k, name, expected, value_map_get_str(is, name));
    }
    k->is_exact = false;
}

static void check_duration(struct check *k, struct value expected, const struct trial *trial)
{
    int64_t us = trial->ended_at_us - trial->started_at_us, wanted_us;
    struct value is = value_duration(us / 1000000, (uint32_t)(us % 1000000) * 1000);

    if (expected.kind != VALUE_ABSENT &&
        (!define_duration_us(expected, &wanted_us) || wanted_us != us))
        differs(k, STR("duration"), expected, is);
}

static struct value log_texts(struct arena *mem, const struct trial *trial)
{
    struct value *items = ARENA_ARRAY(mem, trial->logs.count + 1, struct value);

    for (size_t i = 0; i < trial->logs.count; i++)
        items[i] = value_string(trial->logs.items[i].message);
    return value_list(items, trial->logs.count);
}

/* --- what it started, and what it called --- */

/* [{code, status, result, ..., steps: ["a", "b failed"]}] */
static void check_children(struct check *k, struct value expected, const struct trial *trial,
                           struct value are)
{
    if (expected.kind == VALUE_ABSENT)
        return;
    if (expected.kind != VALUE_LIST || expected.len != trial->children.count) {
        struct str wanted = shown(k->mem, expected);

        *VEC_ADD(k->mem, k->problems) =
            sentence_make(k->mem, "children: expected %.*s, but %zu were started", STR_ARG(wanted),
                          trial->children.count);
        return;
    }
    for (uint32_t i = 0; i < expected.len; i++) {
        struct value wanted = expected.items[i];

        for (uint32_t m = 0; wanted.kind == VALUE_MAP && m < wanted.len; m++) {
            struct str name = value_text(wanted.map->entries[m].key);
            struct value v = str_eq(name, STR("steps"))
                                 ? step_texts(k->mem, &trial->children.items[i].history)
                                 : value_map_get_str(are.items[i], name);

            compare(k, str_printf(k->mem, "children[%u].%.*s", i, STR_ARG(name)),
                    wanted.map->entries[m].value, v);
        }
    }
}

/* {name of a mock: how often it was called, or with which inputs} */
static void check_calls(struct check *k, struct value expected, const struct trial *trial)
{
    for (uint32_t i = 0; expected.kind == VALUE_MAP && i < expected.len; i++) {
        struct str name = value_text(expected.map->entries[i].key);
        struct value wanted = expected.map->entries[i].value;
        struct value *inputs = ARENA_ARRAY(k->mem, trial->calls.count + 1, struct value);
        struct str path = str_printf(k->mem, "calls.%.*s", STR_ARG(name));
        size_t count = 0;

        for (size_t c = 0; c < trial->calls.count; c++)
            if (str_eq(trial->calls.items[c].name, name))
                inputs[count++] = trial->calls.items[c].input.kind == VALUE_ABSENT
                                      ? value_null()
                                      : trial->calls.items[c].input;
        compare(k, path, wanted,
                wanted.kind == VALUE_LIST ? value_list(inputs, count) : value_int((int64_t)count));
    }
}

/* --- all of it --- */

/* What the script had in mind and did not come to pass. */
static void check_script(struct check *k, const struct trial_case *c, const struct trial *trial)
{
    struct findings findings = {0};

    if (trial->stop != TRIAL_WHOLE)
        *VEC_ADD(k->mem, k->problems) = sentence_of(str_of(trial_stop_message(trial->stop)));
    refusal_check_signals(k->mem, c, trial, k->problems);
    if (trial->actions_undone > 0)
        *VEC_ADD(k->mem, k->problems) = sentence_make(
            k->mem,
            trial->actions_undone == 1 ? "%zu action of the operator had no occasion"
                                       : "%zu actions of the operator had no occasion",
            trial->actions_undone);
    script_check_mocks(k->mem, &c->script.mocks, trial->main.x->program, trial, &findings);
    for (size_t i = 0; i < findings.count; i++)
        *VEC_ADD(k->mem, k->problems) =
            findings.items[i].hint.text.len == 0
                ? findings.items[i].message
                : sentence_make(k->mem, sentence_hinted, SENTENCE_ARG(findings.items[i].message),
                                SENTENCE_ARG(findings.items[i].hint));
}

/* Why it still waits. */
static void explain_wait(struct check *k, struct value why)
{
    struct value kind = value_map_member(why, STR("kind")),
                 procedure = value_map_member(why, STR("procedure"));
    struct str text = shown(k->mem, why);

    if (value_equal(kind, value_string(STR("job")), NULL) && procedure.kind == VALUE_STRING)
        *VEC_ADD(k->mem, k->problems) =
            sentence_make(k->mem,
                          "it waits for a worker to do '%.*s': say in mocks.procedures "
                          "what that answers",
                          STR_ARG(value_text(procedure)));
    else if (value_equal(kind, value_string(STR("task")), NULL))
        *VEC_ADD(k->mem, k->problems) =
            sentence_make(k->mem,
                          "it waits for the task of the step '%.*s': say in mocks.tasks "
                          "how that ends",
                          STR_ARG(value_map_text(why, STR("step"))));
    else
        *VEC_ADD(k->mem, k->problems) = sentence_make(k->mem, "it waits: %.*s", STR_ARG(text));
}

/* An error of time or of a worker has no place in the definition. */
static struct sentence explained_error(struct arena *mem, struct value error)
{
    struct str code = value_map_text(error, STR("code"));
    struct str message = value_map_text(error, STR("message"));
    struct str source = value_map_text(error, STR("source"));

    if (source.len == 0)
        return sentence_make(mem, "its error: %.*s: %.*s", STR_ARG(code), STR_ARG(message));
    return sentence_make(mem, "its error: %.*s: %.*s, at %.*s", STR_ARG(code), STR_ARG(message),
                         STR_ARG(source));
}

/* Another status than the expected one: why it still waits, and with what it failed. */
static void explain_status(struct check *k, const struct trial_case *c, struct value is)
{
    struct value expected = value_map_get_str(c->expect, STR("status"));
    struct value why = value_map_get_str(is, STR("waitingFor"));
    struct value error = value_map_get_str(is, STR("error"));

    if (expected.kind == VALUE_ABSENT ||
        value_equal(expected, value_map_get_str(is, STR("status")), NULL))
        return;
    if (why.kind == VALUE_MAP)
        explain_wait(k, why);
    if (error.kind == VALUE_MAP)
        *VEC_ADD(k->mem, k->problems) = explained_error(k->mem, error);
}

static void check_all(struct arena *mem, const struct trial_case *c, const struct trial *trial,
                      struct trial_problems *problems)
{
    struct check k = {.mem = mem, .problems = problems};
    struct value is = trial_value(mem, trial);
    struct value steps = value_map_get_str(c->expect, STR("steps"));
    struct value commands = value_map_get_str(c->expect, STR("commands"));
    struct value logs = value_map_get_str(c->expect, STR("logs"));
    struct value records = value_map_get_str(c->expect, STR("records"));

    check_members(&k, c->expect, is);
    explain_status(&k, c, is);
    if (steps.kind != VALUE_ABSENT)
        check_steps(&k, steps, trial);
    if (commands.kind != VALUE_ABSENT)
        check_texts(&k, "commands", commands, command_texts(mem, &trial->main.commands));
    if (logs.kind != VALUE_ABSENT)
        check_texts(&k, "logs", logs, log_texts(mem, trial));
    if (records.kind == VALUE_MAP)
        check_records(&k, records, trial);
    check_children(&k, value_map_get_str(c->expect, STR("children")), trial,
                   value_map_get_str(is, STR("children")));
    check_calls(&k, value_map_get_str(c->expect, STR("calls")), trial);
    check_duration(&k, value_map_get_str(c->expect, STR("duration")), trial);
    check_script(&k, c, trial);
}

void case_run(struct arena *mem, const struct trial_case *c, const struct program *program,
              const struct trial_world *world, struct trial *trial, struct findings *findings,
              struct trial_problems *problems)
{
    struct err err = {0};
    bool ok = trial_run(mem, program, &c->script, world, trial, findings, &err);

    if (c->refused.kind != VALUE_ABSENT && (ok || !trial->is_started)) {
        refusal_check_start(mem, c, trial, &err, findings, problems);
        findings->count = 0;
    } else if (ok) {
        check_all(mem, c, trial, problems);
    } else {
        *VEC_ADD(mem, problems) = sentence_copy(mem, err_sentence(&err));
    }
}
