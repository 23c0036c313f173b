/*
 * machine_steps.c - a machine as a whole: every state becomes a step that waits for its events, and
 * every transition with commands one that runs these. The engine runs both; see decision 0580.
 *
 *     draft  --submit-->  [exit of draft, do, entry of review]  -->  review
 *
 * A transition is one step, so it is one attempt, with one ledger and one end: what a service has
 * answered is kept while it is tried again, and undone with it.
 */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/machine.h"
#include "define/compile/mapping.h"
#include "define/compile/scenario.h"

/* --- the steps before they are read --- */

static void add_step(struct program *p, struct str code, struct str pointer)
{
    struct step *step = (struct step *)p->steps + p->step_count;

    *step = (struct step){.index = p->step_count++,
                          .code = code,
                          .name = code,
                          .kind = STEP_PROCEDURE,
                          .next = NO_STEP,
                          .meta = value_map_empty(),
                          .pointer = pointer,
                          .on_error = p->on_error,
                          .leaves_by_jumps = true};
}

static void add_state(struct state_graph *m, struct program *p, uint32_t i)
{
    m->states[i].step = p->step_count;
    add_step(p, m->states[i].name, m->states[i].pointer);
}

/* An execution begins at the first: what is done on entry of the initial state, or that state. */
static void lay_out_steps(struct compiler *c, struct state_graph *m, struct program *p)
{
    const struct machine_state *initial = m->initial != NO_STATE ? &m->states[m->initial] : NULL;
    struct block *block = ARENA_NEW(c->mem, struct block);

    p->steps = arena_zalloc(c->mem, (m->count + m->transitions.count + 2u) * sizeof(struct step));
    if (initial != NULL && machine_has_commands(initial->written, "entry"))
        add_step(p, str_printf(c->mem, "%.*s#entry", STR_ARG(initial->name)), initial->pointer);
    if (initial != NULL)
        add_state(m, p, m->initial);
    for (uint32_t i = 0; i < m->count; i++)
        if (i != m->initial)
            add_state(m, p, i);
    for (size_t i = 0; i < m->transitions.count; i++) {
        struct machine_transition *t = &m->transitions.items[i];

        if (!t->has_commands)
            continue;
        t->step = p->step_count;
        add_step(p, t->code, t->pointer);
    }
    *block = (struct block){.owner = NO_STEP, .first = p->step_count > 0 ? 0 : NO_STEP};
    p->blocks = block;
    p->block_count = 1;
}

/* $.steps.STATE: the last event it was left by. What a transition does has a slot and no name. */
static struct cel_env *declare_states(struct compiler *c, const struct program *p)
{
    struct cel_env *env = cel_env_extend(c->mem, c->env);

    for (uint32_t i = 0; i < p->step_count; i++) {
        bool is_state = compile_is_name(p->steps[i].code);
        struct str name = is_state ? str_printf(c->mem, "steps.%.*s", STR_ARG(p->steps[i].code))
                                   : str_printf(c->mem, "steps.%u", i);
        uint32_t slot;
        struct err err;

        if (!cel_env_variable(env, name, STR("dyn"), &slot, &err))
            PANIC(err.message);
        if (is_state)
            context_say_step(c->mem, env, name);
        else
            cel_env_hide(env, name);
    }
    return env;
}

/* --- what a state waits for --- */

static struct value events_of(struct compiler *c, const struct state_graph *m,
                              const struct machine_state *state)
{
    struct value *names = ARENA_ARRAY(c->mem, state->count + 1u, struct value);
    size_t count = 0;

    for (uint32_t i = 0; i < state->event_count; i++) {
        const struct machine_transition *t = &m->transitions.items[state->first + i];

        if (t->is_first)
            names[count++] = value_string(t->event);
    }
    return value_list(names, count);
}

