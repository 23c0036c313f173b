/* ledger.c - what the commands of a step have done; see ledger.h. */
#include "engine/command/ledger.h"

#include "define/catalog/catalog.h"
#include "engine/command/procedure.h"
#include "value/json.h"
#include "value/object.h"

static const char *const marks[] = {[FINISHED_RESULT] = "",
                                    [FINISHED_CHOICE] = "?",
                                    [FINISHED_INPUT] = "<",
                                    [FINISHED_MAYBE] = "~"};

/* --- while commands run --- */

struct value ledger_at(struct turn *t, struct str place, const char *mark)
{
    size_t mark_len = strlen(mark);
    char *name;

    if (t->run.frozen.kind != VALUE_MAP)
        return value_absent();
    name = arena_alloc(t->mem, place.len + mark_len + 1);
    memcpy(name, place.ptr, place.len);
    memcpy(name + place.len, mark, mark_len);
    return value_map_get_str(t->run.frozen, str_from(name, place.len + mark_len));
}

static void ledger_put(struct turn *t, struct finished entry)
{
    struct finished *items = t->run.finished.items;

    for (size_t i = 0; i < t->run.finished.count; i++)
        if (items[i].command == entry.command && items[i].kind == entry.kind &&
            str_eq(items[i].path, entry.path)) {
            items[i] = entry;
            return;
        }
    *VEC_ADD(t->mem, &t->run.finished) = entry;
}

/* The visit that the command was done in, when it was not this one; else 0. */
static int64_t visit_at(struct turn *t, struct str path, const struct command *c)
{
    struct value visit = t->run.frozen.kind != VALUE_MAP
                             ? value_absent()
                             : ledger_at(t, procedure_place(t->mem, path, c->position), "#");

    return visit.kind == VALUE_INT ? visit.i : 0;
}

/* The program that it was done with, when that was not this one; else empty. */
static struct str program_at(struct turn *t, struct str path, const struct command *c)
{
    struct value name = t->run.frozen.kind != VALUE_MAP
                            ? value_absent()
                            : ledger_at(t, procedure_place(t->mem, path, c->position), "@");

    return name.kind == VALUE_STRING ? value_text(name) : STR_NONE;
}

/* It is known what became of the command: it is not in doubt any more. */
static void forget_doubt(struct turn *t, struct str path, const struct command *c)
{
    struct finished *items = t->run.finished.items;
    size_t kept = 0;

    for (size_t i = 0; i < t->run.finished.count; i++)
        if (items[i].kind != FINISHED_MAYBE || items[i].command != c ||
            !str_eq(items[i].path, path))
            items[kept++] = items[i];
    t->run.finished.count = kept;
}

void ledger_add_written(struct turn *t, enum finished_kind kind, const struct command *c,
                        struct value result, struct str json)
{
    struct str path = t->scope != NULL ? t->scope->path : STR_NONE;
    bool is_done = kind == FINISHED_RESULT || kind == FINISHED_MAYBE;

    if (kind == FINISHED_RESULT)
        forget_doubt(t, path, c);
    ledger_put(t, (struct finished){
                      .kind = kind,
                      .command = c,
                      .path = path,
                      .result = result,
                      .json = json,
                      .visit = is_done ? visit_at(t, path, c) : 0,
                      .under = is_done ? program_at(t, path, c) : STR_NONE,
                  });
}

void ledger_add(struct turn *t, enum finished_kind kind, const struct command *c,
                struct value result)
{
    ledger_add_written(t, kind, c, result, STR_NONE);
}

bool ledger_asks_outside(const struct command *c)
{
    if (c->type == COMMAND_CALL)
        return c->call.procedure->kind == PROCEDURE_EXTERNAL;
    return catalog_command(c->type)->ends == ENDS_ASKS;
}

void ledger_fail(struct turn *t, const struct command *c, bool may_have_happened)
{
    if (!ledger_asks_outside(c))
        return;
    if (may_have_happened)
        ledger_add(t, FINISHED_MAYBE, c, value_bool(true));
    else
        forget_doubt(t, t->scope != NULL ? t->scope->path : STR_NONE, c);
}

