/*
 * mask_links.c - links that answer waits, in texts; see mask.h.
 *
 * Who has such a link may answer, so that none is shown, logged or sent but where the author puts it.
 */
#include "value/mask.h"

#include "base/text/ascii.h"

static const struct str hidden_link = {.ptr = "***", .len = 3};

static bool is_link_char(char c)
{
    return ascii_is_letter_or_digit(c) || c == '-' || c == '_';
}

/* Where the next link begins, and how long it is; -1: there is none from there on. */
static int64_t link_find(struct str text, size_t from, size_t *len)
{
    const struct str mark = STR(MASK_LINK_MARK);

    for (int64_t at; (at = str_find(text, mark, from)) >= 0; from = (size_t)at + mark.len) {
        *len = mark.len;
        while ((size_t)at + *len < text.len && is_link_char(text.ptr[(size_t)at + *len]))
            ++*len;
        if (*len >= mark.len + MASK_LINK_MIN)
            return at;
    }
    return -1;
}

size_t mask_links_in(char *text, size_t len)
{
    size_t from = 0, kept = 0, link;
    int64_t at;

    while ((at = link_find(str_from(text, len), from, &link)) >= 0) {
        memmove(text + kept, text + from, (size_t)at - from);
        kept += (size_t)at - from;
        memcpy(text + kept, hidden_link.ptr, hidden_link.len);
        kept += hidden_link.len;
        from = (size_t)at + link;
    }
    memmove(text + kept, text + from, len - from);
    return kept + len - from;
}

struct str mask_links(struct arena *mem, struct str text)
{
    size_t len;
    char *copy;

    if (link_find(text, 0, &len) < 0)
        return text;
    copy = arena_alloc(mem, text.len + 1);
    memcpy(copy, text.ptr, text.len);
    len = mask_links_in(copy, text.len);
    copy[len] = '\0';
    return str_from(copy, len);
}
