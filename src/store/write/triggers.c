/* triggers.c - writing the rows of triggers.h. */

#include "define/facts.h"
#include "store/db/db.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "value/json.h"

/* What of a version the rows are made of. */
struct trigger_source {
    struct str kind, code;
    int64_t version;
    bool is_retired;
    struct value triggers; /* a list, or VALUE_ABSENT */
};

static bool load_source(struct apply *a, struct trigger_source *out)
{
    const enum sql sql = SQL_TRIGGERS_SOURCE;
    struct value facts = value_absent();
    struct err err;

    a->status = db_run(a->db, sql, DB_PARAMS(db_text(out->kind), db_text(out->code)));
    out->triggers = value_absent();
    if (a->status == DB_ROW) {
        struct str text = db_column_copy(a->db, a->mem, sql, 2);

        out->version = db_column_int(a->db, sql, 0);
        out->is_retired = str_eq(db_column_text(a->db, sql, 1), STR("retired"));
        if (text.len > 0 && json_read(a->mem, text, &facts, &err))
            out->triggers = facts_get(facts, "triggers");
    }
    db_end(a->db, sql);
    return a->status <= DB_DONE;
}

static bool insert_trigger(struct apply *a, const struct trigger_source *source, uint32_t i)
{
    struct value spec = source->triggers.items[i];

    return apply_write(
        a, SQL_TRIGGER_INSERT,
        DB_PARAMS(db_text(source->code), db_int(i), db_text(source->kind), db_int(source->version),
                  db_text(value_map_text(spec, STR("type"))), db_text(trigger_topic(a->mem, spec)),
                  db_text_or_null(value_map_text(spec, STR("org_id"))), db_int(source->is_retired),
                  db_text(json_must_text(a->mem, spec))));
}

bool triggers_derive(struct apply *a, struct str kind, struct str code)
{
    struct trigger_source source = {.kind = kind, .code = code};

    if (!load_source(a, &source) ||
        !apply_write(a, SQL_TRIGGERS_DELETE, DB_PARAMS(db_text(code), db_text(kind))))
        return false;
    for (uint32_t i = 0; source.triggers.kind == VALUE_LIST && i < source.triggers.len; i++)
        if (!insert_trigger(a, &source, i))
            return false;
    return true;
}
