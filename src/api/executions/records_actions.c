/*
 * records_actions.c - what can be started from the card of a record: triggers of
 * type action, and starting one. Whoever presses the button is who starts it.
 */
#include "api/api.h"
#include "api/definitions/definitions.h"
#include "api/definitions/worlds.h"
#include "api/executions/executions_start.h"
#include "api/executions/records.h"
#include "api/lookup.h"
#include "define/access.h"
#include "define/facts.h"
#include "define/program.h"
#include "engine/commit/reads.h"
#include "store/change_record.h"
#include "store/read_definition.h"
#include "store/read_record.h"
#include "store/read_triggers.h"
#include "value/json.h"
#include "value/object.h"

/* $.record: {id, version, ...data}, as the API shows it. */
static bool load_record(struct lookup *q, struct reader *reader, struct value *out, struct err *err)
{
    const struct call *c = q->call;
    struct record_read found;
    struct buf text;

    if (!read_record(reader, q->mem, c->user.org_id, c->params[0], c->params[1], &found, err))
        return false;
    if (found.version == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no such record");
    buf_init_arena(&text, q->mem);
    return record_write_json(&text, found.id, found.version, found.data, err) &&
           json_read(q->mem, buf_view(&text), out, err);
}

/* --- which there are --- */

struct action_list {
    struct world world;
    struct trigger_context context;
};

static bool write_action(struct lookup *q, const struct stored_trigger *stored,
                         const struct trigger *t, const struct program *p, struct value definition,
                         struct value given, struct err *err)
{
    struct value input = value_map_get_str(definition, STR("input"));
    struct buf *out = &q->answer;

    object_item(out);
    object_text(out, "code", stored->code);
    object_text(out, "kind", stored->kind);
    object_int(out, "version", stored->version);
    object_text(out, "name", p->name);
    object_text(out, "label", t->label);
    object_name(out, "input");
    if (input.kind != VALUE_LIST)
        buf_text(out, "[]");
    else if (!json_write(out, input, err))
        return false;
    object_name(out, "given");
    if (!json_write(out, given.kind == VALUE_MAP ? given : value_map_empty(), err))
        return false;
    buf_char(out, '}');
    return true;
}

/* One that the caller may start and the record, as it is, has. A `when` that fails offers nothing. */
static bool offer_action(struct lookup *q, struct reader *reader, struct action_list *a,
                         const struct stored_trigger *stored, struct err *err)
{
    const struct node_user *user = &q->call->user;
    const struct program *p = NULL;
    struct findings findings = {0};
    struct trigger_outcome outcome;
    struct stored_definition d;
    struct value definition;
    struct err why;
    bool found, ok = true;

    if (!read_definition(reader, q->mem, stored->kind, stored->code, stored->version, &d, &found,
                         err))
        return false;
    if (!found || !json_read(q->mem, d.text, &definition, &why))
        return true;
    a->world.checks_stored = true;
    world_compile(&a->world, q->mem, kind_named(stored->kind)->kind,
                  (struct registered){.definition = definition,
                                      .version = stored->version,
                                      .rules = facts_rules(q->mem, d.facts)},
                  &findings, &p);
    if (p == NULL)
        return true;
    if (stored->position < p->trigger_count &&
        access_allows(p->access, "start", user->role, user->groups) &&
        trigger_evaluate(q->mem, p, &p->triggers[stored->position], &a->context, &outcome, &why) &&
        outcome.fires)
        ok = write_action(q, stored, &p->triggers[stored->position], p, definition, outcome.input,
                          err);
    program_release(p);
    return ok;
}

static bool run_actions(struct lookup *q, struct reader *reader, struct err *err)
{
    struct action_list *a = q->args;
    struct stored_triggers found;
    struct kept_world *lease;
    bool ok = true;

    a->context = (struct trigger_context){.webhook = value_absent(),
                                          .event = value_absent(),
                                          .user = call_user(q->call, q->mem),
                                          .now_us = api_now_us(q->call->api)};
    if (!load_record(q, reader, &a->context.record, err) ||
        !definitions_config(reader, q->mem, &a->context.config, err) ||
        !read_triggers_of_topic(reader, q->mem, TRIGGER_ACTION, q->call->params[0], &found, err) ||
        !worlds_lend(api_parts(q->call->api)->worlds, reader, q->mem, &a->world, &lease, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < found.count && ok; i++)
        if (!found.items[i].is_retired)
            ok = offer_action(q, reader, a, &found.items[i], err);
    buf_text(&q->answer, "]}");
    worlds_return(api_parts(q->call->api)->worlds, lease);
    return ok;
}

void records_actions(struct call *c)
{
    if (records_check_path(c))
        lookup_start(c, arena_zalloc(c->mem, sizeof(struct action_list)), run_actions, NULL);
}

/* --- starting one --- */

struct action_start {
    struct value input; /* what the person gives; a map, or absent */
    struct value record;
    struct stored_trigger trigger;
};

static bool run_find_action(struct lookup *q, struct reader *reader, struct err *err)
{
    struct action_start *a = q->args;
    struct stored_triggers found;

    if (!load_record(q, reader, &a->record, err) ||
        !read_triggers_of_topic(reader, q->mem, TRIGGER_ACTION, q->call->params[0], &found, err))
        return false;
    for (size_t i = 0; i < found.count; i++)
        if (str_eq(found.items[i].code, q->call->params[2])) {
            a->trigger = found.items[i];
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "no process of this code has an action on '%.*s'",
                   STR_ARG(q->call->params[0]));
}

static void action_found(struct lookup *q)
{
    struct action_start *a = q->args;
    struct call *c = q->call;
    struct node_hook *hook = arena_zalloc(c->mem, sizeof(*hook));
    struct node_request *r = call_request(c, NODE_HOOK, executions_started);

    if (r == NULL || !call_wait(c, &r->wait_us))
        return;
    *hook = (struct node_hook){
        .position = a->trigger.position, .webhook = value_absent(), .record = a->record};
    r->code = a->trigger.code;
    r->version = a->trigger.version;
    r->event.input = a->input;
    r->hook = hook;
    r->record = str_printf(c->mem, "%.*s/%.*s", STR_ARG(c->params[0]), STR_ARG(c->params[1]));
    r->trace = call_trace(c);
    call_submit(c, r);
}

void records_act(struct call *c)
{
    struct action_start *a = arena_zalloc(c->mem, sizeof(*a));
    const struct body_field fields[] = {{"input", BODY_OBJECT, false, .out = &a->input}};

    if (records_check_path(c) && call_body(c, fields, ARRAY_SIZE(fields)))
        lookup_start(c, a, run_find_action, action_found);
}
