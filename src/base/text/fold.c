/* fold.c - see fold.h. */
#include "base/text/fold.h"

#include "base/text/utf8.h"

/* Capitals and small letters that take turns: which of the two is even. */
enum fold_turn { CAPITAL_IS_EVEN, CAPITAL_IS_ODD };

struct fold_range {
    uint32_t first, last;
    uint32_t add; /* 0: they take turns */
    enum fold_turn turn;
};

static const struct fold_range ranges[] = {
    {.first = 0x41, .last = 0x5a, .add = 32},
    {.first = 0xc0, .last = 0xd6, .add = 32},
    {.first = 0xd8, .last = 0xde, .add = 32},
    {.first = 0x100, .last = 0x12f, .turn = CAPITAL_IS_EVEN},
    {.first = 0x132, .last = 0x137, .turn = CAPITAL_IS_EVEN},
    {.first = 0x139, .last = 0x148, .turn = CAPITAL_IS_ODD},
    {.first = 0x14a, .last = 0x177, .turn = CAPITAL_IS_EVEN},
    {.first = 0x179, .last = 0x17e, .turn = CAPITAL_IS_ODD},
    {.first = 0x386, .last = 0x386, .add = 0x3ac - 0x386},
    {.first = 0x388, .last = 0x38a, .add = 37},
    {.first = 0x38c, .last = 0x38c, .add = 0x3cc - 0x38c},
    {.first = 0x38e, .last = 0x38f, .add = 63},
    {.first = 0x391, .last = 0x3a1, .add = 32},
    {.first = 0x3a3, .last = 0x3ab, .add = 32},
    {.first = 0x400, .last = 0x40f, .add = 80},
    {.first = 0x410, .last = 0x42f, .add = 32},
    {.first = 0x460, .last = 0x481, .turn = CAPITAL_IS_EVEN},
    {.first = 0x48a, .last = 0x4bf, .turn = CAPITAL_IS_EVEN},
    {.first = 0x4c1, .last = 0x4ce, .turn = CAPITAL_IS_ODD},
    {.first = 0x4d0, .last = 0x52f, .turn = CAPITAL_IS_EVEN},
};

uint32_t fold_code_point(uint32_t c)
{
    if (c == 0x178)
        return 0xff; /* it stands far from the others */
    for (size_t i = 0; i < ARRAY_SIZE(ranges) && ranges[i].first <= c; i++) {
        const struct fold_range *r = &ranges[i];

        if (c > r->last)
            continue;
        if (r->add > 0)
            return c + r->add;
        return c % 2 == (r->turn == CAPITAL_IS_ODD) ? c + 1 : c;
    }
    return c;
}

void fold_in_place(char *text, size_t len)
{
    size_t at = 0;

    /* A capital has as many bytes as its small letter. */
    while (at < len) {
        size_t from = at;
        uint32_t c = utf8_next(str_from(text, len), &at), small = fold_code_point(c);

        if (small != c)
            (void)utf8_encode(text + from, small);
    }
}

struct str fold_copy(struct arena *mem, struct str text)
{
    char *out = arena_copy(mem, text.ptr, text.len);

    fold_in_place(out, text.len);
    return str_from(out, text.len);
}
