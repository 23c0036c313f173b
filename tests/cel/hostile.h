/*
 * hostile.h - for the tests of expressions that are written to hurt.
 *
 * Runs an expression under the default limits and looks at what it held, and
 * makes sources too long to write down. Work is bounded by the cost budget,
 * not by a clock: what were not bounded would never end.
 */
#ifndef PAWL_TESTS_CEL_HOSTILE_H
#define PAWL_TESTS_CEL_HOSTILE_H

#include "base/buf.h"
#include "cel/cel.h"

enum { MIB = 1 << 20, LONG_TEXT = 10 * MIB };

struct hostile {
    struct arena source;  /* of sources and contexts, until the test ends */
    struct arena program; /* of the last compilation */
    struct arena eval;    /* of the last evaluation */
};

/* What became of an expression; ERR_NONE is a result. */
struct outcome {
    enum err_code code;
    bool compiled;
    struct value value;
    const char *broken; /* what every outcome must be and this one is not, or NULL */
    char message[256];
};

/* Around each test: its *state is a struct hostile. */
int hostile_set_up(void **state);
int hostile_tear_down(void **state);

/*
 * Compile `source` in definition mode and evaluate it with the variable `s`.
 * `broken` tells when it held more memory than the limits allow, or when its
 * message is empty or not UTF-8: messages end up in JSON, and one cut within
 * a character would break a reply.
 */
struct outcome hostile_run(struct hostile *h, struct str source, struct value s);

bool outcome_is_over_limit(const struct outcome *o);
bool outcome_is_int(const struct outcome *o, int64_t want);
bool outcome_is_true(const struct outcome *o);

/* `open` and `close` each `count` times around `core`. */
struct str hostile_nested(struct hostile *h, const char *open, const char *core, const char *close,
                          size_t count);

/* `first`, then `more` as often as fits into a source of the largest size. */
struct str hostile_chain(struct hostile *h, const char *first, const char *more);

/*
 * cel.bind(v0, FIRST, cel.bind(v1, NEXT, ... BODY)) with `levels` variables;
 * "@" stands for the one before in `next` and for the last one in `body`.
 */
struct str hostile_binds(struct hostile *h, unsigned levels, const char *first, const char *next,
                         const char *body);

/* LONG_TEXT times the same character. */
struct value hostile_text(struct hostile *h, char c);

#define TEST_HOSTILE(f) cmocka_unit_test_setup_teardown(f, hostile_set_up, hostile_tear_down)

/* For cmocka programs: fail and say which expression gave what. */
#define EXPECT(ok, o, source)                                                                      \
    do {                                                                                           \
        struct str shown_ = (source);                                                              \
        if ((o).broken != NULL || !(ok))                                                           \
            fail_msg("%s: %s (%s), for: %.*s", #ok, err_code_name((o).code),                       \
                     (o).broken != NULL ? (o).broken : (o).message,                                \
                     shown_.len > 200 ? 200 : (int)shown_.len, shown_.ptr);                        \
    } while (0)

#endif
