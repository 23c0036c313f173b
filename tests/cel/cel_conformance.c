/*
 * cel_conformance.c - run conformance cases: FILE.jsonl [--verbose] [--types] [--only SUBSTRING]
 *
 * The cases are lines as export-conformance.mjs writes them. Each is compiled
 * and evaluated in strict mode in an environment of its own. Cases that need
 * protobuf messages or unknown values, or that expect nothing, are skipped.
 *
 * An expected error is easy to meet by accident, so an error does not count
 * when it only says that the library lacks a name, or that an expression which
 * the reference implementation accepts does not compile.
 *
 * --types also holds the type that the checker found against the one that the
 * reference implementation found, for the cases that do not ask for it.
 */
#include "cel/cel.h"
#include "cel/typed_value.h"
#include "value/json.h"

#include <stdio.h>

enum outcome { PASSED, FAILED, SKIPPED };

struct options {
    const char *path;
    const char *only;
    bool verbose;
    bool types;
};

/* What became of one case. */
struct result {
    struct value want;      /* VALUE_ABSENT when the case wants no value */
    struct err compile_err; /* when program is NULL */
    const struct cel_program *program;
    struct value value; /* VALUE_ABSENT when it was not evaluated */
};

/* --- reading a case --- */

static struct str text_at(struct value test, struct str key)
{
    struct value v = value_map_get_str(test, key);
    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

static bool flag_at(struct value test, struct str key)
{
    return value_is_true(value_map_get_str(test, key));
}

/* Empty when there is none. */
static struct value list_at(struct value test, struct str key)
{
    struct value v = value_map_get_str(test, key);
    return v.kind == VALUE_LIST ? v : value_list(NULL, 0);
}

static struct value map_at(struct value test, struct str key)
{
    struct value v = value_map_get_str(test, key);
    return v.kind == VALUE_MAP ? v : value_map_empty();
}

static bool list_has(struct value list, struct str text)
{
    for (uint32_t i = 0; i < list.len; i++)
        if (list.items[i].kind == VALUE_STRING && str_eq(value_text(list.items[i]), text))
            return true;
    return false;
}

static bool is_out_of_reach(struct value test)
{
    return map_at(test, STR("expect")).len == 0 || list_at(test, STR("proto")).len > 0 ||
           list_has(list_at(test, STR("features")), STR("unknowns"));
}

/* --- the environment --- */

/*
 * The lines write type parameters as $T and optionals as CEL does; cel.h has
 * capital letters from A and `optional`. `letters` remembers which parameter
 * became which letter within one signature.
 */
static void add_type(struct buf *out, struct str type, char letters[26])
{
    for (size_t i = 0; i < type.len; i++) {
        struct str rest = str_slice(type, i, type.len);
        unsigned n = 0;

        if (str_starts_with(rest, STR("optional_type("))) {
            buf_text(out, "optional(");
            i += STR("optional_type(").len - 1;
        } else if (type.ptr[i] == '$' && rest.len > 1) {
            char name = type.ptr[++i];

            while (letters[n] != '\0' && letters[n] != name)
                n++;
            letters[n] = name;
            buf_char(out, (char)('A' + n));
        } else {
            buf_char(out, type.ptr[i]);
        }
    }
}

static bool declare_overload(struct arena *mem, struct cel_env *env, struct str name,
                             struct value overload, struct err *err)
{
    struct value params = list_at(overload, STR("params"));
    struct buf signature;
    char letters[26 + 1] = {0};

    buf_init_arena(&signature, mem);
    for (uint32_t i = 0; i < params.len; i++) {
        if (i > 0)
            buf_text(&signature, ", ");
        add_type(&signature, value_text(params.items[i]), letters);
    }
    buf_text(&signature, " -> ");
    add_type(&signature, text_at(overload, STR("result")), letters);
    return cel_env_function(env, name, flag_at(overload, STR("member")), buf_view(&signature), NULL,
                            NULL, err);
}

static bool declare_variable(struct arena *mem, struct cel_env *env, struct value declaration,
                             uint32_t *slot, struct err *err)
{
    struct buf type;
    char letters[26 + 1] = {0};

    buf_init_arena(&type, mem);
    add_type(&type, text_at(declaration, STR("type")), letters);
    return cel_env_variable(env, text_at(declaration, STR("var")), buf_view(&type), slot, err);
}

static bool declare(struct arena *mem, struct cel_env *env, struct value declaration,
                    struct err *err)
{
    struct value overloads = list_at(declaration, STR("overloads"));
    uint32_t slot = 0;

