/*
 * message.c - commands that send a message and do not wait for an answer: see
 * message.h and command.h.
 *
 * What is sent is fixed here, whole: the body of an event, the texts of a mail.
 * However often it is tried, and whatever becomes of templates meanwhile, the
 * same is sent. A template is rendered outside of the turn, where it can be
 * read: that is asked for with NEED.
 */
#include "engine/commit/message.h"
#include "base/names.h"
#include "base/text/ascii.h"
#include "define/assignee.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/reads.h"
#include "engine/context.h"
#include "engine/ident.h"
#include "engine/show.h"
#include "value/json.h"
#include "value/object.h"

enum { EVENT_NAME_MAX = 200, ADDRESS_MAX = 320, ADDRESSES_MAX = 100, PHONE_MAX = 200 };

/* Of one message. */
enum { MESSAGE_BYTES_MAX = CONTEXT_BYTES_MAX };

static const char *const message_kinds[] = {
#define MESSAGE_KIND(symbol, name) (name),
#include "engine/commit/message_kind.def"
#undef MESSAGE_KIND
};

NAMES_NAME(message_kind_name, enum message_kind, message_kinds)
NAMES_READ(message_kind_read, enum message_kind, message_kinds)

/* Add a message to those of the step. STEP_DONE with {messageId}. */
static enum step_result message_stage(struct turn *t, struct message m, struct value *out)
{
    struct value id = value_string(uuid_text(t->mem, m.id));

    if (m.body_json.len > MESSAGE_BYTES_MAX)
        return turn_fail(t, STR("limit_message_size"), ERR_CLASS_BUSINESS,
                         "a message has at most %d bytes; this one would have %zu",
                         MESSAGE_BYTES_MAX, m.body_json.len);
    m.step = turn_code(t);
    *VEC_ADD(t->mem, &t->messages) = m;
    *out = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("messageId")), id}));
    return STEP_DONE;
}

static struct uuid message_id(struct turn *t)
{
    return ident_make(t->x->id, t->x->seq + 1, t->ids++, t->now_us);
}

/* --- events --- */

static bool is_event_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(ascii_is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == ':'))
            return false;
    }
    return name.len > 0 && name.len <= EVENT_NAME_MAX;
}

struct str message_event_write(struct arena *mem, const struct event_text *e)
{
    struct buf out;

    object_begin(&out, mem);
    object_id(&out, "id", e->id);
    object_text(&out, "name", e->name);
    object_json(&out, "payload", e->payload_json);
    object_text(&out, "key", e->key);
    if (e->has_execution)
        object_id(&out, "executionId", e->execution);
    else
        object_json(&out, "executionId", STR_NONE);
    object_text(&out, "code", e->code);
    object_time(&out, "at", e->at_us);
    return object_end(&out);
}

struct str message_trigger_write(struct arena *mem, struct str event_json, struct str chain)
{
    struct buf out;

    object_begin(&out, mem);
    object_json(&out, "event", event_json);
    object_text(&out, "chain", chain);
    return object_end(&out);
}

bool message_trigger_read(struct arena *mem, struct str body_json, struct value *event,
                          struct str *chain, struct err *err)
{
    struct value body, text;

    if (!json_read(mem, body_json, &body, err))
        return false;
    *event = value_map_get_str(body, STR("event"));
    text = value_map_get_str(body, STR("chain"));
    *chain = value_text_or(text, STR_NONE);
    return event->kind == VALUE_MAP || err_set(err, ERR_INTERNAL, "the message holds no event");
}

struct str message_event_json(struct arena *mem, const struct execution *x, struct uuid id,
                              struct str name, struct str key, struct str payload_json,
                              int64_t at_us)
{
    return message_event_write(mem, &(struct event_text){.id = id,
                                                         .name = name,
                                                         .payload_json = payload_json,
                                                         .key = key,
                                                         .has_execution = true,
                                                         .execution = x->id,
                                                         .code = x->program->code,
                                                         .at_us = at_us});
}

