/*
 * call_judge.c - what the answer to a call over HTTP means: success, or a failure
 * and its class. See call_judge.h.
 */
#include "engine/command/call_judge.h"

#include <stdio.h>
#include <string.h>

#include "base/time/civil.h"
#include "engine/command/procedure.h"
#include "value/json.h"

/* The effect keeps no larger body (effect.h). */
enum { ANSWER_MAX_BYTES = 1 << 20 };

/* A service that asks for more is asked again after this time. */
static const int64_t LONGEST_S = 86400;

/* "404", 404, "4xx" */
static bool matches_status(struct value pattern, int64_t status)
{
    struct str text = value_text_or(pattern, STR_NONE);
    int64_t number;

    if (pattern.kind == VALUE_INT)
        return pattern.i == status;
    if (text.len == 3 && (str_ends_with(text, STR("xx")) || str_ends_with(text, STR("XX"))))
        return text.ptr[0] - '0' == status / 100;
    return str_to_int64(text, &number) && number == status;
}

/* The class that the definition gives to a status, exact ones before "4xx"; or none. */
static enum err_class class_written(struct value request, int64_t status)
{
    struct value classes = value_map_get_str(request, STR("classes"));
    struct str found = STR_NONE;

    for (uint32_t i = 0; classes.kind == VALUE_MAP && i < classes.map->count; i++) {
        const struct value_entry *e = &classes.map->entries[i];
        bool is_exact = !str_ends_with(value_text(e->key), STR("xx"));

        if (e->value.kind == VALUE_STRING && matches_status(e->key, status) &&
            (found.len == 0 || is_exact))
            found = value_text(e->value);
    }
    return err_class_find(found);
}

/* What the answer to a call is judged by. */
struct judged {
    struct value request, said; /* what the service says of its failure */
    int64_t status;
    bool is_safe;    /* asking again does nothing */
    bool reconciles; /* the step finds out what became of it */
};

/*
 * Success is what `expect` lists. Without it that is 2xx, unless the definition
 * or the service itself gives the answer a class, or the step reconciles and a
 * 202 leaves open what became of it.
 */
static bool is_expected(const struct judged *j)
{
    struct value expect = value_map_get_str(j->request, STR("expect"));

    if (expect.kind != VALUE_LIST)
        return j->status / 100 == 2 && class_written(j->request, j->status) == ERR_CLASS_NONE &&
               err_class_find(value_map_text(j->said, STR("class"))) == ERR_CLASS_NONE &&
               !(j->status == 202 && j->reconciles && !j->is_safe);
    for (uint32_t i = 0; i < expect.len; i++)
        if (matches_status(expect.items[i], j->status))
            return true;
    return false;
}

/* Whether a failure with this status leaves open whether the service has done it. */
static bool is_open(int64_t status)
{
    return status == 500 || status == 502 || status == 504;
}

static enum err_class class_of_status(int64_t status, bool is_safe, bool reconciles)
{
    if (reconciles && !is_safe && (status == 202 || is_open(status)))
        return ERR_CLASS_INDETERMINATE;
    if (status == 408 || status == 425 || status == 429 || status == 503 || is_open(status))
        return ERR_CLASS_TRANSIENT;
    return ERR_CLASS_BUSINESS;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", the form of dates that services write. */
static bool read_http_date(struct str text, int64_t *seconds)
{
    static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4], zone[4], buffer[40];
    const char *found;
    struct civil c = {0};
    int day, year, hour, minute, second;

    if (text.len == 0 || text.len >= sizeof(buffer))
        return false;
    memcpy(buffer, text.ptr, text.len);
    buffer[text.len] = '\0';
    if (sscanf(buffer, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d %3s", &day, month, &year, &hour,
               &minute, &second, zone) != 7 ||
        strcmp(zone, "GMT") != 0)
        return false;
    found = strlen(month) == 3 ? strstr(MONTHS, month) : NULL;
    if (found == NULL || (found - MONTHS) % 3 != 0)
        return false;
    c.year = year;
    c.month = (int32_t)((found - MONTHS) / 3) + 1;
    c.day = day;
    c.hour = hour;
    c.minute = minute;
    c.second = second;
    *seconds = civil_seconds(&c);
    return true;
}

