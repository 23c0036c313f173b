/*
 * yaml.c - see yaml.h.
 *
 * The only file that knows libyaml, whose events become JSON one by one. What
 * an anchor names is a piece of the JSON written so far, and an alias writes
 * that piece again.
 */
#include "value/yaml.h"

#include "base/text/ascii.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "value/json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <yaml.h>

struct anchor {
    struct str name;
    size_t from, to; /* bytes of the JSON; `to` is 0 while it is being read */
    size_t first_mark, last_mark;
};

struct yaml {
    struct arena *mem;
    struct str text;
    yaml_parser_t parser;
    yaml_event_t event; /* the one that is being looked at */
    bool has_event;
    struct buf json;
    struct source_marks *marks;
    struct {
        VEC_OF(struct anchor);
    } anchors;
    size_t alias_bytes;
    unsigned depth;
    struct {
        size_t index, byte; /* of a character of the text, counted from 0 */
        struct place place;
    } seen; /* the last one that was asked for */
    struct err *err;
};

/*
 * Where a mark of libyaml stands. It ends lines at carriage returns and separators of Unicode, too;
 * here, as in all that deals with places of a text, lines end with a line feed.
 */
static struct place place_at(struct yaml *y, yaml_mark_t mark)
{
    if (mark.index < y->seen.index || y->seen.place.line == 0) {
        y->seen.index = y->seen.byte = 0;
        y->seen.place = (struct place){.line = 1, .column = 1};
    }
    for (; y->seen.index < mark.index && y->seen.byte < y->text.len; y->seen.index++) {
        bool is_feed = y->text.ptr[y->seen.byte] == '\n';

        y->seen.byte += utf8_offset(str_slice(y->text, y->seen.byte, y->text.len), 1);
        y->seen.place.line += is_feed;
        y->seen.place.column = is_feed ? 1 : y->seen.place.column + 1;
    }
    return y->seen.place;
}

/* --- what is wrong --- */

static bool yaml_fail(struct yaml *y, yaml_mark_t mark, const char *format, ...) PRINTF_LIKE(3, 4);

static bool yaml_fail(struct yaml *y, yaml_mark_t mark, const char *format, ...)
{
    struct place p = place_at(y, mark);
    va_list args;

    va_start(args, format);
    (void)err_vset(y->err, ERR_INVALID, p.line, p.column, format, args);
    va_end(args);
    return false;
}

/* The rest of the text from a mark on. */
static struct str text_at(const struct yaml *y, yaml_mark_t mark)
{
    return str_slice(y->text, utf8_offset(y->text, mark.index), y->text.len);
}

/* What stands between the beginning of the line and the mark. */
static bool has_tab_before(const struct yaml *y, yaml_mark_t mark)
{
    size_t at = utf8_offset(y->text, mark.index);

    while (at > 0 && (y->text.ptr[at - 1] == ' ' || y->text.ptr[at - 1] == '\t'))
        if (y->text.ptr[--at] == '\t')
            return true;
    return false;
}

/* What libyaml says, and what to write instead. */
static bool yaml_fail_parse(struct yaml *y)
{
    struct str problem =
        str_of(y->parser.problem != NULL ? y->parser.problem : PHRASE("this is no YAML"));
    yaml_mark_t mark = y->parser.problem_mark;
    struct str here = text_at(y, mark);
    char first = here.len > 0 ? here.ptr[0] : '\0';

    if (y->parser.error == YAML_READER_ERROR) {
        struct place p = source_byte_place(y->text, y->parser.problem_offset);
        return err_set_at(y->err, ERR_INVALID, p.line, p.column, "%.*s", STR_ARG(problem));
    }
    if (first == '\t' || has_tab_before(y, mark))
        return yaml_fail(y, mark, "a tab stands here: YAML is indented with spaces");
    if (str_starts_with(problem, STR("mapping values are not allowed")))
        return yaml_fail(y, mark,
                         "no ':' is expected here: a text that holds ': ' stands in quotes, and "
                         "the members of an object begin in the same column");
    if (str_starts_with(problem, STR("found character that cannot start")))
        return yaml_fail(y, mark, "a text cannot begin with '%c': put it in quotes", first);
    if (str_starts_with(problem, STR("could not find expected ':'")))
        return yaml_fail(y, mark, "expected ':' and a value behind the name above");
    if (str_starts_with(problem, STR("did not find expected key")) ||
        str_starts_with(problem, STR("did not find expected '-'")))
        return yaml_fail(y, mark,
                         "this does not belong to what stands above it: members of an object, and "
                         "the '-' of a list, begin in the same column");
    if (str_starts_with(problem, STR("found unexpected end of stream")) ||
        str_starts_with(problem, STR("found unexpected document indicator")))
        return yaml_fail(y, y->parser.context_mark.line > 0 ? y->parser.context_mark : mark,
                         "the quotes that begin here have no end");
    if (str_starts_with(problem, STR("did not find expected ',' or")))
        return yaml_fail(y, mark,
                         "expected ',' or the closing bracket; in brackets a text with "
                         "any of []{},: in it stands in quotes");
    return yaml_fail(y, mark, "%.*s", STR_ARG(problem));
}

