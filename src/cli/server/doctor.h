/* doctor.h - what pawl doctor has found. */
#ifndef PAWL_CLI_SERVER_DOCTOR_H
#define PAWL_CLI_SERVER_DOCTOR_H

#include "base/vec.h"
#include "cli/client.h"

enum doctor_level {
#define LEVEL(symbol, name, style) DOCTOR_##symbol,
#include "cli/server/doctor_levels.def"
#undef LEVEL
};

struct doctor_check {
    const char *name;
    enum doctor_level level;
    struct str message;
    struct str hint; /* what to do; empty when all is well */
};

struct doctor {
    struct client *client;
    struct arena *mem; /* the client's */
    const char *data, *store;
    bool is_served;  /* a server on this machine holds the folder */
    bool knows_work; /* the store was asked what a person has to see to */
    struct {
        VEC_OF(struct doctor_check);
    } checks;
};

/* Add a check; `hint` is NULL when there is nothing to do. */
void doctor_add(struct doctor *d, const char *name, enum doctor_level level, struct str message,
                const char *hint);

/* The data folder, the store, and the machine under them. */
void doctor_look_at_data(struct doctor *d);

/* The server that the other commands would talk to. */
void doctor_look_at_server(struct doctor *d);

#endif
