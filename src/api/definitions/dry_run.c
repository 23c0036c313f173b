/*
 * dry_run.c - what would become of an execution, without starting one.
 *
 * A trial (src/trial) on a reader thread: the real engine, a clock that is
 * moved, what is published and what is stored, read and never written. What
 * others would do is answered by mocks.
 */
#include "api/api.h"
#include "api/definitions/definitions.h"
#include "api/problem.h"
#include "base/time/clock.h"
#include "define/access.h"
#include "define/facts.h"
#include "define/program.h"
#include "engine/show.h"
#include "node/render.h"
#include "store/read_definition.h"
#include "store/read_record.h"
#include "trial/case.h"
#include "trial/script.h"
#include "value/json.h"

enum {
    DRY_RUN_MEMORY_MAX = 64 << 20,
    DRY_RUN_JSON_MAX = 8 << 20,
    DRY_RUN_US_MAX = 800000, /* of processor time; not of what else the machine does */
};

struct dry_run {
    struct lookup *q;
    struct reader *reader;
    struct arena *mem;
    int64_t now_us;  /* of the wall clock, when it was asked for */
    int64_t end_us;  /* of clock_thread_us(): then it is stopped */
    bool is_any;     /* no version was asked for: what is published, else the draft */
    int64_t version; /* 0 = the draft */
    struct world world;
    struct trial_script script;
    struct findings warnings;
    const struct program *program;
    struct {
        VEC_OF(const struct program *);
    } programs;     /* to be released */
    struct err err; /* of a read in the middle of the trial */
};

/* --- what was asked for --- */

static bool refuse_field(struct lookup *q, const char *field, struct err *err)
{
    body_finding(q->mem, &q->findings, field, "bad_value", "%pS", ERR_ARG(err));
    return false;
}

static bool dry_run_read_version(struct dry_run *d, struct value v, struct err *err)
{
    d->is_any = v.kind == VALUE_ABSENT;
    if (d->is_any || (v.kind == VALUE_STRING && str_eq(value_text(v), STR("draft"))))
        return true;
    d->version = v.kind == VALUE_INT ? v.i : 0;
    if (d->version > 0)
        return true;
    (void)err_set(err, ERR_INVALID, "'version' is a number from 1 on, or \"draft\"");
    return refuse_field(d->q, "version", err);
}

static bool dry_run_read_request(struct dry_run *d, struct err *err)
{
    struct value input, version, mocks, key, now, webhook;
    const struct body_field fields[] = {
        {"input", BODY_OBJECT, false, .out = &input},
        {"version", BODY_ANY, false, .out = &version},
        {"mocks", BODY_OBJECT, false, .out = &mocks},
        {"key", BODY_TEXT, false, .out = &key},
        {"now", BODY_TEXT, false, .out = &now},
        {"webhook", BODY_OBJECT, false, .out = &webhook},
    };
    struct lookup *q = d->q;

    if (!body_read(q->mem, q->call->http->body, fields, ARRAY_SIZE(fields), &q->findings, err) ||
        !dry_run_read_version(d, version, err))
        return false;
    d->script.input = input;
    d->script.webhook = webhook;
    d->script.key = value_text_or(key, STR_NONE);
    d->script.user = call_user(q->call, q->mem);
    d->script.now_us = d->now_us;
    if (!script_read_now(now, &d->script.now_us, err))
        return refuse_field(q, "now", err);
    return script_read_mocks(q->mem, mocks, &d->script, err) || refuse_field(q, "mocks", err);
}

/* --- what is stored --- */

static const struct program *keep_program(struct dry_run *d, const struct program *program,
                                          struct err *err)
{
    if (program != NULL)
        *VEC_ADD(d->mem, &d->programs) = program;
    else
        (void)err_set(err, ERR_INVALID, "the definition is not valid");
    return program;
}

