/* published.c - which version of a process is published, as far as this node knows; see program.h. */
#include "base/alloc.h"
#include "base/text/nearest.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/inner.h"
#include "node/work.h"
#include "node/work_request.h"

enum { CODES_OFFERED = 1000 };

/* Which version of a process is published. */
struct published_load {
    struct load load; /* first: see load.h */
    struct published *published;
    int64_t version;
    int64_t forgotten; /* how often the node had forgotten them when it was sent */
};

/* Nothing is published under the code: which one was probably meant. */
static void published_unknown(struct reader *reader, struct published_load *l)
{
    struct str code = l->published->code;
    struct nearest near = nearest_to(code);
    struct stored_definitions all;

    if (!read_definitions(reader, &l->load.mem, STR_NONE, STR(""), CODES_OFFERED, &all,
                          &l->load.err))
        all.count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (str_eq(all.items[i].status, STR("published")))
            nearest_offer(&near, all.items[i].code);
    (void)err_set(&l->load.err, ERR_NOT_FOUND, "no process '%.*s' is published", STR_ARG(code));
    if (near.best.len > 0)
        (void)err_set_hint(&l->load.err, "did you mean '%.*s'?", STR_ARG(near.best));
}

static void run_published(struct load *load, struct reader *reader)
{
    struct published_load *l = (struct published_load *)load;
    struct stored_definition d;
    bool found;

    load->ok = read_process(reader, &load->mem, l->published->code, -1, &d, &found, &load->err);
    l->version = 0;
    if (!load->ok)
        return;
    if (!found)
        published_unknown(reader, l);
    else if (str_eq(d.status, STR("retired")))
        (void)err_set(&load->err, ERR_RETIRED,
                      "the process '%.*s' is retired: it takes no new starts", STR_ARG(d.code));
    else
        l->version = d.version;
}

static void done_published(struct load *load)
{
    struct published_load *l = (struct published_load *)load;
    struct node *n = load->node;
    struct published *p = l->published;
    struct work_queue starts = p->starts;
    struct work *w;

    p->is_reading = false;
    p->starts = (struct work_queue){0};
    /* A version that was published meanwhile is newer than what was read. */
    if (p->version == 0)
        p->version = l->version;
    while ((w = work_pop(&starts)) != NULL) {
        struct node_request *r = w->request;
        if (p->version != 0) {
            if (r->version == 0)
                r->version = p->version;
            request_start(n, w);
            continue;
        }
        work_free(n, w);
        request_refuse(n, r, load->err.code, "%pS", ERR_ARG(&load->err));
    }
    if (l->forgotten != n->published->forgotten)
        p->version = 0; /* it may be older than what was published meanwhile */
    load_free(load);
    /* Codes that nobody has published would fill the memory. */
    if (p->version == 0 && !p->is_reading) {
        (void)map_remove(&n->published->by_code, p->code);
        free(p);
    }
}

struct published *published_get(struct node *n, struct str code)
{
    struct published *p = map_get(&n->published->by_code, code);

    if (p != NULL)
        return p;
    p = alloc_zeroed(sizeof(*p) + code.len);
    memcpy(p->text, code.ptr, code.len);
    p->code = str_from(p->text, code.len);
    map_put(&n->published->by_code, p->code, p);
    return p;
}

void published_load(struct node *n, struct published *p)
{
    struct published_load *l;

    if (p->is_reading)
        return;
    p->is_reading = true;
    l = LOAD_NEW(n, struct published_load, run_published, done_published);
    l->published = p;
    l->forgotten = n->published->forgotten;
    load_send(&l->load);
}

void published_forget(struct node *n)
{
    n->published->forgotten++;
    for (struct map_entry *e = map_next(&n->published->by_code, NULL); e != NULL;
         e = map_next(&n->published->by_code, e))
        ((struct published *)e->ptr)->version = 0;
}

void published_free(struct node *n)
{
    for (struct map_entry *e = map_next(&n->published->by_code, NULL); e != NULL;
         e = map_next(&n->published->by_code, e))
        free(e->ptr);
}
