/* program.c - compiled programs, and which version of a process is published; see inner.h. */
#include "node/inner.h"

#include "define/pins.h"
#include "store/digest.h"
#include "value/json.h"
#include "value/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEY_MAX = 256 }; /* of a program: its code, its version and a digest */

/* --- programs --- */

/* Where a program finds what it names: what is published now, or what is pinned. */
struct source {
    struct reader *reader;
    const struct pins *pins; /* NULL: now */
    bool ok;                 /* the store could be read; else `err` */
    struct err err;
};

static bool add_function(struct arena *mem, const struct stored_definition *d,
                         struct function_list *functions, struct err *err)
{
    struct function *f = VEC_ADD(mem, functions);

    *f = (struct function){.name = d->code, .version = d->version};
    return json_read(mem, d->text, &f->definition, err);
}

static bool read_functions(const struct source *from, struct arena *mem,
                           struct function_list *functions, struct err *err)
{
    struct stored_definitions all;
    bool found;

    if (from->pins == NULL) {
        if (!read_newest(from->reader, mem, STR("function"), &all, err))
            return false;
        for (size_t i = 0; i < all.count; i++)
            if (!add_function(mem, &all.items[i], functions, err))
                return false;
        return true;
    }
    for (size_t i = 0; i < from->pins->functions.count; i++) {
        const struct pinned *pin = &from->pins->functions.items[i];
        struct stored_definition d;

        if (!read_definition(from->reader, mem, STR("function"), pin->name, pin->version, &d,
                             &found, err) ||
            (found && !add_function(mem, &d, functions, err)))
            return false;
    }
    return true;
}

/* What expressions may name: the roots, and the functions if there are any. */
static bool program_env(struct node *n, const struct source *from, struct arena *mem,
                        struct function_list *functions, const struct cel_env **out,
                        struct err *err)
{
    if (!read_functions(from, mem, functions, err))
        return false;
    *out = n->env;
    if (functions->count > 0)
        *out = functions_compile(mem, n->env, functions->items, functions->count, NULL).definitions;
    return true;
}

static bool find_procedure(void *context, struct arena *mem, struct str code,
                           struct registered *out)
{
    struct source *from = context;
    int64_t version = from->pins == NULL ? -1 : pins_version(&from->pins->procedures, code);
    struct stored_definition d;
    bool found = false;

    from->ok = from->ok && (version == 0 || read_definition(from->reader, mem, STR("procedure"),
                                                            code, version, &d, &found, &from->err));
    if (!from->ok || !found)
        return false;
    out->version = d.version;
    return json_read(mem, d.text, &out->definition, &from->err);
}

/* The pins of a snapshot. */
static bool read_pins(struct reader *reader, struct arena *mem, struct str snapshot,
                      struct pins *out, struct err *err)
{
    struct str text;
    bool found;

    if (!read_snapshot(reader, mem, snapshot, &text, &found, err))
        return false;
    return found ? pins_read(mem, text, out, err)
                 : err_set(err, ERR_INTERNAL, "the snapshot %.*s is missing", STR_ARG(snapshot));
}

/* The program with the snapshot that executions which begin with it pin. */
static const struct program *with_snapshot(struct arena *mem, const struct program *p,
                                           const struct function_list *functions)
{
    struct program *own;
    struct pins pins;

    pins_collect(mem, p, functions->items, functions->count, &pins);
    if (pins_are_empty(&pins))
        return p;
    own = ARENA_NEW(mem, struct program);
    *own = *p;
    own->pins_json = pins_write(mem, &pins);
    own->snapshot = digest_hex(mem, own->pins_json);
    return own;
}