static bool yaml_next(struct yaml *y)
{
    if (y->has_event)
        yaml_event_delete(&y->event);
    y->has_event = yaml_parser_parse(&y->parser, &y->event) != 0;
    return y->has_event || yaml_fail_parse(y);
}

/* --- scalars --- */

static bool is_word(struct str s, const char *small, const char *capital, const char *large)
{
    return str_eq(s, str_of(small)) || str_eq(s, str_of(capital)) || str_eq(s, str_of(large));
}

static size_t skip_digits(struct str s, size_t at)
{
    while (at < s.len && ascii_is_digit(s.ptr[at]))
        at++;
    return at;
}

/* Whether all of it is a decimal number of the core schema, and its parts. */
static bool is_yaml_number(struct str s, size_t *first, size_t *point, size_t *exponent)
{
    size_t at = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+'), fraction = 0;

    *first = at;
    *point = at = skip_digits(s, at);
    if (at < s.len && s.ptr[at] == '.') {
        fraction = skip_digits(s, at + 1) - at - 1;
        at += 1 + fraction;
    }
    if (*point - *first + fraction == 0)
        return false;
    *exponent = at;
    if (at < s.len && (s.ptr[at] == 'e' || s.ptr[at] == 'E')) {
        at++;
        if (at < s.len && (s.ptr[at] == '-' || s.ptr[at] == '+'))
            at++;
        if (skip_digits(s, at) == at)
            return false;
        at = skip_digits(s, at);
    }
    return at == s.len;
}

/* 0x1F and 0o17. */
static bool is_hex_or_octal(struct str s, uint64_t *out)
{
    char *end;

    if (s.len < 3 || s.len > 18 || s.ptr[0] != '0' || (s.ptr[1] != 'x' && s.ptr[1] != 'o'))
        return false;
    for (size_t i = 2; i < s.len; i++)
        if (s.ptr[1] == 'x' ? hex_digit(s.ptr[i]) < 0 : s.ptr[i] < '0' || s.ptr[i] > '7')
            return false;
    *out = strtoull(s.ptr + 2, &end, s.ptr[1] == 'x' ? 16 : 8);
    return true;
}

/* JSON wants digits on both sides of a point, and no plus. */
static void write_number(struct yaml *y, struct str s, size_t first, size_t point, size_t exponent)
{
    if (s.ptr[0] == '-')
        buf_char(&y->json, '-');
    if (point == first)
        buf_char(&y->json, '0');
    buf_str(&y->json, str_slice(s, first, point));
    if (exponent > point + 1)
        buf_str(&y->json, str_slice(s, point, exponent));
    else if (exponent > point)
        buf_text(&y->json, ".0");
    buf_str(&y->json, str_slice(s, exponent, s.len));
}

static bool write_plain(struct yaml *y, struct str s)
{
    yaml_mark_t mark = y->event.start_mark;
    size_t first, point, exponent;
    uint64_t n;

    if (s.len == 0 || str_eq(s, STR("~")) || is_word(s, "null", "Null", "NULL")) {
        buf_text(&y->json, "null");
    } else if (is_word(s, "true", "True", "TRUE")) {
        buf_text(&y->json, "true");
    } else if (is_word(s, "false", "False", "FALSE")) {
        buf_text(&y->json, "false");
    } else if (is_yaml_number(s, &first, &point, &exponent)) {
        if (point > first + 1 && s.ptr[first] == '0')
            return yaml_fail(y, mark,
                             "a number may not start with 0; as a text it stands in quotes: "
                             "\"%.*s\"",
                             s.len < 100 ? (int)s.len : 100, s.ptr);
        write_number(y, s, first, point, exponent);
    } else if (is_hex_or_octal(s, &n)) {
        buf_printf(&y->json, "%llu", (unsigned long long)n);
    } else if (is_word(s, ".nan", ".NaN", ".NAN") || is_word(s, ".inf", ".Inf", ".INF") ||
               is_word(s, "-.inf", "-.Inf", "-.INF") || is_word(s, "+.inf", "+.Inf", "+.INF")) {
        return yaml_fail(y, mark, "%.*s is no number here", STR_ARG(s));
    } else {
        json_write_string(&y->json, s);
    }
    return true;
}

