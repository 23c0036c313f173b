/* trace.c - see trace.h. */
#include "engine/trace.h"

#include "base/text/ascii.h"
#include "base/text/hex.h"
#include "define/program.h"

/* --- traceparent --- */

static bool read_bytes(struct str text, size_t at, uint8_t *out, size_t count)
{
    return hex_read_lower(str_slice(text, at, at + 2 * count), out, count);
}

/* An id is not all zeros. */
static bool read_id(struct str text, size_t at, uint8_t *out, size_t count)
{
    uint8_t any = 0;

    if (!read_bytes(text, at, out, count))
        return false;
    for (size_t i = 0; i < count; i++)
        any |= out[i];
    return any != 0;
}

bool trace_read(struct str text, struct trace *out)
{
    uint8_t version, flags;

    if (text.len < TRACEPARENT_LEN || text.ptr[2] != '-' || text.ptr[35] != '-' ||
        text.ptr[52] != '-' || !read_bytes(text, 0, &version, 1) || version == 0xFF)
        return false;
    /* Version 0 ends here; later ones may go on with more. */
    if (text.len > TRACEPARENT_LEN && (version == 0 || text.ptr[TRACEPARENT_LEN] != '-'))
        return false;
    if (!read_id(text, 3, out->id, TRACE_ID_LEN) ||
        !read_id(text, 36, out->parent.bytes, SPAN_ID_LEN) || !read_bytes(text, 53, &flags, 1))
        return false;
    out->has_parent = true;
    out->is_sampled = (flags & 1) != 0;
    return true;
}

/* --- tracestate --- */

/* A name: of letters and digits, with the name of a system in it or none. */
static bool is_state_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_word = ascii_is_lower(c) || ascii_is_digit(c);

        if (!is_word && (i == 0 || strchr("_-*/@", c) == NULL))
            return false;
    }
    return name.len > 0 && name.len <= 256;
}

static bool is_state_member(struct str member)
{
    const char *sign = memchr(member.ptr, '=', member.len);
    struct str value;

    if (sign == NULL || !is_state_name(str_from(member.ptr, (size_t)(sign - member.ptr))))
        return false;
    value = str_slice(member, (size_t)(sign - member.ptr) + 1, member.len);
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < ' ' || value.ptr[i] > '~' || value.ptr[i] == '=')
            return false;
    return value.len > 0 && value.len <= 256;
}

