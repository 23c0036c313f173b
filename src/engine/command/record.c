/*
 * record.c - commands on the record store; see command.h.
 *
 * Reads are asked for with NEED and come back with the event. A step sees its
 * own staged writes and those of earlier steps of the turn laid over them.
 * Every write names the version that was read; the store refuses the commit if
 * it has changed, and the command runs again with fresh reads. A commit has at
 * most one write for each record, however often its steps wrote to it.
 *
 * The commands of a step that was suspended do not run again, and others may
 * have changed its records by the time it goes on, its own execution among
 * them. A write that rests on nothing that the step has read is laid over the
 * record as it is then; any other is a conflict.
 */
#include "engine/command/command.h"
#include "engine/commit/reads.h"
#include "engine/commit/search.h"
#include "engine/ident.h"
#include "value/json.h"

enum { ID_MAX = 200, OBJECT_MAX = 100 };

/* A record as the step sees it. */
struct seen {
    int64_t version; /* 0 = there is none */
    struct value data;
    int64_t read_version; /* as it was read from the store */
    int64_t last_version; /* the highest it has had: versions do not come again */
};

static struct record_write *find_write(const struct record_writes *writes, struct str object,
                                       struct str id)
{
    for (size_t i = 0; i < writes->count; i++)
        if (str_eq(writes->items[i].id, id) && str_eq(writes->items[i].object, object))
            return &writes->items[i];
    return NULL;
}

const struct record_write *record_staged(const struct turn *t, struct str object, struct str id)
{
    const struct record_write *write = find_write(&t->records, object, id);

    return write != NULL ? write : find_write(&t->out->records, object, id);
}

void record_put(struct arena *mem, struct record_writes *writes, struct record_write write)
{
    struct record_write *earlier = find_write(writes, write.object, write.id);

    if (earlier == NULL)
        earlier = VEC_ADD(mem, writes);
    else
        ASSERT(earlier->read_version == write.read_version);
    *earlier = write;
}

static const struct record_read *record_read_find(const struct turn *t, struct str object,
                                                  struct str id)
{
    const struct record_reads *reads = &event_reads(t->ev)->records;

    for (size_t i = 0; i < reads->count; i++)
        if (str_eq(reads->items[i].id, id) && str_eq(reads->items[i].object, object))
            return &reads->items[i];
    return NULL;
}

/* STEP_DONE with *out, or STEP_NEEDS. */
static enum step_result record_look(struct turn *t, struct str object, struct str id,
                                    struct seen *out)
{
    const struct record_write *write = record_staged(t, object, id);
    const struct record_read *read;
    struct err err;

    if (write != NULL) {
        *out = (struct seen){.version = write->is_delete ? 0 : write->version,
                             .data = value_map_empty(),
                             .read_version = write->read_version,
                             .last_version = write->version};
        if (!write->is_delete && !json_read(t->mem, write->data_json, &out->data, &err))
            PANIC("a staged record does not read back");
        return STEP_DONE;
    }
    read = record_read_find(t, object, id);
    if (read == NULL) {
        *VEC_ADD(t->mem, &t->out->needs) = (struct record_query){.object = object, .id = id};
        return STEP_NEEDS;
    }
    *out = (struct seen){.version = read->version,
                         .data = read->version > 0 ? read->data : value_map_empty(),
                         .read_version = read->version,
                         .last_version = read->version > 0 ? read->version : read->last_version};
    return STEP_DONE;
}

/* Whether the step has seen the record: what it writes may rest on that. */
static bool has_looked(const struct turn *t, struct str object, struct str id)
{
    for (size_t i = 0; i < t->looked.count; i++)
        if (str_eq(t->looked.items[i].object, object) &&
            (t->looked.items[i].id.len == 0 || str_eq(t->looked.items[i].id, id)))
            return true;
    return find_write(&t->records, object, id) != NULL;
}

/* Whether others keep changing the record before a commit that writes it is stored. */
static bool is_contended(const struct turn *t, struct str object, struct str id)
{
    const struct record_read *read = record_read_find(t, object, id);

    return t->ev->gives_up_on_records || (read != NULL && read->tries > RECORD_TRIES_MAX);
}

/*
 * How a write stands to what the record was: whether it may be laid over
 * another state of it, and then what is merged into that (absent: it replaces
 * it).
 */
