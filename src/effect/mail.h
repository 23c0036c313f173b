/*
 * mail.h - one mail as libcurl hands it to a server.
 *
 *     {"id", "from", "to": [...], "cc": [...], "bcc": [...], "replyTo", "subject", "body", "html"}
 *
 * The Message-ID is made of the id, so whoever gets a mail twice can tell. Its
 * date is that of the id, too: every attempt sends the same bytes.
 */
#ifndef PAWL_EFFECT_MAIL_H
#define PAWL_EFFECT_MAIL_H

#include "effect/call.h"

/* Let the handle send this mail; it is of no use for calls from then on. False: as call_prepare(). */
bool mail_prepare(struct transfer *t, const char *trusted_path) MUST_USE;

/* The transfer has ended like this. */
void mail_finish(struct transfer *t, CURLcode code);

#endif
