/*
 * definitions_retire.c - taking a definition out of use: retiring it, taking
 * that back, and deleting it.
 *
 *     published <--retire, unretire--> retired        either --delete--> gone
 *
 * A process that is retired takes no new starts, and its executions go on. A
 * procedure can be retired, as it can be deleted, when nothing that is
 * published names it. Deleting asks in the same transaction whether an
 * execution rests on it.
 */
#include "api/definitions/definitions.h"
#include "store/read_definition.h"
#include "value/object.h"

struct retirement {
    struct definition_item item;
    enum definition_action action;
};

/* Functions and config that it names may have gone while it was retired. */
static bool is_still_valid(struct lookup *q, struct reader *reader,
                           const struct definition_item *item, struct str text, struct err *err)
{
    struct definition_item now = *item;
    struct world w;

    now.text = text;
    if (!definitions_value(q->mem, item->spec, text, &now.definition, err) ||
        !definitions_world(reader, q->mem, &w, err))
        return false;
    definitions_add(&w, &now);
    world_open(&w);
    w.checks_stored = true;
    world_check(&w, item->spec->kind, item->code, now.definition, &q->findings);
    world_close(&w);
    if (!findings_have_errors(&q->findings))
        return true;
    return err_set(err, ERR_INVALID, "it is not valid any more: publish a version that is");
}

/* On a reader thread: who uses it. An unused process may be retired whoever starts it. */
static bool retire_run_look(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct retirement *t = q->args;
    struct stored_definition now;
    bool found;

    if (!read_definition(reader, q->mem, str_of(t->item.spec->name), t->item.code, -1, &now, &found,
                         err))
        return false;
    if (t->action == DEFINITION_UNRETIRE)
        return !found || is_still_valid(q, reader, &t->item, now.text, err);
    return (t->action == DEFINITION_RETIRE && t->item.spec->use == KIND_PROCESS) ||
           definitions_unused(reader, q->mem, t->item.spec, t->item.code, err);
}

static struct str retired_json(struct arena *mem, const struct definition_change *d,
                               int32_t *status)
{
    struct buf out;

    *status = 200;
    object_begin(&out, mem);
    object_text(&out, "code", d->code);
    if (d->action == DEFINITION_ERASE) {
        object_bool(&out, "deleted", true);
    } else {
        object_int(&out, "version", d->version);
        object_bool(&out, "retired", d->action == DEFINITION_RETIRE);
    }
    return object_end(&out);
}

static void retirement_done(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok && r->err.code == ERR_NOT_FOUND)
        call_refuse_text(c, ERR_NOT_FOUND, "there is no %s of this code",
                         definitions_kind(c)->name);
    else
        definitions_answer(r, false);
}

static void retirement_submit(struct lookup *q)
{
    const struct retirement *t = q->args;
    struct node_request *r = definitions_request(q->call, &t->item, t->action, retirement_done);

    if (r == NULL)
        return;
    r->definitions->answer = retired_json;
    call_submit(q->call, r);
}

static void retirement_start(struct call *c, enum definition_action action)
{
    struct retirement *t = ARENA_NEW(c->mem, struct retirement);

    t->item.spec = definitions_kind(c);
    t->item.code = c->params[0];
    t->action = action;
    if (!kind_allows_name(t->item.spec, t->item.code))
        call_refuse_text(c, ERR_NOT_FOUND, "there is no %s of this code", t->item.spec->name);
    else if (action == DEFINITION_ERASE || call_body(c, NULL, 0))
        lookup_start(c, t, retire_run_look, retirement_submit);
}

void definitions_retire(struct call *c)
{
    retirement_start(c, DEFINITION_RETIRE);
}

void definitions_unretire(struct call *c)
{
    retirement_start(c, DEFINITION_UNRETIRE);
}

void definitions_erase(struct call *c)
{
    retirement_start(c, DEFINITION_ERASE);
}
