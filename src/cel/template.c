/*
 * template.c - text with expressions in it: "Order {{ input.id }}".
 *
 * A template that is one expression and nothing else has that expression's
 * value; any other is text. The end of an expression is found by parsing it,
 * so a "}}" inside a string or a map does not end it. Results are not expanded
 * again.
 */
#include "base/vec.h"
#include "cel/program.h"
#include "cel/syntax/parse.h"
#include "value/json.h"

/* --- reading --- */

/* Literal text up to the next "{{", in which "{{{{" stands for "{{". */
static struct str literal_part(struct parser *p)
{
    struct str source = p->lex.source;
    struct buf text;

    buf_init_arena(&text, p->keep);
    while (p->lex.pos < source.len) {
        struct str rest = str_slice(source, p->lex.pos, source.len);
        if (str_starts_with(rest, STR("{{{{"))) {
            buf_str(&text, STR("{{"));
            p->lex.pos += 4;
        } else if (str_starts_with(rest, STR("{{"))) {
            break;
        } else {
            buf_char(&text, rest.ptr[0]);
            p->lex.pos++;
        }
    }
    return buf_view(&text);
}

/* The part as a call that makes it text without a meaning in HTML. */
static struct ast_node *escaped(struct parser *p, struct ast_node *part)
{
    struct ast_node **items = ARENA_ARRAY(p->mem, 1, struct ast_node *);
    struct ast_node *call;

    items[0] = part;
    call = node_items(p->mem, NODE_CALL, part->offset, items, 1);
    call->text = STR("@html");
    return call;
}

struct parts {
    VEC_OF(struct ast_node *);
    struct {
        VEC_OF(char);
    } kinds; /* enum url_part of each: TEXT or VALUE */
};

static void add_part(struct parser *p, struct parts *parts, struct ast_node *n, enum url_part kind)
{
    *VEC_ADD(p->mem, parts) = n;
    *VEC_ADD(p->mem, &parts->kinds) = (char)kind;
}

static bool parse_parts(struct parser *p, struct parts *parts, bool escapes)
{
    while (p->lex.pos < p->lex.source.len) {
        uint32_t offset = p->lex.pos;
        struct str text = literal_part(p);
        struct ast_node *n;

        if (text.len > 0)
            add_part(p, parts, node_const(p->mem, offset, value_string(text)), URL_PART_TEXT);
        if (p->lex.pos >= p->lex.source.len)
            break;
        p->lex.pos += 2;
        n = parse_template_part(p);
        if (n == NULL)
            return false;
        add_part(p, parts, escapes ? escaped(p, n) : n, URL_PART_VALUE);
    }
    return true;
}

struct ast_node *parse_template(struct parser *p)
{
    struct parts parts = {0};

    if (!parse_parts(p, &parts, false))
        return NULL;
    if (parts.count == 0)
        return node_const(p->mem, 0, value_string(STR("")));
    if (parts.count == 1)
        return parts.items[0];
    return node_items(p->mem, NODE_JOIN, 0, parts.items, (uint32_t)parts.count);
}

static struct ast_node *parse_joined(struct parser *p, bool escapes)
{
    struct parts parts = {0};

    if (!parse_parts(p, &parts, escapes))
        return NULL;
    return node_items(p->mem, NODE_JOIN, 0, parts.items, (uint32_t)parts.count);
}

struct ast_node *parse_text(struct parser *p)
{
    return parse_joined(p, false);
}

struct ast_node *parse_html(struct parser *p)
{
    return parse_joined(p, true);
}

/* --- reading a URL --- */

/* Whether it is a call of url.raw(). */
static bool is_raw_call(const struct ast_node *n)
{
    return n->kind == NODE_CALL && n->is_member && n->count == 2 && str_eq(n->text, STR("raw")) &&
           n->items[0]->kind == NODE_NAME && str_eq(n->items[0]->text, STR("url"));
}

