/*
 * read_meta.c - what people wrote beside the steps of a definition; see read.h.
 *
 * Contexts are stored without it, since the definition of a version has it and
 * never changes. Most have none, and the database finds that out.
 */
#include "store/read_row.h"
#include "value/json.h"

struct found_meta {
    VEC_OF(struct value_entry);
};

static struct value member(struct value map, const char *name)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, str_of(name)) : value_absent();
}

/* Definitions are checked: steps within steps go no deeper than there are steps. */
static void add_steps(struct arena *mem, struct value steps, struct found_meta *out)
{
    for (uint32_t i = 0; steps.kind == VALUE_LIST && i < steps.len; i++) {
        struct value step = steps.items[i], ways = member(step, "branch");
        struct value code = member(step, "code"), meta = member(step, "meta");

        if (code.kind == VALUE_STRING && meta.kind == VALUE_MAP)
            *VEC_ADD(mem, out) = (struct value_entry){value_key(value_text(code)), meta};
        for (uint32_t w = 0; ways.kind == VALUE_LIST && w < ways.len; w++)
            add_steps(mem, member(ways.items[w], "steps"), out);
        add_steps(mem, member(member(step, "loop"), "steps"), out);
    }
}

bool read_step_meta(struct reader *r, struct arena *mem, struct uuid id, struct value *out,
                    struct err *err)
{
    const enum sql sql = SQL_READ_STEP_META;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));
    struct value definition = value_absent();
    struct found_meta found = {0};
    bool ok = true;
    size_t duplicate;

    *out = value_map_empty();
    if (status == DB_ROW)
        ok = json_read(mem, db_column_text(r->db, sql, 0), &definition, err);
    db_end(r->db, sql);
    if (!ok)
        return false;
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    add_steps(mem, member(definition, "steps"), &found);
    if (found.count > 0)
        *out = value_map_make(mem, found.items, found.count, &duplicate);
    return true;
}
