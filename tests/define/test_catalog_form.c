/*
 * test_catalog_form.c - claims about form_fields.def, option_words.def and
 * presets.def: each row is about something that the catalog has, in both
 * languages, and a preset is a step that compiles.
 */
#include "base/buf.h"
#include "define/catalog/catalog_form.h"
#include "define/definition.h"
#include "value/json.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static bool table_has(const char *owner, const char *field)
{
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++)
        if (strcmp(catalog_table((enum field_table)t)->name, owner) == 0)
            return catalog_field((enum field_table)t, str_of(field)) != NULL;
    return false;
}

static bool command_has(const char *owner, const char *field)
{
    const struct command_spec *spec = catalog_find(str_of(owner));

    if (spec == NULL)
        return false;
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
        if (strcmp(a->spec.name, field) == 0)
            return true;
    return false;
}

static void test_catalog_form__every_row_is_about_a_field_that_there_is(void **state)
{
    const struct form_field *row;

    (void)state;
    for (size_t i = 0; (row = catalog_form_field_at(i)) != NULL; i++) {
        if (!table_has(row->owner, row->field) && !command_has(row->owner, row->field))
            fail_msg("%s has no field %s", row->owner, row->field);
        if (catalog_form_field(row->owner, row->field) != row)
            fail_msg("%s.%s has two rows", row->owner, row->field);
    }
    assert_null(catalog_form_field("log", "message")->picks);
}

/* GET and base64 are written the same way by everybody. */
static bool is_plain(struct str word)
{
    return isupper((unsigned char)word.ptr[0]) || str_eq(word, STR("hex")) ||
           str_eq(word, STR("base64"));
}

static void assert_options(const char *owner, const struct field_spec *spec)
{
    struct str words = spec->words == NULL ? STR_NONE : str_trim(str_of(spec->words));

    while (words.len > 0) {
        int64_t space = str_find(words, STR(" "), 0);
        struct str word = str_slice(words, 0, space < 0 ? words.len : (size_t)space);
        const struct text *label = catalog_option_label(spec->name, word);

        if (label == NULL && !is_plain(word))
            fail_msg("%s.%s: nobody says what '%.*s' is", owner, spec->name, STR_ARG(word));
        words = str_slice(words, space < 0 ? words.len : (size_t)space + 1, words.len);
    }
}

static void test_catalog_form__every_option_has_words_for_people(void **state)
{
    (void)state;
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++) {
        const struct field_spec *spec = NULL;

        while ((spec = catalog_field_next((enum field_table)t, spec)) != NULL)
            assert_options(catalog_table((enum field_table)t)->name, spec);
    }
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = catalog_command((enum command_type)i);

        for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
            assert_options(spec->name, &a->spec);
    }
}

static void test_catalog_form__a_preset_is_a_step_that_compiles(void **state)
{
    (void)state;
    for (const struct preset *p = catalog_presets(); p->name != NULL; p++)
        for (unsigned language = 0; language < LANGUAGE_COUNT; language++) {
            struct value definition;
            struct err err;
            struct str text = str_printf(&definition_mem, "{\"code\":\"a\",\"steps\":[%s]}",
                                         p->step.in[language]);

            assert_true(p->label.in[language][0] != '\0' && p->help.in[language][0] != '\0');
            if (!json_read(&definition_mem, text, &definition, &err))
                fail_msg("%s: %s", p->name, err.message);
            if (definition_compile(definition) == NULL || definition_findings.count > 0)
                fail_msg("%s: %.*s", p->name, STR_ARG(definition_findings.items[0].message.text));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_catalog_form__every_row_is_about_a_field_that_there_is),
        DEFINITION_TEST(test_catalog_form__every_option_has_words_for_people),
        DEFINITION_TEST(test_catalog_form__a_preset_is_a_step_that_compiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
