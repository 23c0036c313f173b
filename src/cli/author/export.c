/* export.c - pawl export: what is published, as a bundle that pawl apply takes. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/json_text.h"

#include <errno.h>
#include <stdio.h>

/* One item a line, each byte for byte as it was written. */
static void write_bundle(struct arena *mem, FILE *out, struct str text, struct value items)
{
    struct str *texts = ARENA_ARRAY(mem, items.len + 1, struct str);
    size_t count = json_text_items(json_text_member(mem, text, STR("items")), texts, items.len);

    fputs("{\"items\":[", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s\n%.*s", i > 0 ? "," : "", STR_ARG(texts[i]));
    fputs("\n]}\n", out);
}

static bool write_file(struct arena *mem, const char *path, struct str text, struct value items)
{
    FILE *out = path == NULL ? stdout : fopen(path, "wb");
    bool ok;

    if (out == NULL) {
        fprintf(stderr, "pawl: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    write_bundle(mem, out, text, items);
    if (path == NULL)
        return true;
    ok = ferror(out) == 0;
    ok = fclose(out) == 0 && ok;
    if (ok)
        fprintf(stderr, "%u definitions written to %s\n", items.len, path);
    else
        fprintf(stderr, "pawl: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

int command_export(struct client *c, const struct options *o)
{
    struct reply reply;
    struct buf url;

    if (options_has(o, "all") == (o->argc > 1))
        return options_usage(o);
    buf_init_arena(&url, &c->mem);
    buf_text(&url, "/export");
    for (int i = 1; i < o->argc; i++) {
        buf_text(&url, i > 1 ? "," : options_has(o, "only") ? "?codes=" : "?code=");
        url_encode(&url, str_of(o->argv[i]));
    }
    return client_call(c, "GET", buf_view(&url), STR_NONE, &reply) &&
                   write_file(&c->mem, options_get(o, "output"), reply.text,
                              value_map_get_str(reply.json, STR("items")))
               ? EXIT_OK
               : EXIT_FAILED;
}
