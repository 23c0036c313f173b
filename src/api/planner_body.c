/* planner_body.c - the bodies of calls about tasks; see planner.h. */
#include "api/planner.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_LEN_MAX = 4000, IDS_MAX = 200, TASKS_MAX = 50 };

const struct planner_field planner_task_fields[] = {
#define TASK_FIELD(symbol, name, field_kind, required, field_max)                                  \
    {name, .kind = TAKES_##field_kind, .is_required = required, .max = field_max},
#include "define/task_fields.def"
#undef TASK_FIELD
    {0},
};

struct reading {
    struct call *call;
    struct findings findings;
};

PRINTF_LIKE(3, 4)
static void wrong(struct reading *r, const char *field, const char *format, ...)
{
    char text[200];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    body_finding(r->call->mem, &r->findings, field, "bad_value",
                 str_copy(r->call->mem, str_of(text)));
}

static bool is_word(const char *words, struct str text)
{
    for (; *words != '\0'; words += strspn(words, " ")) {
        size_t len = strcspn(words, " ");
        if (str_eq(str_from(words, len), text))
            return true;
        words += len;
    }
    return false;
}

static bool check_text(struct reading *r, const struct planner_field *f, struct value v)
{
    int64_t max = f->max > 0 ? f->max : TEXT_LEN_MAX;

    if (v.kind != VALUE_STRING || (int64_t)v.len > max ||
        (f->is_required && str_trim(value_text(v)).len == 0)) {
        wrong(r, f->name, "%s is a text of at most %lld bytes", f->name, (long long)max);
        return false;
    }
    if (f->words != NULL && !is_word(f->words, value_text(v))) {
        wrong(r, f->name, "%s is one of: %s", f->name, f->words);
        return false;
    }
    return true;
}

static bool check_int(struct reading *r, const struct planner_field *f, struct value v)
{
    int64_t max = f->max > 0 ? f->max : INT32_MAX, min = f->kind == TAKES_SIGNED ? -max : 0;

    if (v.kind == VALUE_INT && v.i >= min && v.i <= max)
        return true;
    wrong(r, f->name, "%s is an integer from %lld to %lld", f->name, (long long)min,
          (long long)max);
    return false;
}

static bool check_ids(struct reading *r, const struct planner_field *f, struct value v)
{
    bool ok = v.kind == VALUE_LIST && v.len <= IDS_MAX;

    for (uint32_t i = 0; ok && i < v.len; i++)
        ok = v.items[i].kind == VALUE_STRING && v.items[i].len > 0 && v.items[i].len <= 200;
    if (!ok)
        wrong(r, f->name, "%s is a list of at most %d ids", f->name, IDS_MAX);
    return ok;
}

static struct value read_fields(struct reading *r, const struct planner_field *fields,
                                struct value body);

static bool take_tasks(struct reading *r, const struct planner_field *f, struct value v,
                       struct value *out)
{
    struct value *items;

    if (v.kind != VALUE_LIST || v.len == 0 || v.len > TASKS_MAX) {
        wrong(r, f->name, "%s is a list of 1 to %d tasks", f->name, TASKS_MAX);
        return false;
    }
    items = ARENA_ARRAY(r->call->mem, v.len, struct value);
    for (uint32_t i = 0; i < v.len; i++) {
        if (v.items[i].kind != VALUE_MAP) {
            wrong(r, f->name, "each of %s is an object", f->name);
            return false;
        }
        items[i] = read_fields(r, planner_task_fields, v.items[i]);
    }
    *out = value_list(items, v.len);
    return true;
}

/* One field as the store is given it; false when it is wrong. */
static bool read_field(struct reading *r, const struct planner_field *f, struct value v,
                       struct value_entry *out)
{
    struct value time;

    *out = (struct value_entry){.key = value_key(str_of(f->name)), .value = v};
    switch (f->kind) {
    case TAKES_TEXT:
        return check_text(r, f, v);
    case TAKES_INT:
    case TAKES_SIGNED:
        return check_int(r, f, v);
    case TAKES_BOOL:
        if (v.kind == VALUE_BOOL)
            return true;
        wrong(r, f->name, "%s is true or false", f->name);
        return false;
    case TAKES_TIME:
        if (v.kind == VALUE_STRING && timestamp_read(value_text(v), &time) && time.seconds > 0) {
            out->key = value_key(str_printf(r->call->mem, "%s_us", f->name));
            out->value = value_int(time.seconds * 1000000 + time.nanos / 1000);
            return true;
        }
        wrong(r, f->name, "%s is a time such as 2026-01-31T12:00:00Z", f->name);
        return false;
    case TAKES_IDS:
        return check_ids(r, f, v);
    case TAKES_OBJECT:
        if (v.kind == VALUE_MAP)
            return true;
        wrong(r, f->name, "%s is an object", f->name);
        return false;
    case TAKES_TASKS:
        return take_tasks(r, f, v, &out->value);
    case TAKES_ANY:
        break;
    }
    return true;
}

static const struct planner_field *field_find(const struct planner_field *fields, struct str name)
{
    for (; fields->name != NULL; fields++)
        if (str_eq(str_of(fields->name), name))
            return fields;
    return NULL;
}

static void unknown(struct reading *r, const struct planner_field *fields, struct str name)
{
    struct body_field known[PLANNER_FIELDS_MAX];
    size_t count = 0;

    for (; fields->name != NULL && count < ARRAY_SIZE(known); fields++)
        known[count++] = (struct body_field){.name = fields->name};
    body_unknown(r->call->mem, &r->findings, name, known, count);
}

/* What is null is as good as absent, except that it takes away where something is changed. */
static struct value read_fields(struct reading *r, const struct planner_field *fields,
                                struct value body)
{
    struct value_entry *entries = ARENA_ARRAY(r->call->mem, body.len + 1u, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < body.len; i++) {
        const struct value_entry *e = &body.map->entries[i];
        const struct planner_field *f = field_find(fields, value_text(e->key));

        if (f == NULL) {
            unknown(r, fields, value_text(e->key));
        } else if (e->value.kind == VALUE_NULL) {
            struct str name = str_of(f->name);
            if (f->kind == TAKES_TIME)
                name = str_printf(r->call->mem, "%s_us", f->name);
            entries[count++] = (struct value_entry){value_key(name), value_null()};
        } else if (read_field(r, f, e->value, &entries[count])) {
            count++;
        }
    }
    for (; fields->name != NULL; fields++) {
        struct value v = value_map_get_str(body, str_of(fields->name));
        if (fields->is_required && (v.kind == VALUE_ABSENT || v.kind == VALUE_NULL))
            body_finding(r->call->mem, &r->findings, fields->name, "required",
                         str_printf(r->call->mem, "%s is missing", fields->name));
    }
    return value_map_make(r->call->mem, entries, count, &duplicate);
}

bool planner_fields(struct call *c, const struct planner_field *fields, struct value body,
                    struct value *out)
{
    struct reading r = {.call = c};
    struct err err;

    *out = read_fields(&r, fields, body);
    if (r.findings.count == 0)
        return true;
    (void)err_set(&err, ERR_VALIDATION_ERROR, "%.*s", STR_ARG(r.findings.items[0].message));
    call_refuse_with(c, &err, &r.findings, STR_NONE);
    return false;
}

bool planner_body(struct call *c, const struct planner_field *fields, struct value *out)
{
    struct value body = value_map_empty();
    struct err err;

    if (c->http->body.len > 0 && !json_read(c->mem, c->http->body, &body, &err)) {
        call_refuse(c, &err);
        return false;
    }
    if (body.kind != VALUE_MAP) {
        call_refuse_text(c, ERR_VALIDATION_ERROR, "the body must be a JSON object");
        return false;
    }
    return planner_fields(c, fields, body, out);
}