    if (text_at(declaration, STR("var")).ptr != NULL)
        return declare_variable(mem, env, declaration, &slot, err);
    for (uint32_t i = 0; i < overloads.len; i++)
        if (!declare_overload(mem, env, text_at(declaration, STR("fn")), overloads.items[i], err))
            return false;
    return true;
}

/* Declaring a variable again tells its slot; one that is only bound is of any type. */
static bool bound_slot(struct arena *mem, struct cel_env *env, struct value declarations,
                       struct str name, uint32_t *slot, struct err *err)
{
    for (uint32_t i = 0; i < declarations.len; i++)
        if (str_eq(text_at(declarations.items[i], STR("var")), name))
            return declare_variable(mem, env, declarations.items[i], slot, err);
    return cel_env_variable(env, name, STR("dyn"), slot, err);
}

/* Declare all that the case declares or binds, and fill one slot for each variable. */
static bool build_env(struct arena *mem, struct value test, struct cel_env *env,
                      struct value **slots, struct err *err)
{
    struct value declarations = list_at(test, STR("env"));
    struct value bindings = map_at(test, STR("bindings"));
    uint32_t count = bindings.len;
    struct str container = text_at(test, STR("container"));

    if (container.len > 0)
        cel_env_container(env, container);
    for (uint32_t i = 0; i < declarations.len; i++)
        if (!declare(mem, env, declarations.items[i], err))
            return false;

    /* Every declaration and binding is at most one slot. */
    *slots = ARENA_ARRAY(mem, declarations.len + count + 1, struct value);
    for (uint32_t i = 0; i < declarations.len + count + 1; i++)
        (*slots)[i] = value_absent();
    for (uint32_t i = 0; i < count; i++) {
        const struct value_entry *entry = &bindings.map->entries[i];
        uint32_t slot = 0;

        if (!bound_slot(mem, env, declarations, value_text(entry->key), &slot, err) ||
            !typed_value_decode(mem, entry->value, &(*slots)[slot], err))
            return false;
    }
    return true;
}

/* --- running --- */

/* False when the case itself cannot be set up. */
static bool run_case(struct arena *mem, struct value test, struct result *out, struct err *err)
{
    struct cel_env *env = cel_env_new(mem, CEL_STRICT);
    struct cel_options options = {
        .without_check = flag_at(test, STR("disable_check")),
        .without_macros = flag_at(test, STR("disable_macros")),
    };
    struct str source = typed_value_text(mem, value_map_get_str(test, STR("expr")));
    struct value want = value_map_get_str(map_at(test, STR("expect")), STR("value"));
    struct value *slots = NULL;

    *out = (struct result){.want = value_absent(), .value = value_absent()};
    if (want.kind != VALUE_ABSENT && !typed_value_decode(mem, want, &out->want, err))
        return false;
    if (!build_env(mem, test, env, &slots, err))
        return false;
    if (!cel_compile(mem, env, source, &options, &out->program, &out->compile_err)) {
        out->program = NULL;
        return true;
    }
    if (!flag_at(test, STR("check_only"))) {
        struct cel_activation activation = {.slots = slots, .root = value_absent()};
        out->value = cel_evaluate(mem, out->program, &activation, NULL);
    }
    return true;
}

/* --- judging --- */

static bool is_about_names(struct value messages)
{
    static const char *const about[] = {"undeclared reference", "unbound function",
                                        "unknown variable"};

    for (uint32_t i = 0; i < messages.len; i++)
        for (size_t k = 0; k < sizeof about / sizeof about[0]; k++)
            if (str_find(value_text(messages.items[i]), str_of(about[k]), 0) >= 0)
                return true;
    return false;
}

static bool says_name_is_missing(const char *message)
{
    return str_starts_with(str_of(message), STR("undeclared"));
}

static bool error_is_right(struct value test, const struct result *r, struct value messages)
{
    if (r->program == NULL && text_at(test, STR("celgo_type")).len > 0)
        return false;
    if (r->program != NULL && r->value.kind != VALUE_ERROR)
        return false;

    const char *message = r->program == NULL ? r->compile_err.message : r->value.error->message;

    return !says_name_is_missing(message) || is_about_names(messages);
}

static bool type_is_right(struct value expect, struct value test, const struct result *r,
                          const struct options *options)
{
    struct str want = text_at(expect, STR("type"));

    if (want.ptr == NULL && options->types && !flag_at(test, STR("disable_check")))
        want = text_at(test, STR("celgo_type"));
    return want.ptr == NULL || str_eq(cel_program_type(r->program), want);
}

static bool is_right(struct value test, const struct result *r, const struct options *options)
{
    struct value expect = map_at(test, STR("expect"));
    struct value messages = value_map_get_str(expect, STR("error"));

    if (messages.kind == VALUE_LIST)
        return error_is_right(test, r, messages);
    if (r->program == NULL || !type_is_right(expect, test, r, options))
        return false;
    if (r->want.kind == VALUE_ABSENT || flag_at(test, STR("check_only")))
        return true;
    return typed_value_same(r->value, r->want, NULL);
}

/* --- reporting --- */

static void print_got(struct buf *out, const struct result *r)
{
    if (r->program == NULL) {
        buf_printf(out, "%s at %u:%u: %s", err_code_name(r->compile_err.code), r->compile_err.line,
                   r->compile_err.column, r->compile_err.message);
        return;
    }
    typed_value_print(out, r->value);
    buf_text(out, " of type ");
    buf_str(out, cel_program_type(r->program));
}

static void report(struct arena *mem, struct value test, const struct result *r)
{
    struct value expect = map_at(test, STR("expect"));
    struct str go_type = text_at(test, STR("celgo_type"));
    struct buf got;
    struct buf want;
    struct err err;

    buf_init_arena(&got, mem);
    buf_init_arena(&want, mem);
    print_got(&got, r);
    if (!json_write(&want, expect, &err))
        buf_text(&want, err.message);
    if (go_type.len > 0)
        buf_printf(&want, " of type %.*s", STR_ARG(go_type));
    printf("FAIL %.*s\n  expr:   %.*s\n  got:    %.*s\n  wanted: %.*s\n",
           STR_ARG(text_at(test, STR("id"))), STR_ARG(text_at(test, STR("expr"))),
           STR_ARG(buf_view(&got)), STR_ARG(buf_view(&want)));
}

static enum outcome run_line(struct arena *mem, struct str line, const struct options *options)
{
    struct value test = value_absent();
    struct result result = {.program = NULL};
    struct err err;

