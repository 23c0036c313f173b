/* world.c - see world.h. */
#include "define/world.h"

#include "define/calendar.h"
#include "define/compile/compile.h"
#include "define/credential.h"
#include "define/subscription.h"
#include "define/template.h"

/* The row of that name, or NULL. A row has `size` bytes, and its name stands first in it. */
static void *find_row(void *rows, size_t size, size_t count, struct str name)
{
    char *row = rows;

    for (size_t i = 0; i < count; i++, row += size)
        if (str_eq(*(struct str *)(void *)row, name))
            return row;
    return NULL;
}

#define FIND(list, name) find_row((list).items, sizeof(*(list).items), (list).count, (name))

struct function *world_function(struct world *w, struct str name)
{
    return FIND(w->functions, name);
}

void world_add_function(struct world *w, struct str name, struct value definition)
{
    struct function *f = world_function(w, name);

    if (f == NULL)
        f = VEC_ADD(w->mem, &w->functions);
    *f = (struct function){.name = name, .definition = definition};
}

void world_add_procedure(struct world *w, struct str code, struct registered what)
{
    struct world_procedure *p = FIND(w->procedures, code);

    if (p == NULL)
        p = VEC_ADD(w->mem, &w->procedures);
    *p = (struct world_procedure){.code = code, .registered = what};
}

void world_add_config(struct world *w, struct str name)
{
    if (FIND(w->config, name) == NULL)
        *VEC_ADD(w->mem, &w->config) = name;
}

void world_add_credential(struct world *w, struct str code, struct value shown)
{
    struct world_credential *c = FIND(w->credentials, code);

    if (c == NULL)
        c = VEC_ADD(w->mem, &w->credentials);
    *c = (struct world_credential){.code = code, .shown = shown};
}

struct value world_bases(const struct world *w, struct arena *mem)
{
    struct value_entry *entries = ARENA_ARRAY(mem, w->credentials.count + 1, struct value_entry);
    size_t count = 0;

    for (size_t i = 0; i < w->credentials.count; i++) {
        struct value base = compile_field(w->credentials.items[i].shown, "base_url");
        struct str text = value_text_or(base, STR_NONE);

        while (str_ends_with(text, STR("/")))
            text.len--;
        if (text.len > 0)
            entries[count++] = (struct value_entry){.key = value_key(w->credentials.items[i].code),
                                                    .value = value_string(text)};
    }
    return value_map_take(mem, entries, count);
}

void world_add_process(struct world *w, struct str code)
{
    *VEC_ADD(w->mem, &w->processes) = code;
}

void world_add_template(struct world *w, struct str code)
{
    *VEC_ADD(w->mem, &w->mail_templates) = code;
}

void world_drop(struct world *w, enum kind kind, struct str name)
{
    struct function *f = FIND(w->functions, name);
    struct world_credential *c = FIND(w->credentials, name);
    struct world_procedure *p = FIND(w->procedures, name);
    struct str *config = FIND(w->config, name);

    if (kind == KIND_PROCEDURE && p != NULL)
        *p = w->procedures.items[--w->procedures.count];
    if (kind == KIND_FUNCTION && f != NULL)
        *f = w->functions.items[--w->functions.count];
    if (kind == KIND_CONFIG && config != NULL)
        *config = w->config.items[--w->config.count];
    if (kind == KIND_CREDENTIAL && c != NULL)
        *c = w->credentials.items[--w->credentials.count];
}

/* config.NAME for those that exist, and no other. */
static void list_config(const struct world *w, struct cel_env *env)
{
    struct err err;

    if (!cel_env_field(env, STR("config"), STR_NONE, &err))
        PANIC(err.message);
    for (size_t i = 0; i < w->config.count; i++)
        if (!cel_env_field(env, STR("config"), w->config.items[i], &err))
            PANIC(err.message);
}

void world_open(struct world *w)
{
    struct function_envs envs = functions_compile(w->mem, define_env(w->mem), w->functions.items,
                                                  w->functions.count, &w->assumed);
    struct cel_env *definitions = cel_env_extend(w->mem, envs.definitions);
    struct cel_env *templates = template_env(w->mem, envs.plain);

    list_config(w, definitions);
    list_config(w, templates);
    w->definitions = definitions;
    w->templates = templates;
    w->plain = envs.plain;
}

void world_close(struct world *w)
{
    functions_release(w->functions.items, w->functions.count);
}

