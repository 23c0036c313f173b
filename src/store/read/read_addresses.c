/* read_addresses.c - see addresses.h. */
#include "store/read_addresses.h"
#include "define/access.h"
#include "define/assignee.h"
#include "store/read/read_row.h"
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

    return groups_json.len > 0 && json_read(mem, groups_json, &groups, &err) &&
           value_list_has_text(groups, group);
}

bool read_addresses(struct reader *r, struct arena *mem, int64_t message, struct str key,
                    struct address_list *out, struct err *err)
{
    const struct str prefix = STR(ASSIGNEE_GROUP);
    bool is_group = str_starts_with(key, prefix);
    struct rows rows =
        is_group ? rows_run(r, mem, SQL_ADDRESSES_OF_ORG, DB_PARAMS(db_int(message)))
                 : rows_run(r, mem, SQL_ADDRESS_OF_USER, DB_PARAMS(db_int(message), db_text(key)));

    for (; rows_has(&rows); rows_next(&rows))
        if (!is_group || is_member(mem, rows_view(&rows, 1), str_slice(key, prefix.len, key.len)))
            add_address(mem, out, rows_view(&rows, 0));
    return rows_end(&rows, err);
}
