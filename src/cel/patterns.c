/* patterns.c - constant patterns, shared and within one budget; see patterns.h. */
#include "cel/patterns.h"

#include "cel/cel.h"

/* One pattern of the pool: compiled, or why it was refused. */
struct pooled_pattern {
    struct regex *regex; /* NULL: refused */
    struct err err;
};

void patterns_init(struct cel_patterns *p, struct arena *mem, int64_t cost, uint32_t count_max)
{
    map_init(&p->compiled, mem);
    p->cost_left = cost;
    p->count_max = count_max;
}

void cel_patterns_release(struct cel_patterns *p)
{
    for (struct map_entry *e = map_next(&p->compiled, NULL); e != NULL;
         e = map_next(&p->compiled, e)) {
        struct pooled_pattern *pooled = e->ptr;
        regex_free(pooled->regex);
        pooled->regex = NULL;
    }
}

/* What it cost to compile the pattern, or to find out that it cannot be. */
static uint64_t pattern_cost(const struct pooled_pattern *pooled, struct str pattern)
{
    if (pooled->regex != NULL)
        return regex_compile_cost(pooled->regex);
    return pooled->err.code == ERR_LIMIT_EXPRESSION_SIZE && pattern.len <= REGEX_PATTERN_MAX
               ? REGEX_COST_TOO_LARGE
               : pattern.len * 16 + 100;
}

static struct pooled_pattern *pattern_compile(struct cel_patterns *p, struct str pattern)
{
    struct pooled_pattern *pooled = ARENA_NEW(p->compiled.mem, struct pooled_pattern);

    if (p->compiled.count >= p->count_max) {
        (void)err_set(&pooled->err, ERR_LIMIT_EXPRESSION_SIZE,
                      "more than %u different patterns in one definition: move some of them into "
                      "procedures of their own",
                      p->count_max);
        return pooled;
    }
    if (p->cost_left <= 0) {
        (void)err_set(&pooled->err, ERR_LIMIT_EXPRESSION_SIZE,
                      "the patterns of this definition are too large taken together: write them "
                      "shorter, with smaller counts in {n,m} and fewer classes such as \\pL");
        return pooled;
    }
    pooled->regex = regex_new(pattern, &pooled->err);
    p->cost_left -= (int64_t)pattern_cost(pooled, pattern);
    map_put(&p->compiled, str_copy(p->compiled.mem, pattern), pooled);
    return pooled;
}

const struct regex *patterns_get(struct cel_patterns *p, struct str pattern, struct err *err)
{
    struct pooled_pattern *pooled = map_get(&p->compiled, pattern);

    if (pooled == NULL)
        pooled = pattern_compile(p, pattern);
    if (pooled->regex == NULL)
        *err = pooled->err;
    return pooled->regex;
}

struct cel_patterns *cel_patterns_new(struct arena *mem)
{
    struct cel_patterns *p = ARENA_NEW(mem, struct cel_patterns);

    patterns_init(p, mem, CEL_PATTERNS_COST_MAX, CEL_PATTERNS_MAX);
    return p;
}
