/* synonym.c - see synonym.h. */
#include "cel/syntax/synonym.h"

struct str cel_synonym(struct str word)
{
    static const struct {
        const char *elsewhere, *here;
    } rows[] = {
#define SYNONYM(elsewhere_word, here_word) {.elsewhere = (elsewhere_word), .here = (here_word)},
#include "cel/syntax/synonyms.def"
#undef SYNONYM
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (str_eq(word, str_of(rows[i].elsewhere)))
            return str_of(rows[i].here);
    return STR_NONE;
}
