/* call_rig.h - how tests of integration.http start a process, answer its calls and lose them. */
#ifndef PAWL_TESTS_ENGINE_CALL_RIG_H
#define PAWL_TESTS_ENGINE_CALL_RIG_H

#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"
#define URL "http://pay.example/charges"
#define HOST "http://pay.example:80"

static inline void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
}

static inline const char *waiting_for(void)
{
    return rig_text(&rig, rig.x->waiting_for_json);
}

static inline const char *error(void)
{
    return rig_text(&rig, rig.x->error_json);
}

static inline void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in %s", part, text);
}

static inline const char *status(void)
{
    return status_name(rig.x->status);
}

/* The call that left with the last commit. */
static inline const struct ask *left(void)
{
    assert_int_equal(rig.last.asks.count, 1);
    return &rig.last.asks.items[0];
}

static inline struct event answer_event(const char *answer)
{
    return (struct event){.kind = EVENT_ANSWER,
                          .answer_key = rig.x->cursor.awaited,
                          .answer_seq = rig.x->cursor.asked_seq,
                          .answer_output = rig_value(&rig, answer),
                          .answer_error = value_absent()};
}

static inline void answer(const char *json)
{
    assert_true(rig_event(&rig, answer_event(json)));
}

static inline void answer_status(int code)
{
    char json[100];

    snprintf(json, sizeof(json), "{'status_code':%d,'headers':{},'body':null}", code);
    answer(json);
}

static inline bool lose_calls(void)
{
    return rig_event(
        &rig, (struct event){.kind = EVENT_ANSWER,
                             .answer_seq = rig.x->cursor.asked_seq,
                             .answer_output = value_absent(),
                             .answer_error = rig_value(&rig, "{'code':'external_unknown','class':"
                                                             "'indeterminate','message':'lost'}")});
}

#endif
