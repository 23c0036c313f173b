/* templates.c - what a template makes of data, shown before anyone is sent it. */
#include "api/api.h"
#include "api/definitions.h"
#include "define/template.h"
#include "value/json.h"
#include "value/object.h"

struct preview_args {
    struct value data;
    struct value text; /* that is not saved yet; or absent: the one that is */
    int64_t now_us;
};

/* {name: value} of the config. */
static bool read_config(struct reader *reader, struct arena *mem, struct value *out,
                        struct err *err)
{
    struct stored_definitions all;
    struct value_entry *entries;
    size_t duplicate;

    if (!read_published(reader, mem, STR("config"), &all, err))
        return false;
    entries = ARENA_ARRAY(mem, all.count + 1, struct value_entry);
    for (size_t i = 0; i < all.count; i++) {
        entries[i].key = value_key(all.items[i].code);
        if (!json_read(mem, all.items[i].text, &entries[i].value, err))
            return false;
    }
    *out = value_map_make(mem, entries, all.count, &duplicate);
    return true;
}

static struct value text_or_null(struct str text)
{
    return text.len > 0 ? value_string(text) : value_null();
}

/* The caller stands for the one who has started an execution. */
static struct value caller(struct arena *mem, const struct node_user *user)
{
    struct value_entry *e = ARENA_ARRAY(mem, 4, struct value_entry);
    size_t duplicate;

    e[0] = (struct value_entry){value_key(STR("id")), text_or_null(user->id)};
    e[1] = (struct value_entry){value_key(STR("name")), text_or_null(user->name)};
    e[2] = (struct value_entry){value_key(STR("email")), text_or_null(user->email)};
    e[3] = (struct value_entry){value_key(STR("role")), text_or_null(user->role)};
    return value_map_make(mem, e, 4, &duplicate);
}

/* No execution is under way: an example of one. */
static struct value example_execution(struct arena *mem, int64_t now_us)
{
    struct value_entry *e = ARENA_ARRAY(mem, 5, struct value_entry);
    size_t duplicate;

    e[0] = (struct value_entry){value_key(STR("id")),
                                value_string(STR("00000000-0000-7000-8000-000000000000"))};
    e[1] = (struct value_entry){value_key(STR("code")), value_string(STR("preview"))};
    e[2] = (struct value_entry){value_key(STR("version")), value_int(1)};
    e[3] = (struct value_entry){value_key(STR("key")), value_null()};
    e[4] = (struct value_entry){
        value_key(STR("startedAt")),
        value_timestamp(now_us / 1000000, (uint32_t)(now_us % 1000000) * 1000)};
    return value_map_make(mem, e, 5, &duplicate);
}

static bool render(struct lookup *q, struct reader *reader, const struct template *t,
                   struct err *err)
{
    const struct preview_args *args = q->args;
    struct str texts[TEMPLATE_PART_COUNT];
    struct value roots[TEMPLATE_ROOT_COUNT] = {
        [TEMPLATE_DATA] = args->data,
        [TEMPLATE_USER] = caller(q->mem, &q->call->user),
        [TEMPLATE_EXECUTION] = example_execution(q->mem, args->now_us),
    };

    if (!read_config(reader, q->mem, &roots[TEMPLATE_CONFIG], err))
        return false;
    if (!template_render(q->mem, t, roots, args->now_us, texts, &q->findings))
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(q->findings.items[0].message));
    buf_char(&q->answer, '{');
    for (unsigned i = 0; i < TEMPLATE_PART_COUNT; i++) {
        object_name(&q->answer, i == TEMPLATE_SUBJECT ? "subject"
                                : i == TEMPLATE_BODY  ? "body"
                                                      : "html");
        if (t->parts[i] == NULL)
            buf_text(&q->answer, "null");
        else
            json_write_string(&q->answer, texts[i]);
    }
    buf_char(&q->answer, '}');
    return true;
}

static bool read_saved(struct lookup *q, struct reader *reader, struct value *out, struct err *err)
{
    struct stored_definition d;
    bool found;

    if (!read_definition(reader, q->mem, STR("template"), q->call->params[0], -1, &d, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no template of this code");
    return json_read(q->mem, d.text, out, err);
}

/* What is wrong with a text that came with the request is told at its place in the request. */
static void point_into_request(struct lookup *q)
{
    for (size_t i = 0; i < q->findings.count; i++) {
        struct finding *f = &q->findings.items[i];

        f->pointer = str_printf(q->mem, "/template%.*s", STR_ARG(f->pointer));
    }
}

static bool run_preview(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct preview_args *args = q->args;
    struct template t;
    struct world w;
    struct value v = args->text;
    bool ok;

    if (v.kind == VALUE_ABSENT && !read_saved(q, reader, &v, err))
        return false;
    if (!definitions_world(reader, q->mem, &w, err))
        return false;
    world_open(&w);
    template_compile(q->mem, w.templates, v, &q->findings, &t);
    ok = findings_have_errors(&q->findings)
             ? err_set(err, ERR_INVALID, "%.*s", STR_ARG(q->findings.items[0].message))
             : render(q, reader, &t, err);
    template_release(&t);
    world_close(&w);
    if (args->text.kind != VALUE_ABSENT)
        point_into_request(q);
    return ok;
}

void templates_preview(struct call *c)
{
    struct preview_args *args = ARENA_NEW(c->mem, struct preview_args);
    const struct body_field fields[] = {{"data", BODY_ANY, false, &args->data},
                                        {"template", BODY_ANY, false, &args->text}};

    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (args->data.kind == VALUE_ABSENT || args->data.kind == VALUE_NULL)
        args->data = value_map_empty();
    args->now_us = api_now_us(c->api);
    lookup_start(c, args, run_preview, NULL);
}
