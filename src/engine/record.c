/*
 * record.c - commands on the record store; see turn.h.
 *
 * Reads are asked for with NEED and come back with the event. A step sees its
 * own staged writes and those of earlier steps of the turn laid over them.
 * Every write names the version that was read; the store refuses the commit if
 * it has changed, and the command runs again with fresh reads.
 */
#include "define/define.h"
#include "engine/ident.h"
#include "engine/turn.h"
#include "value/json.h"

#include <stdlib.h>

/* A record as the step sees it. */
struct seen {
    int64_t version; /* 0 = there is none */
    struct value data;
    int64_t read_version; /* as it was read from the store */
};

static const struct record_write *find_write(const struct record_writes *writes, struct str object,
                                             struct str id)
{
    for (size_t i = writes->count; i-- > 0;)
        if (str_eq(writes->items[i].id, id) && str_eq(writes->items[i].object, object))
            return &writes->items[i];
    return NULL;
}

static const struct record_read *find_read(const struct turn *t, struct str object, struct str id)
{
    const struct record_reads *reads = t->ev->records;

    for (size_t i = 0; reads != NULL && i < reads->count; i++)
        if (str_eq(reads->items[i].id, id) && str_eq(reads->items[i].object, object))
            return &reads->items[i];
    return NULL;
}

/* STEP_DONE with *out, or STEP_NEEDS. */
static enum step_end look(struct turn *t, struct str object, struct str id, struct seen *out)
{
    const struct record_read *read = find_read(t, object, id);
    const struct record_write *write = find_write(&t->records, object, id);
    struct err err;

    if (read == NULL) {
        *VEC_ADD(t->mem, &t->out->needs) = (struct record_query){.object = object, .id = id};
        return STEP_NEEDS;
    }
    *out = (struct seen){
        .version = read->version, .data = read->data, .read_version = read->version};
    if (write == NULL)
        write = find_write(&t->out->records, object, id);
    if (write == NULL)
        return STEP_DONE;
    out->version = write->is_delete ? 0 : write->version;
    out->data = value_map_empty();
    if (!write->is_delete && !json_read(t->mem, write->data_json, &out->data, &err))
        PANIC("a staged record does not read back");
    return STEP_DONE;
}

static bool stage(struct turn *t, struct str object, struct str id, const struct seen *seen,
                  bool is_delete, struct value data)
{
    struct record_write write = {.object = object,
                                 .id = id,
                                 .read_version = seen->read_version,
                                 .is_delete = is_delete,
                                 .version = seen->version + 1};

    if (!is_delete && !turn_json(t, data, &write.data_json))
        return false;
    *VEC_ADD(t->mem, &t->records) = write;
    return true;
}

/* {id, version, ...data} */
static struct value record_value(struct arena *mem, struct str id, int64_t version,
                                 struct value data)
{
    struct value_entry *entries = ARENA_ARRAY(mem, data.len + 2, struct value_entry);
    size_t count = 0, duplicate;

    entries[count++] =
        (struct value_entry){.key = value_key(STR("id")), .value = value_string(id)};
    entries[count++] =
        (struct value_entry){.key = value_key(STR("version")), .value = value_int(version)};
    for (uint32_t i = 0; i < data.len; i++) {
        struct str key = value_text(data.map->entries[i].key);
        if (!str_eq(key, STR("id")) && !str_eq(key, STR("version")))
            entries[count++] = data.map->entries[i];
    }
    return value_map_make(mem, entries, count, &duplicate);
}

static enum step_end not_found(struct turn *t, struct str object, struct str id)
{
    return turn_fail(t, STR("not_found_record"), STR("business"), "there is no %.*s '%.*s'",
                     STR_ARG(object), STR_ARG(id));
}

static bool data_field(struct turn *t, const struct command *c, struct value *out)
{
    if (!command_field(t, c, FIELD_DATA, out))
        return false;
    if (out->kind == VALUE_ABSENT)
        *out = value_map_empty();
    if (out->kind == VALUE_MAP)
        return true;
    (void)turn_fail(t, STR("validation_type"), STR("business"), "'data' must be an object");
    return false;
}