static bool registered_procedure(void *context, struct arena *mem, struct str code,
                                 struct registered *out)
{
    const struct world *w = context;
    const struct world_procedure *p = FIND(w->procedures, code);

    (void)mem;
    if (p != NULL)
        *out = p->registered;
    return p != NULL;
}

static bool registered_credential(void *context, struct str code, struct value *shown)
{
    const struct world *w = context;
    const struct world_credential *c = FIND(w->credentials, code);

    *shown = c != NULL ? c->shown : value_absent();
    return c != NULL;
}

static bool registered_process(void *context, struct str code)
{
    const struct world *w = context;

    return FIND(w->processes, code) != NULL || w->knows_process(w->lookup_context, code);
}

static bool registered_template(void *context, struct str code)
{
    const struct world *w = context;

    return FIND(w->mail_templates, code) != NULL || w->knows_template(w->lookup_context, code);
}

void world_compile(struct world *w, struct arena *mem, enum kind kind, struct registered what,
                   struct findings *findings, const struct program **out)
{
    const struct registry registry = {
        .procedure = registered_procedure,
        .context = w,
        .process = w->knows_process != NULL ? registered_process : NULL,
        .template = w->knows_template != NULL ? registered_template : NULL,
        .credential = registered_credential,
        .knows_credentials = w->knows_credentials,
        .is_partial = w->is_partial,
        .is_stored = w->checks_stored || what.version > 0,
        .rules = what.rules};

    define_compile(mem, w->definitions, &registry, kind, what.definition, what.version, findings,
                   out);
}

static void check_program(struct world *w, enum kind kind, struct value definition,
                          struct findings *findings)
{
    const struct program *program = NULL;

    world_compile(w, w->mem, kind, (struct registered){.definition = definition}, findings,
                  &program);
    if (program != NULL)
        program_release(program);
}

static void check_template(struct world *w, struct value definition, struct findings *findings)
{
    struct template t;

    template_compile(w->mem, w->templates, definition, findings, &t);
    template_release(&t);
}

static void world_check_credential(struct world *w, struct value definition,
                                   struct findings *findings)
{
    enum credential_type type;
    struct value shown, secret;

    (void)credential_read(w->mem, definition, findings, &type, &shown, &secret);
}

/* What business days are counted by. */
static void check_calendar(struct world *w, struct value config, struct findings *findings)
{
    struct calendar calendar;

    (void)calendar_read(w->mem, config, STR("/value"), &calendar, findings);
}

static void add_findings(struct world *w, const struct findings *from, struct findings *to)
{
    for (size_t i = 0; i < from->count; i++)
        *VEC_ADD(w->mem, to) = from->items[i];
}

void world_check_apart(struct world *w, enum kind kind, struct str name, struct value definition,
                       struct findings *findings)
{
    struct function f = {.name = name, .definition = definition};

    if (kind != KIND_FUNCTION) {
        world_check(w, kind, name, definition, findings);
        return;
    }
    function_check(w->mem, w->plain, w->functions.items, w->functions.count, &f);
    add_findings(w, &f.findings, findings);
}

void world_check(struct world *w, enum kind kind, struct str name, struct value definition,
                 struct findings *findings)
{
    const struct function *f;
    struct compiler c;

    if (kind == KIND_CREDENTIAL) {
        world_check_credential(w, definition, findings);
    } else if (kind == KIND_CONFIG) {
        if (str_eq(name, STR("calendar")))
            check_calendar(w, definition, findings);
    } else if (kind == KIND_TEMPLATE) {
        check_template(w, definition, findings);
    } else if (kind == KIND_SUBSCRIPTION) {
        subscription_check(w->mem, definition, findings);
    } else if (kind == KIND_FUNCTION) {
        f = world_function(w, name);
        ASSERT(f != NULL);
        add_findings(w, &f->findings, findings);
    } else if (kind_spec(kind)->state == KIND_NOW) {
        check_program(w, kind, definition, findings);
    } else {
        compiler_init(&c, w->mem, NULL, findings);
        compile_error(&c, FINDING_NOT_SUPPORTED_YET, "definitions of kind %s are not supported yet",
                      kind_spec(kind)->name);
    }
}

void world_check_config(struct arena *mem, struct value body, struct findings *findings)
{
    struct compiler c;

    compiler_init(&c, mem, NULL, findings);
    (void)compile_fields(&c, body, TABLE_CONFIG);
}
