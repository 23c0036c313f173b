/* triggers.c - writing the rows of triggers.h. */
#include "store/triggers.h"

#include "define/facts.h"
#include "value/json.h"

/* What of a version the rows are made of. */
struct trigger_source {
    struct str kind, code;
    int64_t version;
    bool is_retired;
    struct value triggers; /* a list, or VALUE_ABSENT */
};

static bool load_source(struct apply *a, struct trigger_source *out, enum db_status *status)
{
    const enum sql sql = SQL_TRIGGERS_SOURCE;
    struct value facts = value_absent();
    struct err err;

    *status = db_run(a->db, sql, DB_PARAMS(db_text(out->kind), db_text(out->code)));
    out->triggers = value_absent();
    if (*status == DB_ROW) {
        struct str text = str_copy(a->mem, db_column_text(a->db, sql, 2));

        out->version = db_column_int(a->db, sql, 0);
        out->is_retired = str_eq(db_column_text(a->db, sql, 1), STR("retired"));
        if (text.len > 0 && json_read(a->mem, text, &facts, &err))
            out->triggers = facts_get(facts, "triggers");
    }
    db_end(a->db, sql);
    return *status <= DB_DONE;
}

static struct str spec_text(struct value spec, const char *name)
{
    struct value v =
        spec.kind == VALUE_MAP ? value_map_get_str(spec, str_of(name)) : value_absent();

    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

static bool insert_trigger(struct apply *a, const struct trigger_source *source, uint32_t i,
                           enum db_status *status)
{
    struct value spec = source->triggers.items[i];
    struct buf text;
    struct err err;

    buf_init_arena(&text, a->mem);
    if (!json_write(&text, spec, &err))
        PANIC("what was read as JSON cannot be written");
    return apply_write(a, SQL_TRIGGER_INSERT,
                       DB_PARAMS(db_text(source->code), db_int(i), db_text(source->kind),
                                 db_int(source->version), db_text(spec_text(spec, "type")),
                                 db_text(trigger_topic(a->mem, spec)),
                                 db_text_or_null(spec_text(spec, "org_id")),
                                 db_int(source->is_retired), db_text(buf_view(&text))),
                       status);
}

bool triggers_derive(struct apply *a, struct str kind, struct str code, enum db_status *status)
{
    struct trigger_source source = {.kind = kind, .code = code};

    if (!load_source(a, &source, status) ||
        !apply_write(a, SQL_TRIGGERS_DELETE, DB_PARAMS(db_text(code), db_text(kind)), status))
        return false;
    for (uint32_t i = 0; source.triggers.kind == VALUE_LIST && i < source.triggers.len; i++)
        if (!insert_trigger(a, &source, i, status))
            return false;
    return true;
}
