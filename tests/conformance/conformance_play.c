/* conformance_play.c - see conformance_play.h. */
#include "conformance/conformance_play.h"

#include "base/buf.h"
#include "engine/show.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define START_US INT64_C(1767225600000000) /* 2026-01-01, where the rig begins */
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

enum { WAKES_MAX = 10000 };

/* `text` with every `from` written as `to`. */
static struct str replaced(struct arena *mem, struct str text, struct str from, struct str to)
{
    struct buf out;
    size_t at = 0;
    int64_t found;

    buf_init_arena(&out, mem);
    while ((found = str_find(text, from, at)) >= 0) {
        buf_str(&out, str_slice(text, at, (size_t)found));
        buf_str(&out, to);
        at = (size_t)found + from.len;
    }
    buf_str(&out, str_slice(text, at, text.len));
    return buf_view(&out);
}

static struct value read_shown(struct play *p, struct str json)
{
    struct value v = value_absent();

    if (!json_read(&p->rig.mem, replaced(&p->rig.mem, json, STR(ID), STR("ID")), &v, &p->rig.err))
        fail_msg("what is shown is no JSON: %s", p->rig.err.message);
    return v;
}

static struct str text_of(struct value v)
{
    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

/* --- definitions --- */

static bool find_procedure(void *context, struct arena *mem, struct str code,
                           struct registered *out)
{
    struct value all = match_member(*(struct value *)context, "registry");

    (void)mem;
    for (uint32_t i = 0; all.kind == VALUE_LIST && i < all.len; i++)
        if (str_eq(text_of(match_member(all.items[i], "code")), code)) {
            *out = (struct registered){.definition = all.items[i], .version = 1};
            return true;
        }
    return false;
}

/* A row that does not care has no code of its own. */
static struct value with_code(struct play *p, struct value definition)
{
    struct value_entry *code = ARENA_ARRAY(&p->rig.mem, 1, struct value_entry);
    size_t duplicate;