struct basis {
    bool may_rebase;
    struct value merged;
};

/* Stage a write. STEP_DONE with its version in *version. */
static enum step_result stage(struct turn *t, struct str object, struct str id,
                              const struct seen *seen, const struct value *data, struct basis basis,
                              int64_t *version)
{
    struct record_write write = {.object = object,
                                 .id = id,
                                 .read_version = seen->read_version,
                                 .is_delete = data == NULL,
                                 .version = seen->last_version + 1,
                                 .may_rebase = basis.may_rebase && !has_looked(t, object, id)};
    struct value copy;

    if (is_contended(t, object, id)) {
        (void)turn_fail(t, STR("conflict_version"), ERR_CLASS_TRANSIENT,
                        "others keep changing '%.*s' of %.*s", STR_ARG(id), STR_ARG(object));
        t->failure.is_contended = true;
        return STEP_FAILED;
    }
    if (data != NULL) {
        copy = *data;
        if (!turn_freeze(t, &copy, &write.data_json))
            return STEP_FAILED;
    }
    if (write.may_rebase && basis.merged.kind == VALUE_MAP) {
        copy = basis.merged;
        if (!turn_freeze(t, &copy, &write.merged_json))
            return STEP_FAILED;
    }
    record_put(t->mem, &t->records, write);
    *version = write.version;
    return STEP_DONE;
}

enum step_result record_resume(struct turn *t, struct record_write write)
{
    bool is_own = find_write(&t->out->records, write.object, write.id) != NULL;
    struct seen seen;
    struct value data, laid;
    int64_t version;
    bool merges;

    if (record_look(t, write.object, write.id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (!is_own && seen.version == write.read_version && seen.last_version < write.version) {
        record_put(t->mem, &t->records, write);
        return STEP_DONE;
    }
    if (write.may_rebase && write.is_delete && seen.version == 0)
        return STEP_DONE;
    /* What it was merged into is gone. */
    if (!write.may_rebase ||
        (write.merged_json.len > 0 && write.read_version > 0 && seen.version == 0))
        return turn_fail(t, STR("conflict_version"), ERR_CLASS_BUSINESS,
                         "another has changed '%.*s' of %.*s while this step waited",
                         STR_ARG(write.id), STR_ARG(write.object));
    if (write.is_delete)
        return stage(t, write.object, write.id, &seen, NULL, (struct basis){.may_rebase = true},
                     &version);
    merges = write.merged_json.len > 0;
    data = turn_read(t, merges ? write.merged_json : write.data_json, value_map_empty());
    laid = merges ? state_merge(t->mem, seen.data, data) : data;
    return stage(t, write.object, write.id, &seen, &laid,
                 (struct basis){.may_rebase = true, .merged = merges ? data : value_absent()},
                 &version);
}

static enum step_result not_found(struct turn *t, struct str object, struct str id)
{
    return turn_fail(t, STR("not_found_record"), ERR_CLASS_BUSINESS, "there is no %.*s '%.*s'",
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
    (void)turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS, "'data' must be an object");
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
    if (v.kind == VALUE_STRING && v.len > 0 && v.len <= ID_MAX)
        *out = value_text(v);
    else if (v.kind != VALUE_ABSENT)
        return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                         "'id' must be a string of 1 to %d bytes", ID_MAX) == STEP_DONE;
    return true;
}

/* expectedVersion, when it is given, must be the version that is there. */
static bool check_version(struct turn *t, const struct command *c, const struct seen *seen)
{
    struct value v;

    if (!command_field(t, c, FIELD_EXPECTED_VERSION, &v))
        return false;
    if (v.kind == VALUE_ABSENT || value_equal(v, value_int(seen->version), NULL))
        return true;
    (void)turn_fail(t, STR("conflict_version"), ERR_CLASS_BUSINESS,
                    "the record has version %lld, not the expected one", (long long)seen->version);
    return false;
}

static enum step_result create(struct turn *t, const struct command *c, struct str object,
                               struct str id, struct value *out)
{
    struct seen seen = {0};
    struct value data;
    struct basis basis = {0};
    struct str if_exists;
    int64_t version = 0;
    enum step_result end;