/* A call of url.raw() in a tree, or NULL. */
static const struct ast_node *find_raw_call(const struct ast_node *n)
{
    const struct ast_node *found = NULL;

    if (is_raw_call(n))
        return n;
    if (n->kind == NODE_SELECT || n->kind == NODE_HAS || n->kind == NODE_OPTIONAL_SELECT)
        return find_raw_call(n->operand);
    if (n->kind == NODE_FOLD) {
        found = find_raw_call(n->fold->range);
        if (found == NULL && n->fold->filter != NULL)
            found = find_raw_call(n->fold->filter);
        return found != NULL ? found : find_raw_call(n->fold->body);
    }
    for (uint32_t i = 0; i < n->count && found == NULL; i++)
        found = find_raw_call(n->items[i]);
    return found;
}

/*
 * The parts of a URL joined. In a path alone no value is taken as it is because
 * it stands at the beginning.
 */
static struct ast_node *join_url(struct parser *p, struct parts *parts, bool is_path)
{
    struct ast_node *joined;

    for (size_t i = 0; i < parts->count; i++) {
        const struct ast_node *raw = find_raw_call(parts->items[i]);

        if (parts->kinds.items[i] == URL_PART_TEXT)
            continue;
        if (raw == parts->items[i] || (i == 0 && !is_path))
            parts->kinds.items[i] = URL_PART_RAW;
        else if (raw != NULL)
            return parse_fail(p, raw->offset,
                              "url.raw() stands alone between {{ and }}: what is made of it is "
                              "encoded");
    }
    joined = node_items(p->mem, NODE_JOIN, 0, parts->items, (uint32_t)parts->count);
    joined->text = str_from(parts->kinds.items, parts->count);
    joined->is_path = is_path;
    return joined;
}

struct ast_node *parse_url(struct parser *p)
{
    struct parts parts = {0};

    if (!parse_parts(p, &parts, false))
        return NULL;
    return parts.count == 1 ? parts.items[0] : join_url(p, &parts, false);
}

struct ast_node *parse_path(struct parser *p)
{
    struct parts parts = {0};

    return parse_parts(p, &parts, false) ? join_url(p, &parts, true) : NULL;
}

struct ast_node *parse_whole_path(struct parser *p)
{
    struct ast_node *whole = parse_whole(p);
    struct parts parts = {0};

    if (whole == NULL)
        return NULL;
    add_part(p, &parts, whole, URL_PART_VALUE);
    return join_url(p, &parts, true);
}

/* --- evaluating --- */

/* Strings as they are, scalars as string() has them, the rest as JSON. */
struct value operate_text(struct cel_eval *ev, struct value v)
{
    struct err err;
    struct buf json;

    if (v.kind == VALUE_OPTIONAL && v.inner != NULL)
        v = *v.inner;
    if (v.kind == VALUE_NULL || v.kind == VALUE_OPTIONAL)
        return cel_fail(ev, "this part of the template is missing or null");
    if (v.kind != VALUE_LIST && v.kind != VALUE_MAP) {
        ev->function = "string";
        return cel_fn_string(ev, &v);
    }
    buf_init_arena(&json, ev->mem);
    json.limit = ev->mem_left / 2;
    if (!json_write(&json, v, &err))
        return err.code == ERR_TOO_LARGE ? cel_over_memory(ev) : cel_fail(ev, "%pS", ERR_ARG(&err));
    ev->mem_left -= json.len * 2 < ev->mem_left ? json.len * 2 : ev->mem_left;
    return cel_charge_bytes(ev, json.len) ? value_string(buf_view(&json)) : cel_over_cost(ev);
}

struct value operate_join(struct cel_eval *ev, const struct value *items, uint32_t count)
{
    size_t len = 0;
    char *joined, *to;

    for (uint32_t i = 0; i < count; i++)
        len += items[i].len;
    if (!cel_charge_bytes(ev, len))
        return cel_over_cost(ev);
    joined = len > VALUE_LEN_MAX ? NULL : cel_alloc(ev, len + 1);
    if (joined == NULL)
        return cel_over_memory(ev);
    to = joined;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to, items[i].text, items[i].len);
        to += items[i].len;
    }
    return value_string(str_from(joined, len));
}
