/* pawl_worker.c - see pawl_worker.h. Needs libcurl and POSIX threads: -lcurl -lpthread. */
#define _GNU_SOURCE
#include "pawl_worker.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HANDLERS_MAX = 100,
    ANSWER_MAX = 64 * 1024 * 1024, /* bytes of one answer of the server */
    BACKOFF_MAX_MS = 30000,
    RETRY_AFTER_MAX_MS = 300000, /* that a server may ask for */
    REASON_SIZE = 600,
};

/* --- texts --- */

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "pawl: out of memory\n");
        abort();
    }
    return memory;
}

static char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *pattern, ...)
{
    va_list args;
    char *out = NULL;

    va_start(args, pattern);
    if (vasprintf(&out, pattern, args) < 0)
        out = NULL;
    va_end(args);
    return need(out);
}

static const char *space_skip(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Behind the closing quote of a string. */
static const char *string_skip(const char *p)
{
    for (p++; *p != '\0' && *p != '"'; p++)
        if (*p == '\\' && p[1] != '\0')
            p++;
    return *p == '"' ? p + 1 : p;
}

/* Behind a value. */
static const char *value_skip(const char *p)
{
    size_t depth = 0;

    do {
        p = space_skip(p);
        if (*p == '"') {
            p = string_skip(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            if (depth == 0)
                return p;
            depth--;
            p++;
        } else if (*p == ',' || *p == ':') {
            if (depth == 0)
                return p;
            p++;
        } else {
            p += strcspn(p, " \t\r\n,:{}[]\"");
        }
    } while (depth > 0 && *p != '\0');
    return p;
}

/* The value of a member within an object; NULL when there is none. */
static const char *member_find(const char *object, const char *name)
{
    size_t len = strlen(name);
    const char *p = object == NULL ? "" : space_skip(object);

    if (*p != '{')
        return NULL;
    for (p = space_skip(p + 1); *p == '"'; p = space_skip(p + 1)) {
        const char *key = p + 1, *end = string_skip(p);

        p = space_skip(end);
        if (*p != ':')
            return NULL;
        p = space_skip(p + 1);
        if ((size_t)(end - 1 - key) == len && memcmp(key, name, len) == 0)
            return p;
        p = space_skip(value_skip(p));
        if (*p != ',')
            return NULL;
    }
    return NULL;
}

char *pawl_json_member(const char *object, const char *name)
{
    const char *value = member_find(object, name);

    return value == NULL ? NULL : need(strndup(value, (size_t)(value_skip(value) - value)));
}

double pawl_json_number(const char *object, const char *name, double otherwise)
{
    const char *value = member_find(object, name);
    char *end;
    double number = value == NULL ? 0 : strtod(value, &end);

    return value == NULL || end == value ? otherwise : number;
}

static unsigned hex4(const char *p)
{
    char digits[5] = "";

    memcpy(digits, p, strnlen(p, 4));
    return (unsigned)strtoul(digits, NULL, 16);
}

static char *utf8_put(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

char *pawl_json_text(const char *object, const char *name)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const char *p = member_find(object, name), *end;
    char *text, *out;

    if (p == NULL || *p != '"')
        return NULL;
    end = string_skip(p) - 1;
    out = text = need(malloc((size_t)(end - p) + 1));
    for (p++; p < end; p++) {
        const char *letter;

        if (*p != '\\') {
            *out++ = *p;
            continue;
        }
        p++;
        if (*p == 'u' && end - p > 4) {
            unsigned c = hex4(p + 1);

            p += 4;
            if (c >= 0xd800 && c < 0xdc00 && end - p > 6 && p[1] == '\\' && p[2] == 'u') {
                c = 0x10000 + ((c - 0xd800) << 10) + ((hex4(p + 3) - 0xdc00) & 0x3ff);
                p += 6;
            }
            out = utf8_put(out, c == 0 ? 0xfffd : c);
            continue;
        }
        for (letter = letters; *letter != '\0' && *letter != *p; letter += 2)
            ;
        *out++ = *letter == '\0' ? *p : letter[1];
    }
    *out = '\0';
    return text;
}

char *pawl_json_quote(const char *text)
{
    char *quoted = need(malloc(strlen(text) * 6 + 3)), *out = quoted;

    *out++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            *out++ = '\\';
        if ((unsigned char)*text < 0x20)
            out += snprintf(out, 7, "\\u%04x", (unsigned)*text);
        else
            *out++ = *text;
    }
    *out++ = '"';
    *out = '\0';
    return quoted;
}

/* --- a worker and its jobs --- */

struct registered {
    char *type;
    pawl_handler *handler;
    void *arg;
};

/* A thread that does a job, and one that keeps its lease. */
struct slot {
    struct pawl_worker *worker;
    struct pawl_job job; /* job.id == NULL: it has none */
    char *token, *report, reason[REASON_SIZE];
    int64_t lease_end;
    unsigned round; /* grows with each job that it has had */
    bool beats_now, is_cancelled,
        is_over; /* is_over: it was answered, or is not answered any more */
};

struct pawl_worker {
    char *url, *token, *name;
    int concurrency, lease_ms, wait_ms, grace_ms;
    struct registered handlers[HANDLERS_MAX];
    int handler_count;
    atomic_bool is_stopping;
    pthread_mutex_t lock; /* guards the slots */
    pthread_cond_t changed;
    struct slot *slots;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_ms(int64_t ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* Wait for a change, `ms` at most; the lock is held. */
static void wait_for_change(struct pawl_worker *w, int64_t ms)
{
    int64_t until = now_ms() + (ms < 1 ? 1 : ms);
    struct timespec t = {until / 1000, until % 1000 * 1000000};

    pthread_cond_timedwait(&w->changed, &w->lock, &t);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct pawl_worker *pawl_worker_new(const struct pawl_options *options)
{
    struct pawl_options o = options == NULL ? (struct pawl_options){0} : *options;
    struct pawl_worker *w = need(calloc(1, sizeof(*w)));
    pthread_condattr_t attr;
    char host[256] = "worker";

    if (o.url == NULL)
        o.url = getenv("PAWL_URL") != NULL ? getenv("PAWL_URL") : "http://127.0.0.1:7070";
    if (o.token == NULL)
        o.token = getenv("PAWL_TOKEN");
    if (o.token == NULL || o.token[0] == '\0' || o.concurrency < 0 || o.concurrency > 100) {
        fputs(o.concurrency < 0 || o.concurrency > 100
                  ? "pawl: concurrency is 1 to 100\n"
                  : "pawl: PAWL_TOKEN has no token: pawl user add NAME --role worker makes one\n",
              stderr);
        free(w);
        return NULL;
    }
    gethostname(host, sizeof(host) - 1);
    w->url = need(strdup(o.url));
    for (size_t len = strlen(w->url); len > 0 && w->url[len - 1] == '/'; len--)
        w->url[len - 1] = '\0';
    w->token = need(strdup(o.token));
    w->name = o.name != NULL ? need(strdup(o.name)) : format("%s-%d", host, (int)getpid());
    w->concurrency = o.concurrency > 0 ? o.concurrency : 4;
    w->lease_ms = o.lease_ms > 0 ? o.lease_ms : 60000;
    w->wait_ms = o.wait_ms > 0 ? o.wait_ms : 10000;
    w->grace_ms = o.grace_ms > 0 ? o.grace_ms : 20000;
    w->slots = need(calloc((size_t)w->concurrency, sizeof(struct slot)));
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    return w;
}

bool pawl_worker_handle(struct pawl_worker *w, const char *type, pawl_handler *handler, void *arg)
{
    if (w->handler_count == HANDLERS_MAX)
        return false;
    w->handlers[w->handler_count++] = (struct registered){need(strdup(type)), handler, arg};
    return true;
}

static const struct registered *handler_find(const struct pawl_worker *w, const char *type)
{
    const struct registered *best = NULL;

    for (int i = 0; i < w->handler_count; i++) {
        const struct registered *h = &w->handlers[i];
        size_t len = strlen(h->type);

        if (strcmp(h->type, type) == 0)
            return h;
        if (len > 2 && strcmp(h->type + len - 2, ".*") == 0 &&
            strncmp(h->type, type, len - 1) == 0 && (best == NULL || len > strlen(best->type)))
            best = h;
    }
    return best;
}

void pawl_worker_stop(struct pawl_worker *w)
{
    atomic_store(&w->is_stopping, true);
}

static struct slot *slot_of(struct pawl_job *job)
{
    return (struct slot *)((char *)job - offsetof(struct slot, job));
}

bool pawl_job_is_cancelled(struct pawl_job *job)
{
    struct slot *s = slot_of(job);
    bool is;

    pthread_mutex_lock(&s->worker->lock);
    is = s->is_cancelled;
    pthread_mutex_unlock(&s->worker->lock);
    return is;
}

const char *pawl_job_cancel_reason(struct pawl_job *job)
{
    return pawl_job_is_cancelled(job) ? slot_of(job)->reason : NULL;
}

bool pawl_job_wait(struct pawl_job *job, int ms)
{
    struct slot *s = slot_of(job);
    int64_t until = now_ms() + ms;
    bool is;

    pthread_mutex_lock(&s->worker->lock);
    while (!s->is_cancelled && now_ms() < until)
        wait_for_change(s->worker, until - now_ms());
    is = s->is_cancelled;
    pthread_mutex_unlock(&s->worker->lock);
    return is;
}

void pawl_job_report(struct pawl_job *job, const char *progress_json)
{
    struct slot *s = slot_of(job);

    pthread_mutex_lock(&s->worker->lock);
    free(s->report);
    s->report = need(strdup(progress_json));
    pthread_cond_broadcast(&s->worker->changed);
    pthread_mutex_unlock(&s->worker->lock);
}

/* The lock is held. */
static void slot_cancel(struct slot *s, const char *reason)
{
    if (s->is_over || s->is_cancelled)
        return;
    snprintf(s->reason, sizeof(s->reason), "%s", reason);
    s->is_cancelled = true;
    pthread_cond_broadcast(&s->worker->changed);
    fprintf(stderr, "pawl: job %s of %s: %s\n", s->job.id, s->job.type, reason);
}

/* --- requests --- */

/* What the server has said; status 0: there was no whole answer. */
struct reply {
    long status;
    int64_t retry_after_ms;
    char *body;
    size_t len;
};

static size_t reply_add(char *bytes, size_t size, size_t count, void *owner)
{
    struct reply *r = owner;
    size_t more = size * count;

    if (more > ANSWER_MAX - r->len)
        return 0;
    r->body = need(realloc(r->body, r->len + more + 1));
    memcpy(r->body + r->len, bytes, more);
    r->len += more;
    r->body[r->len] = '\0';
    return more;
}

/* POST; the caller frees reply.body. `curl` keeps the connection of a thread. */
static struct reply ask(struct pawl_worker *w, CURL *curl, const char *path, const char *body,
                        int64_t timeout_ms, const char *key)
{
    struct reply r = {0};
    struct curl_slist *headers = NULL;
    char *url = format("%s/api/v1%s", w->url, path);
    char *token = format("Authorization: Bearer %s", w->token);
    char *key_header = format("Idempotency-Key: %s", key != NULL ? key : "");
    curl_off_t retry_after = 0;

    headers = curl_slist_append(headers, token);
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    if (key != NULL)
        headers = curl_slist_append(headers, key_header);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, need(headers));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, reply_add);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &r);
    if (curl_easy_perform(curl) == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &r.status);
        if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK)
            r.retry_after_ms = smaller((int64_t)retry_after * 1000, RETRY_AFTER_MAX_MS);
    }
    curl_slist_free_all(headers);
    free(url);
    free(token);
    free(key_header);
    return r;
}

