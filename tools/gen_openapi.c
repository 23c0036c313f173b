/*
 * gen_openapi.c - print docs/openapi.yaml as JSON, in an array of C or as it is (--json).
 *
 * Not a reader of YAML: of the subset that the document is written in, and strict, so that
 * whatever it takes means the same to every reader of YAML 1.2.
 *
 *     mappings and lists by indentation, two spaces a level; [a, b] and {a: b}, also over lines
 *     plain, 'single' and "double" quoted scalars on one line; | and > for texts of several
 *     null, true, false and JSON's numbers; everything else is a text
 *
 * Refused: tabs, anchors, tags, other ways to write numbers and booleans, keys that are there
 * twice, keys without a value. A mistake is told as file:line: message and ends with status 1.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, KEY_LEN_MAX = 200, KEYS_MAX = 1000 };

struct line {
    char *text; /* without its indentation and the spaces at its end */
    int indent;
};

static const char *path;
static struct line *lines;
static int line_count;
static int at;    /* the line that is read */
static char *pos; /* where in it */
static int depth;
static char *json;
static size_t json_len, json_room;

_Noreturn static void fail(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s:%d: ", path, at < line_count ? at + 1 : line_count);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void *grown(void *old, size_t size)
{
    void *made = realloc(old, size);

    if (made == NULL)
        fail("out of memory");
    return made;
}

/* --- writing --- */

static void put(const char *text, size_t len)
{
    if (json_len + len > json_room) {
        json_room = 2 * (json_len + len);
        json = grown(json, json_room);
    }
    memcpy(json + json_len, text, len);
    json_len += len;
}

static void put_char(char ch)
{
    put(&ch, 1);
}

static void put_escaped(char ch)
{
    char code[8];

    if (ch == '\n') {
        put("\\n", 2);
    } else if ((unsigned char)ch < ' ') {
        snprintf(code, sizeof(code), "\\u%04x", (unsigned char)ch);
        put(code, 6);
    } else {
        if (ch == '"' || ch == '\\')
            put_char('\\');
        put_char(ch);
    }
}

static void put_text(const char *text, size_t len)
{
    put_char('"');
    for (size_t i = 0; i < len; i++)
        put_escaped(text[i]);
    put_char('"');
}

/* --- lines --- */

static void add_line(char *text)
{
    char *start = text, *end = text + strlen(text);

    at = line_count++;
    if (strchr(text, '\t') != NULL || strchr(text, '\r') != NULL)
        fail("tabs and carriage returns are not taken");
    while (*start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    *end = '\0';
    lines = grown(lines, (size_t)line_count * sizeof(*lines));
    lines[at] = (struct line){start, (int)(start - text)};
}

static void read_lines(FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    while ((len = getline(&line, &room, file)) >= 0) {
        if (len > 0 && line[len - 1] == '\n')
            line[len - 1] = '\0';
        add_line(strdup(line));
    }
    free(line);
    at = 0;
}

/* Go to the next line that says something; false at the end. */
static bool find_line(void)
{
    while (at < line_count && (lines[at].text[0] == '\0' || lines[at].text[0] == '#'))
        at++;
    if (at == line_count)
        return false;
    pos = lines[at].text;
    return true;
}

static void end_line(void)
{
    while (*pos == ' ')
        pos++;
    if (*pos != '\0' && !(*pos == '#' && pos[-1] == ' '))
        fail("unexpected text: %s", pos);
    at++;
}

/* --- scalars --- */

static void single_quoted(void)
{
    put_char('"');
    for (pos++; *pos != '\'' || pos[1] == '\''; pos++) {
        if (*pos == '\0')
            fail("a quote is not closed");
        if (*pos == '\'')
            pos++;
        put_escaped(*pos);
    }
    pos++;
    put_char('"');
}

/* Escapes that JSON has too are passed on as they are. */
static void double_quoted(void)
{
    char *start = pos;

    for (pos++; *pos != '"'; pos++) {
        if (*pos == '\0')
            fail("a quote is not closed");
        if (*pos == '\\' && (pos[1] == '\0' || strchr("\"\\/bfnrtu", *++pos) == NULL))
            fail("an escape that JSON does not have");
    }
    pos++;
    put(start, (size_t)(pos - start));
}

static bool is_one_of(const char *text, size_t len, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strlen(*words) == len && strncasecmp(text, *words, len) == 0)
            return true;
    return false;
}

/* A number as JSON writes it. */
static bool is_number(const char *text, size_t len)
{
    const char *p = text, *end = text + len;

    p += p < end && *p == '-';
    if (p == end || *p < '0' || *p > '9' || (*p == '0' && p + 1 < end && p[1] != '.'))
        return false;
    p += strspn(p, "0123456789");
    if (p < end && *p == '.' && strspn(p + 1, "0123456789") > 0)
        p += 1 + strspn(p + 1, "0123456789");
    return p == end;
}

static void plain_value(const char *text, size_t len)
{
    static const char *const constants[] = {"null", "true", "false", NULL};
    static const char *const doubtful[] = {"~", "yes", "no", "on", "off", NULL};
    bool is_constant = is_one_of(text, len, constants);

    if (is_number(text, len) || (is_constant && text[0] >= 'a' && text[1] >= 'a'))
        put(text, len);
    else if (is_constant || is_one_of(text, len, doubtful) ||
             strchr("0123456789+-.", text[0]) != NULL)
        fail("what is '%.*s'? Put it in quotes if it is a text", (int)len, text);
    else
        put_text(text, len);
}

/* How long a plain scalar is that ends with the line, or in brackets with one of ,]} too. */
static size_t plain_len(bool in_flow)
{
    char *end = pos;

    if (strchr("&*!|>%@`\"'[]{},#?:", *pos) != NULL || (*pos == '-' && pos[1] == ' '))
        fail("a plain text cannot begin with %c", *pos);
    for (; *end != '\0' && !(in_flow && strchr(",[]{}", *end) != NULL); end++) {
        if (*end == ':' && (end[1] == ' ' || end[1] == '\0'))
            break;
        if (*end == '#' && end[-1] == ' ')
            break;
    }
    while (end > pos && end[-1] == ' ')
        end--;
    return (size_t)(end - pos);
}

/* --- texts of several lines --- */

/* `|` keeps line ends, `>` makes them spaces and empty lines line ends; `-` drops the last. */
static void block_text(int indent)
{
    bool is_folded = *pos == '>', is_open = false, keeps_end = true;
    int inner = -1, empty = 0;

    if (*++pos == '-') {
        keeps_end = false;
        pos++;
    }
    end_line();
    put_char('"');
    for (; at < line_count && (lines[at].text[0] == '\0' || lines[at].indent > indent); at++) {
        if (lines[at].text[0] == '\0') {
            empty++;
            continue;
        }
        if (inner < 0)
            inner = lines[at].indent;
        if (lines[at].indent < inner || (is_folded && lines[at].indent > inner))
            fail("the lines of a text begin below each other");
        if (is_open && is_folded && empty == 0)
            put_char(' ');
        else if (is_open && !is_folded)
            put_escaped('\n');
        for (; empty > 0; empty--)
            put_escaped('\n');
        for (int i = inner; i < lines[at].indent; i++)
            put_char(' ');
        for (const char *p = lines[at].text; *p != '\0'; p++)
            put_escaped(*p);
        is_open = true;
    }
    if (!is_open)
        fail("a text without lines");
    if (keeps_end)
        put_escaped('\n');
    put_char('"');
}

/* --- keys --- */

struct keys {
    char *items[KEYS_MAX];
    int count;
};

static void remember(struct keys *keys, size_t from)
{
    char *key = strndup(json + from, json_len - from);

    for (int i = 0; i < keys->count; i++)
        if (strcmp(keys->items[i], key) == 0)
            fail("the key %s is there twice", key);
    if (keys->count == KEYS_MAX || strlen(key) > KEY_LEN_MAX)
        fail("too many or too long keys");
    keys->items[keys->count++] = key;
}

static void forget(struct keys *keys)
{
    while (keys->count > 0)
        free(keys->items[--keys->count]);
    free(keys);
}

/* A key and its colon. */
static void key(struct keys *keys, bool in_flow)
{
    size_t from = json_len;

    if (*pos == '\'') {
        single_quoted();
    } else if (*pos == '"') {
        double_quoted();
    } else {
        size_t len = plain_len(in_flow);
        if (len == 0 || strchr("0123456789+-.~", *pos) != NULL)
            fail("a key that is no word: put it in quotes");
        put_text(pos, len);
        pos += len;
    }
    if (*pos != ':' || (pos[1] != ' ' && pos[1] != '\0'))
        fail("a key is followed by a colon and a space");
    pos++;
    remember(keys, from);
    put_char(':');
}

/* --- brackets --- */

static void flow_space(void)
{
    while (*pos == ' ' || *pos == '\0' || (*pos == '#' && pos[-1] == ' ')) {
        if (*pos == ' ') {
            pos++;
            continue;
        }
        at++;
        if (!find_line())
            fail("a bracket is not closed");
    }
}

static void flow_value(bool in_flow);

static void flow_items(char close)
{
    struct keys *keys = grown(NULL, sizeof(*keys));

    keys->count = 0;
    if (++depth > DEPTH_MAX)
        fail("nested too deeply");
    put_char(close == ']' ? '[' : '{');
    pos++;
    flow_space();
    for (bool first = true; *pos != close; first = false) {
        if (!first)
            put_char(',');
        if (close == '}') {
            key(keys, true);
            flow_space();
        }
        flow_value(true);
        flow_space();
        if (*pos == ',')
            pos++;
        else if (*pos != close)
            fail("expected , or %c", close);
        flow_space();
    }
    pos++;
    put_char(close);
    depth--;
    forget(keys);
}

static void flow_value(bool in_flow)
{
    size_t len;

    if (*pos == '[') {
        flow_items(']');
    } else if (*pos == '{') {
        flow_items('}');
    } else if (*pos == '\'') {
        single_quoted();
    } else if (*pos == '"') {
        double_quoted();
    } else {
        len = plain_len(in_flow);
        plain_value(pos, len);
        pos += len;
    }
}

/* --- blocks --- */

static void block(int indent);

/* What stands behind a key or a dash. */
static void value_behind(int indent)
{
    while (*pos == ' ')
        pos++;
    if (*pos == '|' || *pos == '>') {
        block_text(indent);
    } else if (*pos != '\0' && *pos != '#') {
        flow_value(false);
        end_line();
    } else {
        at++;
        if (!find_line() || lines[at].indent != indent + 2)
            fail("what belongs to a key stands below it, two spaces further in");
        block(indent + 2);
    }
}

static bool is_item(void)
{
    return pos[0] == '-' && (pos[1] == ' ' || pos[1] == '\0');
}

/* Whether a list's item is a mapping whose first key stands behind the dash. */
static bool begins_mapping(void)
{
    const char *p = lines[at].text + 2;

    if (strchr("[{'\"", *p) != NULL)
        return false;
    while (*p != '\0' && !(*p == ':' && (p[1] == ' ' || p[1] == '\0')))
        p++;
    return *p == ':';
}

static void block_list(int indent)
{
    put_char('[');
    for (bool first = true; find_line() && lines[at].indent == indent; first = false) {
        if (!is_item())
            fail("a list goes on with a dash");
        if (!first)
            put_char(',');
        if (pos[1] == ' ' && begins_mapping()) {
            lines[at].text += 2;
            lines[at].indent += 2;
            block(indent + 2);
        } else {
            pos++;
            value_behind(indent);
        }
    }
    put_char(']');
}

static void block_mapping(int indent)
{
    struct keys *keys = grown(NULL, sizeof(*keys));

    keys->count = 0;
    put_char('{');
    for (bool first = true; find_line() && lines[at].indent == indent; first = false) {
        if (is_item())
            fail("a list in the middle of a mapping");
        if (!first)
            put_char(',');
        key(keys, false);
        value_behind(indent);
    }
    put_char('}');
    forget(keys);
}

static void block(int indent)
{
    if (++depth > DEPTH_MAX)
        fail("nested too deeply");
    (void)find_line();
    if (is_item())
        block_list(indent);
    else
        block_mapping(indent);
    if (find_line() && lines[at].indent > indent)
        fail("this line is indented too far");
    depth--;
}

/* --- */

static void print_array(void)
{
    printf("/* openapi.h - generated from %s by tools/gen_openapi.c. */\n"
           "static const unsigned char openapi_json[%zu] = {",
           path, json_len);
    for (size_t i = 0; i < json_len; i++)
        printf("%s%d,", i % 24 == 0 ? "\n    " : "", (unsigned char)json[i]);
    printf("\n};\n");
}

int main(int argc, char **argv)
{
    bool as_json = argc == 3 && strcmp(argv[1], "--json") == 0;
    FILE *file;

    if (argc != 2 && !as_json) {
        fprintf(stderr, "usage: gen_openapi [--json] FILE\n");
        return 2;
    }
    path = argv[argc - 1];
    file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    read_lines(file);
    fclose(file);
    if (!find_line())
        fail("there is nothing in it");
    block(0);
    if (find_line())
        fail("this line belongs to nothing");
    if (as_json)
        printf("%.*s\n", (int)json_len, json);
    else
        print_array();
    return 0;
}
