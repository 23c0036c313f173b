/*
 * rollback_command.c - rollbacks that commands have of their own; see rollback.h.
 *
 * A row of a step whose procedure has such commands says what they will need:
 *
 *     delta.undo = {done: ["1", "2.1"],        places, in order of completion
 *                   names: {"": {as: result}}, by place of the call; "" the step's own
 *                   inputs: {"2": {...}},      of the calls
 *                   visits: {"1": 1},          of what was done in an earlier visit
 *                   under: {"1": "3"},         ... with an earlier program: former_name()
 *                   maybe: ["2.1"]}            those of `done` that may not have happened
 */
#include "engine/command/ledger.h"
#include "engine/command/procedure.h"
#include "engine/flow/rollback.h"
#include "value/json.h"
#include "value/object.h"

/* --- writing --- */

/* The places of commands with a rollback that are done, or may be; or only of the latter. */
static void write_done(struct turn *t, struct buf *out, bool in_doubt)
{
    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];
        bool is_done = f->kind == FINISHED_MAYBE || (f->kind == FINISHED_RESULT && !in_doubt);

        if (!is_done || f->command->rollback.procedure == NULL)
            continue;
        object_next(out);
        json_write_string(out, procedure_place(t->mem, f->path, f->command->position));
    }
}

/* Results with a name, or inputs, as one map of maps or values. */
static struct value gather(struct turn *t, enum finished_kind kind)
{
    struct value all = value_map_empty();

    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];
        struct value_entry *entry = ARENA_ARRAY(t->mem, 2, struct value_entry);
        struct value inner, outer;
        size_t duplicate;

        if (f->kind != kind || f->result.kind == VALUE_ABSENT ||
            (kind == FINISHED_RESULT && f->command->as.len == 0))
            continue;
        if (kind == FINISHED_INPUT) {
            entry[0].key = value_key(procedure_place(t->mem, f->path, f->command->position));
            entry[0].value = f->result;
        } else {
            entry[1].key = value_key(f->command->as);
            entry[1].value = f->result;
            inner = value_map_make(t->mem, &entry[1], 1, &duplicate);
            outer = value_map_get_str(all, f->path);
            entry[0].key = value_key(f->path);
            entry[0].value = outer.kind == VALUE_MAP ? state_merge(t->mem, outer, inner) : inner;
        }
        all = state_merge(t->mem, all, value_map_make(t->mem, entry, 1, &duplicate));
    }
    return all;
}

static void write_visits(struct turn *t, struct buf *out)
{
    object_nested(out, "visits");
    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];

        if (f->visit == 0)
            continue;
        object_next(out);
        json_write_string(out, procedure_place(t->mem, f->path, f->command->position));
        buf_printf(out, ":%lld", (long long)f->visit);
    }
    buf_char(out, '}');
}

static void write_programs(struct turn *t, struct buf *out)
{
    object_nested(out, "under");
    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];

        if (f->under.len == 0)
            continue;
        object_next(out);
        json_write_string(out, procedure_place(t->mem, f->path, f->command->position));
        buf_char(out, ':');
        json_write_string(out, f->under);
    }
    buf_char(out, '}');
}

void rollback_command_note(struct turn *t)
{
    struct str names, inputs;
    struct buf out;
    size_t empty;

    object_begin(&out, t->mem);
    object_list(&out, "done");
    empty = out.len;
    write_done(t, &out, false);
    if (out.len == empty)
        return;
    if (!turn_json(t, gather(t, FINISHED_RESULT), &names))
        names = STR("{}");
    if (!turn_json(t, gather(t, FINISHED_INPUT), &inputs))
        inputs = STR("{}");
    buf_char(&out, ']');
    object_json(&out, "names", names);
    object_json(&out, "inputs", inputs);
    write_visits(t, &out);
    if (t->x->has_moved)
        write_programs(t, &out);
    object_list(&out, "maybe");
    write_done(t, &out, true);
    buf_char(&out, ']');
    turn_note(t, "undo", object_end(&out));
}

/* --- reading --- */

int64_t rollback_command_count(struct value rollback)
{
    struct value done =
        rollback.kind == VALUE_MAP ? value_map_get_str(rollback, STR("done")) : rollback;

    return done.kind == VALUE_LIST ? (int64_t)done.len : 0;
}

bool rollback_command_is_in_doubt(struct value rollback)
{
    struct value maybe = value_map_member(rollback, STR("maybe"));

    return maybe.kind == VALUE_LIST && maybe.len > 0;
}

int64_t rollback_command_visit(struct value rollback, struct str place)
{
    struct value visit = value_map_member(value_map_get_str(rollback, STR("visits")), place);

    return visit.kind == VALUE_INT ? visit.i : 0;
}

struct str rollback_command_under(struct value rollback, struct str place)
{
    struct value under = value_map_member(rollback, STR("under"));

    return under.kind == VALUE_MAP ? value_map_text(under, place) : STR_NONE;
}

struct str rollback_command_place(const struct turn *t, struct value delta)
{
    struct value done = value_map_member(value_map_get_str(delta, STR("undo")), STR("done"));
    int64_t number = t->x->rollback->commands_left;

    if (done.kind != VALUE_LIST || number < 1 || number > (int64_t)done.len)
        return STR_NONE;
    return value_text_or(done.items[number - 1], STR_NONE);
}

/* The results by name, where the expressions of the procedure look for them. */
static void set_names(struct turn *t, const struct command *commands, uint32_t count,
                      struct value names)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct command *c = &commands[i];
        struct value v = c->as.len > 0 ? value_map_get_str(names, c->as) : value_absent();

        if (v.kind != VALUE_ABSENT)
            t->slots[c->as_slot] = v;
        for (uint32_t b = 0; b < c->body_count; b++)
            set_names(t, c->bodies[b].commands, c->bodies[b].count, names);
    }
}

static struct value inner(struct value rollback, struct str member, struct str name)
{
    struct value all = value_map_get_str(rollback, member);

    return value_map_member(all, name);
}

enum step_result rollback_command_run(struct turn *t, const struct step *step,
                                      struct value rollback, struct str place, struct value *out)
{
    struct value names, input, given;
    struct ledger_command found;
    struct scope scope;
    enum step_result end;
    bool is_named;

    /* It may be of an earlier version. */
    if (!ledger_find(step->procedure, place, &found) || found.command->rollback.procedure == NULL)
        return turn_fail(t, STR("internal_program"), ERR_CLASS_BUSINESS,
                         "this version has no rollback of a command at %.*s", STR_ARG(place));
    end = rollback_recall(t, found.command->rollback.procedure);
    if (end != STEP_DONE)
        return end;
    is_named = found.procedure->kind != PROCEDURE_INLINE;
    if (is_named) {
        given = found.path.len > 0 ? inner(rollback, STR("inputs"), found.path) : t->about->input;
        procedure_enter(t, found.procedure, found.path,
                        given.kind == VALUE_MAP ? given : value_map_empty(), &scope);
    }
    names = inner(rollback, STR("names"), found.path);
    if (names.kind == VALUE_MAP)
        set_names(t, found.procedure->commands, found.procedure->command_count, names);
    end = rollback_input(t, found.command->rollback.input, &input);
    if (end == STEP_DONE)
        end = procedure_run(t, found.command->rollback.procedure, STR_NONE, input, out);
    if (is_named)
        procedure_leave(t);
    return end;
}
