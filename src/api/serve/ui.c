/*
 * ui.c - the web UI's files, from inside the program.
 *
 * Every page of the UI is the same document, which reads its address itself;
 * what it loads has names that change with its content, and is kept by browsers
 * for ever. Nothing here needs a token: there is no data in it.
 */
#include "api/serve/ui.h"

#include "api/call.h"

#include <stdlib.h>
#include <strings.h>

/* Scripts, styles, fonts and calls: from this server and from nowhere else. */
#define CONTENT_POLICY                                                                             \
    "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; "                 \
    "frame-ancestors 'none'"

static const char *const encoding_names[UI_ENCODING_COUNT] = {
    [UI_BROTLI] = "br", [UI_GZIP] = "gzip", [UI_PLAIN] = "identity"};

static struct str part_next(struct str *rest, char separator)
{
    size_t len = 0;
    struct str part;

    while (len < rest->len && rest->ptr[len] != separator)
        len++;
    part = str_trim(str_slice(*rest, 0, len));
    *rest = str_slice(*rest, len < rest->len ? len + 1 : len, rest->len);
    return part;
}

static bool ui_is_word(struct str a, struct str b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, b.len) == 0;
}

/* "q=0", "q=0.", "q=0.00": not at all. */
static bool is_zero_weight(struct str parameter)
{
    if (parameter.len < 3 || strncasecmp(parameter.ptr, "q=", 2) != 0)
        return false;
    for (size_t i = 2; i < parameter.len; i++)
        if (parameter.ptr[i] != '0' && parameter.ptr[i] != '.')
            return false;
    return true;
}

bool ui_accepts(struct str header, struct str name)
{
    bool by_star = false;

    while (header.len > 0) {
        struct str item = part_next(&header, ',');
        struct str word = part_next(&item, ';');
        bool is_taken = true;

        while (item.len > 0)
            is_taken = !is_zero_weight(part_next(&item, ';')) && is_taken;
        if (ui_is_word(word, name))
            return is_taken;
        if (ui_is_word(word, STR("*")))
            by_star = is_taken;
    }
    return by_star;
}

bool ui_tag_matches(struct str header, struct str tag)
{
    while (header.len > 0) {
        struct str item = part_next(&header, ',');

        if (str_starts_with(item, STR("W/")))
            item = str_slice(item, 2, item.len);
        if (str_eq(item, tag) || str_eq(item, STR("*")))
            return true;
    }
    return false;
}

static int compare_path(const void *key, const void *file)
{
    return str_cmp(*(const struct str *)key, ((const struct ui_file *)file)->path);
}

static const struct ui_file *ui_find(struct str path)
{
    return bsearch(&path, ui_files, ui_file_count, sizeof(ui_files[0]), compare_path);
}

static enum ui_encoding encoding_for(const struct call *c, const struct ui_file *file)
{
    struct str accepted = http_header(c->http, "Accept-Encoding");

    for (enum ui_encoding e = 0; e < UI_PLAIN; e++)
        if (file->as[e].len > 0 && ui_accepts(accepted, str_of(encoding_names[e])))
            return e;
    return UI_PLAIN;
}

static void answer_file(struct call *c, const struct ui_file *file)
{
    enum ui_encoding encoding = encoding_for(c, file);
    struct str tag =
        str_printf(c->mem, "\"%.*s-%s\"", STR_ARG(file->hash), encoding_names[encoding]);
    bool is_known = ui_tag_matches(http_header(c->http, "If-None-Match"), tag);
    struct http_answer answer = {
        .status = is_known ? 304 : 200,
        .content_type = is_known ? NULL : file->type,
        .body = is_known ? STR_NONE : file->as[encoding],
        .headers = {{"ETag", tag.ptr},
                    {"Vary", "Accept-Encoding"},
                    {"Cache-Control",
                     file->is_immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                    {"Content-Security-Policy", CONTENT_POLICY}}};

    if (encoding != UI_PLAIN && !is_known)
        answer.headers[4] = (struct http_header){"Content-Encoding", encoding_names[encoding]};
    http_answer(c->http, &answer);
}

void ui_page(struct call *c)
{
    const struct ui_file *page = ui_find(STR("/index.html"));

    if (page == NULL)
        call_refuse_text(c, ERR_NOT_FOUND,
                         "this program was built without its web UI; `make` builds it with one");
    else
        answer_file(c, page);
}

void ui_asset(struct call *c)
{
    const struct ui_file *file = ui_find(c->http->path);

    if (file == NULL)
        call_refuse_text(c, ERR_NOT_FOUND, "there is no such file; reload the page");
    else
        answer_file(c, file);
}
