/* check_operator.c - what operators take and answer; see check.h. */
#include "cel/check.h"

struct operator_rule {
    uint8_t operator;
    uint8_t left, right, result;
    bool only_definition;
};

/* Rows for operands that are not lists, maps or optionals; one operand: right is DYN. */
static const struct operator_rule rules[] = {
#define SAME(op, kind)                                                                             \
    {                                                                                              \
        OPERATOR_##op, TYPE_##kind, TYPE_##kind, TYPE_##kind, false                                \
    }
#define MIXED(op)                                                                                  \
    {OPERATOR_##op, TYPE_INT, TYPE_DOUBLE, TYPE_DOUBLE, true},                                     \
    {                                                                                              \
        OPERATOR_##op, TYPE_DOUBLE, TYPE_INT, TYPE_DOUBLE, true                                    \
    }
    {OPERATOR_NOT, TYPE_BOOL, TYPE_DYN, TYPE_BOOL, false},
    {OPERATOR_NEGATE, TYPE_INT, TYPE_DYN, TYPE_INT, false},
    {OPERATOR_NEGATE, TYPE_DOUBLE, TYPE_DYN, TYPE_DOUBLE, false},
    {OPERATOR_NEGATE, TYPE_DURATION, TYPE_DYN, TYPE_DURATION, false},
    SAME(ADD, INT),
    SAME(ADD, UINT),
    SAME(ADD, DOUBLE),
    SAME(ADD, STRING),
    SAME(ADD, BYTES),
    SAME(ADD, DURATION),
    {OPERATOR_ADD, TYPE_TIMESTAMP, TYPE_DURATION, TYPE_TIMESTAMP, false},
    {OPERATOR_ADD, TYPE_DURATION, TYPE_TIMESTAMP, TYPE_TIMESTAMP, false},
    MIXED(ADD),
    SAME(SUBTRACT, INT),
    SAME(SUBTRACT, UINT),
    SAME(SUBTRACT, DOUBLE),
    SAME(SUBTRACT, DURATION),
    {OPERATOR_SUBTRACT, TYPE_TIMESTAMP, TYPE_DURATION, TYPE_TIMESTAMP, false},
    {OPERATOR_SUBTRACT, TYPE_TIMESTAMP, TYPE_TIMESTAMP, TYPE_DURATION, false},
    MIXED(SUBTRACT),
    SAME(MULTIPLY, INT),
    SAME(MULTIPLY, UINT),
    SAME(MULTIPLY, DOUBLE),
    MIXED(MULTIPLY),
    SAME(DIVIDE, INT),
    SAME(DIVIDE, UINT),
    SAME(DIVIDE, DOUBLE),
    MIXED(DIVIDE),
    SAME(MODULO, INT),
    SAME(MODULO, UINT),
#undef SAME
#undef MIXED
};

static bool is_open(const struct type *t)
{
    return t->kind == TYPE_DYN || t->kind == TYPE_VARIABLE;
}

static bool is_ordering(unsigned op)
{
    return op == OPERATOR_LT || op == OPERATOR_LE || op == OPERATOR_GT || op == OPERATOR_GE;
}

/* 1 < x < 5, which other languages have. */
static bool is_chained_comparison(const struct ast_node *n)
{
    const struct ast_node *left = n->items[0];

    return is_ordering(n->op) && left->kind == NODE_OPERATOR && is_ordering(left->op);
}

/* The function that makes a `wanted` of a text; NULL: there is none. */
static const char *reader_of(const struct type *wanted)
{
    if (wanted->kind == TYPE_DOUBLE || wanted->kind == TYPE_NUMBER)
        return "double";
    if (wanted->kind == TYPE_INT || wanted->kind == TYPE_UINT)
        return "int";
    return wanted->kind == TYPE_TIMESTAMP  ? "timestamp"
           : wanted->kind == TYPE_DURATION ? "duration"
                                           : NULL;
}

/* What to write so that the operands fit: "string(input.days)". Empty: nobody knows. */
static struct str conversion(struct checker *c, const struct ast_node *n, const struct type *a,
                             const struct type *b)
{
    int text = a->kind == TYPE_STRING ? 0 : b->kind == TYPE_STRING ? 1 : -1;
    const struct type *other = text == 0 ? b : a;
    const char *function = text < 0 ? NULL : reader_of(other);
    char dotted[DOTTED_MAX];
    struct str path;

    if (text < 0 || n->count < 2)
        return STR_NONE;
    if (n->op == OPERATOR_ADD && (type_is_number(other) || other->kind == TYPE_BOOL)) {
        function = "string";
        text = 1 - text;
    }
    path = check_path(c, n->items[text], dotted);
    if (function == NULL || path.len == 0)
        return STR_NONE;
    return str_printf(c->mem, "%s(%.*s)", function, STR_ARG(path));
}

static const struct type *fail_operands(struct checker *c, const struct ast_node *n,
                                        const struct type *a, const struct type *b)
{
    const char *op = operator_text((enum operator)n->op);
    struct str advice = conversion(c, n, a, b);

    if (n->count == 1)
        return check_fail(c, n, "no such overload: '%s' does not work on %s", op, check_text(c, a));
    if (advice.len > 0)
        return check_fail(c, n, "no such overload: '%s' does not work on %s and %s; write %.*s", op,
                          check_text(c, a), check_text(c, b), STR_ARG(advice));
    if (n->op == OPERATOR_ADD && (a->kind == TYPE_STRING || b->kind == TYPE_STRING))
        return check_fail(c, n,
                          "no such overload: '+' does not work on %s and %s; string(x) makes text "
                          "of a value",
                          check_text(c, a), check_text(c, b));
    if (is_chained_comparison(n))
        return check_fail(c, n, "comparisons do not chain: write 1 < x && x < 5, not 1 < x < 5");
    return check_fail(c, n, "no such overload: '%s' does not work on %s and %s", op,
                      check_text(c, a), check_text(c, b));
}

/* Whether a value of that type may be of the kind that a rule wants. */
static bool may_be_kind(const struct type *t, uint8_t kind)
{
    return is_open(t) || t->kind == kind ||
           (t->kind == TYPE_NUMBER && (kind == TYPE_INT || kind == TYPE_DOUBLE));
}

static const struct type *check_rules(struct checker *c, const struct ast_node *n,
                                      const struct type *a, const struct type *b)
{
    const struct type *result = NULL;

    if (n->op == OPERATOR_ADD && (a->kind == TYPE_LIST || b->kind == TYPE_LIST)) {
        result = infer_join(&c->infer, a, b);
        return result != NULL ? result : fail_operands(c, n, a, b);
    }
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        const struct operator_rule *r = &rules[i];
        if (r->operator!= n->op ||(r->only_definition && c->env->mode != CEL_DEFINITION))
            continue;
        if (!may_be_kind(a, r->left) || !may_be_kind(b, r->right))
            continue;
        if (result == NULL)
            result = type_basic((enum type_kind)r->result);
        else if (result->kind != r->result)
            result = type_basic(type_is_number(result) &&
                                        (a->kind == TYPE_NUMBER || b->kind == TYPE_NUMBER)
                                    ? TYPE_NUMBER
                                    : TYPE_DYN);
        if (result->kind == TYPE_DYN)
            break;
    }
    return result != NULL ? result : fail_operands(c, n, a, b);
}

