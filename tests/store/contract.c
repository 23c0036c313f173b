/* contract.c - the helpers of contract.h. */
#include "store/contract.h"
#include "define/kind.h"
#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/planner.h"
#include "store/read_execution.h"
#include "store/read_planner.h"

#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#define START_MS INT64_C(1700000000000)

static const struct step steps[] = {
    {.index = 0, .code = {.ptr = "reserve", .len = 7}},
    {.index = 1, .code = {.ptr = "pay", .len = 3}},
};
static const struct program program = {
    .kind = KIND_SCENARIO,
    .code = {.ptr = "order", .len = 5},
    .version = 3,
    .steps = steps,
    .step_count = 2,
};

static void open_store(struct contract *c)
{
    struct err err = {0};
    struct store_options options = {
        .url = c->url, .data_path = str_of(c->folder), .done = &c->done, .reader_count = 2};

    c->store = store_open(&options, &err);
    if (c->store == NULL)
        fail_msg("store_open: %s", err.message);
    c->batches = 0;
}

void contract_open(struct contract *c, struct str url)
{
    struct err err;
    const char *base = getenv("TMPDIR");

    *c = (struct contract){.url = url};
    arena_init(&c->mem);
    uuid_gen_init(&c->ids, NULL, NULL);
    assert_true(mailbox_init(&c->done, 64, &err));
    (void)snprintf(c->folder, sizeof(c->folder), "%s/pawl-store-XXXXXX",
                   base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(c->folder));
    open_store(c);
}

void contract_reopen(struct contract *c)
{
    store_close(c->store);
    open_store(c);
}

void contract_close(struct contract *c)
{
    char command[128];

    store_close(c->store);
    mailbox_fini(&c->done);
    arena_fini(&c->mem);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", c->folder);
    assert_int_equal(system(command), 0);
}

struct uuid contract_id(struct contract *c, int64_t ms)
{
    return uuid_gen_next(&c->ids, ms);
}

/* --- commits --- */

static void add_history(struct contract *c, struct commit *commit, int count)
{
    struct execution *e = commit->after;

    for (int i = 0; i < count; i++) {
        int64_t seq = ++e->seq;

        *VEC_ADD(&c->mem, &commit->history) = (struct history_row){
            .seq = seq,
            .kind = HISTORY_FORWARD,
            .step = seq % 2 == 1 ? STR("reserve") : STR("pay"),
            .status = STR("completed"),
            .visit = 1,
            .attempt = 1,
            .key = str_printf(&c->mem, "key-%d", (int)seq),
            .output_json = str_printf(&c->mem, "{\"n\":%d}", (int)seq),
            .delta_json = STR("{\"a\":1}"),
            .started_at_us = e->updated_at_us,
            .completed_at_us = e->updated_at_us + 1,
        };
    }
}

static void set_status(struct execution *e, enum execution_status status)
{
    bool is_terminal = status >= STATUS_COMPLETED;

    e->status = status;
    e->wake_at_us = is_terminal ? 0 : e->created_at_us + 60 * 1000000;
    e->completed_at_us = is_terminal ? e->updated_at_us : 0;
    e->waiting_for_json = status == STATUS_WAITING ? STR("{\"kind\":\"signal\"}") : STR_NONE;
    e->error_json = status == STATUS_FAILED ? STR("{\"code\":\"card_declined\"}") : STR_NONE;
    e->result_json = status == STATUS_COMPLETED ? STR("{\"ok\":true}") : STR_NONE;
}

struct commit *contract_start(struct contract *c, enum execution_status status, int count)
{
    struct commit *commit = ARENA_NEW(&c->mem, struct commit);
    struct execution *e = ARENA_NEW(&c->mem, struct execution);
    struct uuid id = contract_id(c, START_MS);

    *e = (struct execution){
        .id = id,
        .program = &program,
        .org_id = STR("org-1"),
        .user_json = STR("{\"id\":\"ann\"}"),
        .created_at_us = START_MS * 1000 + 7,
        .started_at_us = START_MS * 1000 + 8,
        .updated_at_us = START_MS * 1000 + 9,
        .deadline_at_us = START_MS * 1000 + 1000000,
        .input_json = STR("{\"amount\":12.5,\"name\":\"J\u00f6rg\"}"),
        .row_version = 1,
    };
    set_status(e, status);
    *commit = (struct commit){
        .is_start = true, .after = e, .wall_us = e->updated_at_us, .writes_context = true};
    add_history(c, commit, count);
    e->checkpoint_seq = e->seq;
    commit->context_json = STR("{\"steps\":{}}");
    commit->cursor_json = status < STATUS_COMPLETED ? STR("{\"step\":\"reserve\"}") : STR_NONE;
    return commit;
}

