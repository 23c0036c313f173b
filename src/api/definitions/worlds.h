/*
 * worlds.h - the functions, procedures and config that are published, compiled
 * and kept: an editor asks with every key that is pressed.
 *
 * One world is kept, known by the stamp of definitions. Who finds another
 * stamp makes a new one; the old one lives until the last lease of it ends.
 * What a lease shows is only read, by any number of threads.
 *
 * why: decision 0155
 */
#ifndef PAWL_API_DEFINITIONS_WORLDS_H
#define PAWL_API_DEFINITIONS_WORLDS_H

#include "api/definitions/definitions.h"

struct worlds;
struct kept_world;

struct worlds *worlds_new(void);
void worlds_free(struct worlds *all);

/*
 * On a reader thread: the world as it is published now, opened, with `mem` for
 * what its user makes. It may be looked at and checked in, not added to. End it
 * with worlds_return(), what was made in it being released before.
 */
bool worlds_lend(struct worlds *all, struct reader *reader, struct arena *mem, struct world *out,
                 struct kept_world **lease, struct err *err) MUST_USE;
void worlds_return(struct worlds *all, struct kept_world *lease);

#endif
