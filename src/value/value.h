/*
 * value.h - the one value type, shared by JSON and CEL.
 *
 * A value is sixteen bytes, passed by value and immutable. Scalars live in
 * it; text, lists and maps point into an arena that outlives them, so sharing
 * is free and nothing is counted or freed.
 *
 * Maps keep the order in which they were built. A string that is a key of a
 * map carries 16 bits of its hash, so that a lookup compares one word per
 * entry; maps above VALUE_MAP_SMALL entries have a hash index too.
 *
 * why: decisions 0001, 0020
 */
#ifndef PAWL_VALUE_VALUE_H
#define PAWL_VALUE_VALUE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

enum value_kind {
#define KIND(symbol, name) VALUE_##symbol,
#include "value/kind.def"
#undef KIND
    VALUE_KIND_COUNT
};

struct value_map;
struct value_error;

struct value {
    uint8_t kind; /* enum value_kind */
    uint8_t spare;
    uint16_t hash; /* string used as a map key: never 0; other strings: 0 or the same */
    union {
        uint32_t len;   /* string, bytes, IP, CIDR: bytes; list, map: items */
        uint32_t nanos; /* timestamp, duration: 0 to 999,999,999, towards the future */
    };
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        int64_t seconds;  /* timestamp: since 1970; duration */
        const char *text; /* IP, CIDR: in its one canonical form */
        const struct value *items;
        const struct value_map *map;
        const struct value *inner; /* optional: what it holds, or NULL for none */
        const struct value_error *error;
        const char *type_name; /* type: zero-terminated, constant or in an arena */
    };
};

_Static_assert(sizeof(struct value) == 16, "a value fits two registers");

enum { ERROR_TEXT_MAX = 256 }; /* bytes of a message, its end included; a longer one is cut */

/* What an expression that failed has for a value. */
struct value_error {
    enum err_code code;
    uint32_t offset; /* byte offset in the source of the expression */
    const char *message;
    const struct sentence_part *parts; /* of the message */
    size_t part_count;
};

struct value_entry {
    struct value key;
    struct value value;
};

struct value_map {
    uint32_t count;
    uint32_t index_mask;   /* index size - 1; 0 without an index */
    const uint32_t *index; /* entry number + 1 by hash, 0 = free; NULL when small */
    const struct value_entry *entries;
};

enum { VALUE_MAP_SMALL = 12 };

/* The largest text, list or map: lengths are 32 bits wide. */
#define VALUE_LEN_MAX UINT32_MAX

/* --- making values --- */

static inline struct value value_absent(void)
{
    return (struct value){.kind = VALUE_ABSENT};
}

static inline struct value value_null(void)
{
    return (struct value){.kind = VALUE_NULL};
}

static inline struct value value_bool(bool b)
{
    /* All 64 bits are set, so that scalars can be compared as words. */
    return (struct value){.kind = VALUE_BOOL, .u = b};
}

static inline struct value value_int(int64_t i)
{
    return (struct value){.kind = VALUE_INT, .i = i};
}

static inline struct value value_uint(uint64_t u)
{
    return (struct value){.kind = VALUE_UINT, .u = u};
}

static inline struct value value_double(double d)
{
    return (struct value){.kind = VALUE_DOUBLE, .d = d};
}

/* Points to the text, does not copy it. Must be UTF-8 and at most VALUE_LEN_MAX bytes. */
static inline struct value value_string(struct str s)
{
    return (struct value){.kind = VALUE_STRING, .len = (uint32_t)s.len, .text = s.ptr};
}

static inline struct value value_bytes(struct str s)
{
    return (struct value){.kind = VALUE_BYTES, .len = (uint32_t)s.len, .text = s.ptr};
}

/* Takes the array as it is; it must live as long as the value. */
static inline struct value value_list(const struct value *items, size_t count)
{
    return (struct value){.kind = VALUE_LIST, .len = (uint32_t)count, .items = items};
}

