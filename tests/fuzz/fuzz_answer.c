/*
 * fuzz_answer.c - what a service answers to a call, byte by byte: status line, headers, body.
 *
 * The first byte chooses the request, the second the execution that waits for the answer. The rest
 * goes through libcurl as if it had come from a socket; "\n>>>\n" parts it into what each connection
 * says, for a redirect asks again. Claims: there is an answer or an error and never both; either is
 * JSON within its bounds; the execution and a worker's endpoint make something of it that can be
 * stored, shown and restored.
 */
#include "effect/call.h"
#include "fuzz/bench.h"
#include "node/outside/jobs.h"
#include "value/json.h"

#include <sys/socket.h>
#include <unistd.h>

enum { PERFORMED_MAX = 16, TIMEOUT_MS = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- a service whose words are the input --- */

static struct str unsaid;

/* What the next connection says. */
static struct str next_words(void)
{
    int64_t at = str_find(unsaid, STR("\n>>>\n"), 0);
    struct str words = at < 0 ? unsaid : str_slice(unsaid, 0, (size_t)at);

    unsaid = at < 0 ? STR_NONE : str_slice(unsaid, (size_t)at + 5, unsaid.len);
    return words;
}

/* One end of a pair on whose other end everything was said already. */
static curl_socket_t open_pair(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct str words = next_words();
    int ends[2];

    (void)purpose;
    (void)address;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return CURL_SOCKET_BAD;
    if (words.len > 0 && send(ends[1], words.ptr, words.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        PANIC("the input does not fit a socket");
    shutdown(ends[1], SHUT_WR);
    /* Open until the call is over: to an end that is closed no request can be sent. */
    *(int *)context = ends[1];
    return ends[0];
}

static int say_connected(void *context, curl_socket_t fd, curlsocktype purpose)
{
    (void)context;
    (void)fd;
    (void)purpose;
    return CURL_SOCKOPT_ALREADY_CONNECTED;
}

static struct transfer *answer_transfer(int *other_end)
{
    static struct transfer t;

    if (t.easy != NULL)
        return &t;
    t.easy = curl_easy_init();
    buf_init(&t.body);
    buf_init(&t.head);
    call_set_up(&t, NULL);
    curl_easy_setopt(t.easy, CURLOPT_OPENSOCKETFUNCTION, open_pair);
    curl_easy_setopt(t.easy, CURLOPT_OPENSOCKETDATA, other_end);
    curl_easy_setopt(t.easy, CURLOPT_SOCKOPTFUNCTION, say_connected);
    curl_easy_setopt(t.easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(t.easy, CURLOPT_FRESH_CONNECT, 1L);
    return &t;
}

/* --- the call --- */

static const char *const requests[] = {
    "{\"method\":\"POST\",\"url\":\"http://127.0.0.1:9/a\",\"headers\":{},\"body\":{\"n\":1}}",
    "{\"method\":\"GET\",\"url\":\"http://127.0.0.1:9/a/b?c=d\",\"headers\":{\"x-a\":\"1\"}}",
    "{\"method\":\"HEAD\",\"url\":\"http://127.0.0.1:9/\",\"headers\":{}}",
    "{\"method\":\"PUT\",\"url\":\"http://127.0.0.1:9/\",\"headers\":{},\"body\":\"text\"}",
};

static void perform(struct transfer *t, int *other_end)
{
    enum call_end end = CALL_AGAIN;

    for (unsigned i = 0; i < PERFORMED_MAX && end == CALL_AGAIN; i++) {
        CURLcode code = curl_easy_perform(t->easy);

        if (*other_end >= 0)
            close(*other_end);
        *other_end = -1;
        end = call_finish(t, code);
    }
    ASSERT(end == CALL_ENDED);
}

static struct effect_call *call_service(uint8_t choice)
{
    static int other_end = -1;
    struct transfer *t = answer_transfer(&other_end);
    struct effect_call *call = effect_call_new();

    call->request_json = str_of(requests[choice % ARRAY_SIZE(requests)]);
    call->host = STR("http://127.0.0.1:9");
    call->key = STR("k");
    call->timeout_us = TIMEOUT_MS * 1000;
    call->is_trusted = true;
    call->wants_status = choice >= 0xF0;
    t->call = call;
    ASSERT(call_read(t) == SECRET_READY && call_prepare(t));
    perform(t, &other_end);
    call_reset(t);
    return call;
}

/* --- what comes of it --- */

static const struct bench_state *waiting_state(uint8_t choice)
{
    const struct bench_states *all = bench_states();

    for (size_t i = 0; i < all->count; i++)
        if (all->items[(choice + i) % all->count].awaits_call)
            return &all->items[(choice + i) % all->count];
    PANIC("no state waits for a call");
}

static void give_answer(struct arena *mem, const struct bench_state *from, struct value output,
                        struct value error)
{
    struct bench_bytes none = {0};
    struct execution *x;
    struct event ev;
    struct err err;

    ASSERT(state_restore(mem, from->program, &from->stored, &x, &err));
    ev = (struct event){.kind = EVENT_ANSWER,
                        .answer_key = x->cursor.awaited,
                        .answer_seq = x->cursor.asked_seq,
                        .answer_output = output,
                        .answer_error = error};
    (void)bench_advance(mem, from, state_copy(mem, x), ev, from->now_us + 1000000, &none);
}

static void take_answer(struct arena *mem, const struct effect_call *call, uint8_t state)
{
    struct value output = value_absent(), error = value_absent();
    struct str json = call->answer_json.len > 0 ? call->answer_json : call->error_json;
    struct err err;

    if (call->wants_status && call->error_json.len == 0) {
        ASSERT(call->status > 0 && call->answer_json.len == 0);
        return;
    }
    ASSERT((call->answer_json.len > 0) != (call->error_json.len > 0));
    ASSERT(json_read(mem, json, call->answer_json.len > 0 ? &output : &error, &err));
    give_answer(mem, waiting_state(state), output, error);
    if (output.kind == VALUE_ABSENT)
        return;
    endpoints_judge(mem, output, &output, &error);
    ASSERT((output.kind == VALUE_ABSENT) != (error.kind == VALUE_ABSENT));
    give_answer(mem, waiting_state(state), output, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench_bytes b = {data, size};
    uint8_t choice = bench_byte(&b), state = bench_byte(&b);
    struct effect_call *call;
    struct arena mem;

    unsaid = str_from((const char *)b.at, b.left);
    call = call_service(choice);
    arena_init(&mem);
    take_answer(&mem, call, state);
    arena_fini(&mem);
    effect_call_free(call);
    return 0;
}
