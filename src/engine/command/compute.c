/* compute.c - commands that check and count: compute.validate, compute.aggregate; see command.h. */
#include "engine/command/command.h"

/* --- rules --- */

/* {code, message} of a rule that is broken. STEP_DONE or STEP_FAILED. */
static enum step_result broken_rule(struct turn *t, const struct rule *rule, struct value *out)
{
    const struct mapping *fields[] = {rule->code, rule->message};
    static const char *const names[] = {"code", "message"};
    struct value_entry *entries = ARENA_ARRAY(t->mem, 2, struct value_entry);
    size_t count = 0;

    for (size_t i = 0; i < 2; i++) {
        struct value v;

        if (turn_evaluate(t, fields[i], &v) != STEP_DONE)
            return STEP_FAILED;
        if (fields[i] != NULL)
            value_entry_add(entries, &count, str_of(names[i]), v);
    }
    *out = value_map_take(t->mem, entries, count);
    return STEP_DONE;
}

enum step_result compute_validate(struct turn *t, const struct command *c, struct value *out)
{
    struct value *broken = ARENA_ARRAY(t->mem, c->rule_count + 1u, struct value);
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->rule_count; i++) {
        bool holds = false;

        if (command_condition_at(t, c->rules[i].expr, c->pointer, "rules", i, "expr", &holds) !=
            STEP_DONE)
            return STEP_FAILED;
        if (!holds && broken_rule(t, &c->rules[i], &broken[count++]) != STEP_DONE)
            return STEP_FAILED;
    }
    if (count == 0) {
        *out = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("valid")), value_bool(true)}));
        return STEP_DONE;
    }
    t->failure = (struct failure){
        .code = value_text_or(value_map_member(broken[0], STR("code")), STR("validation_failed")),
        .class = ERR_CLASS_BUSINESS,
        .message = sentence_of(
            value_text_or(value_map_member(broken[0], STR("message")), STR("a rule is broken"))),
        .details = value_map_of(
            t->mem, VALUE_ENTRIES({value_key(STR("errors")), value_list(broken, count)})),
    };
    return STEP_FAILED;
}

/* --- aggregates --- */

struct sum {
    struct value total;       /* absent before the first */
    struct value least, most; /* absent before the first */
    int64_t count;
};

struct group {
    struct value key;
    struct sum *sums; /* one for each aggregate */
};

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_DOUBLE;
}

static double as_double(struct value v)
{
    return v.kind == VALUE_DOUBLE ? v.d : v.kind == VALUE_UINT ? (double)v.u : (double)v.i;
}

/* Whole numbers as long as they fit. */
static struct value add(struct value a, struct value b)
{
    int64_t sum;

    if (a.kind == VALUE_ABSENT)
        return b;
    if (a.kind == VALUE_INT && b.kind == VALUE_INT && !__builtin_add_overflow(a.i, b.i, &sum))
        return value_int(sum);
    return value_double(as_double(a) + as_double(b));
}

static enum step_result take(struct turn *t, const struct aggregate *a, struct value v,
                             struct sum *sum)
{
    if (v.kind == VALUE_NULL && a->op != AGGREGATE_COUNT)
        return STEP_DONE; /* what is not there has no part in it */
    sum->count++;
    if (a->op == AGGREGATE_COUNT)
        return STEP_DONE;
    if ((a->op == AGGREGATE_SUM || a->op == AGGREGATE_AVG) && !is_number(v))
        return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                         "'%.*s' adds numbers, and this is %s", STR_ARG(a->name),
                         value_kind_name((enum value_kind)v.kind));
    if (is_number(v))
        sum->total = add(sum->total, v);
    if (sum->least.kind == VALUE_ABSENT || value_compare(v, sum->least) < 0)
        sum->least = v;
    if (sum->most.kind == VALUE_ABSENT || value_compare(v, sum->most) > 0)
        sum->most = v;
    return STEP_DONE;
}