static inline struct value value_timestamp(int64_t seconds, uint32_t nanos)
{
    return (struct value){.kind = VALUE_TIMESTAMP, .nanos = nanos, .seconds = seconds};
}

/* -0.5 s is seconds -1 and nanos 500,000,000. */
static inline struct value value_duration(int64_t seconds, uint32_t nanos)
{
    return (struct value){.kind = VALUE_DURATION, .nanos = nanos, .seconds = seconds};
}

static inline struct value value_type(const char *name)
{
    return (struct value){.kind = VALUE_TYPE, .type_name = name};
}

static inline struct value value_optional_none(void)
{
    return (struct value){.kind = VALUE_OPTIONAL};
}

struct value value_optional_of(struct arena *mem, struct value inner);

struct value value_error(struct arena *mem, enum err_code code, uint32_t offset, const char *format,
                         ...) PRINTF_LIKE(4, 5);

/* The same with a message that is there; it is copied. */
struct value value_error_of(struct arena *mem, enum err_code code, uint32_t offset,
                            struct sentence message);

/* The message of an error. */
struct sentence value_sentence(struct value error);

/* --- reading values --- */

/* The text of a string or bytes. Of anything else it is empty, and a bug where one can be found. */
static inline struct str value_text(struct value v)
{
    bool has_text = v.kind == VALUE_STRING || v.kind == VALUE_BYTES || v.kind == VALUE_IP ||
                    v.kind == VALUE_CIDR;

    ASSERT_SLOW(has_text);
    return LIKELY(has_text) ? str_from(v.text, v.len) : STR("");
}

/* The text of a string; the fallback for a value of any other kind. */
static inline struct str value_text_or(struct value v, struct str fallback)
{
    return v.kind == VALUE_STRING ? str_from(v.text, v.len) : fallback;
}

static inline bool value_is_true(struct value v)
{
    return v.kind == VALUE_BOOL && v.b;
}

/* Whether the text is an item of the list; false when that is no list. */
bool value_list_has_text(struct value list, struct str text);

/* "int", "null_type", "google.protobuf.Timestamp": the name that CEL's type() gives. */
const char *value_kind_name(enum value_kind kind);

/* --- maps --- */

/*
 * The 16 bits of hash that a key carries. A filter for comparing keys one by
 * one, so speed counts and not that nobody can make it collide: the index of
 * large maps hashes the whole text with the seed.
 */
static inline uint16_t value_key_hash(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    uint64_t sample;

    if (s.len == 0)
        return 1;
    sample = (uint64_t)s.len << 32 | (uint64_t)p[0] << 24 | (uint64_t)p[s.len / 4] << 16 |
             (uint64_t)p[s.len / 2] << 8 | p[s.len - 1];
    return (uint16_t)(sample * 0x9e3779b97f4a7c15u >> 48) | 1;
}

/* A string ready to be looked up: computes its hash once. */
static inline struct value value_key(struct str s)
{
    struct value v = value_string(s);
    v.hash = value_key_hash(s);
    return v;
}

/*
 * The value under `key` in a map, or VALUE_ABSENT. Keys are compared as CEL
 * does: 1, 1u and 1.0 are the same key. `map` must be a map.
 */
struct value value_map_get(struct value map, struct value key);

/* The first eight bytes of a value: kind, hash and length in one word. */
static inline uint64_t value_head(const struct value *v)
{
    uint64_t word;

    memcpy(&word, v, sizeof(word));
    return word;
}

/* value_map_field() for a map that has an index. */
const struct value *value_map_field_large(const struct value_map *m, const struct value *key);

/* The value under a string made by value_key(), or NULL: what fields of expressions use. */
static inline const struct value *value_map_field(const struct value_map *m,
                                                  const struct value *key)
{
    uint64_t head = value_head(key);

    if (m->index != NULL)
        return value_map_field_large(m, key);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct value_entry *e = &m->entries[i];

        if (value_head(&e->key) == head &&
            (key->len == 0 || memcmp(e->key.text, key->text, key->len) == 0))
            return &e->value;
    }
    return NULL;
}

