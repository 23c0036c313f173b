/*
 * bench_cel.c - time the expression language: CASES.json [--results] [--case NAME]
 *
 * Each case is {"name", "expr", "context": {"input", "steps"}}. Writes a JSON
 * line for each: {"name", "result"} with --results, otherwise {"name",
 * "eval_ns", "compile_ns"}. Resetting the arena is part of what is timed.
 */
#include "base/buf.h"
#include "cel/cel.h"
#include "value/json.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5, ROUND_NS = 100000000 };

struct bench {
    struct arena mem; /* of one compilation or evaluation */
    const struct cel_env *env;
    const struct cel_program *program;
    struct cel_activation activation;
    struct str source;
    unsigned sink; /* keeps the compiler from leaving work out */
};

typedef void bench_fn(struct bench *b);

static void evaluate(struct bench *b)
{
    arena_reset(&b->mem);
    b->sink += cel_evaluate(&b->mem, b->program, &b->activation, NULL).kind;
}

static void compile(struct bench *b)
{
    const struct cel_program *program = NULL;
    struct err err;

    arena_reset(&b->mem);
    if (!cel_compile(&b->mem, b->env, b->source, NULL, &program, &err))
        PANIC("an expression compiled once and not again");
    cel_program_release(program);
    b->sink++;
}

/* --- measuring --- */

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double elapsed_ns(struct bench *b, bench_fn *body, uint64_t count)
{
    int64_t start = now_ns();

    for (uint64_t i = 0; i < count; i++)
        body(b);
    return (double)(now_ns() - start);
}

/* Nanoseconds of one call: the best of ROUNDS rounds of at least ROUND_NS each. */
static double measure(struct bench *b, bench_fn *body)
{
    uint64_t count = 1;
    double ns;

    while ((ns = elapsed_ns(b, body, count)) < ROUND_NS) {
        double factor = ns > 0 ? 1.1 * ROUND_NS / ns : 10;
        count = (uint64_t)((double)count * (factor > 10 ? 10 : factor < 1.2 ? 1.2 : factor)) + 1;
    }
    double best = ns / (double)count;

    for (int i = 1; i < ROUNDS; i++) {
        ns = elapsed_ns(b, body, count) / (double)count;
        best = ns < best ? ns : best;
    }
    return best;
}

/* --- cases --- */

static bool write_result(struct bench *b, struct value name, struct err *err)
{
    struct value result = cel_evaluate(&b->mem, b->program, &b->activation, NULL);
    struct buf line;

    if (result.kind == VALUE_ERROR)
        return err_set(err, result.error->code, "%s", result.error->message);
    buf_init_arena(&line, &b->mem);
    buf_text(&line, "{\"name\":");
    if (!json_write(&line, name, err))
        return false;
    buf_text(&line, ",\"result\":");
    if (!json_write(&line, result, err))
        return false;
    printf("%.*s}\n", STR_ARG(buf_view(&line)));
    return true;
}

static bool run_case(struct arena *mem, const struct cel_env *env, struct value test, bool results,
                     struct err *err)
{
    struct value context = value_map_get_str(test, STR("context"));
    struct value slots[] = {value_map_get_str(context, STR("input")),
                            value_map_get_str(context, STR("steps"))};
    struct value name = value_map_get_str(test, STR("name"));
    struct bench b = {
        .env = env,
        .source = value_text(value_map_get_str(test, STR("expr"))),
        .activation = {.slots = slots, .root = context},
    };

    if (!cel_compile(mem, env, b.source, NULL, &b.program, err))
        return false;
    arena_init(&b.mem);
    bool ok = true;

    if (results) {
        ok = write_result(&b, name, err);
    } else {
        double eval_ns = measure(&b, evaluate);
        double compile_ns = measure(&b, compile);
        /* Names of cases need no escapes. */
        printf("{\"name\":\"%.*s\",\"eval_ns\":%.2f,\"compile_ns\":%.1f}\n",
               STR_ARG(value_text(name)), eval_ns, compile_ns);
    }
    fflush(stdout);
    cel_program_release(b.program);
    arena_fini(&b.mem);
    return ok;
}

/* The slots are those that run_case() fills. */
static bool make_env(struct arena *mem, const struct cel_env **out, struct err *err)
{
    struct cel_env *env = cel_env_new(mem, CEL_DEFINITION);
    uint32_t input = 0;
    uint32_t steps = 0;

    if (!cel_env_variable(env, STR("input"), STR("dyn"), &input, err) ||
        !cel_env_variable(env, STR("steps"), STR("dyn"), &steps, err))
        return false;
    ASSERT(input == 0 && steps == 1);
    *out = env;
    return true;
}

static bool read_cases(struct arena *mem, const char *path, struct value *out, struct err *err)
{
    FILE *file = fopen(path, "rb");
    struct buf text;
    int c;

    if (file == NULL)
        return err_set(err, ERR_IO, "cannot open %s", path);
    buf_init_arena(&text, mem);
    while ((c = getc(file)) != EOF)
        buf_char(&text, (char)c);
    fclose(file);
    return json_read(mem, buf_view(&text), out, err);
}

static bool run(struct arena *mem, const char *path, bool results, const char *only,
                struct err *err)
{
    const struct cel_env *env = NULL;
    struct value cases = value_null();

    if (!read_cases(mem, path, &cases, err) || !make_env(mem, &env, err))
        return false;
    for (uint32_t i = 0; i < cases.len; i++) {
        struct str name = value_text(value_map_get_str(cases.items[i], STR("name")));

        if (only != NULL && !str_eq(name, str_of(only)))
            continue;
        if (!run_case(mem, env, cases.items[i], results, err)) {
            fprintf(stderr, "bench_cel: %.*s: ", STR_ARG(name));
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    bool results = false;
    struct arena mem;
    struct err err;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--results") == 0)
            results = true;
        else if (strcmp(argv[i], "--case") == 0 && i + 1 < argc)
            only = argv[++i];
        else
            argc = 0;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: bench_cel CASES.json [--results] [--case NAME]\n");
        return 2;
    }
    arena_init(&mem);
    bool ok = run(&mem, argv[1], results, only, &err);

    if (!ok)
        fprintf(stderr, "%s: %s\n", err_code_name(err.code), err.message);
    arena_fini(&mem);
    return ok ? 0 : 1;
}