/* What a refusal says. */
static char *reply_detail(const struct reply *r)
{
    const char *list = member_find(r->body, "errors");
    char *text = NULL;

    if (list != NULL && *list == '[')
        text = pawl_json_text(space_skip(list + 1), "message");
    if (text == NULL)
        text = pawl_json_text(r->body, "detail");
    return text != NULL ? text : need(strdup("no reason given"));
}

/* Twice as long each time, spread, and no less than the server has asked for. */
static int64_t backoff_ms(int tries, const struct reply *r, int64_t most)
{
    int64_t pause = tries > 10 ? most : smaller(most, (int64_t)100 << (tries - 1));
    uint32_t random = 0;

    if (getentropy(&random, sizeof(random)) != 0)
        random = (uint32_t)now_ms();
    pause = pause / 2 + (int64_t)(random % (uint32_t)(pause / 2 + 1));
    return pause < r->retry_after_ms ? r->retry_after_ms : pause;
}

/* Whether the same request may succeed later. */
static bool is_away(long status)
{
    return status < 300 || status >= 500 || status == 408 || status == 429;
}

/* --- keeping a lease --- */

/* One heartbeat; when the next is due. The lock is held before and after. */
static int64_t slot_renew(struct slot *s, CURL *curl, int64_t every)
{
    struct pawl_worker *w = s->worker;
    int64_t sent_at = now_ms(), left = s->lease_end - sent_at, next;
    char *report = s->report, *path = format("/jobs/%s/heartbeat", s->job.id);
    char *body = report != NULL
                     ? format("{\"leaseToken\":\"%s\",\"progress\":%s}", s->token, report)
                     : format("{\"leaseToken\":\"%s\"}", s->token);
    unsigned round = s->round;
    struct reply r = {0};

    s->report = NULL;
    if (left > 0) {
        pthread_mutex_unlock(&w->lock);
        r = ask(w, curl, path, body, smaller(every, left) + 50, NULL);
        pthread_mutex_lock(&w->lock);
    }
    next = now_ms() + every / 2; /* after a failure: soon, ... */
    if (s->round != round) {
        ; /* the job was answered meanwhile */
    } else if (r.status == 200) {
        s->lease_end = sent_at + w->lease_ms;
        next = sent_at + every;
    } else if (r.status == 404 || r.status == 409) {
        char *detail = reply_detail(&r), reason[REASON_SIZE];

        snprintf(reason, sizeof(reason), "the lease is over: %s", detail);
        slot_cancel(s, reason);
        free(detail);
    } else if (now_ms() >= s->lease_end) {
        slot_cancel(s, "the lease has run out; the server was not reached in time");
    } else if (report != NULL && !is_away(r.status) && r.status != 401 && r.status != 403) {
        fprintf(stderr, "pawl: job %s: its progress is refused (%ld)\n", s->job.id, r.status);
        next = sent_at; /* without it, at once */
    } else if (s->report == NULL) {
        s->report = report;
        report = NULL;
    }
    free(report);
    free(path);
    free(body);
    free(r.body);
    return smaller(next, s->lease_end); /* ... in time to say that the lease has run out */
}

