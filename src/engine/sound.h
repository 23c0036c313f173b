/*
 * sound.h - whether an execution that was restored can be one: what the engine relies on without
 * asking again.
 *
 * Columns may be damaged: by a disk, by hand, by a version with a fault. What does not fit its
 * program is found here, once, when it is read, and the execution is parked; the engine then asserts
 * nothing about stored data. Internal to src/engine.
 *
 * why: decision 0410
 */
#ifndef PAWL_ENGINE_SOUND_H
#define PAWL_ENGINE_SOUND_H

#include "engine/execution.h"

/* ERR_INTERNAL says what is damaged. `mem` is for reading what is stored as text. */
bool sound_check(struct arena *mem, const struct execution *x, struct err *err) MUST_USE;

#endif
