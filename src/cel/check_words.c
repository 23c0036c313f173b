/*
 * check_words.c - comparisons of a field with what it never is; see
 * cel_env_words() and cel_env_type().
 */
#include "cel/check.h"

/* Whether a field of that type can be the constant. */
static bool has_type(const struct type *type, struct value v)
{
    const struct type *own = type_of_value(v);

    return v.kind == VALUE_NULL || own->kind == type->kind ||
           (type_is_number(own) && type_is_number(type));
}

static bool fail_type(struct checker *c, const struct ast_node *n, const struct field_words *w)
{
    return check_fail(c, n, "'%.*s' is never of type %s, but %s", STR_ARG(w->path),
                      check_text(c, type_of_value(n->value)),
                      type_is_number(w->type) ? "a number" : check_text(c, w->type)) != NULL;
}

static bool has_word(const struct field_words *w, struct str word)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (str_eq(w->words[i], word))
            return true;
    return false;
}

static struct str nearest_word(const struct field_words *w, struct str word)
{
    unsigned limit = word.len < 5 ? 1 : 2;

    for (uint32_t i = 0; i < w->count && word.len > 2; i++)
        if (str_distance(word, w->words[i], limit) <= limit)
            return w->words[i];
    return STR_NONE;
}

static bool fail_never(struct checker *c, const struct ast_node *n, const struct field_words *w)
{
    enum { SAID_MAX = 10 };
    struct str word = value_text(n->value);
    struct buf first;

    buf_init_arena(&first, c->mem);
    for (uint32_t i = 0; i < w->count && i < SAID_MAX && (i == 0 || i + 1 < w->count); i++)
        buf_printf(&first, "%s\"%.*s\"", i == 0 ? "" : ", ", STR_ARG(w->words[i]));
    if (c->is_lenient)
        return true;
    if (w->count == 1 || w->count > SAID_MAX)
        (void)check_fail(c, n, "'%.*s' is never \"%.*s\", but %.*s", STR_ARG(w->path),
                         STR_ARG(word), STR_ARG(buf_view(&first)));
    else
        (void)check_fail(c, n, "'%.*s' is never \"%.*s\", but %.*s or \"%.*s\"", STR_ARG(w->path),
                         STR_ARG(word), STR_ARG(buf_view(&first)), STR_ARG(w->words[w->count - 1]));
    check_hint(c->err, nearest_word(w, word));
    return false;
}

/* Whether the field may be `n`, or be ordered against it, if that is a constant. */
static bool may_be(struct checker *c, const struct field_words *w, const struct ast_node *n,
                   bool is_order)
{
    if (n->kind != NODE_CONST)
        return true;
    if (w->type != NULL && !has_type(w->type, n->value))
        return fail_type(c, n, w);
    return is_order || w->count == 0 || n->value.kind != VALUE_STRING ||
           has_word(w, value_text(n->value)) || fail_never(c, n, w);
}

bool check_words(struct checker *c, const struct ast_node *n)
{
    bool is_order = n->op != OPERATOR_EQ && n->op != OPERATOR_NE && n->op != OPERATOR_IN;
    char dotted[DOTTED_MAX];

    for (int side = 0; side < (n->op == OPERATOR_IN ? 1 : 2); side++) {
        const struct ast_node *other = n->items[1 - side];
        struct str path = check_path(c, n->items[side], dotted);
        const struct field_words *w = path.len > 0 ? env_words(c->env, path) : NULL;

        if (w == NULL)
            continue;
        if (n->op != OPERATOR_IN)
            return may_be(c, w, other, is_order);
        for (uint32_t i = 0; other->kind == NODE_LIST && i < other->count; i++)
            if (!may_be(c, w, other->items[i], false))
                return false;
    }
    return true;
}
