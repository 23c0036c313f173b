/* templates.c - what a template makes of data, shown before anyone is sent it. */
#include "api/api.h"
#include "api/definitions/definitions.h"
#include "define/template.h"
#include "store/read_definition.h"
#include "value/json.h"
#include "value/object.h"

struct preview_args {
    struct value data;
    struct value text; /* that is not saved yet; or absent: the one that is */
    int64_t now_us;
};

static struct value text_or_null(struct str text)
{
    return text.len > 0 ? value_string(text) : value_null();
}

/* The caller stands for the one who has started an execution. */
static struct value caller(struct arena *mem, const struct node_user *user)
{
    return value_map_of(mem, VALUE_ENTRIES({value_key(STR("id")), text_or_null(user->id)},
                                           {value_key(STR("name")), text_or_null(user->name)},
                                           {value_key(STR("email")), text_or_null(user->email)},
                                           {value_key(STR("role")), text_or_null(user->role)}));
}

/* There is no execution: an example of one. */
static struct value example_execution(struct arena *mem, int64_t now_us)
{
    struct value id = value_string(STR("00000000-0000-7000-8000-000000000000"));
    struct value now = value_timestamp(now_us / 1000000, (uint32_t)(now_us % 1000000) * 1000);

    return value_map_of(mem, VALUE_ENTRIES({value_key(STR("id")), id},
                                           {value_key(STR("code")), value_string(STR("preview"))},
                                           {value_key(STR("version")), value_int(1)},
                                           {value_key(STR("key")), value_null()},
                                           {value_key(STR("startedAt")), now}));
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

    if (!definitions_config(reader, q->mem, &roots[TEMPLATE_CONFIG], err))
        return false;
    if (!template_render(q->mem, t, roots, args->now_us, texts, &q->findings))
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(q->findings.items[0].message));
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

/* Findings about a text of the request point into the request. */
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
             ? err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(q->findings.items[0].message))
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
    const struct body_field fields[] = {{"data", BODY_ANY, false, .out = &args->data},
                                        {"template", BODY_ANY, false, .out = &args->text}};

    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (args->data.kind == VALUE_ABSENT || args->data.kind == VALUE_NULL)
        args->data = value_map_empty();
    args->now_us = api_now_us(c->api);
    lookup_start(c, args, run_preview, NULL);
}
