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

#include <pthread.h>

/* Let the handle send this mail; it is of no use for calls from then on. False: as call_prepare(). */
bool mail_prepare(struct transfer *t, const char *trusted_path) MUST_USE;

/*
 * The connections to mail servers. libcurl waits for the answer of a mail server
 * without letting others go on; and a transfer that is given up while a mail is
 * sent it ends properly, so that the server takes what has come of it for a whole
 * mail. So connections are cut, by any thread, before transfers are given up.
 *
 * why: decision 0506
 */
struct mail_sockets {
    pthread_mutex_t lock; /* for all below */
    curl_socket_t *fds;
    size_t count, capacity;
    bool is_cut; /* no more are opened */
};

void mail_sockets_init(struct mail_sockets *sockets);
void mail_sockets_cut(struct mail_sockets *sockets);
void mail_sockets_fini(struct mail_sockets *sockets);

/* The transfer has ended like this. */
void mail_finish(struct transfer *t, CURLcode code);

#endif
