/*
 * master_key.h - the file with the key that credentials are sealed with.
 *
 * The file is made, for its owner alone, when nothing is sealed yet. Rotation
 * needs two changes that cannot be one: the rows in the database and the file.
 * So the new key is first put beside the old one, in FILE.ID, ID being its own;
 * then all rows change in one transaction; then FILE.ID takes the place of FILE.
 *
 *     FILE, FILE.ID, rows sealed with FILE      it came to nothing: FILE.ID is not needed
 *     FILE, FILE.ID, rows sealed with FILE.ID   the rename is made up for by whoever opens it
 *
 * So whenever the process ends, the key that the rows need is in one of the
 * two. Nodes that share the file do not get into each other's way: every new
 * key has a file of its own.
 *
 * why: decision 0211
 */
#ifndef PAWL_EFFECT_SECRET_MASTER_KEY_H
#define PAWL_EFFECT_SECRET_MASTER_KEY_H

#include "effect/secret/seal.h"

struct master_key {
    const char *path; /* must outlive it */
    bool is_there;    /* there is a key */
    struct seal_key key;
};

/*
 * Open the key with the id `needed`; empty: nothing is sealed, and the file is
 * made when there is none. ERR_IO with what to do; then nothing was changed.
 */
bool master_key_open(struct master_key *m, const char *path, struct str needed,
                     struct err *err) MUST_USE;

/* Make a new key and put it beside the old one, durably. ERR_IO: it cannot be written there. */
bool master_key_prepare(const struct master_key *m, struct seal_key *next,
                        struct err *err) MUST_USE;

/*
 * What is stored is sealed with the prepared key: it is the key from now on,
 * also when false says that its file could not take the place of the old one.
 */
bool master_key_adopt(struct master_key *m, const struct seal_key *next, struct err *err) MUST_USE;

/* It came to nothing: remove what was prepared. */
void master_key_drop(const struct master_key *m, const struct seal_key *next);

#endif
