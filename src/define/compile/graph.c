/* graph.c - reading the nodes and edges of a schema; see graph.h. */
#include "define/compile/graph.h"

#include "base/text/ascii.h"
#include "base/text/nearest.h"

/* --- nodes --- */

static bool is_node_id(struct str id)
{
    return compile_is_name(id) && ascii_is_letter(id.ptr[0]);
}

static bool is_reserved_id(struct str id)
{
    static const char words[] =
#define JUMP_WORD(symbol, word) word " "
#include "define/catalog/jump_words.def"
#undef JUMP_WORD
        ;

    return catalog_has_word(STR(words), id);
}

static void read_id(struct compiler *c, struct graph *g, struct graph_node *node)
{
    struct str id = compile_text(c, node->written, "id");
    size_t outer;

    if (compile_field(node->written, "id").kind != VALUE_STRING)
        return;
    outer = compile_enter(c, STR("id"));
    if (!is_node_id(id)) {
        compile_error(c, FINDING_BAD_CODE,
                      "the id of a node is a letter, then letters, digits or '_', at most %d of "
                      "them",
                      NAME_MAX_LEN);
    } else if (is_reserved_id(id)) {
        compile_error(c, FINDING_RESERVED_CODE, "'%.*s' is a word of jumps and no id of a node",
                      STR_ARG(id));
        compile_hint(c, "write '%.*s_1'", STR_ARG(id));
    } else if (map_get(&g->by_id, id) != NULL) {
        compile_error(c, FINDING_DUPLICATE_CODE, "there are two nodes '%.*s'", STR_ARG(id));
        compile_hint(c, "each node has an id of its own");
    } else {
        node->id = id;
        map_put(&g->by_id, id, node);
    }
    compile_leave(c, outer);
}

static void hint_node_types(struct compiler *c)
{
    struct buf names;

    buf_init_arena(&names, c->mem);
    for (unsigned i = 0; i < NODE_TYPE_COUNT; i++)
        buf_printf(&names, "%s%s", i == 0 ? "" : ", ", catalog_node_type((enum node_type)i)->name);
    compile_hint(c, "the types are %.*s, and all commands", STR_ARG(buf_view(&names)));
}

static void read_node_type(struct compiler *c, struct graph_node *node)
{
    struct str name = compile_text(c, node->written, "type");
    size_t outer;

    if (compile_field(node->written, "type").kind != VALUE_STRING)
        return;
    node->own = catalog_find_node_type(name);
    node->spec = node->own != NULL ? catalog_command(node->own->command) : catalog_find(name);
    if (node->spec != NULL)
        return;
    outer = compile_enter(c, STR("type"));
    compile_error(c, FINDING_UNKNOWN_COMMAND, "there is no type of node '%.*s'", STR_ARG(name));
    compile_did_you_mean(c, catalog_nearest_node_type(name));
    if (catalog_nearest_node_type(name).len == 0)
        hint_node_types(c);
    compile_leave(c, outer);
}

static bool node_is_type(const struct graph_node *node, enum command_type type)
{
    return node->spec != NULL && node->spec->type == type;
}

bool graph_is_condition(const struct graph_node *node)
{
    return node_is_type(node, COMMAND_CONDITION);
}

static void read_node(struct compiler *c, struct graph *g, struct graph_node *node, struct value v)
{
    *node = (struct graph_node){
        .written = v, .config = value_map_empty(), .first_edge = NO_INDEX, .last_edge = NO_INDEX};
    if (!compile_fields(c, v, TABLE_NODE))
        return;
    read_id(c, g, node);
    c->step = node->id;
    read_node_type(c, node);
    if (compile_has(v, "config"))
        node->config = compile_of_kind(c, v, "config", VALUE_MAP, "an object");
    if (node->config.kind != VALUE_MAP)
        node->config = value_map_empty();
    if (node_is_type(node, COMMAND_NODE_START) && g->start != NO_INDEX)
        compile_error(c, FINDING_DUPLICATE_CODE, "a schema has one start: '%.*s' is one already",
                      STR_ARG(g->nodes[g->start].id));
    else if (node_is_type(node, COMMAND_NODE_START))
        g->start = (uint32_t)(node - g->nodes);
    c->step = STR_NONE;
}

