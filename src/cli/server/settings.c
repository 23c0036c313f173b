/* settings.c - see settings.h. */
#include "cli/server/settings.h"

#include "base/text/ascii.h"
#include "cli/file.h"
#include "cli/options.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <stdio.h>

enum kind { KIND_TEXT, KIND_URL, KIND_FLAG, KIND_NUMBER, KIND_DURATION };

static const struct {
    const char *name;
    enum kind kind;
    const char *fallback;
} specs[] = {
#define SETTING(symbol, option, type, otherwise)                                                   \
    {.name = (option), .kind = KIND_##type, .fallback = (otherwise)},
#include "cli/server/settings.def"
#undef SETTING
};

/* --- one value --- */

static bool read_flag(struct str text, bool *out)
{
    *out = str_eq(text, STR("true")) || str_eq(text, STR("1"));
    return *out || str_eq(text, STR("false")) || str_eq(text, STR("0"));
}

static bool settings_read_number(struct str text, int64_t *out)
{
    return str_to_int64(text, out) && *out >= 0 && *out <= INT32_MAX;
}

static bool read_duration(struct str text, int64_t *out_us)
{
    struct value v;

    if (!duration_read(text, &v) || v.seconds < 0 || v.seconds > INT32_MAX)
        return false;
    *out_us = v.seconds * 1000000 + v.nanos / 1000;
    return true;
}

/* What it should be, or NULL when it is that. */
static const char *wanted(enum kind kind, const char *value)
{
    int64_t number;
    bool flag;

    switch (kind) {
    case KIND_TEXT:
    case KIND_URL:
        return NULL;
    case KIND_FLAG:
        return read_flag(str_of(value), &flag) ? NULL : "true or false";
    case KIND_NUMBER:
        return settings_read_number(str_of(value), &number) ? NULL : "a number";
    case KIND_DURATION:
        return read_duration(str_of(value), &number) ? NULL : "a duration such as 60s";
    }
    PANIC("unknown kind of setting");
}

/* --- the config file --- */

static bool report_unknown(const char *path, struct str name)
{
    const char *nearest = NULL;
    unsigned limit = 3;

    for (int i = 0; i < SETTING_COUNT; i++) {
        unsigned distance = str_distance(name, str_of(specs[i].name), limit);
        if (distance > limit)
            continue;
        nearest = specs[i].name;
        limit = distance;
    }
    fprintf(stderr, "pawl serve: %s: there is no setting \"%.*s\"", path, STR_ARG(name));
    if (nearest != NULL)
        fprintf(stderr, "; did you mean \"%s\"?", nearest);
    fputc('\n', stderr);
    return false;
}

/* A member of the file as the text that an option would have. NULL: it is of the wrong kind. */
static const char *field_text(struct arena *mem, enum kind kind, struct value v)
{
    if (v.kind == VALUE_BOOL && kind == KIND_FLAG)
        return value_is_true(v) ? "true" : "false";
    if (v.kind == VALUE_INT && kind == KIND_NUMBER)
        return str_printf(mem, "%lld", (long long)v.i).ptr;
    if (v.kind == VALUE_STRING && kind != KIND_FLAG && kind != KIND_NUMBER)
        return str_printf(mem, "%.*s", STR_ARG(value_text(v))).ptr;
    return NULL;
}

static bool take_member(struct arena *mem, struct settings *s, const char *path, struct str name,
                        struct value v)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        const char *text;
        if (!str_eq(name, str_of(specs[i].name)))
            continue;
        text = field_text(mem, specs[i].kind, v);
        if (text == NULL) {
            fprintf(stderr, "pawl serve: %s: \"%s\" must be %s\n", path, specs[i].name,
                    specs[i].kind == KIND_FLAG     ? "true or false"
                    : specs[i].kind == KIND_NUMBER ? "a number"
                                                   : "a text");
            return false;
        }
        if (s->items[i].value == NULL)
            s->items[i] = (struct setting){.value = text, .source = path};
        return true;
    }
    return report_unknown(path, name);
}

