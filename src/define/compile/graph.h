/*
 * graph.h - the graph of a schema before its nodes are compiled: which nodes there are, and which
 * edges lead from where to where. Internal to src/define.
 *
 * why: decision 0517
 */
#ifndef PAWL_DEFINE_COMPILE_GRAPH_H
#define PAWL_DEFINE_COMPILE_GRAPH_H

#include "define/compile/compile.h"

enum { NODES_MAX = 1000, EDGES_MAX = 5000, BRANCH_CASES_MAX = 100 };

/* No node, no edge. */
#define NO_INDEX UINT32_MAX

/* The branch of an edge that a node's final failure takes. */
#define ERROR_BRANCH "error"

struct graph_edge {
    uint32_t source, target; /* nodes; NO_INDEX after a finding */
    struct str branch;       /* empty: the edge that is followed when nothing else says where to */
    uint32_t next;           /* that leaves the same node, or NO_INDEX */
};

struct graph_node {
    struct str id;                    /* empty after a finding */
    struct value written, config;     /* the node; its fields by type: a map */
    const struct command_spec *spec;  /* that it runs; NULL after a finding */
    const struct node_type_spec *own; /* a type of node; NULL: any command */
    uint32_t first_edge, last_edge;   /* that leave it, in order, or NO_INDEX */
    uint32_t step;                    /* what it becomes: an index of the program */
    bool is_reached;
};

/* Where a walk through the graph stands. */
struct graph_visit {
    uint32_t node, edge;
    bool asked_timeout;
};

struct graph {
    struct graph_node *nodes;
    struct graph_edge *edges;
    uint32_t node_count, edge_count;
    uint32_t start;   /* the node, or NO_INDEX */
    uint32_t *order;  /* nodes in the order of the program's steps: the start, then what follows */
    struct map by_id; /* of struct graph_node */
    struct graph_visit *stack; /* of a walk */
    bool **leads_to;           /* by node: what it leads to, once that was asked; or NULL */
};

/* `nodes` and `edges` of the schema where we stand. Whatever is wrong with the graph is a finding. */
void graph_read(struct compiler *c, struct value definition, struct graph *g);

bool graph_is_condition(const struct graph_node *node);

/* The edge of that branch, or NULL. */
const struct graph_edge *graph_edge_of(const struct graph *g, const struct graph_node *node,
                                       struct str branch);

/* Whether edges, or a wait whose time is up, lead from one node to another, over others or not. */
bool graph_leads_to(struct compiler *c, struct graph *g, uint32_t from, uint32_t to);

#endif
