/* doctor.c - pawl doctor: a check-up that says how to mend. */
#include "cli/doctor.h"

#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/term.h"
#include "value/object.h"

enum { NAME_WIDTH = 16, MESSAGE_INDENT = 9 + NAME_WIDTH + 1 };

void doctor_add(struct doctor *d, const char *name, enum doctor_level level, struct str message,
                const char *hint)
{
    *VEC_ADD(d->mem, &d->checks) = (struct doctor_check){
        .name = name,
        .level = level,
        .message = message,
        .hint = hint == NULL ? STR_NONE : str_of(hint),
    };
}

static const char *level_name(enum doctor_level level)
{
    switch (level) {
#define LEVEL(symbol, name, style)                                                                 \
    case DOCTOR_##symbol:                                                                          \
        return name;
#include "cli/doctor_levels.def"
#undef LEVEL
    }
    PANIC("unknown level");
}

static const char *level_style(enum doctor_level level)
{
    switch (level) {
#define LEVEL(symbol, name, style)                                                                 \
    case DOCTOR_##symbol:                                                                          \
        return term_style(TERM_##style);
#include "cli/doctor_levels.def"
#undef LEVEL
    }
    PANIC("unknown level");
}

static unsigned count_level(const struct doctor *d, enum doctor_level level)
{
    unsigned n = 0;

    for (size_t i = 0; i < d->checks.count; i++)
        n += d->checks.items[i].level == level;
    return n;
}

static void print_lines(const struct doctor *d)
{
    unsigned problems = count_level(d, DOCTOR_PROBLEM), warnings = count_level(d, DOCTOR_WARNING);
    struct buf text;

    for (size_t i = 0; i < d->checks.count; i++) {
        const struct doctor_check *check = &d->checks.items[i];

        buf_init_arena(&text, d->mem);
        term_put_text(&text, check->message, MESSAGE_INDENT);
        printf("%s%-8s%s %-*s %.*s\n", level_style(check->level), level_name(check->level),
               term_style(TERM_PLAIN), NAME_WIDTH, check->name, STR_ARG(buf_view(&text)));
        if (check->hint.len == 0)
            continue;
        buf_clear(&text);
        term_put_text(&text, check->hint, MESSAGE_INDENT + 3);
        printf("%*s-> %.*s\n", MESSAGE_INDENT, "", STR_ARG(buf_view(&text)));
    }
    if (problems + warnings == 0)
        printf("\nAll is well.\n");
    else
        printf("\n%u problem%s, %u warning%s.\n", problems, problems == 1 ? "" : "s", warnings,
               warnings == 1 ? "" : "s");
}

static void print_json(struct doctor *d)
{
    struct buf out;

    buf_init_arena(&out, d->mem);
    buf_char(&out, '{');
    object_bool(&out, "ok", count_level(d, DOCTOR_PROBLEM) == 0);
    object_name(&out, "checks");
    buf_char(&out, '[');
    for (size_t i = 0; i < d->checks.count; i++) {
        const struct doctor_check *check = &d->checks.items[i];
        object_next(&out);
        buf_char(&out, '{');
        object_text(&out, "name", str_of(check->name));
        object_text(&out, "level", str_of(level_name(check->level)));
        object_text(&out, "message", check->message);
        object_text(&out, "hint", check->hint);
        buf_char(&out, '}');
    }
    printf("%.*s]}\n", STR_ARG(buf_view(&out)));
}

/* For whoever asks every few seconds: one request, one line when it is not well. */
static int health(struct client *c)
{
    struct reply reply;
    const char *why;

    if (!client_probe(c, "/readyz", &reply, &why)) {
        fprintf(stderr, "pawl doctor: no answer from %s: %s\n", c->url, why);
        return EXIT_FAILED;
    }
    if (reply.status == 200)
        return EXIT_OK;
    fprintf(stderr, "pawl doctor: the server at %s takes no requests now: %.*s (HTTP %d)\n", c->url,
            STR_ARG(client_text(reply.json, "status")), reply.status);
    return EXIT_FAILED;
}

static int check_up(struct doctor *d, bool as_json)
{
    doctor_look_at_data(d);
    doctor_look_at_server(d);
    if (as_json)
        print_json(d);
    else
        print_lines(d);
    return count_level(d, DOCTOR_PROBLEM) == 0 ? EXIT_OK : EXIT_FAILED;
}

int command_doctor(int argc, char **argv)
{
    struct doctor d = {.data = options_setting("PAWL_DATA", "./pawl-data"),
                       .store = options_setting("PAWL_STORE", "")};
    bool as_json = false, only_health = false;
    const struct option_spec specs[] = {
        {.name = "data", .value = &d.data},
        {.name = "store", .value = &d.store},
        {.name = "health", .flag = &only_health},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    int status;

    if (!options_read("doctor", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 1)
        return command_usage("doctor");
    client_open(&d.client, false);
    d.mem = &d.client.mem;
    status = only_health ? health(&d.client) : check_up(&d, as_json);
    client_close(&d.client);
    return status;
}