    if (match_member(definition, "code").kind != VALUE_ABSENT)
        return definition;
    code[0] = (struct value_entry){value_key(STR("code")), value_string(STR("row"))};
    return state_merge(&p->rig.mem, value_map_make(&p->rig.mem, code, 1, &duplicate), definition);
}

static const struct program *compile(struct play *p, struct value definition, int64_t version)
{
    struct registry registry = {.procedure = find_procedure, .context = &p->row};
    const struct program *program = NULL;

    p->findings.count = 0;
    definition = with_code(p, definition);
    define_compile(&p->rig.mem, p->rig.env, &registry,
                   match_member(definition, "states").kind != VALUE_ABSENT ? KIND_MACHINE
                                                                           : KIND_SCENARIO,
                   definition, version, &p->findings, &program);
    rig_made(&p->rig, program, definition);
    if (program != NULL)
        *VEC_ADD(&p->rig.mem, &p->versions) = program;
    return program;
}

void play_init(struct play *p, struct value row)
{
    struct value others = match_member(row, "others");

    *p = (struct play){.row = row};
    rig_init(&p->rig);
    for (uint32_t i = 0; others.kind == VALUE_LIST && i < others.len; i++) {
        const struct program *other = compile(p, others.items[i], 1);

        if (other == NULL)
            fail_msg("others[%u] does not compile", i);
        *VEC_ADD(&p->rig.mem, &p->rig.processes) =
            (struct process_read){.code = other->code, .program = other};
    }
    p->versions.count = 0; /* play_fini() finds the others among the processes */
    p->rig.program = compile(p, match_member(row, "definition"), 1);
}

void play_fini(struct play *p)
{
    p->rig.program = NULL;
    for (size_t i = 0; i < p->versions.count; i++)
        program_release(p->versions.items[i]);
    for (size_t i = 0; i < p->rig.processes.count; i++)
        program_release(p->rig.processes.items[i].program);
    rig_fini(&p->rig);
}

/* --- events --- */

/* What the last commit leaves behind, unless it was gathered before. */
static void gather(struct play *p)
{
    const struct commit *last = &p->rig.last;

    if (p->rig.x->row_version == p->gathered)
        return;
    p->gathered = p->rig.x->row_version;
    for (size_t i = 0; i < last->dead_letters.count; i++)
        *VEC_ADD(&p->rig.mem, &p->dead_letters) = last->dead_letters.items[i];
    for (size_t i = 0; i < last->logs.count; i++)
        *VEC_ADD(&p->rig.mem, &p->logs) = last->logs.items[i];
}

/* Wake it as long as it is due. */
static void run_due(struct play *p)
{
    struct rig *r = &p->rig;

    for (unsigned i = 0; r->x->wake_at_us != 0 && r->x->wake_at_us <= r->now_us; i++) {
        if (i == WAKES_MAX)
            fail_msg("it wakes for ever");
        if (!rig_wake(r))
            fail_msg("nothing to wake: %s", r->err.message);
        gather(p);
    }
}

static void rest(struct play *p, int64_t event, int refused)
{
    *VEC_ADD(&p->rig.mem, &p->points) = (struct play_point){
        .at_us = p->rig.now_us - START_US,
        .event = event,
        .row_version = p->has_started ? p->rig.x->row_version : 0,
        .refused = refused,
    };
}

static void pass(struct play *p, struct value how_long, int64_t event)
{
    struct rig *r = &p->rig;
    int64_t us = 0, target_us;

    if (!define_duration_us(how_long, &us))
        fail_msg("%s is no duration", match_text(&r->mem, how_long));
    target_us = r->now_us + us;
    for (unsigned i = 0; r->x->wake_at_us != 0 && r->x->wake_at_us <= target_us; i++) {
        if (i == WAKES_MAX)
            fail_msg("it wakes for ever");
        if (r->x->wake_at_us > r->now_us)
            r->now_us = r->x->wake_at_us;
        run_due(p);
        rest(p, -1, 0);
    }
    r->now_us = target_us;
    rest(p, event, 0);
}

static int refusal(const struct rig *r, bool ok)
{
    return ok ? 0 : err_http_status(r->err.code);
}

static int start(struct play *p, struct value input)
{
    struct findings findings = {0};
    struct value checked;

    define_check_input(&p->rig.mem, p->rig.program, input, &checked, &findings);
    if (findings_have_errors(&findings))
        return err_http_status(ERR_INVALID);
    rig_start_with(&p->rig, checked);
    p->has_started = true;
    return 0;
}

static int signal(struct play *p, struct value v, int64_t event)
{
    struct rig *r = &p->rig;
    struct str id = text_of(match_member(v, "id"));
    struct value by = rig_value(r, "{'id':'u1','name':'Ann'}");

    if (id.len == 0)
        id = str_printf(&r->mem, "s%lld", (long long)event);
    switch (engine_signal_known(r->x, id, text_of(match_member(v, "type")),
                                match_member(v, "payload"))) {
    case SIGNAL_SAME:
        return 0;
    case SIGNAL_DIFFERS:
        return err_http_status(ERR_CONFLICT);
    case SIGNAL_NEW:
        break;
    }
    return refusal(r, rig_event(r, (struct event){.kind = EVENT_SIGNAL,
                                                  .signal_id = id,
                                                  .signal_type = text_of(match_member(v, "type")),
                                                  .signal_payload = match_member(v, "payload"),
                                                  .by = by}));
}

static int cancel(struct play *p, struct value v)
{
    struct value compensate = match_member(v, "compensate");
    struct event ev = {.kind = EVENT_CANCEL, .reason = text_of(match_member(v, "reason"))};

    if (compensate.kind == VALUE_BOOL)
        ev.cancel_rollback = compensate.b ? CANCEL_ROLLS_BACK : CANCEL_LEAVES;
    return refusal(&p->rig, rig_event(&p->rig, ev));
}

/* The version that an operator asks for, or NULL. */
static const struct program *version_of(struct play *p, struct value v)
{
    struct value version = match_member(v, "version");

    if (version.kind != VALUE_INT)
        return NULL;
    if (version.i < 1 || version.i > (int64_t)p->versions.count)
        fail_msg("there is no version %lld", (long long)version.i);
    return p->versions.items[version.i - 1];
}

/* Events that may move the execution to another version, with which it restores from then on. */
static int repair(struct play *p, struct event ev, struct value v)
{
    struct rig *r = &p->rig;
    const struct program *before = r->program;

    ev.program = version_of(p, v);
    if (ev.program != NULL)
        r->program = ev.program;
    if (rig_event(r, ev))
        return 0;
    r->program = before;
    return err_http_status(r->err.code);
}

static int retry(struct play *p, struct value v)
{
    struct event ev = {.kind = EVENT_RETRY,
                       .from = text_of(match_member(v, "from")),
                       .input = match_member(v, "input")};

    return repair(p, ev, v);
}

static int answer(struct play *p, struct value v)
{
    struct rig *r = &p->rig;
    struct str key = replaced(&r->mem, text_of(match_member(v, "key")), STR("ID-"), STR(ID "-"));

    return refusal(r, rig_event(r, (struct event){.kind = EVENT_ANSWER,
                                                  .answer_key = key,
                                                  .answer_output = match_member(v, "output"),
                                                  .answer_error = match_member(v, "error")}));
}

/* An operator says what became of the step that is in doubt. */
static int resolve(struct play *p, struct value v)
{
    const struct reconciling *reconciling = p->rig.x->cursor.reconciling;
    struct event ev = {.kind = EVENT_RESOLVE,
                       .letter = reconciling != NULL ? reconciling->letter : STR_NONE,
                       .output = match_member(v, "output"),
                       .note = STR("x")};

    if (!verdict_read(text_of(match_member(v, "outcome")), &ev.verdict))
        fail_msg("what became of it?");
    return refusal(&p->rig, rig_event(&p->rig, ev));
}

/* The execution that it has started has ended; on a server that happens by itself. */
static int child_ends(struct play *p, struct value v)
{
    struct rig *r = &p->rig;

    r->child = (struct child_read){
        .is_found = true, .result = match_member(v, "result"), .error = match_member(v, "error")};
    if (!status_read(text_of(match_member(v, "status")), &r->child.status))
        fail_msg("how has the child ended?");
    r->first_child_alone = value_is_true(match_member(v, "first"));
    return refusal(r, rig_wake(r));
}

static int publish(struct play *p, struct value definition)
{
    int64_t version = (int64_t)p->versions.count + 1;

    if (compile(p, definition, version) == NULL)
        fail_msg("version %lld does not compile", (long long)version);
    return 0;
}

/* HTTP status of a refusal, or 0. */
static int apply(struct play *p, struct value event, int64_t number)
{
    struct str name = value_text(event.map->entries[0].key);
    struct value v = event.map->entries[0].value;

    if (str_eq(name, STR("start")))
        return start(p, v);
    if (str_eq(name, STR("publish")))
        return publish(p, v);
    if (str_eq(name, STR("signal")))
        return signal(p, v, number);
    if (str_eq(name, STR("cancel")))
        return cancel(p, v);
    if (str_eq(name, STR("retry")))
        return retry(p, v);
    if (str_eq(name, STR("skip")))
        return refusal(&p->rig,
                       rig_event(&p->rig, (struct event){.kind = EVENT_SKIP,
                                                         .output = match_member(v, "output")}));
    if (str_eq(name, STR("resolve")))
        return resolve(p, v);
    if (str_eq(name, STR("migrate")))
        return repair(p, (struct event){.kind = EVENT_MIGRATE}, v);
    if (str_eq(name, STR("answer")))
        return answer(p, v);
    if (str_eq(name, STR("child")))
        return child_ends(p, v);
    fail_msg("there is no event '%.*s'", STR_ARG(name));
    return 0;
}

static void play_event(struct play *p, struct value event, int64_t number)
{
    struct value passes = match_member(event, "pass");
    struct value refused = match_member(event, "refused");
    int64_t wanted = refused.kind == VALUE_INT ? refused.i : 0;
    int status;

    if (passes.kind != VALUE_ABSENT) {
        pass(p, passes, number);
        return;
    }
    status = apply(p, event, number);
    if (status != wanted)
        p->problem = str_printf(&p->rig.mem, "events[%lld]: expected %lld, is %d: %s",
                                (long long)number, (long long)wanted, status, p->rig.err.message)
                         .ptr;
    if (status == 0 && p->has_started) {
        gather(p);
        run_due(p);
    }
    rest(p, number, status);
}

void play_events(struct play *p)
{
    struct value events = match_member(p->row, "events");

    for (uint32_t i = 0; i < events.len && p->problem == NULL; i++)
        play_event(p, events.items[i], i);
}

/* --- what came of it --- */

struct value play_shown(struct play *p)
{
    struct buf out;

