/*
 * tests.c - POST /test: declarative tests, run as `pawl test` runs them.
 *
 * What a test names is looked for among the definitions that are sent along,
 * then among the drafts and what is published. Tests see no stored records and
 * send nothing; config and credentials are those of the installation, with
 * what is sent along in their place. All of it runs on a reader thread, within
 * one budget of time.
 */
#include "api/definitions/definitions.h"
#include "base/time/clock.h"
#include "define/access.h"
#include "define/facts.h"
#include "define/program.h"
#include "store/read_definition.h"
#include "trial/case.h"
#include "value/json.h"
#include "value/object.h"
#include "words/words.h"

enum {
    TESTS_MAX = 1000,
    DEFINITIONS_MAX = 500,
    TESTS_US_MAX = 2000000, /* of processor time, all of them together */
    TEST_MEMORY_MAX = 64 << 20,
    TESTS_JSON_MAX = 8 << 20,
};

struct tests_run {
    struct lookup *q;
    struct reader *reader;
    int64_t end_us; /* of clock_thread_us() */
    struct value definitions, tests;
    struct {
        VEC_OF(struct definition_item);
    } given;
    struct world world;
    struct value config; /* a map */
    unsigned passed, failed;
};

/* One test while it runs. */
struct one_test {
    struct tests_run *all;
    struct arena *mem;
    struct trial_problems problems;
    struct {
        VEC_OF(const struct program *);
    } programs;                  /* to be released */
    struct world_procedure lent; /* what lend_procedure() has replaced; no code: nothing */
    struct err err;              /* of a read in the middle of it */
};

/* --- what was sent --- */

static bool refuse_at(struct tests_run *t, struct str pointer, const char *code,
                      struct sentence message, struct err *err)
{
    *VEC_ADD(t->q->mem, &t->q->findings) =
        (struct finding){.pointer = pointer, .code = str_of(code), .message = message};
    return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(message));
}

/* A definition that was sent along, taken apart. */
static bool take_definition(struct tests_run *t, struct value v, uint32_t index, struct err *err)
{
    struct arena *mem = t->q->mem;
    const struct kind_spec *spec = v.kind == VALUE_MAP ? kind_of(v) : NULL;
    struct str pointer = str_printf(mem, "/definitions/%u", index);
    struct findings findings = {0};
    struct definition_item *item;
    struct value code;

    if (spec == NULL || spec->state != KIND_NOW)
        return refuse_at(t, pointer, "bad_value",
                         SENTENCE("this is no definition: a scenario has 'steps', a schema "
                                  "'nodes', a machine 'states', a procedure "
                                  "'commands', anything else says its 'kind'"),
                         err);
    code = value_map_get_str(v, str_of(spec->key));
    if (code.kind != VALUE_STRING || !kind_allows_name(spec, value_text(code)))
        return refuse_at(t, str_printf(mem, "%.*s/%s", STR_ARG(pointer), spec->key), "bad_code",
                         sentence_of(str_of(kind_name_rule(spec))), err);
    item = VEC_ADD(mem, &t->given);
    *item = (struct definition_item){.spec = spec, .code = value_text(code), .definition = v};
    if (spec->life == KIND_STAGED ||
        definitions_take_live(mem, spec, kind_body(mem, spec, v), item, &findings))
        return true;
    for (size_t i = 0; i < findings.count; i++) {
        findings.items[i].pointer =
            str_printf(mem, "%.*s%.*s", STR_ARG(pointer), STR_ARG(findings.items[i].pointer));
        *VEC_ADD(mem, &t->q->findings) = findings.items[i];
    }
    return err_set(err, ERR_INVALID, "a definition that was sent along is not valid");
}

