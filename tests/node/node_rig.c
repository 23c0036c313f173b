/* node_rig.c - see node_rig.h. */
#include "node/node_rig.h"
#include "store/change_definition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void open_node(struct fixture *f)
{
    struct err err;

    f->node = node_open(&f->options, &err);
    if (f->node == NULL)
        fail_msg("%s", err.message);
}

int node_rig_open(void **state, struct node_options options)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    folder_make(f->path);
    arena_init(&f->mem);
    clock_manual_init(&f->clock, INT64_C(1700000000000000));
    f->user = (struct node_user){.id = STR("u1"), .name = STR("Ada"), .role = STR("admin")};
    f->options = options;
    f->options.clock = &f->clock.clock;
    f->options.data_path = str_of(f->path);
    open_node(f);
    *state = f;
    return 0;
}

int node_rig_close(void **state)
{
    struct fixture *f = *state;

    node_close(f->node);
    arena_fini(&f->mem);
    folder_drop(f->path);
    free(f);
    return 0;
}

void node_rig_reopen(struct fixture *f)
{
    node_close(f->node);
    open_node(f);
}

static void set_done(struct node_request *r)
{
    *(bool *)r->owner = true;
}

void node_rig_submit(struct fixture *f, struct node_request *r, struct arena *mem, bool *done)
{
    struct err err;

    *done = false;
    r->mem = mem;
    r->done = set_done;
    r->owner = done;
    r->user = f->user;
    assert_true(node_submit(f->node, r, &err));
}

void node_rig_advance(struct fixture *f, int64_t us)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(120) * 1000000;

    clock_manual_advance(&f->clock, us);
    while (node_store_away_us(f->node) >= STORE_LATE_US && clock_mono_us(&clock_system) < until_us)
        if (!node_pass(f->node))
            usleep(20);
    assert_true(node_store_away_us(f->node) < STORE_LATE_US);
}

void node_rig_pass_until(struct fixture *f, const bool *done)
{
    int64_t until_us = clock_mono_us(&clock_system) + INT64_C(120) * 1000000;

    while (!*done && clock_mono_us(&clock_system) < until_us)
        if (!node_pass(f->node))
            usleep(20);
    assert_true(*done);
}

void node_rig_try(struct fixture *f, struct node_request *r, struct arena *mem)
{
    bool done;

    node_rig_submit(f, r, mem, &done);
    node_rig_pass_until(f, &done);
}

void node_rig_ask(struct fixture *f, struct node_request *r, struct arena *mem)
{
    node_rig_try(f, r, mem);
    if (!r->ok)
        fail_msg("%s", r->err.message);
}

void node_rig_define(struct fixture *f, const char *kind, const char *code, const char *text)
{
    struct node_request r = {.kind = NODE_DEFINITION};
    bool is_process = strcmp(kind, "scenario") == 0;
    struct arena mem;

    arena_init(&mem);
    r.definitions = &(struct definition_change){
        .action = is_process ? DEFINITION_PUBLISH : DEFINITION_PUT,
        .is_process = is_process,
        .kind = str_of(kind),
        .code = str_of(code),
        .name = str_of(code),
        .text = str_of(text),
        .user_id = STR("u1"),
        .if_match = -1,
        .now_us = clock_wall_us(&f->clock.clock),
    };
    node_rig_ask(f, &r, &mem);
    arena_fini(&mem);
}

struct uuid node_rig_start(struct fixture *f, const char *code)
{
    struct node_request r = {.kind = NODE_START, .code = str_of(code)};
    struct arena mem;

    arena_init(&mem);
    r.event.input = value_map_empty();
    node_rig_ask(f, &r, &mem);
    arena_fini(&mem);
    return r.id;
}