static struct value aggregate_result(enum aggregate_op op, const struct sum *sum)
{
    switch (op) {
    case AGGREGATE_SUM:
        return sum->total.kind == VALUE_ABSENT ? value_int(0) : sum->total;
    case AGGREGATE_AVG:
        return sum->count == 0 ? value_null()
                               : value_double(as_double(sum->total) / (double)sum->count);
    case AGGREGATE_MIN:
        return sum->least.kind == VALUE_ABSENT ? value_null() : sum->least;
    case AGGREGATE_MAX:
        return sum->most.kind == VALUE_ABSENT ? value_null() : sum->most;
    case AGGREGATE_COUNT:
        return value_int(sum->count);
    case AGGREGATE_OP_COUNT:
        break;
    }
    PANIC("unknown aggregate");
}

struct groups {
    VEC_OF(struct group);
};

static struct group *group_of(struct turn *t, const struct command *c, struct groups *groups,
                              struct value key)
{
    struct group *g;

    for (size_t i = 0; i < groups->count; i++)
        if (value_equal(groups->items[i].key, key, NULL))
            return &groups->items[i];
    g = VEC_ADD(t->mem, groups);
    *g = (struct group){.key = key};
    g->sums = ARENA_ARRAY(t->mem, c->aggregate_count + 1u, struct sum);
    for (uint32_t i = 0; i < c->aggregate_count; i++)
        g->sums[i] = (struct sum){value_absent(), value_absent(), value_absent(), 0};
    return g;
}

/* The expression over $.item; NULL is the item itself. STEP_DONE or STEP_FAILED. */
static enum step_result of_item(struct turn *t, const struct command *c,
                                const struct cel_program *expr, struct value item,
                                struct value *out)
{
    *out = item;
    if (expr == NULL)
        return STEP_DONE;
    t->slots[c->item_slot] = item;
    *out = cel_evaluate(t->mem, expr, &t->activation, NULL);
    /* Behind the aggregate nobody sees it, $ included. */
    t->slots[c->item_slot] = value_absent();
    return out->kind == VALUE_ERROR ? turn_fail_value(t, *out, c->pointer) : STEP_DONE;
}

static enum step_result take_item(struct turn *t, const struct command *c, struct groups *groups,
                                  struct value item)
{
    const struct cel_program *by = c->expressions[FIELD_BY];
    struct value key = value_null(), v;
    struct group *g;

    if (by != NULL && of_item(t, c, by, item, &key) != STEP_DONE)
        return STEP_FAILED;
    g = group_of(t, c, groups, key);
    for (uint32_t i = 0; i < c->aggregate_count; i++)
        if (of_item(t, c, c->aggregates[i].of, item, &v) != STEP_DONE ||
            take(t, &c->aggregates[i], v, &g->sums[i]) != STEP_DONE)
            return STEP_FAILED;
    return STEP_DONE;
}

static struct value group_value(struct turn *t, const struct command *c, const struct group *g,
                                bool with_key)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, c->aggregate_count + 1u, struct value_entry);
    size_t count = 0;

    if (with_key)
        value_entry_add(entries, &count, STR("key"), g->key);
    for (uint32_t i = 0; i < c->aggregate_count; i++)
        value_entry_add(entries, &count, c->aggregates[i].name,
                        aggregate_result(c->aggregates[i].op, &g->sums[i]));
    return value_map_take(t->mem, entries, count);
}

enum step_result compute_aggregate(struct turn *t, const struct command *c, struct value *out)
{
    bool has_groups = c->expressions[FIELD_BY] != NULL;
    struct groups groups = {0};
    struct value items, *all;

    if (!command_field(t, c, FIELD_ITEMS, &items))
        return STEP_FAILED;
    if (items.kind != VALUE_LIST)
        return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                         "'items' must be a list, not %s",
                         value_kind_name((enum value_kind)items.kind));
    for (uint32_t i = 0; i < items.len; i++)
        if (take_item(t, c, &groups, items.items[i]) != STEP_DONE)
            return STEP_FAILED;
    if (!has_groups) {
        *out = group_value(t, c, group_of(t, c, &groups, value_null()), false);
        return STEP_DONE;
    }
    all = ARENA_ARRAY(t->mem, groups.count + 1, struct value);
    for (size_t i = 0; i < groups.count; i++)
        all[i] = group_value(t, c, &groups.items[i], true);
    *out = value_map_of(t->mem,
                        VALUE_ENTRIES({value_key(STR("groups")), value_list(all, groups.count)}));
    return STEP_DONE;
}
