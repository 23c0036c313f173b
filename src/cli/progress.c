/* progress.c - see progress.h. */
#include "cli/progress.h"

#include "cli/term.h"

#include <sys/stat.h>
#include <time.h>

enum { BAR_WIDTH = 30, QUARTER = 25, LOOK_MS = 100 };

void progress_begin(struct progress_line *p, const char *what)
{
    *p = (struct progress_line){.what = what, .is_terminal = term_is(stderr), .shown_percent = -1};
}

static void draw_bar(const struct progress_line *p, int percent, const char *note)
{
    int filled = percent * BAR_WIDTH / 100;

    fprintf(stderr, "\r\033[K%s [", p->what);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %3d %%%s%s", percent, note != NULL ? "  " : "", note != NULL ? note : "");
    (void)fflush(stderr);
}

void progress_set(struct progress_line *p, int64_t done, int64_t total, const char *note)
{
    int percent = total <= 0 || done >= total ? 100 : (int)((double)done * 100 / (double)total);

    if (percent < 0)
        percent = 0;
    if (p->is_terminal) {
        draw_bar(p, percent, note);
    } else if (p->shown_percent < 0) {
        fprintf(stderr, "%s\n", p->what);
    } else if (percent / QUARTER > p->shown_percent / QUARTER && percent < 100) {
        fprintf(stderr, "%s: %d %%%s%s\n", p->what, percent, note != NULL ? ", " : "",
                note != NULL ? note : "");
    }
    p->shown_percent = percent;
}

void progress_end(struct progress_line *p)
{
    if (p->is_terminal && p->shown_percent >= 0)
        fprintf(stderr, "\r\033[K");
    p->shown_percent = -1;
}

/* --- a file that grows --- */

int64_t progress_file_bytes(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (int64_t)s.st_size : 0;
}

/* Writing it is one call, so another thread looks. */
static void *look(void *context)
{
    struct progress_file *f = context;
    struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    while (!atomic_load(&f->is_done)) {
        progress_set(&f->progress, progress_file_bytes(f->path), f->total_bytes, NULL);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

void progress_file_begin(struct progress_file *f, const char *what, const char *path,
                         int64_t total_bytes)
{
    progress_begin(&f->progress, what);
    f->path = path;
    f->total_bytes = total_bytes;
    atomic_init(&f->is_done, false);
    f->is_watched = pthread_create(&f->thread, NULL, look, f) == 0;
}

void progress_file_end(struct progress_file *f)
{
    atomic_store(&f->is_done, true);
    if (f->is_watched)
        pthread_join(f->thread, NULL);
    progress_end(&f->progress);
}
