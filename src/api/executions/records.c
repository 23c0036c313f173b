/* records.c - the record store: one record, read and changed by hand. */
#include "api/executions/records.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "base/text/ascii.h"
#include "engine/commit/reads.h"
#include "store/change_record.h"
#include "store/read_record.h"
#include "value/json.h"

enum { OBJECT_LEN_MAX = 100, ID_LEN_MAX = 200 };

static bool is_object_name(struct str name)
{
    if (name.len == 0 || name.len > OBJECT_LEN_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];
        if (!ascii_is_letter_or_digit(ch) && (ch == '\0' || strchr("_.-", ch) == NULL))
            return false;
    }
    return true;
}

bool records_check_object(struct call *c)
{
    return is_object_name(c->params[0]) ||
           call_refuse_text(c, ERR_INVALID,
                            "the name of an object has from 1 to %d letters, digits and _ . -",
                            OBJECT_LEN_MAX);
}

static bool has_control_character(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return true;
    return false;
}

bool records_check_path(struct call *c)
{
    if (!records_check_object(c))
        return false;
    return (c->params[1].len > 0 && c->params[1].len <= ID_LEN_MAX &&
            !has_control_character(c->params[1])) ||
           call_refuse_text(c, ERR_INVALID,
                            "the id of a record has from 1 to %d bytes and no control characters",
                            ID_LEN_MAX);
}

static const char *etag_of(struct arena *mem, int64_t version)
{
    return str_printf(mem, "\"%lld\"", (long long)version).ptr;
}

/* --- reading one --- */

static bool record_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct call *c = q->args;
    struct record_read found;

    if (!read_record(reader, q->mem, c->user.org_id, c->params[0], c->params[1], &found, err))
        return false;
    if (found.version == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no such record");
    q->etag = etag_of(q->mem, found.version);
    return record_write_json(&q->answer, found.id, found.version, found.data, err);
}

void records_get(struct call *c)
{
    if (records_check_path(c))
        lookup_start(c, c, record_run_get, NULL);
}

/* --- changing one --- */

static void answer_record(struct call *c, int status, struct str json)
{
    struct http_header headers[2] = {{"ETag", NULL}, {"Location", NULL}};
    struct value record, version = value_absent();
    struct err err;

    if (status == 204) {
        call_answer_nothing(c);
        return;
    }
    if (json_read(c->mem, json, &record, &err) && record.kind == VALUE_MAP)
        version = value_map_get_str(record, STR("version"));
    headers[0].value = etag_of(c->mem, version.kind == VALUE_INT ? version.i : 0);
    headers[1].value = str_copy(c->mem, c->http->path).ptr;
    call_answer_headers(c, status, json, headers, status == 201 ? 2 : 1);
}

static void record_changed(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        repeat_or_refuse_of(c, r);
    else if (r->stored_status != 0)
        answer_record(c, r->stored_status, r->stored_answer);
    else
        answer_record(c, r->change->answer_status, r->change->answer_json);
}

/* "3" as in ETag, or 3. */
static bool record_read_version(struct str text, int64_t *out)
{
    text = str_trim(text);
    if (str_starts_with(text, STR("W/")))
        text = str_slice(text, 2, text.len);
    if (text.len > 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        text = str_slice(text, 1, text.len - 1);
    return str_to_int64(text, out) && *out > 0;
}

/* If-Match: a version, or * for any; If-None-Match: * when there must be none. */
static bool read_expected(struct call *c, int64_t *out)
{
    struct str match = http_header(c->http, "If-Match");
    struct str none = http_header(c->http, "If-None-Match");

    *out = RECORD_WHATEVER;
    if (match.len > 0 && none.len > 0)
        call_refuse_text(c, ERR_BAD_REQUEST, "If-Match and If-None-Match exclude one another");
    else if (none.len > 0 && !str_eq(str_trim(none), STR("*")))
        call_refuse_text(c, ERR_BAD_REQUEST, "If-None-Match takes * here: there must be no record");
    else if (match.len > 0 && !str_eq(str_trim(match), STR("*")) &&
             !record_read_version(match, out))
        call_refuse_text(c, ERR_PRECONDITION_FAILED,
                         "If-Match is the ETag of the record, a number in quotes, or *");
    else {
        if (none.len > 0)
            *out = RECORD_NO_VERSION;
        else if (match.len > 0 && *out == RECORD_WHATEVER)
            *out = RECORD_ANY_VERSION;
        return true;
    }
    return false;
}

/*
 * What a client has read it may send back: the id must be that of the path, and
 * a version means what If-Match means.
 */
static bool take_identity(struct call *c, struct value body, struct record_change *r)
{
    struct value id = value_map_get_str(body, STR("id"));
    struct value version = value_map_get_str(body, STR("version"));

    if (id.kind != VALUE_ABSENT &&
        (id.kind != VALUE_STRING || !str_eq(value_text(id), c->params[1])))
        return call_refuse_field(c, "id", "bad_value",
                                 "the id in the body is not the one in the path");
    if (version.kind != VALUE_ABSENT && (version.kind != VALUE_INT || version.i < 1))
        return call_refuse_field(c, "version", "bad_value",
                                 "version is a number that the server gives; leave it out");
    if (version.kind == VALUE_INT && r->expected == RECORD_WHATEVER)
        r->expected = version.i;
    return true;
}

static struct value without_identity(struct arena *mem, struct value body)
{
    struct value_entry *entries = ARENA_ARRAY(mem, body.len + 1u, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < body.len; i++) {
        struct str name = value_text(body.map->entries[i].key);
        if (!str_eq(name, STR("id")) && !str_eq(name, STR("version")))
            entries[count++] = body.map->entries[i];
    }
    return value_map_make(mem, entries, count, &duplicate);
}

static bool read_data(struct call *c, struct record_change *r)
{
    struct value body = value_map_empty();
    struct err err;

    if (c->http->body.len > 0 && !json_read(c->mem, c->http->body, &body, &err))
        return call_refuse(c, &err);
    if (body.kind != VALUE_MAP)
        return call_refuse_text(c, ERR_INVALID,
                                "the body must be a JSON object: the fields of the record");
    if (!take_identity(c, body, r))
        return false;
    r->data = without_identity(c->mem, body);
    return true;
}

static void change(struct call *c, enum record_action action, const char *audit_action)
{
    struct record_change *r = ARENA_NEW(c->mem, struct record_change);

    *r = (struct record_change){.change = {.apply = record_change_apply,
                                           .announces = "record.",
                                           .makes_space = action == RECORD_DELETE},
                                .action = action,
                                .org_id = c->user.org_id,
                                .object = c->params[0],
                                .id = c->params[1],
                                .data = value_map_empty()};
    if (!records_check_path(c) || !read_expected(c, &r->expected) ||
        (action != RECORD_DELETE && !read_data(c, r)))
        return;
    call_submit_change(c, &r->change, record_changed, audit_action,
                       str_printf(c->mem, "%.*s/%.*s", STR_ARG(r->object), STR_ARG(r->id)),
                       STR_NONE);
}

void records_put(struct call *c)
{
    change(c, RECORD_PUT, "record.put");
}

void records_patch(struct call *c)
{
    change(c, RECORD_PATCH, "record.patch");
}

void records_delete(struct call *c)
{
    change(c, RECORD_DELETE, "record.delete");
}
