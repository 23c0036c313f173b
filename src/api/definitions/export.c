/*
 * export.c - GET /export: what is published, as a bundle that POST /import takes.
 *
 * An item is {kind, code, text}: the definition as it was sent, as a string, so
 * that no byte of it depends on what is around it. Items are in the order of
 * the kinds, and of codes within a kind; versions and times are left out. So an
 * export of an installation that has taken all of it is the same, byte for byte.
 *
 * why: decision 0406
 */
#include "api/definitions/definitions.h"
#include "api/definitions/subscriptions.h"
#include "api/router.h"
#include "define/facts.h"
#include "effect/secret/vault.h"
#include "store/read_definition.h"
#include "value/json.h"
#include "value/object.h"

enum { CODES_MAX = 5000 };

struct export_args {
    struct name_list codes; /* none: everything */
    bool *was_found;        /* of each */
    bool takes_used;        /* and everything that these use */
    struct stored_definitions all[KIND_COUNT];
    bool *is_taken[KIND_COUNT]; /* of each of them */
};

/* A credential without its secret. */
static struct str stub_text(struct arena *mem, struct str stored)
{
    struct value shown;
    bool is_filled;

    if (!vault_shown(mem, stored, &shown,
                     &is_filled)) /* the row is damaged: nothing of it is shown */
        shown = value_map_empty();
    return json_must_text(mem, shown);
}

/* What PUT takes, for kinds that are live; else what was sent, byte for byte. */
static struct str export_text(struct arena *mem, const struct kind_spec *spec,
                              const struct stored_definition *d)
{
    if (spec->kind == KIND_CREDENTIAL)
        return stub_text(mem, d->text);
    if (spec->kind == KIND_SUBSCRIPTION)
        return subscriptions_shown(mem, d->text, false);
    if (spec->kind == KIND_CONFIG)
        return str_printf(mem, "{\"value\":%.*s}", STR_ARG(d->text));
    return d->text;
}

/* --- which of them --- */

/* By the codes that were asked for. */
static void take_named(struct export_args *args, enum kind kind, size_t i)
{
    bool is = args->codes.count == 0;

    for (size_t k = 0; k < args->codes.count; k++)
        if (str_eq(args->codes.items[k], args->all[kind].items[i].code))
            is = args->was_found[k] = true;
    args->is_taken[kind][i] = is;
}

/* Whether `uses` of a definition names the one with that kind and code. */
static bool is_used(struct value facts, const struct kind_spec *spec, struct str code)
{
    return facts_use(facts, spec->use == KIND_PROCESS ? "process" : spec->name, code);
}

/* Take what a definition names; *grew when that is more than was taken already. */
static void take_used(struct export_args *args, struct value facts, bool *grew)
{
    for (unsigned k = 0; k < KIND_COUNT; k++)
        for (size_t i = 0; i < args->all[k].count; i++)
            if (!args->is_taken[k][i] &&
                is_used(facts, kind_spec((enum kind)k), args->all[k].items[i].code))
                args->is_taken[k][i] = *grew = true;
}

/* Until nothing more is named: what is used uses others. */
static bool take_closure(struct lookup *q, struct export_args *args, struct err *err)
{
    bool *is_done[KIND_COUNT], grew = true;

    for (unsigned k = 0; k < KIND_COUNT; k++)
        is_done[k] = arena_zalloc(q->mem, args->all[k].count + 1);
    while (grew) {
        grew = false;
        for (unsigned k = 0; k < KIND_COUNT; k++)
            for (size_t i = 0; i < args->all[k].count; i++) {
                struct value v;

                if (!args->is_taken[k][i] || is_done[k][i])
                    continue;
                is_done[k][i] = true;
                if (!json_read(q->mem, args->all[k].items[i].text, &v, err))
                    return false;
                take_used(args, facts_of(q->mem, v), &grew);
            }
    }
    return true;
}

static bool read_all_published(struct lookup *q, struct reader *reader, struct export_args *args,
                               struct err *err)
{
    for (unsigned k = 0; k < KIND_COUNT; k++) {
        if (!read_published(reader, q->mem, str_of(kind_spec((enum kind)k)->name), &args->all[k],
                            err))
            return false;
        args->is_taken[k] = arena_zalloc(q->mem, args->all[k].count + 1);
        for (size_t i = 0; i < args->all[k].count; i++)
            take_named(args, (enum kind)k, i);
    }
    return !args->takes_used || take_closure(q, args, err);
}

/* --- the answer --- */

static bool write_kind(struct lookup *q, const struct export_args *args,
                       const struct kind_spec *spec, struct err *err)
{
    const struct stored_definitions *all = &args->all[spec->kind];

    for (size_t i = 0; i < all->count; i++) {
        if (!args->is_taken[spec->kind][i])
            continue;
        object_item(&q->answer);
        object_text(&q->answer, "kind", str_of(spec->name));
        object_text(&q->answer, "code", all->items[i].code);
        object_text(&q->answer, "text", export_text(q->mem, spec, &all->items[i]));
        buf_char(&q->answer, '}');
        if (q->answer.len > ROUTE_BUNDLE_BYTES)
            return err_set(err, ERR_TOO_LARGE,
                           "this is more than the %d MiB that an import takes: name some of it, "
                           "codes=a,b",
                           ROUTE_BUNDLE_BYTES >> 20);
    }
    return true;
}

static bool run_export(struct lookup *q, struct reader *reader, struct err *err)
{
    struct export_args *args = q->args;

    if (!read_all_published(q, reader, args, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (unsigned i = 0; i < KIND_COUNT; i++)
        if (!write_kind(q, args, kind_spec((enum kind)i), err))
            return false;
    buf_text(&q->answer, "]}");
    for (size_t i = 0; i < args->codes.count; i++)
        if (!args->was_found[i])
            return err_set(err, ERR_NOT_FOUND, "nothing is published as '%.*s'",
                           STR_ARG(args->codes.items[i]));
    return true;
}

void export_get(struct call *c)
{
    struct export_args *args = ARENA_NEW(c->mem, struct export_args);
    struct str codes = http_query(c->http, "codes"), code = http_query(c->http, "code");

    if (codes.len > 0 && code.len > 0) {
        call_refuse_text(c, ERR_BAD_REQUEST, "code or codes, not both");
        return;
    }
    args->takes_used = code.len > 0;
    codes = code.len > 0 ? code : codes;
    while (codes.len > 0 && args->codes.count < CODES_MAX) {
        struct str one = str_trim(str_cut(&codes, ','));

        if (one.len > 0)
            *VEC_ADD(c->mem, &args->codes) = one;
    }
    args->was_found = arena_zalloc(c->mem, args->codes.count + 1);
    lookup_start(c, args, run_export, NULL);
}
