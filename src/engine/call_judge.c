/*
 * call_judge.c - what the answer to a call over HTTP means: success, or a failure
 * and its class. See call_judge.h.
 */
#include "engine/call_judge.h"

#include <stdio.h>
#include <string.h>

#include "base/civil.h"
#include "engine/procedure.h"

/* A service that asks for more is not taken at its word. */
static const int64_t LONGEST_S = INT64_C(365) * 86400;

static struct str text_member(struct value map, struct str name)
{
    struct value v = value_map_get_str(map, name);

    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

/* "404", 404, "4xx" */
static bool matches_status(struct value pattern, int64_t status)
{
    struct str text = pattern.kind == VALUE_STRING ? value_text(pattern) : STR_NONE;
    int64_t number;

    if (pattern.kind == VALUE_INT)
        return pattern.i == status;
    if (text.len == 3 && (str_ends_with(text, STR("xx")) || str_ends_with(text, STR("XX"))))
        return text.ptr[0] - '0' == status / 100;
    return str_to_int64(text, &number) && number == status;
}

/* The class that the definition gives to a status, exact ones before "4xx"; or empty. */
static struct str class_written(struct value request, int64_t status)
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
    return found;
}

static bool is_class(struct str text)
{
    return str_eq(text, STR("business")) || str_eq(text, STR("transient")) ||
           str_eq(text, STR("indeterminate"));
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
        return j->status / 100 == 2 && !is_class(class_written(j->request, j->status)) &&
               !is_class(text_member(j->said, STR("class"))) &&
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

static struct str class_of_status(int64_t status, bool is_safe, bool reconciles)
{
    if (reconciles && !is_safe && (status == 202 || is_open(status)))
        return STR("indeterminate");
    if (status == 408 || status == 425 || status == 429 || status == 503 || is_open(status))
        return STR("transient");
    return STR("business");
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
        headers.kind == VALUE_MAP ? text_member(headers, STR("retry-after")) : STR_NONE;
    int64_t seconds, us;

    if (read_http_date(after, &seconds))
        us = seconds * 1000000 - wall_us;
    else if (str_to_int64(after, &seconds) && seconds <= LONGEST_S)
        us = seconds * 1000000;
    else
        return 0;
    return us < 0 || us > LONGEST_S * 1000000 ? 0 : us;
}

/* What the service says about its failure: {error: {code, class, message}}. */
static struct value service_error(struct value answer)
{
    struct value body = value_map_get_str(answer, STR("body"));
    struct value error =
        body.kind == VALUE_MAP ? value_map_get_str(body, STR("error")) : value_absent();

    return error.kind == VALUE_MAP ? error : value_map_empty();
}

enum step_result call_judge(struct turn *t, struct value answer)
{
    struct judged j = {
        .request = suspend_asked(t),
        .said = service_error(answer),
        .status = value_map_get_str(answer, STR("status_code")).i,
        .reconciles = t->about == NULL && turn_step(t)->reconcile != NULL,
    };
    struct str method = text_member(j.request, STR("method")), class, message;

    j.is_safe = str_eq(method, STR("GET")) || str_eq(method, STR("HEAD"));
    if (is_expected(&j))
        return STEP_DONE;
    class = class_written(j.request, j.status);
    if (!is_class(class))
        class = text_member(j.said, STR("class"));
    if (!is_class(class))
        class = class_of_status(j.status, j.is_safe, j.reconciles);
    message = text_member(j.said, STR("message"));
    (void)turn_fail(t, STR("external_status"), class, "%.*s %.*s answered %lld%s%.*s",
                    STR_ARG(method), STR_ARG(text_member(j.request, STR("url"))),
                    (long long)j.status, message.len > 0 ? ": " : "", STR_ARG(message));
    t->failure.details = answer;
    t->failure.retry_after_us = retry_after_us(answer, t->wall_us);
    t->failure.is_unsure = !j.is_safe && is_open(j.status);
    return STEP_FAILED;
}
