/* export.c - GET /export: what is published, as a bundle that POST /import takes. */
#include "api/definitions/definitions.h"
#include "api/definitions/subscriptions.h"
#include "api/router.h"
#include "effect/secret/vault.h"
#include "store/read_definition.h"
#include "value/json.h"
#include "value/json_text.h"
#include "value/object.h"

enum { CODES_MAX = 5000 };

struct export_args {
    struct name_list codes; /* none: everything */
    bool *was_found;        /* of each */
};

/* Whether it was asked for. */
static bool is_wanted(const struct export_args *args, struct str code)
{
    bool is = args->codes.count == 0;

    for (size_t i = 0; i < args->codes.count; i++)
        if (str_eq(args->codes.items[i], code))
            is = args->was_found[i] = true;
    return is;
}

/* {"kind":"scenario", and then what was written, byte for byte. */
static void write_staged(struct arena *mem, struct buf *out, const struct kind_spec *spec,
                         struct str text)
{
    struct str rest = str_trim(text);

    object_next(out);
    if (json_text_member(mem, text, STR("kind")).len > 0) {
        buf_str(out, rest);
        return;
    }
    buf_printf(out, "{\"kind\":\"%s\",", spec->name);
    buf_str(out, str_slice(rest, 1, rest.len));
}

/* A credential without its secret. */
static struct str stub_text(struct arena *mem, struct str stored)
{
    struct value shown;
    bool is_filled;

    if (!vault_shown(mem, stored, &shown, &is_filled))
        PANIC("what is stored of a credential is no object");
    return json_must_text(mem, shown);
}

static void write_live(struct arena *mem, struct buf *out, const struct kind_spec *spec,
                       const struct stored_definition *d)
{
    struct str text = spec->kind == KIND_CREDENTIAL     ? stub_text(mem, d->text)
                      : spec->kind == KIND_SUBSCRIPTION ? subscriptions_shown(mem, d->text, false)
                                                        : d->text;

    object_item(out);
    object_text(out, "kind", str_of(spec->name));
    object_text(out, spec->key, d->code);
    if (spec->kind == KIND_CONFIG) {
        object_json(out, "value", text);
    } else {
        buf_char(out, ',');
        buf_str(out, str_slice(text, 1, text.len - 1));
    }
    buf_char(out, '}');
}

static bool write_kind(struct lookup *q, struct reader *reader, const struct kind_spec *spec,
                       struct err *err)
{
    struct stored_definitions all;

    if (!read_published(reader, q->mem, str_of(spec->name), &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        if (!is_wanted(q->args, all.items[i].code))
            continue;
        if (spec->life == KIND_LIVE)
            write_live(q->mem, &q->answer, spec, &all.items[i]);
        else
            write_staged(q->mem, &q->answer, spec, all.items[i].text);
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
    const struct export_args *args = q->args;

    buf_text(&q->answer, "{\"items\":[");
    for (unsigned i = 0; i < KIND_COUNT; i++)
        if (!write_kind(q, reader, kind_spec((enum kind)i), err))
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
    struct str codes = http_query(c->http, "codes");

    while (codes.len > 0 && args->codes.count < CODES_MAX) {
        struct str code = str_trim(str_cut(&codes, ','));

        if (code.len > 0)
            *VEC_ADD(c->mem, &args->codes) = code;
    }
    args->was_found = arena_zalloc(c->mem, args->codes.count + 1);
    lookup_start(c, args, run_export, NULL);
}
