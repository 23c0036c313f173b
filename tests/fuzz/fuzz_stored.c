/*
 * fuzz_stored.c - executions whose stored columns and rows are damaged.
 *
 * The bytes choose a state that the engine has come to (bench.h), what is damaged of its stored
 * form, and what happens then. Claims: what is damaged is said to be, or the execution goes on;
 * nothing ends the process, whatever stands in the columns; what is committed afterwards can be
 * shown and restored.
 */
#include "engine/show.h"
#include "fuzz/bench.h"
#include "value/json.h"

enum { DAMAGES_MAX = 3, EVENTS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the stored form as one value --- */

static void put_json(struct buf *out, const char *name, struct str json)
{
    buf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", name);
    buf_str(out, json.len > 0 ? json : STR("null"));
}

static void put_text(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, "%s\"%s\":", out->len > 1 && out->ptr[out->len - 1] != '{' ? "," : "", name);
    json_write_string(out, text);
}

static void put_rows(struct buf *out, const struct history *rows)
{
    buf_text(out, ",\"rows\":[");
    for (size_t i = 0; i < rows->count; i++) {
        const struct history_row *row = &rows->items[i];

        buf_text(out, i > 0 ? ",{" : "{");
        put_text(out, "step", row->step);
        put_text(out, "status", row->status);
        put_text(out, "key", row->key);
        put_json(out, "input", row->input_json);
        put_json(out, "output", row->output_json);
        put_json(out, "error", row->error_json);
        put_json(out, "delta", row->delta_json);
        buf_printf(out, ",\"numbers\":[%lld,%d,%lld,%lld,%lld,%lld]}", (long long)row->seq,
                   (int)row->kind, (long long)row->visit, (long long)row->attempt,
                   (long long)row->started_at_us, (long long)row->completed_at_us);
    }
    buf_char(out, ']');
}

static struct value make_whole(struct arena *mem, const struct stored_execution *s)
{
    struct value v;
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    put_json(&out, "cursor", s->cursor_json);
    put_json(&out, "context", s->context_json);
    put_json(&out, "input", s->input_json);
    put_json(&out, "waitingFor", s->waiting_for_json);
    put_json(&out, "error", s->error_json);
    put_json(&out, "result", s->result_json);
    put_json(&out, "user", s->user_json);
    buf_printf(&out, ",\"numbers\":[%d,%d,%lld,%lld,%lld,%lld]", (int)s->status,
               (int)s->waiting_kind, (long long)s->seq, (long long)s->checkpoint_seq,
               (long long)s->wake_at_us, (long long)s->row_version);
    put_rows(&out, &s->history);
    buf_char(&out, '}');
    ASSERT(json_read(mem, buf_view(&out), &v, &err));
    return v;
}

/* What of a state is damaged, made once; `is_folded`: all of its history and no checkpoint. */
static struct value stored_value(const struct bench_states *all, size_t i, bool is_folded,
                                 struct stored_execution *stored)
{
    static struct arena mem;
    static struct value *wholes;

    if (wholes == NULL) {
        arena_init(&mem);
        wholes = arena_zalloc(&mem, 2 * all->count * sizeof(*wholes));
    }
    *stored = all->items[i].stored;
    if (is_folded) {
        stored->history = all->items[i].history;
        stored->context_json = STR_NONE;
    }
    if (wholes[2 * i + is_folded].kind == VALUE_ABSENT)
        wholes[2 * i + is_folded] = make_whole(&mem, stored);
    return wholes[2 * i + is_folded];
}

static struct str take_json(struct arena *mem, struct value from, const char *name)
{
    struct value v = value_map_member(from, str_of(name));

    return v.kind == VALUE_ABSENT || v.kind == VALUE_NULL ? STR_NONE : json_must_text(mem, v);
}

static int64_t take_number(struct value from, uint32_t i)
{
    struct value all = value_map_member(from, STR("numbers"));

    return all.kind == VALUE_LIST && i < all.len && all.items[i].kind == VALUE_INT ? all.items[i].i
                                                                                   : 0;
}

static struct history_row take_row(struct arena *mem, struct value v)
{
    int64_t kind = take_number(v, 1);

    return (struct history_row){
        .seq = take_number(v, 0),
        .kind = kind >= 0 && kind < HISTORY_KIND_COUNT ? (enum history_kind)kind : HISTORY_EVENT,
        .visit = take_number(v, 2),
        .attempt = take_number(v, 3),
        .started_at_us = take_number(v, 4),
        .completed_at_us = take_number(v, 5),
        .step = value_map_text(v, STR("step")),
        .status = value_map_text(v, STR("status")),
        .key = value_map_text(v, STR("key")),
        .input_json = take_json(mem, v, "input"),
        .output_json = take_json(mem, v, "output"),
        .error_json = take_json(mem, v, "error"),
        .delta_json = take_json(mem, v, "delta"),
    };
}

/* Names of states are read by the store, which knows no others. */
static void take_stored(struct arena *mem, struct value v, struct stored_execution *s)
{
    struct value rows = value_map_member(v, STR("rows"));
    int64_t status = take_number(v, 0), kind = take_number(v, 1);

    s->cursor_json = take_json(mem, v, "cursor");
    s->context_json = take_json(mem, v, "context");
    s->input_json = take_json(mem, v, "input");
    s->waiting_for_json = take_json(mem, v, "waitingFor");
    s->error_json = take_json(mem, v, "error");
    s->result_json = take_json(mem, v, "result");
    s->user_json = take_json(mem, v, "user");
    if (status >= 0 && status < STATUS_COUNT)
        s->status = (enum execution_status)status;
    if (kind >= 0 && kind < WAITING_COUNT)
        s->waiting_kind = (enum waiting_kind)kind;
    s->seq = take_number(v, 2);
    s->checkpoint_seq = take_number(v, 3);
    s->wake_at_us = take_number(v, 4);
    s->row_version = take_number(v, 5);
    s->history = (struct history){0};
    for (uint32_t i = 0; rows.kind == VALUE_LIST && i < rows.len; i++)
        *VEC_ADD(mem, &s->history) = take_row(mem, rows.items[i]);
}

