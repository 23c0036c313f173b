/* test_http_tls.c - the HTTP server over TLS; see web.h. */
#include "http/web.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* PEM texts of a key and a certificate that it has signed. */
static char key_pem[4096], cert_pem[4096];

static void read_bio(BIO *bio, char *out, size_t capacity)
{
    int n = BIO_read(bio, out, (int)capacity - 1);

    assert_true(n > 0);
    out[n] = '\0';
    BIO_free(bio);
}

static int make_certificate(void **state)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    BIO *bio = BIO_new(BIO_s_mem());

    (void)state;
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), 0);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_set_pubkey(cert, key);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    PEM_write_bio_X509(bio, cert);
    read_bio(bio, cert_pem, sizeof(cert_pem));
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    read_bio(bio, key_pem, sizeof(key_pem));
    X509_free(cert);
    EVP_PKEY_free(key);
    return 0;
}

static int setup(void **state)
{
    struct web *f = calloc(1, sizeof(*f));
    struct err err;

    clock_manual_init(&f->clock, 0);
    buf_init(&f->seen);
    f->server = http_open(&(struct http_options){.host = STR("127.0.0.1"),
                                                 .handle = web_handle,
                                                 .admit = web_admit,
                                                 .closing = web_closing,
                                                 .context = f,
                                                 .clock = &f->clock.clock,
                                                 .tls_cert = cert_pem,
                                                 .tls_key = key_pem},
                          &err);
    *state = f;
    return f->server == NULL;
}

/* --- a client --- */

struct client {
    struct web *web;
    SSL_CTX *context;
    SSL *ssl;
    int fd;
    struct buf heard;
    bool is_over;
};

/* Whether to try again, after the server had a pass. */
static bool is_retried(struct client *c, int result)
{
    int reason = SSL_get_error(c->ssl, result);

    (void)web_pass(c->web);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
}

static void client_open(struct client *c, struct web *f)
{
    static const unsigned char protocols[] = "\x02h2\x08http/1.1";
    int result;

    *c = (struct client){.web = f, .context = SSL_CTX_new(TLS_client_method())};
    buf_init(&c->heard);
    c->fd = web_connect(f);
    assert_int_equal(fcntl(c->fd, F_SETFL, O_NONBLOCK), 0);
    c->ssl = SSL_new(c->context);
    SSL_set_fd(c->ssl, c->fd);
    assert_int_equal(SSL_set_alpn_protos(c->ssl, protocols, sizeof(protocols) - 1), 0);
    while ((result = SSL_connect(c->ssl)) != 1)
        assert_true(is_retried(c, result));
}

static void client_close(struct client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->context);
    buf_fini(&c->heard);
    close(c->fd);
}

static void client_send(struct client *c, const char *bytes, size_t len)
{
    size_t at = 0, count;

    while (at < len)
        if (SSL_write_ex(c->ssl, bytes + at, len - at, &count) == 1)
            at += count;
        else
            assert_true(is_retried(c, 0));
}

static void client_say(struct client *c, const char *text)
{
    client_send(c, text, strlen(text));
}

/* Until so many bytes that begin with `wanted` were heard, or the end. */
static void client_hear(struct client *c, const char *wanted, size_t len)
{
    for (;;) {
        char bytes[16384];
        int64_t at = str_find(buf_view(&c->heard), str_of(wanted), 0);
        size_t count;

        if (at >= 0 && c->heard.len - (size_t)at >= len)
            return;
        if (SSL_read_ex(c->ssl, bytes, sizeof(bytes), &count) == 1)
            buf_add(&c->heard, bytes, count);
        else if (!is_retried(c, 0)) {
            c->is_over = SSL_get_error(c->ssl, 0) == SSL_ERROR_ZERO_RETURN;
            return;
        }
    }
}

