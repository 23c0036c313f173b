/*
 * service.h - what the services of the example share: HTTP/1.1 over a thread
 * for each connection, storage in SQLite, and switches that make them fail.
 *
 * A request is one transaction: its handler runs alone, and what it wrote is
 * stored before the answer leaves. kill -9 at any moment leaves either nothing
 * of it or all of it.
 */
#ifndef ORDERS_SERVICE_H
#define ORDERS_SERVICE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_DECLINE,         /* refuse: a business error */
    FAULT_FAIL,            /* do nothing, answer `status` */
    FAULT_FAIL_AFTER,      /* do it, and answer `status` all the same */
    FAULT_LOSE,            /* do it, and hang up without an answer */
    FAULT_DELAY,           /* do it, answer after `ms` */
    FAULT_ACCEPT,          /* 202: it is done after `ms` */
    FAULT_ACCEPT_DECLINED, /* 202: it is refused after `ms` */
};

struct fault {
    enum fault_kind kind;
    int status;
    int64_t ms;
};

struct request {
    char method[8];
    char path[256];
    char key[256]; /* Idempotency-Key */
    const char *body;
};

struct answer {
    int status;
    char body[512];
    bool is_lost; /* hang up instead */
    int64_t delay_ms;
};

struct service {
    const char *name;
    const char *schema; /* SQL */
    void (*handle)(sqlite3 *db, const struct request *r, struct answer *a);
};

/* Serve: NAME --data FILE [--port PORT]. Prints its port; never returns. */
int service_main(const struct service *s, int argc, char **argv);

/* The switch that is set for this action of this order, or of all; it counts as used. */
struct fault service_fault(sqlite3 *db, const char *order, const char *action);

/* The answer is as written, unless the switch says otherwise. */
void service_apply_fault(const struct fault *f, struct answer *a);

void service_answer(struct answer *a, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Run a statement; `types` says what follows, a letter for each parameter: s, i.
 * The first column of its first row as a number, or `none` without a row.
 */
int64_t service_sql(sqlite3 *db, int64_t none, const char *sql, const char *types, ...);

/* The same as a text, into `out`. False: there is no row. */
bool service_sql_text(sqlite3 *db, char *out, int size, const char *sql, const char *types, ...);

/* Milliseconds since 1970. */
int64_t service_now_ms(void);

/* Whether the path is "/PREFIX/{order}SUFFIX"; then *order is set. */
bool service_path(const struct request *r, const char *prefix, const char *suffix, char *order,
                  int size);

#endif
