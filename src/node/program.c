/* program.c - compiled programs, and which version of a process is published; see inner.h. */
#include "node/inner.h"

#include "value/json.h"

#include <stdio.h>
#include <stdlib.h>

/* --- programs --- */

/* What expressions may name: the roots, and the functions if there are any. */
static bool program_env(struct node *n, struct reader *reader, struct arena *mem,
                        struct function_list *functions, const struct cel_env **out,
                        struct err *err)
{
    struct stored_definitions all;

    if (!read_newest(reader, mem, STR("function"), &all, err))
        return false;
    *out = n->env;
    if (all.count == 0)
        return true;
    for (size_t i = 0; i < all.count; i++) {
        struct function *f = VEC_ADD(mem, functions);
        *f = (struct function){.name = all.items[i].code};
        if (!json_read(mem, all.items[i].text, &f->definition, err))
            return false;
    }
    *out = functions_compile(mem, n->env, functions->items, functions->count, NULL).definitions;
    return true;
}

/* Where a program finds the procedures that it names: what is published now. */
struct published_procedures {
    struct reader *reader;
    bool ok;
    struct err err;
};

static bool find_procedure(void *context, struct arena *mem, struct str code,
                           struct registered *out)
{
    struct published_procedures *p = context;
    struct stored_definition d;
    bool found = false;

    p->ok =
        p->ok && read_definition(p->reader, mem, STR("procedure"), code, -1, &d, &found, &p->err);
    if (!p->ok || !found)
        return false;
    out->version = d.version;
    return json_read(mem, d.text, &out->definition, &p->err);
}

bool program_read(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                  int64_t version, struct program_read *out, struct err *err)
{
    struct stored_definition d;
    struct findings findings = {0};
    struct published_procedures procedures = {.reader = reader, .ok = true};
    const struct registry registry = {.procedure = find_procedure, .context = &procedures};
    const struct cel_env *env;
    struct value definition;
    bool found;

    *out = (struct program_read){.state = PROGRAM_MISSING};
    if (!read_definition_stamp(reader, &out->stamp, err) ||
        !read_definition(reader, mem, STR("scenario"), code, version, &d, &found, err))
        return false;
    if (!found)
        return true;
    if (!program_env(n, reader, mem, &out->functions, &env, err))
        return false;
    out->state = PROGRAM_BROKEN;
    if (!json_read(mem, d.text, &definition, err))
        return true;
    define_compile(mem, env, &registry, DEFINE_SCENARIO, definition, d.version, &findings,
                   &out->program);
    /* A store that could not be read says nothing about the definition. */
    if (!procedures.ok) {
        program_read_release(out);
        *err = procedures.err;
        return false;
    }
    if (out->program != NULL)
        out->state = PROGRAM_READY;
    else
        err_set(err, ERR_INVALID, "version %lld of '%.*s' does not compile", (long long)d.version,
                STR_ARG(code));
    return true;
}

void program_read_release(struct program_read *read)
{
    if (read->program != NULL)
        program_release(read->program);
    functions_release(read->functions.items, read->functions.count);
    *read = (struct program_read){0};
}

static void run_program(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct program_ref *ref = l->program.ref;

    l->ok = program_read(l->node, reader, &ref->mem, ref->code, ref->version, &l->program.read,
                         &l->err);
}

static void program_free(struct program_ref *ref)
{
    program_read_release(&ref->read);
    arena_fini(&ref->mem);
    free(ref);
}

static void done_program(struct node_read *read)
{
    struct load *l = read->owner, *waiting;
    struct node *n = l->node;
    struct program_ref *ref = l->program.ref;
    struct work *w;

    if (l->ok)
        config_expect(n, l->program.read.stamp);
    ref->err = l->err;
    ref->state = l->ok ? l->program.read.state : PROGRAM_BROKEN;
    ref->read = l->program.read;
    ref->program = ref->read.program;
    if (ref->state == PROGRAM_MISSING)
        err_set(&ref->err, ERR_NOT_FOUND, "there is no version %lld of '%.*s'",
                (long long)ref->version, STR_ARG(ref->code));
    load_free(l);
    while ((waiting = ref->loads) != NULL) {
        ref->loads = waiting->next_for_program;
        load_restore(waiting);
    }
    while ((w = work_pop(&ref->starts)) != NULL)
        request_start(n, w);
    repair_program_come(n, ref);
    /* What could not be loaded is asked for again the next time. */
    if (ref->state != PROGRAM_READY) {
        (void)map_remove(&n->programs, ref->key);
        program_free(ref);
    }
}

struct program_ref *program_get(struct node *n, struct str code, int64_t version)
{
    char key[256];
    int len = snprintf(key, sizeof(key), "%.*s@%lld#%lld", STR_ARG(code), (long long)version,
                       (long long)n->function_epoch);
    struct program_ref *ref;
    struct load *l;

    ASSERT(len > 0 && (size_t)len < sizeof(key));
    ref = map_get(&n->programs, str_from(key, (size_t)len));
    if (ref != NULL)
        return ref;
    ref = calloc(1, sizeof(*ref));
    if (ref == NULL)
        PANIC("out of memory");
    arena_init(&ref->mem);
    ref->key = str_copy(&ref->mem, str_from(key, (size_t)len));
    ref->code = str_copy(&ref->mem, code);
    ref->version = version;
    ref->state = PROGRAM_LOADING;
    map_put(&n->programs, ref->key, ref);
    l = load_new(n, run_program, done_program);
    l->program.ref = ref;
    load_send(l);
    return ref;
}

/* --- which version is published --- */

static void run_published(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct stored_definition d;
    bool found;

    l->ok = read_definition(reader, &l->mem, STR("scenario"), l->published.published->code, -1, &d,
                            &found, &l->err);
    l->published.version = l->ok && found ? d.version : 0;
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
            r->version = p->version;
            request_start(n, w);
            continue;
        }
        work_free(n, w);
        if (l->ok)
            request_refuse(n, r, ERR_NOT_FOUND, "no process '%.*s' is published", STR_ARG(r->code));
        else
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

void programs_free(struct node *n)
{
    struct map_entry *e;

    for (e = map_next(&n->programs, NULL); e != NULL; e = map_next(&n->programs, e))
        program_free(e->ptr);
    for (e = map_next(&n->published, NULL); e != NULL; e = map_next(&n->published, e))
        free(e->ptr);
}