/* A version that was found, with what it names. */
static bool compile(struct node *n, struct source *from, struct arena *mem,
                    const struct stored_definition *d, struct program_read *out, struct err *err)
{
    const struct registry registry = {.procedure = find_procedure, .context = from};
    struct findings findings = {0};
    const struct cel_env *env;
    struct value definition;

    if (!program_env(n, from, mem, &out->functions, &env, err))
        return false;
    out->state = PROGRAM_BROKEN;
    if (!json_read(mem, d->text, &definition, err))
        return true;
    define_compile(mem, env, &registry, DEFINE_SCENARIO, definition, d->version, &findings,
                   &out->program);
    /* A store that could not be read says nothing about the definition. */
    if (!from->ok) {
        program_read_release(out);
        *err = from->err;
        return false;
    }
    if (out->program == NULL) {
        err_set(err, ERR_INVALID, "version %lld of '%.*s' does not compile", (long long)d->version,
                STR_ARG(d->code));
        return true;
    }
    out->program = with_snapshot(mem, out->program, &out->functions);
    out->state = PROGRAM_READY;
    return true;
}

bool program_read_pinned(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                         int64_t version, struct str snapshot, struct program_read *out,
                         struct err *err)
{
    struct source from = {.reader = reader, .ok = true};
    struct stored_definition d;
    struct pins pins = {0};
    bool found;

    *out = (struct program_read){.state = PROGRAM_MISSING};
    if (!read_definition_stamp(reader, &out->stamp, err) ||
        !read_definition(reader, mem, STR("scenario"), code, version, &d, &found, err))
        return false;
    if (!found)
        return true;
    if (snapshot.len > 0) {
        if (!read_pins(reader, mem, snapshot, &pins, err))
            return false;
        from.pins = &pins;
    }
    return compile(n, &from, mem, &d, out, err);
}

bool program_read(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                  int64_t version, struct program_read *out, struct err *err)
{
    return program_read_pinned(n, reader, mem, code, version, STR_NONE, out, err);
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

    l->ok = program_read_pinned(l->node, reader, &ref->mem, ref->code, ref->version, ref->snapshot,
                                &l->program.read, &l->err);
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

/* What is kept under the key, or else read. */
static struct program_ref *get(struct node *n, struct str key, struct str code, int64_t version,
                               struct str snapshot)
{
    struct program_ref *ref = map_get(&n->programs, key);
    struct load *l;

    if (ref != NULL)
        return ref;
    ref = calloc(1, sizeof(*ref));
    if (ref == NULL)
        PANIC("out of memory");
    arena_init(&ref->mem);
    ref->key = str_copy(&ref->mem, key);
    ref->code = str_copy(&ref->mem, code);
    ref->version = version;
    ref->snapshot = str_copy(&ref->mem, snapshot);
    ref->state = PROGRAM_LOADING;
    map_put(&n->programs, ref->key, ref);
    l = load_new(n, run_program, done_program);
    l->program.ref = ref;
    load_send(l);
    return ref;
}

static struct str now_key(const struct node *n, struct str code, int64_t version,
                          char text[KEY_MAX])
{
    char *end = text + code.len;

    ASSERT(code.len + 2 * (NUMBER_TEXT_MAX + 1) <= KEY_MAX);
    if (code.len > 0)
        memcpy(text, code.ptr, code.len);
    *end++ = '@';
    end += number_write_int(end, version);
    *end++ = '#';
    end += number_write_int(end, n->function_epoch);
    return str_from(text, (size_t)(end - text));
}

struct program_ref *program_get(struct node *n, struct str code, int64_t version)
{
    char text[KEY_MAX];

    return get(n, now_key(n, code, version, text), code, version, STR_NONE);
}

struct program_ref *program_get_pinned(struct node *n, struct str code, int64_t version,
                                       struct str snapshot)
{
    char text[KEY_MAX];
    struct program_ref *now;
    int len;

    if (snapshot.len == 0)
        return program_get(n, code, version);
    /* Most have pinned what is published still. */
    now = map_get(&n->programs, now_key(n, code, version, text));
    if (now != NULL && now->state == PROGRAM_READY && str_eq(now->program->snapshot, snapshot))
        return now;
    len = snprintf(text, sizeof(text), "%.*s@%lld:%.*s", STR_ARG(code), (long long)version,
                   STR_ARG(snapshot));
    ASSERT(len > 0 && len < KEY_MAX);
    return get(n, str_from(text, (size_t)len), code, version, snapshot);
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
