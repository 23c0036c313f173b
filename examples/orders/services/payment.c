/*
 * payment.c - the payment service of the example.
 *
 *     POST /payments {"order", "cents"}      charge: 201 paid, 202 pending, 402 declined
 *     GET  /payments/{order}                 what became of it; 404: no charge was seen
 *     POST /payments/{order}/refund          200 {"refunded": cents}, also when there is nothing
 *
 * A charge and a refund are idempotent by Idempotency-Key, and by nothing else:
 * an order that is charged under two keys is charged twice. Whoever makes the
 * calls has to see to it that this does not happen; the table says if it did.
 */
#include "service.h"

#include <stdio.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
    "order_id TEXT NOT NULL, cents INTEGER NOT NULL, status TEXT NOT NULL, settles_to TEXT, "
    "settles_at INTEGER);"
    "CREATE INDEX IF NOT EXISTS charges_by_order ON charges (order_id);"
    "CREATE TABLE IF NOT EXISTS refunds (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
    "order_id TEXT NOT NULL, cents INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS voided (order_id TEXT PRIMARY KEY);";

/* What was accepted with 202 comes to its end when its time has come. */
static void settle(sqlite3 *db)
{
    service_sql(db, 0,
                "UPDATE charges SET status = settles_to, settles_to = NULL "
                "WHERE settles_to IS NOT NULL AND settles_at <= ?1",
                "i", service_now_ms());
}

static void answer_charge(sqlite3 *db, struct answer *a, int64_t id)
{
    char status[16];

    (void)service_sql_text(db, status, sizeof(status), "SELECT status FROM charges WHERE id = ?1",
                           "i", id);
    if (strcmp(status, "declined") == 0)
        service_answer(a, 402,
                       "{\"error\":{\"code\":\"payment_declined\",\"message\":\"the bank "
                       "declines\"}}");
    else
        service_answer(a, strcmp(status, "pending") == 0 ? 202 : 201,
                       "{\"payment\":\"p-%lld\",\"status\":\"%s\"}", (long long)id, status);
}

static int64_t add_charge(sqlite3 *db, const struct request *r, const char *order,
                          const struct fault *f)
{
    bool is_voided =
        service_sql(db, 0, "SELECT 1 FROM voided WHERE order_id = ?1", "s", order) != 0;
    bool is_pending = f->kind == FAULT_ACCEPT || f->kind == FAULT_ACCEPT_DECLINED;

    service_sql(db, 0,
                "INSERT INTO charges (key, order_id, cents, status, settles_to, settles_at) "
                "SELECT ?1, ?2, ?3 ->> '$.cents', ?4, nullif(?5, ''), ?6",
                "sssssi", r->key, order, r->body,
                is_voided || f->kind == FAULT_DECLINE ? "declined"
                : is_pending                          ? "pending"
                                                      : "paid",
                !is_pending || is_voided  ? ""
                : f->kind == FAULT_ACCEPT ? "paid"
                                          : "declined",
                service_now_ms() + f->ms);
    return sqlite3_last_insert_rowid(db);
}

static void charge(sqlite3 *db, const struct request *r, struct answer *a)
{
    char order[128];
    struct fault f;
    int64_t id;

    if (service_sql(db, 0, "SELECT json_valid(?1)", "s", r->body) == 0 ||
        !service_sql_text(db, order, sizeof(order), "SELECT ?1 ->> '$.order'", "s", r->body) ||
        order[0] == '\0' || r->key[0] == '\0') {
        service_answer(a, 422, "{\"error\":{\"code\":\"bad_request\"}}");
        return;
    }
    f = service_fault(db, order, "charge");
    if (f.kind != FAULT_FAIL) {
        id = service_sql(db, 0, "SELECT id FROM charges WHERE key = ?1", "s", r->key);
        answer_charge(db, a, id != 0 ? id : add_charge(db, r, order, &f));
    }
    service_apply_fault(&f, a);
}

static void show(sqlite3 *db, const char *order, struct answer *a)
{
    static const char find[] = "SELECT id FROM charges WHERE order_id = ?1 ORDER BY id DESC";
    struct fault f = service_fault(db, order, "show");
    int64_t id = service_sql(db, 0, find, "s", order);
    char status[16];

    if (f.kind != FAULT_FAIL && id != 0) {
        (void)service_sql_text(db, status, sizeof(status),
                               "SELECT status FROM charges WHERE id = ?1", "i", id);
        service_answer(a, 200, "{\"payment\":\"p-%lld\",\"status\":\"%s\"}", (long long)id, status);
    }
    service_apply_fault(&f, a);
}

/* Nothing of this order is paid any more, and nothing of it will be. */
static void refund_all(sqlite3 *db, const struct request *r, const char *order)
{
    int64_t cents = service_sql(
        db, 0,
        "SELECT coalesce(sum(cents), 0) FROM charges WHERE order_id = ?1 AND status = 'paid'", "s",
        order);

    service_sql(db, 0, "INSERT INTO refunds (key, order_id, cents) VALUES (?1, ?2, ?3)", "ssi",
                r->key, order, cents);
    service_sql(db, 0, "INSERT OR IGNORE INTO voided VALUES (?1)", "s", order);
    service_sql(db, 0,
                "UPDATE charges SET settles_to = NULL, status = CASE status WHEN 'paid' THEN "
                "'refunded' ELSE 'declined' END WHERE order_id = ?1 AND status IN ('paid', "
                "'pending')",
                "s", order);
}

static void refund(sqlite3 *db, const struct request *r, const char *order, struct answer *a)
{
    struct fault f = service_fault(db, order, "refund");
    static const char seen[] = "SELECT cents FROM refunds WHERE key = ?1";
    int64_t cents;

    if (f.kind == FAULT_DECLINE) {
        service_answer(a, 409, "{\"error\":{\"code\":\"refund_refused\"}}");
        return;
    }
    if (f.kind != FAULT_FAIL) {
        if (service_sql(db, -1, seen, "s", r->key) < 0)
            refund_all(db, r, order);
        cents = service_sql(db, 0, seen, "s", r->key);
        service_answer(a, 200, "{\"refunded\":%lld}", (long long)cents);
    }
    service_apply_fault(&f, a);
}

static void handle(sqlite3 *db, const struct request *r, struct answer *a)
{
    bool is_post = strcmp(r->method, "POST") == 0;
    char order[128];

    settle(db);
    if (is_post && strcmp(r->path, "/payments") == 0)
        charge(db, r, a);
    else if (is_post && service_path(r, "/payments/", "/refund", order, sizeof(order)))
        refund(db, r, order, a);
    else if (!is_post && service_path(r, "/payments/", "", order, sizeof(order)))
        show(db, order, a);
}

int main(int argc, char **argv)
{
    static const struct service payment = {.name = "payment", .schema = SCHEMA, .handle = handle};

    return service_main(&payment, argc, argv);
}
