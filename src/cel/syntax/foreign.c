/* foreign.c - see foreign.h. */
#include "cel/syntax/foreign.h"

#include "base/text/ascii.h"

static const struct {
    enum foreign_place place;
    const char *word, *advice;
} rows[] = {
#define FOREIGN(where, text, say) {FOREIGN_##where, (text), (say)},
#include "cel/syntax/foreign.def"
#undef FOREIGN
};

enum { ROW_COUNT = ARRAY_SIZE(rows) };

const char *foreign_advice(enum foreign_place place, struct str word)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].place == place && str_eq(str_of(rows[i].word), word))
            return rows[i].advice;
    return NULL;
}

/* Whether the row's text stands at `at`: of a word, all of it. */
static bool stands_at(struct str source, size_t at, size_t row)
{
    struct str word = str_of(rows[row].word);

    if (!str_starts_with(str_slice(source, at, source.len), word))
        return false;
    if (rows[row].place == FOREIGN_SYMBOL)
        return true;
    return rows[row].place == FOREIGN_WORD && (at == 0 || !ascii_is_word(source.ptr[at - 1])) &&
           (at == 0 || source.ptr[at - 1] != '.') &&
           (at + word.len == source.len || !ascii_is_word(source.ptr[at + word.len]));
}

/* The longest row that stands at `at`; ROW_COUNT when none does. */
static size_t row_at(struct str source, size_t at)
{
    size_t best = ROW_COUNT;

    for (size_t i = 0; i < ROW_COUNT; i++)
        if (stands_at(source, at, i) &&
            (best == ROW_COUNT || strlen(rows[i].word) > strlen(rows[best].word)))
            best = i;
    return best;
}

const char *foreign_syntax(struct str source, size_t offset, uint32_t *at)
{
    enum { SOURCE_MAX = 4000, CLOSE = 24 };
    const char *advice = NULL;
    char quote = '\0';

    if (source.len > SOURCE_MAX)
        return NULL;
    for (size_t i = 0; i < source.len && i <= offset + (advice == NULL ? CLOSE : 0); i++) {
        char c = source.ptr[i];
        size_t row;

        if (quote != '\0') {
            i += c == '\\';
            quote = c == quote ? '\0' : quote;
            continue;
        }
        if (c == '"' || c == '\'') {
            quote = c;
            continue;
        }
        row = row_at(source, i);
        if (row == ROW_COUNT)
            continue;
        advice = rows[row].advice;
        *at = (uint32_t)i;
        i += strlen(rows[row].word) - 1;
    }
    return advice;
}
