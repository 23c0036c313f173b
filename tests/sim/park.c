/* park.c - executions that the node cannot go on with, on the simulated disk; see sim.h. */
#include "engine/execution.h"
#include "sim/sim.h"
#include "store/change_park.h"

void disk_park(struct sim *sim, struct member *m)
{
    const struct execution_park *p = (const struct execution_park *)m->change;
    struct disk_execution *x = disk_find(&sim->disk, p->id);

    ASSERT(m->change->apply == execution_park_apply);
    m->result = MEMBER_APPLIED;
    if (x == NULL || status_is_terminal(x->s.status) || x->s.crash_count >= CRASHES_MAX)
        return;
    SIM_CHECK(sim, p->cause_json.len > 0, "a dead letter without a cause");
    x->s.crash_count = CRASHES_MAX;
    x->s.row_version++;
    *VEC_ADD(&sim->disk.mem, &x->versions) = (struct disk_version){.status = x->s.status};
}
