/* env.c - declaring and finding names; see cel.h and env.h. */
#include "cel/env.h"

#include "cel/eval.h"

enum library_modes { MODES_ANY, MODES_DEFINITION };
enum library_style { STYLE_GLOBAL, STYLE_MEMBER };

static const struct library_row {
    const char *name;
    cel_fn *call;
    const char *signature;
    enum library_style style;
    enum library_modes modes;
} library[] = {
#define FN(symbol, fn_name, fn_style, fn_signature, fn_modes)                                      \
    {.name = (fn_name),                                                                            \
     .call = cel_fn_##symbol,                                                                      \
     .style = STYLE_##fn_style,                                                                    \
     .signature = (fn_signature),                                                                  \
     .modes = MODES_##fn_modes},
#include "cel/functions.def"
#undef FN
};

/* Types that an expression can name, and the name that type() gives them. */
static const struct {
    const char *word;
    enum type_kind kind;
} type_words[] = {
    {"bool", TYPE_BOOL},
    {"int", TYPE_INT},
    {"uint", TYPE_UINT},
    {"double", TYPE_DOUBLE},
    {"string", TYPE_STRING},
    {"bytes", TYPE_BYTES},
    {"list", TYPE_LIST},
    {"map", TYPE_MAP},
    {"null_type", TYPE_NULL},
    {"type", TYPE_TYPE},
    {"optional_type", TYPE_OPTIONAL},
    {"google.protobuf.Timestamp", TYPE_TIMESTAMP},
    {"google.protobuf.Duration", TYPE_DURATION},
    {"net.IP", TYPE_IP},
    {"net.CIDR", TYPE_CIDR},
};

/* --- finding --- */

/* The same, also one that is hidden. */
static const struct variable *find_any(const struct cel_env *env, struct str name)
{
    for (; env != NULL; env = env->parent) {
        const struct variable *v = map_get(&env->variables, name);
        if (v != NULL)
            return v;
    }
    return NULL;
}

const struct variable *env_variable(const struct cel_env *env, struct str name)
{
    const struct variable *v = find_any(env, name);

    return v == NULL || v->is_hidden ? NULL : v;
}

const struct field_words *env_words(const struct cel_env *env, struct str path)
{
    for (; env != NULL; env = env->parent) {
        const struct field_words *w = map_get(&env->words, path);
        if (w != NULL)
            return w->count > 0 || w->type != NULL || w->presence != CEL_PRESENCE_UNKNOWN ? w
                                                                                          : NULL;
    }
    return NULL;
}

const struct cel_function *env_function(const struct cel_env *env, struct str name, bool is_member)
{
    for (; env != NULL; env = env->parent) {
        const struct cel_function *f = map_get(is_member ? &env->members : &env->functions, name);
        if (f != NULL)
            return f;
    }
    return NULL;
}

struct str env_slot_name(const struct cel_env *env, uint32_t slot)
{
    while (slot < env->slot_count - env->slot_names.count)
        env = env->parent;
    return env->slot_names.items[slot - (env->slot_count - env->slot_names.count)];
}

bool env_has_space(const struct cel_env *env, struct str word)
{
    for (; env != NULL; env = env->parent)
        if (map_find(&env->spaces, word) != NULL)
            return true;
    return false;
}

/* steps is not what steps.x was meant to be, however near. */
static bool is_beginning(struct str part, struct str name)
{
    return str_starts_with(name, part) && name.len > part.len && name.ptr[part.len] == '.';
}

/* Keep the nearest of the keys of one table in *best. */
static void consider(const struct map *table, struct str name, unsigned *distance, struct str *best)
{
    for (struct map_entry *e = map_next(table, NULL); e != NULL; e = map_next(table, e)) {
        unsigned d = *distance > 1 ? str_distance(name, e->key, *distance - 1) : 1;
        if (d < *distance && e->key.ptr[0] != '@' && !is_beginning(e->key, name)) {
            *distance = d;
            *best = e->key;
        }
    }
}

/* One more than the edits that still make a hint: none for names of one or two letters. */
static unsigned tolerance(struct str name)
{
    return name.len < 3 ? 1 : name.len < 5 ? 2 : 3;
}

struct str env_nearest_variable(const struct cel_env *env, struct str name)
{
    unsigned distance = tolerance(name);
    struct str best = STR_NONE;

    for (const struct cel_env *e = env; e != NULL; e = e->parent)
        consider(&e->variables, name, &distance, &best);
    /* What is hidden further down is no help. */
    return env_variable(env, best) != NULL ? best : STR_NONE;
}

struct str env_nearest_function(const struct cel_env *env, struct str name, bool is_member)
{
    unsigned distance = tolerance(name);
    struct str best = STR_NONE;

    for (; env != NULL; env = env->parent)
        consider(is_member ? &env->members : &env->functions, name, &distance, &best);
    return best;
}

/* --- declaring --- */

/* The variable of this name in this very environment, made when it is not there. */
static struct variable *own_variable(struct cel_env *env, struct str name)
{
    struct variable *v = map_get(&env->variables, name);
    const struct variable *inherited;

    if (v != NULL)
        return v;
    inherited = find_any(env, name);
    v = ARENA_NEW(env->mem, struct variable);
    if (inherited != NULL)
        *v = *inherited;
    v->name = str_copy(env->mem, name);
    map_put(&env->variables, v->name, v);
    return v;
}

/* Mark "a" and "a.b" as the beginnings of "a.b.c". */
static void mark_prefixes(struct cel_env *env, struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.')
            own_variable(env, str_slice(name, 0, i))->is_prefix = true;
}

bool cel_env_variable(struct cel_env *env, struct str name, struct str type, uint32_t *slot,
                      struct err *err)
{
    const struct type *parsed;
    struct variable *v;

    if (!type_parse(env->mem, &type, &parsed, err))
        return false;
    if (str_trim(type).len != 0 || parsed->is_generic)
        return err_set(err, ERR_INVALID, "'%.*s' does not belong to a type", STR_ARG(type));
    v = own_variable(env, name);
    if (v->type == NULL || v->is_constant) {
        v->slot = env->slot_count++;
        *VEC_ADD(env->mem, &env->slot_names) = v->name;
    }
    v->type = parsed;
    v->is_constant = false;
    *slot = v->slot;
    mark_prefixes(env, name);
    return true;
}

void cel_env_members(struct cel_env *env, struct value context, struct value *slots)
{
    struct err err;
    uint32_t slot;

    cel_env_open_root(env);
    for (uint32_t i = 0; i < context.len; i++) {
        const struct value_entry *e = &context.map->entries[i];
        struct str name = value_text(e->key);

        if (str_find(name, STR("."), 0) < 0 && cel_env_variable(env, name, STR("dyn"), &slot, &err))
            slots[slot] = e->value;
    }
}

bool cel_env_close(struct cel_env *env, struct str name, struct err *err)
{
    const struct variable *v = env_variable(env, name);

    if (v == NULL || v->type == NULL)
        return err_set(err, ERR_INVALID, "no variable '%.*s' to close", STR_ARG(name));
    own_variable(env, name)->is_closed = true;
    return true;
}

bool cel_env_field(struct cel_env *env, struct str name, struct str field, struct err *err)
{
    const struct variable *v = env_variable(env, name);

    if (v == NULL || v->type == NULL)
        return err_set(err, ERR_INVALID, "no variable '%.*s' to have fields", STR_ARG(name));
    own_variable(env, name)->is_listed = true;
    if (field.len > 0)
        own_variable(env, str_printf(env->mem, "%.*s.%.*s", STR_ARG(name), STR_ARG(field)))
            ->is_field = true;
    return true;
}

void cel_env_space(struct cel_env *env, struct str word)
{
    map_add(&env->spaces, str_copy(env->mem, word), NULL);
}

void cel_env_open(struct cel_env *env, struct str name)
{
    own_variable(env, name)->is_listed = false;
}

void cel_env_hide(struct cel_env *env, struct str name)
{
    own_variable(env, name)->is_hidden = true;
}

bool cel_env_show(struct cel_env *env, struct str name)
{
    struct variable *v = own_variable(env, name);
    bool was_hidden = v->is_hidden;

    v->is_hidden = false;
    return was_hidden;
}

/* What this very environment says of a field: so far what its parents say. */
static struct field_words *own_words(struct cel_env *env, struct str name, struct str field)
{
    struct str path = str_printf(env->mem, "%.*s.%.*s", STR_ARG(name), STR_ARG(field));
    const struct field_words *before = env_words(env, path);
    struct field_words *w = ARENA_NEW(env->mem, struct field_words);

    if (before != NULL)
        *w = *before;
    w->path = path;
    map_put(&env->words, w->path, w);
    return w;
}

void cel_env_words(struct cel_env *env, struct str name, struct str field, const struct str *words,
                   uint32_t count)
{
    struct field_words *w = own_words(env, name, field);

    if (count == 0) {
        w->type = NULL;
        w->presence = CEL_PRESENCE_UNKNOWN;
    }
    w->words = words;
    w->count = count;
}

bool cel_env_type(struct cel_env *env, struct str name, struct str field, struct str type,
                  struct err *err)
{
    struct field_words *w = own_words(env, name, field);

    if (!type_parse(env->mem, &type, &w->type, err))
        return false;
    if (w->type->kind == TYPE_DYN)
        w->type = NULL;
    return true;
}

void cel_env_presence(struct cel_env *env, struct str name, struct str field,
                      enum cel_presence presence)
{
    own_words(env, name, field)->presence = presence;
}

/* --- shapes --- */

static bool parse_own_type(struct cel_env *env, struct str text, const struct type **out,
                           struct err *err)
{
    *out = NULL;
    return text.len == 0 || type_parse(env->mem, &text, out, err);
}

bool cel_env_shape(struct cel_env *env, struct str name, const struct cel_shape *shape,
                   struct err *err)
{
    const struct variable *v = env_variable(env, name);
    struct shape_member *members = ARENA_ARRAY(env->mem, shape->count, struct shape_member);
    struct shape *s = ARENA_NEW(env->mem, struct shape);

    if (v == NULL || v->type == NULL)
        return err_set(err, ERR_INVALID, "no variable '%.*s' to have a shape", STR_ARG(name));
    *s = (struct shape){.members = members, .count = shape->count, .is_closed = shape->is_closed};
    if (!parse_own_type(env, shape->type, &s->type, err))
        return false;
    for (uint32_t i = 0; i < shape->count; i++) {
        members[i].name = shape->members[i].name;
        if (!parse_own_type(env, shape->members[i].type, &members[i].type, err))
            return false;
    }
    own_variable(env, name)->shape = s;
    return true;
}

const struct shape_member *shape_member(const struct shape *shape, struct str name)
{
    for (uint32_t i = 0; i < shape->count; i++)
        if (str_eq(shape->members[i].name, name))
            return &shape->members[i];
    return NULL;
}

void cel_env_pending(struct cel_env *env, struct str name, bool is_pending)
{
    own_variable(env, name)->is_pending = is_pending;
}

/* "string, int -> bool" */
static bool parse_signature(struct cel_env *env, struct str text, struct overload *o,
                            struct err *err)
{
    int64_t arrow = str_find(text, STR("->"), 0);
    struct str params, result;

    if (arrow < 0)
        return err_set(err, ERR_INVALID, "a signature lacks '->'");
    params = str_trim(str_slice(text, 0, (size_t)arrow));
    result = str_trim(str_slice(text, (size_t)arrow + 2, text.len));
    if (str_eq(params, STR("number..."))) {
        o->takes_numbers = true;
        o->result = type_basic(TYPE_DYN);
        return true;
    }
    while (params.len > 0) {
        if (o->count == FUNCTION_PARAMS_MAX)
            return err_set(err, ERR_INVALID, "a function takes at most %d arguments",
                           FUNCTION_PARAMS_MAX);
        if (!type_parse(env->mem, &params, &o->params[o->count], err))
            return false;
        o->count++;
        params = str_trim(params);
        if (params.len > 0 && params.ptr[0] != ',')
            return err_set(err, ERR_INVALID, "'%.*s' does not belong to a signature",
                           STR_ARG(params));
        if (params.len > 0)
            params = str_trim(str_slice(params, 1, params.len));
    }
    if (!type_parse(env->mem, &result, &o->result, err))
        return false;
    if (str_trim(result).len != 0)
        return err_set(err, ERR_INVALID, "'%.*s' does not belong to a signature", STR_ARG(result));
    return true;
}

/* The parent's list must not change, so a child that adds to a function has its own. */
static struct overload *copy_overloads(struct arena *mem, const struct overload *from)
{
    struct overload *first = NULL, **last = &first;

    for (; from != NULL; from = from->next) {
        *last = ARENA_NEW(mem, struct overload);
        **last = *from;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    return first;
}

static struct cel_function *own_function(struct cel_env *env, struct str name, bool is_member)
{
    struct map *table = is_member ? &env->members : &env->functions;
    struct cel_function *f = map_get(table, name);
    const struct cel_function *inherited;
    int64_t dot;

    if (f != NULL)
        return f;
    inherited = env_function(env, name, is_member);
    f = ARENA_NEW(env->mem, struct cel_function);
    if (inherited != NULL) {
        *f = *inherited;
        f->overloads = copy_overloads(env->mem, inherited->overloads);
    }
    f->name = str_copy(env->mem, name);
    f->is_member = is_member;
    map_put(table, f->name, f);
    dot = str_find(f->name, STR("."), 0);
    if (dot > 0)
        map_add(&env->spaces, str_slice(f->name, 0, (size_t)dot), NULL);
    return f;
}

bool cel_env_function(struct cel_env *env, struct str name, bool is_member, struct str signature,
                      cel_fn *call, void *context, struct err *err)
{
    struct overload *o = ARENA_NEW(env->mem, struct overload);
    struct overload **last;
    struct cel_function *f;

    if (!parse_signature(env, signature, o, err))
        return false;
    f = own_function(env, name, is_member);
    f->call = call;
    f->context = context;
    f->is_pure = false;
    for (last = &f->overloads; *last != NULL; last = &(*last)->next)
        ;
    *last = o;
    return true;
}

static void declare_types(struct cel_env *env)
{
    for (size_t i = 0; i < ARRAY_SIZE(type_words); i++) {
        struct str name = str_of(type_words[i].word);
        struct variable *v = own_variable(env, name);

        v->type = type_with(env->mem, type_basic(TYPE_TYPE),
                            (const struct type *[TYPE_PARAMS_MAX]){type_basic(type_words[i].kind)});
        v->is_constant = true;
        v->value = value_type(type_words[i].word);
        mark_prefixes(env, name);
    }
}

static void declare_library(struct cel_env *env)
{
    for (size_t i = 0; i < ARRAY_SIZE(library); i++) {
        const struct library_row *row = &library[i];
        bool is_member = row->style == STYLE_MEMBER;
        struct err err;

        if (row->modes == MODES_DEFINITION && env->mode != CEL_DEFINITION)
            continue;
        if (!cel_env_function(env, str_of(row->name), is_member, str_of(row->signature), row->call,
                              NULL, &err))
            PANIC(err.message);
        own_function(env, str_of(row->name), is_member)->is_pure = true;
    }
}

static struct cel_env *env_alloc(struct arena *mem, enum cel_mode mode)
{
    struct cel_env *env = ARENA_NEW(mem, struct cel_env);

    env->mem = mem;
    env->mode = mode;
    map_init(&env->variables, mem);
    map_init(&env->functions, mem);
    map_init(&env->members, mem);
    map_init(&env->spaces, mem);
    map_init(&env->words, mem);
    return env;
}

struct cel_env *cel_env_new(struct arena *mem, enum cel_mode mode)
{
    struct cel_env *env = env_alloc(mem, mode);

    declare_types(env);
    declare_library(env);
    return env;
}

struct cel_env *cel_env_extend(struct arena *mem, const struct cel_env *parent)
{
    struct cel_env *env = env_alloc(mem, parent->mode);

    env->parent = parent;
    env->container = parent->container;
    env->slot_count = parent->slot_count;
    env->open_root = parent->open_root;
    env->patterns = parent->patterns;
    return env;
}

const struct cel_env *cel_env_library(const struct cel_env *env)
{
    while (env->parent != NULL)
        env = env->parent;
    return env;
}

void cel_env_container(struct cel_env *env, struct str container)
{
    env->container = str_copy(env->mem, container);
}

void cel_env_open_root(struct cel_env *env)
{
    env->open_root = true;
}

void cel_env_patterns(struct cel_env *env, struct cel_patterns *patterns)
{
    env->patterns = patterns;
}

uint32_t cel_env_slot_count(const struct cel_env *env)
{
    return env->slot_count;
}
