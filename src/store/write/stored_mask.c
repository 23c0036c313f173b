/* stored_mask.c - see stored_mask.h. */
#include "store/write/stored_mask.h"

#include "define/facts.h"
#include "store/write/apply.h"
#include "value/json.h"

/* What is read of the events of one execution; one that has more is hidden whole. */
enum { EVENTS_MAX = 10000, EVENT_BYTES_MAX = 16 << 20 };

typedef void mask_add_fn(struct arena *mem, struct mask *m, struct str name);

static void add_names(struct arena *mem, struct value names, mask_add_fn *add, struct mask *out)
{
    for (uint32_t i = 0; names.kind == VALUE_LIST && i < names.len; i++)
        if (names.items[i].kind == VALUE_STRING)
            add(mem, out, value_text(names.items[i]));
}

void stored_mask_begin(struct arena *mem, struct str facts_json, struct str input_json,
                       struct mask *out)
{
    struct value facts, input;
    struct err err;

    *out = (struct mask){0};
    if (!json_read(mem, facts_json, &facts, &err) || !json_read(mem, input_json, &input, &err)) {
        mask_hide_all(out);
        return;
    }
    add_names(mem, facts_get(facts, "sensitive"), mask_add, out);
    add_names(mem, facts_get(facts, "answers"), mask_add_field, out);
    mask_learn(mem, out, input);
}

static void learn_retry(struct arena *mem, struct mask *m, struct value delta)
{
    mask_learn(mem, m, value_map_member(delta, STR("input")));
}

static void learn_signal(struct arena *mem, struct mask *m, struct value delta)
{
    struct value signal = value_map_member(delta, STR("signal"));

    mask_learn_answer(mem, m, value_map_member(signal, STR("payload")));
}

/* What events of one kind have added: inputs of retries, payloads of signals. */
static enum db_status learn_events(struct db *db, struct arena *mem, int64_t row, struct str event,
                                   void (*learn)(struct arena *, struct mask *, struct value),
                                   struct mask *out)
{
    const enum sql sql = SQL_READ_DELTAS;
    size_t bytes = 0, count = 0;
    struct arena scratch;
    enum db_status status =
        db_stream(db, sql,
                  DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX)),
                            db_int(HISTORY_EVENT), db_text(event)));

    arena_init(&scratch);
    for (; status == DB_ROW && !out->hides_all; status = db_next(db, sql)) {
        struct str json = db_column_text(db, sql, 0);
        struct value delta;
        struct err err;

        bytes += json.len;
        arena_reset(&scratch);
        if (++count > EVENTS_MAX || bytes > EVENT_BYTES_MAX ||
            !json_read(&scratch, json, &delta, &err))
            mask_hide_all(out);
        else
            learn(mem, out, delta);
    }
    arena_fini(&scratch);
    db_end(db, sql);
    return status == DB_ROW ? DB_DONE : status;
}

enum db_status stored_mask_events(struct db *db, struct arena *mem, int64_t row, struct mask *out)
{
    enum db_status status = DB_DONE;

    if (out->names.count > 0)
        status = learn_events(db, mem, row, STR("retry"), learn_retry, out);
    if (status == DB_DONE && out->fields.count > 0)
        status = learn_events(db, mem, row, STR("signal"), learn_signal, out);
    mask_seal(mem, out);
    return status;
}

enum db_status stored_mask_read(struct db *db, struct arena *mem, struct uuid id, struct mask *out)
{
    const enum sql sql = SQL_READ_SENSITIVE;
    enum db_status status = db_run(db, sql, DB_PARAMS(db_text(UUID_STR(id))));
    int64_t row = 0;

    *out = (struct mask){0};
    if (status == DB_ROW) {
        row = db_column_int(db, sql, 2);
        stored_mask_begin(mem, db_column_text(db, sql, 0), db_column_text(db, sql, 1), out);
        status = DB_DONE;
    }
    db_end(db, sql);
    return status == DB_DONE ? stored_mask_events(db, mem, row, out) : status;
}
