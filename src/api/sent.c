/* sent.c - see sent.h. */
#include "api/sent.h"

#include "engine/commit/ask.h"
#include "engine/state.h"
#include "store/read_execution.h"
#include "value/json.h"

bool sent_is(const struct history_row *row)
{
    return row->kind == HISTORY_EVENT && (str_eq(row->status, str_of(ask_name(ASK_CALL))) ||
                                          str_eq(row->status, str_of(ask_name(ASK_JOB))));
}

struct str sent_json(struct arena *mem, const struct history_row *row)
{
    static const char *const shown[] = {"method", "url", "headers", "body", "credential"};
    struct value_entry entries[ARRAY_SIZE(shown)];
    size_t count = 0, duplicate;
    struct value request;
    struct err err;

    /* The rest of a request says how its answer is judged. */
    if (!str_eq(row->status, str_of(ask_name(ASK_CALL))) ||
        !json_read(mem, row->input_json, &request, &err) || request.kind != VALUE_MAP)
        return row->input_json;
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        struct value v = value_map_get_str(request, str_of(shown[i]));

        if (v.kind != VALUE_ABSENT)
            entries[count++] =
                (struct value_entry){.key = value_key(str_of(shown[i])), .value = v};
    }
    return json_must_text(mem, value_map_make(mem, entries, count, &duplicate));
}

bool sent_read(struct reader *reader, struct arena *mem, struct uuid execution, int64_t seq,
               struct str *json, struct str *key, struct err *err)
{
    struct history rows;
    bool found;

    *json = *key = STR_NONE;
    if (!read_history(reader, mem, execution, seq - 1, 1, &rows, &found, err))
        return false;
    if (!found || rows.count == 0 || rows.items[0].seq != seq || !sent_is(&rows.items[0]))
        return true;
    *json = sent_json(mem, &rows.items[0]);
    *key = rows.items[0].key;
    return true;
}

bool sent_fill(struct reader *reader, struct arena *mem, struct uuid execution,
               struct history_row *row, struct err *err)
{
    int64_t seq = state_row_sent(mem, row);

    return seq == 0 || sent_read(reader, mem, execution, seq, &row->sent_json, &row->sent_key, err);
}
