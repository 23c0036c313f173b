/* test_mailbox.c - claims about mailbox.h; run it under the thread sanitizer too. */
#include "base/mailbox.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool is_readable(const struct mailbox *m, int timeout_ms)
{
    struct pollfd p = {.fd = mailbox_fd(m), .events = POLLIN};

    return poll(&p, 1, timeout_ms) == 1;
}

static void open_mailbox(struct mailbox *m, size_t capacity)
{
    struct err err;

    assert_true(mailbox_init(m, capacity, &err));
}

static void test_mailbox__hands_items_over_in_order(void **state)
{
    struct mailbox m;
    int items[5];
    void *out[5];

    (void)state;
    open_mailbox(&m, 3);
    /* Several rounds, so that the ring wraps at every place. */
    for (int round = 0; round < 7; round++) {
        assert_true(mailbox_put(&m, &items[0]));
        assert_true(mailbox_put(&m, &items[1]));
        assert_int_equal(mailbox_take(&m, out, 1), 1);
        assert_ptr_equal(out[0], &items[0]);
        assert_true(mailbox_put(&m, &items[2]));
        assert_int_equal(mailbox_take(&m, out, 5), 2);
        assert_ptr_equal(out[0], &items[1]);
        assert_ptr_equal(out[1], &items[2]);
        assert_int_equal(mailbox_take(&m, out, 5), 0);
    }
    mailbox_fini(&m);
}

static void test_mailbox__refuses_when_full(void **state)
{
    struct mailbox m;
    int item;
    void *out[1];

    (void)state;
    open_mailbox(&m, 2);
    assert_true(mailbox_put(&m, &item));
    assert_true(mailbox_put(&m, &item));
    assert_false(mailbox_put(&m, &item));
    assert_int_equal(mailbox_take(&m, out, 1), 1);
    assert_true(mailbox_put(&m, &item));
    mailbox_fini(&m);
}

static void test_mailbox__is_readable_exactly_while_it_holds_items(void **state)
{
    struct mailbox m;
    int item;
    void *out[2];

    (void)state;
    open_mailbox(&m, 4);
    assert_false(is_readable(&m, 0));
    assert_true(mailbox_put(&m, &item));
    assert_true(mailbox_put(&m, &item));
    assert_true(is_readable(&m, 0));
    assert_int_equal(mailbox_take(&m, out, 1), 1);
    assert_true(is_readable(&m, 0));
    assert_int_equal(mailbox_take(&m, out, 2), 1);
    assert_false(is_readable(&m, 0));
    assert_int_equal(mailbox_take(&m, out, 2), 0);
    assert_true(mailbox_put(&m, &item));
    assert_true(is_readable(&m, 0));
    mailbox_fini(&m);
}

static void test_mailbox__a_reserved_item_always_fits(void **state)
{
    struct mailbox m;
    int item, answer;
    void *out[2];

    (void)state;
    open_mailbox(&m, 2);
    assert_true(mailbox_reserve(&m));
    assert_true(mailbox_put(&m, &item));
    assert_false(mailbox_put(&m, &item));
    assert_false(mailbox_reserve(&m));
    mailbox_put_reserved(&m, &answer);
    assert_int_equal(mailbox_take(&m, out, 2), 2);
    assert_ptr_equal(out[1], &answer);
    mailbox_fini(&m);
}

static void test_mailbox__an_unused_reservation_can_be_given_back(void **state)
{
    struct mailbox m;
    int item;

    (void)state;
    open_mailbox(&m, 1);
    assert_true(mailbox_reserve(&m));
    assert_false(mailbox_put(&m, &item));
    mailbox_unreserve(&m);
    assert_true(mailbox_put(&m, &item));
    mailbox_fini(&m);
}

static void test_mailbox__closing_refuses_intake_and_lets_the_rest_arrive(void **state)
{
    struct mailbox m;
    int item, answer;
    void *out[4];

    (void)state;
    open_mailbox(&m, 4);
    assert_true(mailbox_reserve(&m));
    assert_true(mailbox_put(&m, &item));
    mailbox_close(&m);
    mailbox_close(&m);
    assert_false(mailbox_put(&m, &item));
    assert_false(mailbox_reserve(&m));
    assert_int_equal(mailbox_take(&m, out, 4), 1);
    assert_false(mailbox_is_done(&m));
    mailbox_put_reserved(&m, &answer);
    assert_false(mailbox_is_done(&m));
    assert_int_equal(mailbox_take(&m, out, 4), 1);
    assert_ptr_equal(out[0], &answer);
    assert_true(mailbox_is_done(&m));
    mailbox_fini(&m);
}

static void test_mailbox__closing_wakes_the_taking_thread(void **state)
{
    struct mailbox m;

    (void)state;
    open_mailbox(&m, 4);
    assert_false(mailbox_is_done(&m));
    mailbox_close(&m);
    assert_true(is_readable(&m, 0));
    assert_true(mailbox_is_done(&m));
    mailbox_fini(&m);
}

/* --- with threads --- */

enum { PRODUCERS = 4, ITEMS_EACH = 5000 };

struct message {
    int producer;
    int number;
};

struct producer {
    struct mailbox *mailbox;
    struct message messages[ITEMS_EACH];
    int index;
};

/* Every other item goes through a reservation. */
static void *produce(void *arg)
{
    struct producer *p = arg;

    for (int i = 0; i < ITEMS_EACH; i++) {
        p->messages[i] = (struct message){.producer = p->index, .number = i};
        if (i % 2 == 0) {
            while (!mailbox_put(p->mailbox, &p->messages[i]))
                sched_yield();
        } else {
            while (!mailbox_reserve(p->mailbox))
                sched_yield();
            mailbox_put_reserved(p->mailbox, &p->messages[i]);
        }
    }
    return NULL;
}

static void test_mailbox__loses_and_reorders_nothing_between_threads(void **state)
{
    static struct producer producers[PRODUCERS];
    pthread_t threads[PRODUCERS];
    int next[PRODUCERS] = {0};
    struct mailbox m;
    int total = 0;

    (void)state;
    open_mailbox(&m, 16);
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i].mailbox = &m;
        producers[i].index = i;
        assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
    }
    while (total < PRODUCERS * ITEMS_EACH) {
        void *out[8];
        size_t n;

        /* A wake-up that was lost would let this time out. */
        assert_true(is_readable(&m, 120000));
        n = mailbox_take(&m, out, 8);
        for (size_t i = 0; i < n; i++) {
            const struct message *message = out[i];
            assert_int_equal(message->number, next[message->producer]++);
        }
        total += (int)n;
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    assert_false(is_readable(&m, 0));
    mailbox_close(&m);
    assert_true(mailbox_is_done(&m));
    mailbox_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mailbox__hands_items_over_in_order),
        cmocka_unit_test(test_mailbox__refuses_when_full),
        cmocka_unit_test(test_mailbox__is_readable_exactly_while_it_holds_items),
        cmocka_unit_test(test_mailbox__a_reserved_item_always_fits),
        cmocka_unit_test(test_mailbox__an_unused_reservation_can_be_given_back),
        cmocka_unit_test(test_mailbox__closing_refuses_intake_and_lets_the_rest_arrive),
        cmocka_unit_test(test_mailbox__closing_wakes_the_taking_thread),
        cmocka_unit_test(test_mailbox__loses_and_reorders_nothing_between_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
