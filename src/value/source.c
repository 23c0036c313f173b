/* source.c - see source.h. */
#include "value/source.h"

#include "base/text/utf8.h"
#include "value/json.h"
#include "value/json_text.h"
#include "value/yaml.h"

/* --- lines and columns --- */

struct place source_byte_place(struct str text, size_t offset)
{
    struct place p = {.line = 1};
    size_t line_start = 0;

    for (size_t i = 0; i < offset && i < text.len; i++)
        if (text.ptr[i] == '\n') {
            p.line++;
            line_start = i + 1;
        }
    p.column = (uint32_t)utf8_count(str_slice(text, line_start, offset)) + 1;
    return p;
}

/* The byte where a line begins; the end of the text when it has fewer lines. */
static size_t line_start(struct str text, uint32_t line)
{
    size_t at = 0;

    while (line > 1 && at < text.len)
        line -= text.ptr[at++] == '\n';
    return at;
}

static size_t byte_at(struct str text, uint32_t line, uint32_t column)
{
    size_t start = line_start(text, line);

    return start + utf8_offset(str_slice(text, start, text.len), column - 1);
}

/* --- JSON with comments --- */

static void blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (text[i] != '\n' && text[i] != '\r')
            text[i] = ' ';
}

/* Behind the comment that begins at `at`, or 0: it has no end. */
static size_t comment_end(struct str text, size_t at)
{
    int64_t end = str_find(text, text.ptr[at + 1] == '/' ? STR("\n") : STR("*/"), at + 2);

    if (text.ptr[at + 1] == '/')
        return end < 0 ? text.len : (size_t)end;
    return end < 0 ? 0 : (size_t)end + 2;
}

static size_t string_end(struct str text, size_t at)
{
    for (at++; at < text.len && text.ptr[at] != '"'; at++)
        at += text.ptr[at] == '\\';
    return at + 1;
}

static bool is_comment(struct str text, size_t at)
{
    return text.ptr[at] == '/' && at + 1 < text.len &&
           (text.ptr[at + 1] == '/' || text.ptr[at + 1] == '*');
}

/* A copy in which comments, and commas behind the last item, are blank. */
static bool blank_comments(struct arena *mem, struct str text, struct str *out, struct err *err)
{
    char *copy = arena_alloc(mem, text.len + 1);
    size_t comma = 0, at = 0;
    char last = '\0', before_comma = '\0';

    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    while (at < text.len) {
        char c = text.ptr[at];
        size_t start = at;

        if (is_comment(text, at)) {
            at = comment_end(text, start);
            if (at == 0) {
                struct place p = source_byte_place(text, start);
                return err_set_at(err, ERR_BAD_JSON, p.line, p.column,
                                  "this comment has no end: */ is missing");
            }
            blank(copy, start, at);
            continue;
        }
        at = c == '"' ? string_end(text, at) : at + 1;
        if (strchr(" \t\r\n", c) != NULL)
            continue;
        if (c == ',') {
            comma = start;
            before_comma = last;
        }
        if ((c == ']' || c == '}') && last == ',' && strchr("[{,:", before_comma) == NULL)
            copy[comma] = ' ';
        last = c;
    }
    *out = str_from(copy, text.len);
    return true;
}

/* A place in the blank text is another column in the text when a comment before it is not ASCII. */
static void place_in_text(struct str text, struct str blanked, struct err *err)
{
    struct place p;

    if (err->line == 0)
        return;
    p = source_byte_place(text, byte_at(blanked, err->line, err->column));
    err->line = p.line;
    err->column = p.column;
}

/* --- reading --- */

enum source_form source_form_of(const char *path, struct str text)
{
    struct str name = str_of(path), start = str_trim(text);

    if (str_ends_with(name, STR(".yaml")) || str_ends_with(name, STR(".yml")))
        return SOURCE_YAML;
    if (str_ends_with(name, STR(".json")) || str_ends_with(name, STR(".jsonc")) || start.len == 0)
        return SOURCE_COMMENTS;
    return strchr("{[\"/", start.ptr[0]) != NULL ? SOURCE_COMMENTS : SOURCE_YAML;
}

/* The mark of what begins at that byte of the JSON text, or the last one before it. */
static const struct source_mark *mark_at(const struct source_marks *marks, size_t json)
{
    size_t low = 0, high = marks->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (marks->items[middle].json <= json)
            low = middle;
        else
            high = middle;
    }
    return marks->count == 0 ? NULL : &marks->items[low];
}

