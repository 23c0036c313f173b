/* callback_page.c - see callback_page.h. */
#include "api/executions/callback_page.h"

#include "api/executions/callback_payload.h"
#include "base/digest.h"
#include "base/text/base64.h"
#include "define/catalog/catalog.h"
#include "value/number.h"
#include "value/timefmt.h"

#include <limits.h>

enum page_text {
#define TEXT(symbol, english, russian) TEXT_##symbol,
#include "api/executions/callback_texts.def"
#undef TEXT
    TEXT_COUNT
};

static const char *const texts[TEXT_COUNT][LANGUAGE_COUNT] = {
#define TEXT(symbol, english, russian) {english, russian},
#include "api/executions/callback_texts.def"
#undef TEXT
};

#define STYLE                                                                                      \
    "*{box-sizing:border-box}"                                                                     \
    "body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:#1c2430;background:#f4f5f7}"           \
    "main{max-width:36rem;margin:0 auto;padding:2rem 1rem}"                                        \
    "h1{font-size:1.4rem;line-height:1.3;margin:0 0 1rem;overflow-wrap:anywhere}"                  \
    "form,.card{background:#fff;border:1px solid #d5d9e0;border-radius:.5rem;padding:1rem}"        \
    ".field{margin:0 0 1.25rem;border:0;padding:0;min-width:0}"                                    \
    "label,legend{display:block;font-weight:600;margin:0 0 .25rem;padding:0}"                      \
    "fieldset label{display:inline-flex;align-items:center;gap:.5rem;font-weight:400;"             \
    "margin-right:1.5rem;min-height:2.75rem}"                                                      \
    "input,select,textarea{font:inherit;color:inherit;width:100%;min-height:2.75rem;"              \
    "padding:.5rem;border:1px solid #6b7483;border-radius:.25rem;background:#fff}"                 \
    "input[type=radio]{width:1.25rem;height:1.25rem;min-height:0}"                                 \
    ".hint{color:#4a5361;font-size:.9rem;margin:.25rem 0 0}"                                       \
    ".error{color:#a4161a;font-weight:600;margin:.25rem 0 0}"                                      \
    "button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.5rem;border:0;"        \
    "border-radius:.25rem;background:#1f5fbf;color:#fff;cursor:pointer}"                           \
    "a{color:#1f5fbf}li{margin:.5rem 0}"                                                           \
    "dl{margin:0 0 1rem;overflow-wrap:anywhere}dt{font-size:.9rem}dd{margin:0 0 .5rem;"            \
    "white-space:pre-wrap;font-weight:600}dl.then dd{font-weight:400}h2{font-size:1rem;margin:0 "  \
    "0 .5rem}"                                                                                     \
    ":focus-visible{outline:3px solid #1f5fbf;outline-offset:2px}"                                 \
    "@media(prefers-color-scheme:dark){body{color:#e8eaee;background:#14181f}"                     \
    "form,.card{background:#1d232c;border-color:#3a4352}"                                          \
    "input,select,textarea{background:#14181f;border-color:#8a94a4}"                               \
    ".hint{color:#b3bbc8}.error{color:#ff9b9b}a{color:#8ab4ff}"                                    \
    ":focus-visible{outline-color:#8ab4ff}}"

const char *page_policy(struct arena *mem)
{
    uint8_t hash[DIGEST_LEN];
    char text[2 * DIGEST_LEN];
    size_t len;

    digest_sha256(STR(STYLE), hash);
    len = base64_encode(str_from((const char *)hash, sizeof(hash)), text);
    return str_printf(mem,
                      "default-src 'none'; style-src 'sha256-%.*s'; form-action 'self'; "
                      "base-uri 'none'; frame-ancestors 'none'",
                      (int)len, text)
        .ptr;
}

/* --- parts --- */

static const char *say(enum language language, enum page_text text)
{
    return texts[text][language];
}

static void put_escaped(struct buf *out, struct str text)
{
    static const char *const escapes[UCHAR_MAX + 1] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

    for (size_t i = 0; i < text.len; i++) {
        const char *escape = escapes[(unsigned char)text.ptr[i]];

        if (escape != NULL)
            buf_text(out, escape);
        else
            buf_char(out, text.ptr[i]);
    }
}

