/*
 * program_read.c - a version of a process is read and compiled, on a reader
 * thread, with the procedures and functions that it names; see program.h.
 */
#include "base/digest.h"
#include "define/define.h"
#include "define/facts.h"
#include "define/kind.h"
#include "define/program.h"
#include "node/cache/program.h"
#include "node/inner.h"
#include "node/work.h"
#include "store/read_definition.h"
#include "value/json.h"

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
    out->rules = facts_rules(mem, d.facts);
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
static bool compile_definition(struct node *n, struct source *from, struct arena *mem,
                               const struct stored_definition *d, struct program_read *out,
                               struct err *err)
{
    const struct registry registry = {.procedure = find_procedure,
                                      .context = from,
                                      .is_stored = true,
                                      .rules = facts_rules(mem, d->facts)};
    const struct kind_spec *kind = kind_named(d->kind);
    struct findings findings = {0};
    const struct cel_env *env;
    struct value definition;

    if (!program_env(n, from, mem, &out->functions, &env, err))
        return false;
    out->state = PROGRAM_BROKEN;
    if (!json_read(mem, d->text, &definition, err))
        return true;
    ASSERT(kind != NULL && kind->use == KIND_PROCESS);
    define_compile(mem, env, &registry, kind->kind, definition, d->version, &findings,
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
        !read_process(reader, mem, code, version, &d, &found, err))
        return false;
    if (!found)
        return true;
    if (snapshot.len > 0) {
        if (!read_pins(reader, mem, snapshot, &pins, err))
            return false;
        from.pins = &pins;
    }
    return compile_definition(n, &from, mem, &d, out, err);
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