static void read_nodes(struct compiler *c, struct value list, struct graph *g)
{
    size_t outer = compile_enter(c, STR("nodes"));

    if (list.kind != VALUE_LIST && list.kind != VALUE_ABSENT)
        compile_wrong_type(c, list, "a list of nodes");
    if (list.kind == VALUE_LIST && list.len > NODES_MAX)
        compile_error(c, FINDING_LIMIT_STEPS, "a schema has at most %d nodes, not %u", NODES_MAX,
                      list.len);
    else if (list.kind == VALUE_LIST)
        g->node_count = list.len;
    g->nodes = ARENA_ARRAY(c->mem, g->node_count + 1u, struct graph_node);
    for (uint32_t i = 0; i < g->node_count; i++) {
        size_t item = compile_enter_index(c, i);

        read_node(c, g, &g->nodes[i], list.items[i]);
        compile_leave(c, item);
    }
    if (list.kind == VALUE_LIST && list.len <= NODES_MAX && g->start == NO_INDEX) {
        compile_error(c, FINDING_MISSING_FIELD, "a schema needs a node of the type 'start'");
        compile_hint(c, "write %s", "{\"id\": \"start_1\", \"type\": \"start\"}");
    }
    compile_leave(c, outer);
}

/* --- edges --- */

static struct str nearest_node(const struct graph *g, struct str id)
{
    struct nearest n = nearest_to(id);

    for (uint32_t i = 0; i < g->node_count; i++)
        nearest_offer(&n, g->nodes[i].id);
    return n.best;
}

/* The node that a field of an edge names, or NO_INDEX. */
static uint32_t read_node_of(struct compiler *c, const struct graph *g, struct value edge,
                             const char *field)
{
    struct str id = compile_text(c, edge, field);
    const struct graph_node *node = map_get(&g->by_id, id);

    if (node != NULL)
        return (uint32_t)(node - g->nodes);
    if (compile_field(edge, field).kind == VALUE_STRING) {
        compile_error_at(c, field, FINDING_UNKNOWN_STEP, "there is no node '%.*s'", STR_ARG(id));
        if (c->findings->count < FINDINGS_MAX)
            compile_did_you_mean(c, nearest_node(g, id));
    }
    return NO_INDEX;
}

/* The branches by which a condition is left, but for "error": one after the other, from 0 on. */
static bool condition_branch(const struct graph_node *node, uint32_t i, struct str *out)
{
    struct value cases = compile_field(node->config, "cases");

    if (cases.kind != VALUE_LIST) {
        *out = i == 0 ? STR("true") : STR("false");
        return i < 2;
    }
    *out = i < cases.len ? value_map_text(cases.items[i], STR("branch")) : STR("default");
    return i <= cases.len && i <= BRANCH_CASES_MAX;
}

static void check_condition_branch(struct compiler *c, const struct graph_node *node,
                                   struct str branch)
{
    struct nearest n = nearest_to(branch);
    struct str known;

    for (uint32_t i = 0; condition_branch(node, i, &known); i++) {
        if (str_eq(known, branch))
            return;
        nearest_offer(&n, known);
    }
    if (branch.len == 0) {
        compile_missing(c, "branch");
        compile_hint(c, "an edge that leaves a condition says of which branch it is");
        return;
    }
    compile_error_at(c, "branch", FINDING_BAD_VALUE, "the node '%.*s' has no branch '%.*s'",
                     STR_ARG(node->id), STR_ARG(branch));
    compile_did_you_mean(c, n.best);
}

static void check_branch(struct compiler *c, const struct graph_node *node, struct str branch)
{
    bool is_error = str_eq(branch, STR(ERROR_BRANCH));

    if (node_is_type(node, COMMAND_NODE_END))
        compile_error_at(c, "source", FINDING_BAD_JUMP,
                         "nothing follows '%.*s': it is the end of the execution",
                         STR_ARG(node->id));
    else if (is_error && node_is_type(node, COMMAND_NODE_START))
        compile_error_at(c, "branch", FINDING_BAD_VALUE, "a start never fails");
    else if (is_error || node->spec == NULL)
        return;
    else if (graph_is_condition(node))
        check_condition_branch(c, node, branch);
    else if (branch.len > 0) {
        compile_error_at(c, "branch", FINDING_BAD_VALUE, "the node '%.*s' has no branch '%.*s'",
                         STR_ARG(node->id), STR_ARG(branch));
        compile_hint(c, "a condition has branches; any other node has \"error\" and an edge "
                        "without 'branch'");
    }
}

const struct graph_edge *graph_edge_of(const struct graph *g, const struct graph_node *node,
                                       struct str branch)
{
    for (uint32_t i = node->first_edge; i != NO_INDEX; i = g->edges[i].next)
        if (str_eq(g->edges[i].branch, branch))
            return &g->edges[i];
    return NULL;
}

