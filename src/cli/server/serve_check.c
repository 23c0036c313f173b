/* serve_check.c - whether a server can be served as its settings say; see serve.h. */
#include "base/log.h"
#include "base/text/ascii.h"
#include "base/url.h"
#include "cli/server/serve.h"
#include "effect/broker/broker.h"
#include "value/timefmt.h"

#include <stdio.h>
#include <unistd.h>

/* "127.0.0.1:7070", "[::1]:7070", ":7070" or "7070". */
static bool read_address(const char *text, struct str *host, uint16_t *port)
{
    struct str all = str_of(text);
    size_t colon = all.len;
    int64_t number;

    while (colon > 0 && all.ptr[colon - 1] != ':')
        colon--;
    *host = colon > 1 ? str_slice(all, 0, colon - 1) : STR("127.0.0.1");
    if (host->len > 2 && host->ptr[0] == '[' && host->ptr[host->len - 1] == ']')
        *host = str_slice(*host, 1, host->len - 1);
    if (!str_to_int64(str_slice(all, colon, all.len), &number) || number < 0 || number > 65535)
        return false;
    *port = (uint16_t)number;
    return true;
}

static bool is_loopback(struct str host)
{
    struct cidrs loopback;
    struct arena mem;
    struct err err;
    struct ip ip;
    bool is_ours;

    /* A name that only begins like an address, 127.example.org, is anybody's. */
    if (!ip_read(host, &ip))
        return str_eq(host, STR("localhost"));
    arena_init(&mem);
    is_ours =
        cidrs_read(&mem, STR("127.0.0.0/8,::1"), &loopback, &err) && cidrs_have(&loopback, ip);
    arena_fini(&mem);
    return is_ours;
}

static bool check_address(struct server *s)
{
    const char *listen = serve_text(s, SETTING_LISTEN);

    if (!read_address(listen, &s->host, &s->port)) {
        fprintf(stderr, "pawl serve: --listen takes HOST:PORT, such as 127.0.0.1:7070, not %s\n",
                listen);
        return false;
    }
    if (is_loopback(s->host) || serve_has(s, SETTING_TLS_CERT) ||
        settings_flag(&s->settings, SETTING_ALLOW_PLAIN_HTTP))
        return true;
    fprintf(stderr,
            "pawl serve: %s can be reached from other machines, and this server speaks plain HTTP: "
            "whoever listens on the way learns the token.\n"
            "Give it a certificate with --tls-cert and --tls-key, listen on 127.0.0.1 behind a "
            "proxy that speaks TLS, or add --allow-plain-http.\n",
            listen);
    return false;
}

bool serve_is_sqlite(const struct server *s)
{
    return !serve_has(s, SETTING_STORE) || strcmp(serve_text(s, SETTING_STORE), "sqlite") == 0;
}

/* A password may be in it, so it is not shown. */
static bool check_store(const struct server *s)
{
    struct str url = str_of(serve_text(s, SETTING_STORE));

    if (serve_is_sqlite(s) || str_starts_with(url, STR("postgres://")) ||
        str_starts_with(url, STR("postgresql://")))
        return true;
    fprintf(stderr, "pawl serve: --store takes postgres://USER@HOST/DATABASE, or sqlite for the "
                    "file in the data folder\n");
    return false;
}

/* "90d"; "none" and "0" keep everything. `what` names what is kept that long. */
static bool check_keep(struct server *s, enum setting_symbol setting, const char *name,
                       const char *what, int64_t *out_us)
{
    const char *text = serve_text(s, setting);
    struct value v;

    if (strcmp(text, "none") == 0)
        return true;
    if (duration_read(str_of(text), &v) && v.seconds >= 0) {
        *out_us = v.seconds * 1000000 + v.nanos / 1000;
        return true;
    }
    fprintf(stderr,
            "pawl serve: --%s takes how long %s, such as 90d, or none to keep them for ever; not "
            "%s\n",
            name, what, text);
    return false;
}

static bool check_retention(struct server *s)
{
    return check_keep(s, SETTING_KEEP_COMPLETED, "keep-completed",
                      "executions are kept after their end", &s->keep_ended_us) &&
           check_keep(s, SETTING_KEEP_AUDIT, "keep-audit", "lines of the audit log are kept",
                      &s->keep_audit_us);
}

/* What the log leaves out. */
static bool check_log_level(struct server *s)
{
    const char *text = serve_text(s, SETTING_LOG_LEVEL);
    enum log_level least;

    if (log_level_read(str_of(text), &least)) {
        log_to(STDERR_FILENO, least, &clock_system);
        return true;
    }
    fprintf(stderr, "pawl serve: --log-level is debug, info, notice, warn or error; not %s\n",
            text);
    return false;
}

/* Where processes may call. */
static bool check_calls(struct server *s)
{
    struct err err;

    if (policy_read(&s->mem, str_of(serve_text(s, SETTING_HTTP_ALLOW)), &s->policy.allow, &err) &&
        policy_read(&s->mem, str_of(serve_text(s, SETTING_HTTP_DENY)), &s->policy.deny, &err))
        return true;
    fprintf(stderr, "pawl serve: --http-allow and --http-deny take lists with commas: %s\n",
            err.message);
    return false;
}

