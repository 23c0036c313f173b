/*
 * test_catalog.c - claims about the rows of fields.def, commands.def and
 * function_texts.def: each is complete in both languages, its kind can be
 * read, and what it says is what checking does.
 */
#include "base/buf.h"
#include "define/catalog/catalog_json.h"
#include "define/definition.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

/* --- texts --- */

static bool has_cyrillic(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text == 0xd0 || (unsigned char)*text == 0xd1)
            return true;
    return false;
}

/* Words that are the same in both languages. */
static bool is_common(const char *text)
{
    return strcmp(text, "HTML") == 0 || strcmp(text, "true") == 0 ||
           strspn(text, "-01, .orили") > 3;
}

static void assert_text(const char *where, const struct text *t)
{
    if (t->in[LANGUAGE_EN] == NULL || t->in[LANGUAGE_EN][0] == '\0' ||
        has_cyrillic(t->in[LANGUAGE_EN]))
        fail_msg("%s has no English text", where);
    if (t->in[LANGUAGE_RU] == NULL || t->in[LANGUAGE_RU][0] == '\0' ||
        (!has_cyrillic(t->in[LANGUAGE_RU]) && !is_common(t->in[LANGUAGE_RU])))
        fail_msg("%s has no Russian text", where);
}

/* --- kinds --- */

static bool is_kind_word(struct str word)
{
    struct word_list words = catalog_kind_words();

    for (size_t i = 0; i < words.count; i++)
        if (str_eq(str_of(words.items[i].name), word))
            return true;
    for (unsigned i = 0; i < FIELD_TABLE_COUNT; i++)
        if (str_eq(str_of(catalog_table((enum field_table)i)->name), word))
            return true;
    return false;
}

/* The grammar in field_kinds.def. */
static bool is_kind(struct str kind)
{
    int64_t end = str_find(kind, STR(" or "), 0);
    struct str term = str_slice(kind, 0, end < 0 ? kind.len : (size_t)end);

    if (end >= 0 && !is_kind(str_slice(kind, (size_t)end + 4, kind.len)))
        return false;
    while (str_starts_with(term, STR("list of ")) || str_starts_with(term, STR("map of ")))
        term = str_slice(term, (size_t)str_find(term, STR(" of "), 0) + 4, term.len);
    return is_kind_word(term);
}

static void assert_field(const char *place, const struct field_spec *spec)
{
    char where[200];
    struct value example;
    struct err err;

    (void)snprintf(where, sizeof(where), "%s.%s", place, spec->name);
    assert_text(where, &spec->label);
    assert_text(where, &spec->help);
    if (!is_kind(str_of(spec->kind)))
        fail_msg("%s: '%s' is no kind", where, spec->kind);
    if ((spec->words != NULL) != (str_find(str_of(spec->kind), STR("one of"), 0) >= 0))
        fail_msg("%s: 'one of' goes with words", where);
    if (!json_read(&definition_mem, str_of(spec->example), &example, &err))
        fail_msg("%s: the example is no JSON: %s", where, spec->example);
    if (spec->words != NULL && example.kind == VALUE_STRING &&
        !catalog_has_word(str_of(spec->words), value_text(example)))
        fail_msg("%s: the example is none of its words", where);
}

static void test_catalog__every_field_has_texts_a_kind_and_an_example(void **state)
{
    (void)state;
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++) {
        const struct table_spec *table = catalog_table((enum field_table)t);
        const struct field_spec *spec = NULL;
        unsigned count = 0;

        assert_text(table->name, &table->label);
        assert_text(table->name, &table->help);
        for (; (spec = catalog_field_next((enum field_table)t, spec)) != NULL; count++)
            assert_field(table->name, spec);
        assert_true(count > 0);
    }
}

static void test_catalog__every_command_says_what_it_takes_and_returns(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = catalog_command((enum command_type)i);

        assert_text(spec->name, &spec->label);
        assert_text(spec->name, &spec->help);
        assert_text(spec->name, &spec->result.help);
        assert_text(spec->name, &catalog_group(spec->group)->label);
        assert_true(is_kind(str_of(spec->result.kind)));
        for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++) {
            assert_field(spec->name, &a->spec);
            assert_true(str_eq(str_of(a->spec.name), catalog_field_name(a->field)));
        }
        for (const struct result_member *m = spec->result.members; m->name != NULL; m++) {
            assert_text(spec->name, &m->help);
            assert_true(is_kind(str_of(m->kind)));
        }
    }
}

