/* cases.c - named cases of the simulator; see sim.h. */
#include "sim/sim.h"

const struct sim_case sim_cases[] = {{.name = "none", .claim = "", .run = NULL}};
const size_t sim_case_count = 0;
