/*
 * typed_value.h - values as the conformance files write them.
 *
 * {"uint": "1"}, {"map": [[key, value], ...]}: one key that names the kind, so
 * that int, uint and double stay apart; export-conformance.mjs has the list.
 */
#ifndef PAWL_TESTS_CEL_TYPED_VALUE_H
#define PAWL_TESTS_CEL_TYPED_VALUE_H

#include "base/buf.h"
#include "value/value.h"

/*
 * Read one line of JSON. json_read() refuses U+0000, which strings of CEL may
 * hold: U+FDD0, which is no character, stands for it in what is read, and
 * typed_value_text() gives a string with U+0000 back in place.
 */
bool typed_value_read_line(struct arena *mem, struct str line, struct value *out,
                           struct err *err) MUST_USE;
struct str typed_value_text(struct arena *mem, struct value string);

/*
 * Turn `source`, as read from JSON, into the value it describes. {"error":
 * [message]} becomes a value of kind VALUE_ERROR. False, with ERR_INVALID,
 * when it is no such form or needs protobuf. The result may point into
 * `source`.
 */
bool typed_value_decode(struct arena *mem, struct value source, struct value *out,
                        struct err *err) MUST_USE;

/*
 * Whether `got` is what a test wants: of the same kind at every level, with
 * NaN equal to NaN and maps in any order. `budget` is lowered by the number of
 * values looked at, and what is left when it ran out counts as the same: a
 * small value may have more items than there is time. NULL means without bound.
 */
bool typed_value_same(struct value got, struct value want, int64_t *budget);

/* Write `v` for a person to read: 1u, b"\xff", [1, 2.0], {"a": null}, type(int), optional(1). */
void typed_value_print(struct buf *out, struct value v);

#endif