    if (!data_field(t, c, &data) || !command_text(t, c, FIELD_IF_EXISTS, STR("fail"), &if_exists))
        return STEP_FAILED;
    if (id.len == 0) {
        id = uuid_text(t->mem, ident_make(t->x->id, t->x->seq + 1, t->ids++, t->now_us));
    } else if (record_look(t, object, id, &seen) == STEP_NEEDS) {
        return STEP_NEEDS;
    }
    if (seen.version > 0 && str_eq(if_exists, STR("keep"))) {
        *out = search_record(t->mem, id, seen.version, seen.data);
        return STEP_DONE;
    }
    if (str_eq(if_exists, STR("merge")))
        basis = (struct basis){.may_rebase = true, .merged = data};
    else if (str_eq(if_exists, STR("replace")))
        basis.may_rebase = true;
    if (seen.version > 0 && str_eq(if_exists, STR("merge")))
        data = state_merge(t->mem, seen.data, data);
    else if (seen.version > 0 && !str_eq(if_exists, STR("replace")))
        return turn_fail(t, STR("conflict_exists"), ERR_CLASS_BUSINESS,
                         "there is a %.*s '%.*s' already", STR_ARG(object), STR_ARG(id));
    end = stage(t, object, id, &seen, &data, basis, &version);
    if (end == STEP_DONE)
        *out = search_record(t->mem, id, version, data);
    return end;
}

/* One that names the version it is for must not be laid over another. */
static bool expects_version(const struct command *c)
{
    return c->fields[FIELD_EXPECTED_VERSION] != NULL;
}

static enum step_result update(struct turn *t, const struct command *c, struct str object,
                               struct str id, struct value *out)
{
    struct seen seen;
    struct value data;
    struct basis basis;
    int64_t version = 0;
    enum step_result end;

    if (!data_field(t, c, &data))
        return STEP_FAILED;
    if (record_look(t, object, id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (seen.version == 0)
        return not_found(t, object, id);
    if (!check_version(t, c, &seen))
        return STEP_FAILED;
    basis = (struct basis){.may_rebase = !expects_version(c), .merged = data};
    data = state_merge(t->mem, seen.data, data);
    end = stage(t, object, id, &seen, &data, basis, &version);
    if (end == STEP_DONE)
        *out = search_record(t->mem, id, version, data);
    return end;
}

static enum step_result delete_one(struct turn *t, const struct command *c, struct str object,
                                   struct str id, struct value *out)
{
    struct seen seen;
    int64_t version = 0;

    if (record_look(t, object, id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (seen.version > 0 &&
        (!check_version(t, c, &seen) ||
         stage(t, object, id, &seen, NULL, (struct basis){.may_rebase = !expects_version(c)},
               &version) == STEP_FAILED))
        return STEP_FAILED;
    *out = value_map_of(t->mem,
                        VALUE_ENTRIES({value_key(STR("deleted")), value_bool(seen.version > 0)}));
    return STEP_DONE;
}

enum step_result record_run(struct turn *t, const struct command *c, struct value *out)
{
    struct str object, id;
    struct seen seen;

    if (!command_text(t, c, FIELD_OBJECT, STR_NONE, &object) || !id_field(t, c, &id))
        return STEP_FAILED;
    if (object.len == 0 || object.len > OBJECT_MAX)
        return turn_fail(t, STR("validation_object"), ERR_CLASS_BUSINESS,
                         "'object' must be a name of 1 to %d bytes", OBJECT_MAX);
    if (c->type == COMMAND_RECORD_QUERY || c->type == COMMAND_RECORD_GET)
        *VEC_ADD(t->mem, &t->looked) = (struct record_query){
            .object = object, .id = c->type == COMMAND_RECORD_GET ? id : STR_NONE};
    if (c->type == COMMAND_RECORD_QUERY)
        return query_run(t, c, object, out);
    if (c->type == COMMAND_RECORD_CREATE)
        return create(t, c, object, id, out);
    if (id.len == 0)
        return turn_fail(t, STR("validation_id"), ERR_CLASS_BUSINESS, "'id' is missing");
    if (c->type == COMMAND_RECORD_UPDATE)
        return update(t, c, object, id, out);
    if (c->type == COMMAND_RECORD_DELETE)
        return delete_one(t, c, object, id, out);
    if (record_look(t, object, id, &seen) == STEP_NEEDS)
        return STEP_NEEDS;
    if (seen.version == 0)
        return not_found(t, object, id);
    *out = search_record(t->mem, id, seen.version, seen.data);
    return STEP_DONE;
}
