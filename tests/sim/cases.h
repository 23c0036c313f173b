/*
 * cases.h - what the named cases are made of; see sim.h.
 *
 * A case makes things happen one by one: nothing is random, and nothing goes
 * wrong unless it says so.
 */
#ifndef PAWL_TESTS_SIM_CASES_H
#define PAWL_TESTS_SIM_CASES_H

#include "sim/sim.h"

#define SECOND INT64_C(1000000)
#define DAY (INT64_C(86400) * SECOND)

/* The world of the case that runs. */
extern struct sim sim;
/* Its node; some cases have a second one: sim.nodes[1]. */
static struct sim_node *const only = &sim.nodes[0];

void case_begin(void);
/* With so many nodes. Requests go to the first one, until another is named. */
void case_begin_nodes(unsigned count);
void case_ask(unsigned node);
/* Come to rest, check everything, and end it. */
void case_end(void);

/* Publish a scenario of these steps; ' stands for ". `rest` are further fields, or "". */
void case_define(const char *code, const char *steps, const char *rest);

struct asked *case_start(const char *code, const char *input, int64_t wait_us);
struct asked *case_start_key(const char *code, const char *key, int64_t wait_us);
struct asked *case_signal(struct uuid id, const char *signal_id, const char *payload);
struct asked *case_cancel(struct uuid id);
struct asked *case_pause(struct uuid id);
struct asked *case_resume(struct uuid id);
struct asked *case_retry(struct uuid id, const char *input);
struct asked *case_wait(struct uuid id, int64_t wait_us);

/* A request is answered with success, after everything under way has happened. */
struct uuid case_started(struct asked *a);

/* The store does one thing: a batch is written, and comes back; all reads happen. */
void case_write(void);
void case_deliver(void);
void case_read(void);
/* Passes until the node has nothing more to do without the store. */
void case_pass(void);
/* Everything under way happens. */
void case_settle(void);

void case_let_pass(int64_t us);

const struct disk_execution *case_disk(struct uuid id);
enum execution_status case_status(struct uuid id);

#define CLAIM(condition)                                                                           \
    SIM_CHECK(&sim, condition, "%s:%d: not so: %s", __FILE__, __LINE__, #condition)

#define CASE(name, claim) void case_##name(void);
#include "sim/cases.def"
#undef CASE

#endif