static const struct type *check_order(struct checker *c, const struct ast_node *n,
                                      const struct type *a, const struct type *b)
{
    const struct type *known = is_open(a) ? b : a;

    if (!is_open(known) && !type_is_number(known) && known->kind != TYPE_BOOL &&
        known->kind != TYPE_STRING && known->kind != TYPE_BYTES && known->kind != TYPE_TIMESTAMP &&
        known->kind != TYPE_DURATION)
        return fail_operands(c, n, a, b);
    if (!is_open(a) && !is_open(b) && a->kind != b->kind &&
        !(type_is_number(a) && type_is_number(b)))
        return fail_operands(c, n, a, b);
    return type_basic(TYPE_BOOL);
}

/* A field whose type is only known from facts is compared with null, which harms nobody. */
static bool may_be_null(const struct checker *c, const struct ast_node *n, const struct type *other)
{
    const struct variable *v = NULL;

    if (c->facts == CEL_FACTS_NONE || other->kind != TYPE_NULL)
        return false;
    if (n->kind == NODE_SLOT)
        v = env_variable(c->env, env_slot_name(c->env, n->slot));
    return n->kind == NODE_SELECT || (v != NULL && v->type->kind == TYPE_DYN);
}

static const struct type *check_equality(struct checker *c, const struct ast_node *n,
                                         const struct type *a, const struct type *b)
{
    bool mixed = c->env->mode == CEL_DEFINITION && type_is_number(a) && type_is_number(b);

    if (may_be_null(c, n->items[0], b) || may_be_null(c, n->items[1], a))
        return type_basic(TYPE_BOOL);
    if (!mixed && !infer_assignable(&c->infer, a, b) && !infer_assignable(&c->infer, b, a))
        return fail_operands(c, n, a, b);
    return type_basic(TYPE_BOOL);
}

