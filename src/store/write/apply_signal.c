/* apply_signal.c - signals that a commit receives or takes; see apply_commit.h. */
#include "store/write/apply_commit.h"

#include "engine/commit/commit.h"
#include "engine/commit/reads.h"
#include "engine/signals.h"
#include "store/write/gather.h"
#include "value/json.h"

static bool write_field(struct arena *mem, struct value view, const char *field, struct str *out,
                        struct err *err)
{
    struct value v = value_map_get_str(view, str_of(field));
    struct buf text;

    *out = STR_NONE;
    if (v.kind == VALUE_ABSENT)
        return true;
    buf_init_arena(&text, mem);
    if (!json_write(&text, v, err))
        return false;
    *out = buf_view(&text);
    return true;
}

bool apply_signal_texts(struct apply *a, const struct signal *s, struct signal_texts *out,
                        struct err *err)
{
    *out = (struct signal_texts){0};
    return s->view.kind != VALUE_MAP ||
           (write_field(a->mem, s->view, "payload", &out->payload, err) &&
            write_field(a->mem, s->view, "by", &out->by, err));
}

/* DB_ROW: a signal of this id is stored; m->result says whether it is the same one. */
enum db_status apply_find_signal(struct apply *a, struct member *m, int64_t row,
                                 const struct signal_texts *texts)
{
    const struct signal *s = m->commit->received;
    const struct cached_signal *gathered = gather_signal(a, row, s->id);
    struct cached_signal known = {0};
    enum db_status status = DB_DONE;

    if (gathered != NULL) {
        known = *gathered;
        status = known.is_known ? DB_ROW : DB_DONE;
    } else {
        status = db_run(a->db, SQL_SIGNAL_FIND, DB_PARAMS(db_int(row), db_text(s->id)));
        if (status == DB_ROW)
            known = (struct cached_signal){.type = db_column_text(a->db, SQL_SIGNAL_FIND, 0),
                                           .payload = db_column_text(a->db, SQL_SIGNAL_FIND, 1)};
    }
    if (status == DB_ROW)
        m->result = str_eq(known.type, s->type) && str_eq(known.payload, texts->payload)
                        ? MEMBER_SIGNAL_KNOWN
                        : MEMBER_SIGNAL_DIFFERS;
    db_end(a->db, SQL_SIGNAL_FIND);
    return status;
}

bool apply_signal(struct apply *a, const struct signal *s, int64_t row,
                  const struct signal_texts *texts)
{
    if (a->db->has_sets)
        gather_received(a, row, s->id, s->type, texts->payload);
    return apply_put(a, SQL_SIGNAL_INSERT,
                     DB_PARAMS(db_int(row), db_text(s->id), db_text(s->type),
                               db_text_or_null(texts->payload), db_text_or_null(texts->by),
                               db_int(s->received_at_us), db_int(s->seq)));
}

/* Those that were kept until now; they have been in the store as they are. */
bool apply_taken(struct apply *a, struct member *m)
{
    const struct buffered_takes *takes = &m->commit->buffered_taken;

    for (size_t i = 0; i < takes->count; i++) {
        struct signal_texts texts;

        if (!apply_signal_texts(a, takes->items[i].signal, &texts, &m->err)) {
            a->status = DB_REFUSED;
            return false;
        }
        if (!apply_signal(a, takes->items[i].signal, m->row, &texts))
            return false;
    }
    return true;
}