static struct str without_blanks(struct str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = str_slice(s, 1, s.len);
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

struct str trace_state_read(struct arena *mem, struct str text)
{
    bool is_full = false;
    int count = 0;
    struct buf out;

    buf_init_arena(&out, mem);
    for (size_t at = 0; at < text.len;) {
        const char *comma = memchr(text.ptr + at, ',', text.len - at);
        size_t end = comma != NULL ? (size_t)(comma - text.ptr) : text.len;
        struct str member = without_blanks(str_slice(text, at, end));

        at = end + 1;
        if (member.len == 0)
            continue;
        if (!is_state_member(member))
            return STR_NONE;
        is_full = is_full || count == TRACESTATE_MEMBERS_MAX ||
                  out.len + (count > 0) + member.len > TRACESTATE_MAX;
        if (is_full)
            continue;
        if (count++ > 0)
            buf_char(&out, ',');
        buf_str(&out, member);
    }
    return buf_view(&out);
}

/* --- writing --- */

struct str trace_write(struct arena *mem, const struct trace *trace, struct span_id span)
{
    char *text = arena_alloc(mem, TRACEPARENT_LEN + 1), *at = text;

    memcpy(at, "00-", 3);
    at = hex_write(at + 3, trace->id, TRACE_ID_LEN);
    *at++ = '-';
    at = hex_write(at, span.bytes, SPAN_ID_LEN);
    memcpy(at, trace->is_sampled ? "-01" : "-00", 4);
    return str_from(text, TRACEPARENT_LEN);
}

struct str trace_store(struct arena *mem, const struct trace *trace, struct span_id span)
{
    struct str text = trace_write(mem, trace, span);

    if (trace->state.len == 0)
        return text;
    return str_printf(mem, "%.*s %.*s", STR_ARG(text), STR_ARG(trace->state));
}

void trace_put_hex(struct buf *out, const uint8_t *bytes, size_t count)
{
    char text[2 * TRACE_ID_LEN];

    ASSERT(count <= TRACE_ID_LEN);
    buf_add(out, text, (size_t)(hex_write(text, bytes, count) - text));
}

struct str trace_id_text(struct arena *mem, const struct execution *x)
{
    struct trace trace;
    struct buf out;

    trace_of(x, &trace);
    buf_init_arena(&out, mem);
    trace_put_hex(&out, trace.id, TRACE_ID_LEN);
    return buf_view(&out);
}

/* --- ids --- */

void trace_of(const struct execution *x, struct trace *out)
{
    bool has_state = x->trace.len > TRACEPARENT_LEN && x->trace.ptr[TRACEPARENT_LEN] == ' ';

    *out = (struct trace){.is_sampled = true};
    if (has_state)
        out->state = str_slice(x->trace, TRACEPARENT_LEN + 1, x->trace.len);
    if (x->trace.len > 0 &&
        trace_read(has_state ? str_slice(x->trace, 0, TRACEPARENT_LEN) : x->trace, out))
        return;
    *out = (struct trace){.is_sampled = true};
    memcpy(out->id, x->id.bytes, TRACE_ID_LEN);
}

/* FNV-1a: the same in every process and on every machine. */
static uint64_t hash_more(uint64_t h, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static struct span_id make_span(uint64_t h)
{
    struct span_id span;

    /* FNV spreads the last bytes badly. */
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    h ^= h >> 31;
    if (h == 0)
        h = 1; /* no span has the id 0 */
    for (int i = 0; i < SPAN_ID_LEN; i++)
        span.bytes[i] = (uint8_t)(h >> (56 - 8 * i));
    return span;
}

#define FNV_START UINT64_C(0xcbf29ce484222325)

struct span_id trace_span(struct uuid execution)
{
    return make_span(hash_more(FNV_START, execution.bytes, sizeof(execution.bytes)));
}

static uint64_t hash_number(uint64_t h, int64_t n)
{
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)n >> (8 * i));
    return hash_more(h, bytes, sizeof(bytes));
}

struct span_id trace_current_span(const struct execution *x)
{
    uint64_t h = hash_more(FNV_START, x->id.bytes, sizeof(x->id.bytes));

    if (x->reopened_at_us == 0)
        return trace_span(x->id);
    return make_span(hash_number(h, x->reopened_at_us));
}

static struct span_id attempt_span(struct uuid execution, enum history_kind kind, struct str step,
                                   int64_t visit, int64_t attempt, int64_t part)
{
    uint64_t h = hash_more(FNV_START, execution.bytes, sizeof(execution.bytes));

    h = hash_number(h, kind);
    h = hash_more(h, step.ptr, step.len);
    h = hash_number(h, visit);
    h = hash_number(h, attempt);
    return make_span(hash_number(h, part));
}

struct span_id trace_cursor_span(const struct execution *x, const struct cursor *cursor)
{
    struct str step = execution_code(x, cursor);

    if (cursor->phase == PHASE_RECONCILE)
        return attempt_span(x->id, HISTORY_RECONCILE, step, cursor->visit, cursor->asked, 0);
    if (cursor->phase == PHASE_ROLLBACK)
        return attempt_span(x->id, HISTORY_ROLLBACK, step, cursor->visit, cursor->attempt,
                            x->rollback != NULL ? x->rollback->commands_left : 0);
    return attempt_span(x->id, HISTORY_FORWARD, step, cursor->visit, cursor->attempt, 0);
}

struct span_id trace_row_span(struct uuid execution, const struct history_row *row)
{
    return attempt_span(execution, row->kind, row->step, row->visit, row->attempt, row->part);
}
