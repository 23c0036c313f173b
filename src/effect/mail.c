/* mail.c - see mail.h. */
#include "effect/mail.h"

#include "base/alloc.h"
#include "base/text/base64.h"
#include "value/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    WORD_BYTES = 45, /* of a text, in one encoded word: 60 characters of base64 */
    LINE_BYTES = 57, /* of a body, in one line of 76 characters */
    PLAIN_MAX = 200, /* of a header that is not encoded */
    CONNECT_MS = 10000,
};

/* --- writing --- */

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || (unsigned char)text.ptr[i] >= 0x7f)
            return false;
    return text.len <= PLAIN_MAX && str_find(text, STR("=?"), 0) < 0;
}

/* The largest part of a text that fits a word and ends between two characters. */
static size_t word_len(struct str text)
{
    size_t len = text.len < WORD_BYTES ? text.len : WORD_BYTES;

    while (len > 1 && len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static void write_base64(struct buf *out, struct str bytes)
{
    char text[(LINE_BYTES + 2) / 3 * 4];

    ASSERT(bytes.len <= LINE_BYTES);
    buf_add(out, text, base64_encode(bytes, text));
}

/* A text of a header: as it is, or as encoded words, where a line break does no harm. */
static void write_text(struct buf *out, struct str text)
{
    bool is_first = true;

    if (is_plain(text)) {
        buf_str(out, text);
        return;
    }
    while (text.len > 0) {
        size_t len = word_len(text);

        buf_text(out, is_first ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?");
        write_base64(out, str_slice(text, 0, len));
        buf_text(out, "?=");
        text = str_slice(text, len, text.len);
        is_first = false;
    }
}

/* Without names: what the server gets as recipients. */
struct mail_addresses {
    VEC_OF(struct str);
};

/* The address of "Name <address>". */
static struct str mail_bare_address(struct str text)
{
    size_t open = text.len;

    if (text.len == 0 || text.ptr[text.len - 1] != '>')
        return text;
    while (open > 0 && text.ptr[open - 1] != '<')
        open--;
    return open == 0 ? text : str_slice(text, open, text.len - 1);
}

/* "Name <address>", the name as a quoted or encoded text. */
static void write_address(struct buf *out, struct str text)
{
    struct str bare = mail_bare_address(text);
    struct str name =
        str_trim(str_slice(text, 0, bare.len < text.len ? text.len - bare.len - 2 : 0));

    if (name.len > 1 && name.ptr[0] == '"' && name.ptr[name.len - 1] == '"')
        name = str_slice(name, 1, name.len - 1);
    if (name.len == 0) {
        buf_str(out, bare);
        return;
    }
    if (is_plain(name)) {
        buf_char(out, '"');
        for (size_t i = 0; i < name.len; i++) {
            if (name.ptr[i] == '"' || name.ptr[i] == '\\')
                buf_char(out, '\\');
            buf_char(out, name.ptr[i]);
        }
        buf_char(out, '"');
    } else {
        write_text(out, name);
    }
    buf_text(out, " <");
    buf_str(out, bare);
    buf_char(out, '>');
}

/* One header for all of a list; who they are is added to the recipients. */
static void write_addresses(struct arena *mem, struct buf *out, const char *header,
                            struct value list, struct mail_addresses *recipients)
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct str address = value_text(list.items[i]);

        *VEC_ADD(mem, recipients) = mail_bare_address(address);
        if (header == NULL)
            continue;
        if (i == 0)
            buf_printf(out, "%s: ", header);
        else
            buf_text(out, ",\r\n ");
        write_address(out, address);
    }
    if (header != NULL && list.kind == VALUE_LIST && list.len > 0)
        buf_text(out, "\r\n");
}

/* The time in a UUIDv7: milliseconds since 1970. */
static void write_date(struct buf *out, struct str id)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct uuid uuid;
    int64_t ms = 0;
    time_t seconds;
    struct tm tm;

    if (!uuid_read(id, &uuid))
        return;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | uuid.bytes[i];
    seconds = (time_t)(ms / 1000);
    if (gmtime_r(&seconds, &tm) == NULL)
        return;
    buf_printf(out, "Date: %s, %d %s %d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday], tm.tm_mday,
               months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* A text as a part of its own: base64, which no server changes on the way. */
static void write_part(struct buf *out, const char *type, struct str text)
{
    buf_printf(out, "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n",
               type);
    while (text.len > 0) {
        size_t len = text.len < LINE_BYTES ? text.len : LINE_BYTES;

        write_base64(out, str_slice(text, 0, len));
        buf_text(out, "\r\n");
        text = str_slice(text, len, text.len);
    }
}

static void write_content(struct buf *out, struct str id, struct str body, struct str html)
{
    if (body.len == 0 || html.len == 0) {
        write_part(out, html.len > 0 ? "text/html" : "text/plain", html.len > 0 ? html : body);
        return;
    }
    buf_printf(out, "Content-Type: multipart/alternative; boundary=\"pawl-%.*s\"\r\n\r\n",
               STR_ARG(id));
    buf_printf(out, "--pawl-%.*s\r\n", STR_ARG(id));
    write_part(out, "text/plain", body);
    buf_printf(out, "--pawl-%.*s\r\n", STR_ARG(id));
    write_part(out, "text/html", html);
    buf_printf(out, "--pawl-%.*s--\r\n", STR_ARG(id));
}

/* The mail as it goes over the wire, and who gets it; in `mem`. */
static struct str mail_write(struct arena *mem, struct value mail,
                             struct mail_addresses *recipients)
{
    struct str id = value_map_text(mail, STR("id")), from = value_map_text(mail, STR("from"));
    struct str reply_to = value_map_text(mail, STR("replyTo")), bare = mail_bare_address(from);
    int64_t at = str_find(bare, STR("@"), 0);
    struct buf out;

    buf_init_arena(&out, mem);
    write_date(&out, id);
    buf_text(&out, "From: ");
    write_address(&out, from);
    buf_text(&out, "\r\n");
    write_addresses(mem, &out, "To", value_map_get_str(mail, STR("to")), recipients);
    write_addresses(mem, &out, "Cc", value_map_get_str(mail, STR("cc")), recipients);
    write_addresses(mem, &out, NULL, value_map_get_str(mail, STR("bcc")), recipients);
    if (reply_to.len > 0) {
        buf_text(&out, "Reply-To: ");
        write_address(&out, reply_to);
        buf_text(&out, "\r\n");
    }
    buf_printf(&out, "Message-ID: <%.*s@%.*s>\r\nSubject: ", STR_ARG(id),
               STR_ARG(at >= 0 ? str_slice(bare, (size_t)at + 1, bare.len) : STR("localhost")));
    write_text(&out, value_map_text(mail, STR("subject")));
    /* Nobody wants the answers of machines. */
    buf_text(&out, "\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
    write_content(&out, id, value_map_text(mail, STR("body")), value_map_text(mail, STR("html")));
    return buf_view(&out);
}

/* --- sending --- */

static size_t give_mail(char *to, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    size_t capacity = size * count, left = t->upload.len - t->uploaded;
    size_t len = left < capacity ? left : capacity;

    if (len > 0)
        memcpy(to, t->upload.ptr + t->uploaded, len);
    t->uploaded += len;
    return len;
}

static size_t drop_answer(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

/* --- connections --- */

void mail_sockets_init(struct mail_sockets *sockets)
{
    *sockets = (struct mail_sockets){0};
    (void)pthread_mutex_init(&sockets->lock, NULL);
}

void mail_sockets_fini(struct mail_sockets *sockets)
{
    (void)pthread_mutex_destroy(&sockets->lock);
    free(sockets->fds);
}

void mail_sockets_cut(struct mail_sockets *sockets)
{
    (void)pthread_mutex_lock(&sockets->lock);
    sockets->is_cut = true;
    for (size_t i = 0; i < sockets->count; i++)
        (void)shutdown(sockets->fds[i], SHUT_RDWR);
    (void)pthread_mutex_unlock(&sockets->lock);
}

static void add_socket(struct mail_sockets *s, curl_socket_t fd)
{
    if (s->count == s->capacity) {
        s->capacity = 2 * s->capacity + 16;
        s->fds = alloc_resize(s->fds, s->capacity, sizeof(*s->fds));
    }
    s->fds[s->count++] = fd;
}

static curl_socket_t mail_open_socket(void *context, curlsocktype purpose,
                                      struct curl_sockaddr *address)
{
    struct mail_sockets *s = context;
    curl_socket_t fd = CURL_SOCKET_BAD;

    (void)purpose;
    (void)pthread_mutex_lock(&s->lock);
    if (!s->is_cut)
        fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd != CURL_SOCKET_BAD)
        add_socket(s, fd);
    (void)pthread_mutex_unlock(&s->lock);
    return fd;
}

static int mail_close_socket(void *context, curl_socket_t fd)
{
    struct mail_sockets *s = context;
    int failed;

    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++)
        if (s->fds[i] == fd) {
            s->fds[i] = s->fds[--s->count];
            break;
        }
    failed = close(fd); /* within: its number may be another's right afterwards */
    (void)pthread_mutex_unlock(&s->lock);
    return failed;
}

/* --- one mail --- */

bool mail_prepare(struct transfer *t, const char *trusted_path)
{
    struct effect_call *call = t->call;
    struct mail_addresses recipients = {0};
    struct value mail;
    struct err err;
    CURL *easy = t->easy;

    if (!json_read(&call->mem, call->request_json, &mail, &err) || mail.kind != VALUE_MAP)
        return false; /* what is stored of it is damaged: the caller says that it cannot be begun */
    t->upload = mail_write(&call->mem, mail, &recipients);
    t->uploaded = 0;
    t->error_text[0] = '\0';
    curl_easy_reset(easy);
    if (trusted_path != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, trusted_path);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_URL, str_copy(&call->mem, call->server_url).ptr);
    /* A password never leaves in plain text; without one TLS is used where it is offered. */
    curl_easy_setopt(easy, CURLOPT_USE_SSL,
                     str_find(call->server_url, STR("@"), 0) >= 0 ? (long)CURLUSESSL_ALL
                                                                  : (long)CURLUSESSL_TRY);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(call->timeout_us / 1000));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error_text);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_answer);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_mail);
    curl_easy_setopt(easy, CURLOPT_READDATA, t);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, mail_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t->mail_sockets);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, mail_close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, t->mail_sockets);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->upload.len);
    curl_easy_setopt(
        easy, CURLOPT_MAIL_FROM,
        str_copy(&call->mem, mail_bare_address(value_map_text(mail, STR("from")))).ptr);
    for (size_t i = 0; i < recipients.count; i++)
        call_add_line(t, recipients.items[i], STR_NONE, STR_NONE);
    curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, t->headers);
    return true;
}

/* "RCPT failed: 550": this mail, and no other, is refused for good. */
static bool is_refused(const struct transfer *t, long status)
{
    return status >= 500 && status < 600 &&
           (strncmp(t->error_text, "RCPT", 4) == 0 || t->uploaded == t->upload.len);
}

void mail_finish(struct transfer *t, CURLcode code)
{
    struct effect_call *call = t->call;
    long status = 0;

    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    call->status = code == CURLE_OK ? 250 : status;
    if (code == CURLE_OK)
        return;
    call->is_refused = is_refused(t, status);
    call_fail(call,
              call->is_refused             ? "external_refused"
              : code == CURLE_LOGIN_DENIED ? "external_login"
                                           : "external_mail",
              call->is_refused ? ERR_CLASS_BUSINESS : ERR_CLASS_TRANSIENT,
              str_printf(&call->mem, "the mail server did not take it: %s",
                         t->error_text[0] != '\0' ? t->error_text : curl_easy_strerror(code)));
}
