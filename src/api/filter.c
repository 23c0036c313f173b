/* filter.c - see filter.h. */
#include "api/filter.h"

#include "api/api.h"
#include "base/text/nearest.h"
#include "define/kind.h"
#include "store/read_executions.h"
#include "store/read_letter.h"
#include "store/read_outbox.h"
#include "value/path.h"
#include "value/timefmt.h"

enum { STATUSES_MAX = 32, TEXT_LEN_MAX = 500, SHOWN_LEN_MAX = 100 };

#define DAY_US INT64_C(86400000000)

/* Conditions as they are read; findings collect what is wrong, with pointers below "/filter". */
struct filter_reading {
    struct arena *mem;
    struct findings *findings;
    int64_t now_us;
};

PRINTF_LIKE(4, 5)
static void filter_wrong(struct filter_reading *r, struct str name, const char *code,
                         const char *format, ...)
{
    struct buf pointer;
    va_list args;

    buf_init_arena(&pointer, r->mem);
    buf_text(&pointer, "/filter");
    path_add(&pointer, name);
    va_start(args, format);
    *VEC_ADD(r->mem, r->findings) = (struct finding){
        .pointer = buf_view(&pointer),
        .code = str_of(code),
        .message = sentence_vmake(r->mem, SENTENCE_MAX, format, args),
    };
    va_end(args);
}

/* The conditions that there are. */
static const char of_executions[] = QUERY_EXECUTIONS;
static const char of_messages[] = "status kind destination execution";
static const char of_dead_letters[] = "kind code execution status from to";

/* --- one condition each --- */

static void read_status(struct filter_reading *r, struct str text, uint32_t *statuses)
{
    struct str nearest = STR_NONE, names;
    enum execution_status status;
    unsigned limit = 3;

    text = str_trim(text);
    if (status_read(text, &status)) {
        *statuses |= STATUS_BIT(status);
        return;
    }
    for (unsigned i = 0; i < STATUS_COUNT; i++) {
        const char *name = status_name((enum execution_status)i);
        unsigned distance = str_distance(text, str_of(name), limit);
        if (distance <= limit && distance < text.len) {
            nearest = str_of(name);
            limit = distance;
        }
    }
    names = filter_status_names(r->mem);
    filter_wrong(r, STR("status"), "bad_value", "status is one of %.*s", STR_ARG(names));
    body_hint(r->mem, r->findings, nearest);
}

/* "waiting,failed" */
static void read_statuses(struct filter_reading *r, struct str text, uint32_t *statuses)
{
    for (size_t from = 0; text.len > 0 && from <= text.len && !findings_are_full(r->findings);) {
        int64_t comma = str_find(text, STR(","), from);
        size_t to = comma < 0 ? text.len : (size_t)comma;
        read_status(r, str_slice(text, from, to), statuses);
        from = to + 1;
    }
}

static void read_kind(struct filter_reading *r, struct str text, struct str *out)
{
    *out = text;
    if (text.len > 0 && !kind_is_process(text))
        filter_wrong(r, STR("kind"), "bad_value", "kind is scenario, schema or machine");
}

static void read_text(struct filter_reading *r, const char *name, struct str text, struct str *out)
{
    *out = text;
    if (text.len > TEXT_LEN_MAX)
        filter_wrong(r, str_of(name), "bad_value", "%s has at most %d bytes", name, TEXT_LEN_MAX);
}

/* A time; a day, which as an end is meant with all its hours; or how long ago. */
static void read_time(struct filter_reading *r, const char *name, bool is_end, struct str text,
                      int64_t *out_us)
{
    struct value v;
    bool is_day;

    *out_us = 0;
    if (text.len == 0)
        return;
    if (duration_read(text, &v) && v.seconds >= 0 && (v.seconds > 0 || v.nanos > 0)) {
        int64_t ago_us = v.seconds * 1000000 + v.nanos / 1000;

        *out_us = ago_us < r->now_us ? r->now_us - ago_us : 1;
        return;
    }
    is_day = timestamp_read_date(text, &v);
    if (!is_day && !timestamp_read(text, &v)) {
        filter_wrong(r, str_of(name), "bad_value",
                     "%s is a time such as 2026-01-31T09:00:00Z, a day, or how long ago: 2h, 3d",
                     name);
        return;
    }
    *out_us = v.seconds * 1000000 + v.nanos / 1000 + (is_day && is_end ? DAY_US - 1 : 0);
    /* Before 1970 there was nothing, and 0 would mean any time. */
    if (*out_us <= 0)
        *out_us = 1;
}