static void page_begin(struct buf *out, enum language language, struct str title)
{
    buf_printf(out, "<!doctype html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n",
               language_name(language));
    buf_text(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"robots\" content=\"noindex\">\n<title>");
    put_escaped(out, title);
    buf_text(out, "</title>\n<style>" STYLE "</style>\n</head>\n<body>\n<main>\n<h1>");
    put_escaped(out, title);
    buf_text(out, "</h1>\n");
}

static struct str page_end(struct buf *out)
{
    buf_text(out, "</main>\n</body>\n</html>\n");
    return buf_view(out);
}

/* --- the form --- */

struct page_field {
    struct value field;
    struct str name, text; /* what is filled in */
    enum param_type type;
    bool is_required;
    const struct finding *wrong; /* or NULL */
};

/* How each type is asked for, and what is said when it is something else. */
static const struct {
    const char *input; /* attributes */
    enum page_text wrong;
} field_types[PARAM_TYPE_COUNT] = {
    [PARAM_STRING] = {"type=\"text\"", TEXT_BAD_TEXT},
    [PARAM_NUMBER] = {"type=\"number\" step=\"any\" inputmode=\"decimal\"", TEXT_BAD_NUMBER},
    [PARAM_INTEGER] = {"type=\"number\" step=\"1\" inputmode=\"numeric\"", TEXT_BAD_INTEGER},
    [PARAM_BOOLEAN] = {"type=\"text\"", TEXT_BAD_BOOLEAN},
    [PARAM_UUID] = {"type=\"text\"", TEXT_BAD_TEXT},
    [PARAM_DATE] = {"type=\"date\"", TEXT_BAD_DATE},
    [PARAM_DATETIME] = {"type=\"datetime-local\" step=\"1\"", TEXT_BAD_DATETIME},
    [PARAM_OBJECT] = {"type=\"text\"", TEXT_BAD_JSON},
    [PARAM_ARRAY] = {"type=\"text\"", TEXT_BAD_JSON},
    [PARAM_ANY] = {"type=\"text\"", TEXT_BAD_JSON},
};

/* Whether a pointer leads to the field of that name, or into it: "/payload/a/b" is for "a.b". */
static bool is_for_field(struct str pointer, struct str name)
{
    struct str rest = str_slice(pointer, STR("/payload/").len, pointer.len);

    if (rest.len < name.len || (rest.len > name.len && rest.ptr[name.len] != '/'))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (rest.ptr[i] != (name.ptr[i] == '.' ? '/' : name.ptr[i]))
            return false;
    return true;
}

static const struct finding *finding_of(const struct findings *all, struct str name)
{
    for (size_t i = 0; all != NULL && i < all->count; i++)
        if (str_starts_with(all->items[i].pointer, STR("/payload/")) &&
            is_for_field(all->items[i].pointer, name))
            return &all->items[i];
    return NULL;
}

static enum page_text what_is_wrong(const struct page_field *f)
{
    if (str_eq(f->wrong->code, STR("missing_input")))
        return TEXT_MISSING;
    if (str_eq(f->wrong->code, STR("bad_value")) &&
        value_map_get_str(f->field, STR("enum")).kind != VALUE_LIST)
        return TEXT_OUT_OF_BOUNDS;
    if (value_map_get_str(f->field, STR("enum")).kind == VALUE_LIST)
        return TEXT_BAD_CHOICE;
    return field_types[f->type].wrong;
}

/* What a browser can look after by itself; the server holds the answer against all of it. */
static void put_bounds(struct buf *out, const struct page_field *f)
{
    static const char *const bounds[] = {"min", "max"};
    char digits[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        struct value v = value_map_get_str(f->field, str_of(bounds[i]));
        size_t len;

        if (v.kind != VALUE_INT && v.kind != VALUE_DOUBLE)
            continue;
        len = v.kind == VALUE_INT ? number_write_int(digits, v.i)
                                  : number_write_double(digits, v.d, NUMBER_JSON);
        buf_printf(out, " %s=\"%.*s\"", bounds[i], (int)len, digits);
    }
}

/* name, id, and what describes it to who cannot see it. */
static void put_attributes(struct buf *out, const struct page_field *f, const char *id_more)
{
    buf_text(out, " name=\"");
    put_escaped(out, f->name);
    buf_text(out, "\" id=\"f-");
    put_escaped(out, f->name);
    buf_text(out, id_more);
    buf_text(out, "\" aria-describedby=\"d-");
    put_escaped(out, f->name);
    buf_text(out, " e-");
    put_escaped(out, f->name);
    buf_char(out, '"');
    if (f->is_required)
        buf_text(out, " required");
    put_bounds(out, f);
    if (f->wrong != NULL)
        buf_text(out, " aria-invalid=\"true\"");
}

