/* bench.c - pawl bench: how many executions a second a server completes. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/server/load.h"

#include <stdio.h>

#define CODE "pawl_bench"
#define WARM_UP_US INT64_C(1000000)

/* Four steps that need nothing from outside; every answer is durable. */
static const char definition[] =
    "{\"code\": \"" CODE "\", \"name\": \"Load test of pawl bench\",\n"
    " \"input\": [{\"name\": \"amount\", \"type\": \"integer\", \"required\": true}],\n"
    " \"steps\": [\n"
    "  {\"code\": \"check\", \"procedure\": {\"type\": \"compute.transform\",\n"
    "    \"data\": {\"large\": \"=$.input.amount > 100\", \"amount\": \"$.input.amount\"}}},\n"
    "  {\"code\": \"tax\", \"procedure\": {\"type\": \"compute.transform\",\n"
    "    \"data\": {\"tax\": \"=$.steps.check.amount * 19 / 100\"}}},\n"
    "  {\"code\": \"total\", \"procedure\": {\"type\": \"compute.transform\",\n"
    "    \"data\": {\"total\": \"=$.steps.check.amount + $.steps.tax.tax\"}}},\n"
    "  {\"code\": \"note\", \"procedure\": {\"type\": \"compute.transform\",\n"
    "    \"data\": {\"text\": \"{{ $.steps.total.total }} in all\"}}}]}\n";

struct bench {
    unsigned connections;
    int64_t seconds;
    bool as_json;
    struct progress_line progress;
    uint64_t answered_before;
    int64_t shown_us;
};

static void bench_show_progress(void *context, int64_t elapsed_us, uint64_t answered)
{
    struct bench *b = context;
    int64_t passed_us = elapsed_us - b->shown_us;
    char note[64] = "warming up";

    if (elapsed_us >= 0 && passed_us > 0)
        (void)snprintf(note, sizeof(note), "%.0f executions/s",
                       (double)(answered - b->answered_before) * 1e6 / (double)passed_us);
    progress_set(&b->progress, elapsed_us < 0 ? 0 : elapsed_us, b->seconds * 1000000, note);
    b->shown_us = elapsed_us;
    b->answered_before = answered;
}

/* Publish the scenario unless the server has it as it is here. */
static bool publish(struct client *c)
{
    struct reply reply;
    struct value published;

    if (!client_ask(c, "GET", STR("/scenarios/" CODE "/versions"), STR_NONE, &reply))
        return false;
    if (reply.status == 200) {
        if (!client_call(c, "GET", STR("/scenarios/" CODE), STR_NONE, &reply))
            return false;
        published = value_map_get_str(reply.json, STR("published"));
        if (published.kind == VALUE_MAP && str_find(reply.text, str_of(definition), 0) >= 0)
            return true;
    }
    return client_call(c, "PUT", STR("/scenarios/" CODE "/draft"), str_of(definition), &reply) &&
           client_call(c, "POST", STR("/scenarios/" CODE "/publish"), STR_NONE, &reply);
}

/* "http://host:port" in its parts. */
static bool split_url(const char *url, struct str *host, struct str *port)
{
    struct str s = str_of(url);
    int64_t colon;

    if (!str_starts_with(s, STR("http://")))
        return false;
    s = str_slice(s, 7, s.len);
    *host = s;
    *port = STR("80");
    colon = str_find(s, STR(":"),
                     s.len > 0 && s.ptr[0] == '[' ? (size_t)str_find(s, STR("]"), 0) + 1 : 0);
    if (colon >= 0) {
        *host = str_slice(s, 0, (size_t)colon);
        *port = str_slice(s, (size_t)colon + 1, s.len);
    }
    if (host->len > 2 && host->ptr[0] == '[')
        *host = str_slice(*host, 1, host->len - 1);
    return host->len > 0 && port->len > 0;
}

static struct str make_request(struct client *c)
{
    static const char body[] = "{\"code\":\"" CODE "\",\"input\":{\"amount\":250}}";

