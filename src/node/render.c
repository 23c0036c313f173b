/* render.c - see render.h. */
#include "node/render.h"

#include "define/template.h"
#include "define/world.h"
#include "engine/commit/reads.h"
#include "store/read_definition.h"
#include "value/json.h"

/* {code, message, class} */
static struct value render_error(struct arena *mem, const char *code, struct str message)
{
    struct value_entry *e = ARENA_ARRAY(mem, 3, struct value_entry);

    e[0] = (struct value_entry){value_key(STR("code")), value_string(str_of(code))};
    e[1] = (struct value_entry){value_key(STR("message")), value_string(message)};
    e[2] = (struct value_entry){value_key(STR("class")),
                                value_string(str_of(err_class_name(ERR_CLASS_BUSINESS)))};
    return value_map_take(mem, e, 3);
}

/* The functions that templates may use. */
static bool render_functions(struct reader *reader, struct arena *mem, struct world *out,
                             struct err *err)
{
    struct stored_definitions functions;

    *out = (struct world){.mem = mem};
    if (!read_published(reader, mem, STR("function"), &functions, err))
        return false;
    for (size_t i = 0; i < functions.count; i++) {
        struct value v;

        if (!json_read(mem, functions.items[i].text, &v, err))
            return false;
        world_add_function(out, functions.items[i].code, v);
    }
    return true;
}

static void render_in(struct world *w, struct value definition, const struct render_read *need,
                      struct render_read *out)
{
    const struct value roots[TEMPLATE_ROOT_COUNT] = {
        [TEMPLATE_DATA] = need->data,
        [TEMPLATE_USER] = need->user,
        [TEMPLATE_EXECUTION] = need->execution,
        [TEMPLATE_CONFIG] = need->config,
    };
    struct str texts[TEMPLATE_PART_COUNT];
    struct findings findings = {0};
    struct template t;

    world_open(w);
    template_compile(w->mem, w->templates, definition, &findings, &t);
    if (findings_have_errors(&findings) ||
        !template_render(w->mem, &t, roots, need->now_us, texts, &findings)) {
        out->error =
            render_error(w->mem, "expression_template",
                         str_printf(w->mem, "the template '%.*s': %.*s", STR_ARG(need->code),
                                    STR_ARG(findings.items[0].message.text)));
    } else {
        out->subject = texts[TEMPLATE_SUBJECT];
        out->body = texts[TEMPLATE_BODY];
        out->html = texts[TEMPLATE_HTML];
    }
    template_release(&t);
    world_close(w);
}

bool render_template(struct reader *reader, struct arena *mem, const struct render_read *need,
                     struct render_read *out, struct err *err)
{
    struct stored_definition d;
    struct world w;
    struct value v;
    bool found;

    *out = *need;
    if (!read_definition(reader, mem, STR("template"), need->code, -1, &d, &found, err))
        return false;
    if (!found) {
        out->error =
            render_error(mem, "not_found_template",
                         str_printf(mem, "there is no template '%.*s'", STR_ARG(need->code)));
        return true;
    }
    if (!json_read(mem, d.text, &v, err) || !render_functions(reader, mem, &w, err))
        return false;
    render_in(&w, v, need, out);
    return true;
}
