/* reconcile_rig.h - how tests run a step whose attempt is in doubt, and look at what becomes of it. */
#ifndef PAWL_TESTS_ENGINE_RECONCILE_RIG_H
#define PAWL_TESTS_ENGINE_RECONCILE_RIG_H

#include "engine/rig.h"
#include "engine/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

static inline void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
}

static inline void run(const char *scenario)
{
    start(scenario);
    rig_settle(&rig);
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

/* Row `n` of kind reconcile, from 0 on. */
static inline const struct history_row *question(unsigned n)
{
    for (size_t i = 0; i < rig.history.count; i++)
        if (rig.history.items[i].kind == HISTORY_RECONCILE && n-- == 0)
            return &rig.history.items[i];
    fail_msg("there is no such question");
    return NULL;
}

/* What the last rollback answered. */
static inline const char *undone(void)
{
    for (size_t i = rig.history.count; i-- > 0;)
        if (rig.history.items[i].kind == HISTORY_ROLLBACK)
            return rig_text(&rig, rig.history.items[i].output_json);
    fail_msg("nothing was rolled back");
    return NULL;
}

static inline bool resolve(const char *outcome, const char *output)
{
    struct event ev = {.kind = EVENT_RESOLVE, .note = STR("looked it up")};

    assert_non_null(rig.x->cursor.reconciling);
    ev.letter = rig.x->cursor.reconciling->letter;
    assert_true(verdict_read(str_of(outcome), &ev.verdict));
    if (output != NULL)
        ev.output = rig_value(&rig, output);
    return rig_event(&rig, ev);
}

static inline bool may(enum action action)
{
    struct stored_execution stored = rig.stored;

    return show_allows(&stored, action);
}

static inline bool answer(const char *key, const char *output, const char *failure)
{
    struct event ev = {.kind = EVENT_ANSWER, .answer_key = str_of(key)};

    if (output != NULL)
        ev.answer_output = rig_value(&rig, output);
    else
        ev.answer_error = rig_value(&rig, failure);
    return rig_event(&rig, ev);
}

#endif
