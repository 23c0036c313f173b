/* facts.c - see facts.h. */
#include "define/facts.h"

#include "value/json.h"

struct fact_list {
    VEC_OF(struct value);
};

struct fact_entries {
    VEC_OF(struct value_entry);
};

/* What a definition may name, and what the list of it is called. */
enum used_kind {
    USED_PROCEDURE,
    USED_FUNCTION,
    USED_CONFIG,
    USED_PROCESS,
    USED_CREDENTIAL,
    USED_COUNT
};

static const char *const used_names[] = {[USED_PROCEDURE] = "procedure",
                                         [USED_FUNCTION] = "function",
                                         [USED_CONFIG] = "config",
                                         [USED_PROCESS] = "process",
                                         [USED_CREDENTIAL] = "credential"};

struct collected {
    struct arena *mem;
    struct fact_list answers;
    struct fact_entries meta;
    struct fact_list uses[USED_COUNT];
};

static struct value fact_member(struct value map, const char *name)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, str_of(name)) : value_absent();
}

static bool is_listed(const struct fact_list *list, struct value name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(value_text(list->items[i]), value_text(name)))
            return true;
    return false;
}

/* The names of the sensitive ones among parameters, each once. */
static void add_sensitive(struct arena *mem, struct value params, struct fact_list *out)
{
    for (uint32_t i = 0; params.kind == VALUE_LIST && i < params.len; i++) {
        struct value name = fact_member(params.items[i], "name");

        if (name.kind == VALUE_STRING && value_is_true(fact_member(params.items[i], "sensitive")) &&
            !is_listed(out, name))
            *VEC_ADD(mem, out) = name;
    }
}

/* Every `form`, wherever it stands. */
static void add_forms(struct collected *c, struct value v)
{
    if (v.kind == VALUE_MAP)
        add_sensitive(c->mem, fact_member(v, "form"), &c->answers);
    for (uint32_t i = 0; (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && i < v.len; i++)
        add_forms(c, v.kind == VALUE_MAP ? v.map->entries[i].value : v.items[i]);
}

/* The steps of a block and those within them. */
static void add_steps(struct collected *c, struct value steps)
{
    for (uint32_t i = 0; steps.kind == VALUE_LIST && i < steps.len; i++) {
        struct value step = steps.items[i], ways = fact_member(step, "branch");
        struct value branches = fact_member(fact_member(step, "parallel"), "branches");
        struct value code = fact_member(step, "code"), meta = fact_member(step, "meta");

        if (code.kind == VALUE_STRING && meta.kind == VALUE_MAP)
            *VEC_ADD(c->mem, &c->meta) = (struct value_entry){value_key(value_text(code)), meta};
        for (uint32_t w = 0; ways.kind == VALUE_LIST && w < ways.len; w++)
            add_steps(c, fact_member(ways.items[w], "steps"));
        for (uint32_t b = 0; branches.kind == VALUE_LIST && b < branches.len; b++)
            add_steps(c, branches.items[b]);
        add_steps(c, fact_member(fact_member(step, "loop"), "steps"));
    }
}

/* --- what it names --- */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void add_use(struct collected *c, enum used_kind kind, struct str name)
{
    struct value v = value_string(name);

    if (name.len > 0 && !is_listed(&c->uses[kind], v))
        *VEC_ADD(c->mem, &c->uses[kind]) = v;
}

/* Every fn.NAME, or config.NAME, config.?NAME and config["NAME"], of a text that may hold expressions. */
static void add_names(struct collected *c, struct str text, struct str root, enum used_kind kind)
{
    for (int64_t found = str_find(text, root, 0); found >= 0;
         found = str_find(text, root, (size_t)found + 1)) {
        size_t at = (size_t)found + root.len, end;

        if ((found > 0 && is_name_char(text.ptr[found - 1])) || at >= text.len ||
            strchr(".[", text.ptr[at]) == NULL)
            continue;
        for (at++; at < text.len && strchr("?\"'[ ", text.ptr[at]) != NULL; at++)
            ;
        for (end = at; end < text.len && is_name_char(text.ptr[end]); end++)
            ;
        add_use(c, kind, str_slice(text, at, end));
    }
}

/* A procedure by its name: `procedure`, `rollback`, `reconcile`; with a dot it is a worker's. */
static void add_named(struct collected *c, struct value map)
{
    static const char *const members[] = {"procedure", "rollback", "reconcile"};
    struct value code = fact_member(map, "code"), type = fact_member(map, "type");
    struct value credential = fact_member(map, "credential");

    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        struct value v = fact_member(map, members[i]);

        if (v.kind == VALUE_STRING && str_find(value_text(v), STR("."), 0) < 0)
            add_use(c, USED_PROCEDURE, value_text(v));
    }
    if (type.kind == VALUE_STRING && str_eq(value_text(type), STR("flow.start")) &&
        code.kind == VALUE_STRING)
        add_use(c, USED_PROCESS, value_text(code));
    if (credential.kind == VALUE_STRING)
        add_use(c, USED_CREDENTIAL, value_text(credential));
}

