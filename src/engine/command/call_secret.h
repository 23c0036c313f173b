/*
 * call_secret.h - secrets in the request of a call, which the engine never sees.
 * Internal to src/engine.
 *
 * While a request is evaluated, $.secrets.CODE.NAME is a text that nobody can
 * guess, made from a number that the event brings and that is never used
 * again. When it is evaluated, each place where such a text stands is noted
 * and the text replaced by {{secrets.CODE.NAME}}, for people to read:
 *
 *     {url, headers: {"Authorization": "Bearer {{secrets.bot.token}}"}, ...,
 *      secrets: [{at: ["headers", "Authorization"], from: 7, len: 21, name: "bot.token"}]}
 *
 * The secret is put there by whoever sends the request, by place: a text that
 * only looks like one is sent as it is.
 *
 * why: decision 0212
 */
#ifndef PAWL_ENGINE_COMMAND_CALL_SECRET_H
#define PAWL_ENGINE_COMMAND_CALL_SECRET_H

#include "engine/turn.h"

/* Let expressions of the command see its secrets; and no longer. */
void call_secrets_show(struct turn *t, const struct command *c);
void call_secrets_hide(struct turn *t);

/*
 * Note where secrets stand in the evaluated members of a request: `secrets` is
 * the list, or absent. False: one stands where none may be; the step has failed.
 */
bool call_secrets_take(struct turn *t, const struct command *c, struct str *url,
                       struct value *headers, struct value *body, struct value *secrets) MUST_USE;

/*
 * The URL of a credential and a path behind its base_url. False: there is no
 * such credential; the step has failed.
 */
bool call_credential_url(struct turn *t, struct str code, struct str path,
                         struct str *out) MUST_USE;

#endif