static void say_twin(struct compiler *c, const struct graph_node *node, struct str branch)
{
    if (branch.len > 0)
        compile_error_at(c, "branch", FINDING_DUPLICATE_NAME,
                         "another edge leaves '%.*s' by the branch '%.*s'", STR_ARG(node->id),
                         STR_ARG(branch));
    else
        compile_error_at(c, "source", FINDING_DUPLICATE_NAME, "another edge leaves '%.*s'",
                         STR_ARG(node->id));
}

static void read_edge(struct compiler *c, struct graph *g, struct graph_edge *edge, struct value v)
{
    struct graph_node *node;

    *edge = (struct graph_edge){.source = NO_INDEX, .target = NO_INDEX, .next = NO_INDEX};
    if (!compile_fields(c, v, TABLE_EDGE))
        return;
    edge->source = read_node_of(c, g, v, "source");
    edge->target = read_node_of(c, g, v, "target");
    if (compile_has(v, "branch"))
        edge->branch = compile_text(c, v, "branch");
    (void)compile_text(c, v, "id");
    if (edge->target != NO_INDEX && node_is_type(&g->nodes[edge->target], COMMAND_NODE_START))
        compile_error_at(c, "target", FINDING_BAD_JUMP, "nothing leads to the start '%.*s'",
                         STR_ARG(g->nodes[edge->target].id));
    if (edge->source == NO_INDEX)
        return;
    node = &g->nodes[edge->source];
    check_branch(c, node, edge->branch);
    if (graph_edge_of(g, node, edge->branch) != NULL)
        say_twin(c, node, edge->branch);
    if (node->last_edge == NO_INDEX)
        node->first_edge = (uint32_t)(edge - g->edges);
    else
        g->edges[node->last_edge].next = (uint32_t)(edge - g->edges);
    node->last_edge = (uint32_t)(edge - g->edges);
}

static void read_edges(struct compiler *c, struct value list, struct graph *g)
{
    size_t outer = compile_enter(c, STR("edges"));

    if (list.kind != VALUE_LIST && list.kind != VALUE_ABSENT)
        compile_wrong_type(c, list, "a list of edges");
    if (list.kind == VALUE_LIST && list.len > EDGES_MAX)
        compile_error(c, FINDING_LIMIT_STEPS, "a schema has at most %d edges, not %u", EDGES_MAX,
                      list.len);
    else if (list.kind == VALUE_LIST)
        g->edge_count = list.len;
    g->edges = ARENA_ARRAY(c->mem, g->edge_count + 1u, struct graph_edge);
    for (uint32_t i = 0; i < g->edge_count; i++) {
        size_t item = compile_enter_index(c, i);

        read_edge(c, g, &g->edges[i], list.items[i]);
        compile_leave(c, item);
    }
    compile_leave(c, outer);
}

/* --- the graph as a whole --- */

/* The node that a wait goes to when its time is up, {"onTimeout": {"to": id}}; or NO_INDEX. */
static uint32_t timeout_target(const struct graph *g, const struct graph_node *node)
{
    struct value to = value_map_member(value_map_member(node->config, STR("onTimeout")), STR("to"));
    const struct graph_node *target =
        to.kind == VALUE_STRING ? map_get(&g->by_id, value_text(to)) : NULL;

    return target != NULL ? (uint32_t)(target - g->nodes) : NO_INDEX;
}

/*
 * Walk over all that a node leads to, itself included, depth first. Where nothing else follows,
 * *count is lowered and the node put at order[*count]: what comes later in the order is there first.
 */
static void graph_walk(struct graph *g, uint32_t from, bool *is_seen, uint32_t *order,
                       uint32_t *count)
{
    uint32_t depth = 0;

    is_seen[from] = true;
    g->stack[depth++] = (struct graph_visit){.node = from, .edge = g->nodes[from].first_edge};
    while (depth > 0) {
        struct graph_visit *top = &g->stack[depth - 1];
        uint32_t to = NO_INDEX;

        if (!top->asked_timeout) {
            top->asked_timeout = true;
            to = timeout_target(g, &g->nodes[top->node]);
        } else if (top->edge != NO_INDEX) {
            to = g->edges[top->edge].target;
            top->edge = g->edges[top->edge].next;
        } else {
            if (order != NULL)
                order[--*count] = top->node;
            depth--;
            continue;
        }
        if (to == NO_INDEX || is_seen[to])
            continue;
        is_seen[to] = true;
        g->stack[depth++] = (struct graph_visit){.node = to, .edge = g->nodes[to].first_edge};
    }
}

