/* tls.h - the certificate and key of a server, looked at before they are used. */
#ifndef PAWL_HTTP_TLS_H
#define PAWL_HTTP_TLS_H

#include "base/err.h"

struct tls {
    const char *cert; /* PEM texts that end with a zero byte */
    const char *key;
    bool is_expired; /* the certificate's time is over, or has not come */
};

/*
 * Read both files. ERR_INVALID with what is wrong with which of them: no PEM, a
 * key with a password, a key that is not the certificate's; ERR_IO when one
 * cannot be read.
 */
bool tls_read(struct arena *mem, const char *cert_path, const char *key_path, struct tls *out,
              struct err *err) MUST_USE;

#endif