    return str_printf(&c->mem,
                      "POST /api/v1/executions?wait=60s HTTP/1.1\r\nHost: pawl\r\n"
                      "Authorization: Bearer %.*s\r\nContent-Type: application/json\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      STR_ARG(c->token), sizeof(body) - 1, body);
}

static void print_result(const struct bench *b, const struct load_result *r)
{
    double seconds = (double)r->elapsed_us / 1e6;
    double per_second = seconds > 0 ? (double)r->answered / seconds : 0;
    double p50 = (double)load_times_at(&r->times, 0.5) / 1000;
    double p95 = (double)load_times_at(&r->times, 0.95) / 1000;
    double p99 = (double)load_times_at(&r->times, 0.99) / 1000;

    if (b->as_json)
        printf("{\"connections\":%u,\"seconds\":%.3f,\"executions\":%llu,\"perSecond\":%.1f,"
               "\"p50Ms\":%.3f,\"p95Ms\":%.3f,\"p99Ms\":%.3f,\"refused\":%llu,\"broken\":%llu}\n",
               b->connections, seconds, (unsigned long long)r->answered, per_second, p50, p95, p99,
               (unsigned long long)r->refused, (unsigned long long)r->broken);
    else
        printf("%u connections, %.1f s, 4 steps, every answer durable\n"
               "  %10.0f executions/s (%llu in all)\n"
               "  %10.2f ms p50, %.2f ms p95, %.2f ms p99\n",
               b->connections, seconds, per_second, (unsigned long long)r->answered, p50, p95, p99);
    if (r->refused > 0)
        fprintf(stderr, "pawl bench: %llu requests were refused, the last with HTTP %d\n",
                (unsigned long long)r->refused, r->refused_status);
    if (r->broken > 0)
        fprintf(stderr, "pawl bench: %llu connections were lost\n", (unsigned long long)r->broken);
}

static bool bench(struct client *c, struct bench *b)
{
    struct load_options options = {.connections = b->connections,
                                   .warm_up_us = WARM_UP_US,
                                   .duration_us = b->seconds * 1000000,
                                   .progress = bench_show_progress,
                                   .context = b};
    struct load_result *result;
    struct err err;
    bool ok;

    if (!split_url(c->url, &options.host, &options.port)) {
        fprintf(stderr, "pawl bench: the URL must be http://HOST:PORT, not %s\n", c->url);
        return false;
    }
    if (!publish(c))
        return false;
    options.request = make_request(c);
    b->shown_us = -WARM_UP_US;
    result = ARENA_NEW(&c->mem, struct load_result);
    progress_begin(&b->progress, "measuring");
    ok = load_run(&options, result, &err);
    progress_end(&b->progress);
    if (!ok) {
        fprintf(stderr, "pawl bench: %s\n", err.message);
        return false;
    }
    print_result(b, result);
    return result->refused == 0 && result->broken == 0;
}

/* The number of an option, from 1 to `max`; `otherwise` without one. */
static bool bench_read_number(const struct options *o, const char *name, int64_t otherwise,
                              int64_t max, int64_t *out)
{
    const char *text = options_get(o, name);

    *out = otherwise;
    if (text == NULL || (str_to_int64(str_of(text), out) && *out >= 1 && *out <= max))
        return true;
    fprintf(stderr, "pawl bench: --%s takes a number from 1 to %lld, not %s\n", name,
            (long long)max, text);
    return false;
}

int command_bench(struct client *c, const struct options *o)
{
    struct bench b = {.as_json = c->as_json};
    int64_t connections;

    if (o->argc != 1 || !bench_read_number(o, "connections", 64, 20000, &connections) ||
        !bench_read_number(o, "seconds", 10, 86400, &b.seconds))
        return options_usage(o);
    b.connections = (unsigned)connections;
    return bench(c, &b) ? EXIT_OK : EXIT_FAILED;
}