static void test_catalog__every_kind_is_explained(void **state)
{
    struct word_list words = catalog_kind_words();

    (void)state;
    for (size_t i = 0; i < words.count; i++)
        assert_text(words.items[i].name, &words.items[i].label);
    assert_true(is_kind(STR("list of list of step or map of any")));
    assert_false(is_kind(STR("list of lists")));
    assert_false(is_kind(STR("text or")));
}

/* --- the rows and the compiler --- */

/* A scenario of one step in which the fields of a command have the values of their examples. */
static const char *example_of(const struct command_spec *spec, const struct argument *changed,
                              const char *value)
{
    struct buf out;

    buf_init_arena(&out, &definition_mem);
    buf_printf(&out,
               "{\"code\":\"a\",\"input\":[],\"procedures\":{\"price\":[{\"type\":\"log\","
               "\"message\":\"x\"}]},\"steps\":[{\"code\":\"charge\",\"procedure\":{\"type\":"
               "\"%s\"",
               spec->name);
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++) {
        const char *written = a == changed ? value : a->spec.example;
        if (written != NULL && a->field != FIELD_PATH) /* it stands in the place of `url` */
            buf_printf(&out, ",\"%s\":%s", a->spec.name, written);
    }
    buf_text(&out, "}},{\"code\":\"read\",\"procedure\":{\"type\":\"log\",\"message\":\"x\"}},"
                   "{\"code\":\"escalate\",\"procedure\":{\"type\":\"log\",\"message\":\"x\"}}]}");
    buf_char(&out, '\0');
    return buf_view(&out).ptr;
}

static bool compiles(const char *text)
{
    struct value definition;
    struct err err;

    if (!json_read(&definition_mem, str_of(text), &definition, &err))
        fail_msg("%s", err.message);
    return definition_compile(definition) != NULL;
}

static void show_findings(const char *text)
{
    for (size_t i = 0; i < definition_findings.count; i++)
        print_error("%.*s: %.*s\n", STR_ARG(definition_findings.items[i].pointer),
                    STR_ARG(definition_findings.items[i].message.text));
    fail_msg("%s", text);
}

/* A node of a schema alone, and no command of a scenario: test_schema_graph.c tries those. */
static bool is_of_node(const struct command_spec *spec)
{
    return spec->place == PLACE_NODE;
}

static void test_catalog__examples_of_commands_compile(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const char *text = example_of(catalog_command((enum command_type)i), NULL, NULL);
        if (!compiles(text) != is_of_node(catalog_command((enum command_type)i)))
            show_findings(text);
    }
}

static bool was_found(const char *code, const char *field)
{
    for (size_t i = 0; i < definition_findings.count; i++) {
        const struct finding *f = &definition_findings.items[i];
        struct str end = str_printf(&definition_mem, "/%s", field);

        if (str_eq(f->code, str_of(code)) && f->pointer.len >= end.len &&
            str_eq(str_slice(f->pointer, f->pointer.len - end.len, f->pointer.len), end))
            return true;
    }
    return false;
}

static void test_catalog__a_field_of_a_command_is_needed_exactly_when_its_row_says_so(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = catalog_command((enum command_type)i);

        for (const struct argument *a = spec->arguments; a->spec.name != NULL && !is_of_node(spec);
             a++) {
            bool ok = compiles(example_of(spec, a, NULL));
            if (a->field == FIELD_URL && !ok) /* this one, or `path` */
                continue;
            if (ok != (a->spec.need == FIELD_IS_OPTIONAL) ||
                (!ok && !was_found("missing_field", a->spec.name)))
                fail_msg("%s.%s", spec->name, a->spec.name);
        }
    }
}

static void test_catalog__a_word_that_is_no_option_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = catalog_command((enum command_type)i);

        for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
            if (a->spec.words != NULL && !is_of_node(spec) &&
                (compiles(example_of(spec, a, "\"nothing_of_the_kind\"")) ||
                 !was_found("bad_value", a->spec.name)))
                fail_msg("%s.%s", spec->name, a->spec.name);
    }
}