/* A definition as the stored version says it is. */
static struct registered dry_run_registered(const struct dry_run *d,
                                            const struct stored_definition *stored,
                                            struct value definition)
{
    return (struct registered){.definition = definition,
                               .version = stored->version,
                               .rules = facts_rules(d->mem, stored->facts)};
}

/* Compile a stored version. NULL: `findings` say what is wrong, or *err. */
static const struct program *dry_run_compile(struct dry_run *d,
                                             const struct stored_definition *stored,
                                             struct findings *findings, struct err *err)
{
    const struct program *program = NULL;
    struct value definition;

    const struct kind_spec *kind = kind_named(stored->kind);

    if (!definitions_value(d->mem, kind, stored->text, &definition, err))
        return NULL;
    world_compile(&d->world, d->mem, kind->kind, dry_run_registered(d, stored, definition),
                  findings, &program);
    return keep_program(d, program, err);
}

/* A procedure runs as the only step of a scenario; what is wrong with itself is reported first. */
static const struct program *compile_alone(struct dry_run *d,
                                           const struct stored_definition *stored,
                                           struct value definition, struct findings *findings,
                                           struct err *err)
{
    const struct program *program = NULL;

    d->world.checks_stored = stored->version > 0;
    world_check(&d->world, KIND_PROCEDURE, stored->code, definition, findings);
    d->world.checks_stored = false;
    if (!findings_have_errors(findings))
        world_compile(
            &d->world, d->mem, KIND_SCENARIO,
            dry_run_registered(d, stored,
                               case_procedure_scenario(d->mem, stored->code, d->script.input)),
            findings, &program);
    return keep_program(d, program, err);
}

static bool find_definition(struct dry_run *d, struct stored_definition *out, struct err *err)
{
    const struct kind_spec *spec = definitions_kind(d->q->call);
    struct str code = d->q->call->params[0], kind = str_of(spec->name);
    bool found;

    if (!read_definition(d->reader, d->mem, kind, code, d->is_any ? -1 : d->version, out, &found,
                         err) ||
        (!found && d->is_any &&
         !read_definition(d->reader, d->mem, kind, code, 0, out, &found, err)))
        return false;
    if (found)
        return true;
    return d->is_any
               ? err_set(err, ERR_NOT_FOUND, "there is no %s of this code", spec->name)
               : err_set(err, ERR_NOT_FOUND, "there is no such version of this %s", spec->name);
}

/* A caller who may not start the process may not try it either. */
static bool dry_run_may_try(const struct dry_run *d, struct err *err)
{
    const struct node_user *user = &d->q->call->user;

    return access_allows(d->program->access, "start", user->role, user->groups) ||
           err_set(err, ERR_FORBIDDEN, "'%.*s' lets others start it, not you",
                   STR_ARG(d->program->code));
}

static bool load(struct dry_run *d, struct err *err)
{
    const struct kind_spec *kind = definitions_kind(d->q->call);
    bool is_process = kind->use == KIND_PROCESS;
    struct stored_definition stored;
    struct findings findings = {0};
    struct value definition;

    if (!find_definition(d, &stored, err) ||
        !definitions_world(d->reader, d->mem, &d->world, err) ||
        !definitions_config(d->reader, d->mem, &d->script.config, err) ||
        !definitions_value(d->mem, kind, stored.text, &definition, err))
        return false;
    d->script.credentials = world_bases(&d->world, d->mem);
    if (!is_process)
        world_add_procedure(&d->world, stored.code, dry_run_registered(d, &stored, definition));
    world_open(&d->world);
    d->program = is_process ? dry_run_compile(d, &stored, &findings, err)
                            : compile_alone(d, &stored, definition, &findings, err);
    *(d->program != NULL ? &d->warnings : &d->q->findings) = findings;
    return d->program != NULL && dry_run_may_try(d, err);
}

/* --- the world of the trial --- */

