/*
 * headers.h - JSON as the headers of a message. Internal to src/effect/broker.
 */
#ifndef PAWL_EFFECT_BROKER_HEADERS_H
#define PAWL_EFFECT_BROKER_HEADERS_H

#include "base/arena.h"
#include "value/value.h"

#include <amqp.h>

/*
 * The members of a map as headers, in `mem`: texts, numbers, booleans, null, lists
 * and maps as what AMQP has for them. False: a name has more than 255 bytes, or the
 * whole would not fit a frame.
 */
bool headers_of(struct arena *mem, struct value map, amqp_table_t *out) MUST_USE;

#endif