/* What stands in a definition of which everything but the fields of one table is right. */
static const struct {
    enum field_table table;
    const char *shape; /* %s are the fields */
    const char *rest;  /* fields that must be there beside the one that is tried */
} shapes[] = {
    {TABLE_SCENARIO, "{%s}", "'code': 'a', 'steps': []"},
    {TABLE_SCHEMA, "{%s}", "'code': 'a', 'nodes': [{'id': 's', 'type': 'start'}]"},
    {TABLE_NODE,
     "{'code': 'a', 'nodes': [{'id': 's', 'type': 'start'}, {%s}], 'edges': [{'source': 's', "
     "'target': 'x'}]}",
     "'id': 'x', 'type': 'log', 'config': {'message': 'x'}"},
    {TABLE_EDGE,
     "{'code': 'a', 'nodes': [{'id': 's', 'type': 'start'}, {'id': 'x', 'type': 'end'}], 'edges': "
     "[{%s}]}",
     "'source': 's', 'target': 'x'"},
    {TABLE_BRANCH_CASE,
     "{'code': 'a', 'nodes': [{'id': 's', 'type': 'start'}, {'id': 'c', 'type': 'condition', "
     "'config': {'cases': [{%s}]}}, {'id': 'x', 'type': 'end'}], 'edges': [{'source': 's', "
     "'target': 'c'}, {'source': 'c', 'target': 'x', 'branch': 'b'}, {'source': 'c', 'target': "
     "'x', 'branch': 'default'}]}",
     "'branch': 'b', 'expression': 'true'"},
    {TABLE_PARAM, "{'code': 'a', 'input': [{%s}], 'steps': []}", "'name': 'x'"},
    {TABLE_SETTINGS, "{'code': 'a', 'settings': {%s}, 'steps': []}", ""},
    {TABLE_RETRY, "{'code': 'a', 'settings': {'retryPolicy': {%s}}, 'steps': []}", ""},
    {TABLE_ACCESS, "{'code': 'a', 'access': {%s}, 'steps': []}", ""},
    {TABLE_TRIGGER_SCHEDULE, "{'code': 'a', 'triggers': [{%s}], 'steps': []}",
     "'type': 'schedule', 'cron': '0 9 * * *'"},
    {TABLE_TRIGGER_WEBHOOK, "{'code': 'a', 'triggers': [{%s}], 'steps': []}",
     "'type': 'webhook', 'path': 'x'"},
    {TABLE_VERIFY,
     "{'code': 'a', 'triggers': [{'type': 'webhook', 'path': 'x', 'verify': {%s}}], 'steps': []}",
     "'credential': 'x', 'header': 'x'"},
    {TABLE_TRIGGER_SIGNAL,
     "{'code': 'a', 'triggers': [{'type': 'webhook', 'path': 'x', 'signal': {%s}}], 'steps': []}",
     "'type': 'x', 'correlation': 'x'"},
    {TABLE_TRIGGER_EVENT, "{'code': 'a', 'triggers': [{%s}], 'steps': []}",
     "'type': 'event', 'event': 'x'"},
    {TABLE_TRIGGER_ACTION, "{'code': 'a', 'triggers': [{%s}], 'steps': []}",
     "'type': 'action', 'object': 'x'"},
    {TABLE_STEP, "{'code': 'a', 'steps': [{%s}]}",
     "'code': 'x', 'procedure': {'type': 'log', 'message': 'x'}"},
    {TABLE_WAY, "{'code': 'a', 'steps': [{'code': 'x', 'branch': [{%s}]}]}", "'steps': []"},
    {TABLE_LOOP, "{'code': 'a', 'steps': [{'code': 'x', 'loop': {%s}}]}", "'for': [], 'steps': []"},
    {TABLE_PARALLEL, "{'code': 'a', 'steps': [{'code': 'x', 'parallel': {%s}}]}",
     "'branches': [[]]"},
    {TABLE_JUMP,
     "{'code': 'a', 'steps': [{'code': 'x', 'goto': [{%s}], 'procedure': "
     "{'type': 'log', 'message': 'x'}}]}",
     "'to': 'end'"},
    {TABLE_CALL,
     "{'code': 'a', 'steps': [{'code': 'x', 'rollback': {%s}, 'procedure': "
     "{'type': 'log', 'message': 'x'}}]}",
     "'procedure': {'type': 'log', 'message': 'x'}"},
    {TABLE_RECONCILE,
     "{'code': 'a', 'steps': [{'code': 'x', 'reconcile': {%s}, 'procedure': "
     "{'type': 'log', 'message': 'x'}}]}",
     "'procedure': {'type': 'log', 'message': 'x'}"},
    {TABLE_PROCEDURE, "{'code': 'a', 'procedures': {'p': {%s}}, 'steps': []}",
     "'commands': [{'type': 'log', 'message': 'x'}]"},
    {TABLE_COMMAND, "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {%s}}]}",
     "'type': 'log', 'message': 'x'"},
    {TABLE_REMINDER,
     "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {'type': 'wait.signal', "
     "'signalType': 'x', 'reminder': {%s}}}]}",
     "'every': '1d', 'procedure': {'type': 'log', 'message': 'x'}"},
    {TABLE_ON_TIMEOUT,
     "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {'type': "
     "'wait.signal', 'signalType': 'x', 'timeout': '1d', 'onTimeout': {%s}}}]}",
     "'to': 'end'"},
    {TABLE_FACT,
     "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {'type': 'wait.signal', "
     "'signalType': 'x', 'show': [{%s}]}}]}",
     "'label': 'x', 'value': 1"},
    {TABLE_CONSEQUENCE,
     "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {'type': 'wait.signal', "
     "'signalType': 'x', 'then': [{%s}]}}]}",
     "'label': 'x', 'text': 'x'"},
    {TABLE_RULE,
     "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {'type': "
     "'compute.validate', 'rules': [{%s}]}}]}",
     "'expr': 'true', 'code': 'x', 'message': 'x'"},
    {TABLE_AGGREGATE,
     "{'code': 'a', 'steps': [{'code': 'x', 'procedure': {'type': "
     "'compute.aggregate', 'items': [], 'fields': {'f': {%s}}}}]}",
     "'op': 'count'"},
};