/* How long the service asks to be left alone: a number of seconds, or a date. */
static int64_t retry_after_us(struct value answer, int64_t wall_us)
{
    struct value headers = value_map_get_str(answer, STR("headers"));
    struct str after =
        headers.kind == VALUE_MAP ? value_map_text(headers, STR("retry-after")) : STR_NONE;
    int64_t seconds, us;

    if (read_http_date(after, &seconds))
        us = seconds * 1000000 - wall_us;
    else if (str_to_int64(after, &seconds))
        us = (seconds < LONGEST_S ? seconds : LONGEST_S) * 1000000;
    else
        return 0;
    if (us > LONGEST_S * 1000000)
        us = LONGEST_S * 1000000;
    return us > 0 ? us : 0;
}

/* What the service says about its failure: {error: {code, class, message}}. */
static struct value service_error(struct value answer)
{
    struct value body = value_map_get_str(answer, STR("body"));
    struct value error = value_map_member(body, STR("error"));

    return error.kind == VALUE_MAP ? error : value_map_empty();
}

enum step_result call_judge(struct turn *t, struct value answer)
{
    struct judged j = {
        .request = suspend_asked(t),
        .said = service_error(answer),
        .status = value_map_get_str(answer, STR("status_code")).i,
        .reconciles = t->about == NULL && t->x->cursor.step < t->x->program->step_count &&
                      turn_step(t)->reconcile != NULL,
    };
    struct str method = value_map_text(j.request, STR("method")), message;
    enum err_class class;

    j.is_safe = str_eq(method, STR("GET")) || str_eq(method, STR("HEAD"));
    if (is_expected(&j))
        return STEP_DONE;
    class = class_written(j.request, j.status);
    if (class == ERR_CLASS_NONE)
        class = err_class_find(value_map_text(j.said, STR("class")));
    if (class == ERR_CLASS_NONE)
        class = class_of_status(j.status, j.is_safe, j.reconciles);
    message = value_map_text(j.said, STR("message"));
    (void)turn_fail(t, STR("external_status"), class, "%.*s %.*s answered %lld%s%.*s",
                    STR_ARG(method), STR_ARG(value_map_text(j.request, STR("url"))),
                    (long long)j.status, message.len > 0 ? ": " : "", STR_ARG(message));
    t->failure.details = answer;
    t->failure.is_foreign = true;
    t->failure.retry_after_us = retry_after_us(answer, t->wall_us);
    t->failure.is_unsure = !j.is_safe && is_open(j.status);
    return STEP_FAILED;
}

/* --- bodies that are not kept --- */

static int64_t body_bytes(struct turn *t, struct value body)
{
    struct buf json;
    struct err err;

    if (body.kind == VALUE_STRING)
        return (int64_t)value_text(body).len;
    buf_init_arena(&json, t->mem);
    return json_write(&json, body, &err) ? (int64_t)json.len : 0;
}

struct value call_reduce(struct turn *t, struct value answer)
{
    struct value headers = value_map_member(answer, STR("headers"));
    struct str type = value_map_text(headers, STR("content-type"));
    int64_t size = body_bytes(t, value_map_member(answer, STR("body")));

    return value_map_of(
        t->mem,
        VALUE_ENTRIES(
            {value_key(STR("status_code")), value_int(value_map_int(answer, STR("status_code")))},
            {value_key(STR("headers")), value_map_empty()}, {value_key(STR("body")), value_null()},
            {value_key(STR("contentType")), type.len > 0 ? value_string(type) : value_null()},
            {value_key(STR("size")), value_int(size)}));
}

void call_warn(struct turn *t, struct value answer)
{
    struct value size = value_map_member(answer, STR("size"));
    struct str type = value_map_text(answer, STR("contentType"));

    if (value_map_member(answer, STR("body")).kind != VALUE_NULL || size.kind != VALUE_INT)
        return;
    (void)turn_fail(t,
                    size.i > ANSWER_MAX_BYTES ? STR("limit_answer_size") : STR("external_bad_body"),
                    ERR_CLASS_BUSINESS,
                    "the service answered %lld, and the body of its answer could not be kept: "
                    "%lld bytes%s%.*s",
                    (long long)value_map_int(answer, STR("status_code")), (long long)size.i,
                    type.len > 0 ? " of " : "", STR_ARG(type));
    procedure_warn(t);
    t->failure = (struct failure){0};
}