static const struct type *check_in(struct checker *c, const struct ast_node *n,
                                   const struct type *a, const struct type *b)
{
    bool mixed;

    if (is_open(b))
        return type_basic(TYPE_BOOL);
    if (b->kind != TYPE_LIST && b->kind != TYPE_MAP)
        return fail_operands(c, n, a, b);
    mixed = c->env->mode == CEL_DEFINITION && type_is_number(a) &&
            type_is_number(infer_resolve(&c->infer, b->params[0]));
    if (!mixed && !infer_assignable(&c->infer, a, b->params[0]))
        return fail_operands(c, n, a, b);
    return type_basic(TYPE_BOOL);
}

static const struct type *check_index(struct checker *c, const struct ast_node *n,
                                      const struct type *a, const struct type *b)
{
    const struct type *inner;

    if (is_open(a))
        return type_basic(TYPE_DYN);
    if (a->kind == TYPE_OPTIONAL) {
        inner = check_index(c, n, infer_resolve(&c->infer, a->params[0]), b);
        return inner == NULL ? NULL : type_optional(c->mem, inner);
    }
    if (a->kind == TYPE_LIST && (is_open(b) || b->kind == TYPE_INT || b->kind == TYPE_NUMBER))
        return a->params[0];
    if (a->kind == TYPE_MAP && infer_assignable(&c->infer, b, a->params[0]))
        return a->params[1];
    return fail_operands(c, n, a, b);
}

static const struct type *check_optional_index(struct checker *c, const struct ast_node *n,
                                               const struct type *a, const struct type *b)
{
    const struct type *t;

    if (a->kind == TYPE_NULL && c->env->mode == CEL_DEFINITION)
        return type_optional(c->mem, type_basic(TYPE_DYN));
    t = check_index(c, n, a, b);
    if (t == NULL || a->kind == TYPE_OPTIONAL)
        return t;
    return type_optional(c->mem, t);
}

const struct type *check_operator(struct checker *c, const struct ast_node *n, const struct type *a,
                                  const struct type *b)
{
    a = infer_resolve(&c->infer, a);
    b = b == NULL ? type_basic(TYPE_DYN) : infer_resolve(&c->infer, b);
    switch ((enum operator)n->op) {
    case OPERATOR_NOT:
    case OPERATOR_NEGATE:
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
    case OPERATOR_MULTIPLY:
    case OPERATOR_DIVIDE:
    case OPERATOR_MODULO:
        return check_rules(c, n, a, b);
    case OPERATOR_EQ:
    case OPERATOR_NE:
        return check_words(c, n) ? check_equality(c, n, a, b) : NULL;
    case OPERATOR_LT:
    case OPERATOR_LE:
    case OPERATOR_GT:
    case OPERATOR_GE:
        return check_words(c, n) ? check_order(c, n, a, b) : NULL;
    case OPERATOR_IN:
        return check_words(c, n) ? check_in(c, n, a, b) : NULL;
    case OPERATOR_INDEX:
        return check_index(c, n, a, b);
    case OPERATOR_OPTIONAL_INDEX:
        return check_optional_index(c, n, a, b);
    case OPERATOR_COUNT:
        break;
    }
    PANIC("unknown operator");
}
