/*
 * repair.c - what operators ask for: retry, skip, migrate; see inner.h.
 *
 * Another version is another program, which may have to be read first. The
 * work leaves the queue of its execution meanwhile and comes back to it, so
 * that what else is asked of the execution is not held up.
 *
 *     first of its entry --version not at hand--> program_ref.moves
 *          ^                                            |
 *          +--------------- program ready --------------+--> refused: no such version
 */
#include "node/inner.h"

bool repair_is(enum node_request_kind kind)
{
    return kind == NODE_RETRY || kind == NODE_SKIP || kind == NODE_MIGRATE;
}

enum event_kind repair_event(enum node_request_kind kind)
{
    ASSERT(repair_is(kind));
    return kind == NODE_RETRY ? EVENT_RETRY : kind == NODE_SKIP ? EVENT_SKIP : EVENT_MIGRATE;
}

/* The version that was asked for cannot be gone on with. */
static void explain(struct node_request *r, const struct program_ref *ref, struct err *err)
{
    *err = ref->err;
    if (err->code != ERR_NOT_FOUND && err->code != ERR_INVALID)
        return; /* the store could not be read */
    (void)err_set(err, ERR_INVALID, "%s", ref->err.message);
    r->findings = (struct findings){0};
    *VEC_ADD(r->mem, &r->findings) =
        (struct finding){.pointer = STR("/version"),
                         .code = STR("unknown_version"),
                         .message = str_copy(r->mem, str_of(err->message))};
}

/* The input as the version takes it that the execution is to go on with. */
static bool check_input(struct node_request *r, const struct program *p, struct work *w,
                        struct err *err)
{
    if (r->kind != NODE_RETRY || r->input.kind == VALUE_ABSENT)
        return true;
    r->findings = (struct findings){0};
    define_check_input(r->mem, p, r->input, &w->input, &r->findings);
    if (!findings_have_errors(&r->findings))
        return true;
    return err_set(err, ERR_INVALID, "the input is not what '%.*s' takes", STR_ARG(p->code));
}

enum repair_state repair_prepare(struct node *n, const struct entry *e, struct work *w,
                                 struct err *err)
{
    struct node_request *r = w->request;
    const struct program *p = e->x->program;

    ASSERT(r->kind != NODE_MIGRATE || r->version > 0);
    if (!engine_may_repair(e->x, repair_event(r->kind), err))
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
        request_refuse(n, r, err.code, "%s", err.message);
    }
}
