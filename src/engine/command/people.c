/*
 * people.c - waits of people: in whose inbox one is, who may answer it, and
 * giving it to somebody else; see wait.h.
 *
 * An answer names the wait that it is for and the keys of who gives it. So it
 * is decided here, on the state that the answer meets, whether that person may
 * still answer: somebody else may have answered, or been given it, meanwhile.
 */
#include "define/assignee.h"
#include "define/define.h"
#include "engine/actions.h"
#include "engine/command/command.h"
#include "engine/command/wait.h"
#include "engine/commit/link.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

enum { TOLD_BYTES_MAX = 64 << 10 }; /* the facts and the consequences of one question */

#define ASSIGNEE_WANTED "must be a user id, an e-mail address, \"group:name\", or a list of these"

static bool evaluate_assignee(struct turn *t, const struct command *c)
{
    struct value v, keys;

    if (!command_field(t, c, FIELD_ASSIGNEE, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (!assignee_read(t->mem, v, &keys))
        return turn_fail(t, STR("validation_assignee"), ERR_CLASS_BUSINESS,
                         "'assignee' " ASSIGNEE_WANTED) == STEP_DONE;
    return turn_json(t, keys, &t->x->cursor.assignees_json);
}

/* What is shown beside the question: a list, as JSON. False: the step has failed. */
static bool evaluate_told(struct turn *t, const struct command *c, enum command_field field,
                          struct str *out)
{
    struct value v;

    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (!turn_json(t, v, out))
        return false;
    if (t->x->cursor.show_json.len + t->x->cursor.then_json.len <= TOLD_BYTES_MAX)
        return true;
    return turn_fail(t, STR("limit_show"), ERR_CLASS_BUSINESS,
                     "what 'show' and 'then' tell is larger than %d bytes",
                     TOLD_BYTES_MAX) == STEP_DONE;
}

bool people_begin(struct turn *t, const struct command *c)
{
    struct cursor *cursor = &t->x->cursor;
    struct value title;

    cursor->assignees_json = cursor->title = cursor->show_json = cursor->then_json = STR_NONE;
    if (!evaluate_assignee(t, c))
        return false;
    /* Nobody else is shown it. */
    if (cursor->assignees_json.len == 0 && !c->wait->is_public &&
        c->wait->reminder.procedure == NULL)
        return true;
    if (!command_field(t, c, FIELD_TITLE, &title) ||
        !evaluate_told(t, c, FIELD_SHOW, &cursor->show_json) ||
        !evaluate_told(t, c, FIELD_THEN, &cursor->then_json))
        return false;
    if (title.kind == VALUE_STRING)
        cursor->title = str_copy(t->mem, value_text(title));
    else if (title.kind != VALUE_ABSENT)
        return turn_json(t, title, &cursor->title);
    return true;
}

void people_leave(struct turn *t, const struct command *c)
{
    if (c->wait != NULL && c->wait->is_public)
        link_spend(t->mem, t->x);
}

void people_answered(struct turn *t, struct value by)
{
    const struct cursor *cursor = &t->x->cursor;
    const struct command *c = &turn_step(t)->procedure->commands[0];
    struct wait_answer answer = {
        .seq = t->out->history.items[t->out->history.count - 1].seq,
        .step = turn_code(t),
        .visit = cursor->visit,
        .title = cursor->title,
        .user_id = value_map_text(by, STR("id")),
    };

    if (by.kind != VALUE_MAP || c->type != COMMAND_WAIT_SIGNAL ||
        (cursor->assignees_json.len == 0 && !c->wait->is_public))
        return;
    if (!turn_json(t, by, &answer.by_json))
        PANIC("who sent a signal was read from JSON");
    *VEC_ADD(t->mem, &t->out->answers) = answer;
}

/* Whether the link of the event was made for the current wait and is not spent. */
static bool is_by_link(struct turn *t)
{
    const struct execution *x = t->x;
    const struct link *link = t->ev->answer_to->link;
    struct value scopes;
    bool is_genuine = false;

    if (t->ev->links == NULL || !turn_step(t)->procedure->commands[0].wait->is_public ||
        link->seq < link_floor(x, x->frames, x->frame_count))
        return false;
    scopes = link_scopes(t->mem, x->program, x->frames, x->frame_count);
    for (uint32_t i = 0; i < scopes.len; i++)
        is_genuine |= link_is_genuine(t->ev->links, link, value_text(scopes.items[i]));
    return is_genuine;
}

bool people_may_answer(struct turn *t, struct err *err)
{
    struct value assignees = turn_read(t, t->x->cursor.assignees_json, value_null());

    if (t->ev->answer_to->link != NULL) {
        if (!is_by_link(t))
            return err_set(err, ERR_CONFLICT, "it waits for no answer any more");
    } else if (!assignee_is_among(t->ev->answer_to->keys, assignees)) {
        return err_set(err, ERR_NOT_FOUND, "there is nothing with this id in your inbox");
    }
    if (!wait_is_for(t, turn_step(t)))
        return err_set(err, ERR_INVALID, "it does not wait for a signal of this type");
    return true;
}

/* --- giving it to somebody else --- */

/* The one wait for a signal that the event names; NULL after an error. */
static const struct cursor *find_named(const struct turn *t, struct err *err)
{
    const struct cursor *found = NULL;

    for (uint32_t i = 0; i < execution_strands(t->x); i++) {
        const struct cursor *c = execution_cursor(t->x, i);

        if (c->phase != PHASE_WAIT || c->types_json.len == 0 || c->deferred_seq > 0 ||
            (t->ev->from.len > 0 && !str_eq(t->ev->from, t->x->program->steps[c->step].code)) ||
            (t->ev->visit > 0 && t->ev->visit != c->visit))
            continue;
        if (found != NULL) {
            (void)err_set(err, ERR_CONFLICT,
                          "it waits at several places: say which step (and visit) is meant");
            return NULL;
        }
        found = c;
    }
    if (found == NULL)
        (void)err_set(err, ERR_CONFLICT,
                      t->ev->from.len > 0 ? "that step does not wait for a signal"
                                          : "it does not wait for a signal");
    return found;
}

static bool refuse_assignee(struct turn *t, struct err *err)
{
    struct sentence message = SENTENCE("assignee " ASSIGNEE_WANTED);

    *VEC_ADD(t->mem, &t->out->findings) =
        (struct finding){.pointer = STR("/assignee"), .code = STR("bad_value"), .message = message};
    return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(message));
}

static void note_assignment(struct turn *t, struct str assignee_json)
{
    struct str by_json;
    struct buf note;

    buf_init_arena(&note, t->mem);
    field_json(&note, "assignee", assignee_json);
    if (t->ev->by.kind == VALUE_MAP && turn_json(t, t->ev->by, &by_json))
        field_json(&note, "by", by_json);
    turn_note(t, "assign", field_end(&note));
}

bool people_assign(struct turn *t, struct err *err)
{
    struct str assignee_json, keys_json;
    const struct cursor *named;
    struct value keys;

    if (!assignee_read(t->mem, t->ev->assignee, &keys))
        return refuse_assignee(t, err);
    if (!turn_json(t, keys, &keys_json) || !turn_json(t, t->ev->assignee, &assignee_json))
        PANIC("what was read from JSON has no JSON form");
    named = find_named(t, err);
    if (named == NULL)
        return false;
    (void)strand_take_visit(t, named);
    t->x->cursor.assignees_json = keys_json;
    wait_describe_more(t, STR("assignee"), turn_read(t, assignee_json, value_null()));
    step_row(t, HISTORY_EVENT, action_row(ACTION_ASSIGN))->input_json = STR_NONE;
    note_assignment(t, assignee_json);
    return true;
}
