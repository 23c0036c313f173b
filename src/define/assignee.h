/*
 * assignee.h - who may answer a wait: user ids, e-mail addresses and groups.
 *
 * What a definition names and who a user is are compared by keys: the text
 * itself, an e-mail address in small letters.
 *
 * why: decision 0280
 */
#ifndef PAWL_DEFINE_ASSIGNEE_H
#define PAWL_DEFINE_ASSIGNEE_H

#include "value/value.h"

enum { ASSIGNEES_MAX = 100, ASSIGNEE_LEN_MAX = 320 };

#define ASSIGNEE_GROUP "group:"

/*
 * The keys of `assignee`, a text or a list of texts, each once: *out is a list
 * in `mem`. False: it is neither, has an empty or overlong text, or too many.
 */
bool assignee_read(struct arena *mem, struct value assignee, struct value *out) MUST_USE;

/* The keys of a user: id, e-mail or empty, and groups (a list of texts). A list in `mem`. */
struct value assignee_keys(struct arena *mem, struct str id, struct str email, struct value groups);

/* Whether two lists of keys have one in common. */
bool assignee_is_among(struct value keys, struct value assignees);

#endif
