/*
 * schema.c - a schema as a whole: every node of its graph becomes a step, and its edges where that
 * step goes on. The engine runs it like any other program.
 *
 *     start --> http_1 --> condition_1 --true---> set_1 --> end_1
 *                 |             `-------false--> ...
 *                 `--error--> ...
 *
 * A step of a node has jumps and no next step: first its edge `error`, which is followed when the
 * visit has failed; then the branches of a condition, or the edge without a branch; where none
 * leads on, the end.
 */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/graph.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/scenario.h"

/* --- the steps before they are read --- */

static void make_steps(struct compiler *c, const struct graph *g, struct program *p)
{
    struct step *steps = arena_zalloc(c->mem, (g->node_count + 1u) * sizeof(*steps));
    struct block *block = ARENA_NEW(c->mem, struct block);

    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct graph_node *node = &g->nodes[g->order[i]];

        steps[i] = (struct step){.index = i,
                                 .code = node->id,
                                 .kind = STEP_PROCEDURE,
                                 .next = NO_STEP,
                                 .meta = value_map_empty(),
                                 .pointer = str_printf(c->mem, "/nodes/%u", g->order[i]),
                                 .leaves_by_jumps = true};
    }
    *block = (struct block){.owner = NO_STEP, .first = g->node_count > 0 ? 0 : NO_STEP};
    p->steps = steps;
    p->step_count = g->node_count;
    p->blocks = block;
    p->block_count = 1;
}

static struct str step_variable(struct compiler *c, const struct step *step)
{
    return str_printf(c->mem, "steps.%.*s", STR_ARG(step->code));
}

/* $.steps.ID of every node, in the order of their slots; what each gives is known when it is read. */
static struct cel_env *declare_nodes(struct compiler *c, const struct program *p)
{
    struct cel_env *env = cel_env_extend(c->mem, c->env);

    for (uint32_t i = 0; i < p->step_count; i++) {
        struct str name = step_variable(c, &p->steps[i]);
        uint32_t slot;
        struct err err;

        if (p->steps[i].code.len == 0)
            continue;
        if (!cel_env_variable(env, name, STR("dyn"), &slot, &err))
            PANIC(err.message);
        context_say_step(c->mem, env, name);
        if (!c->is_stored)
            cel_env_pending(env, name, true);
    }
    return env;
}

/* --- edges --- */

static void add_jump(struct jump *jumps, uint32_t *count, const struct graph *g,
                     const struct graph_edge *edge)
{
    struct jump *jump = &jumps[(*count)++];

    *jump = (struct jump){.kind = JUMP_END};
    if (edge == NULL || edge->target == NO_INDEX)
        return;
    jump->kind = JUMP_STEP;
    jump->step = g->nodes[edge->target].step;
    if (str_eq(edge->branch, STR(ERROR_BRANCH)))
        jump->after = AFTER_FAILURE;
    else
        jump->branch = edge->branch;
}

/* Where the step of a node goes on. */
static void compile_edges(struct compiler *c, const struct graph *g, const struct graph_node *node,
                          struct step *step)
{
    const struct graph_edge *error = graph_edge_of(g, node, STR(ERROR_BRANCH));
    struct jump *jumps;
    uint32_t count = 0, edges = 0;

    for (uint32_t i = node->first_edge; i != NO_INDEX; i = g->edges[i].next)
        edges++;
    jumps = ARENA_ARRAY(c->mem, edges + 1u, struct jump);
    if (error != NULL) {
        add_jump(jumps, &count, g, error);
        step->continues = true;
    }
    for (uint32_t i = node->first_edge; i != NO_INDEX; i = g->edges[i].next)
        if (&g->edges[i] != error && g->edges[i].branch.len > 0)
            add_jump(jumps, &count, g, &g->edges[i]);
    if (!graph_is_condition(node))
        add_jump(jumps, &count, g, graph_edge_of(g, node, STR_NONE));
    step->jumps = (struct jumps){.items = jumps, .count = count};
}

/* --- nodes --- */

static struct value with_member(struct compiler *c, struct value map, struct str name,
                                struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(c->mem, map.len + 1u, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < map.len; i++)
        if (!str_eq(value_text(map.map->entries[i].key), name))
            entries[count++] = map.map->entries[i];
    entries[count++] = (struct value_entry){value_key(name), v};
    return value_map_take(c->mem, entries, count);
}

/*
 * A call of a node answers with its status, whatever that is below 500: a condition looks at it.
 * What the service could not do is tried again; a node that reconciles asks first.
 */
static struct value http_config(struct compiler *c, struct value config, struct value node)
{
    static const char *const expected[] = {"2xx", "3xx", "4xx"};
    struct value *items = ARENA_ARRAY(c->mem, ARRAY_SIZE(expected), struct value);
    struct value classes = compile_field(config, "classes");

    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        items[i] = value_string(str_of(expected[i]));
    if (!compile_has(config, "expect"))
        config = with_member(c, config, STR("expect"), value_list(items, ARRAY_SIZE(expected)));
    if (classes.kind == VALUE_ABSENT)
        classes = value_map_empty();
    if (classes.kind == VALUE_MAP && !compile_has(classes, "5xx") &&
        !compile_has(node, "reconcile"))
        config =
            with_member(c, config, STR("classes"),
                        with_member(c, classes, STR("5xx"),
                                    value_string(str_of(err_class_name(ERR_CLASS_TRANSIENT)))));
    return config;
}

