/*
 * http_tls.c - connections that OpenSSL encrypts; see http_inner.h.
 *
 * OpenSSL writes to sockets without saying that it wants no SIGPIPE: whoever
 * serves TLS ignores that signal.
 */
#include "base/alloc.h"
#include "http/http_inner.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

/* --- opening --- */

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned in_len, void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;

    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof(ours) - 1, in, in_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* The certificate and those that it was issued by. */
static bool use_chain(SSL_CTX *tls, const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    bool ok = cert != NULL && SSL_CTX_use_certificate(tls, cert) == 1;

    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        ok = SSL_CTX_add0_chain_cert(tls, cert) == 1;
        if (!ok)
            X509_free(cert);
    }
    BIO_free(bio);
    ERR_clear_error(); /* of the end of the text */
    return ok;
}

static bool use_key(SSL_CTX *tls, const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    bool ok = key != NULL && SSL_CTX_use_PrivateKey(tls, key) == 1;

    EVP_PKEY_free(key);
    BIO_free(bio);
    return ok && SSL_CTX_check_private_key(tls) == 1;
}

static SSL_CTX *new_context(const char *cert, const char *key)
{
    SSL_CTX *tls = alloc_check(SSL_CTX_new(TLS_server_method()));

    (void)SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* Sessions are in the tickets of clients, not in our memory. */
    (void)SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(tls, choose_protocol, NULL);
    if (SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) == 1 && use_chain(tls, cert) &&
        use_key(tls, key))
        return tls;
    SSL_CTX_free(tls);
    return NULL;
}

bool http_use_tls(struct http_server *s, const char *cert, const char *key, struct err *err)
{
    SSL_CTX *tls = new_context(cert, key);

    if (tls == NULL)
        return err_set(err, ERR_IO, "cannot serve TLS with this certificate and key");
    /* Connections that are open hold the context that they began with. */
    SSL_CTX_free(s->tls);
    s->tls = tls;
    return true;
}

void secure_close(struct http_server *s)
{
    SSL_CTX_free(s->tls);
    s->tls = NULL;
}

/* --- one connection --- */

bool secure_begin(struct connection *c)
{
    c->tls = SSL_new(c->server->tls);
    if (c->tls == NULL || SSL_set_fd(c->tls, c->fd) != 1)
        return false;
    SSL_set_accept_state(c->tls);
    return true;
}

void secure_free(struct connection *c)
{
    SSL_free(c->tls);
    c->tls = NULL;
}

/* What a call that failed says, as errno. */
static int reason_of(struct connection *c, int result)
{
    int reason = SSL_get_error(c->tls, result);

    ERR_clear_error();
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
}

bool secure_shake(struct connection *c)
{
    int result;

    ERR_clear_error();
    result = SSL_do_handshake(c->tls);
    if (result == 1)
        return true;
    errno = reason_of(c, result);
    return false;
}

ssize_t secure_recv(struct connection *c, char *out, size_t capacity)
{
    size_t count;
    int result;

    ERR_clear_error();
    result = SSL_read_ex(c->tls, out, capacity, &count);
    if (result == 1)
        return (ssize_t)count;
    if (SSL_get_error(c->tls, result) == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = reason_of(c, result);
    return -1;
}

/* Both pieces go into one record when they fit it; a repeated call finds the same bytes there. */
ssize_t secure_send(struct connection *c, const struct str pieces[2])
{
    char together[OUT_BYTES];
    struct str bytes = pieces[0].len > 0 ? pieces[0] : pieces[1];
    size_t count;
    int result;

    if (pieces[0].len > 0 && pieces[1].len > 0 &&
        pieces[0].len + pieces[1].len <= sizeof(together)) {
        memcpy(together, pieces[0].ptr, pieces[0].len);
        memcpy(together + pieces[0].len, pieces[1].ptr, pieces[1].len);
        bytes = str_from(together, pieces[0].len + pieces[1].len);
    }
    ERR_clear_error();
    result = SSL_write_ex(c->tls, bytes.ptr, bytes.len, &count);
    if (result == 1)
        return (ssize_t)count;
    errno = reason_of(c, result);
    return -1;
}

void secure_end(struct connection *c)
{
    ERR_clear_error();
    if (SSL_is_init_finished(c->tls))
        (void)SSL_shutdown(c->tls);
    ERR_clear_error();
}