static bool read_config(struct arena *mem, struct settings *s, const char *path)
{
    struct value config;
    struct str text;

    if (!file_read_json(mem, path, &text, &config))
        return false;
    if (config.kind != VALUE_MAP) {
        fprintf(stderr,
                "pawl serve: %s must hold a JSON object such as {\"listen\": \"127.0.0.1:7070\"}\n",
                path);
        return false;
    }
    for (uint32_t i = 0; i < config.len; i++)
        if (!take_member(mem, s, path, value_text(config.map->entries[i].key),
                         config.map->entries[i].value))
            return false;
    return true;
}

/* --- all of them --- */

static const char *variable(struct arena *mem, const char *name)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_text(&out, "PAWL_");
    for (; *name != '\0'; name++)
        buf_char(&out, *name == '-' ? '_' : ascii_upper(*name));
    return str_copy(mem, buf_view(&out)).ptr;
}

/* Each is what it should be. */
static bool settings_check_all(const struct settings *s)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        const char *want = wanted(specs[i].kind, s->items[i].value);
        if (want == NULL)
            continue;
        fprintf(stderr, "pawl serve: %s (%s) must be %s, not %s\n", specs[i].name,
                s->items[i].source, want, s->items[i].value);
        return false;
    }
    return true;
}

bool settings_read(struct arena *mem, struct settings *s, const struct options *o)
{
    const char *config = options_or_setting(o, "config", "PAWL_CONFIG", NULL);

    *s = (struct settings){0};
    if (o->argc > 1) {
        fprintf(stderr, "pawl serve: %s is not an option\n", o->argv[1]);
        return false;
    }
    for (int i = 0; i < SETTING_COUNT; i++) {
        const char *name = variable(mem, specs[i].name), *value = options_get(o, specs[i].name);

        if (options_has(o, specs[i].name))
            s->items[i] =
                (struct setting){.value = value != NULL ? value : "true", .source = "option"};
        else
            s->items[i] = (struct setting){.value = options_setting(name, NULL), .source = name};
    }
    if (config != NULL && !read_config(mem, s, config))
        return false;
    for (int i = 0; i < SETTING_COUNT; i++)
        if (s->items[i].value == NULL)
            s->items[i] = (struct setting){.value = specs[i].fallback, .source = "default"};
    return settings_check_all(s);
}

/* --- using them --- */

const char *settings_text(const struct settings *s, enum setting_symbol symbol)
{
    return s->items[symbol].value;
}

bool settings_flag(const struct settings *s, enum setting_symbol symbol)
{
    bool flag;

    return read_flag(str_of(s->items[symbol].value), &flag) && flag;
}

int64_t settings_number(const struct settings *s, enum setting_symbol symbol)
{
    int64_t number;

    return settings_read_number(str_of(s->items[symbol].value), &number) ? number : 0;
}

int64_t settings_duration_us(const struct settings *s, enum setting_symbol symbol)
{
    int64_t us;

    return read_duration(str_of(s->items[symbol].value), &us) ? us : 0;
}

struct str settings_without_password(struct arena *mem, const char *url)
{
    struct str all = str_of(url);
    int64_t scheme = str_find(all, STR("://"), 0), at = -1, colon;

    for (int64_t next = 0; (next = str_find(all, STR("@"), (size_t)next)) >= 0; next++)
        at = next;
    if (scheme < 0 || at < 0)
        return all;
    colon = str_find(all, STR(":"), (size_t)scheme + 3);
    if (colon < 0 || colon > at)
        return all;
    return str_printf(mem, "%.*s:***%s", (int)colon, url, url + at);
}

void settings_print(const struct settings *s, bool as_json)
{
    struct arena mem;
    struct buf out;

    arena_init(&mem);
    buf_init(&out);
    if (as_json)
        buf_char(&out, '{');
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &s->items[i];
        struct str value = specs[i].kind == KIND_URL
                               ? settings_without_password(&mem, setting->value)
                               : str_of(setting->value);
        if (as_json) {
            object_nested(&out, specs[i].name);
            object_text(&out, "value", value);
            object_text(&out, "source", str_of(setting->source));
            buf_char(&out, '}');
        } else {
            buf_printf(&out, "%-16s %-24.*s (%s)\n", specs[i].name,
                       STR_ARG(value.len > 0 ? value : STR("-")), setting->source);
        }
    }
    if (as_json)
        buf_text(&out, "}\n");
    printf("%.*s", STR_ARG(buf_view(&out)));
    buf_fini(&out);
    arena_fini(&mem);
}