/* How soon: "2h" is in two hours. */
static void read_deadline(struct filter_reading *r, struct str text, int64_t *out_us)
{
    struct value v;

    if (text.len > 0 && duration_read(text, &v) && v.seconds >= 0)
        *out_us = r->now_us + v.seconds * 1000000 + v.nanos / 1000;
    else
        read_time(r, "deadlineBefore", true, text, out_us);
}

static void read_waiting(struct filter_reading *r, struct str text, struct str *out)
{
    struct nearest nearest = nearest_to(text);
    struct buf all;

    *out = text;
    if (text.len == 0)
        return;
    buf_init_arena(&all, r->mem);
    for (unsigned i = WAITING_NONE + 1; i < WAITING_COUNT; i++) {
        const char *shown = waiting_kind_shown((enum waiting_kind)i);

        if (str_eq(text, str_of(shown)))
            return;
        if (strcmp(shown, waiting_kind_name((enum waiting_kind)i)) == 0)
            buf_printf(&all, "%s%s", all.len == 0 ? "" : " ", shown);
        nearest_offer(&nearest, str_of(shown));
    }
    filter_wrong(r, STR("waiting"), "bad_value", "waiting is one of %.*s; incident is what is held",
                 STR_ARG(buf_view(&all)));
    body_hint(r->mem, r->findings, nearest.best);
}

static void read_order(struct filter_reading *r, struct str text, bool *is_oldest_first)
{
    *is_oldest_first = str_eq(text, STR("oldest"));
    if (text.len > 0 && !*is_oldest_first && !str_eq(text, STR("newest")))
        filter_wrong(r, STR("order"), "bad_value", "order is newest or oldest: what comes first");
}

static void read_parent(struct filter_reading *r, struct str text, struct str *out)
{
    struct uuid id;

    *out = text;
    if (text.len > 0 && !uuid_read(text, &id))
        filter_wrong(r, STR("parent"), "bad_value", "parent is the id of an execution");
}

/* Everything but the statuses. */
static void read_rest(struct filter_reading *r, struct str (*get)(void *context, const char *name),
                      void *context, struct execution_filter *out)
{
    read_kind(r, get(context, "kind"), &out->kind);
    read_text(r, "code", get(context, "code"), &out->code);
    read_text(r, "key", get(context, "key"), &out->key);
    read_text(r, "step", get(context, "step"), &out->step);
    read_parent(r, get(context, "parent"), &out->parent);
    read_text(r, "record", get(context, "record"), &out->record);
    read_text(r, "error", get(context, "error"), &out->error);
    read_waiting(r, get(context, "waiting"), &out->waiting);
    read_text(r, "q", get(context, "q"), &out->q);
    read_deadline(r, get(context, "deadlineBefore"), &out->deadline_us);
    read_time(r, "from", false, get(context, "from"), &out->from_us);
    read_time(r, "to", true, get(context, "to"), &out->to_us);
}

/* --- from a query --- */

static struct str from_query(void *context, const char *name)
{
    const struct call *c = context;

    return http_query(c->http, name);
}

static bool refuse_first(struct call *c, const struct findings *findings)
{
    const struct finding *first;

    if (findings->count == 0)
        return true;
    first = &findings->items[0];
    if (first->hint.text.len > 0)
        return call_refuse_text(c, ERR_BAD_REQUEST, sentence_hinted, SENTENCE_ARG(first->message),
                                SENTENCE_ARG(first->hint));
    return call_refuse_text(c, ERR_BAD_REQUEST, "%pS", SENTENCE_ARG(first->message));
}

bool filter_execution(struct call *c, bool *has, struct uuid *out)
{
    struct str text = http_query(c->http, "execution");

    *has = text.len > 0;
    return !*has || uuid_read(text, out) ||
           call_refuse_text(c, ERR_BAD_REQUEST, "execution is the id of an execution");
}

