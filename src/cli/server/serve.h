/* serve.h - what `pawl serve` is told and what it has opened. Internal to serve*.c. */
#ifndef PAWL_CLI_SERVER_SERVE_H
#define PAWL_CLI_SERVER_SERVE_H

#include "base/arena.h"
#include "cli/server/settings.h"
#include "effect/policy.h"
#include "http/cidr.h"
#include "http/tls.h"
#include "node/meter.h"

#include <stdatomic.h>

struct server {
    const struct options *options;
    struct settings settings;
    struct arena mem;
    struct str host;
    uint16_t port;
    int64_t keep_ended_us, keep_audit_us; /* 0 = for ever */
    struct cidrs trusted_proxies;
    struct tls tls;
    struct policy policy;
    struct vault *vault;
    struct meters meters;
    struct node *node;
    struct api *api;
    int signal_fd;
    int status;            /* of the program, once it ends */
    atomic_bool is_closed; /* the threads of the node have ended */
    bool is_stopping;
    bool is_first_start; /* the administrator's token was made just now */
};

static inline const char *serve_text(const struct server *s, enum setting_symbol symbol)
{
    return settings_text(&s->settings, symbol);
}

static inline bool serve_has(const struct server *s, enum setting_symbol symbol)
{
    return serve_text(s, symbol)[0] != '\0';
}

/* Whether it keeps its data in a file of the data folder; else nodes may share the database. */
bool serve_is_sqlite(const struct server *s);

/* Whether the settings are good, read into `s`; false after a message to stderr. */
bool serve_check(struct server *s);

#endif
