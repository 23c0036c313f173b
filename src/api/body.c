/* body.c - see body.h. */
#include "api/body.h"

#include "api/router.h"
#include "value/json.h"
#include "value/path.h"
#include "value/timefmt.h"

#include <stdarg.h>

enum { TEXT_LEN_MAX = 4000, IDS_MAX = 200, ID_LEN_MAX = 200, OBJECTS_MAX = 50 };

/* How mistakes are named. */
struct body_contract {
    const char *wrong, *missing; /* codes of findings */
    enum err_code refusal;
    bool has_bounds;
};

static const struct body_contract by_kind = {
    .wrong = "wrong_type", .missing = "missing_field", .refusal = ERR_INVALID};
static const struct body_contract by_bounds = {.wrong = "bad_value",
                                               .missing = "required",
                                               .refusal = ERR_VALIDATION_ERROR,
                                               .has_bounds = true};

struct body_reading {
    struct arena *mem;
    const struct body_contract *contract;
    struct findings *findings;
};

/* --- findings --- */

static struct finding *add_finding(struct arena *mem, struct findings *findings, struct str field,
                                   const char *code, struct sentence message)
{
    /* One more than is shown stands for all that follow: callers add to the last one. */
    struct finding *f = findings_are_full(findings) ? &findings->items[findings->count - 1]
                                                    : VEC_ADD(mem, findings);
    struct buf pointer;

    buf_init_arena(&pointer, mem);
    path_add(&pointer, field);
    *f = (struct finding){.pointer = buf_view(&pointer), .code = str_of(code), .message = message};
    return f;
}

void body_vfinding(struct arena *mem, struct findings *findings, const char *field,
                   const char *code, const char *format, va_list args)
{
    (void)add_finding(mem, findings, str_of(field), code,
                      sentence_vmake(mem, SENTENCE_MAX, format, args));
}

void body_finding(struct arena *mem, struct findings *findings, const char *field, const char *code,
                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    body_vfinding(mem, findings, field, code, format, args);
    va_end(args);
}

void body_hint(struct arena *mem, struct findings *findings, struct str nearest)
{
    if (nearest.len > 0)
        findings->items[findings->count - 1].hint =
            sentence_make(mem, "did you mean '%.*s'?", STR_ARG(nearest));
}

PRINTF_LIKE(3, 4)
static bool body_wrong(struct body_reading *r, const struct body_field *f, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    body_vfinding(r->mem, r->findings, f->name, r->contract->wrong, format, args);
    va_end(args);
    return false;
}

void body_unknown(struct arena *mem, struct findings *findings, struct str name,
                  const struct body_field *fields, size_t count)
{
    unsigned limit = name.len > 3 ? 2 : 1;
    struct str nearest = STR_NONE;

    for (size_t i = 0; i < count; i++) {
        unsigned distance = str_distance(name, str_of(fields[i].name), limit);
        if (distance > limit)
            continue;
        nearest = str_of(fields[i].name);
        limit = distance;
    }
    (void)add_finding(mem, findings, name, "unknown_field",
                      sentence_make(mem, "there is no field '%.*s'",
                                    (int)(name.len > 100 ? 100 : name.len), name.ptr));
    body_hint(mem, findings, nearest);
}

/* --- values by their kind --- */

static bool body_check_texts(struct body_reading *r, const struct body_field *f, struct value v)
{
    bool ok = v.kind == VALUE_LIST;

    for (uint32_t i = 0; ok && i < v.len; i++)
        ok = v.items[i].kind == VALUE_STRING;
    return ok || body_wrong(r, f, "%s must be a list of texts", f->name);
}