bool filter_time(struct call *c, const char *name, bool is_end, int64_t *out_us)
{
    struct findings findings = {0};
    struct filter_reading r = {.mem = c->mem, .findings = &findings, .now_us = api_now_us(c->api)};

    read_time(&r, name, is_end, http_query(c->http, name), out_us);
    return refuse_first(c, &findings);
}

bool filter_query(struct call *c, struct execution_filter *out)
{
    struct findings findings = {0};
    struct filter_reading r = {.mem = c->mem, .findings = &findings, .now_us = api_now_us(c->api)};
    struct str statuses[STATUSES_MAX];
    size_t count = http_query_all(c->http, "status", statuses, STATUSES_MAX);

    *out = (struct execution_filter){.org_id = c->user.org_id,
                                     .cursor = http_query(c->http, "cursor")};
    for (size_t i = 0; i < count; i++)
        read_statuses(&r, statuses[i], &out->statuses);
    read_rest(&r, from_query, c, out);
    read_order(&r, http_query(c->http, "order"), &out->is_oldest_first);
    return refuse_first(c, &findings);
}

/* --- from a body --- */

static struct str from_body(void *context, const char *name)
{
    struct value v = value_map_get_str(*(struct value *)context, str_of(name));

    return value_text_or(v, STR_NONE);
}

/* "kind, code and q" of "kind code q" */
static struct str all_names(struct arena *mem, const char *names)
{
    struct buf all;

    buf_init_arena(&all, mem);
    for (; *names != '\0'; names++)
        if (*names == ' ')
            buf_text(&all, strchr(names + 1, ' ') == NULL ? " and " : ", ");
        else
            buf_char(&all, *names);
    return buf_view(&all);
}

/* `list`: the condition that may be a list, which its reader checks; or none. */
static void check_member(struct filter_reading *r, const char *names, const char *list,
                         const struct value_entry *e)
{
    struct str name = value_text(e->key);
    struct str shown = str_slice(name, 0, name.len > SHOWN_LEN_MAX ? SHOWN_LEN_MAX : name.len);
    struct nearest nearest = nearest_to(name);

    if (!words_have(names, name)) {
        struct str all = all_names(r->mem, names);

        filter_wrong(r, name, "unknown_field", "there is no condition '%.*s': there are %.*s",
                     STR_ARG(shown), STR_ARG(all));
        nearest_offer_words(&nearest, str_of(names));
        body_hint(r->mem, r->findings, nearest.best);
    } else if (e->value.kind == VALUE_STRING && e->value.len == 0) {
        /* Not "any": an empty variable would choose everything. */
        filter_wrong(r, name, "bad_value", "%.*s is empty", STR_ARG(name));
    } else if (e->value.kind != VALUE_STRING && e->value.kind != VALUE_NULL &&
               !str_eq(name, str_of(list))) {
        filter_wrong(r, name, "wrong_type", "%.*s must be a text", STR_ARG(name));
    }
}

bool filter_statuses(struct call *c, uint32_t *out)
{
    struct findings findings = {0};
    struct filter_reading r = {.mem = c->mem, .findings = &findings};

    *out = 0;
    read_statuses(&r, http_query(c->http, "status"), out);
    return refuse_first(c, &findings);
}

bool filter_body(struct call *c, struct value object, struct execution_filter *out,
                 struct findings *findings)
{
    struct filter_reading r = {.mem = c->mem, .findings = findings, .now_us = api_now_us(c->api)};
    struct value status = value_map_get_str(object, STR("status"));

    *out = (struct execution_filter){.org_id = c->user.org_id};
    for (uint32_t i = 0; i < object.len && !findings_are_full(findings); i++)
        check_member(&r, of_executions, "status", &object.map->entries[i]);
    if (status.kind == VALUE_STRING)
        read_statuses(&r, value_text(status), &out->statuses);
    else if (status.kind != VALUE_LIST && status.kind != VALUE_ABSENT && status.kind != VALUE_NULL)
        filter_wrong(&r, STR("status"), "wrong_type", "status must be a text or a list of texts");
    for (uint32_t i = 0;
         status.kind == VALUE_LIST && i < status.len && !findings_are_full(findings); i++)
        if (status.items[i].kind == VALUE_STRING)
            read_status(&r, value_text(status.items[i]), &out->statuses);
        else
            filter_wrong(&r, STR("status"), "wrong_type",
                         "status must be a text or a list of texts");
    read_rest(&r, from_body, &object, out);
    return findings->count == 0;
}

