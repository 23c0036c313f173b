/*
 * json.h - values from and to JSON text (RFC 8259).
 *
 * Strict both ways: a value that json_read() could have made is written to
 * text that reads back as an equal value, ints as ints and doubles as doubles,
 * and the same value is always the same bytes.
 * docs/decisions/0010 and 0011 say where the RFC leaves a choice and what was
 * chosen.
 */
#ifndef PAWL_VALUE_JSON_H
#define PAWL_VALUE_JSON_H

#include "base/buf.h"
#include "value/value.h"

/* How many lists and maps may stand within one another, when reading and when writing. */
enum { JSON_DEPTH_MAX = 256 };

/*
 * Read one JSON text. The value and all it points to live in `mem`; `text` is
 * copied once and not needed afterwards. Integers that fit are VALUE_INT, all
 * other numbers VALUE_DOUBLE; keys carry their hash.
 *
 * ERR_BAD_JSON with line and column: anything RFC 8259 does not allow, bytes
 * that are not UTF-8, a byte order mark, a key that stands twice, a number too
 * large for a double, more than JSON_DEPTH_MAX levels. ERR_INVALID with line
 * and column: \u0000 or half a surrogate pair in a string. ERR_TOO_LARGE: 4 GiB
 * or more. On failure *out is unchanged; what was allocated stays with `mem`.
 */
bool json_read(struct arena *mem, struct str text, struct value *out, struct err *err) MUST_USE;

/*
 * Append a value as compact JSON: no white space, escapes only where JSON
 * needs them. Doubles keep a point or an exponent; timestamps are RFC 3339,
 * durations "1h30m", bytes base64, types their name; an optional is what it
 * holds; keys that are numbers or booleans become strings.
 *
 * ERR_EXPRESSION_ERROR, with a JSON pointer to the place: NaN, infinity, an
 * empty optional, an error, two keys that become the same string, more than
 * JSON_DEPTH_MAX levels. ERR_TOO_LARGE: longer than out->limit allows, or 4
 * GiB; time is bounded by that limit even if the value shares parts of
 * itself. On failure `out` holds what it held before.
 */
bool json_write(struct buf *out, struct value v, struct err *err) MUST_USE;

/* The same for people: one item a line, two spaces of indent, no line feed at the end. */
bool json_write_pretty(struct buf *out, struct value v, struct err *err) MUST_USE;

/*
 * The same for a value that has a JSON form for sure, as all that json_read()
 * makes: one that has none panics. The text is in `mem`.
 */
void json_must_write(struct buf *out, struct value v);
struct str json_must_text(struct arena *mem, struct value v);

/* Append one string in quotes, escaped as json_write() does it. Must be UTF-8. */
void json_write_string(struct buf *out, struct str s);

#endif
