/* outgoing.c - see outgoing.h. */
#include "node/outside/outgoing.h"

#include "engine/commit/commit.h"
#include "engine/execution.h"

static const struct outgoing *const kinds[ASK_COUNT] = {
#define ASK(symbol, name, kind, is_stored) [ASK_##symbol] = &outgoing_##kind,
#include "engine/commit/ask.def"
#undef ASK
};

void outgoing_reserve(struct node *n, struct commit *commit)
{
    for (size_t i = 0; i < commit->asks.count; i++) {
        struct ask *a = &commit->asks.items[i];

        if (kinds[a->kind]->reserve != NULL)
            kinds[a->kind]->reserve(n, commit, a);
    }
}

void outgoing_release(struct node *n, const struct commit *commit)
{
    for (size_t i = 0; i < commit->asks.count; i++) {
        const struct ask *a = &commit->asks.items[i];

        if (kinds[a->kind]->release != NULL)
            kinds[a->kind]->release(n, commit, a);
    }
}

void outgoing_send(struct node *n, const struct commit *commit)
{
    for (size_t i = 0; i < commit->asks.count; i++)
        kinds[commit->asks.items[i].kind]->send(n, commit, &commit->asks.items[i]);
}
