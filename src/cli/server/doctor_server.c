/* doctor_server.c - the server that the other commands would talk to; see doctor.h. */
#include "base/time/clock.h"
#include "cli/describe.h"
#include "cli/server/doctor.h"

#include <stdlib.h>

enum {
    SKEW_WARNING_S = 5,
    SKEW_PROBLEM_S = 60,
    HELD_SHOWN = 500,
    CERTIFICATE_WARNING_S = 14 * 86400
};

static void look_at_clock(struct doctor *d, int64_t server_s)
{
    int64_t ours_s = clock_wall_us(&clock_system) / 1000000;
    int64_t skew_s = server_s - ours_s;
    int64_t size = skew_s < 0 ? -skew_s : skew_s;

    if (server_s < 0)
        return;
    if (size < SKEW_WARNING_S)
        doctor_add(d, "clock", DOCTOR_OK, STR("that of the server and ours agree"), NULL);
    else
        doctor_add(d, "clock", size < SKEW_PROBLEM_S ? DOCTOR_WARNING : DOCTOR_PROBLEM,
                   str_printf(d->mem, "the server's is %lld s %s ours", (long long)size,
                              skew_s > 0 ? "ahead of" : "behind"),
                   "set both by NTP: timers and deadlines go by the server's clock");
}

static void look_at_transport(struct doctor *d)
{
    struct str url = str_of(d->client->url);
    bool is_near = str_starts_with(url, STR("http://127.")) ||
                   str_starts_with(url, STR("http://localhost")) ||
                   str_starts_with(url, STR("http://[::1]"));

    if (str_starts_with(url, STR("https://")) || is_near)
        doctor_add(d, "transport", DOCTOR_OK,
                   is_near ? STR("plain HTTP that does not leave this machine") : STR("TLS"), NULL);
    else
        doctor_add(d, "transport", DOCTOR_WARNING,
                   STR("plain HTTP to another machine: whoever listens learns the token"),
                   "put a proxy that speaks TLS in front, and use https:// in PAWL_URL");
}

/* The certificate that is served, whatever its file says. */
static void look_at_certificate(struct doctor *d, int64_t end_s)
{
    int64_t left_s = end_s - clock_wall_us(&clock_system) / 1000000;

    if (end_s < 0)
        return;
    if (left_s >= CERTIFICATE_WARNING_S)
        doctor_add(d, "certificate", DOCTOR_OK,
                   str_printf(d->mem, "valid for %lld days more", (long long)(left_s / 86400)),
                   NULL);
    else
        doctor_add(d, "certificate", DOCTOR_WARNING,
                   str_printf(d->mem, "it ends within %lld day%s", (long long)(left_s / 86400 + 1),
                              left_s < 86400 ? "" : "s"),
                   "renew the files of --tls-cert and --tls-key, then let the server read them: "
                   "systemctl reload pawl, or send it SIGHUP");
}

/* Whether the token is taken; and, where the store could not be asked, what is held. */
static void look_at_held(struct doctor *d)
{
    struct str path = str_printf(d->mem, "/executions?status=waiting&limit=%d", HELD_SHOWN);
    struct value items, first = value_absent();
    struct reply reply;
    struct buf hint;
    unsigned held = 0;

    if (!client_ask(d->client, "GET", path, STR_NONE, &reply))
        return;
    if (reply.status == 401 || reply.status == 403) {
        doctor_add(d, "token", DOCTOR_PROBLEM,
                   str_printf(d->mem, "refused: %.*s", STR_ARG(client_text(reply.json, "detail"))),
                   "set PAWL_TOKEN, or PAWL_DATA to the folder of the server");
        return;
    }
    if (reply.status != 200)
        return;
    doctor_add(d, "token", DOCTOR_OK, STR("accepted"), NULL);
    if (d->knows_work)
        return;
    items = value_map_get_str(reply.json, STR("items"));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        struct value wait = value_map_get_str(items.items[i], STR("waitingFor"));
        if (!str_eq(client_text(wait, "kind"), STR("incident")))
            continue;
        if (held++ == 0)
            first = items.items[i];
    }
    if (held == 0) {
        doctor_add(d, "executions", DOCTOR_OK, STR("none is held for an operator"), NULL);
        return;
    }
    buf_init_arena(&hint, d->mem);
    buf_text(&hint, "look at the newest with: pawl show ");
    describe_name(&hint, first);
    buf_char(&hint, '\0');
    doctor_add(d, "executions", DOCTOR_WARNING,
               str_printf(d->mem, "%u of the newest %u that wait %s held for an operator", held,
                          items.len, held == 1 ? "is" : "are"),
               hint.ptr);
}