struct commit *contract_advance(struct contract *c, const struct commit *before,
                                enum execution_status status, int count)
{
    struct commit *commit = ARENA_NEW(&c->mem, struct commit);
    struct execution *e = ARENA_NEW(&c->mem, struct execution);

    *e = *before->after;
    e->row_version++;
    e->updated_at_us += 1000;
    e->cursor.step = 1;
    set_status(e, status);
    *commit = (struct commit){
        .after = e, .wall_us = e->updated_at_us, .read_version = before->after->row_version};
    add_history(c, commit, count);
    commit->cursor_json = status < STATUS_COMPLETED ? STR("{\"step\":\"pay\"}") : STR_NONE;
    return commit;
}

struct member *contract_member(struct contract *c, const struct commit *commit)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);

    m->kind = MEMBER_COMMIT;
    m->commit = commit;
    return m;
}

/* --- batches and tasks --- */

struct batch *contract_batch(struct contract *c, struct member *first, ...)
{
    struct batch *b = ARENA_NEW(&c->mem, struct batch);
    va_list more;

    b->item = STORE_BATCH;
    b->number = ++c->batches;
    b->seen = c->seen;
    arena_init(&b->mem);
    va_start(more, first);
    for (struct member *m = first; m != NULL; m = va_arg(more, struct member *))
        *VEC_ADD(&c->mem, &b->members) = m;
    va_end(more);
    return b;
}

void *contract_take(struct contract *c)
{
    void *item;

    while (mailbox_take(&c->done, &item, 1) == 0) {
        struct pollfd poll_fd = {.fd = mailbox_fd(&c->done), .events = POLLIN};

        assert_true(poll(&poll_fd, 1, 60000) > 0);
    }
    if (*(const enum store_item *)item == STORE_BATCH)
        c->seen = ((const struct batch *)item)->number;
    return item;
}

void contract_write(struct contract *c, struct batch *b)
{
    assert_true(store_submit(c->store, b));
    assert_ptr_equal(contract_take(c), b);
    for (size_t i = 0; i < b->members.count; i++)
        if (b->members.items[i]->answer.len > 0)
            b->members.items[i]->answer = str_copy(&c->mem, b->members.items[i]->answer);
    arena_fini(&b->mem);
}

enum member_result contract_commit(struct contract *c, const struct commit *commit)
{
    struct member *m = contract_member(c, commit);
    struct batch *b = contract_batch(c, m, NULL);

    contract_write(c, b);
    if (b->end != BATCH_COMMITTED)
        fail_msg("the batch was not committed: %s", b->err.message);
    return m->result;
}

struct read_task {
    struct store_read task;
    struct contract *contract;
    contract_read_fn *read;
    void *context;
};

static void run_read(struct store_read *task, struct reader *reader)
{
    struct read_task *t = (struct read_task *)task;

    t->read(t->contract, reader, t->context);
}

void contract_read(struct contract *c, contract_read_fn *read, void *context)
{
    struct read_task task = {.task = {.item = STORE_READ, .run = run_read},
                             .contract = c,
                             .read = read,
                             .context = context};

    assert_true(store_read(c->store, &task.task));
    assert_ptr_equal(contract_take(c), &task);
}

struct load {
    struct uuid id;
    struct stored_execution execution;
    bool ok, found;
    struct err err;
};

static void load(struct contract *c, struct reader *r, void *context)
{
    struct load *l = context;

    l->ok = read_execution(r, &c->mem, l->id, &l->execution, &l->found, &l->err);
}

struct stored_execution *contract_load(struct contract *c, struct uuid id)
{
    struct load *l = ARENA_NEW(&c->mem, struct load);

    l->id = id;
    contract_read(c, load, l);
    if (!l->ok)
        fail_msg("read_execution: %s", l->err.message);
    return l->found ? &l->execution : NULL;
}