static bool body_check_kind(struct body_reading *r, const struct body_field *f, struct value v)
{
    static const struct {
        enum value_kind kind;
        const char *wanted;
    } kinds[] = {
        [BODY_TEXT] = {VALUE_STRING, "a text"},
        [BODY_INT] = {VALUE_INT, "an integer"},
        [BODY_BOOL] = {VALUE_BOOL, "true or false"},
        [BODY_OBJECT] = {VALUE_MAP, "an object"},
    };

    if (f->kind == BODY_IDS)
        return body_check_texts(r, f, v);
    ASSERT(f->kind < ARRAY_SIZE(kinds));
    if (f->kind == BODY_TEXT && v.kind == VALUE_STRING && f->max > 0 && (int64_t)v.len > f->max) {
        body_finding(r->mem, r->findings, f->name, "bad_value",
                     "%s is a text of at most %lld bytes", f->name, (long long)f->max);
        return false;
    }
    return f->kind == BODY_ANY || v.kind == kinds[f->kind].kind ||
           body_wrong(r, f, "%s must be %s", f->name, kinds[f->kind].wanted);
}

/* --- values within their bounds --- */

static bool check_text(struct body_reading *r, const struct body_field *f, struct value v)
{
    int64_t max = f->max > 0 ? f->max : TEXT_LEN_MAX;

    if (v.kind != VALUE_STRING || (int64_t)v.len > max ||
        (f->is_required && str_trim(value_text(v)).len == 0))
        return body_wrong(r, f, "%s is a text of at most %lld bytes", f->name, (long long)max);
    return f->words == NULL || words_have(f->words, value_text(v)) ||
           body_wrong(r, f, "%s is one of: %s", f->name, f->words);
}

static bool check_int(struct body_reading *r, const struct body_field *f, struct value v)
{
    int64_t max = f->max > 0 ? f->max : INT32_MAX, min = f->kind == BODY_SIGNED ? -max : 0;

    return (v.kind == VALUE_INT && v.i >= min && v.i <= max) ||
           body_wrong(r, f, "%s is an integer from %lld to %lld", f->name, (long long)min,
                      (long long)max);
}

static bool check_ids(struct body_reading *r, const struct body_field *f, struct value v)
{
    bool ok = v.kind == VALUE_LIST && v.len <= IDS_MAX;

    for (uint32_t i = 0; ok && i < v.len; i++)
        ok = v.items[i].kind == VALUE_STRING && v.items[i].len > 0 && v.items[i].len <= ID_LEN_MAX;
    return ok || body_wrong(r, f, "%s is a list of at most %d ids", f->name, IDS_MAX);
}

static bool take_time(struct body_reading *r, const struct body_field *f, struct value v,
                      struct value *out)
{
    struct value time;

    if (v.kind != VALUE_STRING || !timestamp_read(value_text(v), &time) || time.seconds <= 0)
        return body_wrong(r, f, "%s is a time such as 2026-01-31T12:00:00Z", f->name);
    *out = value_int(time.seconds * 1000000 + time.nanos / 1000);
    return true;
}

static struct value body_object(struct body_reading *r, const struct body_field *fields,
                                size_t count, struct value object);

static size_t count_fields(const struct body_field *fields)
{
    size_t count = 0;

    while (fields[count].name != NULL)
        count++;
    return count;
}

static bool take_objects(struct body_reading *r, const struct body_field *f, struct value v,
                         struct value *out)
{
    struct value *items;

    if (v.kind != VALUE_LIST || v.len == 0 || v.len > OBJECTS_MAX)
        return body_wrong(r, f, "%s is a list of 1 to %d tasks", f->name, OBJECTS_MAX);
    items = ARENA_ARRAY(r->mem, v.len, struct value);
    for (uint32_t i = 0; i < v.len; i++) {
        if (v.items[i].kind != VALUE_MAP)
            return body_wrong(r, f, "each of %s is an object", f->name);
        items[i] = body_object(r, f->of, count_fields(f->of), v.items[i]);
    }
    *out = value_list(items, v.len);
    return true;
}

static bool check_bounds(struct body_reading *r, const struct body_field *f, struct value v,
                         struct value *out)
{
    switch (f->kind) {
    case BODY_ANY:
        return true;
    case BODY_TEXT:
        return check_text(r, f, v);
    case BODY_INT:
    case BODY_SIGNED:
        return check_int(r, f, v);
    case BODY_BOOL:
        return v.kind == VALUE_BOOL || body_wrong(r, f, "%s is true or false", f->name);
    case BODY_OBJECT:
        return v.kind == VALUE_MAP || body_wrong(r, f, "%s is an object", f->name);
    case BODY_TIME:
        return take_time(r, f, v, out);
    case BODY_IDS:
        return check_ids(r, f, v);
    case BODY_OBJECTS:
        return take_objects(r, f, v, out);
    }
    PANIC("unknown kind of field");
}

