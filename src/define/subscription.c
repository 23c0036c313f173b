/* subscription.c - see subscription.h. */
#include "define/subscription.h"

#include "base/uuid.h"
#include "define/compile/compile.h"

enum { URL_MAX = 2000, SECRET_MAX = 1000, EVENT_MAX = 200 };

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            return true;
    return false;
}

/* What an address consists of: visible characters of ASCII. */
static bool is_visible_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
            return false;
    return true;
}

static void check_url(struct compiler *c, struct value definition)
{
    struct str url = compile_text(c, definition, "url");

    if (compile_field(definition, "url").kind == VALUE_STRING &&
        ((!str_starts_with(url, STR("http://")) && !str_starts_with(url, STR("https://"))) ||
         !is_visible_ascii(url) || url.len > URL_MAX))
        compile_error_at(c, "url", FINDING_BAD_VALUE,
                         "'url' is where events are sent: http:// or https://, at most %d bytes",
                         URL_MAX);
}

static void check_events(struct compiler *c, struct value events)
{
    size_t outer = compile_enter(c, STR("events"));

    if (events.kind != VALUE_LIST && events.kind != VALUE_ABSENT)
        compile_wrong_type(c, events, "a list of names of events");
    if (events.kind == VALUE_LIST && (events.len == 0 || events.len > SUBSCRIPTION_EVENTS_MAX))
        compile_error(c, FINDING_BAD_VALUE,
                      "'events' has 1 to %d names of events, such as \"OrderStatusChanged\", "
                      "\"execution.*\" or \"*\"",
                      SUBSCRIPTION_EVENTS_MAX);
    for (uint32_t i = 0; events.kind == VALUE_LIST && i < events.len; i++) {
        struct value v = events.items[i];

        if (v.kind != VALUE_STRING)
            compile_wrong_type(c, v, "the name of an event");
        else if (v.len == 0 || v.len > EVENT_MAX || has_control(value_text(v)))
            compile_error(c, FINDING_BAD_VALUE, "the name of an event has 1 to %d characters",
                          EVENT_MAX);
    }
    compile_leave(c, outer);
}

void subscription_check(struct arena *mem, struct value definition, struct findings *findings)
{
    struct value secret, org_id;
    struct compiler c;
    struct uuid id;
    size_t outer;

    compiler_init(&c, mem, NULL, findings);
    if (!compile_fields(&c, definition, TABLE_SUBSCRIPTION))
        return;
    check_url(&c, definition);
    check_events(&c, compile_field(definition, "events"));
    secret = compile_field(definition, "secret");
    org_id = compile_field(definition, "org_id");
    outer = compile_enter(&c, STR("secret"));
    if (secret.kind == VALUE_STRING && (secret.len == 0 || secret.len > SECRET_MAX))
        compile_error(&c, FINDING_BAD_VALUE, "'secret' has 1 to %d bytes", SECRET_MAX);
    else if (secret.kind != VALUE_STRING && secret.kind != VALUE_NULL &&
             secret.kind != VALUE_ABSENT)
        compile_wrong_type(&c, secret, "a text");
    compile_leave(&c, outer);
    outer = compile_enter(&c, STR("org_id"));
    if (org_id.kind == VALUE_STRING && !uuid_read(value_text(org_id), &id))
        compile_error(&c, FINDING_BAD_VALUE, "'org_id' is the id of an organisation");
    else if (org_id.kind != VALUE_STRING && org_id.kind != VALUE_ABSENT)
        compile_wrong_type(&c, org_id, "the id of an organisation");
    compile_leave(&c, outer);
}

void subscription_read(struct arena *mem, struct str code, struct value definition,
                       struct subscription *out)
{
    struct value events = value_map_get_str(definition, STR("events"));
    uint32_t count = events.kind == VALUE_LIST ? events.len : 0;
    struct str *names = ARENA_ARRAY(mem, count + 1, struct str);

    *out = (struct subscription){.code = code,
                                 .url = value_map_text(definition, STR("url")),
                                 .secret = value_map_text(definition, STR("secret")),
                                 .org_id = value_map_text(definition, STR("org_id")),
                                 .events = names};
    for (uint32_t i = 0; i < count; i++)
        if (events.items[i].kind == VALUE_STRING)
            names[out->event_count++] = value_text(events.items[i]);
}

bool subscription_wants(const struct subscription *s, struct str event)
{
    for (uint32_t i = 0; i < s->event_count; i++) {
        struct str name = s->events[i];

        if (str_eq(name, event) || (name.len > 0 && name.ptr[name.len - 1] == '*' &&
                                    str_starts_with(event, str_slice(name, 0, name.len - 1))))
            return true;
    }
    return false;
}
