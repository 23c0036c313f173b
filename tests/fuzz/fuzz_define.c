/*
 * fuzz_define.c - any bytes that are JSON, as a scenario, a schema and a procedure.
 *
 * A program comes out exactly when nothing is wrong, and whatever is found can
 * be shown.
 */
#include "define/define.h"
#include "value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* The definition itself is all that the registry holds, so it may call itself. */
static bool find_itself(void *context, struct arena *mem, struct str code, struct registered *out)
{
    (void)mem;
    *out = (struct registered){.definition = *(const struct value *)context, .version = 1};
    return code.len > 0 && code.ptr[0] != 'x';
}

static void compile(struct arena *mem, enum kind kind, struct value definition)
{
    const struct registry registry = {.procedure = find_itself, .context = &definition};
    const struct program *program = NULL;
    struct findings findings = {0};
    struct buf text;
    struct err err;

    define_compile(mem, define_env(mem), &registry, kind, definition, 1, &findings, &program);
    ASSERT((program == NULL) == findings_have_errors(&findings));
    buf_init_arena(&text, mem);
    ASSERT(json_write(&text, findings_value(mem, &findings), &err));
    if (program != NULL)
        program_release(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena mem;
    struct value v;
    struct err err;

    arena_init(&mem);
    if (json_read(&mem, str_from((const char *)bytes, len), &v, &err)) {
        compile(&mem, KIND_SCENARIO, v);
        compile(&mem, KIND_SCHEMA, v);
        compile(&mem, KIND_PROCEDURE, v);
    }
    arena_fini(&mem);
    return 0;
}