/* Renews the lease until the job is over; a thread of each slot. */
static void *slot_keep(void *owner)
{
    struct slot *s = owner;
    struct pawl_worker *w = s->worker;
    int64_t every = w->lease_ms / 3;
    int64_t least = smaller(1000, every); /* between two heartbeats, however often it reports */
    CURL *curl = need(curl_easy_init());

    pthread_mutex_lock(&w->lock);
    for (;;) {
        int64_t last, due;
        unsigned round;

        while (s->job.id == NULL || s->is_over || s->is_cancelled)
            wait_for_change(w, 1000);
        last = now_ms();
        round = s->round;
        due = s->beats_now ? last : smaller(last + every, s->lease_end);
        s->beats_now = false;
        while (s->round == round && s->job.id != NULL && !s->is_over && !s->is_cancelled) {
            int64_t at = s->report != NULL ? smaller(due, last + least) : due;

            if (at > now_ms()) {
                wait_for_change(w, at - now_ms());
                continue;
            }
            last = now_ms();
            due = slot_renew(s, curl, every);
        }
    }
    return NULL;
}

/* --- doing a job --- */

static char *failure_body(const struct pawl_failure *f)
{
    char *code = pawl_json_quote(f->code), *message = pawl_json_quote(f->message);
    char *body = format("\"error\":{\"code\":%s,\"message\":%s,\"class\":\"%s\"}", code, message,
                        f->class != NULL ? f->class : "business");

    free(code);
    free(message);
    return body;
}