static void add_uses(struct collected *c, struct value v)
{
    if (v.kind == VALUE_STRING) {
        add_names(c, value_text(v), STR("fn"), USED_FUNCTION);
        add_names(c, value_text(v), STR("config"), USED_CONFIG);
        add_names(c, value_text(v), STR("secrets"), USED_CREDENTIAL);
    }
    if (v.kind == VALUE_MAP)
        add_named(c, v);
    for (uint32_t i = 0; (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && i < v.len; i++)
        add_uses(c, v.kind == VALUE_MAP ? v.map->entries[i].value : v.items[i]);
}

static struct value uses_value(struct collected *c)
{
    struct value_entry *entries = ARENA_ARRAY(c->mem, USED_COUNT, struct value_entry);
    size_t count = 0;

    for (unsigned i = 0; i < USED_COUNT; i++)
        if (c->uses[i].count > 0)
            entries[count++] = (struct value_entry){value_key(str_of(used_names[i])),
                                                    value_list(c->uses[i].items, c->uses[i].count)};
    return value_map_take(c->mem, entries, count);
}

bool facts_use(struct value facts, const char *kind, struct str name)
{
    struct value list = fact_member(fact_member(facts, "uses"), kind);

    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (str_eq(value_text(list.items[i]), name))
            return true;
    return false;
}

bool facts_has_kind(struct str kind)
{
    return !str_eq(kind, STR("config")) && !str_eq(kind, STR("credential")) &&
           !str_eq(kind, STR("subscription"));
}

/* --- all of them --- */

static void add_fact(struct value_entry *facts, size_t *count, const char *name, struct value v)
{
    if ((v.kind == VALUE_MAP || v.kind == VALUE_LIST) && v.len > 0)
        facts[(*count)++] = (struct value_entry){value_key(str_of(name)), v};
}

struct value facts_of(struct arena *mem, struct value definition)
{
    struct value_entry *facts = ARENA_ARRAY(mem, 6, struct value_entry);
    struct collected c = {.mem = mem};
    struct fact_list sensitive = {0};
    size_t count = 0, duplicate;

    add_sensitive(mem, fact_member(definition, "input"), &sensitive);
    add_forms(&c, fact_member(definition, "steps"));
    add_steps(&c, fact_member(definition, "steps"));
    add_fact(facts, &count, "sensitive", value_list(sensitive.items, sensitive.count));
    add_fact(facts, &count, "answers", value_list(c.answers.items, c.answers.count));
    /* Two steps of one code are a mistake that only a draft has. */
    if (c.meta.count > 0)
        add_fact(facts, &count, "stepMeta",
                 value_map_make(mem, c.meta.items, c.meta.count, &duplicate));
    add_fact(facts, &count, "access", fact_member(definition, "access"));
    add_fact(facts, &count, "triggers", fact_member(definition, "triggers"));
    add_uses(&c, definition);
    add_fact(facts, &count, "uses", uses_value(&c));
    return value_map_take(mem, facts, count);
}

struct str facts_text(struct arena *mem, struct str definition)
{
    struct value v, facts;
    struct buf out;
    struct err err;

    if (!json_read(mem, definition, &v, &err))
        return STR_NONE;
    facts = facts_of(mem, v);
    if (facts.len == 0)
        return STR_NONE;
    buf_init_arena(&out, mem);
    if (!json_write(&out, facts, &err))
        PANIC("what was read as JSON cannot be written");
    return buf_view(&out);
}

struct value facts_get(struct value facts, const char *name)
{
    return fact_member(facts, name);
}
