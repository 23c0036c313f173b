/* catalog_form.c - see catalog_form.h. */
#include "define/catalog/catalog_form.h"

#include <string.h>

#define TEXT(en, ru)                                                                               \
    {                                                                                              \
        {                                                                                          \
            (en), (ru)                                                                             \
        }                                                                                          \
    }
#define EXAMPLE(...) #__VA_ARGS__

static const struct form_field form_fields[] = {
#define FORM_FIELD(field_owner, field_name, field_shown, field_section, field_picks)               \
    {.owner = (field_owner),                                                                       \
     .field = (field_name),                                                                        \
     .shown = SHOWN_##field_shown,                                                                 \
     .section = SECTION_##field_section,                                                           \
     .picks = (field_picks)},
#include "define/catalog/form_fields.def"
#undef FORM_FIELD
};

static const struct {
    const char *field, *word;
    struct text label;
} option_words[] = {
#define OPTION_WORD(option_field, option_word, option_label)                                       \
    {.field = (option_field), .word = (option_word), .label = option_label},
#include "define/catalog/option_words.def"
#undef OPTION_WORD
};

static const struct preset presets[] = {
#define PRESET(preset_name, preset_group, preset_label, preset_help, step_en, step_ru)             \
    {.name = (preset_name),                                                                        \
     .group = GROUP_##preset_group,                                                                \
     .label = preset_label,                                                                        \
     .help = preset_help,                                                                          \
     .step = TEXT(step_en, step_ru)},
#include "define/catalog/presets.def"
#undef PRESET
    {.name = NULL},
};

const struct form_field *catalog_form_field(const char *owner, const char *field)
{
    static const struct form_field says_nothing;

    for (size_t i = 0; i < ARRAY_SIZE(form_fields); i++)
        if (strcmp(form_fields[i].owner, owner) == 0 && strcmp(form_fields[i].field, field) == 0)
            return &form_fields[i];
    return &says_nothing;
}

const struct form_field *catalog_form_field_at(size_t i)
{
    return i < ARRAY_SIZE(form_fields) ? &form_fields[i] : NULL;
}

const struct text *catalog_option_label(const char *field, struct str word)
{
    for (size_t i = 0; i < ARRAY_SIZE(option_words); i++)
        if (strcmp(option_words[i].field, field) == 0 && str_eq(str_of(option_words[i].word), word))
            return &option_words[i].label;
    return NULL;
}

const struct preset *catalog_presets(void)
{
    return presets;
}
