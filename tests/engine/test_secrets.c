/* test_secrets.c - claims about sensitive answers that leave the state of an execution. */
#include "engine/rig.h"
#include "engine/show.h"
#include "engine/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Asks for a sensitive word again and again, and keeps the first one. */
static void start_asking(const char *form)
{
    char scenario[2000];

    snprintf(scenario, sizeof(scenario),
             "{'code':'a','steps':[{'code':'l','loop':{'while':'true','max':1000,'steps':[{'code':"
             "'ask','procedure':{'type':'wait.signal','signalType':'word','form':[{'name':'pin',"
             "'type':'string'%s}]}},{'code':'keep','when':'!has($.variables.kept)','procedure':{"
             "'type':'compute.set','values':{'kept':'=$.steps.ask.output.payload.pin'}}}]}}]}",
             form);
    rig_define(&rig, scenario);
    rig_start(&rig, "{}");
}

static void answer_words(int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char id[20], payload[60];

        snprintf(id, sizeof(id), "s%d", i);
        snprintf(payload, sizeof(payload), "{'pin':'secret-word-%04d'}", i);
        assert_true(rig_signal(&rig, id, "word", payload));
    }
}

static bool is_hidden(const char *word)
{
    struct mask mask;

    show_mask(&rig.mem, rig.x, &mask);
    return mask.hides_all || (mask.texts.count > 0 && map_find(&mask.whole, str_of(word)) != NULL);
}

/* The signal has left; the variable that it went into has not. */
static void test_secrets__an_answer_stays_hidden_when_its_signal_has_left(void **state)
{
    (void)state;
    start_asking(",'sensitive':true");
    answer_words(0, SIGNALS_SHOWN + 9);
    assert_int_equal(rig.x->signals.list.count, SIGNALS_SHOWN);
    assert_true(is_hidden("secret-word-0000"));
    rig_reload(&rig);
    assert_true(is_hidden("secret-word-0000"));
    assert_true(is_hidden("secret-word-0108"));
    assert_false(is_hidden("secret-word-0109"));
    assert_int_equal(rig.x->secrets.list.count, 9);
}

/* More than is kept: everything that could be one is hidden, and nothing grows. */
static void test_secrets__what_is_too_much_hides_all(void **state)
{
    char payload[9000];

    (void)state;
    start_asking(",'sensitive':true");
    for (int i = 0; i < SIGNALS_SHOWN + 12; i++) {
        char id[20];

        snprintf(id, sizeof(id), "s%d", i);
        snprintf(payload, sizeof(payload), "{'pin':'%08000d'}", i);
        assert_true(rig_signal(&rig, id, "word", payload));
    }
    rig_reload(&rig);
    assert_true(is_hidden("anything"));
    assert_true(rig.x->secrets.list.count < 12);
}

static void test_secrets__what_is_not_sensitive_is_not_kept(void **state)
{
    (void)state;
    start_asking("");
    answer_words(0, SIGNALS_SHOWN + 9);
    assert_int_equal(rig.x->secrets.list.count, 0);
    assert_false(is_hidden("secret-word-0000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_secrets__an_answer_stays_hidden_when_its_signal_has_left),
        CLAIM(test_secrets__what_is_too_much_hides_all),
        CLAIM(test_secrets__what_is_not_sensitive_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
