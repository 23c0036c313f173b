/*
 * gate.h - lets the checkpoint thread hold the writer between two batches.
 *
 * The writer is inside while it has a transaction. Whoever wants to hold it
 * asks; the writer stays outside until that one is done.
 */
#ifndef PAWL_STORE_GATE_H
#define PAWL_STORE_GATE_H

#include "base/attr.h"

#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_inside, is_held;
};

static inline void gate_init(struct gate *g)
{
    *g = (struct gate){0};
    if (pthread_mutex_init(&g->lock, NULL) != 0 || pthread_cond_init(&g->changed, NULL) != 0)
        PANIC("no mutex");
}

static inline void gate_fini(struct gate *g)
{
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
}

static inline void gate_enter(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->is_held)
        pthread_cond_wait(&g->changed, &g->lock);
    g->is_inside = true;
    pthread_mutex_unlock(&g->lock);
}

static inline void gate_leave(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_inside = false;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static inline void gate_hold(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_held = true;
    while (g->is_inside)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static inline void gate_let_go(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_held = false;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

#endif
