/*
 * check_facts.c - what an environment knows of fields beyond their names: types
 * of those that are there, members of results, and what may be missing. See
 * cel_env_presence(), cel_env_shape() and cel_env_pending().
 *
 * What may be missing is fine where the expression asks for it first:
 *
 *     has(input.coupon) && input.coupon == "X"
 *     steps.pay == null ? 0 : steps.pay.amount
 *
 * Such a question is a guard: the name of what is there when it is answered.
 */
#include "base/text/nearest.h"
#include "cel/check.h"

enum { NOTES_MAX = 8 };

struct str check_path(const struct checker *c, const struct ast_node *n, char out[DOTTED_MAX])
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

/* --- guards --- */

static bool is_null(const struct ast_node *n)
{
    return n->kind == NODE_CONST && n->value.kind == VALUE_NULL;
}

/* The name of `n`, and of a key in it if there is one, is there. */
static void add_guard(const struct checker *c, const struct ast_node *n, struct str key,
                      struct guards *out)
{
    char dotted[DOTTED_MAX];
    const struct ast_node *first;
    struct str name;

    if (n->kind != NODE_NAME && n->kind != NODE_SELECT && n->kind != NODE_HAS)
        return;
    name = check_dotted_name(n, dotted, &first);
    if (name.len == 0 ||
        (first->kind == NODE_NAME && !first->is_absolute && check_local(c, first->text) != NULL))
        return;
    *VEC_ADD(c->mem, out) = key.len == 0
                                ? str_copy(c->mem, name)
                                : str_printf(c->mem, "%.*s.%.*s", STR_ARG(name), STR_ARG(key));
}

static void operator_guards(const struct checker *c, const struct ast_node *n, bool outcome,
                            struct guards *out)
{
    const struct ast_node *left = n->items[0], *right = n->count > 1 ? n->items[1] : NULL;

    if (n->op == OPERATOR_NOT)
        check_guards(c, left, !outcome, out);
    else if ((n->op == OPERATOR_NE && outcome) || (n->op == OPERATOR_EQ && !outcome)) {
        if (is_null(right))
            add_guard(c, left, STR_NONE, out);
        else if (is_null(left))
            add_guard(c, right, STR_NONE, out);
    } else if (n->op == OPERATOR_IN && outcome && left->kind == NODE_CONST &&
               left->value.kind == VALUE_STRING && value_text(left->value).len > 0)
        add_guard(c, right, value_text(left->value), out);
}

void check_guards(const struct checker *c, const struct ast_node *n, bool outcome,
                  struct guards *out)
{
    if (n->kind == NODE_HAS && outcome)
        add_guard(c, n, STR_NONE, out);
    else if (n->kind == (outcome ? NODE_AND : NODE_OR))
        for (uint32_t i = 0; i < n->count; i++)
            check_guards(c, n->items[i], outcome, out);
    else if (n->kind == NODE_OPERATOR)
        operator_guards(c, n, outcome, out);
}

/* Whether one of them says that `name` is there: by itself, or by something in it. */
static bool has_guard(const struct guards *guards, struct str name)
{
    for (size_t i = 0; i < guards->count; i++) {
        struct str guard = guards->items[i];
        if (str_starts_with(guard, name) && (guard.len == name.len || guard.ptr[name.len] == '.'))
            return true;
    }
    return false;
}

static bool is_guarded(const struct checker *c, struct str name)
{
    if (has_guard(&c->guards, name))
        return true;
    for (const struct cel_env *env = c->env; env != NULL; env = env->parent)
        if (has_guard(&env->guards, name))
            return true;
    return false;
}

/* --- notes --- */

/* A note at `n` that says what `err` says, once for each message. */
static void check_note(struct checker *c, const struct ast_node *n, enum cel_note_kind kind,
                       struct str name, const struct err *err)
{
    struct cel_note note = {.kind = kind, .name = str_copy(c->mem, name), .err = *err};

    for (size_t i = 0; i < c->notes.count; i++)
        if (strcmp(c->notes.items[i].err.message, err->message) == 0)
            return;
    if (c->notes.count == NOTES_MAX)
        return;
    cel_place(c->source, n->offset, &note.err.line, &note.err.column);
    *VEC_ADD(c->mem, &c->notes) = note;
}

/* Add "; it has total and tax", unless it has too many to say. */
static void say_members(struct checker *c, const struct shape *shape, struct err *err)
{
    enum { SAID_MAX = 12 };
    struct buf first;

    if (shape->count == 0 || shape->count > SAID_MAX)
        return;
    buf_init_arena(&first, c->mem);
    for (uint32_t i = 0; i + 1 < shape->count; i++)
        buf_printf(&first, "%s%.*s", i == 0 ? "" : ", ", STR_ARG(shape->members[i].name));
    if (first.len == 0)
        (void)err_set(err, err->code, "%pS; it has %.*s", ERR_ARG(err),
                      STR_ARG(shape->members[0].name));
    else
        (void)err_set(err, err->code, "%pS; it has %.*s and %.*s", ERR_ARG(err),
                      STR_ARG(buf_view(&first)), STR_ARG(shape->members[shape->count - 1].name));
}