/* A record's id may be written as a number. */
static bool id_field(struct turn *t, const struct command *c, struct str *out)
{
    struct value v;

    *out = STR_NONE;
    if (!command_field(t, c, FIELD_ID, &v))
        return false;
    if (v.kind == VALUE_INT) {
        *out = str_printf(t->mem, "%lld", (long long)v.i);
        return true;
    }
    if (v.kind == VALUE_STRING && v.len > 0 && v.len <= 200)
        *out = value_text(v);
    else if (v.kind != VALUE_ABSENT)
        return turn_fail(t, STR("validation_type"), STR("business"),
                         "'id' must be a string of 1 to 200 characters") == STEP_DONE;
    return true;
}

/* expectedVersion, when it is given, must be the version that is there. */
static bool check_version(struct turn *t, const struct command *c, const struct seen *seen)
{
    struct value v;

    if (!command_field(t, c, FIELD_EXPECTED_VERSION, &v))
        return false;
    if (v.kind == VALUE_ABSENT || (v.kind == VALUE_INT && v.i == seen->version))
        return true;
    (void)turn_fail(t, STR("conflict_version"), STR("business"),
                    "the record has version %lld, not the expected one",
                    (long long)seen->version);
    return false;
}

static enum step_end create(struct turn *t, const struct command *c, struct str object,
                            struct str id, struct value *out)
{
    struct seen seen = {0};
    struct value data;
    struct str if_exists;

    if (!data_field(t, c, &data) ||
        !command_text(t, c, FIELD_IF_EXISTS, STR("fail"), &if_exists))
        return STEP_FAILED;
    if (id.len == 0) {
        char text[UUID_TEXT_LEN + 1];
        uuid_write(ident_make(t->x->id, t->x->seq + 1, t->ids++, t->now_us), text);
        id = str_copy(t->mem, str_from(text, UUID_TEXT_LEN));
    } else if (look(t, object, id, &seen) == STEP_NEEDS) {
        return STEP_NEEDS;
    }
    if (seen.version > 0 && str_eq(if_exists, STR("keep"))) {
        *out = record_value(t->mem, id, seen.version, seen.data);
        return STEP_DONE;
    }
    if (seen.version > 0 && str_eq(if_exists, STR("merge")))
        data = command_merge(t->mem, seen.data, data);
    else if (seen.version > 0 && !str_eq(if_exists, STR("replace")))
        return turn_fail(t, STR("conflict_exists"), STR("business"),
                         "there is a %.*s '%.*s' already", STR_ARG(object), STR_ARG(id));
    if (!stage(t, object, id, &seen, false, data))
        return STEP_FAILED;
    *out = record_value(t->mem, id, seen.version + 1, data);
    return STEP_DONE;
}

static enum step_end update(struct turn *t, const struct command *c, struct str object,
                            struct str id, struct value *out)
{
    struct seen seen;
    struct value data;

    if (!data_field(t, c, &data))
        return STEP_FAILED;
    if (look(t, object, id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (seen.version == 0)
        return not_found(t, object, id);
    if (!check_version(t, c, &seen))
        return STEP_FAILED;
    data = command_merge(t->mem, seen.data, data);
    if (!stage(t, object, id, &seen, false, data))
        return STEP_FAILED;
    *out = record_value(t->mem, id, seen.version + 1, data);
    return STEP_DONE;
}

static enum step_end delete_one(struct turn *t, const struct command *c, struct str object,
                                struct str id, struct value *out)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 1, struct value_entry);
    struct seen seen;
    size_t duplicate;

