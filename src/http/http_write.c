/* http_write.c - status line and headers of an answer; see http_inner.h. */
#include "base/time/clock.h"
#include "http/http_inner.h"

#include <stdio.h>
#include <time.h>

/* Headers of every answer. */
#define PROTECTIONS                                                                                \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "X-Frame-Options: DENY\r\n"

/* An answer that says nothing else of it is for who asked, and for nobody between or after. */
#define NOT_STORED "Cache-Control: no-store\r\n"

/* Over TLS a browser does not come back without it, for a year. */
#define STAYS_SECURE "Strict-Transport-Security: max-age=31536000\r\n"

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {207, "Multi-Status"},
        {303, "See Other"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Error";
}

bool status_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

void server_set_date(struct http_server *s)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t now_s = clock_wall_us(s->options.clock) / 1000000;
    time_t when = (time_t)now_s;
    struct tm t;
    int len;

    if (now_s == s->date_s || gmtime_r(&when, &t) == NULL)
        return;
    s->date_s = now_s;
    len = snprintf(s->date_text, sizeof(s->date_text),
                   "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[t.tm_wday], t.tm_mday,
                   months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
    s->date = str_from(s->date_text, len < (int)sizeof(s->date_text) ? (size_t)len : 0);
}

static void write_number(struct buf *out, size_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    buf_add(out, digits + at, sizeof(digits) - at);
}

/* One that would end its line, and so be something else, is left out. */
static void write_header(struct buf *out, const char *name, const char *value)
{
    if (value[strcspn(value, "\r\n")] != '\0')
        return;
    buf_text(out, name);
    buf_str(out, STR(": "));
    buf_text(out, value);
    buf_str(out, STR("\r\n"));
}

static bool answer_has(const struct http_answer *answer, const char *name)
{
    for (int i = 0; i < HTTP_HEADERS_MAX && answer->headers[i].name != NULL; i++)
        if (strcmp(answer->headers[i].name, name) == 0)
            return true;
    return false;
}

void head_write(struct buf *out, const struct exchange *x, const struct http_answer *answer)
{
    bool is_stream = x->source.more != NULL;

    (void)buf_reserve(out, 384);
    buf_str(out, STR("HTTP/1.1 "));
    write_number(out, (size_t)answer->status);
    buf_char(out, ' ');
    buf_text(out, http_reason(answer->status));
    buf_str(out, STR("\r\n"));
    buf_str(out, x->server->date);
    if (x->is_last)
        buf_str(out, STR("Connection: close\r\n"));
    else if (x->is_1_0)
        buf_str(out, STR("Connection: keep-alive\r\n"));
    if (is_stream && !x->is_1_0) {
        buf_str(out, STR("Transfer-Encoding: chunked\r\n"));
    } else if (!is_stream && status_has_body(answer->status)) {
        buf_str(out, STR("Content-Length: "));
        write_number(out, answer->body.len);
        buf_str(out, STR("\r\n"));
    }
    buf_str(out, STR(PROTECTIONS));
    if (!answer_has(answer, "Cache-Control"))
        buf_str(out, STR(NOT_STORED));
    if (x->server->tls != NULL)
        buf_str(out, STR(STAYS_SECURE));
    if (answer->content_type != NULL)
        write_header(out, "Content-Type", answer->content_type);
    for (int i = 0; i < HTTP_HEADERS_MAX && answer->headers[i].name != NULL; i++)
        write_header(out, answer->headers[i].name, answer->headers[i].value);
    buf_str(out, STR("\r\n"));
}