static void read_execution_id(struct filter_reading *r, struct value *object, bool *has,
                              struct uuid *out)
{
    struct str execution = from_body(object, "execution");

    *has = execution.len > 0;
    if (*has && !uuid_read(execution, out))
        filter_wrong(r, STR("execution"), "bad_value", "execution is the id of an execution");
}

bool filter_dead_letters_body(struct call *c, struct value object, struct letter_filter *out,
                              struct findings *findings)
{
    struct filter_reading r = {.mem = c->mem, .findings = findings, .now_us = api_now_us(c->api)};
    struct str status = from_body(&object, "status"), kinds = filter_letter_kinds(c->mem);
    enum letter_kind kind;

    *out =
        (struct letter_filter){.org_id = c->user.org_id, .has_status = true, .status = LETTER_OPEN};
    for (uint32_t i = 0; i < object.len && !findings_are_full(findings); i++)
        check_member(&r, of_dead_letters, "", &object.map->entries[i]);
    if (status.len > 0 && !str_eq(status, STR("open")))
        filter_wrong(&r, STR("status"), "bad_value",
                     "only letters that are open can be tried again");
    out->kind = from_body(&object, "kind");
    if (out->kind.len > 0 && !letter_kind_read(out->kind, &kind))
        filter_wrong(&r, STR("kind"), "bad_value", "kind is one of %.*s", STR_ARG(kinds));
    read_text(&r, "code", from_body(&object, "code"), &out->code);
    read_execution_id(&r, &object, &out->has_execution, &out->execution);
    read_time(&r, "from", false, from_body(&object, "from"), &out->from_us);
    read_time(&r, "to", true, from_body(&object, "to"), &out->to_us);
    return findings->count == 0;
}

bool filter_outbox_body(struct call *c, struct value object, struct message_filter *out,
                        struct findings *findings)
{
    struct filter_reading r = {.mem = c->mem, .findings = findings, .now_us = api_now_us(c->api)};
    struct str status = from_body(&object, "status"), kinds = filter_message_kinds(c->mem);
    enum message_kind kind;

    *out = (struct message_filter){.org_id = call_scope(c)};
    for (uint32_t i = 0; i < object.len && !findings_are_full(findings); i++)
        check_member(&r, of_messages, "", &object.map->entries[i]);
    out->has_status = status.len > 0 && !str_eq(status, STR("all"));
    out->is_parked = str_eq(status, STR("parked"));
    if (out->has_status && !out->is_parked && !str_eq(status, STR("pending")))
        filter_wrong(&r, STR("status"), "bad_value", "status is one of pending, parked, all");
    out->kind = from_body(&object, "kind");
    if (out->kind.len > 0 && !message_kind_read(out->kind, &kind))
        filter_wrong(&r, STR("kind"), "bad_value", "kind is one of %.*s", STR_ARG(kinds));
    read_text(&r, "destination", from_body(&object, "destination"), &out->destination);
    read_execution_id(&r, &object, &out->has_execution, &out->execution);
    return findings->count == 0;
}

struct str filter_names(struct arena *mem, const char *(*name)(unsigned i), unsigned count)
{
    struct buf all;

    buf_init_arena(&all, mem);
    for (unsigned i = 0; i < count; i++)
        buf_printf(&all, "%s%s", i > 0 ? ", " : "", name(i));
    return buf_view(&all);
}

static const char *execution_status_of(unsigned i)
{
    return status_name((enum execution_status)i);
}

struct str filter_status_names(struct arena *mem)
{
    return filter_names(mem, execution_status_of, STATUS_COUNT);
}

static const char *letter_kind_of(unsigned i)
{
    return letter_kind_name((enum letter_kind)i);
}

struct str filter_letter_kinds(struct arena *mem)
{
    return filter_names(mem, letter_kind_of, LETTER_KIND_COUNT);
}

static const char *message_kind_of(unsigned i)
{
    return message_kind_name((enum message_kind)i);
}

struct str filter_message_kinds(struct arena *mem)
{
    return filter_names(mem, message_kind_of, MESSAGE_KIND_COUNT);
}
