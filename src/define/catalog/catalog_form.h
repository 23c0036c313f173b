/*
 * catalog_form.h - what the catalog says for forms and palettes alone:
 * form_fields.def, option_words.def and presets.def for C code. Checking does
 * not read them.
 *
 * why: decision 0307
 */
#ifndef PAWL_DEFINE_CATALOG_CATALOG_FORM_H
#define PAWL_DEFINE_CATALOG_CATALOG_FORM_H

#include "define/catalog/catalog.h"

enum form_shown { SHOWN_ASKED, SHOWN_FIRST };
enum form_section { SECTION_REQUEST, SECTION_ANSWER };

struct form_field {
    const char *owner, *field;
    enum form_shown shown;
    enum form_section section;
    const char *picks; /* or NULL */
};

/* What a form makes of a field of a command or a table; a row of its own, or the one that says nothing. */
const struct form_field *catalog_form_field(const char *owner, const char *field);

/* What people call an option of a field; NULL: by its own word. */
const struct text *catalog_option_label(const char *field, struct str word);

struct preset {
    const char *name; /* NULL behind the last one */
    enum command_group group;
    struct text label, help;
    struct text step; /* JSON */
};

const struct preset *catalog_presets(void);

/* The rows of form_fields.def, for tests: NULL behind the last one. */
const struct form_field *catalog_form_field_at(size_t i);

#endif
