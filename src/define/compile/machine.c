/* machine.c - reading the states and transitions of a machine; see machine.h. */
#include "define/compile/machine.h"

#include "base/text/ascii.h"
#include "base/text/nearest.h"

void machine_stand_at(struct compiler *c, struct str pointer, struct str state)
{
    buf_clear(&c->path);
    buf_str(&c->path, pointer);
    c->step = state;
}

bool machine_has_commands(struct value object, const char *field)
{
    struct value v = compile_field(object, field);

    return v.kind == VALUE_MAP || (v.kind == VALUE_LIST && v.len > 0);
}

uint32_t machine_afters(struct value written)
{
    struct value after = compile_field(written, "after");

    return after.kind == VALUE_MAP ? after.len : 0;
}

/* --- names --- */

static uint32_t find_state(const struct state_graph *m, struct str name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (name.len > 0 && str_eq(m->states[i].name, name))
            return i;
    return NO_STATE;
}

/* The state that a field names, or NO_STATE and a finding. */
static uint32_t read_target(struct compiler *c, const struct state_graph *m, struct value object,
                            const char *field)
{
    struct value v = compile_field(object, field);
    struct str name = compile_text(c, object, field);
    uint32_t state = find_state(m, name);
    struct nearest n = nearest_to(name);

    if (v.kind != VALUE_STRING || state != NO_STATE)
        return state;
    for (uint32_t i = 0; i < m->count; i++)
        nearest_offer(&n, m->states[i].name);
    compile_error_at(c, field, FINDING_UNKNOWN_STEP, "there is no state '%.*s'", STR_ARG(name));
    compile_did_you_mean(c, n.best);
    return NO_STATE;
}

static bool is_state_name(struct str name)
{
    return compile_is_name(name) && ascii_is_letter(name.ptr[0]);
}

static bool is_reserved(struct str name)
{
    static const char words[] =
#define JUMP_WORD(symbol, word) word " "
#include "define/catalog/jump_words.def"
#undef JUMP_WORD
        ;

    return catalog_has_word(STR(words), name);
}

static void read_state_name(struct compiler *c, struct machine_state *state, struct str name)
{
    if (!is_state_name(name)) {
        compile_error(c, FINDING_BAD_CODE,
                      "the name of a state is a letter, then letters, digits or '_', at most %d of "
                      "them",
                      NAME_MAX_LEN);
    } else if (is_reserved(name)) {
        compile_error(c, FINDING_RESERVED_CODE, "'%.*s' is a word of jumps and no name of a state",
                      STR_ARG(name));
        compile_hint(c, "write '%.*s_1'", STR_ARG(name));
    } else {
        state->name = name;
    }
}

static bool is_event_name(struct str name)
{
    bool ok = name.len > 0 && name.len <= EVENT_NAME_MAX;

    for (size_t i = 0; ok && i < name.len; i++)
        ok = ascii_is_word(name.ptr[i]) || name.ptr[i] == '.' || name.ptr[i] == '-';
    return ok;
}

/* --- transitions --- */

static struct str code_of(struct compiler *c, const struct machine_state *state,
                          const struct machine_transition *t, struct str word, uint32_t number)
{
    struct str code = t->event.len > 0
                          ? str_printf(c->mem, "%.*s.%.*s", STR_ARG(state->name), STR_ARG(word))
                          : str_printf(c->mem, "%.*s#%.*s", STR_ARG(state->name), STR_ARG(word));

    return number == 0 ? code : str_printf(c->mem, "%.*s#%u", STR_ARG(code), number + 1);
}

/* Where we stand, number `number` of those for `word`: an event, or a time. */
static void read_transition(struct compiler *c, struct state_graph *m, uint32_t from,
                            struct value v, bool is_event, struct str word, uint32_t number)
{
    struct machine_transition *t;