static bool tests_read_request(struct tests_run *t, struct err *err)
{
    const struct body_field fields[] = {{"definitions", BODY_ANY, false, .out = &t->definitions},
                                        {"tests", BODY_ANY, true, .out = &t->tests}};
    struct lookup *q = t->q;

    if (!body_read(q->mem, q->call->http->body, fields, ARRAY_SIZE(fields), &q->findings, err))
        return false;
    if (t->tests.kind != VALUE_LIST || t->tests.len == 0 || t->tests.len > TESTS_MAX)
        return refuse_at(t, STR("/tests"), "wrong_type",
                         sentence_make(q->mem, "tests must be a list of 1 to %d tests", TESTS_MAX),
                         err);
    if (t->definitions.kind != VALUE_ABSENT && t->definitions.kind != VALUE_NULL &&
        (t->definitions.kind != VALUE_LIST || t->definitions.len > DEFINITIONS_MAX))
        return refuse_at(
            t, STR("/definitions"), "wrong_type",
            sentence_make(q->mem, "definitions must be a list of at most %d", DEFINITIONS_MAX),
            err);
    for (uint32_t i = 0; t->definitions.kind == VALUE_LIST && i < t->definitions.len; i++)
        if (!take_definition(t, t->definitions.items[i], i, err))
            return false;
    return true;
}

/* --- what there is --- */

/* $.config as it is published, with what the request gives laid over it. */
static bool read_config_with_given(struct tests_run *t, struct err *err)
{
    struct arena *mem = t->q->mem;
    struct value_entry *entries = ARENA_ARRAY(mem, t->given.count + 1, struct value_entry);
    size_t count = 0, duplicate;
    struct value given;

    if (!definitions_config(t->reader, mem, &t->config, err))
        return false;
    for (size_t i = 0; i < t->given.count; i++)
        if (t->given.items[i].spec->kind == KIND_CONFIG)
            entries[count++] = (struct value_entry){value_key(t->given.items[i].code),
                                                    t->given.items[i].definition};
    given = value_map_make(mem, entries, count, &duplicate);
    if (given.kind == VALUE_ABSENT)
        return refuse_at(t, STR("/definitions"), "bad_value",
                         sentence_make(mem, "config '%.*s' is given twice",
                                       STR_ARG(value_text(entries[duplicate].key))),
                         err);
    t->config = state_merge(mem, t->config, given);
    return true;
}

static bool open_world(struct tests_run *t, struct err *err)
{
    if (!definitions_world(t->reader, t->q->mem, &t->world, err) || !read_config_with_given(t, err))
        return false;
    for (size_t i = 0; i < t->given.count; i++)
        definitions_add(&t->world, &t->given.items[i]);
    world_open(&t->world);
    return true;
}

/* --- the program of a test --- */

static void add_problem(struct one_test *o, struct sentence problem)
{
    *VEC_ADD(o->mem, &o->problems) = problem;
}

/* "code:/pointer: message" for each error. */
static void add_findings(struct one_test *o, struct str code, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->items[i];

        if (!f->is_warning)
            add_problem(o, sentence_make(o->mem, "%.*s:%.*s: %pS", STR_ARG(code),
                                         STR_ARG(f->pointer), SENTENCE_ARG(f->message)));
    }
}

static const struct program *tests_compile(struct one_test *o, const struct kind_spec *spec,
                                           struct str code, struct registered what)
{
    const struct program *program = NULL;
    struct findings findings = {0};

    world_compile(&o->all->world, o->mem, spec->kind, what, &findings, &program);
    if (program == NULL)
        add_findings(o, code, &findings);
    else
        *VEC_ADD(o->mem, &o->programs) = program;
    return program;
}

static const struct definition_item *find_given(const struct tests_run *t, enum kind_use use,
                                                struct str code)
{
    for (size_t i = 0; i < t->given.count; i++)
        if (t->given.items[i].spec->use == use && str_eq(t->given.items[i].code, code))
            return &t->given.items[i];
    return NULL;
}