static enum step_result publish_event(struct turn *t, const struct command *c, struct value *out)
{
    struct message m = {.kind = MESSAGE_EVENT};
    struct str key, payload_json = STR_NONE;
    struct value payload;
    struct mask mask;

    /* What the author of the process puts into an event goes out as it is; the key of the execution does not. */
    show_mask(t->mem, t->x, &mask);
    if (!command_text(t, c, FIELD_EVENT, STR_NONE, &m.name) ||
        !command_text(t, c, FIELD_KEY, mask_text(t->mem, &mask, t->x->key), &key) ||
        !command_field(t, c, FIELD_PAYLOAD, &payload))
        return STEP_FAILED;
    if (!is_event_name(m.name))
        return turn_fail(t, STR("validation_event"), ERR_CLASS_BUSINESS,
                         "'event' is a name of 1 to %d letters, digits, '_', '-', '.' or ':'",
                         EVENT_NAME_MAX);
    if (payload.kind != VALUE_ABSENT && !turn_json(t, payload, &payload_json))
        return STEP_FAILED;
    m.id = message_id(t);
    m.body_json = message_event_json(t->mem, t->x, m.id, m.name, key, payload_json, t->now_us);
    return message_stage(t, m, out);
}

/* --- mail --- */

/* The address of "Name <address>", or the text itself. */
static struct str bare_address(struct str text)
{
    int64_t open = -1;

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '<')
            open = (int64_t)i;
    if (open < 0 || text.ptr[text.len - 1] != '>')
        return text;
    return str_slice(text, (size_t)open + 1, text.len - 1);
}

static bool is_address(struct str text)
{
    struct str bare = bare_address(text);
    int64_t at = str_find(bare, STR("@"), 0);

    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return false;
    for (size_t i = 0; i < bare.len; i++)
        if (bare.ptr[i] == ' ' || bare.ptr[i] == '<' || bare.ptr[i] == '>' || bare.ptr[i] == ',')
            return false;
    return text.len <= ADDRESS_MAX && at > 0 && (size_t)at + 1 < bare.len;
}

/* A user or a group, whose addresses are looked up when the mail is sent. */
static bool is_person(struct str text)
{
    struct uuid id;

    return uuid_read(text, &id) ||
           (str_starts_with(text, STR(ASSIGNEE_GROUP)) && text.len > sizeof(ASSIGNEE_GROUP) - 1 &&
            text.len <= ASSIGNEE_LEN_MAX);
}

/* An address or a list of them, as a list. False: the step has failed. */
static bool write_addresses(struct turn *t, const struct command *c, enum command_field field,
                            const char *name, struct buf *out, struct str *first, bool *has_people)
{
    struct value v;
    uint32_t count;

    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_ABSENT || v.kind == VALUE_NULL)
        return true;
    count = v.kind == VALUE_LIST ? v.len : 1;
    if (count > ADDRESSES_MAX)
        return turn_fail(t, STR("limit_addresses"), ERR_CLASS_BUSINESS,
                         "'%s' has at most %d addresses", name, ADDRESSES_MAX) == STEP_DONE;
    if (count == 0)
        return true;
    object_list(out, name);
    for (uint32_t i = 0; i < count; i++) {
        struct value one = v.kind == VALUE_LIST ? v.items[i] : v;

        if (one.kind != VALUE_STRING ||
            (!is_address(value_text(one)) && !is_person(value_text(one))))
            return turn_fail(t, STR("validation_address"), ERR_CLASS_BUSINESS,
                             "'%s' holds something that is no address: write name@example.com, "
                             "Name <name@example.com>, group:name or the id of a user",
                             name) == STEP_DONE;
        *has_people |= is_person(value_text(one));
        object_next(out);
        json_write_string(out, value_text(one));
        if (first->len == 0)
            *first = value_text(one);
    }
    buf_char(out, ']');
    return true;
}

struct mail_texts {
    struct str subject, body, html; /* or empty */
};

static struct value root_of(struct turn *t, enum context_root root)
{
    struct value v = t->slots[root];

    return v.kind == VALUE_ABSENT ? context_load(t, root) : v;
}