/* value_map_get() for a string made by value_key(). */
struct value value_map_get_key(struct value map, struct value key);

/* value_map_get() for text that is not a value yet; inline, since that of most is constant. */
static inline struct value value_map_get_str(struct value map, struct str key)
{
    return value_map_get_key(map, value_key(key));
}

/*
 * A member of what should be a map, as outside JSON has it: VALUE_ABSENT when
 * there is none, or no map. Its text, STR_NONE when it is no string; its
 * number, 0 when it is no int; whether it is true.
 */
static inline struct value value_map_member(struct value map, struct str name)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, name) : value_absent();
}

static inline struct str value_map_text(struct value map, struct str name)
{
    return value_text_or(value_map_member(map, name), STR_NONE);
}

static inline int64_t value_map_int(struct value map, struct str name)
{
    struct value v = value_map_member(map, name);

    return v.kind == VALUE_INT ? v.i : 0;
}

static inline bool value_map_is_true(struct value map, struct str name)
{
    return value_is_true(value_map_member(map, name));
}

/*
 * Make a map of entries that the caller has filled. Keys are strings, ints,
 * uints or booleans; a key of another kind is kept and never found. String
 * keys without a hash are given one. The array is taken, not copied, and must live in `mem`
 * or longer. When a key stands twice, *duplicate is the place of the second
 * one and the answer is VALUE_ABSENT. `count` is at most VALUE_LEN_MAX / 2.
 */
struct value value_map_make(struct arena *mem, struct value_entry *entries, size_t count,
                            size_t *duplicate);

/*
 * A map that is written out, its names all different:
 *
 *     value_map_of(mem, VALUE_ENTRIES({value_key(STR("id")), value_string(id)},
 *                                     {value_key(STR("count")), value_int(n)}))
 *
 * The entries are copied into `mem`.
 */
struct value value_map_of(struct arena *mem, const struct value_entry *entries, size_t count);

#define VALUE_ENTRIES(...)                                                                         \
    (const struct value_entry[]){__VA_ARGS__},                                                     \
        sizeof((const struct value_entry[]){__VA_ARGS__}) / sizeof(struct value_entry)

/* Add an entry to an array that has capacity for it. */
static inline void value_entry_add(struct value_entry *entries, size_t *count, struct str key,
                                   struct value v)
{
    entries[(*count)++] = (struct value_entry){value_key(key), v};
}

/* value_map_make() of entries whose names are all different. */
struct value value_map_take(struct arena *mem, struct value_entry *entries, size_t count);

/* An empty map that needs no memory. */
struct value value_map_empty(void);

/*
 * A copy of a value and all it points to. What the value shares within itself
 * is copied as often as it is shared, so limit its size (as JSON) first.
 */
struct value value_copy(struct arena *mem, struct value v);

/* --- comparing --- */

/*
 * Equality as CEL defines it: numbers by their mathematical value whatever
 * their kind, lists and maps by their items, values of different kinds are
 * unequal. NaN is not equal to itself. `budget` is lowered by the number of
 * values compared, and the answer is false with *budget < 0 when it ran out;
 * NULL means without bound. Values nested VALUE_DEPTH_MAX deep, which no JSON
 * text makes, count as a budget that ran out.
 */
enum { VALUE_DEPTH_MAX = 1000 };
bool value_equal(struct value a, struct value b, int64_t *budget);

/*
 * Order of two numbers (of any kind), booleans, strings, bytes, timestamps or
 * durations: -1, 0 or 1; VALUE_UNORDERED for NaN, VALUE_INCOMPARABLE otherwise.
 */
enum { VALUE_UNORDERED = 2, VALUE_INCOMPARABLE = 3 };
int value_compare(struct value a, struct value b);

#endif