/* The step of a state runs a wait.signal: what people are asked is written in `wait`. */
static void compile_question(struct compiler *c, const struct machine_state *state,
                             struct value events, struct step *step)
{
    struct value written = compile_has(state->written, "wait")
                               ? compile_field(state->written, "wait")
                               : value_map_empty();
    uint32_t len = written.kind == VALUE_MAP ? written.len : 0;
    struct value_entry *entries = ARENA_ARRAY(c->mem, len + 2u, struct value_entry);
    size_t outer = compile_enter(c, STR("wait")), count = 0;
    bool is_good = compile_fields(c, written, TABLE_STATE_WAIT);

    for (uint32_t i = 0; is_good && i < len; i++)
        if (catalog_field(TABLE_STATE_WAIT, value_text(written.map->entries[i].key)) != NULL)
            entries[count++] = written.map->entries[i];
    entries[count++] = (struct value_entry){
        value_key(STR("type")), value_string(str_of(catalog_command(COMMAND_WAIT_SIGNAL)->name))};
    /* A state without events waits for times alone; what it is for is struct state. */
    entries[count++] = (struct value_entry){value_key(STR("signalType")),
                                            events.len > 0 ? events : value_string(step->code)};
    step->procedure = compile_node_procedure(c, catalog_command(COMMAND_WAIT_SIGNAL),
                                             value_map_take(c->mem, entries, count));
    compile_leave(c, outer);
}

/* That of a final one gives the result of the execution. */
static void compile_final(struct compiler *c, const struct machine_state *state, struct step *step)
{
    struct value data =
        value_map_of(c->mem, VALUE_ENTRIES({value_key(STR("state")), value_string(state->name)}));

    step->procedure = compile_node_procedure(
        c, catalog_command(COMMAND_TRANSFORM),
        value_map_of(c->mem,
                     VALUE_ENTRIES({value_key(STR("type")),
                                    value_string(str_of(catalog_command(COMMAND_TRANSFORM)->name))},
                                   {value_key(STR("data")), data})));
}

static struct state_way transition_of(const struct state_graph *m,
                                      const struct machine_transition *t)
{
    uint32_t to = t->to != NO_STATE ? m->states[t->to].step : m->states[t->from].step;

    return (struct state_way){.code = t->code,
                              .event = t->event,
                              .from = m->states[t->from].step,
                              .to = to,
                              .stays = t->stays,
                              .step = t->step != NO_STEP ? t->step : to};
}

static void compile_guards(struct compiler *c, const struct state_graph *m,
                           const struct machine_state *state, struct state_way *transitions)
{
    const struct cel_env *outer_env = c->env;

    c->env = compile_showing(c, ROOT_SIGNAL);
    for (uint32_t i = 0; i < state->count; i++) {
        const struct machine_transition *t = &m->transitions.items[state->first + i];

        transitions[i] = transition_of(m, t);
        machine_stand_at(c, t->pointer, state->name);
        if (t->written.kind != VALUE_MAP)
            continue;
        if (compile_has(t->written, "when"))
            transitions[i].when = compile_when(c, t->written, "when");
        transitions[i].name = compile_text(c, t->written, "name");
    }
    c->env = outer_env;
}

static void list_afters(const struct state_graph *m, const struct machine_state *state,
                        struct after *afters, uint32_t *count)
{
    for (uint32_t i = state->event_count; i < state->count; i++) {
        const struct machine_transition *t = &m->transitions.items[state->first + i];

        if (t->is_first)
            afters[(*count)++] = (struct after){.span = t->span, .first = i};
        afters[*count - 1].count++;
    }
}

static void compile_state(struct compiler *c, const struct state_graph *m,
                          const struct machine_state *state, struct step *step)
{
    struct state *made = ARENA_NEW(c->mem, struct state);
    struct state_way *transitions = ARENA_ARRAY(c->mem, state->count + 1u, struct state_way);
    struct after *afters = arena_zalloc(c->mem, (AFTERS_MAX + 1u) * sizeof(*afters));

    machine_stand_at(c, state->pointer, state->name);
    c->at = step;
    *made = (struct state){.is_final = state->is_final,
                           .transitions = transitions,
                           .count = state->count,
                           .event_count = state->event_count,
                           .afters = afters,
                           .events = events_of(c, m, state)};
    step->state = made;
    if (state->written.kind == VALUE_MAP) {
        step->name = compile_text(c, state->written, "name");
        step->meta = compile_meta(c, state->written);
    }
    if (step->name.len == 0)
        step->name = step->code;
    if (state->is_final)
        compile_final(c, state, step);
    else
        compile_question(c, state, made->events, step);
    compile_guards(c, m, state, transitions);
    list_afters(m, state, afters, &made->after_count);
}