/* What the template makes of the data. STEP_DONE, STEP_NEEDS or STEP_FAILED. */
static enum step_result render(struct turn *t, const struct command *c, struct str code,
                               struct mail_texts *out)
{
    const struct render_reads *reads = &event_reads(t->ev)->renders;
    struct str key = turn_key(t, procedure_command_place(t, c));
    struct render_read need = {.code = code};

    need.call = str_printf(t->mem, "%.*s@%lld", STR_ARG(key), (long long)t->x->seq);
    for (size_t i = 0; i < reads->count; i++) {
        const struct render_read *read = &reads->items[i];

        if (!str_eq(read->call, need.call))
            continue;
        if (read->error.kind == VALUE_MAP) {
            enum step_result end = turn_fail_answer(t, read->error);

            /* A wrong name, or a wrong expression in a template: held until it is put right. */
            t->failure.is_own = true;
            return end;
        }
        *out =
            (struct mail_texts){.subject = read->subject, .body = read->body, .html = read->html};
        return STEP_DONE;
    }
    if (!command_field(t, c, FIELD_DATA, &need.data))
        return STEP_FAILED;
    if (need.data.kind == VALUE_ABSENT)
        need.data = value_map_empty();
    need.user = root_of(t, ROOT_USER);
    need.execution = root_of(t, ROOT_EXECUTION);
    need.config = root_of(t, ROOT_CONFIG);
    need.now_us = t->now_us;
    *VEC_ADD(t->mem, &t->out->needs_renders) = need;
    return STEP_NEEDS;
}

static enum step_result mail_texts(struct turn *t, const struct command *c, struct mail_texts *out)
{
    struct str template, subject;
    enum step_result end;

    *out = (struct mail_texts){0};
    if (!command_text(t, c, FIELD_TEMPLATE, STR_NONE, &template) ||
        !command_text(t, c, FIELD_SUBJECT, STR_NONE, &subject))
        return STEP_FAILED;
    if (template.len > 0) {
        end = render(t, c, template, out);
        if (end != STEP_DONE)
            return end;
    } else if (!command_text(t, c, FIELD_BODY, STR_NONE, &out->body) ||
               !command_text(t, c, FIELD_HTML, STR_NONE, &out->html)) {
        return STEP_FAILED;
    }
    if (subject.len > 0)
        out->subject = subject;
    if (out->body.len == 0 && out->html.len == 0)
        return turn_fail(t, STR("validation_body"), ERR_CLASS_BUSINESS,
                         "a mail needs a 'template', a 'body' or 'html'");
    if (out->subject.len == 0)
        return turn_fail(t, STR("validation_subject"), ERR_CLASS_BUSINESS,
                         "a mail needs a 'subject'");
    return STEP_DONE;
}

static enum step_result send_mail(struct turn *t, const struct command *c, struct value *out)
{
    struct message m = {.kind = MESSAGE_EMAIL};
    struct mail_texts texts;
    struct str reply_to, others = STR("-");
    bool has_people = false;
    struct buf body;
    enum step_result end;

    object_begin(&body, t->mem);
    if (!write_addresses(t, c, FIELD_TO, "to", &body, &m.name, &has_people) ||
        !write_addresses(t, c, FIELD_CC, "cc", &body, &others, &has_people) ||
        !write_addresses(t, c, FIELD_BCC, "bcc", &body, &others, &has_people) ||
        !command_text(t, c, FIELD_REPLY_TO, STR_NONE, &reply_to))
        return STEP_FAILED;
    if (m.name.len == 0)
        return turn_fail(t, STR("validation_address"), ERR_CLASS_BUSINESS, "'to' has no address");
    if (reply_to.len > 0 && !is_address(reply_to))
        return turn_fail(t, STR("validation_address"), ERR_CLASS_BUSINESS,
                         "'replyTo' is no address: write name@example.com");
    end = mail_texts(t, c, &texts);
    if (end != STEP_DONE)
        return end;
    if (has_people)
        object_bool(&body, "people", true);
    if (reply_to.len > 0)
        object_text(&body, "replyTo", reply_to);
    object_text(&body, "subject", texts.subject);
    if (texts.body.len > 0)
        object_text(&body, "body", texts.body);
    if (texts.html.len > 0)
        object_text(&body, "html", texts.html);
    buf_char(&body, '}');
    m.id = message_id(t);
    m.body_json = buf_view(&body);
    return message_stage(t, m, out);
}

