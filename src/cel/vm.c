/*
 * vm.c - the machine that runs programs; see program.h.
 *
 * A comprehension keeps five values on the stack:
 *
 *     range | number of the next element | result so far | first | second
 *
 * Cost is counted where work can repeat: a run pays for its instructions once,
 * each turn of a loop pays for those of the loop, and library functions pay
 * for the size of what they touch.
 */
#include "cel/lib/regex.h"
#include "cel/program.h"

enum { STACK_INLINE = 48 };

const struct cel_limits cel_default_limits = {.cost = 1000000, .memory_bytes = 16u << 20};

struct machine {
    struct cel_eval *ev;
    const struct cel_program *program;
    const struct cel_activation *activation;
};

/* --- variables --- */

static struct value load_lazily(const struct cel_activation *act, uint32_t slot)
{
    return act->load != NULL ? act->load(act->context, slot) : value_absent();
}

static inline struct value load_slot(const struct machine *m, uint32_t slot)
{
    struct value v = m->activation->slots[slot];

    return LIKELY(v.kind != VALUE_ABSENT) ? v : load_lazily(m->activation, slot);
}

static struct value fail_unbound(const struct machine *m, uint32_t slot)
{
    struct str name = env_slot_name(m->program->env, slot);

    return cel_fail(m->ev, "no such attribute: '%.*s' has no value", STR_ARG(name));
}

/* `$` as a map of all variables that have a value and no dot in their name. */
static struct value load_root(const struct machine *m)
{
    struct value_entry *entries;
    size_t count = 0, duplicate;
    uint32_t slots = m->program->slot_count;

    if (m->activation->root.kind != VALUE_ABSENT)
        return m->activation->root;
    if (!cel_charge(m->ev, slots))
        return cel_over_cost(m->ev);
    entries = cel_alloc(m->ev, (size_t)slots * (sizeof(*entries) + 12) + 64);
    if (entries == NULL)
        return cel_over_memory(m->ev);
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct str name = env_slot_name(m->program->env, slot);
        struct value v = load_slot(m, slot);
        if (v.kind == VALUE_ABSENT || str_find(name, STR("."), 0) >= 0)
            continue;
        if (v.kind == VALUE_ERROR)
            return v;
        entries[count++] = (struct value_entry){.key = value_key(name), .value = v};
    }
    return value_map_make(m->ev->mem, entries, count, &duplicate);
}

/* Set the variables to element number `i`. */
static inline void fold_element(struct value *state, uint32_t i, bool two)
{
    struct value range = state[0];

    if (range.kind == VALUE_LIST) {
        state[3] = two ? value_int(i) : range.items[i];
        state[4] = range.items[i];
    } else {
        state[3] = range.map->entries[i].key;
        state[4] = range.map->entries[i].value;
    }
}

/* --- errors --- */

static bool is_limit(struct value v)
{
    return v.error->code == ERR_LIMIT_EXPRESSION_COST ||
           v.error->code == ERR_LIMIT_EXPRESSION_MEMORY;
}

/* The innermost region around an instruction, or NULL. */
static const struct region *find_region(const struct cel_program *p, uint32_t pc)
{
    uint32_t low = 0, high = p->region_count, r;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->regions[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    for (r = low - 1; r != NO_REGION; r = p->regions[r].parent)
        if (pc < p->regions[r].end)
            return &p->regions[r];
    return NULL;
}

/* --- the loop --- */

/* Both operands of these kinds: compare without a call. */
#define ORDER_CASE(symbol, operator_)                                                              \
    case OP_##symbol:                                                                              \
        if (LIKELY(sp[-2].kind == VALUE_INT && sp[-1].kind == VALUE_INT))                          \
            sp[-2] = value_bool(sp[-2].i operator_ sp[-1].i);                                      \
        else if (sp[-2].kind == VALUE_DOUBLE && sp[-1].kind == VALUE_DOUBLE)                       \
            sp[-2] = value_bool(sp[-2].d operator_ sp[-1].d);                                      \
        else                                                                                       \
            goto slow_operator;                                                                    \
        sp--;                                                                                      \
        break;

#define INT_CASE(symbol, builtin)                                                                  \
    case OP_##symbol: {                                                                            \
        int64_t n;                                                                                 \
        if (UNLIKELY(sp[-2].kind != VALUE_INT || sp[-1].kind != VALUE_INT ||                       \
                     builtin(sp[-2].i, sp[-1].i, &n)))                                             \
            goto slow_operator;                                                                    \
        sp[-2].i = n;                                                                              \
        sp--;                                                                                      \
        break;                                                                                     \
    }

