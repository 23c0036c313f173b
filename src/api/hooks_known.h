/*
 * hooks_known.h - which webhooks there are, in memory: so that a request to one
 * is told from a request to any path when its headers are there.
 *
 * What is known is at most a second old when it is asked for: a path that is not
 * known may have a webhook, and only its rate and the memory for its body are
 * those of strangers. Whether there is one the handler asks the store.
 *
 * why: decision 0360
 */
#ifndef PAWL_API_HOOKS_KNOWN_H
#define PAWL_API_HOOKS_KNOWN_H

#include "base/str.h"

struct node;
struct hooks_known;

struct hooks_known *hooks_known_new(struct node *node);
void hooks_known_free(struct hooks_known *known); /* when no reader runs any more */

/*
 * Whether a published process is known to have a webhook with this topic
 * (trigger_webhook_topic()). Else the webhooks are read again, once a second at most.
 */
bool hooks_known_have(struct hooks_known *known, struct str topic, int64_t mono_us) MUST_USE;

#endif
