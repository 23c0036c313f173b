/*
 * url_join.c - the parts of a URL joined, values percent-encoded; see cel_compile_url().
 *
 * One pass from left to right. A part of the path that a value has a share in
 * is looked at when it ends: `.` and `..` would lead elsewhere. The host stands
 * between the second and the third slash; encoding leaves dots alone, so a
 * value that goes on with a name there may not hold one.
 */
#include "base/buf.h"
#include "base/url.h"
#include "cel/eval.h"
#include "cel/program.h"
#include "cel/syntax/ast.h"

struct url_join {
    struct buf out;
    bool is_path;   /* it has no host */
    bool is_query;  /* behind a `?` or `#` */
    bool has_value; /* the part of the path that is being written has a share of a value */
    unsigned slashes;
    size_t part_at;          /* where that part begins */
    bool has_dots, has_host; /* what is wrong with it */
};

static void join_end_part(struct url_join *j)
{
    if (!j->is_query && j->has_value &&
        url_is_dot_segment(str_slice(buf_view(&j->out), j->part_at, j->out.len)))
        j->has_dots = true;
}

/* Text that is taken as it is: its slashes and its question mark divide the URL. */
static void join_text(struct url_join *j, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!j->is_query && (c == '/' || c == '?' || c == '#')) {
            join_end_part(j);
            j->is_query = c != '/';
            j->has_value = false;
            j->slashes++;
            j->part_at = j->out.len + 1;
        }
        buf_char(&j->out, c);
    }
}

static bool is_in_host(const struct url_join *j)
{
    return !j->is_path && !j->is_query && j->slashes == 2;
}

/* Whether the name of a host has begun, and its present label too. */
static bool continues_label(const struct url_join *j)
{
    return is_in_host(j) && j->out.len > j->part_at && j->out.ptr[j->out.len - 1] != '.';
}

static void join_value(struct url_join *j, struct str text)
{
    if (continues_label(j) && str_find(text, STR("."), 0) >= 0)
        j->has_host = true;
    j->has_value = true;
    url_encode(&j->out, text);
}

struct value operate_join_url(struct cel_eval *ev, const struct value *items, uint32_t count,
                              const char *kinds, bool is_path)
{
    struct url_join j = {.is_path = is_path};
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += (size_t)items[i].len * 3;
    if (!cel_charge_bytes(ev, len))
        return cel_over_cost(ev);
    buf_init_arena(&j.out, ev->mem);
    j.out.limit = ev->mem_left / 2;
    for (uint32_t i = 0; i < count && !j.out.failed; i++) {
        if (kinds[i] == URL_PART_VALUE)
            join_value(&j, value_text(items[i]));
        else
            join_text(&j, value_text(items[i]));
    }
    join_end_part(&j);
    if (j.out.failed || j.out.len > VALUE_LEN_MAX)
        return cel_over_memory(ev);
    ev->mem_left -= j.out.len * 2;
    if (j.has_dots)
        return value_error(ev->mem, ERR_VALIDATION_URL, ev->offset,
                           "a value makes a part of the path '.' or '..', which leads elsewhere");
    if (j.has_host)
        return value_error(ev->mem, ERR_VALIDATION_URL, ev->offset,
                           "a value with a '.' goes on with the name of the host: it would be "
                           "another host");
    return value_string(buf_view(&j.out));
}
