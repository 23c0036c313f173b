/* store_away.c - see store_away.h and node.h. */
#include "node/store_away.h"

#include "node/batch.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/request.h"

#include <stdatomic.h>

static int64_t longer(int64_t a_us, int64_t b_us)
{
    return a_us > b_us ? a_us : b_us;
}

void store_away_asked(struct node *n, const struct node_read *read)
{
    if (read->lane == LANE_ENGINE && n->store_away->reads++ == 0)
        n->store_away->read_since_us = clock_mono_us(n->clock);
}

void store_away_answered(struct node *n, const struct node_read *read)
{
    int64_t now_us = clock_mono_us(n->clock);

    if (read == NULL) {
        n->store_away->batch_since_us = now_us;
    } else if (read->lane == LANE_ENGINE) {
        n->store_away->reads--;
        n->store_away->read_since_us = now_us;
    }
}

int64_t node_store_away_us(const struct node *n)
{
    int64_t now_us = clock_mono_us(n->clock), us = 0;
    int64_t lost_us = store_lost_since_us(n->store);

    /* The second batch waits for the first, which says nothing about the store. */
    if (n->batches->outstanding > 0)
        us = longer(us, now_us - longer(n->batches->sent_at_us[0], n->store_away->batch_since_us));
    if (n->store_away->reads > 0)
        us = longer(us, now_us - n->store_away->read_since_us);
    if (lost_us != 0)
        us = longer(us, clock_mono_us(&clock_system) - lost_us);
    return us;
}

bool node_store_is_away(const struct node *n)
{
    return node_store_away_us(n) >= STORE_AWAY_US;
}