/* What json_read() says of the JSON that was made of YAML, at its place in the YAML. */
static void place_in_yaml(const struct source_text *s, struct err *err)
{
    const struct source_mark *mark;

    if (err->line == 0)
        return;
    mark = mark_at(&s->marks, byte_at(s->json, err->line, err->column));
    err->line = mark == NULL ? 1 : mark->line;
    err->column = mark == NULL ? 1 : mark->column;
}

bool source_read(struct arena *mem, enum source_form form, struct str text, struct source_text *out,
                 struct err *err)
{
    struct source_text s = {.form = form, .text = text, .json = text};

    if (form == SOURCE_YAML && !yaml_to_json(mem, text, &s.json, &s.marks, err))
        return false;
    if (form == SOURCE_COMMENTS && !blank_comments(mem, text, &s.json, err))
        return false;
    if (!json_read(mem, s.json, &s.value, err)) {
        if (form == SOURCE_YAML)
            place_in_yaml(&s, err);
        if (form == SOURCE_COMMENTS)
            place_in_text(text, s.json, err);
        return false;
    }
    *out = s;
    return true;
}

/* --- places --- */

/* Behind `count` characters of a text in double quotes with escapes, which begins at `at`. */
static size_t skip_escaped(struct str text, size_t at, uint32_t count)
{
    for (at++; count > 0 && at < text.len && text.ptr[at] != '"'; count--) {
        size_t left = text.len - at;

        if (text.ptr[at] != '\\')
            at += utf8_offset(str_slice(text, at, text.len), 1);
        else if (left > 1 && text.ptr[at + 1] != 'u')
            at += 2;
        else /* the two halves of a pair are one character */
            at += left > 7 && strchr("dD", text.ptr[at + 2]) != NULL &&
                          strchr("89abAB", text.ptr[at + 3]) != NULL
                      ? 12
                      : 6;
    }
    return at < text.len ? at : text.len;
}

/* The place in a block (|): lines as they are, less their indent. */
static struct place place_in_block(struct str text, const struct source_mark *mark, uint32_t inner)
{
    struct place p = {.line = mark->line + 1, .is_exact = true};
    size_t at = line_start(text, p.line), indent = 0;

    while (at + indent < text.len && text.ptr[at + indent] == ' ')
        indent++;
    for (;; p.line++) {
        int64_t feed = str_find(text, STR("\n"), at);
        size_t end = feed < 0 ? text.len : (size_t)feed;
        size_t from = end - at < indent ? end : at + indent;
        uint32_t len = (uint32_t)utf8_count(str_slice(text, from, end));

        if (inner <= len + 1 || feed < 0) {
            p.column = (uint32_t)indent + (inner <= len + 1 ? inner : len + 1);
            return p;
        }
        inner -= len + 1;
        at = end + 1;
    }
}

static struct place place_of_mark(const struct source_text *s, const struct source_mark *mark,
                                  uint32_t inner)
{
    struct place p = {.line = mark->line, .column = mark->column, .is_exact = true};

    if (inner == 0)
        return p;
    switch (mark->style) {
    case MARK_PLAIN:
        p.column += inner - 1;
        return p;
    case MARK_QUOTED:
        p.column += inner;
        return p;
    case MARK_ESCAPED:
        p = source_byte_place(s->text,
                              skip_escaped(s->text, byte_at(s->text, p.line, p.column), inner - 1));
        p.is_exact = true;
        return p;
    case MARK_LITERAL:
        return place_in_block(s->text, mark, inner);
    case MARK_OTHER:
        break;
    }
    p.is_exact = false;
    return p;
}

struct place source_place(struct arena *mem, const struct source_text *s, struct str pointer,
                          enum place_end end, uint32_t inner)
{
    const struct source_mark *mark;
    size_t key, value;
    struct place p = {0};

    if (!json_text_find(mem, s->json, pointer, &key, &value))
        inner = 0;
    else if (end == PLACE_KEY)
        value = key;
    if (s->form == SOURCE_YAML) {
        mark = mark_at(&s->marks, value);
        return mark == NULL ? p : place_of_mark(s, mark, inner);
    }
    if (inner > 0 && value < s->json.len && s->json.ptr[value] == '"')
        value = skip_escaped(s->json, value, inner - 1);
    p = source_byte_place(s->text, value);
    p.is_exact = true;
    return p;
}
