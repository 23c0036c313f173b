/* sent.c - see sent.h. */
#include "api/sent.h"

#include "engine/show.h"
#include "engine/state.h"
#include "store/read_execution.h"

bool sent_read(struct reader *reader, struct arena *mem, struct uuid execution, int64_t seq,
               struct str *json, struct str *key, struct err *err)
{
    struct history rows;
    bool found;

    *json = *key = STR_NONE;
    if (!read_history(reader, mem, execution, seq - 1, 1, &rows, &found, err))
        return false;
    if (!found || rows.count == 0 || rows.items[0].seq != seq || !show_is_sent(&rows.items[0]))
        return true;
    *json = show_sent(mem, &rows.items[0]);
    *key = rows.items[0].key;
    return true;
}

bool sent_fill(struct reader *reader, struct arena *mem, struct uuid execution,
               struct history_row *row, struct err *err)
{
    int64_t seq = state_row_sent(mem, row);

    return seq == 0 || sent_read(reader, mem, execution, seq, &row->sent_json, &row->sent_key, err);
}