/* --- objects --- */

/* One member as it is handed on; false when it is wrong, or counts as absent. */
static bool take_member(struct body_reading *r, const struct body_field *f, struct value v,
                        struct value_entry *out)
{
    struct str name = str_of(f->name);

    if (f->kind == BODY_TIME)
        name = str_printf(r->mem, "%s_us", f->name);
    *out = (struct value_entry){.key = value_key(name), .value = v};
    if (v.kind == VALUE_NULL)
        return r->contract->has_bounds || f->kind == BODY_ANY;
    return r->contract->has_bounds ? check_bounds(r, f, v, &out->value) : body_check_kind(r, f, v);
}

static const struct body_field *body_field_find(const struct body_field *fields, size_t count,
                                                struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(str_of(fields[i].name), name))
            return &fields[i];
    return NULL;
}

static bool is_missing(struct value object, const char *name)
{
    struct value v = value_map_get_str(object, str_of(name));

    return v.kind == VALUE_ABSENT || v.kind == VALUE_NULL;
}

/* A map of what the object gives; each goes to the `out` of its field, too. */
static struct value body_object(struct body_reading *r, const struct body_field *fields,
                                size_t count, struct value object)
{
    struct value_entry *given = ARENA_ARRAY(r->mem, object.len + 1u, struct value_entry);
    size_t taken = 0;

    for (uint32_t i = 0; i < object.len && !findings_are_full(r->findings); i++) {
        const struct value_entry *e = &object.map->entries[i];
        const struct body_field *f = body_field_find(fields, count, value_text(e->key));

        if (f == NULL) {
            body_unknown(r->mem, r->findings, value_text(e->key), fields, count);
        } else if (take_member(r, f, e->value, &given[taken])) {
            if (f->out != NULL)
                *f->out = given[taken].value;
            taken++;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].is_required && is_missing(object, fields[i].name))
            body_finding(r->mem, r->findings, fields[i].name, r->contract->missing, "%s is missing",
                         fields[i].name);
    return r->contract->has_bounds ? value_map_take(r->mem, given, taken) : value_absent();
}

static bool body_text(struct body_reading *r, struct str text, struct value *out, struct err *err)
{
    *out = value_map_empty();
    if (text.len > 0 && !json_read(r->mem, text, out, err))
        return false;
    return out->kind == VALUE_MAP ||
           err_set(err, r->contract->refusal, "the body must be a JSON object");
}

static bool body_end(const struct body_reading *r, struct err *err)
{
    return r->findings->count == 0 ||
           err_set(err, r->contract->refusal, "%pS", SENTENCE_ARG(r->findings->items[0].message));
}

bool body_read(struct arena *mem, struct str text, const struct body_field *fields, size_t count,
               struct findings *findings, struct err *err)
{
    struct body_reading r = {.mem = mem, .contract = &by_kind, .findings = findings};
    struct value object;

    for (size_t i = 0; i < count; i++)
        *fields[i].out = value_absent();
    if (!body_text(&r, text, &object, err))
        return false;
    (void)body_object(&r, fields, count, object);
    return body_end(&r, err);
}

bool body_object_bounded(struct arena *mem, struct value object, const struct body_field *fields,
                         struct value *out, struct findings *findings, struct err *err)
{
    struct body_reading r = {.mem = mem, .contract = &by_bounds, .findings = findings};

    *out = body_object(&r, fields, count_fields(fields), object);
    return body_end(&r, err);
}

bool body_read_bounded(struct arena *mem, struct str text, const struct body_field *fields,
                       struct value *out, struct findings *findings, struct err *err)
{
    struct body_reading r = {.mem = mem, .contract = &by_bounds, .findings = findings};
    struct value object;

    return body_text(&r, text, &object, err) &&
           body_object_bounded(mem, object, fields, out, findings, err);
}
