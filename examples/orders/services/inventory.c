/*
 * inventory.c - the inventory service of the example.
 *
 *     PUT  /stock/{sku} {"count"}              so many are in stock
 *     POST /reservations {"order", "items"}    all or nothing: 201 reserved, 409 out of stock
 *     POST /reservations/{order}/release       200 {"released": n}, also when there is nothing
 *
 * A reservation is idempotent by Idempotency-Key; releasing twice releases once.
 */
#include "service.h"

#include <stdio.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, count INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS reservations (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
    "order_id TEXT NOT NULL, items TEXT NOT NULL, status TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS reservations_by_order ON reservations (order_id);"
    "CREATE TABLE IF NOT EXISTS closed (order_id TEXT PRIMARY KEY);";

static bool has_all(sqlite3 *db, const char *items)
{
    return service_sql(db, 0,
                       "SELECT count(*) FROM json_each(?1) i LEFT JOIN stock s "
                       "ON s.sku = i.value ->> '$.sku' "
                       "WHERE coalesce(s.count, 0) < i.value ->> '$.count'",
                       "s", items) == 0;
}

static int64_t add_reservation(sqlite3 *db, const struct request *r, const char *order,
                               const struct fault *f)
{
    bool is_closed =
        service_sql(db, 0, "SELECT 1 FROM closed WHERE order_id = ?1", "s", order) != 0;
    char items[4096];
    bool is_refused;

    (void)service_sql_text(db, items, sizeof(items), "SELECT ?1 -> '$.items'", "s", r->body);
    is_refused = is_closed || f->kind == FAULT_DECLINE || !has_all(db, items);
    if (!is_refused)
        service_sql(db, 0,
                    "UPDATE stock SET count = count - (SELECT sum(i.value ->> '$.count') FROM "
                    "json_each(?1) i WHERE i.value ->> '$.sku' = sku) WHERE sku IN "
                    "(SELECT i.value ->> '$.sku' FROM json_each(?1) i)",
                    "s", items);
    service_sql(db, 0,
                "INSERT INTO reservations (key, order_id, items, status) VALUES (?1, ?2, ?3, ?4)",
                "ssss", r->key, order, items, is_refused ? "refused" : "reserved");
    return sqlite3_last_insert_rowid(db);
}

static void reserve(sqlite3 *db, const struct request *r, struct answer *a)
{
    char order[128], status[16];
    struct fault f;
    int64_t id;

    if (service_sql(db, 0, "SELECT json_valid(?1)", "s", r->body) == 0 ||
        !service_sql_text(db, order, sizeof(order), "SELECT ?1 ->> '$.order'", "s", r->body) ||
        order[0] == '\0' || r->key[0] == '\0') {
        service_answer(a, 422, "{\"error\":{\"code\":\"bad_request\"}}");
        return;
    }
    f = service_fault(db, order, "reserve");
    if (f.kind != FAULT_FAIL) {
        id = service_sql(db, 0, "SELECT id FROM reservations WHERE key = ?1", "s", r->key);
        if (id == 0)
            id = add_reservation(db, r, order, &f);
        (void)service_sql_text(db, status, sizeof(status),
                               "SELECT status FROM reservations WHERE id = ?1", "i", id);
        if (strcmp(status, "refused") == 0)
            service_answer(a, 409,
                           "{\"error\":{\"code\":\"out_of_stock\",\"message\":\"not all of it is "
                           "in stock\"}}");
        else
            service_answer(a, 201, "{\"reservation\":\"r-%lld\",\"status\":\"%s\"}", (long long)id,
                           status);
    }
    service_apply_fault(&f, a);
}

static void release_all(sqlite3 *db, const char *order)
{
    service_sql(db, 0,
                "UPDATE stock SET count = count + (SELECT coalesce(sum(i.value ->> '$.count'), 0) "
                "FROM reservations r, json_each(r.items) i WHERE r.order_id = ?1 "
                "AND r.status = 'reserved' AND i.value ->> '$.sku' = sku) WHERE sku IN "
                "(SELECT i.value ->> '$.sku' FROM reservations r, json_each(r.items) i "
                "WHERE r.order_id = ?1 AND r.status = 'reserved')",
                "s", order);
    service_sql(db, 0,
                "UPDATE reservations SET status = 'released' WHERE order_id = ?1 AND "
                "status = 'reserved'",
                "s", order);
    service_sql(db, 0, "INSERT OR IGNORE INTO closed VALUES (?1)", "s", order);
}

static void release(sqlite3 *db, const char *order, struct answer *a)
{
    struct fault f = service_fault(db, order, "release");
    int64_t count;

    if (f.kind != FAULT_FAIL) {
        release_all(db, order);
        count = service_sql(
            db, 0, "SELECT count(*) FROM reservations WHERE order_id = ?1 AND status = 'released'",
            "s", order);
        service_answer(a, 200, "{\"released\":%lld}", (long long)count);
    }
    service_apply_fault(&f, a);
}

static void handle(sqlite3 *db, const struct request *r, struct answer *a)
{
    bool is_post = strcmp(r->method, "POST") == 0;
    char name[128];

    if (is_post && strcmp(r->path, "/reservations") == 0) {
        reserve(db, r, a);
    } else if (is_post && service_path(r, "/reservations/", "/release", name, sizeof(name))) {
        release(db, name, a);
    } else if (strcmp(r->method, "PUT") == 0 &&
               service_path(r, "/stock/", "", name, sizeof(name))) {
        service_sql(db, 0,
                    "INSERT INTO stock VALUES (?1, ?2 ->> '$.count') "
                    "ON CONFLICT (sku) DO UPDATE SET count = excluded.count",
                    "ss", name, r->body);
        service_answer(a, 200, "{}");
    }
}

int main(int argc, char **argv)
{
    static const struct service inventory = {
        .name = "inventory", .schema = SCHEMA, .handle = handle};

    return service_main(&inventory, argc, argv);
}
