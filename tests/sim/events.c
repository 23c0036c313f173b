/*
 * events.c - triggers of type event in the simulator: what has happened starts t0, t1 ...; see
 * automatic.h.
 *
 * An event is a message to each trigger that wants it. A message starts one execution, with the
 * version that is published then, and is gone with that commit; or it starts nothing, because
 * some version since it was sent does not want it.
 */
#include "sim/automatic.h"

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/message.h"
#include "engine/execution.h"
#include "store/read_triggers.h"

/* The newest version of a code that is no newer than that; 0: of all. */
static const struct disk_definition *version_of(const struct disk *d, struct str code,
                                                int64_t version)
{
    for (size_t i = d->definitions.count; i-- > 0;)
        if (str_eq(d->definitions.items[i].code, code) &&
            (version == 0 || d->definitions.items[i].version == version))
            return &d->definitions.items[i];
    return NULL;
}

bool read_triggers(struct reader *r, struct arena *mem, enum trigger_type type,
                   struct stored_triggers *out, struct err *err)
{
    struct sim *sim = sim_of(r);

    *out = (struct stored_triggers){0};
    for (unsigned i = 0; i < AUTOMATIC_COUNT; i++) {
        const struct disk_definition *def = version_of(&sim->disk, str_printf(mem, "t%u", i), 0);

        for (uint32_t k = 0; def != NULL && k < def->program->trigger_count; k++)
            if (def->program->triggers[k].type == type)
                *VEC_ADD(mem, out) =
                    (struct stored_trigger){.code = def->code,
                                            .kind = STR("scenario"),
                                            .version = def->version,
                                            .position = k,
                                            .type = type,
                                            .topic = def->program->triggers[k].event};
    }
    return !sim_read_fails(r, err);
}

/* --- messages to triggers --- */

/* "trigger:CODE/POSITION" */
static struct str code_of(const struct disk_message *m, uint32_t *position)
{
    struct str name = m->row.destination;
    int64_t slash = str_find(name, STR("/"), 0), number = 0;
    size_t begin = sizeof(MESSAGE_TRIGGER_LANE) - 1;

    if (slash < 0 || !str_to_int64(str_slice(name, (size_t)slash + 1, name.len), &number))
        PANIC("a message is to no trigger");
    *position = (uint32_t)number;
    return str_slice(name, begin, (size_t)slash);
}

int64_t events_version(const struct disk *d, const struct disk_message *m)
{
    uint32_t position;

    return m->row.kind == MESSAGE_TRIGGER ? version_of(d, code_of(m, &position), 0)->version : 0;
}

static int64_t payload_number(struct sim *sim, const struct disk_message *m)
{
    struct value event, n;
    struct str chain;
    struct err err;

    if (!message_trigger_read(&sim->disk.scratch, m->row.body_json, &event, &chain, &err))
        sim_fail(sim, "a message to a trigger cannot be read: %s", err.message);
    n = value_map_get_str(value_map_get_str(event, STR("payload")), STR("n"));
    return n.kind == VALUE_INT ? n.i : 1;
}

/* Whether this version wants it. */
static bool is_wanted_by(struct sim *sim, const struct disk_message *m,
                         const struct disk_definition *def, uint32_t position)
{
    const struct trigger *t =
        position < def->program->trigger_count ? &def->program->triggers[position] : NULL;

    return t != NULL && t->type == TRIGGER_EVENT && str_eq(t->event, m->row.name) &&
           (position % 2 == 0 || payload_number(sim, m) % 2 == 0);
}

void events_check_quiet(struct sim *sim, const struct disk_message *m)
{
    uint32_t position;
    struct str code = code_of(m, &position);
    const struct disk_definition *newest = version_of(&sim->disk, code, 0);
    bool is_unwanted = false;

    for (int64_t v = m->sent_version; v <= newest->version; v++)
        is_unwanted |= !is_wanted_by(sim, m, version_of(&sim->disk, code, v), position);
    SIM_CHECK(sim, is_unwanted, "an event has not started %.*s, which wants it", STR_ARG(code));
}

bool events_refuse(struct sim *sim, struct member *m)
{
    if (m->message != NULL && sim->disk.outbox.items[m->message->row - 1].state != MESSAGE_PENDING)
        m->result = MEMBER_GONE;
    return m->result != MEMBER_APPLIED;
}

void events_started(struct sim *sim, const struct member *m, const struct disk_execution *x)
{
    const struct execution *e = m->commit->after;
    struct disk_message *taken;
    uint32_t position;

    if (!m->commit->is_start || !automatic_is(sim, e->program->code))
        return;
    if (m->message == NULL) {
        SIM_CHECK(sim, str_find(e->input_json, STR("\"cause\":"), 0) < 0,
                  "an event starts an execution and its message stays");
        return;
    }
    taken = &sim->disk.outbox.items[m->message->row - 1];
    SIM_CHECK(sim,
              str_eq(code_of(taken, &position), e->program->code) &&
                  is_wanted_by(sim, taken,
                               version_of(&sim->disk, e->program->code, e->program->version),
                               position),
              "an event has started %.*s, which does not want it", STR_ARG(e->program->code));
    SIM_CHECK(sim, str_find(e->input_json, sim_id(sim, taken->of->s.id), 0) >= 0,
              "an event has started %.*s for another event", STR_ARG(sim_id(sim, x->s.id)));
    disk_take_message(sim, taken);
    sim->disk.events_started++;
}

/* --- where events go --- */

static unsigned rows_to(const struct commit *c, struct str name, struct str destination)
{
    unsigned count = 0;

    for (size_t i = 0; i < c->outbox.count; i++)
        count += str_eq(c->outbox.items[i].name, name) &&
                 str_eq(c->outbox.items[i].destination, destination);
    return count;
}

static unsigned events_of(const struct commit *c, struct str name)
{
    unsigned count = 0;

    for (size_t i = 0; i < c->messages.count; i++)
        count +=
            c->messages.items[i].kind == MESSAGE_EVENT && str_eq(c->messages.items[i].name, name);
    return count;
}

/* A node hears of a new version a little later: what was decided meanwhile goes by the old one. */
void events_check_routes(struct sim *sim, const struct commit *c)
{
    struct arena *mem = &sim->disk.scratch;

    for (unsigned i = 0; c->messages.count > 0 && i < AUTOMATIC_COUNT; i++) {
        const struct disk_definition *def = version_of(&sim->disk, str_printf(mem, "t%u", i), 0);

        for (uint32_t k = 0; def != NULL && def->version == 1 && k < def->program->trigger_count;
             k++) {
            const struct trigger *t = &def->program->triggers[k];

            SIM_CHECK(
                sim,
                t->type != TRIGGER_EVENT ||
                    rows_to(c, t->event, str_printf(mem, MESSAGE_TRIGGER_LANE "t%u/%u", i, k)) ==
                        events_of(c, t->event),
                "an event is not sent to a trigger that wants it, or too often");
        }
    }
}
