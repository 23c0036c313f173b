/* pause_rig.h - how tests pause an execution, and what they send to it. */
#ifndef PAWL_TESTS_ENGINE_PAUSE_RIG_H
#define PAWL_TESTS_ENGINE_PAUSE_RIG_H

#include "base/buf.h"
#include "engine/rig.h"
#include "engine/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

static inline void start_with(const char *settings, const char *steps)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_text(&text, "{'code':'a',");
    buf_text(&text, settings);
    buf_text(&text, "'steps':[");
    buf_text(&text, steps);
    buf_text(&text, "]}");
    buf_char(&text, 0);
    rig_define(&rig, text.ptr);
    rig_start(&rig, "{}");
}

static inline void start(const char *steps)
{
    start_with("", steps);
}

/* Each event meets a state that was stored and read back. */
static inline bool pause_for(const char *reason)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_PAUSE,
                                          .reason = str_of(reason),
                                          .by = rig_value(&rig, "{'id':'u1','name':'Ann'}")});
}

static inline bool resume(void)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_RESUME,
                                          .by = rig_value(&rig, "{'id':'u2','name':'Bob'}")});
}

static inline bool signal(const char *id, const char *type, const char *payload)
{
    rig_reload(&rig);
    return rig_signal(&rig, id, type, payload);
}

static inline bool send(const char *id, const char *type, const char *correlation)
{
    rig_reload(&rig);
    return rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                          .signal_id = str_of(id),
                                          .signal_type = str_of(type),
                                          .signal_correlation = str_of(correlation),
                                          .signal_payload = value_null()});
}

static inline bool answer(const char *key, const char *output, const char *error)
{
    rig_reload(&rig);
    return rig_event(&rig,
                     (struct event){
                         .kind = EVENT_ANSWER,
                         .answer_key = str_of(key),
                         .answer_output = output != NULL ? rig_value(&rig, output) : value_absent(),
                         .answer_error = error != NULL ? rig_value(&rig, error) : value_absent(),
                     });
}

static inline bool wake_after(int64_t us)
{
    rig_reload(&rig);
    rig_pass(&rig, us);
    return rig_wake(&rig);
}

static inline const char *waits(void)
{
    return rig_text(&rig, rig.x->waiting_for_json);
}

static inline const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static inline bool shows(const char *part)
{
    return strstr(waits(), part) != NULL;
}

static inline bool is_paused(void)
{
    return rig.x->status == STATUS_WAITING && rig.x->pause != NULL &&
           str_starts_with(rig.x->waiting_for_json, STR("{\"kind\":\"paused\""));
}

static inline const char *delta(void)
{
    return rig_text(&rig, rig.history.items[rig.history.count - 1].delta_json);
}

/* Whether the action is offered. */
static inline bool offers(enum action action)
{
    return show_allows(&rig.stored, action);
}

#endif
