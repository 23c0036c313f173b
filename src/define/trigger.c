/* trigger.c - `triggers` of a process, read and compiled; see trigger.h. */
#include "define/trigger.h"

#include "base/names.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/time/cron.h"
#include "base/time/tz.h"
#include "base/uuid.h"
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/compile/scenario.h"

/* The engine's own events; others are what event.publish says. */
static const char own_events[] =
    "execution.completed execution.failed execution.held record.created record.updated "
    "record.deleted dead_letter.created";

#define TRIGGER_TYPE(symbol, word) word " "
static const char type_words[] =
#include "define/trigger_types.def"
    ;
#undef TRIGGER_TYPE

/* --- what a trigger is found by --- */

struct str trigger_webhook_topic(struct arena *mem, struct str method, struct str path)
{
    return str_printf(mem, "%.*s %.*s", STR_ARG(method), STR_ARG(path));
}

struct str trigger_topic(struct arena *mem, struct value written)
{
    struct str method = value_map_text(written, STR("method"));
    enum trigger_type type;

    if (!trigger_type_find(value_map_text(written, STR("type")), &type))
        return STR_NONE;
    switch (type) {
    case TRIGGER_WEBHOOK:
        return trigger_webhook_topic(mem, method.len > 0 ? method : STR("POST"),
                                     value_map_text(written, STR("path")));
    case TRIGGER_EVENT:
        return value_map_text(written, STR("event"));
    case TRIGGER_ACTION:
        return value_map_text(written, STR("object"));
    case TRIGGER_SCHEDULE:
    case TRIGGER_TYPE_COUNT:
        return STR_NONE;
    }
    PANIC("unknown type of trigger");
}

/* --- fields that several have --- */

static void check_org(struct compiler *c, struct value v, struct trigger *t)
{
    size_t outer = compile_enter(c, STR("org_id"));
    struct uuid id;

    t->org_id = compile_field(v, "org_id").kind == VALUE_STRING ? value_map_text(v, STR("org_id"))
                                                                : STR_NONE;
    if (t->org_id.len > 0 && !uuid_read(t->org_id, &id))
        compile_error(c, FINDING_BAD_VALUE, "'org_id' is the id of an organisation");
    else if (compile_has(v, "org_id") && t->org_id.len == 0)
        compile_wrong_type(c, compile_field(v, "org_id"), "the id of an organisation");
    compile_leave(c, outer);
}

/* The name of an event or an object. */
static struct str compile_topic(struct compiler *c, struct value v, const char *name)
{
    struct str text = compile_text(c, v, name);

    if (compile_field(v, name).kind == VALUE_STRING &&
        (text.len == 0 || text.len > TRIGGER_NAME_MAX))
        compile_error_at(c, name, FINDING_BAD_VALUE, "'%s' has 1 to %d bytes", name,
                         TRIGGER_NAME_MAX);
    return text;
}

/* `input` against the parameters of the process; a person may give what an action leaves out. */
static void check_input(struct compiler *c, const struct program *p, const struct trigger *t)
{
    struct procedure start = {.kind = PROCEDURE_LOCAL,
                              .declares_input = p->declares_input,
                              .params = p->params,
                              .param_count = p->param_count};
    struct param *optional;

    if (t->signal_type != NULL)
        return;
    if (t->type == TRIGGER_ACTION) {
        optional = ARENA_ARRAY(c->mem, p->param_count + 1u, struct param);
        for (uint32_t i = 0; i < p->param_count; i++) {
            optional[i] = p->params[i];
            optional[i].required = false;
            optional[i].required_when = NULL;
        }
        start.params = optional;
    }
    compile_check_given(c, &start, t->input);
}

/* --- the types --- */

static void check_cron(struct compiler *c, struct value v, struct trigger *t)
{
    struct err mistake;
    struct cron cron;
    size_t outer;

    t->cron = compile_text(c, v, "cron");
    outer = compile_enter(c, STR("cron"));
    /* A version that is stored goes on all the same. */
    if (compile_field(v, "cron").kind == VALUE_STRING && !c->is_stored &&
        !cron_read(t->cron, &cron, &mistake)) {
        struct sentence said = err_sentence(&mistake);

        compile_error(c, FINDING_BAD_CRON, "%pS", SENTENCE_ARG(sentence_plain(said)));
        compile_column(c, mistake.column);
        if (sentence_hint(said).text.len > 0)
            compile_hint(c, "%pS", SENTENCE_ARG(sentence_hint(said)));
    }
    compile_leave(c, outer);
}