/* Where the store could not be asked. */
static void look_at_letters(struct doctor *d)
{
    struct str path = str_printf(d->mem, "/dlq?status=open&limit=%d", HELD_SHOWN);
    struct value items;
    struct reply reply;

    if (d->knows_work || !client_ask(d->client, "GET", path, STR_NONE, &reply) ||
        reply.status != 200)
        return;
    items = value_map_get_str(reply.json, STR("items"));
    if (items.kind == VALUE_LIST && items.len > 0)
        doctor_add(d, "dead letters", DOCTOR_WARNING,
                   str_printf(d->mem, "%u%s open", items.len,
                              items.len == HELD_SHOWN ? " or more are"
                              : items.len == 1        ? " is"
                                                      : " are"),
                   "look at them with: pawl dlq; then pawl dlq retry or pawl dlq resolve");
    else
        doctor_add(d, "dead letters", DOCTOR_OK, STR("none is open"), NULL);
}

/* Messages wait while it is away; nothing else does. */
static void look_at_broker(struct doctor *d, struct value readiness)
{
    struct str state = client_text(readiness, "broker");

    if (state.len == 0)
        return;
    if (str_eq(state, STR("up")))
        doctor_add(d, "broker", DOCTOR_OK, STR("connected"), NULL);
    else if (str_eq(state, STR("blocked")))
        doctor_add(d, "broker", DOCTOR_WARNING,
                   STR("it is short of memory or disk and takes nothing: messages wait"),
                   "see to it there: rabbitmqctl status shows its alarms");
    else
        doctor_add(d, "broker", DOCTOR_WARNING, STR("it cannot be reached: messages wait"),
                   "the log of the server has the reason; look at --broker and at RabbitMQ");
}

void doctor_look_at_server(struct doctor *d)
{
    const char *url = d->client->url, *why;
    bool is_named = getenv("PAWL_URL") != NULL;
    struct reply reply;

    if (!client_probe(d->client, "/readyz", &reply, &why)) {
        doctor_add(d, "server", is_named || d->is_served ? DOCTOR_PROBLEM : DOCTOR_WARNING,
                   str_printf(d->mem, "no answer from %s: %s", url, why),
                   d->is_served ? "it runs, but elsewhere: set PAWL_URL to where it listens"
                                : "start it with: pawl serve");
        return;
    }
    if (reply.status != 200 && reply.status != 503) {
        doctor_add(d, "server", DOCTOR_PROBLEM,
                   str_printf(d->mem, "what answers at %s is no Pawl server", url),
                   "set PAWL_URL to where it listens");
        return;
    }
    if (reply.status == 503)
        doctor_add(d, "server", DOCTOR_PROBLEM,
                   str_printf(d->mem, "%s takes no requests now: %.*s", url,
                              STR_ARG(client_text(reply.json, "status"))),
                   "look into what it logs");
    else
        doctor_add(d, "server", DOCTOR_OK, str_printf(d->mem, "%s takes requests", url), NULL);
    look_at_clock(d, reply.date_s);
    look_at_transport(d);
    look_at_certificate(d, reply.certificate_end_s);
    look_at_broker(d, reply.json);
    look_at_held(d);
    look_at_letters(d);
}
