/*
 * read_mask.c - which values of an execution are to be hidden; see read.h.
 *
 * The facts of a version say it (define/facts.h). Most versions have none, and
 * the database finds that out.
 */
#include "define/facts.h"
#include "store/apply.h"
#include "store/read_row.h"
#include "value/json.h"

typedef void add_fn(struct arena *mem, struct mask *m, struct str name);

static void add_names(struct arena *mem, struct value names, add_fn *add, struct mask *out)
{
    for (uint32_t i = 0; names.kind == VALUE_LIST && i < names.len; i++)
        if (names.items[i].kind == VALUE_STRING)
            add(mem, out, value_text(names.items[i]));
}

static void learn_retry(struct arena *mem, struct mask *m, struct value delta)
{
    mask_learn(mem, m, value_map_get_str(delta, STR("input")));
}

static void learn_signal(struct arena *mem, struct mask *m, struct value delta)
{
    struct value signal = value_map_get_str(delta, STR("signal"));

    if (signal.kind == VALUE_MAP)
        mask_learn_answer(mem, m, value_map_get_str(signal, STR("payload")));
}

/* What events of one kind have added: inputs of retries, payloads of signals. */
static bool learn_events(struct reader *r, struct arena *mem, int64_t row, struct str event,
                         void (*learn)(struct arena *, struct mask *, struct value),
                         struct mask *out, struct err *err)
{
    const enum sql sql = SQL_READ_DELTAS;
    enum db_status status =
        reader_run(r, sql,
                   DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX)),
                             db_int(HISTORY_EVENT), db_text(event)));
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct value delta;

        ok = json_read(mem, db_column_text(r->db, sql, 0), &delta, err);
        if (ok && delta.kind == VALUE_MAP)
            learn(mem, out, delta);
    }
    db_end(r->db, sql);
    return ok && status > DB_DONE ? db_fail(r->db, status, err) : ok;
}

bool read_mask(struct reader *r, struct arena *mem, struct uuid id, struct mask *out,
               struct err *err)
{
    const enum sql sql = SQL_READ_SENSITIVE;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));
    struct value facts = value_absent(), input = value_absent();
    int64_t row = 0;
    bool ok = true;

    *out = (struct mask){0};
    if (status == DB_ROW) {
        row = db_column_int(r->db, sql, 2);
        ok = json_read(mem, db_column_text(r->db, sql, 0), &facts, err) &&
             json_read(mem, db_column_text(r->db, sql, 1), &input, err);
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    add_names(mem, facts_get(facts, "sensitive"), mask_add, out);
    add_names(mem, facts_get(facts, "answers"), mask_add_field, out);
    mask_learn(mem, out, input);
    return (out->names.count == 0 ||
            learn_events(r, mem, row, STR("retry"), learn_retry, out, err)) &&
           (out->fields.count == 0 ||
            learn_events(r, mem, row, STR("signal"), learn_signal, out, err));
}