static void compile_schedule(struct compiler *c, struct value v, struct trigger *t)
{
    size_t outer;
    struct tz tz;
    int word;

    check_cron(c, v, t);
    t->timezone = compile_text(c, v, "timezone");
    outer = compile_enter(c, STR("timezone"));
    if (compile_field(v, "timezone").kind == VALUE_STRING && !tz_find(t->timezone, &tz))
        compile_stricter(c, FINDING_BAD_VALUE,
                         "there is no time zone '%.*s'; one is \"Europe/Berlin\", or \"+02:00\"",
                         STR_ARG(t->timezone));
    compile_leave(c, outer);
    word = compile_word(c, TABLE_TRIGGER_SCHEDULE, v, "catchUp");
    t->catch_up = word >= 0 ? (enum catch_up)word : CATCH_UP_ONE;
    check_org(c, v, t);
}

static bool is_path_char(char ch)
{
    return ascii_is_letter_or_digit(ch) || (ch != '\0' && strchr("-_.~", ch) != NULL);
}

/* Parts of letters, digits and "-_.~", with one '/' between them; "." and ".." mean something else. */
static bool is_path(struct str path)
{
    size_t part = 0;

    for (size_t i = 0; i <= path.len; i++) {
        struct str name;

        if (i < path.len && path.ptr[i] != '/') {
            if (!is_path_char(path.ptr[i]))
                return false;
            continue;
        }
        name = str_slice(path, part, i);
        if (name.len == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
            return false;
        part = i + 1;
    }
    return true;
}

static void check_path(struct compiler *c, struct value v, struct trigger *t)
{
    t->path = compile_text(c, v, "path");
    if (compile_field(v, "path").kind != VALUE_STRING ||
        (t->path.len > 0 && t->path.len <= WEBHOOK_PATH_MAX && is_path(t->path)))
        return;
    compile_error_at(c, "path", FINDING_BAD_VALUE,
                     "a path has 1 to %d letters, digits, '-', '_', '.', '~', and '/' between its "
                     "parts",
                     WEBHOOK_PATH_MAX);
    if (str_starts_with(t->path, STR("/hooks/")))
        compile_did_you_mean(c, str_slice(t->path, 7, t->path.len));
    else if (str_starts_with(t->path, STR("/")))
        compile_did_you_mean(c, str_slice(t->path, 1, t->path.len));
}

static void check_header(struct compiler *c, struct value v, struct trigger *t)
{
    struct str name = compile_text(c, v, "header");
    bool ok = name.len > 0 && name.len <= WEBHOOK_PATH_MAX;

    for (size_t i = 0; i < name.len; i++)
        ok = ok && (is_path_char(name.ptr[i]) && name.ptr[i] != '.');
    if (compile_field(v, "header").kind == VALUE_STRING && !ok)
        compile_error_at(c, "header", FINDING_BAD_VALUE,
                         "'header' is the name of a header, \"X-Signature\"");
    t->verify_header = ascii_lower_copy(c->mem, name);
}

static const struct {
    const char *word, *header;
} verify_schemes[VERIFY_SCHEME_COUNT] = {
    [VERIFY_BY_HEADER] = {"", ""},
#define VERIFY_SCHEME(symbol, word, header) [VERIFY_##symbol] = {word, header},
#include "define/verify_schemes.def"
#undef VERIFY_SCHEME
};

enum verify_scheme verify_scheme_find(struct str word)
{
    for (int i = 0; i < VERIFY_SCHEME_COUNT; i++)
        if (str_eq(word, str_of(verify_schemes[i].word)))
            return (enum verify_scheme)i;
    return VERIFY_SCHEME_COUNT;
}

const char *verify_scheme_header(enum verify_scheme scheme)
{
    return verify_schemes[scheme].header;
}

/* `scheme`, in whose place `header` and `encoding` stand. */
static void compile_verify_scheme(struct compiler *c, struct value verify, struct trigger *t)
{
    int scheme = compile_word(c, TABLE_VERIFY, verify, "scheme");

    if (compile_has(verify, "scheme") == compile_has(verify, "header"))
        compile_error(c, FINDING_ONE_OF, "'verify' has either 'header' or 'scheme'");
    else if (compile_has(verify, "scheme") && compile_has(verify, "encoding"))
        compile_error_at(c, "encoding", FINDING_MISPLACED,
                         "the service says how its signature is written");
    if (scheme >= 0)
        t->verify_scheme = (enum verify_scheme)(VERIFY_BY_HEADER + 1 + scheme);
}

static void compile_verify(struct compiler *c, struct value verify, struct trigger *t)
{
    size_t outer = compile_enter(c, STR("verify")), inner;

    if (compile_fields(c, verify, TABLE_VERIFY)) {
        t->verify_credential = compile_text(c, verify, "credential");
        inner = compile_enter(c, STR("credential"));
        if (t->verify_credential.len > 0)
            compile_credential_of(c, t->verify_credential, "hmac");
        else if (compile_field(verify, "credential").kind == VALUE_STRING)
            compile_error(c, FINDING_BAD_VALUE, "'credential' is the code of one of type hmac");
        compile_leave(c, inner);
        check_header(c, verify, t);
        compile_verify_scheme(c, verify, t);
        t->verify_encoding = compile_word(c, TABLE_VERIFY, verify, "encoding") == VERIFY_BASE64
                                 ? VERIFY_BASE64
                                 : VERIFY_HEX;
    }
    compile_leave(c, outer);
}

static void compile_signal(struct compiler *c, struct value v, struct trigger *t)
{
    struct value signal = compile_field(v, "signal");
    size_t outer = compile_enter(c, STR("signal"));

    if (compile_fields(c, signal, TABLE_TRIGGER_SIGNAL)) {
        t->signal_type = compile_computed(c, signal, "type");
        t->correlation = compile_computed(c, signal, "correlation");
    }
    compile_leave(c, outer);
    if (compile_has(v, "key"))
        compile_error_at(c, "key", FINDING_MISPLACED,
                         "a signal finds its execution by 'correlation'; 'key' is for starts");
}

static void compile_webhook(struct compiler *c, struct value v, struct trigger *t)
{
    static const char methods[] = WEBHOOK_METHOD_WORDS;

    check_path(c, v, t);
    (void)compile_word(c, TABLE_TRIGGER_WEBHOOK, v, "method");
    t->method =
        compile_has(v, "method") ? value_map_text(v, STR("method")) : str_slice(STR(methods), 0, 4);
    t->id = compile_computed(c, v, "id");
    if (compile_has(v, "verify"))
        compile_verify(c, compile_field(v, "verify"), t);
    if (compile_has(v, "signal"))
        compile_signal(c, v, t);
    check_org(c, v, t);
}

static void compile_event(struct compiler *c, struct value v, struct trigger *t)
{
    static const char *const families[] = {"execution.", "record.", "dead_letter."};

    t->event = compile_topic(c, v, "event");
    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        if (str_starts_with(t->event, str_of(families[i])) &&
            !catalog_has_word(STR(own_events), t->event)) {
            struct nearest near = nearest_to(t->event);

            compile_warning_at(c, "event", FINDING_BAD_VALUE, "the engine has no event '%.*s'",
                               STR_ARG(t->event));
            nearest_offer_words(&near, STR(own_events));
            compile_did_you_mean(c, near.best);
        }
}

static void compile_action(struct compiler *c, struct value v, struct trigger *t)
{
    t->object = compile_topic(c, v, "object");
    t->label = compile_text(c, v, "label");
    if (t->label.len == 0)
        t->label = c->program->name;
}

/* --- all of them --- */

static const struct {
    const char *word;
    enum field_table table;
    enum context_root root; /* that its expressions see beside the common ones */
    const char *sees;
    void (*compile)(struct compiler *c, struct value v, struct trigger *t);
} types[] = {
    [TRIGGER_SCHEDULE] = {"schedule", TABLE_TRIGGER_SCHEDULE, ROOT_SCHEDULE,
                          PHRASE("a schedule sees $.schedule, $.config, $.meta, $.user and $.now"),
                          compile_schedule},
    [TRIGGER_WEBHOOK] = {"webhook", TABLE_TRIGGER_WEBHOOK, ROOT_WEBHOOK,
                         PHRASE("a webhook sees $.webhook, $.config, $.meta, $.user and $.now"),
                         compile_webhook},
    [TRIGGER_EVENT] = {"event", TABLE_TRIGGER_EVENT, ROOT_EVENT,
                       PHRASE("an event trigger sees $.event, $.config, $.meta, $.user and $.now"),
                       compile_event},
    [TRIGGER_ACTION] = {"action", TABLE_TRIGGER_ACTION, ROOT_RECORD,
                        PHRASE("an action sees $.record, $.config, $.meta, $.user and $.now"),
                        compile_action},
};

NAMES_NAME(trigger_type_name, enum trigger_type, types)
NAMES_READ(trigger_type_find, enum trigger_type, types)

/* $.webhook has these fields and no others. */
static void list_webhook_fields(struct cel_env *env)
{
    static const char *const fields[] = {"payload", "headers", "query", "method", "path"};
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (!cel_env_field(env, STR("webhook"), str_of(fields[i]), &err))
            PANIC(err.message);
}

/* What its expressions see: its own root, and those that are there before an execution is. */
static const struct cel_env *trigger_env(struct compiler *c, enum trigger_type type)
{
    static const char common[] = "config meta user now";
    struct cel_env *env = cel_env_extend(c->mem, c->env);

    for (unsigned i = 0; i < ROOT_COUNT; i++) {
        struct str name = str_of(context_root_name((enum context_root)i));

        if (!catalog_has_word(STR(common), name))
            cel_env_hide(env, name);
    }
    (void)cel_env_show(env, str_of(context_root_name(types[type].root)));
    if (type == TRIGGER_WEBHOOK)
        list_webhook_fields(env);
    return env;
}

/* The type of an item, or the finding that it has none. */
static bool read_type(struct compiler *c, struct value v, enum trigger_type *out)
{
    struct value type = compile_field(v, "type");
    size_t outer;
    int word;

    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, "an object with a 'type'");
        return false;
    }
    if (type.kind == VALUE_ABSENT) {
        compile_missing(c, "type");
        compile_hint(c, "it is \"schedule\", \"webhook\", \"event\" or \"action\"");
        return false;
    }
    outer = compile_enter(c, STR("type"));
    word = compile_find_word(c, type, type_words);
    compile_leave(c, outer);
    *out = (enum trigger_type)word;
    return word >= 0;
}