    if (m->transitions.count == TRANSITIONS_MAX) {
        compile_error(c, FINDING_LIMIT_STEPS, "a machine has at most %d transitions",
                      TRANSITIONS_MAX);
        return;
    }
    t = VEC_ADD(c->mem, &m->transitions);
    *t = (struct machine_transition){.from = from,
                                     .to = from,
                                     .stays = !compile_has(v, "to"),
                                     .written = v,
                                     .event = is_event ? word : STR_NONE,
                                     .span = value_string(word),
                                     .pointer = compile_pointer(c),
                                     .is_first = number == 0,
                                     .step = NO_STEP};
    t->code = code_of(c, &m->states[from], t, word, number);
    m->states[from].count++;
    if (compile_fields(c, v, TABLE_TRANSITION) && !t->stays)
        t->to = read_target(c, m, v, "to");
}

/* Those for one event or time: one, or a list of which the first open one is taken. */
static void read_choice(struct compiler *c, struct state_graph *m, uint32_t from, struct value v,
                        bool is_event, struct str word)
{
    bool is_sure = false;

    if (v.kind != VALUE_LIST) {
        read_transition(c, m, from, v, is_event, word, 0);
        return;
    }
    if (v.len == 0)
        compile_error(c, FINDING_BAD_VALUE, "this list may not be empty");
    for (uint32_t i = 0; i < v.len; i++) {
        size_t item = compile_enter_index(c, i);

        read_transition(c, m, from, v.items[i], is_event, word, i);
        if (is_sure)
            compile_warning(c, FINDING_UNREACHABLE, "the one before it is always open");
        is_sure = is_sure || !compile_has(v.items[i], "when");
        compile_leave(c, item);
    }
}

static void read_events(struct compiler *c, struct state_graph *m, uint32_t from)
{
    struct value on = compile_field(m->states[from].written, "on");
    size_t outer = compile_enter(c, STR("on"));

    if (on.kind != VALUE_MAP && on.kind != VALUE_ABSENT && on.kind != VALUE_NULL)
        compile_wrong_type(c, on, "an object with a transition for each event");
    for (uint32_t i = 0; on.kind == VALUE_MAP && i < on.len; i++) {
        struct str event = value_text(on.map->entries[i].key);
        size_t field = compile_enter(c, event);

        if (!is_event_name(event))
            compile_error(c, FINDING_BAD_NAME,
                          "the name of an event has 1 to %d letters, digits, '_', '-' and '.'",
                          EVENT_NAME_MAX);
        read_choice(c, m, from, on.map->entries[i].value, true, event);
        compile_leave(c, field);
    }
    m->states[from].event_count = m->states[from].count;
    compile_leave(c, outer);
}

static void read_afters(struct compiler *c, struct state_graph *m, uint32_t from)
{
    struct value after = compile_field(m->states[from].written, "after");
    size_t outer = compile_enter(c, STR("after"));

    if (after.kind != VALUE_MAP && after.kind != VALUE_ABSENT && after.kind != VALUE_NULL)
        compile_wrong_type(c, after, "an object with a transition for each time");
    if (machine_afters(m->states[from].written) > AFTERS_MAX)
        compile_error(c, FINDING_BAD_VALUE, "a state has at most %d times", AFTERS_MAX);
    for (uint32_t i = 0; i < machine_afters(m->states[from].written) && i < AFTERS_MAX; i++) {
        struct value word = after.map->entries[i].key;
        size_t field = compile_enter(c, value_text(word));
        struct span span;

        if (compile_span(c, word) && define_span(word, &span) && span.us == 0 &&
            span.business_days == 0)
            compile_error(c, FINDING_BAD_DURATION, "this must be longer than nothing");
        read_choice(c, m, from, after.map->entries[i].value, false, value_text(word));
        compile_leave(c, field);
    }
    compile_leave(c, outer);
}

/* --- states --- */

/* What a final state may not have. */
static void check_final(struct compiler *c, const struct machine_state *state)
{
    static const char *const fields[] = {"on", "after", "exit", "wait"};

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (compile_has(state->written, fields[i]))
            compile_error_at(c, fields[i], FINDING_MISPLACED,
                             "'%.*s' is final: nothing leads out of it", STR_ARG(state->name));
}

