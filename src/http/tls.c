/* tls.c - see tls.h. */
#include "http/tls.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20 };

static bool read_file(struct arena *mem, const char *path, const char **out, struct err *err)
{
    char *text = arena_alloc(mem, FILE_MAX_BYTES + 1);
    size_t len = 0;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    while (len < FILE_MAX_BYTES && (n = read(fd, text + len, FILE_MAX_BYTES - len)) > 0)
        len += (size_t)n;
    close(fd);
    text[len] = '\0';
    *out = text;
    return true;
}

/* Without a terminal to ask at: a key with a password is refused. */
static int no_password(char *out, int size, int for_writing, void *asked)
{
    (void)out;
    (void)size;
    (void)for_writing;
    *(bool *)asked = true;
    return 0;
}

static BIO *bio_of(const char *text)
{
    return alloc_check(BIO_new_mem_buf(text, -1));
}

static bool check(X509 *cert, EVP_PKEY *key, bool has_password, const char *cert_path,
                  const char *key_path, struct err *err)
{
    if (cert == NULL)
        return err_set(err, ERR_INVALID, "%s holds no certificate in PEM form", cert_path);
    if (key == NULL && has_password)
        return err_set(err, ERR_INVALID,
                       "the key in %s has a password; write it without one, readable by the "
                       "server alone",
                       key_path);
    if (key == NULL)
        return err_set(err, ERR_INVALID, "%s holds no private key in PEM form", key_path);
    if (X509_check_private_key(cert, key) != 1)
        return err_set(err, ERR_INVALID, "the key in %s is not that of the certificate in %s",
                       key_path, cert_path);
    return true;
}

bool tls_read(struct arena *mem, const char *cert_path, const char *key_path, struct tls *out,
              struct err *err)
{
    BIO *cert_bio, *key_bio;
    bool has_password = false, ok;
    EVP_PKEY *key;
    X509 *cert;

    *out = (struct tls){0};
    if (!read_file(mem, cert_path, &out->cert, err) || !read_file(mem, key_path, &out->key, err))
        return false;
    cert_bio = bio_of(out->cert);
    key_bio = bio_of(out->key);
    cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    key = PEM_read_bio_PrivateKey(key_bio, NULL, no_password, &has_password);
    ok = check(cert, key, has_password, cert_path, key_path, err);
    if (ok)
        out->is_expired = X509_cmp_current_time(X509_get0_notAfter(cert)) < 0 ||
                          X509_cmp_current_time(X509_get0_notBefore(cert)) > 0;
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
    return ok;
}