/* --- text messages, push notifications --- */

static enum step_result send_short(struct turn *t, const struct command *c, struct value *out)
{
    struct message m = {.kind = c->type == COMMAND_SMS ? MESSAGE_SMS : MESSAGE_PUSH};
    struct str title = STR_NONE, text;
    struct buf body;

    if (!command_text(t, c, FIELD_TO, STR_NONE, &m.name) ||
        !command_text(t, c, FIELD_BODY, STR_NONE, &text) ||
        (m.kind == MESSAGE_PUSH && !command_text(t, c, FIELD_TITLE, STR_NONE, &title)))
        return STEP_FAILED;
    if (m.name.len == 0 || m.name.len > PHONE_MAX)
        return turn_fail(t, STR("validation_address"), ERR_CLASS_BUSINESS,
                         "'to' must have 1 to %d bytes", PHONE_MAX);
    m.id = message_id(t);
    object_begin(&body, t->mem);
    object_id(&body, "id", m.id);
    object_text(&body, "to", m.name);
    if (title.len > 0)
        object_text(&body, "title", title);
    object_text(&body, "body", text);
    object_id(&body, "executionId", t->x->id);
    m.body_json = object_end(&body);
    return message_stage(t, m, out);
}

/* --- messages to a broker --- */

enum { ROUTING_MAX = 255 }; /* bytes: what AMQP has room for */

/* The name of an exchange or a routing key. False: the step has failed. */
static bool routing_text(struct turn *t, const struct command *c, enum command_field field,
                         const char *name, struct str *out)
{
    if (!command_text(t, c, field, STR_NONE, out))
        return false;
    if (out->len <= ROUTING_MAX)
        return true;
    return turn_fail(t, STR("validation_routing"), ERR_CLASS_BUSINESS, "'%s' has at most %d bytes",
                     name, ROUTING_MAX) == STEP_DONE;
}

static enum step_result publish_message(struct turn *t, const struct command *c, struct value *out)
{
    struct message m = {.kind = MESSAGE_BROKER};
    struct str exchange, body_json = STR_NONE, headers_json = STR_NONE;
    struct value body, headers;
    struct buf text;

    if (!routing_text(t, c, FIELD_EXCHANGE, "exchange", &exchange) ||
        !routing_text(t, c, FIELD_ROUTING_KEY, "routing_key", &m.name) ||
        !command_field(t, c, FIELD_BODY, &body) || !command_field(t, c, FIELD_HEADERS, &headers))
        return STEP_FAILED;
    if (headers.kind != VALUE_ABSENT && headers.kind != VALUE_MAP && headers.kind != VALUE_NULL)
        return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                         "'headers' must be an object");
    if ((body.kind != VALUE_ABSENT && !turn_json(t, body, &body_json)) ||
        (headers.kind == VALUE_MAP && !turn_json(t, headers, &headers_json)))
        return STEP_FAILED;
    m.id = message_id(t);
    object_begin(&text, t->mem);
    object_text(&text, "exchange", exchange);
    object_text(&text, "routing_key", m.name);
    object_json(&text, "body", body_json);
    object_json(&text, "headers", headers_json.len > 0 ? headers_json : STR("{}"));
    m.body_json = object_end(&text);
    if (message_stage(t, m, out) != STEP_DONE)
        return STEP_FAILED;
    *out = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("published")), value_bool(true)}));
    return STEP_DONE;
}

enum step_result message_run(struct turn *t, const struct command *c, struct value *out)
{
    if (c->type == COMMAND_EVENT_PUBLISH)
        return publish_event(t, c, out);
    if (c->type == COMMAND_MESSAGE_PUBLISH)
        return publish_message(t, c, out);
    return c->type == COMMAND_EMAIL ? send_mail(t, c, out) : send_short(t, c, out);
}
