/* kind.h - the kinds of definitions, as data: kinds.def for C code. */
#ifndef PAWL_DEFINE_KIND_H
#define PAWL_DEFINE_KIND_H

#include "value/value.h"

enum kind {
#define DEFINITION_KIND(symbol, name, path, shape, key, life, use, compiler, state) KIND_##symbol,
#include "define/kinds.def"
#undef DEFINITION_KIND
    KIND_COUNT
};

/* The names of the processes, as SQL lists them. */
#define PROCESS_KINDS "'scenario', 'schema', 'machine'"

enum kind_life { KIND_LIVE, KIND_STAGED };
enum kind_use { KIND_PART, KIND_PROCESS };
enum kind_state { KIND_NOW, KIND_LATER };

struct kind_spec {
    enum kind kind;
    const char *name;  /* "scenario" */
    const char *path;  /* "scenarios" */
    const char *shape; /* "steps", or NULL: only a field `kind` tells it */
    const char *key;   /* the field of its name: "code" or "name" */
    enum kind_life life;
    enum kind_use use;
    enum kind_state state;
};

const struct kind_spec *kind_spec(enum kind kind);

/* By its name or by its path; NULL when there is none. */
const struct kind_spec *kind_named(struct str name);
const struct kind_spec *kind_at(struct str path);

/* Whether that is the name of a kind of process. */
bool kind_is_process(struct str name);

/* The name nearest to a mistyped one, or empty. */
struct str kind_nearest(struct str name);

/* By the field `kind` of a definition, else by its shape; NULL when neither tells. */
const struct kind_spec *kind_of(struct value definition);

/* The fields of a definition of a live kind but for `kind`, `$schema` and its name. In `mem`. */
struct value kind_body(struct arena *mem, const struct kind_spec *spec, struct value definition);

/*
 * A definition without what changes nothing of what it does, for people who compare two of them:
 * the positions of a schema's nodes. In `mem`.
 */
struct value kind_meaning(struct arena *mem, const struct kind_spec *spec, struct value definition);

/* Whether the name may be one of this kind: codes are small letters, names any letters. */
bool kind_allows_name(const struct kind_spec *spec, struct str name);

/* What is wrong with a name that is not allowed, for people. */
const char *kind_name_rule(const struct kind_spec *spec);

#endif
