/* progress.c - see progress.h. */
#include "cli/progress.h"

#include "cli/term.h"

enum { BAR_WIDTH = 30, QUARTER = 25 };

void progress_begin(struct progress *p, const char *what)
{
    *p = (struct progress){.what = what, .is_terminal = term_is(stderr), .told_percent = -1};
}

static void draw_bar(const struct progress *p, int percent, const char *note)
{
    int filled = percent * BAR_WIDTH / 100;

    fprintf(stderr, "\r\033[K%s [", p->what);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %3d %%%s%s", percent, note != NULL ? "  " : "", note != NULL ? note : "");
    (void)fflush(stderr);
}

void progress_set(struct progress *p, int64_t done, int64_t total, const char *note)
{
    int percent = total <= 0 || done >= total ? 100 : (int)((double)done * 100 / (double)total);

    if (percent < 0)
        percent = 0;
    if (p->is_terminal) {
        draw_bar(p, percent, note);
    } else if (p->told_percent < 0) {
        fprintf(stderr, "%s\n", p->what);
    } else if (percent / QUARTER > p->told_percent / QUARTER && percent < 100) {
        fprintf(stderr, "%s: %d %%%s%s\n", p->what, percent, note != NULL ? ", " : "",
                note != NULL ? note : "");
    }
    p->told_percent = percent;
}

void progress_end(struct progress *p)
{
    if (p->is_terminal && p->told_percent >= 0)
        fprintf(stderr, "\r\033[K");
    p->told_percent = -1;
}