/* Answer a job until the server has heard it. False: it is not wanted any more. `body` is freed. */
static bool slot_send(struct slot *s, CURL *curl, const char *what, char *body)
{
    struct pawl_worker *w = s->worker;
    bool is_done = false, is_heard = false;

    for (int tries = 1; !is_done; tries++) {
        char *path = format("/jobs/%s/%s", s->job.id, what);
        char *text =
            format("{\"leaseToken\":\"%s\"%s%s}", s->token, body[0] != '\0' ? "," : "", body);
        struct reply r = ask(w, curl, path, text, 30000, NULL);

        free(path);
        free(text);
        is_heard = r.status == 200;
        is_done = is_heard || r.status == 404 || r.status == 409;
        if (!is_done && !is_away(r.status) && r.status != 401 && r.status != 403) {
            struct pawl_failure f = {"answer_refused", "", "indeterminate"};
            char *detail = reply_detail(&r);

            fprintf(stderr, "pawl: job %s: its answer is refused (%ld): %s\n", s->job.id, r.status,
                    detail);
            snprintf(f.message, sizeof(f.message), "%s", detail);
            free(detail);
            is_done = strcmp(what, "complete") != 0;
            what = "fail";
            free(body);
            body = failure_body(&f);
        } else if (!is_done) {
            pthread_mutex_lock(&w->lock);
            is_done = now_ms() > s->lease_end + w->lease_ms || (s->is_over && tries >= 3);
            pthread_mutex_unlock(&w->lock);
            if (!is_done)
                sleep_ms(backoff_ms(tries, &r, w->lease_ms / 4 + 1));
        }
        free(r.body);
    }
    free(body);
    return is_heard;
}