static void compile_trigger(struct compiler *c, struct value v, const struct program *p,
                            struct trigger *t)
{
    const struct cel_env *outer_env = c->env;
    const char *outer_sees = c->sees;

    if (!read_type(c, v, &t->type) || !compile_fields(c, v, types[t->type].table))
        return;
    c->env = trigger_env(c, t->type);
    c->sees = types[t->type].sees;
    if (t->type != TRIGGER_SCHEDULE)
        t->when = compile_when(c, v, "when");
    t->input = compile_map(c, v, "input");
    if (t->type == TRIGGER_WEBHOOK || t->type == TRIGGER_EVENT)
        t->key = compile_computed(c, v, "key");
    types[t->type].compile(c, v, t);
    check_input(c, p, t);
    c->sees = outer_sees;
    c->env = outer_env;
}

/* Two webhooks of one path and method, or two buttons on one card, could not be told apart. */
static void check_twins(struct compiler *c, struct value list, uint32_t i)
{
    struct str type = value_map_text(list.items[i], STR("type"));
    struct str topic = trigger_topic(c->mem, list.items[i]);
    bool is_webhook = str_eq(type, STR("webhook"));
    size_t outer = compile_enter(c, is_webhook ? STR("path") : STR("object"));

    for (uint32_t k = 0; k < i && topic.len > 0 && (is_webhook || str_eq(type, STR("action"))); k++)
        if (str_eq(value_map_text(list.items[k], STR("type")), type) &&
            str_eq(trigger_topic(c->mem, list.items[k]), topic)) {
            compile_error(c, FINDING_DUPLICATE_NAME, "trigger %u is %s '%.*s' already", k + 1,
                          is_webhook ? "the webhook" : "an action on", STR_ARG(topic));
            break;
        }
    compile_leave(c, outer);
}

