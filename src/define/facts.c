/* facts.c - see facts.h. */
#include "define/facts.h"

#include "base/text/ascii.h"
#include "base/vec.h"
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
    USED_TEMPLATE,
    USED_COUNT
};

static const char *const used_names[] = {
    [USED_PROCEDURE] = "procedure", [USED_FUNCTION] = "function",     [USED_CONFIG] = "config",
    [USED_PROCESS] = "process",     [USED_CREDENTIAL] = "credential", [USED_TEMPLATE] = "template"};

struct collected {
    struct arena *mem;
    struct fact_list answers;
    struct fact_entries meta;
    struct fact_list uses[USED_COUNT];
};

static bool is_listed(const struct fact_list *list, struct value name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(value_text(list->items[i]), value_text(name)))
            return true;
    return false;
}

enum { SENSITIVE_DEPTH_MAX = 16 };

static void add_sensitive_within(struct arena *mem, struct value params, struct str around,
                                 int depth, struct fact_list *out);

/* One that is called `path`: it, or what is within it. */
static void add_sensitive_param(struct arena *mem, struct value param, struct str path, int depth,
                                struct fact_list *out)
{
    struct value item = value_map_member(param, STR("items"));

    if (value_is_true(value_map_member(param, STR("sensitive")))) {
        if (!is_listed(out, value_string(path)))
            *VEC_ADD(mem, out) = value_string(path);
        return;
    }
    if (depth >= SENSITIVE_DEPTH_MAX)
        return;
    add_sensitive_within(mem, value_map_member(param, STR("fields")), path, depth + 1, out);
    if (item.kind == VALUE_MAP)
        add_sensitive_param(mem, item, path, depth + 1, out);
}

static void add_sensitive_within(struct arena *mem, struct value params, struct str around,
                                 int depth, struct fact_list *out)
{
    for (uint32_t i = 0; params.kind == VALUE_LIST && i < params.len; i++) {
        struct str name = value_map_text(params.items[i], STR("name"));

        if (name.len > 0)
            add_sensitive_param(mem, params.items[i],
                                around.len == 0
                                    ? name
                                    : str_printf(mem, "%.*s.%.*s", STR_ARG(around), STR_ARG(name)),
                                depth, out);
    }
}

/* The names of the sensitive ones among parameters, each once; "order.card" is within another. */
static void add_sensitive(struct arena *mem, struct value params, struct fact_list *out)
{
    add_sensitive_within(mem, params, STR_NONE, 0, out);
}

/* Every `form`, wherever it stands. */
static void add_forms(struct collected *c, struct value v)
{
    if (v.kind == VALUE_MAP)
        add_sensitive(c->mem, value_map_member(v, STR("form")), &c->answers);
    for (uint32_t i = 0; (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && i < v.len; i++)
        add_forms(c, v.kind == VALUE_MAP ? v.map->entries[i].value : v.items[i]);
}

/* The steps of a block and those within them. */
static void add_steps(struct collected *c, struct value steps)
{
    for (uint32_t i = 0; steps.kind == VALUE_LIST && i < steps.len; i++) {
        struct value step = steps.items[i], ways = value_map_member(step, STR("branch"));
        struct value branches =
            value_map_member(value_map_member(step, STR("parallel")), STR("branches"));
        struct value code = value_map_member(step, STR("code")),
                     meta = value_map_member(step, STR("meta"));

        if (code.kind == VALUE_STRING && meta.kind == VALUE_MAP)
            *VEC_ADD(c->mem, &c->meta) = (struct value_entry){value_key(value_text(code)), meta};
        for (uint32_t w = 0; ways.kind == VALUE_LIST && w < ways.len; w++)
            add_steps(c, value_map_member(ways.items[w], STR("steps")));
        for (uint32_t b = 0; branches.kind == VALUE_LIST && b < branches.len; b++)
            add_steps(c, branches.items[b]);
        add_steps(c, value_map_member(value_map_member(step, STR("loop")), STR("steps")));
    }
}

/* The nodes of a schema. */
static void add_nodes(struct collected *c, struct value nodes)
{
    for (uint32_t i = 0; nodes.kind == VALUE_LIST && i < nodes.len; i++) {
        struct value id = value_map_member(nodes.items[i], STR("id")),
                     meta = value_map_member(nodes.items[i], STR("meta"));

        if (id.kind == VALUE_STRING && meta.kind == VALUE_MAP)
            *VEC_ADD(c->mem, &c->meta) = (struct value_entry){value_key(value_text(id)), meta};
    }
}

/* The states of a machine. */
static void add_states(struct collected *c, struct value states)
{
    for (uint32_t i = 0; states.kind == VALUE_MAP && i < states.len; i++) {
        struct value meta = value_map_member(states.map->entries[i].value, STR("meta"));

        if (meta.kind == VALUE_MAP)
            *VEC_ADD(c->mem, &c->meta) =
                (struct value_entry){value_key(value_text(states.map->entries[i].key)), meta};
    }
}

/* --- what it names --- */

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

        if ((found > 0 && ascii_is_word(text.ptr[found - 1])) || at >= text.len ||
            strchr(".[", text.ptr[at]) == NULL)
            continue;
        for (at++; at < text.len && strchr("?\"'[ ", text.ptr[at]) != NULL; at++)
            ;
        for (end = at; end < text.len && ascii_is_word(text.ptr[end]); end++)
            ;
        add_use(c, kind, str_slice(text, at, end));
    }
}