static enum mark_style style_of(const yaml_event_t *e)
{
    bool is_one_line = e->start_mark.line == e->end_mark.line;

    switch (e->data.scalar.style) {
    case YAML_PLAIN_SCALAR_STYLE:
        return is_one_line ? MARK_PLAIN : MARK_OTHER;
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return is_one_line ? MARK_QUOTED : MARK_OTHER;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return is_one_line ? MARK_ESCAPED : MARK_OTHER;
    case YAML_LITERAL_SCALAR_STYLE:
        return MARK_LITERAL;
    case YAML_FOLDED_SCALAR_STYLE:
    case YAML_ANY_SCALAR_STYLE:
        break;
    }
    return MARK_OTHER;
}

/* What is written next stands where the event begins. */
static void add_mark(struct yaml *y)
{
    const yaml_event_t *e = &y->event;
    struct place p = place_at(y, e->start_mark);

    *VEC_ADD(y->mem, y->marks) =
        (struct source_mark){.json = y->json.len,
                             .line = p.line,
                             .column = p.column,
                             .style = e->type == YAML_SCALAR_EVENT ? style_of(e) : MARK_OTHER};
}

static struct str scalar_text(const struct yaml *y)
{
    return str_from((const char *)y->event.data.scalar.value, y->event.data.scalar.length);
}

/* --- anchors and aliases --- */

static bool refuse_tag(struct yaml *y, const yaml_char_t *tag)
{
    return tag == NULL || yaml_fail(y, y->event.start_mark,
                                    "there are no tags here ('%.100s'): a text stands in quotes, a "
                                    "number, true and false do not",
                                    (const char *)tag);
}

/* Answers the place of the anchor among the anchors plus one, or 0 when the event has none. */
static size_t open_anchor(struct yaml *y, const yaml_char_t *name)
{
    if (name == NULL)
        return 0;
    *VEC_ADD(y->mem, &y->anchors) =
        (struct anchor){.name = str_copy(y->mem, str_of((const char *)name)),
                        .from = y->json.len,
                        .first_mark = y->marks->count};
    return y->anchors.count;
}

static void close_anchor(struct yaml *y, size_t anchor)
{
    if (anchor == 0)
        return;
    y->anchors.items[anchor - 1].to = y->json.len;
    y->anchors.items[anchor - 1].last_mark = y->marks->count;
}

static bool write_alias(struct yaml *y)
{
    struct str name = str_of((const char *)y->event.data.alias.anchor);
    size_t i = y->anchors.count, at = y->json.len;
    struct anchor a;

    while (i > 0 && !str_eq(y->anchors.items[i - 1].name, name))
        i--;
    if (i == 0)
        return yaml_fail(y, y->event.start_mark, "there is no anchor '&%.*s' above", STR_ARG(name));
    a = y->anchors.items[i - 1];
    if (a.to == 0)
        return yaml_fail(y, y->event.start_mark, "'*%.*s' stands within what it names",
                         STR_ARG(name));
    y->alias_bytes += a.to - a.from;
    if (y->alias_bytes > YAML_ALIAS_BYTES_MAX)
        return yaml_fail(y, y->event.start_mark, "aliases repeat more than %d KiB",
                         YAML_ALIAS_BYTES_MAX >> 10);
    /* The alias itself stands here, what is in it where it was written. */
    add_mark(y);
    for (size_t m = a.first_mark + 1; m < a.last_mark; m++) {
        struct source_mark mark = y->marks->items[m];

        mark.json = mark.json - a.from + at;
        *VEC_ADD(y->mem, y->marks) = mark;
    }
    buf_str(&y->json, str_copy(y->mem, str_slice(buf_view(&y->json), a.from, a.to)));
    return true;
}

/* --- lists and objects --- */

static bool write_node(struct yaml *y);

static bool enter(struct yaml *y)
{
    return ++y->depth <= JSON_DEPTH_MAX ||
           yaml_fail(y, y->event.start_mark, "nested deeper than %d levels", JSON_DEPTH_MAX);
}