/* --- what a transition does --- */

/* A list of commands that stands somewhere. */
struct part {
    struct str pointer; /* of the object that has it */
    struct value object;
    const char *field;
    struct str state;
};

/* The commands of all parts, one behind the other, as one procedure. */
static const struct procedure *compile_parts(struct compiler *c, const struct part *parts,
                                             size_t count, struct str pointer, struct str state)
{
    struct procedure *p = ARENA_NEW(c->mem, struct procedure);
    const struct cel_env *outer_env = c->env;
    const struct command *lists[3];
    uint32_t counts[3] = {0}, all = 0;
    struct compile_scope scope;
    struct command *commands;

    c->env = compile_showing(c, ROOT_SIGNAL);
    scope_open(c, &scope);
    for (size_t i = 0; i < count; i++) {
        size_t outer;

        if (!machine_has_commands(parts[i].object, parts[i].field))
            continue;
        machine_stand_at(c, parts[i].pointer, parts[i].state);
        outer = compile_enter(c, str_of(parts[i].field));
        lists[i] =
            compile_command_list(c, compile_field(parts[i].object, parts[i].field), &counts[i]);
        compile_leave(c, outer);
        all += counts[i];
    }
    machine_stand_at(c, pointer, state);
    scope_close(c, &scope, p);
    c->env = outer_env;
    commands = ARENA_ARRAY(c->mem, all + 1u, struct command);
    p->commands = commands;
    for (size_t i = 0; i < count; i++) {
        if (counts[i] > 0)
            memcpy(commands + p->command_count, lists[i], counts[i] * sizeof(*commands));
        p->command_count += counts[i];
    }
    return p;
}

static bool was_found(const struct findings *all, const struct finding *f)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].pointer, f->pointer) && str_eq(all->items[i].code, f->code) &&
            all->items[i].column == f->column)
            return true;
    return false;
}

/* `entry` is part of each transition that leads there: what is wrong with it is said once. */
static void say_once(struct compiler *c, struct findings *outer)
{
    for (size_t i = 0; i < c->findings->count; i++)
        if (outer->count < FINDINGS_MAX && !was_found(outer, &c->findings->items[i]))
            *VEC_ADD(c->mem, outer) = c->findings->items[i];
    c->findings = outer;
}

static void compile_transition(struct compiler *c, const struct state_graph *m, struct step *steps,
                               const struct machine_transition *t)
{
    const struct machine_state *from = &m->states[t->from];
    const struct machine_state *to = t->to != NO_STATE ? &m->states[t->to] : from;
    struct part parts[] = {
        {from->pointer, t->stays ? value_map_empty() : from->written, "exit", from->name},
        {t->pointer, t->written, "do", from->name},
        {to->pointer, t->stays ? value_map_empty() : to->written, "entry", to->name}};
    struct findings *outer = c->findings;
    struct state_way *made;

    if (t->step == NO_STEP)
        return;
    c->at = &steps[t->step];
    c->findings = arena_zalloc(c->mem, sizeof(*c->findings));
    steps[t->step].procedure = compile_parts(c, parts, ARRAY_SIZE(parts), t->pointer, from->name);
    say_once(c, outer);
    made = ARENA_NEW(c->mem, struct state_way);
    *made = transition_of(m, t);
    steps[t->step].transition = made;
    steps[t->step].name = t->written.kind == VALUE_MAP && compile_has(t->written, "name")
                              ? compile_text(c, t->written, "name")
                              : t->code;
}