bool graph_leads_to(struct compiler *c, struct graph *g, uint32_t from, uint32_t to)
{
    bool *is_seen = g->leads_to[from];
    uint32_t timeout = timeout_target(g, &g->nodes[from]);

    if (is_seen != NULL)
        return is_seen[to];
    is_seen = g->leads_to[from] = arena_zalloc(c->mem, g->node_count + 1u);
    for (uint32_t i = g->nodes[from].first_edge; i != NO_INDEX; i = g->edges[i].next)
        if (g->edges[i].target != NO_INDEX && !is_seen[g->edges[i].target])
            graph_walk(g, g->edges[i].target, is_seen, NULL, NULL);
    if (timeout != NO_INDEX && !is_seen[timeout])
        graph_walk(g, timeout, is_seen, NULL, NULL);
    return is_seen[to];
}

/* Stand at a node, and say its id with what is found. */
static size_t enter_node(struct compiler *c, const struct graph *g, uint32_t i)
{
    size_t outer = compile_enter(c, STR("nodes"));

    (void)compile_enter_index(c, i);
    c->step = g->nodes[i].id;
    return outer;
}

static void leave_node(struct compiler *c, size_t outer)
{
    c->step = STR_NONE;
    compile_leave(c, outer);
}

/* Nodes in the order of steps: the start first, each before what follows it but for edges back. */
static void find_order(struct compiler *c, struct graph *g, bool says)
{
    bool *is_seen = arena_zalloc(c->mem, g->node_count + 1u);
    uint32_t *order = ARENA_ARRAY(c->mem, g->node_count + 1u, uint32_t), first = g->node_count;
    uint32_t count = 0;

    g->order = ARENA_ARRAY(c->mem, g->node_count + 1u, uint32_t);
    g->stack = ARENA_ARRAY(c->mem, g->node_count + 1u, struct graph_visit);
    g->leads_to = arena_zalloc(c->mem, (g->node_count + 1u) * sizeof(*g->leads_to));
    if (g->start != NO_INDEX)
        graph_walk(g, g->start, is_seen, order, &first);
    for (uint32_t i = first; i < g->node_count; i++)
        g->order[count++] = order[i];
    for (uint32_t i = 0; i < g->node_count; i++) {
        g->nodes[i].is_reached = is_seen[i];
        if (is_seen[i])
            continue;
        g->order[count++] = i;
        if (says && g->start != NO_INDEX) {
            size_t outer = enter_node(c, g, i);

            compile_error(c, FINDING_UNREACHABLE, "no way leads from the start to '%.*s'",
                          STR_ARG(g->nodes[i].id));
            leave_node(c, outer);
        }
    }
    for (uint32_t i = 0; i < g->node_count; i++)
        g->nodes[g->order[i]].step = i;
}

/* Whether a branch of a condition that stands before number `i` has that name. */
static bool is_named_before(const struct graph_node *node, uint32_t i, struct str branch)
{
    struct str before;

    for (uint32_t k = 0; k < i && condition_branch(node, k, &before); k++)
        if (str_eq(before, branch))
            return true;
    return false;
}

/* A node that nothing follows ends the execution; a branch of a condition must lead somewhere. */
static void check_ways_out(struct compiler *c, const struct graph *g, const struct graph_node *node)
{
    struct str branch;

    if (graph_is_condition(node)) {
        for (uint32_t i = 0; condition_branch(node, i, &branch); i++)
            if (branch.len > 0 && graph_edge_of(g, node, branch) == NULL &&
                !is_named_before(node, i, branch))
                compile_error(c, FINDING_MISSING_FIELD,
                              "no edge leaves '%.*s' by the branch '%.*s'", STR_ARG(node->id),
                              STR_ARG(branch));
    } else if (!node_is_type(node, COMMAND_NODE_END) && graph_edge_of(g, node, STR_NONE) == NULL) {
        compile_warning(c, FINDING_NO_STEPS, "nothing follows '%.*s': the execution ends there",
                        STR_ARG(node->id));
        compile_hint(c, "lead an edge from it to a node of the type 'end'");
    }
}

void graph_read(struct compiler *c, struct value definition, struct graph *g)
{
    uint32_t errors = c->errors;

    *g = (struct graph){.start = NO_INDEX};
    map_init(&g->by_id, c->mem);
    read_nodes(c, compile_field(definition, "nodes"), g);
    read_edges(c, compile_field(definition, "edges"), g);
    for (uint32_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].id.len > 0 && g->nodes[i].spec != NULL) {
            size_t outer = enter_node(c, g, i);

            check_ways_out(c, g, &g->nodes[i]);
            leave_node(c, outer);
        }
    /* Behind an edge that could not be read everything seems out of reach. */
    find_order(c, g, c->errors == errors);
}