static void note_member(struct checker *c, const struct ast_node *n, const struct variable *v)
{
    struct nearest near = nearest_to(n->text);
    struct err err;

    for (uint32_t i = 0; i < v->shape->count; i++)
        nearest_offer(&near, v->shape->members[i].name);
    (void)err_set(&err, ERR_EXPRESSION_TYPE, "'%.*s' has no field '%.*s'", STR_ARG(v->name),
                  STR_ARG(n->text));
    if (near.best.len == 0)
        say_members(c, v->shape, &err);
    check_hint(&err, near.best);
    check_note(c, n, CEL_NOTE_MEMBER, v->name, &err);
}

static void note_missing(struct checker *c, const struct ast_node *n, struct str path)
{
    struct str above = str_slice(path, 0, path.len - n->text.len - 1);
    struct err err;

    (void)err_set(&err, ERR_EXPRESSION_TYPE,
                  "'%.*s' may be missing, which would fail: ask has(%.*s) first, or write "
                  "%.*s.?%.*s.orValue(...)",
                  STR_ARG(path), STR_ARG(path), STR_ARG(above), STR_ARG(n->text));
    check_note(c, n, CEL_NOTE_MISSING, path, &err);
}

static void note_pending(struct checker *c, const struct ast_node *n, const struct variable *v)
{
    struct err err;

    (void)err_set(&err, ERR_EXPRESSION_TYPE, "'%.*s' is null here, and null has no fields",
                  STR_ARG(v->name));
    check_note(c, n, CEL_NOTE_PENDING, v->name, &err);
}

bool cel_find_dollar(struct str text, struct str *inner)
{
    int64_t start = str_find(text, STR("${"), 0), end;

    end = start < 0 ? -1 : str_find(text, STR("}"), (size_t)start);
    if (end <= start + 2)
        return false;
    *inner = str_trim(str_slice(text, (size_t)start + 2, (size_t)end));
    return inner->len > 0 && inner->len <= 60 && str_find(*inner, STR("{"), 0) < 0;
}

void check_dollar(struct checker *c, const struct ast_node *n, bool is_template)
{
    struct str inner;
    struct err err;

    if (c->facts == CEL_FACTS_NONE || c->env->mode != CEL_DEFINITION ||
        n->value.kind != VALUE_STRING || !cel_find_dollar(value_text(n->value), &inner))
        return;
    if (is_template)
        (void)err_set(&err, ERR_EXPRESSION_TYPE,
                      "${%.*s} in a text is nothing but that text: write {{ %.*s }}",
                      STR_ARG(inner), STR_ARG(inner));
    else
        (void)err_set(&err, ERR_EXPRESSION_TYPE,
                      "${%.*s} in a text is nothing but that text: write \"...\" + string(%.*s)",
                      STR_ARG(inner), STR_ARG(inner));
    check_note(c, n, CEL_NOTE_DOLLAR, STR_NONE, &err);
}

/* --- types --- */

const struct type *check_known_variable(const struct checker *c, const struct variable *v)
{
    bool is_known = c->facts == CEL_FACTS_LIKELY && v->shape != NULL && v->shape->type != NULL &&
                    v->type->kind == TYPE_DYN;

    return is_known ? v->shape->type : v->type;
}

/* A field of a variable as a whole. */
static const struct type *member_type(struct checker *c, const struct ast_node *n, struct str path)
{
    const struct variable *v = env_variable(c->env, env_slot_name(c->env, n->operand->slot));
    const struct shape_member *m;

    if (v == NULL)
        return NULL;
    if (v->is_pending && !is_guarded(c, v->name))
        note_pending(c, n, v);
    if (v->shape == NULL)
        return NULL;
    m = shape_member(v->shape, n->text);
    if (m == NULL && v->shape->is_closed && !is_guarded(c, path))
        note_member(c, n, v);
    return m != NULL && c->facts == CEL_FACTS_LIKELY ? m->type : NULL;
}

const struct type *check_known_field(struct checker *c, const struct ast_node *n,
                                     const struct type *t)
{
    const struct type *known = NULL;
    const struct field_words *w;
    char dotted[DOTTED_MAX];
    struct str path = check_path(c, n, dotted);

    if (path.len == 0)
        return t;
    w = env_words(c->env, path);
    if (w != NULL && w->presence == CEL_PRESENCE_OPTIONAL && !is_guarded(c, path))
        note_missing(c, n, path);
    if (w != NULL && w->presence == CEL_PRESENCE_CERTAIN)
        known = w->type;
    else if (n->operand->kind == NODE_SLOT)
        known = member_type(c, n, path);
    return known != NULL && t->kind == TYPE_DYN ? known : t;
}
