/* broker_link.c - see broker_link.h. */
#include "node/outside/broker_link.h"

#include "node/inner.h"
#include "node/outside/intake.h"
#include "node/outside/relay.h"

#include <string.h>

static void take_published(void *context)
{
    struct node *n = context;
    void *items[256];
    size_t count = mailbox_take(&n->broker->answers, items, ARRAY_SIZE(items));

    for (size_t i = 0; i < count; i++) {
        struct broker_message *m = items[i];

        if (m->answered != NULL)
            m->answered(n, m);
        else
            relay_published(n, m->owner, m);
        broker_message_free(m);
    }
}

/* It has come back, or gone: what waits for it is looked at again. */
static void take_change(void *context)
{
    struct node *n = context;

    broker_take_change(n->broker->broker);
    relay_look(n);
}

bool broker_link_open(struct node *n, struct err *err)
{
    struct broker_link *l = n->broker;
    struct broker_options options = {.url = n->options.servers.broker_url, .answers = &l->answers};

    if (options.url.len == 0 || n->options.store != NULL || n->options.is_paused)
        return true;
    if (!mailbox_init(&l->answers, BROKER_MESSAGES_MAX, err))
        return false;
    l->has_answers = true;
    if (!node_watch(n, mailbox_fd(&l->answers), take_published, n, err))
        return false;
    l->broker = broker_open(&options, err);
    return l->broker != NULL && node_watch(n, broker_change_fd(l->broker), take_change, n, err);
}

void broker_link_close(struct node *n)
{
    struct broker_link *l = n->broker;
    void *items[256];
    size_t count;

    if (l->broker != NULL)
        broker_close(l->broker);
    if (!l->has_answers)
        return;
    while ((count = mailbox_take(&l->answers, items, ARRAY_SIZE(items))) > 0)
        for (size_t i = 0; i < count; i++)
            broker_message_free(items[i]);
    mailbox_fini(&l->answers);
}

bool broker_link_is_up(const struct node *n)
{
    return n->broker->broker != NULL && broker_state_now(n->broker->broker) == BROKER_UP;
}

void node_broker(const struct node *n, struct node_broker *out)
{
    static const char *const names[] = {
        [BROKER_AWAY] = "away", [BROKER_UP] = "up", [BROKER_BLOCKED] = "blocked"};
    struct broker_view view;

    *out = (struct node_broker){0};
    if (n->broker->broker == NULL)
        return;
    broker_look(n->broker->broker, &view);
    out->state = names[view.state];
    memcpy(out->reason, view.reason, sizeof(out->reason));
    out->confirmed = view.confirmed;
    out->unroutable = view.unroutable;
    out->refused = view.refused;
    out->unsent = view.unsent;
    out->connects = view.connects;
    intake_figures(n, out);
}

void broker_link_publish(struct node *n, struct relayed *m)
{
    struct broker_message *out = broker_message_new();

    out->owner = m;
    out->id = uuid_text(&out->mem, m->id);
    out->spec_json = str_copy(&out->mem, m->body_json);
    broker_send(n->broker->broker, out);
}
