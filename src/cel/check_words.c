/*
 * check_words.c - comparisons of a field with what it never is; see
 * cel_env_words() and cel_env_type().
 */
#include "cel/check.h"

/* The whole name of what a checked node reads, written to the end of `out`; empty for others. */
static struct str path_of(const struct checker *c, const struct node *n, char out[DOTTED_MAX])
{
    size_t start = DOTTED_MAX;
    struct str part;

    for (;; n = n->operand) {
        if (n->kind == NODE_SLOT)
            part = env_slot_name(c->env, n->slot);
        else if (n->kind == NODE_SELECT)
            part = n->text;
        else
            return STR_NONE;
        if (part.len + 1 > start)
            return STR_NONE;
        start -= part.len;
        memcpy(out + start, part.ptr, part.len);
        if (n->kind == NODE_SLOT)
            return str_from(out + start, DOTTED_MAX - start);
        out[--start] = '.';
    }
}

static bool is_number(enum type_kind kind)
{
    return kind == TYPE_INT || kind == TYPE_UINT || kind == TYPE_DOUBLE;
}

/* Whether a field of that type can be the constant. */
static bool has_type(struct checker *c, const struct type *type, struct value v)
{
    enum type_kind kind = type_of_value(c->mem, v)->kind;

    return v.kind == VALUE_NULL || kind == type->kind || (is_number(kind) && is_number(type->kind));
}

static bool fail_type(struct checker *c, const struct node *n, const struct field_words *w)
{
    return check_fail(c, n, "'%.*s' is never of type %s, but %s", STR_ARG(w->path),
                      check_text(c, type_of_value(c->mem, n->value)),
                      is_number(w->type->kind) ? "a number" : check_text(c, w->type)) != NULL;
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

static bool fail_never(struct checker *c, const struct node *n, const struct field_words *w)
{
    struct str word = value_text(n->value), message;
    struct buf text;

    buf_init_arena(&text, c->mem);
    buf_printf(&text, "'%.*s' is never \"%.*s\", but", STR_ARG(w->path), STR_ARG(word));
    for (uint32_t i = 0; i < w->count && i < 10; i++)
        buf_printf(&text, "%s \"%.*s\"",
                   i == 0             ? ""
                   : i + 1 < w->count ? ","
                                      : " or",
                   STR_ARG(w->words[i]));
    message = check_hint(c, buf_view(&text), nearest_word(w, word));
    return check_fail(c, n, "%.*s", STR_ARG(message)) != NULL;
}

/* Whether the field may be `n`, or be ordered against it, if that is a constant. */
static bool may_be(struct checker *c, const struct field_words *w, const struct node *n,
                   bool is_order)
{
    if (n->kind != NODE_CONST)
        return true;
    if (w->type != NULL && !has_type(c, w->type, n->value))
        return fail_type(c, n, w);
    return is_order || w->count == 0 || n->value.kind != VALUE_STRING ||
           has_word(w, value_text(n->value)) || fail_never(c, n, w);
}

bool check_words(struct checker *c, const struct node *n)
{
    bool is_order = n->op != OPERATOR_EQ && n->op != OPERATOR_NE && n->op != OPERATOR_IN;
    char dotted[DOTTED_MAX];

    for (int side = 0; side < (n->op == OPERATOR_IN ? 1 : 2); side++) {
        const struct node *other = n->items[1 - side];
        struct str path = path_of(c, n->items[side], dotted);
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