    if (!typed_value_read_line(mem, line, &test, &err)) {
        printf("FAIL a line that is not JSON: %s\n", err.message);
        return FAILED;
    }
    struct str id = text_at(test, STR("id"));

    if (is_out_of_reach(test))
        return SKIPPED;
    if (options->only != NULL && str_find(id, str_of(options->only), 0) < 0)
        return SKIPPED;
    if (!run_case(mem, test, &result, &err)) {
        printf("FAIL %.*s\n  cannot be set up: %s\n", STR_ARG(id), err.message);
        return FAILED;
    }
    bool ok = is_right(test, &result, options);

    if (!ok)
        report(mem, test, &result);
    else if (options->verbose)
        printf("ok %.*s\n", STR_ARG(id));
    if (result.program != NULL)
        cel_program_release(result.program);
    return ok ? PASSED : FAILED;
}

/* --- the file --- */

static bool read_file(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "rb");
    char chunk[65536];
    size_t len;

    if (file == NULL)
        return false;
    while ((len = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_add(out, chunk, len);
    bool ok = ferror(file) == 0;

    fclose(file);
    return ok;
}

static void run_lines(struct str text, const struct options *options, unsigned counts[3])
{
    struct arena mem;

    arena_init(&mem);
    for (size_t at = 0; at < text.len;) {
        int64_t newline = str_find(text, STR("\n"), at);
        size_t end = newline < 0 ? text.len : (size_t)newline;
        struct str line = str_trim(str_slice(text, at, end));

        if (line.len > 0)
            counts[run_line(&mem, line, options)]++;
        fflush(stdout); /* so that a crash is seen next to its case */
        arena_reset(&mem);
        at = end + 1;
    }
    arena_fini(&mem);
}

static bool read_options(int argc, char **argv, struct options *out)
{
    *out = (struct options){.path = NULL};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0)
            out->verbose = true;
        else if (strcmp(argv[i], "--types") == 0)
            out->types = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            out->only = argv[++i];
        else if (argv[i][0] != '-' && out->path == NULL)
            out->path = argv[i];
        else
            return false;
    }
    return out->path != NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    struct buf text;
    unsigned counts[3] = {0};

    if (!read_options(argc, argv, &options)) {
        fprintf(stderr, "usage: cel_conformance FILE.jsonl [--verbose] [--types] "
                        "[--only SUBSTRING]\n");
        return 2;
    }
    buf_init(&text);
    if (!read_file(options.path, &text)) {
        perror(options.path);
        return 2;
    }
    run_lines(buf_view(&text), &options, counts);
    buf_fini(&text);
    printf("%u passed, %u failed, %u skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] == 0 ? 0 : 1;
}
