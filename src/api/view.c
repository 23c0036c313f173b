/* view.c - see view.h. */
#include "api/view.h"

#include "api/api.h"
#include "base/alloc.h"
#include "base/map.h"
#include "engine/show.h"
#include "store/read_definition.h"
#include "store/read_execution.h"
#include "value/json.h"

#include <pthread.h>

enum { REMEMBERED_MAX = 10000 };

/* struct value of each version's `access`, by code@version; all in `mem`, forgotten at once. */
struct view_memory {
    pthread_mutex_t lock;
    struct arena mem;
    struct map access;
};

struct view_memory *view_memory_new(void)
{
    struct view_memory *m = alloc_bytes(sizeof(*m));

    if (pthread_mutex_init(&m->lock, NULL) != 0)
        PANIC("no mutex");
    arena_init(&m->mem);
    map_init(&m->access, &m->mem);
    return m;
}

void view_memory_free(struct view_memory *m)
{
    pthread_mutex_destroy(&m->lock);
    arena_fini(&m->mem);
    free(m);
}

/* With the lock held. */
static const struct value *remember(struct view_memory *m, struct str key, struct str json)
{
    struct value *v;
    struct err err;

    if (m->access.count >= REMEMBERED_MAX) {
        arena_reset(&m->mem);
        map_init(&m->access, &m->mem);
    }
    v = ARENA_NEW(&m->mem, struct value);
    *v = value_absent();
    /* An `access` that cannot be read lets nobody in: it may have named anybody. */
    if (json.len > 0 && (!json_read(&m->mem, str_copy(&m->mem, json), v, &err) ||
                         (v->kind != VALUE_MAP && v->kind != VALUE_NULL)))
        *v = value_bool(false);
    map_put(&m->access, str_copy(&m->mem, key), v);
    return v;
}

/* What `access` of that version says about `what`. */
static bool ask_access(const struct call *c, struct arena *mem, struct reader *reader,
                       struct str code, int64_t version, const char *what, bool *out,
                       struct err *err)
{
    struct view_memory *m = api_parts(c->api)->views;
    struct str key, json = STR_NONE;
    const struct value *access;

    *out = true;
    if (c->role == ROLE_ADMIN)
        return true;
    key = str_printf(mem, "%.*s@%lld", STR_ARG(code), (long long)version);
    pthread_mutex_lock(&m->lock);
    access = map_get(&m->access, key);
    if (access == NULL) {
        pthread_mutex_unlock(&m->lock);
        if (!read_access(reader, mem, code, version, &json, err))
            return false;
        pthread_mutex_lock(&m->lock);
        access = remember(m, key, json);
    }
    *out = access_allows(*access, what, c->user.role, c->user.groups);
    pthread_mutex_unlock(&m->lock);
    return true;
}

bool view_allows(const struct call *c, struct arena *mem, struct reader *reader, struct str org_id,
                 struct str code, int64_t version, bool *out, struct err *err)
{
    *out = str_eq(org_id, c->user.org_id);
    return !*out || ask_access(c, mem, reader, code, version, "view", out, err);
}

bool view_allows_acting(const struct call *c, struct arena *mem, struct reader *reader,
                        struct str org_id, struct str code, int64_t version, bool *out,
                        struct err *err)
{
    if (!view_allows(c, mem, reader, org_id, code, version, out, err))
        return false;
    return !*out || ask_access(c, mem, reader, code, version, "operate", out, err);
}

bool view_check(const struct call *c, struct arena *mem, struct reader *reader, struct str org_id,
                struct str code, int64_t version, struct err *err)
{
    bool is_visible;

    if (!view_allows(c, mem, reader, org_id, code, version, &is_visible, err))
        return false;
    return is_visible || err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
}

static bool view_read(const struct call *c, struct arena *mem, struct reader *reader,
                      struct uuid id, struct execution_owner *owner, struct err *err)
{
    bool found;

    if (!read_owner(reader, mem, id, owner, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    return view_check(c, mem, reader, owner->org_id, owner->code, owner->version, err);
}

bool view_check_id(const struct call *c, struct arena *mem, struct reader *reader, struct uuid id,
                   struct err *err)
{
    struct execution_owner owner;

    return view_read(c, mem, reader, id, &owner, err);
}

bool view_check_acting(const struct call *c, struct arena *mem, struct reader *reader,
                       struct uuid id, struct err *err)
{
    struct execution_owner owner;
    bool may_act;

    if (!view_read(c, mem, reader, id, &owner, err) ||
        !ask_access(c, mem, reader, owner.code, owner.version, "operate", &may_act, err))
        return false;
    return may_act || err_set(err, ERR_FORBIDDEN, "its definition lets others operate it, not you");
}

void view_history_row(struct arena *mem, struct buf *out, const struct mask *mask, struct uuid id,
                      const struct history_row *row)
{
    struct buf whole;

    if (mask_is_empty(mask)) {
        show_history_row(out, id, row);
        return;
    }
    buf_init_arena(&whole, mem);
    show_history_row(&whole, id, row);
    mask_view(mem, mask, buf_view(&whole), out);
}
