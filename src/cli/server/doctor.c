/* doctor.c - pawl doctor: a check-up that says how to mend. */
#include "cli/server/doctor.h"

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

static const struct {
    const char *name;
    enum term_style style;
} levels[] = {
#define LEVEL(symbol, word, colour) {.name = (word), .style = TERM_##colour},
#include "cli/server/doctor_levels.def"
#undef LEVEL
};

static unsigned count_level(const struct doctor *d, enum doctor_level level)
{
    unsigned n = 0;

    for (size_t i = 0; i < d->checks.count; i++)
        n += d->checks.items[i].level == level;
    return n;
}

static void doctor_print_lines(const struct doctor *d)
{
    unsigned problems = count_level(d, DOCTOR_PROBLEM), warnings = count_level(d, DOCTOR_WARNING);
    struct buf text;

    for (size_t i = 0; i < d->checks.count; i++) {
        const struct doctor_check *check = &d->checks.items[i];

        buf_init_arena(&text, d->mem);
        term_put_text(&text, check->message, MESSAGE_INDENT);
        printf("%s%-8s%s %-*s %.*s\n", term_style(levels[check->level].style),
               levels[check->level].name, term_style(TERM_PLAIN), NAME_WIDTH, check->name,
               STR_ARG(buf_view(&text)));
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

static void doctor_print_json(struct doctor *d)
{
    struct buf out;

    object_begin(&out, d->mem);
    object_bool(&out, "ok", count_level(d, DOCTOR_PROBLEM) == 0);
    object_list(&out, "checks");
    for (size_t i = 0; i < d->checks.count; i++) {
        const struct doctor_check *check = &d->checks.items[i];
        object_item(&out);
        object_text(&out, "name", str_of(check->name));
        object_text(&out, "level", str_of(levels[check->level].name));
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
        doctor_print_json(d);
    else
        doctor_print_lines(d);
    return count_level(d, DOCTOR_PROBLEM) == 0 ? EXIT_OK : EXIT_FAILED;
}

int command_doctor(struct client *c, const struct options *o)
{
    struct doctor d = {
        .client = c,
        .mem = &c->mem,
        .data = options_or_setting(o, "data", "PAWL_DATA", "./pawl-data"),
        .store = options_or_setting(o, "store", "PAWL_STORE", ""),
    };

    if (o->argc != 1)
        return options_usage(o);
    c->as_json = false; /* what the server refuses is a check, not the end of the command */
    return options_has(o, "health") ? health(c) : check_up(&d, options_has(o, "json"));
}
