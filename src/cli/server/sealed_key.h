/*
 * sealed_key.h - the master key of a data folder within a backup, sealed under a passphrase.
 *
 * The passphrase is read from --passphrase-file, from the terminal without being shown, or from
 * stdin. Each function answers false after it has said why, as the command `who`.
 */
#ifndef PAWL_CLI_SERVER_SEALED_KEY_H
#define PAWL_CLI_SERVER_SEALED_KEY_H

#include "base/arena.h"
#include "base/str.h"
#include "cli/options.h"

/* The key that secrets with the id `needed` are sealed with (empty: whatever is there), sealed. */
bool sealed_key_make(struct arena *mem, const struct options *o, const char *data,
                     const char *needed, struct str *out) MUST_USE;

/* The key in `sealed`, as its 64 digits. */
bool sealed_key_open(struct arena *mem, const struct options *o, struct str sealed,
                     struct str *out) MUST_USE;

/* It becomes DATA/master.key, for its owner alone. */
bool sealed_key_put(struct arena *mem, const char *data, struct str digits) MUST_USE;

#endif
