/* parallel_rig.h - how tests start parallel steps, wake them and answer them. */
#ifndef PAWL_TESTS_ENGINE_PARALLEL_RIG_H
#define PAWL_TESTS_ENGINE_PARALLEL_RIG_H

#include "base/buf.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)

static inline void start_with(const char *more, const char *steps)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_printf(&text, "{'code':'a'%s,'steps':[%s]}", more, steps);
    buf_char(&text, 0);
    rig_define(&rig, text.ptr);
    rig_start(&rig, "{}");
}

static inline void start(const char *steps)
{
    start_with("", steps);
}

/* A signal, the state having been stored and read back before it. */
static inline void signal(const char *type)
{
    static unsigned number;

    rig_reload(&rig);
    assert_true(
        rig_signal(&rig, rig_text(&rig, str_printf(&rig.mem, "s%u", number++)), type, "null"));
}

static inline bool answer(const char *key, const char *output, const char *error)
{
    struct str full = str_printf(&rig.mem, "01020304-0506-7708-890a-0b0c0d0e0f10-%s", key);

    rig_reload(&rig);
    return rig_event(&rig,
                     (struct event){
                         .kind = EVENT_ANSWER,
                         .answer_key = full,
                         .answer_output = output != NULL ? rig_value(&rig, output) : value_absent(),
                         .answer_error = error != NULL ? rig_value(&rig, error) : value_absent(),
                     });
}

static inline void pass(int64_t us)
{
    rig_reload(&rig);
    rig_pass(&rig, us);
    assert_true(rig_wake(&rig));
}

static inline const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static inline bool waits_with(const char *part)
{
    return strstr(rig_text(&rig, rig.x->waiting_for_json), part) != NULL;
}

/* The rows of kind event with a status: "code code". */
static inline const char *events(const char *status)
{
    struct buf out;

    buf_init_arena(&out, &rig.mem);
    for (size_t i = 0; i < rig.history.count; i++) {
        const struct history_row *row = &rig.history.items[i];
        if (row->kind != HISTORY_EVENT || !str_eq(row->status, str_of(status)))
            continue;
        if (out.len > 0)
            buf_char(&out, ' ');
        buf_str(&out, row->step);
    }
    buf_char(&out, 0);
    return out.ptr;
}

#endif