/* Each where it is written: the last one perhaps at `start`. */
static void compile_trigger_at(struct compiler *c, struct value list, uint32_t i, struct str start,
                               const struct program *p, struct trigger *t)
{
    size_t item = compile_enter_index(c, i);
    struct buf here = c->path;

    if (start.len > 0 && i + 1 == list.len) {
        buf_init_arena(&c->path, c->mem);
        buf_str(&c->path, start);
    }
    *t = (struct trigger){.position = i};
    compile_trigger(c, list.items[i], p, t);
    check_twins(c, list, i);
    c->path = here;
    compile_leave(c, item);
}

void compile_triggers(struct compiler *c, struct value list, struct str start, struct program *p)
{
    size_t outer = compile_enter(c, STR("triggers"));
    struct trigger *triggers;

    if (list.kind != VALUE_LIST) {
        compile_wrong_type(c, list, "a list of triggers");
    } else if (list.len > TRIGGERS_MAX) {
        compile_error(c, FINDING_BAD_VALUE, "there are at most %d triggers", TRIGGERS_MAX);
    } else {
        triggers = ARENA_ARRAY(c->mem, list.len + 1u, struct trigger);
        for (uint32_t i = 0; i < list.len; i++)
            compile_trigger_at(c, list, i, start, p, &triggers[i]);
        p->triggers = triggers;
        p->trigger_count = list.len;
    }
    compile_leave(c, outer);
}
