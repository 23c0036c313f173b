/* synonym.c - see synonym.h. */
#include "define/catalog/synonym.h"

#include "define/catalog/catalog.h"

static const struct {
    enum synonym_kind kind;
    const char *ours, *theirs;
} synonyms[] = {
#define SYNONYM(row_kind, row_ours, row_theirs)                                                    \
    {.kind = SYNONYM_##row_kind, .ours = (row_ours), .theirs = (row_theirs)},
#include "define/catalog/synonyms.def"
#undef SYNONYM
};

const char *synonym_next(enum synonym_kind kind, struct str theirs, size_t *at)
{
    while (*at < ARRAY_SIZE(synonyms)) {
        size_t i = (*at)++;

        if (synonyms[i].kind == kind && catalog_has_word(str_of(synonyms[i].theirs), theirs))
            return synonyms[i].ours;
    }
    return NULL;
}
