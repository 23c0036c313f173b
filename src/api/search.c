/* search.c - see search.h. */
#include "api/search.h"

#include "base/text/ascii.h"
#include "base/text/fold.h"
#include "base/text/utf8.h"
#include "store/read_definition.h"

enum { PAGE_ROWS = 1000 };

/* Letters and digits of any script make words; punctuation and spaces stand between them. */
static bool is_in_word(uint32_t c)
{
    if (c < 0x80)
        return ascii_is_letter_or_digit((char)c);
    return c > 0xBF && (c < 0x2000 || c > 0x206F) && (c < 0x3000 || c > 0x303F);
}

bool search_has_word(struct arena *mem, struct str text, struct str q)
{
    struct str folded, wanted;
    bool is_inside = false;

    if (!utf8_is_valid(text)) /* a damaged row */
        return false;
    folded = fold_copy(mem, text);
    wanted = fold_copy(mem, q);
    for (size_t i = 0; i + wanted.len <= folded.len && i < folded.len;) {
        if (!is_inside && memcmp(folded.ptr + i, wanted.ptr, wanted.len) == 0)
            return true;
        is_inside = is_in_word(utf8_next(folded, &i));
    }
    return false;
}

/* A process has up to two rows, one behind the other: its draft and what is published. */
static bool is_last_found(const struct execution_filter *filter, struct str code)
{
    return filter->q_codes.count > 0 &&
           str_eq(filter->q_codes.items[filter->q_codes.count - 1], code);
}

static bool search_page(struct arena *mem, const struct stored_definitions *page,
                        struct execution_filter *filter, struct err *err)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct stored_definition *d = &page->items[i];

        /* The whole code is looked up in any case. */
        if (is_last_found(filter, d->code) || str_eq(d->code, filter->q) ||
            (!search_has_word(mem, d->code, filter->q) &&
             !search_has_word(mem, d->name, filter->q)))
            continue;
        if (filter->q_codes.count == SEARCH_CODES_MAX)
            return err_set(err, ERR_BAD_REQUEST,
                           "more than %d processes begin with '%.*s': type more of it",
                           SEARCH_CODES_MAX, STR_ARG(filter->q));
        *VEC_ADD(mem, &filter->q_codes) = d->code;
    }
    return true;
}

bool search_processes(struct reader *reader, struct arena *mem, struct execution_filter *filter,
                      struct err *err)
{
    struct stored_definitions page;
    struct str after = STR_NONE;
    struct uuid id;

    filter->q_codes.count = 0;
    if (filter->q.len == 0 || uuid_read(filter->q, &id))
        return true;
    do {
        page = (struct stored_definitions){0};
        if (!read_definitions(reader, mem, STR_NONE, after, PAGE_ROWS, &page, err) ||
            !search_page(mem, &page, filter, err))
            return false;
        if (page.count > 0)
            after = page.items[page.count - 1].code;
    } while (page.count == PAGE_ROWS);
    return true;
}
