/* move.c - pawl move: an installation from its data folder to PostgreSQL, or back. */
#include "store/move.h"

#include "base/url.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/server/settings.h"
#include "store/survey.h"
#include "value/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void show_progress(void *context, struct str table, int64_t done, int64_t total)
{
    char note[80];

    (void)snprintf(note, sizeof(note), "%.*s", STR_ARG(table));
    progress_set(context, done, total, note);
}

/* Secrets are sealed with a key that stays in the folder of the server. */
static void move_put_key(struct buf *out, struct str to, struct str to_folder)
{
    struct store_glance glance;
    struct arena mem;
    struct err err;

    if (!store_glance(to_folder.len > 0 ? STR_NONE : to, to_folder, &glance, &err) ||
        glance.key_id[0] == '\0')
        return;
    arena_init(&mem);
    if (to_folder.len == 0 ||
        access(str_printf(&mem, "%.*s/master.key", STR_ARG(to_folder)).ptr, F_OK) != 0)
        buf_printf(out,
                   "\nIt holds secrets that are sealed with the master key %s: the server needs "
                   "that file, as master.key in its data folder or named with --master-key.",
                   glance.key_id);
    arena_fini(&mem);
}

static void print_moved(struct arena *mem, const struct move_request *m,
                        const struct move_result *r, bool as_json)
{
    struct str from = move_folder(m->from), to = move_folder(m->to);
    struct str url = settings_without_password(mem, m->to.ptr);
    struct buf out;

    buf_init_arena(&out, mem);
    if (as_json) {
        buf_char(&out, '{');
        object_int(&out, "tables", r->tables);
        object_int(&out, "rows", r->rows);
        object_int(&out, "tablesBefore", r->tables_before);
        buf_char(&out, '}');
        printf("%.*s\n", STR_ARG(buf_view(&out)));
        return;
    }
    buf_printf(&out,
               "moved: %" PRId64 " tables, %" PRId64 " rows, each counted and compared there\n",
               r->tables, r->rows);
    if (r->tables_before > 0)
        buf_printf(&out, "%" PRId64 " of the tables were there from a move that was interrupted\n",
                   r->tables_before);
    if (to.len > 0)
        buf_printf(&out, "Go on with: %s serve --data %.*s", command_program(), STR_ARG(to));
    else
        buf_printf(&out, "Go on with: %s serve --data %.*s --store '%.*s'", command_program(),
                   STR_ARG(from), STR_ARG(url));
    move_put_key(&out, m->to, to);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

int command_move(const struct options *o)
{
    const char *from = options_get(o, "from"), *to = options_get(o, "to");
    struct progress_line progress;
    struct move_request request;
    struct move_result result;
    struct arena mem;
    struct err err;
    bool ok;

    if (o->argc != 1 || !options_need(o, "from") || !options_need(o, "to"))
        return options_usage(o);
    request = (struct move_request){
        .from = str_of(from), .to = str_of(to), .progress = show_progress, .context = &progress};
    progress_begin(&progress, "moving the installation");
    ok = store_move(&request, &result, &err);
    progress_end(&progress);
    if (!ok) {
        fprintf(stderr, "pawl move: %s\n", err.message);
        return EXIT_FAILED;
    }
    arena_init(&mem);
    print_moved(&mem, &request, &result, options_has(o, "json"));
    arena_fini(&mem);
    return EXIT_OK;
}