static bool begins_with(const struct server *s, enum setting_symbol symbol, const char *one,
                        const char *other)
{
    struct str url = str_of(serve_text(s, symbol));

    return url.len == 0 || str_starts_with(url, str_of(one)) || str_starts_with(url, str_of(other));
}

/* Where messages go. A password may be in it, so none is shown. */
static bool check_messages(struct server *s)
{
    if (!begins_with(s, SETTING_SMTP, "smtp://", "smtps://")) {
        fprintf(stderr, "pawl serve: --smtp takes smtp://USER:PASSWORD@HOST:587 or smtps://...\n");
        return false;
    }
    if (serve_has(s, SETTING_SMTP) && (!serve_has(s, SETTING_MAIL_FROM) ||
                                       strchr(serve_text(s, SETTING_MAIL_FROM), '@') == NULL)) {
        fprintf(stderr, "pawl serve: --smtp needs --mail-from, the address that mails come from, "
                        "such as pawl@example.com\n");
        return false;
    }
    if (begins_with(s, SETTING_SMS_GATEWAY, "http://", "https://") &&
        begins_with(s, SETTING_PUSH_GATEWAY, "http://", "https://"))
        return true;
    fprintf(stderr,
            "pawl serve: --sms-gateway and --push-gateway take http:// or https:// addresses\n");
    return false;
}

/* The broker. A password may be in the address, so none is shown. */
static bool check_broker(const struct server *s)
{
    const char *mistake;

    if (!serve_has(s, SETTING_BROKER))
        return true;
    mistake = broker_url_mistake(str_of(serve_text(s, SETTING_BROKER)));
    if (mistake == NULL)
        return true;
    fprintf(stderr,
            "pawl serve: --broker takes the address of RabbitMQ, such as "
            "amqp://USER:PASSWORD@HOST:5672/VHOST: %s\n",
            mistake);
    return false;
}

/* Where traces go. */
static bool check_otlp(struct server *s)
{
    struct str host;
    const char *wrong;

    if (!serve_has(s, SETTING_OTLP))
        return true;
    wrong = url_host(&s->mem, str_of(serve_text(s, SETTING_OTLP)), &host);
    if (wrong == NULL)
        return true;
    fprintf(stderr,
            "pawl serve: --otlp takes the address of a collector, such as "
            "http://127.0.0.1:4318: %s\n",
            wrong);
    return false;
}

static bool check_tls(struct server *s)
{
    struct err err;

    if (!serve_has(s, SETTING_TLS_CERT) && !serve_has(s, SETTING_TLS_KEY))
        return true;
    if (!serve_has(s, SETTING_TLS_CERT) || !serve_has(s, SETTING_TLS_KEY)) {
        fprintf(stderr, "pawl serve: --tls-cert and --tls-key go together\n");
        return false;
    }
    if (!tls_read(&s->mem, serve_text(s, SETTING_TLS_CERT), serve_text(s, SETTING_TLS_KEY), &s->tls,
                  &err)) {
        fprintf(stderr, "pawl serve: %s\n", err.message);
        return false;
    }
    if (s->tls.is_expired)
        fprintf(stderr, "pawl serve: the certificate in %s is not valid today\n",
                serve_text(s, SETTING_TLS_CERT));
    return true;
}

/* The name of a header: letters, digits and dashes. */
static bool is_header_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];
        if (!ascii_is_letter_or_digit(ch) && ch != '-')
            return false;
    }
    return name.len > 0;
}

static bool check_proxy(struct server *s)
{
    struct err err;

    if (serve_has(s, SETTING_AUTH_HEADER) && !serve_has(s, SETTING_TRUSTED_PROXY)) {
        fprintf(stderr, "pawl serve: --auth-header needs --trusted-proxy: anyone can send a "
                        "header, and it is believed only from the proxy\n");
        return false;
    }
    if (serve_has(s, SETTING_AUTH_HEADER) &&
        !is_header_name(str_of(serve_text(s, SETTING_AUTH_HEADER)))) {
        fprintf(stderr, "pawl serve: --auth-header takes the name of a header, such as "
                        "X-Forwarded-Email\n");
        return false;
    }
    if (!serve_has(s, SETTING_TRUSTED_PROXY) ||
        cidrs_read(&s->mem, str_of(serve_text(s, SETTING_TRUSTED_PROXY)), &s->trusted_proxies,
                   &err))
        return true;
    fprintf(stderr, "pawl serve: --trusted-proxy: %s\n", err.message);
    return false;
}

static bool check_public_url(const struct server *s)
{
    struct str url = str_of(serve_text(s, SETTING_PUBLIC_URL));

    if (url.len == 0 || str_starts_with(url, STR("http://")) ||
        str_starts_with(url, STR("https://")))
        return true;
    fprintf(stderr, "pawl serve: --public-url begins with https:// or http://\n");
    return false;
}

bool serve_check(struct server *s)
{
    return check_tls(s) && check_address(s) && check_store(s) && check_retention(s) &&
           check_log_level(s) && check_proxy(s) && check_public_url(s) && check_calls(s) &&
           check_messages(s) && check_broker(s) && check_otlp(s);
}