static void slot_clear(struct slot *s)
{
    free((char *)s->job.id);
    free((char *)s->job.type);
    free((char *)s->job.input);
    free((char *)s->job.idempotency_key);
    free((char *)s->job.execution_id);
    free((char *)s->job.step);
    free((char *)s->job.progress);
    free(s->token);
    free(s->report);
    *s = (struct slot){.worker = s->worker, .round = s->round + 1};
}

static void slot_do(struct slot *s, CURL *curl)
{
    struct pawl_worker *w = s->worker;
    const struct registered *h = handler_find(w, s->job.type);
    struct pawl_failure f = {.class = "business"};
    char *output = NULL;
    bool is_over;

    if (h != NULL)
        output = h->handler(&s->job, h->arg, &f);
    else
        snprintf(f.code, sizeof(f.code), "worker_error");
    pthread_mutex_lock(&w->lock);
    is_over = s->is_over;
    pthread_mutex_unlock(&w->lock);
    if (!is_over &&
        !(f.code[0] != '\0' ? slot_send(s, curl, "fail", failure_body(&f))
                            : slot_send(s, curl, "complete",
                                        format("\"output\":%s", output != NULL ? output : "null"))))
        fprintf(stderr, "pawl: job %s: its answer is not wanted any more\n", s->job.id);
    free(output);
    pthread_mutex_lock(&w->lock);
    slot_clear(s);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void *slot_work(void *owner)
{
    struct slot *s = owner;
    struct pawl_worker *w = s->worker;
    CURL *curl = need(curl_easy_init());

    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (s->job.id == NULL || s->is_over)
            wait_for_change(w, 1000);
        pthread_mutex_unlock(&w->lock);
        slot_do(s, curl);
    }
    return NULL;
}

/* --- claiming --- */

