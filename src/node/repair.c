/*
 * repair.c - what operators ask for: retry, skip, migrate; see repair.h.
 *
 * Another version is another program, which may have to be read first. The
 * work leaves the queue of its execution meanwhile and comes back to it, so
 * that what else is asked of the execution is not held up.
 *
 *     first of its entry --version not at hand--> program_ref.moves
 *          ^                                            |
 *          +--------------- program ready --------------+--> refused: no such version
 */
#include "node/repair.h"

#include "define/define.h"
#include "define/program.h"
#include "engine/advance.h"
#include "engine/execution.h"
#include "node/cache/entry.h"
#include "node/cache/program.h"
#include "node/work.h"
#include "node/work_request.h"

bool repair_is(enum event_kind kind)
{
    return kind == EVENT_RETRY || kind == EVENT_SKIP || kind == EVENT_MIGRATE;
}

/* The version that was asked for cannot be gone on with. */
static void explain(struct node_request *r, const struct program_ref *ref, struct err *err)
{
    *err = ref->err;
    if (err->code != ERR_NOT_FOUND && err->code != ERR_INVALID)
        return; /* the store could not be read */
    err->code = ERR_INVALID;
    r->findings = (struct findings){0};
    *VEC_ADD(r->mem, &r->findings) =
        (struct finding){.pointer = STR("/version"),
                         .code = STR("unknown_version"),
                         .message = sentence_copy(r->mem, err_sentence(err))};
}

/* The input as the version takes it that the execution is to go on with. */
static bool check_input(struct node_request *r, const struct program *p, struct work *w,
                        struct err *err)
{
    if (r->event.kind != EVENT_RETRY || r->event.input.kind == VALUE_ABSENT)
        return true;
    r->findings = (struct findings){0};
    define_check_input(r->mem, p, r->event.input, &w->input, &r->findings);
    if (!findings_have_errors(&r->findings))
        return true;
    return err_set(err, ERR_INVALID, "the input is not what '%.*s' takes", STR_ARG(p->code));
}

enum repair_state repair_prepare(struct node *n, const struct entry *e, struct work *w,
                                 struct err *err)
{
    struct node_request *r = w->request;
    const struct program *p = e->x->program;

    ASSERT(r->event.kind != EVENT_MIGRATE || r->version > 0);
    if (!engine_may_repair(e->x, r->event.kind, err))
        return REPAIR_REFUSED;
    if (r->version > 0 && w->program == NULL) {
        struct program_ref *ref = program_get(n, p->code, r->version);

        if (ref->state == PROGRAM_LOADING)
            return REPAIR_WAITS;
        ASSERT(ref->state == PROGRAM_READY); /* others are not kept */
        program_hold(n, &w->program, ref);
    }
    if (w->program != NULL)
        p = w->program->program;
    return check_input(r, p, w, err) ? REPAIR_READY : REPAIR_REFUSED;
}

void repair_wait(struct node *n, const struct entry *e, struct work *w)
{
    struct program_ref *ref = program_get(n, e->x->program->code, w->request->version);

    ASSERT(ref->state == PROGRAM_LOADING);
    w->entry = NULL; /* it may be gone before the program has come */
    work_push(&ref->moves, w);
}

void repair_program_come(struct node *n, struct program_ref *ref)
{
    struct work *w;
    struct err err;

    while ((w = work_pop(&ref->moves)) != NULL) {
        struct node_request *r = w->request;

        if (ref->state == PROGRAM_READY) {
            program_hold(n, &w->program, ref);
            entry_queue(n, entry_get(n, r->execution), w);
            continue;
        }
        explain(r, ref, &err);
        work_free(n, w);
        request_refuse(n, r, err.code, "%pS", ERR_ARG(&err));
    }
}
