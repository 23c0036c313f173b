/* read_addresses.c - see addresses.h. */
#include "define/access.h"
#include "define/assignee.h"
#include "store/addresses.h"
#include "store/read_row.h"
#include "value/json.h"

static void add_address(struct arena *mem, struct address_list *out, struct str address)
{
    for (size_t i = 0; i < out->count; i++)
        if (str_eq(out->items[i], address))
            return;
    if (out->count < ADDRESSES_READ_MAX)
        *VEC_ADD(mem, out) = str_copy(mem, address);
}

/* Whether a user of these groups, as they are stored, is in the group. */
static bool is_member(struct arena *mem, struct str groups_json, struct str group)
{
    struct value groups;
    struct err err;

    if (groups_json.len == 0 || !json_read(mem, groups_json, &groups, &err) ||
        groups.kind != VALUE_LIST)
        return false;
    for (uint32_t i = 0; i < groups.len; i++)
        if (groups.items[i].kind == VALUE_STRING && str_eq(value_text(groups.items[i]), group))
            return true;
    return false;
}

bool read_addresses(struct reader *r, struct arena *mem, int64_t message, struct str key,
                    struct address_list *out, struct err *err)
{
    const struct str prefix = STR(ASSIGNEE_GROUP);
    bool is_group = str_starts_with(key, prefix);
    const enum sql sql = is_group ? SQL_ADDRESSES_OF_ORG : SQL_ADDRESS_OF_USER;
    enum db_status status = is_group ? reader_run(r, sql, DB_PARAMS(db_int(message)))
                                     : reader_run(r, sql, DB_PARAMS(db_int(message), db_text(key)));

    for (; status == DB_ROW; status = db_next(r->db, sql))
        if (!is_group ||
            is_member(mem, db_column_text(r->db, sql, 1), str_slice(key, prefix.len, key.len)))
            add_address(mem, out, db_column_text(r->db, sql, 0));
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}