/* A caller who may not start a stored process may not test it either. */
static bool tests_may_try(struct one_test *o, const struct program *program)
{
    const struct node_user *user = &o->all->q->call->user;

    if (access_allows(program->access, "start", user->role, user->groups))
        return true;
    add_problem(
        o, sentence_make(o->mem, "'%.*s' lets others start it, not you", STR_ARG(program->code)));
    return false;
}

/* A stored process: its draft, else what is published. */
static const struct program *stored_program(struct one_test *o, struct str code)
{
    struct reader *reader = o->all->reader;
    const struct program *program;
    const struct kind_spec *spec;
    struct stored_definition d;
    struct value definition;
    bool found;

    if (!read_process(reader, o->mem, code, 0, &d, &found, &o->err) ||
        (!found && !read_process(reader, o->mem, code, -1, &d, &found, &o->err)))
        return NULL;
    if (!found) {
        add_problem(o, sentence_make(o->mem, "there is no process '%.*s', neither here nor stored",
                                     STR_ARG(code)));
        return NULL;
    }
    spec = kind_named(d.kind);
    if (!definitions_value(o->mem, spec, d.text, &definition, &o->err))
        return NULL;
    program = tests_compile(o, spec, code,
                            (struct registered){.definition = definition,
                                                .version = d.version,
                                                .rules = facts_rules(o->mem, d.facts)});
    return program != NULL && tests_may_try(o, program) ? program : NULL;
}

/* trial_world.process, and the process that a test names. */
static const struct program *process_program(void *context, struct str code)
{
    struct one_test *o = context;
    const struct definition_item *given = find_given(o->all, KIND_PROCESS, code);

    return given != NULL ? tests_compile(o, given->spec, code,
                                         (struct registered){.definition = given->definition})
                         : stored_program(o, code);
}

/* A procedure that stands in the test itself is there until the test ends. */
static void lend_procedure(struct one_test *o, struct str code, struct value definition)
{
    struct world *w = &o->all->world;

    o->lent = (struct world_procedure){.code = code};
    for (size_t i = 0; i < w->procedures.count; i++)
        if (str_eq(w->procedures.items[i].code, code))
            o->lent = w->procedures.items[i];
    world_add_procedure(w, code, (struct registered){.definition = definition});
}

static void return_procedure(struct one_test *o)
{
    struct world *w = &o->all->world;

    if (o->lent.registered.definition.kind == VALUE_MAP)
        world_add_procedure(w, o->lent.code, o->lent.registered);
    else if (o->lent.code.len > 0)
        world_drop(w, KIND_PROCEDURE, o->lent.code);
}

static const struct program *procedure_program(struct one_test *o, const struct trial_case *c)
{
    const struct kind_spec *spec = kind_spec(KIND_PROCEDURE);

    struct str code = c->procedure;

    if (c->procedure_definition.kind == VALUE_MAP) {
        struct value own = value_map_get_str(c->procedure_definition, STR("code"));

        code = value_text_or(own, STR_NONE);
    }
    if (!kind_allows_name(spec, code)) {
        add_problem(o, sentence_make(o->mem, "'procedure' is a code, or a definition with one: %s",
                                     kind_name_rule(spec)));
        return NULL;
    }
    if (c->procedure_definition.kind == VALUE_MAP)
        lend_procedure(o, code, c->procedure_definition);
    return tests_compile(
        o, kind_spec(KIND_SCENARIO), code,
        (struct registered){.definition = case_procedure_scenario(o->mem, code, c->script.input)});
}

static const struct program *case_program(struct one_test *o, const struct trial_case *c)
{
    if (c->definition.kind == VALUE_MAP)
        return tests_compile(o, kind_spec(c->kind), STR("definition"),
                             (struct registered){.definition = c->definition});
    return c->scenario.len > 0 ? process_program(o, c->scenario) : procedure_program(o, c);
}

/* --- running --- */

/* trial_world.is_late */
static bool tests_is_late(void *context)
{
    const struct one_test *o = context;

    return clock_thread_us() > o->all->end_us || lookup_is_gone(o->all->q);
}