static const struct program *find_process(void *context, struct str code)
{
    struct dry_run *d = context;
    struct stored_definition stored;
    struct findings findings = {0};
    bool found;

    if (!read_process(d->reader, d->mem, code, -1, &stored, &found, &d->err))
        return NULL;
    return found ? dry_run_compile(d, &stored, &findings, &d->err) : NULL;
}

/* A record as the node reads it, the version that it had before it was deleted included. */
static bool find_record(void *context, struct arena *mem, struct str object, struct str id,
                        struct record_read *out, struct err *err)
{
    struct dry_run *d = context;

    return read_record(d->reader, mem, d->q->call->user.org_id, object, id, out, err) &&
           (out->version > 0 || read_record_last(d->reader, d->q->call->user.org_id, object, id,
                                                 &out->last_version, err));
}

static bool search_records(void *context, struct arena *mem, const struct search *search,
                           struct search_found *out, struct err *err)
{
    struct dry_run *d = context;

    return read_found(d->reader, mem, search, out, err);
}

static bool dry_run_is_late(void *context)
{
    const struct dry_run *d = context;

    return clock_thread_us() > d->end_us;
}

/* --- the answer --- */

static void dry_run_warn(struct dry_run *d, const char *pointer, const char *code,
                         struct sentence message)
{
    *VEC_ADD(d->mem, &d->warnings) = (struct finding){
        .pointer = str_of(pointer), .code = str_of(code), .message = message, .is_warning = true};
}

/* Warn of a job or a task that no mock answers. */
static void warn_of_mock(struct dry_run *d, struct value why)
{
    struct value procedure = value_map_member(why, STR("procedure")),
                 step = value_map_member(why, STR("step"));

    if (value_equal(value_map_member(why, STR("kind")), value_string(STR("task")), NULL) &&
        step.kind == VALUE_STRING)
        dry_run_warn(d, "/mocks/tasks", "missing_mock",
                     sentence_make(d->mem, "say in mocks.tasks how the task of '%.*s' ends",
                                   STR_ARG(value_text(step))));

    if (procedure.kind == VALUE_STRING)
        dry_run_warn(d, "/mocks/procedures", "missing_mock",
                     sentence_make(d->mem, "say in mocks.procedures what '%.*s' answers",
                                   STR_ARG(value_text(procedure))));
}

static void add_warnings(struct dry_run *d, const struct trial *trial, struct value shown)
{
    struct value why = value_map_get_str(shown, STR("waitingFor"));
    struct value branches = value_map_member(why, STR("branches"));

    script_check_mocks(d->mem, &d->script.mocks, d->program, trial, &d->warnings);
    if (trial->signals_unsent > 0)
        dry_run_warn(d, "/mocks/signals", "unused_signal",
                     sentence_make(d->mem, "%zu of the signals %s never waited for",
                                   trial->signals_unsent,
                                   trial->signals_unsent == 1 ? "was" : "were"));
    if (branches.kind != VALUE_LIST)
        warn_of_mock(d, why);
    for (uint32_t i = 0; branches.kind == VALUE_LIST && i < branches.len; i++)
        warn_of_mock(d, branches.items[i]);
}

static struct value pick(struct arena *mem, struct value shown, const char *const *names,
                         size_t count, const struct value_entry *extra, size_t extra_count)
{
    struct value_entry *entries = ARENA_ARRAY(mem, count + extra_count, struct value_entry);
    size_t duplicate;

    for (size_t i = 0; i < count; i++)
        entries[i] = (struct value_entry){value_key(str_of(names[i])),
                                          value_map_get_str(shown, str_of(names[i]))};
    for (size_t i = 0; i < extra_count; i++)
        entries[count + i] = extra[i];
    return value_map_make(mem, entries, count + extra_count, &duplicate);
}

#define CHILD_MEMBERS                                                                              \
    "code", "status", "result", "error", "currentStep", "waitingFor", "input", "steps"

