/*
 * settings.h - the settings of a server and where each came from: an option,
 * else the environment, else the file of --config, else the default.
 */
#ifndef PAWL_CLI_SERVER_SETTINGS_H
#define PAWL_CLI_SERVER_SETTINGS_H

#include "base/str.h"

enum setting_symbol {
#define SETTING(symbol, name, kind, fallback) SETTING_##symbol,
#include "cli/server/settings.def"
#undef SETTING
    SETTING_COUNT
};

struct setting {
    const char *value;  /* "true" or "false" of a flag; empty: none */
    const char *source; /* "option", "PAWL_DATA", the path of the file, "default" */
};

struct settings {
    struct setting items[SETTING_COUNT];
};

struct options;

/*
 * Read them all; texts live in `mem`. Flags, numbers and durations are what
 * they should be afterwards. False after a message to stderr.
 */
bool settings_read(struct arena *mem, struct settings *s, const struct options *o) MUST_USE;

/* Show each with its source, passwords masked. */
void settings_print(const struct settings *s, bool as_json);

const char *settings_text(const struct settings *s, enum setting_symbol symbol);
bool settings_flag(const struct settings *s, enum setting_symbol symbol);
int64_t settings_number(const struct settings *s, enum setting_symbol symbol);
int64_t settings_duration_us(const struct settings *s, enum setting_symbol symbol);

/* A URL without the password in it, for people; in `mem`, or `url` itself. */
struct str settings_without_password(struct arena *mem, const char *url);

#endif