/* --- frozen --- */

void ledger_write(struct turn *t, struct buf *out)
{
    object_nested(out, "results");
    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];
        struct str place = procedure_place(t->mem, f->path, f->command->position), json = f->json;

        if (f->result.kind == VALUE_ABSENT)
            continue;
        /* It has been part of the activation; what has no JSON form becomes null. */
        if (json.len == 0 && !turn_json(t, f->result, &json))
            json = STR("null");
        object_next(out);
        buf_char(out, '"');
        buf_str(out, place);
        buf_text(out, marks[f->kind]);
        buf_text(out, "\":");
        buf_str(out, json);
        if (f->visit > 0)
            buf_printf(out, ",\"%.*s#\":%lld", STR_ARG(place), (long long)f->visit);
        if (f->under.len > 0)
            buf_printf(out, ",\"%.*s@\":\"%.*s\"", STR_ARG(place), STR_ARG(f->under));
    }
    buf_char(out, '}');
}

static bool find_in(const struct procedure *p, const struct command *commands, uint32_t count,
                    struct str place, size_t skip, struct ledger_command *out)
{
    struct str rest = str_slice(place, skip, place.len);

    for (uint32_t i = 0; i < count; i++) {
        const struct command *c = &commands[i];
        size_t len = c->position.len;

        if (str_eq(c->position, rest)) {
            *out = (struct ledger_command){c, p, str_slice(place, 0, skip > 0 ? skip - 1 : 0)};
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

bool ledger_find(const struct procedure *p, struct str place, struct ledger_command *out)
{
    return find_in(p, p->commands, p->command_count, place, 0, out);
}

/* The mark behind a place, one character of "?<!#~@", or 0; *place is what stands before it. */
static char split_mark(struct str name, struct str *place)
{
    char last = name.len > 0 ? name.ptr[name.len - 1] : '\0';

    if (last == '\0' || strchr("?<!#~@", last) == NULL) {
        *place = name;
        return '\0';
    }
    *place = str_slice(name, 0, name.len - 1);
    return last;
}

void ledger_recall(struct turn *t, const struct procedure *p, struct value results)
{
    t->run.frozen = results;
    for (uint32_t i = 0; results.kind == VALUE_MAP && i < results.len; i++) {
        struct str place;
        char mark = split_mark(value_text(results.map->entries[i].key), &place);
        struct ledger_command found;

        bool is_done = mark == '\0' || mark == '~';

        if (mark == '!' || mark == '#' || mark == '@' || !ledger_find(p, place, &found))
            continue;
        ledger_put(t, (struct finished){
                          .kind = mark == '?'   ? FINISHED_CHOICE
                                  : mark == '<' ? FINISHED_INPUT
                                  : mark == '~' ? FINISHED_MAYBE
                                                : FINISHED_RESULT,
                          .command = found.command,
                          .path = found.path,
                          .result = results.map->entries[i].value,
                          .visit = is_done ? visit_at(t, found.path, found.command) : 0,
                          .under = is_done ? program_at(t, found.path, found.command) : STR_NONE,
                      });
    }
}

/* What has a result is in no doubt, however its attempt has ended. */
static bool has_result(const struct turn *t, const struct ledger_command *c)
{
    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];

        if (f->kind == FINISHED_RESULT && f->command == c->command && str_eq(f->path, c->path))
            return true;
    }
    return false;
}

void ledger_doubt(struct turn *t)
{
    struct value suspended = turn_read(t, t->x->cursor.suspended_json, value_map_empty());
    struct str asks = value_map_text(suspended, STR("asks"));
    struct value results = value_map_member(suspended, STR("results"));
    struct ledger_command found;

    if (asks.len == 0 || !ledger_find(turn_step(t)->procedure, asks, &found) ||
        has_result(t, &found) || value_map_member(results, asks).kind != VALUE_ABSENT ||
        value_map_member(results, str_printf(t->mem, "%.*s!", STR_ARG(asks))).kind != VALUE_ABSENT)
        return;
    ledger_put(t, (struct finished){.kind = FINISHED_MAYBE,
                                    .command = found.command,
                                    .path = found.path,
                                    .result = value_bool(true)});
}

/* --- carried into a new visit --- */

/* Whether the mark says that a command has happened, or may have. */
static bool is_done(char mark)
{
    return mark == '\0' || mark == '!' || mark == '~';
}

/* Whether the command at a place, or one within it, has a result or an answer, or is in doubt. */
static bool is_done_within(struct value results, struct str place)
{
    for (uint32_t i = 0; i < results.len; i++) {
        struct str at;
        char mark = split_mark(value_text(results.map->entries[i].key), &at);

        if (is_done(mark) && str_starts_with(at, place) &&
            (at.len == place.len || at.ptr[place.len] == '.'))
            return true;
    }
    return false;
}

bool ledger_is_empty(struct turn *t)
{
    struct value suspended = turn_read(t, t->x->cursor.suspended_json, value_map_empty());
    struct value results = value_map_member(suspended, STR("results"));

    for (uint32_t i = 0; results.kind == VALUE_MAP && i < results.len; i++) {
        struct str place;
        char mark = split_mark(value_text(results.map->entries[i].key), &place);

        if (is_done(mark))
            return false;
    }
    return true;
}

struct str ledger_carry(struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;
    struct value suspended = turn_read(t, cursor->suspended_json, value_map_empty());
    struct value results = value_map_member(suspended, STR("results"));
    const struct procedure *p;
    struct str json;
    bool has_done = false;
    struct buf out;

    if (results.kind != VALUE_MAP || turn_step(t)->kind != STEP_PROCEDURE)
        return STR_NONE;
    p = turn_step(t)->procedure;
    object_begin(&out, t->mem);
    object_text(&out, "asks", STR_NONE);
    object_nested(&out, "results");
    for (uint32_t i = 0; i < results.len; i++) {
        struct str name = value_text(results.map->entries[i].key), place;
        struct value v = results.map->entries[i].value;
        char mark = split_mark(name, &place);
        struct ledger_command found;

        if (!(mark == '?' && v.kind == VALUE_BOOL) && !is_done_within(results, place))
            continue;
        if (!turn_json(t, v, &json))
            json = STR("null");
        object_json(&out, str_printf(t->mem, "%.*s", STR_ARG(name)).ptr, json);
        if (!is_done(mark))
            continue;
        has_done =
            has_done || (ledger_find(p, place, &found) && ledger_asks_outside(found.command));
        if (value_map_get_str(results, str_printf(t->mem, "%.*s#", STR_ARG(place))).kind !=
            VALUE_INT)
            object_int(&out, str_printf(t->mem, "%.*s#", STR_ARG(place)).ptr, cursor->visit);
    }
    buf_char(&out, '}');
    for (uint32_t i = 0; i < suspended.len; i++) {
        struct str name = value_text(suspended.map->entries[i].key);

        if (str_eq(name, STR("asks")) || str_eq(name, STR("results")))
            continue;
        if (turn_json(t, suspended.map->entries[i].value, &json))
            object_json(&out, str_printf(t->mem, "%.*s", STR_ARG(name)).ptr, json);
    }
    buf_char(&out, '}');
    return has_done ? buf_view(&out) : STR_NONE;
}

bool ledger_name_program(struct turn *t, struct str name, struct str *suspended_json)
{
    struct value suspended = turn_read(t, *suspended_json, value_null());
    struct value results = value_map_member(suspended, STR("results")), named = results;

    for (uint32_t i = 0; results.kind == VALUE_MAP && i < results.len; i++) {
        struct str place, at;

        if (!is_done(split_mark(value_text(results.map->entries[i].key), &place)))
            continue;
        at = str_printf(t->mem, "%.*s@", STR_ARG(place));
        if (value_map_get_str(results, at).kind == VALUE_ABSENT)
            named = state_with(t->mem, named, at, value_string(name));
    }
    if (named.len == results.len)
        return true;
    return turn_json(t, state_with(t->mem, suspended, STR("results"), named), suspended_json);
}