static void put_radio(struct buf *out, const struct page_field *f, enum language language,
                      bool is_yes)
{
    buf_text(out, "<label><input type=\"radio\"");
    put_attributes(out, f, is_yes ? "" : "-no");
    buf_printf(out, " value=\"%s\"%s> %s</label>\n", is_yes ? "true" : "false",
               str_eq(f->text, is_yes ? STR("true") : STR("false")) ? " checked" : "",
               say(language, is_yes ? TEXT_YES : TEXT_NO));
}

static void put_select(struct arena *mem, struct buf *out, const struct page_field *f,
                       enum language language, struct value allowed)
{
    buf_text(out, "<select");
    put_attributes(out, f, "");
    buf_printf(out, ">\n<option value=\"\">%s</option>\n", say(language, TEXT_CHOOSE));
    for (uint32_t i = 0; i < allowed.len; i++) {
        struct str text = page_plain_text(mem, allowed.items[i]);

        buf_text(out, "<option value=\"");
        put_escaped(out, text);
        buf_text(out, str_eq(text, f->text) ? "\" selected>" : "\">");
        put_escaped(out, text);
        buf_text(out, "</option>\n");
    }
    buf_text(out, "</select>\n");
}

static void put_textarea(struct buf *out, const struct page_field *f)
{
    bool is_short = f->type == PARAM_STRING && !value_map_is_true(f->field, STR("multiline"));

    buf_printf(out, "<textarea rows=\"%d\"", is_short ? 2 : 4);
    put_attributes(out, f, "");
    buf_char(out, '>');
    /* A line feed behind the tag is not part of the text. */
    buf_char(out, '\n');
    put_escaped(out, f->text);
    buf_text(out, "</textarea>\n");
}

static const char *input_type(const struct page_field *f)
{
    if (value_map_is_true(f->field, STR("sensitive")))
        return "type=\"password\" autocomplete=\"off\"";
    return field_types[f->type].input;
}

/* "2026-01-31T09:00:00Z" is "2026-01-31T09:00:00" in a field of the browser. */
static struct str callback_local_time(struct str text)
{
    return text.len > 0 && text.ptr[text.len - 1] == 'Z' ? str_slice(text, 0, text.len - 1) : text;
}

static void put_input(struct buf *out, const struct page_field *f)
{
    buf_printf(out, "<input %s", input_type(f));
    put_attributes(out, f, "");
    buf_text(out, " value=\"");
    /* A sensitive value is not put into the form again. */
    if (!value_map_is_true(f->field, STR("sensitive")))
        put_escaped(out, f->type == PARAM_DATETIME ? callback_local_time(f->text) : f->text);
    buf_text(out, "\">\n");
}

static void put_notes(struct buf *out, const struct page_field *f, enum language language)
{
    struct str description = value_map_text(f->field, STR("description"));
    bool is_json = f->type == PARAM_OBJECT || f->type == PARAM_ARRAY;

    if (description.len > 0 || f->type == PARAM_DATETIME || is_json) {
        buf_text(out, "<p class=\"hint\" id=\"d-");
        put_escaped(out, f->name);
        buf_text(out, "\">");
        put_escaped(out, description);
        if (f->type == PARAM_DATETIME || is_json)
            buf_printf(out, "%s%s", description.len > 0 ? " " : "",
                       say(language, is_json ? TEXT_AS_JSON : TEXT_IN_UTC));
        buf_text(out, "</p>\n");
    }
    if (f->wrong != NULL) {
        buf_text(out, "<p class=\"error\" id=\"e-");
        put_escaped(out, f->name);
        buf_printf(out, "\">%s</p>\n", say(language, what_is_wrong(f)));
    }
}

static void put_label(struct buf *out, const struct page_field *f, enum language language)
{
    struct str label = value_map_text(f->field, STR("label"));

    put_escaped(out, label.len > 0 ? label : f->name);
    if (value_map_text(f->field, STR("requiredWhen")).len > 0 && !f->is_required)
        buf_printf(out, " (%s)", say(language, TEXT_SOMETIMES));
    else if (!f->is_required)
        buf_printf(out, " (%s)", say(language, TEXT_OPTIONAL));
}

