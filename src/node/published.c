/* published.c - which version of a process is published, as far as this node knows; see program.h. */
#include "base/nearest.h"
#include "node/inner.h"

#include <stdlib.h>

enum { CODES_OFFERED = 1000 };

/* Nothing is published under the code: which one was probably meant. */
static void tell_unknown(struct reader *reader, struct load *l)
{
    struct str code = l->published.published->code;
    struct nearest near = nearest_to(code);
    struct stored_definitions all;

    if (!read_definitions(reader, &l->mem, STR_NONE, STR(""), CODES_OFFERED, &all, &l->err))
        all.count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (str_eq(all.items[i].status, STR("published")))
            nearest_offer(&near, all.items[i].code);
    (void)err_set(&l->err, ERR_NOT_FOUND, "no process '%.*s' is published%s%.*s%s", STR_ARG(code),
                  near.best.len > 0 ? "; did you mean '" : "", STR_ARG(near.best),
                  near.best.len > 0 ? "'?" : "");
}

static void run_published(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct stored_definition d;
    bool found;

    l->ok = read_process(reader, &l->mem, l->published.published->code, -1, &d, &found, &l->err);
    l->published.version = 0;
    if (!l->ok)
        return;
    if (!found)
        tell_unknown(reader, l);
    else if (str_eq(d.status, STR("retired")))
        (void)err_set(&l->err, ERR_RETIRED, "the process '%.*s' is retired: it takes no new starts",
                      STR_ARG(d.code));
    else
        l->published.version = d.version;
}

static void done_published(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    struct published *p = l->published.published;
    struct work_queue starts = p->starts;
    struct work *w;

    p->is_reading = false;
    p->starts = (struct work_queue){0};
    /* A version that was published meanwhile is newer than what was read. */
    if (p->version == 0)
        p->version = l->published.version;
    while ((w = work_pop(&starts)) != NULL) {
        struct node_request *r = w->request;
        if (p->version != 0) {
            if (r->version == 0)
                r->version = p->version;
            request_start(n, w);
            continue;
        }
        work_free(n, w);
        request_refuse(n, r, l->err.code, "%s", l->err.message);
    }
    if (l->published.forgotten != n->forgotten)
        p->version = 0; /* it may be older than what was published meanwhile */
    load_free(l);
    /* Codes that nobody has published would fill the memory. */
    if (p->version == 0 && !p->is_reading) {
        (void)map_remove(&n->published, p->code);
        free(p);
    }
}

struct published *published_get(struct node *n, struct str code)
{
    struct published *p = map_get(&n->published, code);

    if (p != NULL)
        return p;
    p = calloc(1, sizeof(*p) + code.len);
    if (p == NULL)
        PANIC("out of memory");
    memcpy(p->text, code.ptr, code.len);
    p->code = str_from(p->text, code.len);
    map_put(&n->published, p->code, p);
    return p;
}

void published_load(struct node *n, struct published *p)
{
    struct load *l;

    if (p->is_reading)
        return;
    p->is_reading = true;
    l = load_new(n, run_published, done_published);
    l->published.published = p;
    l->published.forgotten = n->forgotten;
    load_send(l);
}

void published_forget(struct node *n)
{
    n->forgotten++;
    for (struct map_entry *e = map_next(&n->published, NULL); e != NULL;
         e = map_next(&n->published, e))
        ((struct published *)e->ptr)->version = 0;
}

void published_free(struct node *n)
{
    for (struct map_entry *e = map_next(&n->published, NULL); e != NULL;
         e = map_next(&n->published, e))
        free(e->ptr);
}