static void client_expect(struct client *c, const char *wanted)
{
    client_hear(c, wanted, strlen(wanted));
    if (!web_contains(buf_view(&c->heard), wanted))
        fail_msg("no \"%s\" in: %.*s", wanted, STR_ARG(buf_view(&c->heard)));
    buf_clear(&c->heard);
}

/* --- claims --- */

static void test_tls__requests_follow_each_other(void **state)
{
    const unsigned char *protocol;
    unsigned protocol_len;
    struct client c;

    client_open(&c, *state);
    SSL_get0_alpn_selected(c.ssl, &protocol, &protocol_len);
    assert_true(str_eq(str_from((const char *)protocol, protocol_len), STR("http/1.1")));
    for (int i = 0; i < 3; i++) {
        client_say(&c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(&c, "hello");
    }
    client_say(&c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\n"
                   "Content-Length: 4\r\nConnection: close\r\n\r\nlast");
    client_expect(&c, "last");
    client_hear(&c, "nothing", 1);
    assert_true(c.is_over); /* it was told so, not only cut */
    client_close(&c);
}

static void test_tls__large_bodies_and_answers_arrive_whole(void **state)
{
    enum { BYTES = 1000000 };
    char *body = malloc(BYTES);
    struct client c;

    memset(body, 'y', BYTES);
    client_open(&c, *state);
    client_say(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    client_send(&c, body, BYTES);
    client_hear(&c, "\r\n\r\n", BYTES + 4);
    assert_true(c.heard.len > BYTES);
    assert_memory_equal(c.heard.ptr + c.heard.len - BYTES, body, BYTES);
    client_close(&c);
    free(body);
}

static void test_tls__kept_request_is_answered_and_the_one_behind_it(void **state)
{
    struct web *f = *state;
    struct client c;

    client_open(&c, f);
    client_say(&c, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    client_say(&c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    web_keep(f, 1);
    web_passes(f);
    assert_int_equal(f->calls, 1);
    web_answer(f->kept[0], 200, "at last");
    client_expect(&c, "hello");
    client_close(&c);
}

static void test_tls__client_may_be_told_while_its_request_goes_on(void **state)
{
    struct web *f = *state;
    struct client c;

    client_open(&c, f);
    client_say(&c, "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    web_keep(f, 1);
    http_answer_kept(f->server, web_closing);
    client_expect(&c, "/later is closing");
    client_hear(&c, "nothing", 1);
    assert_true(c.is_over);
    assert_int_equal(web_kept(f), 1);
    assert_true(str_eq(f->kept[0]->body, STR("hi")));
    web_answer(f->kept[0], 200, "nobody hears this");
    web_passes(f);
    client_close(&c);
    client_open(&c, f);
    client_say(&c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(&c, "hello");
    client_close(&c);
}

static void test_tls__handshake_has_its_time(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);

    web_say(f, fd, "\x16\x03\x01"); /* the beginning of one */
    clock_manual_advance(&f->clock, 59000000);
    assert_false(web_is_cut(f, fd));
    clock_manual_advance(&f->clock, 2000000);
    assert_true(web_gets_cut(f, fd));
    close(fd);
}

static void test_tls__what_is_no_tls_does_no_harm(void **state)
{
    struct web *f = *state;
    int fd = web_connect(f);
    struct client c;
    char bytes[100];
    ssize_t n = -1;

    web_say(f, fd, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    while (n != 0) {
        (void)web_pass(f);
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        assert_true(n <= 20); /* an alert, no answer */
    }
    close(fd);
    assert_int_equal(f->calls, 0);
    client_open(&c, f);
    client_say(&c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(&c, "hello");
    client_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_tls__##name, setup, web_teardown)
        TEST(requests_follow_each_other),
        TEST(large_bodies_and_answers_arrive_whole),
        TEST(kept_request_is_answered_and_the_one_behind_it),
        TEST(client_may_be_told_while_its_request_goes_on),
        TEST(handshake_has_its_time),
        TEST(what_is_no_tls_does_no_harm),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_certificate, NULL);
}