/* Equality of two scalars or strings; false: not decided here. */
static inline bool quick_equal(struct value a, struct value b, bool *equal)
{
    if (a.kind != b.kind)
        return false;
    switch ((int)a.kind) {
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_BOOL:
        *equal = a.u == b.u;
        return true;
    case VALUE_NULL:
        *equal = true;
        return true;
    case VALUE_STRING:
        if (a.len != b.len)
            *equal = false;
        else if (a.len > 4096)
            return false;
        else
            *equal = memcmp(a.text, b.text, a.len) == 0;
        return true;
    default:
        return false;
    }
}

/* One function however long: what it keeps in registers would travel through memory otherwise. */
static struct value machine_run(const struct machine *m, struct value *stack)
{
    const struct cel_program *p = m->program;
    const struct instruction *code = p->code;
    const struct value *constants = p->constants;
    struct cel_eval *ev = m->ev;
    const struct instruction *ip = code;
    const struct instruction *at;
    struct value *sp = stack;
    struct value v;

    for (;;) {
        at = ip++;
        switch (at->op) {
        case OP_CONST:
            *sp++ = constants[at->arg];
            break;
        case OP_SLOT:
            v = load_slot(m, at->arg);
            if (UNLIKELY(v.kind == VALUE_ABSENT || v.kind == VALUE_ERROR))
                goto bad_slot;
            *sp++ = v;
            break;
        case OP_PATH: {
            const struct value *key = &constants[at->arg];
            v = load_slot(m, at->slot);
            if (UNLIKELY(v.kind == VALUE_ABSENT || v.kind == VALUE_ERROR))
                goto bad_slot;
            for (unsigned i = at->a; i > 0; i--, key++) {
                const struct value *found =
                    LIKELY(v.kind == VALUE_MAP) ? value_map_field(v.map, key) : NULL;
                if (LIKELY(found != NULL)) {
                    v = *found;
                    continue;
                }
                ev->offset = p->constant_offsets[key - constants];
                v = operate_field(ev, v, *key);
                if (v.kind == VALUE_ERROR)
                    goto raise;
            }
            *sp++ = v;
            break;
        }
        case OP_LOCAL:
            v = stack[at->arg];
            if (UNLIKELY(v.kind == VALUE_ERROR))
                goto raise;
            *sp++ = v;
            break;
        case OP_ROOT:
            ev->offset = p->offsets[at - code];
            v = load_root(m);
            if (v.kind == VALUE_ERROR)
                goto raise;
            *sp++ = v;
            break;
        case OP_FIELD:
            ev->offset = p->offsets[at - code];
            v = operate_field(ev, sp[-1], constants[at->arg]);
            goto replace_top;
        case OP_OPTIONAL_FIELD:
            ev->offset = p->offsets[at - code];
            v = operate_optional_field(ev, sp[-1], constants[at->arg]);
            goto replace_top;
        case OP_HAS:
            if (LIKELY(sp[-1].kind == VALUE_MAP)) {
                sp[-1] = value_bool(value_map_field(sp[-1].map, &constants[at->arg]) != NULL);
                break;
            }
            ev->offset = p->offsets[at - code];
            v = operate_has(ev, sp[-1], constants[at->arg]);
            goto replace_top;
        case OP_HAS_SLOT:
            v = load_slot(m, at->arg);
            if (UNLIKELY(v.kind == VALUE_ERROR))
                goto raise;
            *sp++ = value_bool(v.kind != VALUE_ABSENT);
            break;
        case OP_JUMP:
            ip = code + at->arg;
            break;
        case OP_BRANCH:
        case OP_FOLD_FILTER:
            v = *--sp;
            if (UNLIKELY(v.kind != VALUE_BOOL))
                goto not_bool;
            if (!v.b)
                ip = code + at->arg;
            break;
        case OP_AND:
            v = *--sp;
            if (LIKELY(v.kind == VALUE_BOOL && v.b))
                break;
            ev->offset = p->offsets[at - code];
            if (comprehend_decide(ev, &sp[-1], v, false))
                ip = code + at->arg;
            break;
        case OP_OR:
            v = *--sp;
            if (LIKELY(v.kind == VALUE_BOOL && !v.b))
                break;
            ev->offset = p->offsets[at - code];
            if (comprehend_decide(ev, &sp[-1], v, true))
                ip = code + at->arg;
            break;
        case OP_LOGIC_END:
            v = sp[-1];
            if (UNLIKELY(v.kind == VALUE_ERROR))
                goto raise;
            break;
        case OP_LIST:
            sp -= at->arg;
            ev->offset = p->offsets[at - code];
            v = operate_list(ev, sp, at->arg, NULL);
            goto put_result;
        case OP_LIST_OPTIONAL:
            sp -= at->arg + 1;
            ev->offset = p->offsets[at - code];
            v = operate_list(ev, sp, at->arg, sp[at->arg].text);
            goto put_result;
        case OP_MAP:
            sp -= at->arg;
            ev->offset = p->offsets[at - code];
            v = operate_map(ev, sp, at->arg, NULL);
            goto put_result;
        case OP_MAP_OPTIONAL:
            sp -= at->arg + 1;
            ev->offset = p->offsets[at - code];
            v = operate_map(ev, sp, at->arg, sp[at->arg].text);
            goto put_result;
        case OP_FOLD_BEGIN:
            ev->offset = p->offsets[at - code];
            v = comprehend_begin(ev, (enum fold_kind)at->a, sp[-1]);
            if (v.kind == VALUE_ERROR)
                goto raise;
            sp[0] = value_int(0);
            sp[1] = v;
            sp[2] = sp[3] = value_null();
            sp += 4;
            break;
        case OP_FOLD_NEXT:
            if (sp[-4].i == sp[-5].len) {
                ip = code + at->arg;
                break;
            }
            if (UNLIKELY(!cel_charge(ev, at->slot))) {
                ev->offset = p->offsets[at - code];
                v = cel_over_cost(ev);
                goto raise;
            }
            fold_element(sp - 5, (uint32_t)sp[-4].i++, at->a != 0);
            break;
        case OP_FOLD_STEP:
            v = *--sp;
            ev->offset = p->offsets[at - code];
            if (at->a == FOLD_ALL || at->a == FOLD_EXISTS) {
                if (!comprehend_decide(ev, &sp[-3], v, at->a == FOLD_EXISTS))
                    ip = code + at->arg;
                break;
            }
            v = comprehend_step(ev, (enum fold_kind)at->a, sp - 5, v);
            if (v.kind == VALUE_ERROR)
                goto raise;
            ip = code + at->arg;
            break;
        case OP_FOLD_END:
            sp -= 5;
            ev->offset = p->offsets[at - code];
            v = comprehend_end(ev, (enum fold_kind)at->a, sp[2]);
            goto put_result;
        case OP_SLIDE:
            sp--;
            sp[-1] = sp[0];
            break;
        case OP_OPTIONAL_BEGIN:
            v = sp[-1];
            if (UNLIKELY(v.kind != VALUE_OPTIONAL))
                goto not_optional;
            if (v.inner == NULL)
                ip = code + at->arg;
            else
                sp[-1] = *v.inner;
            break;
        case OP_OPTIONAL_END:
            ev->offset = p->offsets[at - code];
            sp -= 2;
            v = sp[1];
            if (at->a == 0)
                v = cel_optional(ev, v);
            else if (UNLIKELY(v.kind != VALUE_OPTIONAL))
                goto not_optional;
            goto put_result;
        case OP_OPTIONAL_OR:
            v = sp[-1];
            if (UNLIKELY(v.kind != VALUE_OPTIONAL))
                goto not_optional;
            if (v.inner == NULL) {
                sp--;
                break;
            }
            if (at->a != 0)
                sp[-1] = *v.inner;
            ip = code + at->arg;
            break;
        case OP_OPTIONAL_CHECK:
            v = sp[-1];
            if (UNLIKELY(v.kind != VALUE_OPTIONAL))
                goto not_optional;
            break;
        case OP_CALL:
            sp -= at->a;
            ev->offset = p->offsets[at - code];
            v = function_call(ev, p->functions[at->arg], sp, at->a);
            goto put_result;
        case OP_MATCHES:
            ev->offset = p->offsets[at - code];
            if (UNLIKELY(sp[-1].kind != VALUE_STRING))
                v = cel_fail(ev, "no such overload: matches() wants a string, not %s",
                             value_kind_name((enum value_kind)sp[-1].kind));
            else if (!cel_charge(ev, regex_match_cost(p->patterns[at->arg], sp[-1].len)))
                v = cel_over_cost(ev);
            else
                v = value_bool(regex_matches(p->patterns[at->arg], value_text(sp[-1])));
            goto replace_top;
        case OP_TEXT:
            ev->offset = p->offsets[at - code];
            v = operate_text(ev, sp[-1]);
            goto replace_top;
        case OP_JOIN:
            sp -= at->arg;
            ev->offset = p->offsets[at - code];
            v = operate_join(ev, sp, at->arg);
            goto put_result;
        case OP_JOIN_URL:
            sp -= at->arg + 1;
            ev->offset = p->offsets[at - code];
            v = operate_join_url(ev, sp, at->arg, sp[at->arg].text, at->a != 0);
            goto put_result;
        case OP_FAIL:
            ev->offset = p->offsets[at - code];
            v = cel_fail(ev, "%pS", SENTENCE_ARG(value_sentence(constants[at->arg])));
            goto raise;
        case OP_RETURN:
            return sp[-1];
            ORDER_CASE(LT, <)
            ORDER_CASE(LE, <=)
            ORDER_CASE(GT, >)
            ORDER_CASE(GE, >=)
            INT_CASE(ADD, __builtin_add_overflow)
            INT_CASE(SUBTRACT, __builtin_sub_overflow)
            INT_CASE(MULTIPLY, __builtin_mul_overflow)
        case OP_EQ:
        case OP_NE: {
            bool equal;
            if (!quick_equal(sp[-2], sp[-1], &equal))
                goto slow_operator;
            sp--;
            sp[-1] = value_bool(equal == (at->op == OP_EQ));
            break;
        }
        case OP_NOT:
        case OP_NEGATE:
            ev->offset = p->offsets[at - code];
            v = operate(ev, (enum operator)(at->op - OP_FIRST_OPERATOR), sp[-1], value_absent());
            goto replace_top;
        case OP_MODULO:
            if (UNLIKELY(sp[-2].kind != VALUE_INT || sp[-1].kind != VALUE_INT || sp[-1].i <= 0))
                goto slow_operator;
            sp[-2].i %= sp[-1].i;
            sp--;
            break;
        case OP_DIVIDE:
        case OP_IN:
        case OP_INDEX:
        case OP_OPTIONAL_INDEX:
        slow_operator:
            ev->offset = p->offsets[at - code];
            v = operate(ev, (enum operator)(at->op - OP_FIRST_OPERATOR), sp[-2], sp[-1]);
            sp -= 2;
            goto put_result;
        default:
            PANIC("unknown instruction");
        }
        continue;

    put_result:
        if (UNLIKELY(v.kind == VALUE_ERROR))
            goto raise;
        *sp++ = v;
        continue;

    replace_top:
        if (UNLIKELY(v.kind == VALUE_ERROR))
            goto raise;
        sp[-1] = v;
        continue;

    not_bool:
        ev->offset = p->offsets[at - code];
        v = cel_fail(ev, "no such overload: a bool is needed here, not %s",
                     value_kind_name((enum value_kind)v.kind));
        goto raise;

    not_optional:
        ev->offset = p->offsets[at - code];
        v = cel_fail(ev, "no such overload: an optional is needed here, not %s",
                     value_kind_name((enum value_kind)v.kind));
        goto raise;

    bad_slot:
        ev->offset = p->offsets[at - code];
        if (v.kind == VALUE_ABSENT)
            v = fail_unbound(m, at->op == OP_PATH ? at->slot : at->arg);

    raise : {
        const struct region *r = is_limit(v) ? NULL : find_region(p, (uint32_t)(at - code));
        if (r == NULL)
            return v;
        sp = stack + r->depth;
        *sp++ = v;
        ip = code + r->target;
    }
    }
}