/* --- damage --- */

struct damage {
    struct arena *mem;
    uint32_t at;       /* the node that is replaced, counted from above */
    struct value with; /* absent: it goes */
};

static uint32_t count_nodes(struct value v)
{
    uint32_t count = 1;

    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        count += count_nodes(v.items[i]);
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++)
        count += count_nodes(v.map->entries[i].value);
    return count;
}

static struct value find_node(struct value v, uint32_t *at)
{
    struct value found = value_absent();

    if ((*at)-- == 0)
        return v;
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len && found.kind == VALUE_ABSENT; i++)
        found = find_node(v.items[i], at);
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len && found.kind == VALUE_ABSENT; i++)
        found = find_node(v.map->entries[i].value, at);
    return found;
}

static struct value damage_value(struct damage *d, struct value v)
{
    if (d->at-- == 0)
        return d->with;
    if (v.kind == VALUE_LIST) {
        struct value *items = ARENA_ARRAY(d->mem, v.len + 1u, struct value);
        uint32_t count = 0;

        for (uint32_t i = 0; i < v.len; i++) {
            items[count] = damage_value(d, v.items[i]);
            count += items[count].kind != VALUE_ABSENT;
        }
        return value_list(items, count);
    }
    if (v.kind == VALUE_MAP) {
        struct value_entry *entries = ARENA_ARRAY(d->mem, v.len + 1u, struct value_entry);
        size_t count = 0;

        for (uint32_t i = 0; i < v.len; i++) {
            entries[count] = v.map->entries[i];
            entries[count].value = damage_value(d, entries[count].value);
            count += entries[count].value.kind != VALUE_ABSENT;
        }
        return value_map_take(d->mem, entries, count);
    }
    return v;
}

static struct value choose_replacement(struct value whole, struct bench_bytes *b)
{
    static const int64_t numbers[] = {0,          1,         2,         3,
                                      7,          255,       -1,        INT32_MAX,
                                      UINT32_MAX, INT64_MAX, INT64_MIN, INT64_C(1767225600000000)};
    static const char *const texts[] = {"",          "x",     "a:1:2", "s",    "child:x",
                                        "wait",      "job",   "held",  "undo", "retry",
                                        "reconcile", "enter", "call",  "go"};
    uint8_t choice = bench_byte(b), which = bench_byte(b);
    uint32_t at;

    switch (choice % 8) {
    case 0:
        return value_absent();
    case 1:
        return value_null();
    case 2:
        return value_list(NULL, 0);
    case 3:
        return value_map_empty();
    case 4:
        return value_int(numbers[which % ARRAY_SIZE(numbers)]);
    case 5:
        return value_string(str_of(texts[which % ARRAY_SIZE(texts)]));
    default:
        at = (uint32_t)(choice / 8 * 256 + which) % count_nodes(whole);
        return find_node(whole, &at);
    }
}

/* --- what happens then --- */

static void show_damaged(struct arena *mem, struct stored_execution stored)
{
    struct value shown;
    struct buf text;
    struct err err = {0};

    stored.step_meta = value_absent();
    buf_init_arena(&text, mem);
    if (show_stored(mem, &text, &stored, true, &err))
        ASSERT(json_read(mem, buf_view(&text), &shown, &err));
    else
        ASSERT(err.code != ERR_NONE && err.message[0] != '\0');
    (void)state_restore_facts(mem, &stored, &err);
}

static void run_damaged(struct arena *mem, const struct bench_state *from,
                        const struct stored_execution *stored, struct bench_bytes *b)
{
    struct bench_state damaged = *from;
    struct execution *x;
    struct err err = {0};

    if (!state_restore(mem, from->program, stored, &x, &err)) {
        ASSERT(err.code == ERR_INTERNAL && err.message[0] != '\0');
        return;
    }
    if (stored->history.count > 0)
        damaged.history = stored->history;
    x = state_copy(mem, x);
    for (unsigned i = 0; i < EVENTS_MAX && b->left > 0; i++)
        x = bench_advance(mem, &damaged, x, bench_event(mem, x, b),
                          from->now_us + INT64_C(1000000) * bench_word(b), b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bench_states *all = bench_states();
    struct bench_bytes b = {data, size};
    size_t state = bench_byte(&b) % all->count;
    uint8_t damages = bench_byte(&b);
    struct stored_execution stored;
    struct value whole = stored_value(all, state, damages >= 0x80, &stored);
    struct arena mem;

    arena_init(&mem);
    for (unsigned i = 0; i < damages % (DAMAGES_MAX + 1u); i++) {
        uint16_t at = bench_word(&b);
        struct damage d = {.mem = &mem, .at = at % count_nodes(whole)};

        d.with = choose_replacement(whole, &b);
        whole = damage_value(&d, whole);
    }
    take_stored(&mem, whole, &stored);
    show_damaged(&mem, stored);
    run_damaged(&mem, &all->items[state], &stored, &b);
    arena_fini(&mem);
    return 0;
}
