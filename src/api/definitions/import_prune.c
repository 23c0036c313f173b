/*
 * import_prune.c - `prune` of an import: what the bundle lacks takes no new starts any more.
 *
 * It is for kinds that can be retired; functions, templates and what belongs to
 * the installation stay. What an item of the bundle uses is kept, with a warning,
 * and so is what that uses in turn: nothing that was just published breaks.
 *
 * why: decision 0491
 */
#include "api/definitions/import.h"
#include "define/facts.h"

/* A definition that the bundle lacks. */
struct lacking {
    const struct stored_definition *stored;
    struct import_item *planned;
    struct value facts;
};

struct prune {
    VEC_OF(struct lacking);
};

static bool bundle_has(const struct import *all, const struct kind_spec *spec, struct str code)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].item.spec == spec && str_eq(all->items[i].item.code, code))
            return true;
    return false;
}

static bool prune_find(struct lookup *q, struct reader *reader, struct import *all,
                       const struct kind_spec *spec, struct prune *out, struct err *err)
{
    struct stored_definitions *stored = ARENA_NEW(q->mem, struct stored_definitions);

    if (!read_published(reader, q->mem, str_of(spec->name), stored, err))
        return false;
    for (size_t i = 0; i < stored->count; i++) {
        const struct stored_definition *d = &stored->items[i];
        struct value definition;

        if (bundle_has(all, spec, d->code))
            continue;
        if (!definitions_value(q->mem, spec, d->text, &definition, err))
            return false;
        *VEC_ADD(q->mem, out) = (struct lacking){.stored = d,
                                                 .planned = ARENA_NEW(q->mem, struct import_item),
                                                 .facts = facts_of(q->mem, definition)};
        *out->items[out->count - 1].planned =
            (struct import_item){.item = {.spec = spec, .code = d->code, .text = d->text},
                                 .is_usable = true,
                                 .plan = PLAN_RETIRE,
                                 .version = d->version,
                                 .changes_json = STR("[]")};
        *VEC_ADD(q->mem, &all->pruned) = out->items[out->count - 1].planned;
    }
    return true;
}

/* Keep those that a definition uses; *grew when there are any that were to go. */
static void prune_keep_used(struct lookup *q, const struct prune *all, struct str by,
                            struct value facts, bool *grew)
{
    for (size_t i = 0; i < all->count; i++) {
        struct import_item *item = all->items[i].planned;
        const struct kind_spec *spec = item->item.spec;

        if (item->plan != PLAN_RETIRE ||
            !facts_use(facts, spec->use == KIND_PROCESS ? "process" : spec->name, item->item.code))
            continue;
        item->plan = PLAN_UNCHANGED;
        *grew = true;
        import_warn(q->mem, item, "still_used",
                    sentence_make(q->mem,
                                  "the %s '%.*s' is not in the bundle and stays: '%.*s' uses it",
                                  spec->name, STR_ARG(item->item.code), STR_ARG(by)));
    }
}

bool import_plan_prune(struct lookup *q, struct reader *reader, struct import *all, struct err *err)
{
    struct prune lacking = {0};
    bool grew = false;

    for (unsigned k = 0; k < KIND_COUNT; k++) {
        const struct kind_spec *spec = kind_spec((enum kind)k);

        if (spec->life == KIND_STAGED && !prune_find(q, reader, all, spec, &lacking, err))
            return false;
    }
    for (size_t i = 0; i < all->count; i++)
        prune_keep_used(q, &lacking, all->items[i].item.code,
                        facts_of(q->mem, all->items[i].item.definition), &grew);
    while (grew) {
        grew = false;
        for (size_t i = 0; i < lacking.count; i++)
            if (lacking.items[i].planned->plan == PLAN_UNCHANGED)
                prune_keep_used(q, &lacking, lacking.items[i].stored->code, lacking.items[i].facts,
                                &grew);
    }
    return true;
}