static char *claim_body(const struct pawl_worker *w, int most)
{
    char *types = need(strdup("")), *name = pawl_json_quote(w->name), *body;

    for (int i = 0; i < w->handler_count; i++) {
        char *type = pawl_json_quote(w->handlers[i].type);
        char *more = format("%s%s%s", types, i > 0 ? "," : "", type);

        free(type);
        free(types);
        types = more;
    }
    body = format("{\"types\":[%s],\"max\":%d,\"wait\":\"%dms\",\"lease\":\"%dms\",\"worker\":%s}",
                  types, most, w->wait_ms, w->lease_ms, name);
    free(types);
    free(name);
    return body;
}

static void key_make(char key[33])
{
    unsigned char raw[16];

    if (getentropy(raw, sizeof(raw)) != 0)
        abort();
    for (size_t i = 0; i < sizeof(raw); i++)
        snprintf(key + 2 * i, 3, "%02x", raw[i]);
}

/* Ask until there is an answer: {"items": [...]}, to be freed; NULL when stopping, or refused. */
static char *claim(struct pawl_worker *w, CURL *curl, int most, bool *is_repeated, bool *is_refused)
{
    char *body = claim_body(w, most), *found = NULL, key[33];
    bool is_done = false;

    key_make(key);
    for (int tries = 1; !is_done; tries++) {
        bool was_stopping = atomic_load(&w->is_stopping);
        struct reply r = ask(w, curl, "/jobs/claim", body, w->wait_ms + 15000, key);
        int64_t until = now_ms() + backoff_ms(tries, &r, BACKOFF_MAX_MS);

        *is_repeated = tries > 1;
        if (r.status == 200 && member_find(r.body, "items") != NULL) {
            found = r.body;
            break;
        }
        if (r.status == 409) {
            key_make(key);
        } else if (!is_away(r.status)) {
            char *detail = reply_detail(&r);

            fprintf(stderr, "pawl: the server refuses to give jobs (%ld): %s\n", r.status, detail);
            free(detail);
            *is_refused = is_done = true;
        }
        if (tries == 1 || tries % 20 == 0)
            fprintf(stderr, "pawl: the server gives no jobs (status %ld), trying again\n",
                    r.status);
        free(r.body);
        /* Once more at a stop: jobs may have been leased by the claim whose answer was lost. */
        is_done = is_done || was_stopping;
        while (!is_done && !atomic_load(&w->is_stopping) && now_ms() < until)
            sleep_ms(smaller(100, until - now_ms()));
    }
    free(body);
    return found;
}

static void slot_fill(struct slot *s, const char *item, bool is_repeated)
{
    char *input = pawl_json_member(item, "input");

    s->job = (struct pawl_job){
        .id = pawl_json_text(item, "id"),
        .type = pawl_json_text(item, "type"),
        .input = input != NULL ? input : need(strdup("null")),
        .idempotency_key = pawl_json_text(item, "idempotencyKey"),
        .execution_id = pawl_json_text(item, "executionId"),
        .step = pawl_json_text(item, "step"),
        .progress = pawl_json_member(item, "progress"),
        .attempt = (int)pawl_json_number(item, "attempt", 1),
    };
    s->token = pawl_json_text(item, "leaseToken");
    s->lease_end = now_ms() + s->worker->lease_ms;
    s->beats_now = is_repeated; /* its lease began some time ago */
}

/* How many slots are free; *slot is one of them. The lock is held. */
static int slots_free(struct pawl_worker *w, struct slot **slot)
{
    int count = 0;

    for (int i = w->concurrency - 1; i >= 0; i--)
        if (w->slots[i].job.id == NULL) {
            *slot = &w->slots[i];
            count++;
        }
    return count;
}

static void take_items(struct pawl_worker *w, CURL *curl, const char *found, bool is_repeated)
{
    const char *p = member_find(found, "items");

    for (p = space_skip(p + 1); *p == '{'; p = space_skip(*p == ',' ? p + 1 : p)) {
        struct slot back = {.worker = w, .is_over = true}, *s = NULL;

        if (atomic_load(&w->is_stopping)) {
            slot_fill(&back, p, is_repeated);
            (void)slot_send(&back, curl, "return", need(strdup("")));
            slot_clear(&back);
        } else {
            pthread_mutex_lock(&w->lock);
            if (slots_free(w, &s) > 0)
                slot_fill(s, p, is_repeated);
            pthread_cond_broadcast(&w->changed);
            pthread_mutex_unlock(&w->lock);
        }
        p = space_skip(value_skip(p));
    }
}