    if (!p->has_started)
        return value_null();
    buf_init_arena(&out, &p->rig.mem);
    show_execution(&out, p->rig.x);
    return read_shown(p, buf_view(&out));
}

/* What clients see of a row that stands for a call or a job: the request and its key, as sent. */
static struct history_row row_with_sent(struct play *p, const struct history_row *row)
{
    const struct history *history = &p->rig.history;
    struct history_row shown = *row;
    int64_t seq = state_row_sent(&p->rig.mem, row);

    for (size_t i = 0; seq > 0 && i < history->count; i++)
        if (history->items[i].seq == seq && show_is_sent(&history->items[i])) {
            shown.sent_json = show_sent(&p->rig.mem, &history->items[i]);
            shown.sent_key = history->items[i].key;
        }
    return shown;
}

struct value play_steps(struct play *p)
{
    const struct history *history = &p->rig.history;
    struct value *rows = ARENA_ARRAY(&p->rig.mem, history->count + 1, struct value);
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++) {
        struct history_row shown;
        struct buf out;

        if (history->items[i].kind == HISTORY_EVENT)
            continue;
        buf_init_arena(&out, &p->rig.mem);
        shown = row_with_sent(p, &history->items[i]);
        show_history_row(&out, p->rig.x->id, &shown);
        rows[count++] = read_shown(p, buf_view(&out));
    }
    return value_list(rows, count);
}

struct value play_asked(struct play *p)
{
    const struct history *history = &p->rig.history;
    struct value *keys = ARENA_ARRAY(&p->rig.mem, history->count + 1, struct value);
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        if (history->items[i].kind == HISTORY_EVENT && str_eq(history->items[i].status, STR("job")))
            keys[count++] =
                value_string(replaced(&p->rig.mem, history->items[i].key, STR(ID), STR("ID")));
    return value_list(keys, count);
}