/* Whether there may be several lines: free text and JSON. What is sensitive is hidden while it is typed. */
static bool is_long_text(const struct page_field *f)
{
    return f->type == PARAM_OBJECT || f->type == PARAM_ARRAY ||
           (f->type == PARAM_STRING && !value_map_is_true(f->field, STR("sensitive")));
}

static void put_field(struct arena *mem, struct buf *out, const struct page_field *f,
                      enum language language)
{
    struct value allowed = value_map_get_str(f->field, STR("enum"));

    if (f->type == PARAM_BOOLEAN && allowed.kind != VALUE_LIST) {
        buf_text(out, "<fieldset class=\"field\"><legend>");
        put_label(out, f, language);
        buf_text(out, "</legend>\n");
        put_radio(out, f, language, true);
        put_radio(out, f, language, false);
        put_notes(out, f, language);
        buf_text(out, "</fieldset>\n");
        return;
    }
    buf_text(out, "<div class=\"field\"><label for=\"f-");
    put_escaped(out, f->name);
    buf_text(out, "\">");
    put_label(out, f, language);
    buf_text(out, "</label>\n");
    if (allowed.kind == VALUE_LIST)
        put_select(mem, out, f, language, allowed);
    else if (is_long_text(f))
        put_textarea(out, f);
    else
        put_input(out, f);
    put_notes(out, f, language);
    buf_text(out, "</div>\n");
}

static struct page_field field_at(struct arena *mem, const struct page_form *f, struct value field)
{
    struct str name = value_map_text(field, STR("name"));
    const struct urlencoded_field *given =
        f->given != NULL ? urlencoded_find(f->given, name) : NULL;

    return (struct page_field){
        .field = field,
        .name = name,
        .type = page_type_of(field),
        .text =
            given != NULL
                ? given->text
                : page_plain_text(mem, f->given != NULL ? value_absent()
                                                        : value_map_get_str(field, STR("default"))),
        .is_required = value_map_is_true(field, STR("required")) &&
                       value_map_get_str(field, STR("default")).kind == VALUE_ABSENT,
        .wrong = finding_of(f->findings, name),
    };
}

/* Mistakes of what is no field of the form, as they are shown. */
static void put_other_mistakes(struct buf *out, const struct page_form *f)
{
    if (f->findings == NULL || f->findings->count == 0)
        return;
    buf_printf(out, "<p class=\"error\" role=\"alert\">%s</p>\n", say(f->language, TEXT_MISTAKES));
    for (size_t i = 0; i < f->findings->count; i++) {
        bool has_field = false;

        for (uint32_t k = 0; f->form.kind == VALUE_LIST && k < f->form.len; k++)
            has_field |= finding_of(f->findings, value_map_text(f->form.items[k], STR("name"))) ==
                         &f->findings->items[i];
        if (has_field)
            continue;
        buf_text(out, "<p class=\"error\">");
        put_escaped(out, f->findings->items[i].message.text);
        buf_text(out, "</p>\n");
    }
}

/* Rows of a label and what is told with it, as {label, NAME}. */
static void put_told(struct arena *mem, struct buf *out, struct value list, struct str name,
                     const char *class)
{
    if (list.kind != VALUE_LIST || list.len == 0)
        return;
    buf_printf(out, "<dl%s>\n", class);
    for (uint32_t i = 0; i < list.len; i++) {
        buf_text(out, "<dt>");
        put_escaped(out, page_plain_text(mem, value_map_member(list.items[i], STR("label"))));
        buf_text(out, "</dt><dd>");
        put_escaped(out, page_plain_text(mem, value_map_member(list.items[i], name)));
        buf_text(out, "</dd>\n");
    }
    buf_text(out, "</dl>\n");
}

static enum page_text time_up_text(struct str action)
{
    static const struct {
        const char *action;
        enum page_text text;
    } texts_of[] = {{"continue", TEXT_UP_CONTINUE},
                    {"goto", TEXT_UP_GOTO},
                    {"compensate", TEXT_UP_COMPENSATE},
                    {"hold", TEXT_UP_HOLD}};

    for (size_t i = 0; i < ARRAY_SIZE(texts_of); i++)
        if (str_eq(action, str_of(texts_of[i].action)))
            return texts_of[i].text;
    return TEXT_UP_FAIL;
}