static void *take_jobs(void *owner)
{
    struct pawl_worker *w = owner;
    CURL *curl = need(curl_easy_init());
    bool is_refused = false, is_repeated = false;
    struct slot *slot;

    while (!atomic_load(&w->is_stopping)) {
        char *found;
        int most;

        pthread_mutex_lock(&w->lock);
        while ((most = slots_free(w, &slot)) == 0 && !atomic_load(&w->is_stopping))
            wait_for_change(w, 100);
        pthread_mutex_unlock(&w->lock);
        if (most == 0)
            break;
        found = claim(w, curl, most, &is_repeated, &is_refused);
        if (is_refused)
            pawl_worker_stop(w);
        if (found != NULL)
            take_items(w, curl, found, is_repeated);
        free(found);
    }
    curl_easy_cleanup(curl);
    return is_refused ? w : NULL;
}

/* --- running --- */

static struct pawl_worker *signalled;

static void on_signal(int number)
{
    signal(number, SIG_DFL); /* the second one ends it at once */
    pawl_worker_stop(signalled);
}

static void thread_start(void *(*run)(void *), void *owner)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, owner) != 0)
        abort();
    pthread_detach(thread);
}

/* Wait until no job is under way, or `until`. The lock is held. */
static bool slots_rest(struct pawl_worker *w, int64_t until)
{
    struct slot *slot;

    while (slots_free(w, &slot) < w->concurrency) {
        if (now_ms() >= until)
            return false;
        wait_for_change(w, smaller(100, until - now_ms()));
    }
    return true;
}

/* Let handlers end by themselves for a while; what is left is failed as indeterminate. */
static void finish(struct pawl_worker *w, int64_t until)
{
    static const struct pawl_failure stopped = {
        "worker_stopped", "the worker was stopped amid the job", "indeterminate"};
    CURL *curl = need(curl_easy_init());

    pthread_mutex_lock(&w->lock);
    if (!slots_rest(w, until)) {
        for (int i = 0; i < w->concurrency; i++)
            if (w->slots[i].job.id != NULL)
                slot_cancel(&w->slots[i], "the worker stops");
        (void)slots_rest(w, now_ms() + 1000);
        for (int i = 0; i < w->concurrency; i++) {
            struct slot *s = &w->slots[i], given_up = {.worker = w, .is_over = true};

            if (s->job.id == NULL || s->is_over)
                continue;
            s->is_over = true;
            given_up.job.id = need(strdup(s->job.id));
            given_up.token = need(strdup(s->token));
            pthread_mutex_unlock(&w->lock);
            (void)slot_send(&given_up, curl, "fail", failure_body(&stopped));
            slot_clear(&given_up);
            pthread_mutex_lock(&w->lock);
        }
    }
    pthread_mutex_unlock(&w->lock);
    curl_easy_cleanup(curl);
}

int pawl_worker_run(struct pawl_worker *w)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t taker;
    void *refused;

    if (w->handler_count == 0) {
        fprintf(stderr, "pawl: the worker has no handlers\n");
        return 1;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    signalled = w;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    for (int i = 0; i < w->concurrency; i++) {
        w->slots[i].worker = w;
        thread_start(slot_work, &w->slots[i]);
        thread_start(slot_keep, &w->slots[i]);
    }
    if (pthread_create(&taker, NULL, take_jobs, w) != 0)
        abort();
    while (!atomic_load(&w->is_stopping))
        sleep_ms(100);
    fprintf(stderr, "pawl: stopping\n");
    int64_t until = now_ms() + w->grace_ms;
    pthread_join(taker, &refused); /* its poll ends by itself: what it is given goes back */
    finish(w, until);
    return refused != NULL ? 1 : 0;
}
