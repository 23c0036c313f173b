/* key_row.c - see key_row.h. */
#include "api/definitions/key_row.h"
#include "node/node.h"

#define KEY_KIND STR("master_key")
#define KEY_CODE STR("credentials")

struct definition_change *key_row_beside(const struct call *c, const struct key_row *row,
                                         struct definition_change changes[2], void *owner)
{
    changes[0].owner = owner;
    changes[0].next = &changes[1];
    changes[1] = key_row_change(c, row);
    return changes;
}

struct str key_row_text(struct arena *mem, struct str id)
{
    return str_printf(mem, "{\"id\":\"%.*s\"}", STR_ARG(id));
}

bool sealed_rows_read(struct reader *reader, struct arena *mem, struct sealed_rows *out,
                      struct err *err)
{
    return read_published(reader, mem, STR("credential"), &out->credentials, err) &&
           read_published(reader, mem, STR("subscription"), &out->subscriptions, err);
}

/* Whether none of them needs another key than this one. */
static bool is_key_of_all(struct arena *mem, const struct stored_definitions *all, struct str id)
{
    for (size_t i = 0; i < all->count; i++) {
        struct str needed = vault_needs(mem, all->items[i].text);

        if (needed.len > 0 && !str_eq(needed, id))
            return false;
    }
    return true;
}

bool key_row_read(struct lookup *q, struct reader *reader, const struct sealed_rows *all,
                  struct key_row *out, struct err *err)
{
    struct vault *vault = node_vault(q->call->node);
    struct stored_definition d;
    struct str id;
    bool found;

    if (vault == NULL)
        return err_set(err, ERR_CONFLICT, "this server has no master key");
    id = vault_key_id(vault, q->mem);
    if (!is_key_of_all(q->mem, &all->credentials, id) ||
        !is_key_of_all(q->mem, &all->subscriptions, id))
        return err_set(err, ERR_CONFLICT,
                       "the credentials are sealed with another master key than that of this "
                       "server: start it with the right --master-key");
    if (!read_definition(reader, q->mem, KEY_KIND, KEY_CODE, -1, &d, &found, err))
        return false;
    out->version = found ? d.version : 0;
    out->text = key_row_text(q->mem, id);
    return true;
}

struct definition_change key_row_change(const struct call *c, const struct key_row *row)
{
    static const struct kind_spec spec = {.name = "master_key"};
    struct definition_item item = {.spec = &spec, .code = KEY_CODE, .text = row->text};
    struct definition_change change = definitions_change(c, &item, DEFINITION_PUT);

    change.has_rests_on = true;
    change.rests_on = row->version;
    change.forgets = true;
    return change;
}