static bool write_key(struct yaml *y)
{
    yaml_mark_t mark = y->event.start_mark;
    size_t anchor;

    if (y->event.type != YAML_SCALAR_EVENT) {
        if (mark.index > 0 && str_starts_with(text_at(y, mark), STR("{")) &&
            y->text.ptr[utf8_offset(y->text, mark.index) - 1] == '{')
            return yaml_fail(y, mark, "a text that begins with '{{' stands in quotes: \"{{ … }}\"");
        return yaml_fail(y, mark, "the name of a member must be a text");
    }
    if (!refuse_tag(y, y->event.data.scalar.tag))
        return false;
    if (y->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && str_eq(scalar_text(y), STR("<<")))
        return yaml_fail(y, mark,
                         "there are no merge keys ('<<'): write the members out, or "
                         "repeat the whole with an alias");
    anchor = open_anchor(y, y->event.data.scalar.anchor);
    add_mark(y);
    json_write_string(&y->json, scalar_text(y));
    close_anchor(y, anchor);
    return true;
}

/* The items of a list, or the members of an object. */
static bool write_items(struct yaml *y, bool is_object)
{
    yaml_event_type_t end = is_object ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    bool is_first = true;

    if (!enter(y))
        return false;
    for (buf_char(&y->json, is_object ? '{' : '[');; is_first = false) {
        if (!yaml_next(y))
            return false;
        if (y->event.type == end)
            break;
        if (!is_first)
            buf_char(&y->json, ',');
        if (is_object) {
            if (!write_key(y))
                return false;
            buf_char(&y->json, ':');
            if (!yaml_next(y))
                return false;
        }
        if (!write_node(y))
            return false;
    }
    buf_char(&y->json, is_object ? '}' : ']');
    y->depth--;
    return true;
}

/* The node that the present event begins. */
static bool write_node(struct yaml *y)
{
    const yaml_event_t *e = &y->event;
    size_t anchor;
    bool ok;

    if (e->type == YAML_ALIAS_EVENT)
        return write_alias(y);
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = open_anchor(y, e->data.scalar.anchor);
        ok = refuse_tag(y, e->data.scalar.tag);
        add_mark(y);
        if (ok && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
            ok = write_plain(y, scalar_text(y));
        else if (ok)
            json_write_string(&y->json, scalar_text(y));
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = open_anchor(y, e->data.sequence_start.anchor);
        ok = refuse_tag(y, e->data.sequence_start.tag);
        add_mark(y);
        ok = ok && write_items(y, false);
    } else {
        ASSERT(e->type == YAML_MAPPING_START_EVENT);
        anchor = open_anchor(y, e->data.mapping_start.anchor);
        ok = refuse_tag(y, e->data.mapping_start.tag);
        add_mark(y);
        ok = ok && write_items(y, true);
    }
    close_anchor(y, anchor);
    return ok;
}

/* --- the text --- */

static bool write_document(struct yaml *y)
{
    if (!yaml_next(y)) /* the stream */
        return false;
    if (!yaml_next(y)) /* the document */
        return false;
    if (y->event.type == YAML_STREAM_END_EVENT)
        return yaml_fail(y, y->event.start_mark, "the text is empty");
    if (!yaml_next(y) || !write_node(y) || !yaml_next(y))
        return false;
    if (!yaml_next(y))
        return false;
    if (y->event.type == YAML_DOCUMENT_START_EVENT)
        return yaml_fail(y, y->event.start_mark,
                         "a second document begins here: put it into a file of its own, or both "
                         "into one list, 'items:'");
    return true;
}

bool yaml_to_json(struct arena *mem, struct str text, struct str *json, struct source_marks *marks,
                  struct err *err)
{
    struct yaml y = {.mem = mem, .text = text, .marks = marks, .err = err};
    bool ok;

    if (!utf8_is_valid(text)) {
        struct place p = source_byte_place(text, utf8_valid_prefix(text));
        return err_set_at(err, ERR_INVALID, p.line, p.column, "the text is not UTF-8");
    }
    if (yaml_parser_initialize(&y.parser) == 0)
        PANIC("out of memory");
    yaml_parser_set_input_string(&y.parser, (const unsigned char *)text.ptr, text.len);
    yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
    buf_init_arena(&y.json, mem);
    ok = write_document(&y);
    if (y.has_event)
        yaml_event_delete(&y.event);
    yaml_parser_delete(&y.parser);
    *json = buf_view(&y.json);
    return ok;
}