static void read_transitions(struct compiler *c, struct state_graph *m, uint32_t i)
{
    struct machine_state *state = &m->states[i];

    state->first = (uint32_t)m->transitions.count;
    if (state->is_final) {
        check_final(c, state);
        return;
    }
    read_events(c, m, i);
    read_afters(c, m, i);
    for (uint32_t k = 0; k < state->count; k++)
        if (!m->transitions.items[state->first + k].stays)
            return;
    compile_warning(c, FINDING_NO_STEPS, "nothing leads out of '%.*s'", STR_ARG(state->name));
    compile_hint(c, "write %s", "\"final\": true");
}

static void read_states(struct compiler *c, struct value states, struct state_graph *m)
{
    if (states.kind != VALUE_MAP) {
        if (states.kind != VALUE_ABSENT)
            compile_wrong_type(c, states, "an object with a state for each name");
        return;
    }
    if (states.len == 0)
        compile_error(c, FINDING_NO_STEPS, "a machine needs at least one state");
    if (states.len > STATES_MAX)
        compile_error(c, FINDING_LIMIT_STEPS, "a machine has at most %d states, not %u", STATES_MAX,
                      states.len);
    else
        m->count = states.len;
    m->states = arena_zalloc(c->mem, (m->count + 1u) * sizeof(*m->states));
    for (uint32_t i = 0; i < m->count; i++) {
        struct str name = value_text(states.map->entries[i].key);
        size_t outer = compile_enter(c, name);
        struct machine_state *state = &m->states[i];

        c->step = name;
        *state = (struct machine_state){.written = states.map->entries[i].value,
                                        .pointer = compile_pointer(c)};
        read_state_name(c, state, name);
        if (compile_fields(c, state->written, TABLE_STATE))
            state->is_final = compile_flag(c, state->written, "final");
        c->step = STR_NONE;
        compile_leave(c, outer);
    }
}

/* --- which can be reached --- */

static void check_reached(struct compiler *c, struct state_graph *m)
{
    bool has_changed = m->initial != NO_STATE;

    if (has_changed)
        m->states[m->initial].is_reached = true;
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < m->transitions.count; i++) {
            const struct machine_transition *t = &m->transitions.items[i];

            if (t->to == NO_STATE || !m->states[t->from].is_reached || m->states[t->to].is_reached)
                continue;
            m->states[t->to].is_reached = has_changed = true;
        }
    }
    for (uint32_t i = 0; m->initial != NO_STATE && i < m->count; i++)
        if (!m->states[i].is_reached) {
            machine_stand_at(c, m->states[i].pointer, m->states[i].name);
            compile_warning(c, FINDING_UNREACHABLE, "no way leads from '%.*s' to '%.*s'",
                            STR_ARG(m->states[m->initial].name), STR_ARG(m->states[i].name));
        }
}

/* --- all of it --- */

static bool does_something(const struct state_graph *m, const struct machine_transition *t)
{
    return machine_has_commands(t->written, "do") ||
           (!t->stays &&
            (machine_has_commands(m->states[t->from].written, "exit") ||
             (t->to != NO_STATE && machine_has_commands(m->states[t->to].written, "entry"))));
}

void machine_read(struct compiler *c, struct value definition, struct state_graph *m)
{
    uint32_t errors = c->errors;
    size_t outer = compile_enter(c, STR("states"));

    *m = (struct state_graph){.initial = NO_STATE};
    read_states(c, compile_field(definition, "states"), m);
    compile_leave(c, outer);
    m->initial = read_target(c, m, definition, "initial");
    for (uint32_t i = 0; i < m->count; i++) {
        machine_stand_at(c, m->states[i].pointer, m->states[i].name);
        read_transitions(c, m, i);
    }
    for (size_t i = 0; i < m->transitions.count; i++)
        m->transitions.items[i].has_commands = does_something(m, &m->transitions.items[i]);
    /* Behind a transition that could not be read everything seems out of reach. */
    if (c->errors == errors)
        check_reached(c, m);
    machine_stand_at(c, STR_NONE, STR_NONE);
}
