/*
 * addressees.c - mails to people: users and groups become the addresses that
 * they have when the mail is sent; see relay.h.
 *
 * A body that names any has the member "people" (engine/commit/message.c). Runs on a
 * reader thread.
 */
#include "node/outside/relay.h"
#include "store/read_addresses.h"
#include "store/read_outbox.h"
#include "value/json.h"
#include "value/object.h"

static bool is_address(struct str text)
{
    return str_find(text, STR("@"), 0) >= 0;
}

/* Write a list of recipients with addresses alone; what has none is added to `missing`. */
static bool write_list(struct reader *reader, struct arena *mem, const struct due_message *m,
                       struct value list, struct buf *out, size_t *count, struct buf *missing,
                       struct err *err)
{
    struct address_list addresses = {0};

    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct str one = value_text(list.items[i]);
        size_t before = addresses.count;

        if (is_address(one))
            *VEC_ADD(mem, &addresses) = one;
        else if (!read_addresses(reader, mem, m->row, one, &addresses, err))
            return false;
        if (addresses.count == before)
            buf_printf(missing, "%s%.*s", missing->len > 0 ? ", " : "", STR_ARG(one));
    }
    buf_char(out, '[');
    for (size_t i = 0; i < addresses.count; i++) {
        object_next(out);
        json_write_string(out, addresses.items[i]);
    }
    buf_char(out, ']');
    *count += addresses.count;
    return true;
}

bool addressees_resolve(struct reader *reader, struct arena *mem, struct due_message *m,
                        struct err *err)
{
    struct value body, list;
    struct buf out, missing;
    size_t count = 0;

    if (m->kind != MESSAGE_EMAIL || !json_read(mem, m->body_json, &body, err) ||
        body.kind != VALUE_MAP || !value_is_true(value_map_get_str(body, STR("people"))))
        return true;
    buf_init_arena(&out, mem);
    buf_init_arena(&missing, mem);
    buf_char(&out, '{');
    for (uint32_t i = 0; i < body.len; i++) {
        struct str name = value_text(body.map->entries[i].key);

        list = body.map->entries[i].value;
        if (str_eq(name, STR("people")))
            continue;
        object_next(&out);
        json_write_string(&out, name);
        buf_char(&out, ':');
        if (list.kind == VALUE_LIST) {
            if (!write_list(reader, mem, m, list, &out, &count, &missing, err))
                return false;
        } else if (!json_write(&out, list, err)) {
            return false;
        }
    }
    buf_char(&out, '}');
    m->body_json = buf_view(&out);
    m->nobody = count == 0 ? buf_view(&missing) : STR_NONE;
    return true;
}