static struct value children_value(struct arena *mem, struct value children)
{
    static const char *const names[] = {CHILD_MEMBERS};
    struct value *items = ARENA_ARRAY(mem, children.len + 1, struct value);

    for (uint32_t i = 0; i < children.len; i++)
        items[i] = pick(mem, children.items[i], names, ARRAY_SIZE(names), NULL, 0);
    return value_list(items, children.len);
}

static struct value answer_value(struct dry_run *d, const struct trial *trial)
{
    static const char *const names[] = {CHILD_MEMBERS, "context", "commands",  "logs",
                                        "messages",    "records", "startedAt", "endedAt",
                                        "deadLetters", "duration"};
    struct value shown = trial_value(d->mem, trial);
    struct value version =
        d->program->version == 0 ? value_string(STR("draft")) : value_int(d->program->version);
    struct value children = children_value(d->mem, value_map_get_str(shown, STR("children")));

    add_warnings(d, trial, shown);
    return pick(d->mem, shown, names, ARRAY_SIZE(names),
                VALUE_ENTRIES({value_key(STR("version")), version},
                              {value_key(STR("children")), children},
                              {value_key(STR("warnings")),
                               problem_findings(d->mem, call_language(d->q->call), &d->warnings)}));
}

/* trial_world.render: as the message would read if it were sent now. */
static bool render_message(void *context, struct arena *mem, const struct render_read *need,
                           struct render_read *out, struct err *err)
{
    const struct dry_run *d = context;

    return render_template(d->reader, mem, need, out, err);
}

static struct value masked(struct dry_run *d, const struct trial *trial, struct value answer)
{
    struct mask mask;

    show_mask(d->mem, trial->main.x, &mask);
    if (mask_is_empty(&mask))
        return answer;
    return mask_value(d->mem, &mask, answer);
}

/* --- all of it --- */

static bool run_trial(struct dry_run *d, struct err *err)
{
    const struct trial_world world = {.context = d,
                                      .process = find_process,
                                      .record = find_record,
                                      .search = search_records,
                                      .render = render_message,
                                      .is_late = dry_run_is_late,
                                      .memory_max = d->mem->held_bytes + DRY_RUN_MEMORY_MAX};
    struct lookup *q = d->q;
    struct trial trial;

    if (!trial_run(d->mem, d->program, &d->script, &world, &trial, &q->findings, err))
        return false;
    if (d->err.code != ERR_NONE && err_is_retryable(d->err.code)) {
        *err = d->err;
        return false;
    }
    if (trial.stop != TRIAL_WHOLE) {
        const char *message = trial_stop_message(trial.stop);
        *VEC_ADD(d->mem, &q->findings) = (struct finding){
            .code = str_of(trial_stop_code(trial.stop)), .message = sentence_of(str_of(message))};
        return err_set(err, ERR_INVALID, "%s", message);
    }
    q->answer.limit = DRY_RUN_JSON_MAX;
    return json_write(&q->answer, masked(d, &trial, answer_value(d, &trial)), err);
}

static bool dry_run_run(struct lookup *q, struct reader *reader, struct err *err)
{
    const int64_t *now_us = q->args;
    struct dry_run d = {
        .q = q,
        .reader = reader,
        .mem = q->mem,
        .now_us = *now_us,
        .end_us = clock_thread_us() + DRY_RUN_US_MAX,
        .err = {.code = ERR_NONE},
    };
    bool ok = dry_run_read_request(&d, err) && load(&d, err) && run_trial(&d, err);

    for (size_t i = 0; i < d.programs.count; i++)
        program_release(d.programs.items[i]);
    if (d.world.definitions != NULL)
        world_close(&d.world);
    return ok;
}

void definitions_dry_run(struct call *c)
{
    int64_t *now_us = ARENA_NEW(c->mem, int64_t);

    *now_us = api_now_us(c->api);
    lookup_start_long(c, now_us, dry_run_run, NULL);
}
