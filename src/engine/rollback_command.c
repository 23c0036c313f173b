/*
 * rollback_command.c - rollbacks that commands have of their own; see rollback.h.
 *
 * A row of a step whose procedure has such commands says what they will need:
 *
 *     delta.undo = {done: ["1", "2.1"],        places, in order of completion
 *                   names: {"": {as: result}}, by place of the call; "" the step's own
 *                   inputs: {"2": {...}}}      of the calls
 */
#include "engine/procedure.h"
#include "engine/rollback.h"
#include "value/json.h"

/* --- writing --- */

static void write_done(struct turn *t, struct buf *out)
{
    bool first = true;

    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];
        if (f->kind != FINISHED_RESULT || f->command->rollback.procedure == NULL)
            continue;
        if (!first)
            buf_char(out, ',');
        first = false;
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

void rollback_command_note(struct turn *t)
{
    struct str names, inputs;
    struct buf out;
    size_t empty;

    buf_init_arena(&out, t->mem);
    buf_text(&out, "{\"done\":[");
    empty = out.len;
    write_done(t, &out);
    if (out.len == empty)
        return;
    if (!turn_json(t, gather(t, FINISHED_RESULT), &names))
        names = STR("{}");
    if (!turn_json(t, gather(t, FINISHED_INPUT), &inputs))
        inputs = STR("{}");
    buf_text(&out, "],\"names\":");
    buf_str(&out, names);
    buf_text(&out, ",\"inputs\":");
    buf_str(&out, inputs);
    buf_char(&out, '}');
    turn_note(t, "undo", buf_view(&out));
}

/* --- reading --- */

int64_t rollback_command_count(struct value rollback)
{
    struct value done =
        rollback.kind == VALUE_MAP ? value_map_get_str(rollback, STR("done")) : rollback;

    return done.kind == VALUE_LIST ? (int64_t)done.len : 0;
}

/* A command, the procedure that it is in, and the place of the call of that. */
struct found {
    const struct command *command;
    const struct procedure *procedure;
    struct str path;
};

static bool find_in(const struct procedure *p, const struct command *commands, uint32_t count,
                    struct str place, size_t skip, struct found *out)
{
    struct str rest = str_slice(place, skip, place.len);

    for (uint32_t i = 0; i < count; i++) {
        const struct command *c = &commands[i];
        size_t len = c->position.len;

        if (str_eq(c->position, rest)) {
            *out = (struct found){c, p, str_slice(place, 0, skip > 0 ? skip - 1 : 0)};
            return true;
        }
        if (!str_starts_with(rest, c->position) || rest.ptr[len] != '.')
            continue;
        if (c->type == COMMAND_CALL && c->call.procedure->kind != PROCEDURE_EXTERNAL)
            return find_in(c->call.procedure, c->call.procedure->commands,
                           c->call.procedure->command_count, place, skip + len + 1, out);
        for (uint32_t b = 0; b < c->body_count; b++)
            if (find_in(p, c->bodies[b].commands, c->bodies[b].count, place, skip, out))
                return true;
    }
    return false;
}

void rollback_command_recall(struct turn *t)
{
    const struct procedure *p = turn_step(t)->procedure;
    struct value frozen = t->run.frozen;

    for (uint32_t i = 0; frozen.kind == VALUE_MAP && i < frozen.len; i++) {
        struct str place = value_text(frozen.map->entries[i].key);
        enum finished_kind kind = FINISHED_RESULT;
        struct found found;

        if (str_ends_with(place, STR("?")) || str_ends_with(place, STR("!")))
            continue;
        if (str_ends_with(place, STR("<"))) {
            kind = FINISHED_INPUT;
            place = str_slice(place, 0, place.len - 1);
        }
        if (find_in(p, p->commands, p->command_count, place, 0, &found))
            *VEC_ADD(t->mem, &t->run.finished) =
                (struct finished){.kind = kind,
                                  .command = found.command,
                                  .path = found.path,
                                  .result = frozen.map->entries[i].value};
    }
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

    return all.kind == VALUE_MAP ? value_map_get_str(all, name) : value_absent();
}

enum step_result rollback_command_run(struct turn *t, const struct step *step,
                                      struct value rollback, struct str place, struct value *out)
{
    struct value names, input, given;
    struct found found;
    struct scope scope;
    enum step_result end;
    bool is_named;

    /* It may be of an earlier version. */
    if (!find_in(step->procedure, step->procedure->commands, step->procedure->command_count, place,
                 0, &found) ||
        found.command->rollback.procedure == NULL)
        return turn_fail(t, STR("internal_program"), STR("business"),
                         "this version has no rollback of a command at %.*s", STR_ARG(place));
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
