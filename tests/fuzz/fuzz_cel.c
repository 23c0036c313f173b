/*
 * fuzz_cel.c - any text as an expression.
 *
 * Claims: nothing crashes or runs away; what does not compile says so with a
 * code and a place; the same program in the same context gives the same result
 * twice; a result is of the kind that the checker promised.
 */
#include "cel/cel.h"
#include "cel/typed_value.h"
#include "value/json.h"

enum { COST = 20000, MEMORY_BYTES = 1 << 20, LOOK_AT = 20000 };

static const char context_json[] =
    "{\"input\":{\"a\":7,\"b\":-3,\"d\":2.5,\"s\":\"Gr\\u00fc\\u00dfe\",\"t\":true,\"n\":null,"
    "\"list\":[3,1,2],\"words\":[\"x\",\"yy\",\"\"],\"mixed\":[1,\"a\",null,[2.0]],"
    "\"map\":{\"k\":1,\"with space\":{\"z\":[]}},\"at\":\"2025-03-30T01:30:00Z\"},"
    "\"steps\":{\"pay\":{\"success\":true,\"output\":{\"id\":\"P-1\"}},\"skipped\":null}}";

/* Made once; its arena is never given back. */
struct fixture {
    struct cel_env *definition;
    struct cel_env *strict;
    struct value slots[6];
    struct value context;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void declare_all(struct cel_env *env)
{
    static const char *const names[][2] = {
        {"input", "dyn"}, {"steps", "dyn"},     {"u", "uint"},
        {"raw", "bytes"}, {"now", "timestamp"}, {"span", "duration"},
    };
    struct err err;

    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t slot = 0;

        if (!cel_env_variable(env, str_of(names[i][0]), str_of(names[i][1]), &slot, &err))
            PANIC(err.message);
        ASSERT(slot == i);
    }
}

static const struct fixture *fixture(void)
{
    static struct arena mem;
    static struct fixture f;
    struct err err;

    if (f.definition != NULL)
        return &f;
    arena_init(&mem);
    if (!json_read(&mem, str_of(context_json), &f.context, &err))
        PANIC(err.message);
    f.definition = cel_env_new(&mem, CEL_DEFINITION);
    f.strict = cel_env_new(&mem, CEL_STRICT);
    declare_all(f.definition);
    declare_all(f.strict);
    cel_env_open_root(f.definition);
    f.slots[0] = value_map_get_str(f.context, STR("input"));
    f.slots[1] = value_map_get_str(f.context, STR("steps"));
    f.slots[2] = value_uint(UINT64_MAX);
    f.slots[3] = value_bytes(STR("\xff\x00pawl"));
    f.slots[4] = value_timestamp(1743298200, 5);
    f.slots[5] = value_duration(-1, 500000000);
    return &f;
}

static bool is_of_type(struct value v, struct str type)
{
    static const struct {
        const char *type;
        enum value_kind kind;
    } kinds[] = {
        {"null", VALUE_NULL},   {"bool", VALUE_BOOL},           {"int", VALUE_INT},
        {"uint", VALUE_UINT},   {"double", VALUE_DOUBLE},       {"string", VALUE_STRING},
        {"bytes", VALUE_BYTES}, {"timestamp", VALUE_TIMESTAMP}, {"duration", VALUE_DURATION},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_eq(type, str_of(kinds[i].type)))
            return v.kind == kinds[i].kind;
    if (str_starts_with(type, STR("list(")))
        return v.kind == VALUE_LIST;
    if (str_starts_with(type, STR("map(")))
        return v.kind == VALUE_MAP;
    return true;
}

static void check_compile_error(const struct err *err)
{
    ASSERT(err->code == ERR_EXPRESSION_SYNTAX || err->code == ERR_EXPRESSION_TYPE ||
           err->code == ERR_LIMIT_EXPRESSION_SIZE);
    ASSERT(err->message[0] != '\0');
    ASSERT(err->code == ERR_LIMIT_EXPRESSION_SIZE || (err->line > 0 && err->column > 0));
}

static void check_run(struct arena *mem, const struct cel_program *program)
{
    const struct fixture *f = fixture();
    struct cel_activation activation = {.slots = f->slots, .root = f->context};
    struct cel_limits limits = {.cost = COST, .memory_bytes = MEMORY_BYTES};
    struct value first = cel_evaluate(mem, program, &activation, &limits);
    struct value second = cel_evaluate(mem, program, &activation, &limits);
    int64_t budget = LOOK_AT;

    ASSERT(first.kind != VALUE_ABSENT);
    if (first.kind == VALUE_ERROR) {
        ASSERT(second.kind == VALUE_ERROR && first.error->code == second.error->code);
        ASSERT(first.error->message[0] != '\0');
        return;
    }
    ASSERT(typed_value_same(first, second, &budget));
    ASSERT(is_of_type(first, cel_program_type(program)));
}

static void check_source(const struct cel_env *env, struct str source, bool without_check)
{
    struct cel_options options = {.without_check = without_check};
    const struct cel_program *program = NULL;
    struct arena mem;
    struct err err;

    arena_init(&mem);
    if (!cel_compile(&mem, env, source, &options, &program, &err)) {
        check_compile_error(&err);
    } else {
        (void)cel_program_listing(&mem, program);
        check_run(&mem, program);
        cel_program_release(program);
    }
    arena_fini(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str source = str_from((const char *)data, size);

    check_source(fixture()->definition, source, false);
    check_source(fixture()->strict, source, true);
    return 0;
}