/* The one command that a node runs. */
static void compile_config(struct compiler *c, const struct graph_node *node, struct step *step)
{
    struct value config = node->config;
    size_t outer = compile_enter(c, STR("config"));

    if (node->spec->place != PLACE_NODE) {
        if (compile_field(config, "type").kind != VALUE_ABSENT)
            compile_error_at(c, "type", FINDING_MISPLACED,
                             "the type of a node stands beside 'config'");
        if (node->own != NULL && node->spec->type == COMMAND_HTTP)
            config = http_config(c, config, node->written);
        config = with_member(c, config, STR("type"), value_string(str_of(node->spec->name)));
    }
    step->procedure = compile_node_procedure(c, node->spec, config);
    compile_leave(c, outer);
}

/* What a node may not say, because its edges do. */
static void check_node(struct compiler *c, const struct graph *g, const struct graph_node *node)
{
    struct str on_error = value_map_text(node->written, STR("onError"));

    if (graph_is_condition(node) && compile_has(node->written, "when")) {
        compile_error_at(c, "when", FINDING_MISPLACED,
                         "a condition that is skipped would take no branch");
        compile_hint(c, "ask for it in its expression");
    }
    if (graph_is_condition(node) && str_eq(on_error, STR("continue")) &&
        graph_edge_of(g, node, STR(ERROR_BRANCH)) == NULL)
        compile_error_at(c, "onError", FINDING_MISPLACED,
                         "a condition that has failed takes no branch but 'error'");
    if (on_error.len > 0 && !str_eq(on_error, STR("continue")) &&
        graph_edge_of(g, node, STR(ERROR_BRANCH)) != NULL)
        compile_error_at(c, "onError", FINDING_MISPLACED,
                         "the edge 'error' says what follows when '%.*s' has failed",
                         STR_ARG(node->id));
}

static void compile_node(struct compiler *c, struct graph *g, const struct program *p,
                         const struct graph_node *node, struct step *step)
{
    const struct cel_env *outer_env = c->env;
    struct value v = node->written;
    size_t outer;

    if (v.kind != VALUE_MAP || node->spec == NULL)
        return;
    compile_name_and_when(c, v, step);
    compile_config(c, node, step);
    compile_run_fields(c, v, p, c->env, step);
    if (compile_has(v, "rollback")) {
        outer = compile_enter(c, STR("rollback"));
        compile_rollback(c, compile_field(v, "rollback"), &step->rollback);
        compile_leave(c, outer);
    }
    c->env = outer_env;
    compile_on_error(c, v, p, step);
    check_node(c, g, node);
    compile_edges(c, g, node, step);
    step->meta = compile_meta(c, v);
}

/* Two places that say what an execution answers with. */
static void check_result(struct compiler *c, struct value definition, const struct graph *g)
{
    if (!compile_has(definition, "result"))
        return;
    for (uint32_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].spec != NULL && g->nodes[i].spec->type == COMMAND_NODE_END &&
            compile_has(g->nodes[i].config, "result")) {
            buf_clear(&c->path);
            buf_printf(&c->path, "/nodes/%u/config/result", i);
            c->step = g->nodes[i].id;
            compile_error(c, FINDING_ONE_OF,
                          "'result' of the schema says already what an execution answers with");
        }
    buf_clear(&c->path);
    c->step = STR_NONE;
}

/* --- results that cannot be there --- */

static void check_early_reads(struct compiler *c, struct graph *g, const struct program *p)
{
    for (size_t i = 0; i < c->early_reads.count; i++) {
        const struct early_read *r = &c->early_reads.items[i];
        struct finding *f;

        if (c->findings->count == FINDINGS_MAX ||
            graph_leads_to(c, g, g->order[r->read], g->order[r->step]))
            continue;
        f = VEC_ADD(c->mem, c->findings);
        *f = r->finding;
        f->message = sentence_make(
            c->mem,
            r->read == r->step ? "$.steps.%.*s is null until this node has ended"
                               : "$.steps.%.*s is null here: no way leads from that node to this",
            STR_ARG(p->steps[r->read].code));
        f->is_warning = true;
    }
}

/* --- the schema --- */

static void compile_nodes(struct compiler *c, struct graph *g, struct program *p)
{
    struct step *steps;
    struct cel_env *env;

    make_steps(c, g, p);
    p->env = c->env = env = declare_nodes(c, p);
    p->slot_count = cel_env_slot_count(p->env);
    steps = (struct step *)p->steps;
    for (uint32_t i = 0; i < p->step_count; i++) {
        compile_stand_at(c, &steps[i]);
        compile_node(c, g, p, &g->nodes[g->order[i]], &steps[i]);
        shape_say_step(c, env, &steps[i]);
        if (!c->is_stored && steps[i].code.len > 0)
            cel_env_pending(env, step_variable(c, &steps[i]), false);
    }
    c->step = STR_NONE;
    c->at = NULL;
    buf_clear(&c->path);
    check_early_reads(c, g, p);
}

void compile_schema(struct compiler *c, struct value definition, struct program *p)
{
    struct graph graph;

    if (!compile_fields(c, definition, TABLE_SCHEMA))
        return;
    compile_process(c, definition, TABLE_SCHEMA, p);
    graph_read(c, definition, &graph);
    compile_nodes(c, &graph, p);
    check_result(c, definition, &graph);
    p->result = compile_mapping_of(c, definition, "result");
}