/* What is done before the machine stands in its initial state. */
static void compile_beginning(struct compiler *c, const struct state_graph *m, struct step *step)
{
    const struct machine_state *initial = &m->states[m->initial];
    struct part part = {initial->pointer, initial->written, "entry", initial->name};
    struct state_way *made = ARENA_NEW(c->mem, struct state_way);

    *made = (struct state_way){
        .code = step->code, .from = initial->step, .to = initial->step, .step = step->index};
    c->at = step;
    step->transition = made;
    step->procedure = compile_parts(c, &part, 1, initial->pointer, initial->name);
}

/* Whether a field holds commands, or nothing; else a finding. */
static void check_list(struct compiler *c, struct value object, const char *field,
                       struct str pointer, struct str state)
{
    struct value v = compile_field(object, field);
    size_t outer;

    if (!compile_has(object, field) || v.kind == VALUE_MAP || v.kind == VALUE_LIST)
        return;
    machine_stand_at(c, pointer, state);
    outer = compile_enter(c, str_of(field));
    compile_wrong_type(c, v, catalog_wanted(ARGUMENT_COMMANDS));
    compile_leave(c, outer);
}

static void check_lists(struct compiler *c, const struct state_graph *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct machine_state *state = &m->states[i];

        check_list(c, state->written, "entry", state->pointer, state->name);
        check_list(c, state->written, "exit", state->pointer, state->name);
    }
    for (size_t i = 0; i < m->transitions.count; i++) {
        const struct machine_transition *t = &m->transitions.items[i];

        check_list(c, t->written, "do", t->pointer, m->states[t->from].name);
    }
}

static uint32_t count_commands(struct value object, const char *field)
{
    struct value v = compile_field(object, field);

    return v.kind == VALUE_LIST ? v.len : v.kind == VALUE_MAP ? 1 : 0;
}

/* What is written once is compiled for each transition that runs it: together this is bounded. */
static bool has_room(struct compiler *c, const struct state_graph *m)
{
    uint64_t all = 0;

    for (size_t i = 0; i < m->transitions.count; i++) {
        const struct machine_transition *t = &m->transitions.items[i];

        all += count_commands(t->written, "do");
        if (!t->stays)
            all += count_commands(m->states[t->from].written, "exit") +
                   (t->to != NO_STATE ? count_commands(m->states[t->to].written, "entry") : 0);
    }
    if (all > MACHINE_COMMANDS_MAX)
        compile_error(c, FINDING_LIMIT_COMMANDS,
                      "the transitions run %llu commands, `entry` and `exit` counted with each; "
                      "together these are at most %d",
                      (unsigned long long)all, MACHINE_COMMANDS_MAX);
    return all <= MACHINE_COMMANDS_MAX;
}

/* --- the machine --- */

static void compile_machine_steps(struct compiler *c, struct state_graph *m, struct program *p)
{
    struct step *steps;

    lay_out_steps(c, m, p);
    p->env = c->env = declare_states(c, p);
    p->slot_count = cel_env_slot_count(p->env);
    steps = (struct step *)p->steps;
    check_lists(c, m);
    if (p->step_count > 0 && m->initial != NO_STATE && m->states[m->initial].step == 1)
        compile_beginning(c, m, &steps[0]);
    for (uint32_t i = 0; i < m->count; i++)
        compile_state(c, m, &m->states[i], &steps[m->states[i].step]);
    for (size_t i = 0; i < m->transitions.count; i++)
        compile_transition(c, m, steps, &m->transitions.items[i]);
    c->at = NULL;
    machine_stand_at(c, STR_NONE, STR_NONE);
}

void compile_machine(struct compiler *c, struct value definition, struct program *p)
{
    struct state_graph machine;

    p->on_error = ON_ERROR_HOLD;
    p->timeout_us = 0;
    if (!compile_fields(c, definition, TABLE_MACHINE))
        return;
    compile_process(c, definition, TABLE_MACHINE, p);
    (void)compile_word(c, TABLE_MACHINE, definition, "mode");
    machine_read(c, definition, &machine);
    if (machine.count > 0 && has_room(c, &machine))
        compile_machine_steps(c, &machine, p);
    p->result = compile_mapping_of(c, definition, "result");
}
