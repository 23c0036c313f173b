/*
 * config.h - $.config, and what else a node remembers of definitions that
 * anyone may change. Internal to src/node.
 *
 * The config is in memory as one map. It is read before anything is advanced,
 * and changed when a change of this node is durable, before that is answered.
 * Where other nodes write to the same database, a number is read every second
 * that grows with every change; when it has grown, the config is read anew,
 * published versions are asked for again, and programs that reach a procedure or a
 * function of another version are compiled anew. A program that was read
 * comes with that number, too: it may rest on config that is not known here, so
 * nothing is advanced until that was read.
 */
#ifndef PAWL_NODE_CLUSTER_CONFIG_H
#define PAWL_NODE_CLUSTER_CONFIG_H

#include "node/chore/chore.h"
#include "node/work.h"

struct config {
    struct chore chore;             /* reads the number, and what is behind it when it has grown */
    struct arena mem;               /* of `map` */
    struct value map;               /* $.config */
    bool is_known;                  /* it was read; nothing is advanced before */
    struct work_queue early_starts; /* asked for before that */
    int64_t changes;                /* of definitions, by this node */
    int64_t stamp;                  /* of the changes that are known; -1 before the first read */
    int64_t needed_stamp;           /* something that was read rests on these changes */
};

void config_init(struct config *c);
void config_fini(struct config *c);

/* Something that was read rests on these changes: nothing is advanced until they are known. */
void config_expect(struct node *n, int64_t stamp);

/* A change of this node, and those behind it, are durable. */
void config_changed(struct node *n, const struct definition_change *first);

#endif
