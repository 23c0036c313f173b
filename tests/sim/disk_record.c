/* disk_record.c - records on the disk of the simulator; see sim.h. */
#include "sim/disk.h"

#include "engine/commit/commit.h"
#include "value/json.h"

struct disk_record *disk_find_record(struct disk *d, struct str object, struct str id)
{
    char key[400];

    ASSERT(object.len + 1 + id.len <= sizeof(key));
    return map_get(&d->records, disk_join(key, object, id));
}

static struct disk_record *make_record(struct disk *d, struct str object, struct str id)
{
    struct disk_record *r = disk_find_record(d, object, id);

    if (r != NULL)
        return r;
    r = ARENA_NEW(&d->mem, struct disk_record);
    r->object = str_copy(&d->mem, object);
    r->id = str_copy(&d->mem, id);
    map_put(&d->records, disk_join(arena_alloc(&d->mem, object.len + 1 + id.len), object, id), r);
    *VEC_ADD(&d->mem, &d->record_list) = r;
    return r;
}

static void set_record(struct disk *d, struct disk_record *r, int64_t version, struct str json)
{
    struct err err;

    r->version = version;
    r->data_json = str_copy(&d->mem, json);
    if (version > 0 && !json_read(&d->mem, r->data_json, &r->data, &err))
        PANIC("a record is no JSON");
}

void disk_put_record(struct disk *d, struct str object, struct str id, struct str data_json)
{
    struct disk_record *r = make_record(d, object, id);

    set_record(d, r, ++r->last_version, data_json);
}

bool disk_has_stale_record(struct disk *d, const struct commit *c)
{
    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        const struct disk_record *r = disk_find_record(d, w->object, w->id);
        if ((r == NULL ? 0 : r->version) != w->read_version)
            return true;
        if (r != NULL && r->version == 0 && r->last_version >= w->version)
            return true; /* it came and went since it was read as missing */
        for (size_t k = 0; k < i; k++)
            if (str_eq(c->records.items[k].id, w->id) &&
                str_eq(c->records.items[k].object, w->object))
                return true; /* the second write of a record meets the first one's version */
    }
    return false;
}

void disk_write_records(struct sim *sim, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        struct disk_record *r = make_record(d, w->object, w->id);

        SIM_CHECK(sim, w->version > r->last_version, "a version of a record comes again");
        r->last_version = w->version;
        set_record(d, r, w->is_delete ? 0 : w->version, w->data_json);
    }
}
