/* language.c - see language.h. */
#include "words/language.h"

#include "base/text/ascii.h"

bool language_find(struct str name, enum language *out)
{
    if (str_eq(name, STR("en")))
        *out = LANGUAGE_EN;
    else if (str_eq(name, STR("ru")))
        *out = LANGUAGE_RU;
    else
        return false;
    return true;
}

const char *language_name(enum language language)
{
    return language == LANGUAGE_RU ? "ru" : "en";
}

static bool tag_is(struct str tag, const char *language)
{
    return tag.len >= 2 && (tag.ptr[0] | 32) == language[0] && (tag.ptr[1] | 32) == language[1] &&
           (tag.len == 2 || tag.ptr[2] == '-');
}

/* The weight of "ru;q=0.8", in thousandths. */
static int item_weight(struct str item)
{
    int64_t q = str_find(item, STR("q="), 0);
    int weight = 0, scale = 100;

    if (q < 0 || (size_t)q + 2 >= item.len || item.ptr[q + 2] != '0')
        return 1000;
    for (size_t i = (size_t)q + 4; i < item.len && scale > 0; i++, scale /= 10)
        if (ascii_is_digit(item.ptr[i]))
            weight += (item.ptr[i] - '0') * scale;
    return weight;
}

enum language language_accepted(struct str accept_language)
{
    enum language best = LANGUAGE_EN;
    int best_weight = 0;

    while (accept_language.len > 0) {
        struct str item = str_trim(str_cut(&accept_language, ','));
        int weight = item_weight(item);
        struct str tag = str_trim(str_cut(&item, ';'));

        if ((tag_is(tag, "ru") || tag_is(tag, "en")) && weight > best_weight) {
            best_weight = weight;
            best = tag_is(tag, "ru") ? LANGUAGE_RU : LANGUAGE_EN;
        }
    }
    return best;
}