/* "If nobody answers until 2026-01-31 09:00 UTC: the process goes on without an answer." */
static void put_time_up(struct buf *out, const struct page_form *f)
{
    struct str action = value_map_text(f->time_up, STR("action"));
    struct str name = value_map_text(f->time_up, STR("name"));
    char text[TIMESTAMP_TEXT_MAX]; /* "2026-01-31T09:00:00Z" */

    if (action.len == 0 || f->until_us <= 0)
        return;
    (void)timestamp_write(text, timestamp_of_us(f->until_us));
    buf_printf(out, "<p class=\"hint\">%s %.10s %.5s UTC: %s", say(f->language, TEXT_IF_NOBODY),
               text, text + 11, say(f->language, time_up_text(action)));
    if (str_eq(action, STR("goto"))) {
        buf_text(out, " <strong>");
        put_escaped(out, name.len > 0 ? name : value_map_text(f->time_up, STR("to")));
        buf_text(out, "</strong>.");
    }
    buf_text(out, "</p>\n");
}

struct str page_form(struct arena *mem, const struct page_form *whole)
{
    struct page_form flat = *whole;
    const struct page_form *f = &flat;
    bool has_fields;
    struct buf out;

    flat.form = page_flat(mem, whole->form);
    has_fields = flat.form.kind == VALUE_LIST && flat.form.len > 0;

    buf_init_arena(&out, mem);
    page_begin(&out, f->language,
               f->title.len > 0 ? f->title : str_of(say(f->language, TEXT_ASKED)));
    put_told(mem, &out, f->show, STR("value"), "");
    buf_text(&out, "<form method=\"post\" accept-charset=\"utf-8\">\n");
    put_other_mistakes(&out, f);
    if (f->type.len > 0) {
        buf_printf(&out, "<p>%s <strong>", say(f->language, TEXT_ANSWER_IS));
        put_escaped(&out, f->type);
        buf_text(&out, "</strong></p>\n");
    }
    for (uint32_t i = 0; has_fields && i < f->form.len; i++) {
        struct page_field field = field_at(mem, f, f->form.items[i]);

        put_field(mem, &out, &field, f->language);
    }
    buf_printf(&out, "<button type=\"submit\">%s</button>\n</form>\n",
               say(f->language, has_fields ? TEXT_SEND : TEXT_CONFIRM));
    if (f->then.kind == VALUE_LIST && f->then.len > 0)
        buf_printf(&out, "<h2>%s</h2>\n", say(f->language, TEXT_WHAT_FOLLOWS));
    put_told(mem, &out, f->then, STR("text"), " class=\"then\"");
    put_time_up(&out, f);
    return page_end(&out);
}

struct str page_types(struct arena *mem, enum language language, struct str title,
                      struct value types, struct str token)
{
    struct buf out;

    buf_init_arena(&out, mem);
    page_begin(&out, language, title.len > 0 ? title : str_of(say(language, TEXT_ASKED)));
    buf_printf(&out, "<div class=\"card\">\n<p>%s</p>\n<ul>\n", say(language, TEXT_CHOOSE));
    for (uint32_t i = 0; types.kind == VALUE_LIST && i < types.len; i++) {
        struct str type = value_text_or(types.items[i], STR_NONE);

        if (type.len == 0)
            continue;
        buf_text(&out, "<li><a href=\"");
        put_escaped(&out, token);
        buf_char(&out, '/');
        for (size_t k = 0; k < type.len; k++)
            buf_printf(&out, "%%%02X", (unsigned)(uint8_t)type.ptr[k]);
        buf_text(&out, "\">");
        put_escaped(&out, type);
        buf_text(&out, "</a></li>\n");
    }
    buf_text(&out, "</ul>\n</div>\n");
    return page_end(&out);
}

struct str page_note(struct arena *mem, enum language language, enum page_note note)
{
    static const enum page_text heads[] = {TEXT_THANKS, TEXT_NOTHING, TEXT_LATER, TEXT_WRONG};
    static const enum page_text bodies[] = {TEXT_THANKS_MORE, TEXT_NOTHING_MORE, TEXT_LATER_MORE,
                                            TEXT_WRONG_MORE};
    struct buf out;

    buf_init_arena(&out, mem);
    page_begin(&out, language, str_of(say(language, heads[note])));
    buf_printf(&out, "<p class=\"card\">%s</p>\n", say(language, bodies[note]));
    return page_end(&out);
}