/* The fields without one of them: those of `rest` are apart at the top level. */
static struct value without(struct value map, struct str name)
{
    struct value_entry *entries = ARENA_ARRAY(&definition_mem, map.len + 1, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < map.len; i++)
        if (!str_eq(value_text(map.map->entries[i].key), name))
            entries[count++] = map.map->entries[i];
    return value_map_take(&definition_mem, entries, count);
}

/* `rest` with a field as given, or without it when `v` is absent. */
static struct value shaped(size_t i, const char *name, struct value v)
{
    struct value rest = without(
        definition_value(str_printf(&definition_mem, "{%s}", shapes[i].rest).ptr), str_of(name));
    struct value_entry *entries = ARENA_ARRAY(&definition_mem, rest.len + 1, struct value_entry);
    struct buf text;
    struct str json;
    struct err err;

    for (uint32_t k = 0; k < rest.len; k++)
        entries[k] = rest.map->entries[k];
    entries[rest.len] = (struct value_entry){value_key(str_of(name)), v};
    rest = value_map_take(&definition_mem, entries, rest.len + (v.kind == VALUE_ABSENT ? 0 : 1));
    buf_init_arena(&text, &definition_mem);
    assert_true(json_write(&text, rest, &err));
    json = str_slice(buf_view(&text), 1, buf_view(&text).len - 1);
    assert_true(json_read(&definition_mem,
                          str_printf(&definition_mem, definition_quote(shapes[i].shape),
                                     str_copy(&definition_mem, json).ptr),
                          &rest, &err));
    return rest;
}

static void compile_shaped(size_t i, struct value definition)
{
    if (shapes[i].table == TABLE_SCHEMA ||
        value_map_get_str(definition, STR("nodes")).kind != VALUE_ABSENT)
        (void)definition_schema(definition);
    else
        (void)definition_compile(definition);
}

static void test_catalog__what_a_row_says_is_what_checking_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        const struct field_spec *spec = NULL;

        while ((spec = catalog_field_next(shapes[i].table, spec)) != NULL) {
            struct str kind = str_of(spec->kind);
            const char *where = str_printf(&definition_mem, "%s.%s",
                                           catalog_table(shapes[i].table)->name, spec->name)
                                    .ptr;

            compile_shaped(i, shaped(i, spec->name, value_absent()));
            if (was_found("missing_field", spec->name) != (spec->need == FIELD_IS_NEEDED) &&
                strcmp(where, "step.procedure") != 0)
                fail_msg("%s is not needed as its row says", where);
            compile_shaped(i, shaped(i, spec->name, value_int(5)));
            if (was_found("unknown_field", spec->name))
                fail_msg("%s is unknown", where);
            if (spec->state == STATE_LATER && !was_found("not_supported_yet", spec->name))
                fail_msg("%s is built", where);
            /* One within a scenario is called by its key, whatever it calls itself. */
            if (strcmp(where, "procedure.code") == 0)
                continue;
            if (spec->state == STATE_NOW && str_find(kind, STR("any"), 0) != 0 &&
                str_find(kind, STR("integer"), 0) < 0 && !str_eq(kind, STR("number")) &&
                !str_eq(kind, STR("value")) && !was_found("wrong_type", spec->name) &&
                !was_found("one_of", "0") && !was_found("one_of", "loop"))
                fail_msg("%s takes a number", where);
            if (spec->words != NULL && spec->state == STATE_NOW) {
                compile_shaped(i, shaped(i, spec->name, value_string(STR("nothing_of_the_kind"))));
                if (!was_found("bad_value", spec->name))
                    fail_msg("%s takes any word", where);
            }
        }
    }
}

