/*
 * fuzz_trial.c - any bytes that are JSON, as a test with its scenario in it: what POST /test reads,
 * compiles and runs.
 *
 * Whatever is written there ends as a finding, a problem or a result that can be shown.
 */
#include "trial/case.h"
#include "value/json.h"

enum { EVENTS_MAX = 2000, MEMORY_MAX = 64 << 20 };

struct fuzz_world {
    const struct program *program; /* may start itself */
    unsigned asked;
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct program *start_itself(void *context, struct str code)
{
    const struct fuzz_world *w = context;

    return code.len > 0 && code.ptr[0] != 'x' ? w->program : NULL;
}

/* By events and not by the clock: the same bytes end the same way. */
static bool has_had_enough(void *context)
{
    return ++((struct fuzz_world *)context)->asked > EVENTS_MAX;
}

static void run_case(struct arena *mem, struct trial_case *c)
{
    struct fuzz_world context = {0};
    struct trial_world world = {.context = &context,
                                .process = start_itself,
                                .is_late = has_had_enough,
                                .memory_max = MEMORY_MAX};
    struct findings findings = {0}, found = {0};
    struct trial_problems problems = {0};
    struct trial trial = {0};
    struct buf text;
    struct err err;

    define_compile_scenario(mem, define_env(mem), c->definition, 1, &findings, &context.program);
    if (context.program == NULL)
        return;
    case_run(mem, c, context.program, &world, &trial, &found, &problems);
    buf_init_arena(&text, mem);
    for (size_t i = 0; i < problems.count; i++)
        json_write_string(&text, problems.items[i].text);
    ASSERT(json_write(&text, findings_value(mem, &found), &err));
    program_release(context.program);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct trial_case c = {0};
    struct arena mem;
    struct value v;
    struct err err;

    arena_init(&mem);
    if (json_read(&mem, str_from((const char *)bytes, len), &v, &err) &&
        case_read(&mem, v, &c, &err) && c.definition.kind != VALUE_ABSENT)
        run_case(&mem, &c);
    arena_fini(&mem);
    return 0;
}