/* A procedure by its name: `procedure`, `rollback`, `reconcile`; with a dot it is a worker's. */
static void add_named(struct collected *c, struct value map)
{
    static const char *const members[] = {"procedure", "rollback", "reconcile"};
    struct value code = value_map_member(map, STR("code")),
                 type = value_map_member(map, STR("type"));
    struct value credential = value_map_member(map, STR("credential")),
                 text = value_map_member(map, STR("template"));

    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        struct value v = value_map_member(map, str_of(members[i]));

        if (v.kind == VALUE_STRING && str_find(value_text(v), STR("."), 0) < 0)
            add_use(c, USED_PROCEDURE, value_text(v));
    }
    /* A node has the fields of its command in `config`. */
    if (code.kind != VALUE_STRING)
        code = value_map_member(value_map_member(map, STR("config")), STR("code"));
    if (type.kind == VALUE_STRING && str_eq(value_text(type), STR("flow.start")) &&
        code.kind == VALUE_STRING)
        add_use(c, USED_PROCESS, value_text(code));
    if (credential.kind == VALUE_STRING)
        add_use(c, USED_CREDENTIAL, value_text(credential));
    if (text.kind == VALUE_STRING)
        add_use(c, USED_TEMPLATE, value_text(text));
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
    return value_list_has_text(value_map_member(value_map_member(facts, STR("uses")), str_of(kind)),
                               name);
}

bool facts_has_kind(struct str kind)
{
    return !str_eq(kind, STR("config")) && !str_eq(kind, STR("credential")) &&
           !str_eq(kind, STR("subscription"));
}

/* --- triggers --- */

/* The first start among the nodes of a schema; absent: there is none. */
static struct value start_node(struct value nodes, uint32_t *index)
{
    for (uint32_t i = 0; nodes.kind == VALUE_LIST && i < nodes.len; i++)
        if (str_eq(value_map_text(nodes.items[i], STR("type")), STR("start"))) {
            *index = i;
            return nodes.items[i];
        }
    return value_absent();
}

struct value facts_triggers(struct arena *mem, struct value definition, struct str *start)
{
    struct value list = value_map_member(definition, STR("triggers")), one, node;
    struct value *items;
    uint32_t index = 0, count = list.kind == VALUE_LIST ? list.len : 0;

    *start = STR_NONE;
    node = start_node(value_map_member(definition, STR("nodes")), &index);
    one = value_map_member(value_map_member(node, STR("config")), STR("trigger"));
    if (one.kind != VALUE_MAP ||
        (list.kind != VALUE_LIST && list.kind != VALUE_ABSENT && list.kind != VALUE_NULL))
        return list;
    items = ARENA_ARRAY(mem, count + 1u, struct value);
    if (count > 0)
        memcpy(items, list.items, count * sizeof(*items));
    items[count] = one;
    *start = str_printf(mem, "/nodes/%u/config/trigger", index);
    return value_list(items, count + 1u);
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
    struct str start;

    add_sensitive(mem, value_map_member(definition, STR("input")), &sensitive);
    add_forms(&c, value_map_member(definition, STR("steps")));
    add_steps(&c, value_map_member(definition, STR("steps")));
    add_forms(&c, value_map_member(definition, STR("nodes")));
    add_nodes(&c, value_map_member(definition, STR("nodes")));
    add_forms(&c, value_map_member(definition, STR("states")));
    add_states(&c, value_map_member(definition, STR("states")));
    add_fact(facts, &count, "sensitive", value_list(sensitive.items, sensitive.count));
    add_fact(facts, &count, "answers", value_list(c.answers.items, c.answers.count));
    /* Two steps of one code are a mistake that only a draft has. */
    if (c.meta.count > 0)
        add_fact(facts, &count, "stepMeta",
                 value_map_make(mem, c.meta.items, c.meta.count, &duplicate));
    add_fact(facts, &count, "access", value_map_member(definition, STR("access")));
    add_fact(facts, &count, "triggers", facts_triggers(mem, definition, &start));
    add_uses(&c, definition);
    add_fact(facts, &count, "uses", uses_value(&c));
    return value_map_take(mem, facts, count);
}

struct str facts_text(struct arena *mem, struct str definition)
{
    struct value v, facts;
    struct value_entry *entries;
    struct err err;

    if (!json_read(mem, definition, &v, &err))
        return STR_NONE;
    facts = facts_of(mem, v);
    entries = ARENA_ARRAY(mem, facts.len + 1, struct value_entry);
    for (uint32_t i = 0; i < facts.len; i++)
        entries[i] = facts.map->entries[i];
    entries[facts.len] = (struct value_entry){value_key(STR("rules")), value_int(RULES_NEWEST)};
    return json_must_text(mem, value_map_take(mem, entries, facts.len + 1));
}

enum define_rules facts_rules(struct arena *mem, struct str facts_text)
{
    struct value facts, rules;
    struct err err;

    if (facts_text.len == 0 || !json_read(mem, facts_text, &facts, &err))
        return RULES_FIRST;
    rules = facts_get(facts, "rules");
    return rules.kind == VALUE_INT && rules.i >= 0 && rules.i <= RULES_NEWEST
               ? (enum define_rules)rules.i
               : RULES_FIRST;
}

struct value facts_get(struct value facts, const char *name)
{
    return value_map_member(facts, str_of(name));
}