    if (look(t, object, id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (seen.version > 0 &&
        (!check_version(t, c, &seen) || !stage(t, object, id, &seen, true, value_null())))
        return STEP_FAILED;
    entries[0] = (struct value_entry){.key = value_key(STR("deleted")),
                                      .value = value_bool(seen.version > 0)};
    *out = value_map_make(t->mem, entries, 1, &duplicate);
    return STEP_DONE;
}

/* --- query --- */

static const struct object_read *find_object(const struct turn *t, struct str object)
{
    const struct object_reads *reads = t->ev->objects;

    for (size_t i = 0; reads != NULL && i < reads->count; i++)
        if (str_eq(reads->items[i].object, object))
            return &reads->items[i];
    return NULL;
}

struct found {
    struct value record;
    struct value key; /* to order by */
    uint32_t place;
};

static int by_key(const void *a, const void *b, void *descending)
{
    const struct found *x = a, *y = b;
    int c = value_compare(x->key, y->key);

    if (c == VALUE_INCOMPARABLE || c == VALUE_UNORDERED)
        c = (x->key.kind > y->key.kind) - (x->key.kind < y->key.kind);
    if (c == 0)
        return (x->place > y->place) - (x->place < y->place);
    return *(bool *)descending ? -c : c;
}

/* "amount" or "amount desc". */
static void order_found(struct found *found, size_t count, struct str order)
{
    bool descending = str_ends_with(order, STR(" desc"));
    int64_t space = str_find(order, STR(" "), 0);

    if (order.len == 0)
        return;
    if (space >= 0)
        order = str_slice(order, 0, (size_t)space);
    for (size_t i = 0; i < count; i++)
        found[i].key = value_map_get_str(found[i].record, order);
    qsort_r(found, count, sizeof(*found), by_key, &descending);
}

static enum step_end select_records(struct turn *t, const struct command *c,
                                    const struct object_read *all, struct found *found,
                                    size_t *count)
{
    const struct cel_program *where = c->expressions[FIELD_WHERE];

    *count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct record_read *r = &all->records[i];
        struct value record = record_value(t->mem, r->id, r->version, r->data), v;

        if (where != NULL) {
            t->slots[ROOT_RECORD] = record;
            v = cel_evaluate(t->mem, where, &t->activation, NULL);
            if (v.kind == VALUE_ERROR)
                return turn_fail_value(t, v, STR_NONE);
            if (!value_is_true(v))
                continue;
        }
        found[*count] = (struct found){.record = record, .place = (uint32_t)*count};
        ++*count;
    }
    return STEP_DONE;
}

static enum step_end query(struct turn *t, const struct command *c, struct str object,
                           struct value *out)
{
    const struct object_read *all = find_object(t, object);
    struct value_entry *entries = ARENA_ARRAY(t->mem, 2, struct value_entry);
    struct str order;
    struct value limit;
    struct value *items;
    struct found *found;
    size_t count, duplicate;

    if (all == NULL) {
        *VEC_ADD(t->mem, &t->out->needs) = (struct record_query){.object = object};
        return STEP_NEEDS;
    }
    found = ARENA_ARRAY(t->mem, all->count + 1, struct found);
    if (!command_text(t, c, FIELD_ORDER_BY, STR_NONE, &order) ||
        !command_field(t, c, FIELD_LIMIT, &limit) ||
        select_records(t, c, all, found, &count) == STEP_FAILED)
        return STEP_FAILED;
    order_found(found, count, order);
    if (limit.kind == VALUE_ABSENT)
        limit = value_int(100);
    if (limit.kind != VALUE_INT || limit.i < 0)
        return turn_fail(t, STR("validation_type"), STR("business"),
                         "'limit' must be a number from 0 on");
    if ((uint64_t)limit.i < count)
        count = (size_t)limit.i;
    items = ARENA_ARRAY(t->mem, count + 1, struct value);
    for (size_t i = 0; i < count; i++)
        items[i] = found[i].record;
    entries[0] = (struct value_entry){.key = value_key(STR("items")),
                                      .value = value_list(items, count)};
    entries[1] = (struct value_entry){.key = value_key(STR("count")),
                                      .value = value_int((int64_t)count)};
    *out = value_map_make(t->mem, entries, 2, &duplicate);
    return STEP_DONE;
}

enum step_end record_run(struct turn *t, const struct command *c, struct value *out)
{
    struct str object, id;
    struct seen seen;

    if (!command_text(t, c, FIELD_OBJECT, STR_NONE, &object) || !id_field(t, c, &id))
        return STEP_FAILED;
    if (object.len == 0 || object.len > 100)
        return turn_fail(t, STR("validation_object"), STR("business"),
                         "'object' must be a name of 1 to 100 characters");
    if (c->type == COMMAND_RECORD_QUERY)
        return query(t, c, object, out);
    if (c->type == COMMAND_RECORD_CREATE)
        return create(t, c, object, id, out);
    if (id.len == 0)
        return turn_fail(t, STR("validation_id"), STR("business"), "'id' is missing");
    if (c->type == COMMAND_RECORD_UPDATE)
        return update(t, c, object, id, out);
    if (c->type == COMMAND_RECORD_DELETE)
        return delete_one(t, c, object, id, out);
    if (look(t, object, id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (seen.version == 0)
        return not_found(t, object, id);
    *out = record_value(t->mem, id, seen.version, seen.data);
    return STEP_DONE;
}