struct value vm_run(struct cel_eval *ev, const struct cel_program *program,
                    const struct cel_activation *activation)
{
    struct machine m = {.ev = ev, .program = program, .activation = activation};
    struct value inline_stack[STACK_INLINE];
    struct value *stack = inline_stack;

    if (!cel_charge(ev, program->code_count))
        return cel_over_cost(ev);
    if (program->stack_depth > STACK_INLINE) {
        stack = cel_alloc(ev, program->stack_depth * sizeof(*stack));
        if (stack == NULL)
            return cel_over_memory(ev);
    }
    return machine_run(&m, stack);
}

/* What one evaluation may cost: its own limit, or what is left of that of the activation. */
static int64_t cost_allowed(const struct cel_activation *activation, int64_t limit)
{
    int64_t left;

    if (activation->spent == NULL || activation->cost_end == 0)
        return limit;
    left = activation->cost_end - activation->spent->cost;
    return left < 0 ? 0 : left < limit ? left : limit;
}

struct value cel_evaluate_within(struct arena *mem, const struct cel_program *program,
                                 const struct cel_activation *activation, struct cel_limits *limits)
{
    int64_t cost = cost_allowed(activation, limits->cost), used;
    struct cel_eval ev;
    struct value v;

    ev.mem = mem;
    ev.mem_left = limits->memory_bytes;
    ev.cost_left = cost;
    ev.offset = 0;
    ev.mode = program->mode;
    ev.now_us = activation->now_us;
    ev.function = "";
    ev.context = NULL;
    ev.nesting = 0;
    v = vm_run(&ev, program, activation);
    used = ev.cost_left > 0 ? cost - ev.cost_left : cost;
    if (activation->spent != NULL) {
        activation->spent->cost += used;
        activation->spent->memory_bytes += limits->memory_bytes - ev.mem_left;
    }
    limits->cost -= used;
    limits->memory_bytes = ev.mem_left;
    return v;
}

struct value cel_evaluate(struct arena *mem, const struct cel_program *program,
                          const struct cel_activation *activation, const struct cel_limits *limits)
{
    struct cel_limits left = limits == NULL ? cel_default_limits : *limits;

    return cel_evaluate_within(mem, program, activation, &left);
}