/* --- functions --- */

static struct value catalog_value(enum language language)
{
    struct value catalog;
    struct buf out;
    struct err err;

    buf_init_arena(&out, &definition_mem);
    catalog_write(&out, language);
    if (!json_read(&definition_mem, buf_view(&out), &catalog, &err))
        fail_msg("%s", err.message);
    return catalog;
}

static struct str member(struct value map, const char *name)
{
    return value_text(value_map_get_str(map, str_of(name)));
}

static void test_catalog__every_function_of_the_language_is_explained(void **state)
{
    static const char *const names[] = {
#define FN(symbol, name, style, signature, modes) name,
#include "cel/functions.def"
#undef FN
    };
    struct value functions = value_map_get_str(catalog_value(LANGUAGE_EN), STR("functions"));

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        bool found = names[i][0] == '@'; /* what macros and templates call */

        for (uint32_t k = 0; k < functions.len && !found; k++)
            found = str_eq(member(functions.items[k], "name"), str_of(names[i])) &&
                    !value_is_true(value_map_get_str(functions.items[k], STR("isMacro")));
        if (!found)
            fail_msg("%s has no text", names[i]);
    }
    for (uint32_t k = 0; k < functions.len; k++)
        if (value_map_get_str(functions.items[k], STR("signatures")).len == 0)
            fail_msg("%.*s is no function", STR_ARG(member(functions.items[k], "name")));
}

static void test_catalog__examples_of_functions_give_what_they_say(void **state)
{
    struct value functions = value_map_get_str(catalog_value(LANGUAGE_EN), STR("functions"));
    struct cel_env *env = cel_env_new(&definition_mem, CEL_DEFINITION);

    (void)state;
    for (uint32_t i = 0; i < functions.len; i++) {
        struct cel_activation activation = {0};
        const struct cel_program *program;
        struct buf got, wanted;
        struct value v;
        struct err err;

        if (!cel_compile(&definition_mem, env, member(functions.items[i], "example"), NULL,
                         &program, &err))
            fail_msg("%.*s: %s", STR_ARG(member(functions.items[i], "example")), err.message);
        v = cel_evaluate(&definition_mem, program, &activation, NULL);
        buf_init_arena(&got, &definition_mem);
        buf_init_arena(&wanted, &definition_mem);
        assert_true(
            json_write(&wanted, value_map_get_str(functions.items[i], STR("result")), &err));
        if (!json_write(&got, v, &err) || !str_eq(buf_view(&got), buf_view(&wanted)))
            fail_msg("%.*s is %.*s", STR_ARG(member(functions.items[i], "example")),
                     STR_ARG(buf_view(&got)));
        cel_program_release(program);
    }
}

static void test_catalog__both_languages_have_the_same_shape(void **state)
{
    struct value en = catalog_value(LANGUAGE_EN), ru = catalog_value(LANGUAGE_RU);
    struct value a = value_map_get_str(en, STR("functions"));
    struct value b = value_map_get_str(ru, STR("functions"));

    (void)state;
    assert_int_equal(en.len, ru.len);
    assert_int_equal(a.len, b.len);
    for (uint32_t i = 0; i < a.len; i++) {
        assert_true(str_eq(member(a.items[i], "example"), member(b.items[i], "example")));
        assert_false(has_cyrillic(str_copy(&definition_mem, member(a.items[i], "help")).ptr));
        if (!has_cyrillic(str_copy(&definition_mem, member(b.items[i], "help")).ptr))
            fail_msg("%.*s has no Russian text", STR_ARG(member(a.items[i], "name")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_catalog__every_field_has_texts_a_kind_and_an_example),
        DEFINITION_TEST(test_catalog__every_command_says_what_it_takes_and_returns),
        DEFINITION_TEST(test_catalog__every_kind_is_explained),
        DEFINITION_TEST(test_catalog__examples_of_commands_compile),
        DEFINITION_TEST(test_catalog__a_field_of_a_command_is_needed_exactly_when_its_row_says_so),
        DEFINITION_TEST(test_catalog__a_word_that_is_no_option_is_refused),
        DEFINITION_TEST(test_catalog__what_a_row_says_is_what_checking_does),
        DEFINITION_TEST(test_catalog__every_function_of_the_language_is_explained),
        DEFINITION_TEST(test_catalog__examples_of_functions_give_what_they_say),
        DEFINITION_TEST(test_catalog__both_languages_have_the_same_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