static void report(struct tests_run *t, const struct one_test *o, struct str name,
                   const struct trial *trial)
{
    enum language language = call_language(t->q->call);
    struct buf *out = &t->q->answer;

    t->passed += o->problems.count == 0;
    t->failed += o->problems.count > 0;
    object_item(out);
    object_text(out, "name", name);
    object_bool(out, "ok", o->problems.count == 0);
    object_int(out, "tookMs", (trial->ended_at_us - trial->started_at_us) / 1000);
    object_list(out, "problems");
    for (size_t i = 0; i < o->problems.count; i++) {
        object_next(out);
        json_write_string(out, words_say(o->mem, language, o->problems.items[i]));
    }
    buf_text(out, "]}");
}

static void run_case(struct one_test *o, struct trial_case *c, struct trial *trial)
{
    const struct trial_world world = {.context = o,
                                      .process = process_program,
                                      .is_late = tests_is_late,
                                      .memory_max = o->mem->held_bytes + TEST_MEMORY_MAX};
    struct tests_run *t = o->all;
    const struct program *program;
    struct findings findings = {0};

    c->script.config = c->script.config.kind == VALUE_MAP
                           ? state_merge(o->mem, t->config, c->script.config)
                           : t->config;
    c->script.credentials = world_bases(&t->world, o->mem);
    program = case_program(o, c);
    if (program == NULL)
        return;
    case_run(o->mem, c, program, &world, trial, &findings, &o->problems);
    add_findings(o, program->code, &findings);
    if (trial->stop != TRIAL_WHOLE)
        add_problem(o, sentence_of(str_of(trial_stop_message(trial->stop))));
}

/* False: the store does not answer. */
static bool run_test(struct tests_run *t, struct value v, uint32_t index, struct err *err)
{
    struct one_test o = {.all = t, .err = {.code = ERR_NONE}};
    struct trial trial = {0};
    struct trial_case c = {0};
    struct arena mem;

    arena_init(&mem);
    o.mem = &mem;
    if (!case_read(&mem, v, &c, err))
        add_problem(&o, sentence_copy(&mem, err_sentence(err)));
    else if (tests_is_late(&o))
        add_problem(&o, SENTENCE("it was not run: the time for all tests together was up"));
    else
        run_case(&o, &c, &trial);
    if (c.name.len == 0)
        c.name = str_printf(&mem, "case %u", index + 1);
    if (o.err.code != ERR_NONE && !err_is_retryable(o.err.code))
        add_problem(&o, sentence_copy(&mem, err_sentence(&o.err)));
    report(t, &o, c.name, &trial);
    for (size_t i = 0; i < o.programs.count; i++)
        program_release(o.programs.items[i]);
    return_procedure(&o);
    arena_fini(&mem);
    *err = o.err;
    return o.err.code == ERR_NONE || !err_is_retryable(o.err.code);
}

static bool run_tests(struct tests_run *t, struct err *err)
{
    struct buf *out = &t->q->answer;

    out->limit = TESTS_JSON_MAX;
    buf_text(out, "{\"items\":[");
    for (uint32_t i = 0; i < t->tests.len; i++)
        if (!run_test(t, t->tests.items[i], i, err))
            return false;
    buf_char(out, ']');
    object_int(out, "passed", t->passed);
    object_int(out, "failed", t->failed);
    buf_char(out, '}');
    return !out->failed || err_set(err, ERR_TOO_LARGE, "what the tests say is too long");
}

static bool tests_lookup(struct lookup *q, struct reader *reader, struct err *err)
{
    struct tests_run t = {.q = q, .reader = reader, .end_us = clock_thread_us() + TESTS_US_MAX};
    bool ok = tests_read_request(&t, err) && open_world(&t, err) && run_tests(&t, err);

    if (t.world.definitions != NULL)
        world_close(&t.world);
    return ok;
}

void tests_post(struct call *c)
{
    lookup_start_long(c, NULL, tests_lookup, NULL);
}
