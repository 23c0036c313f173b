/* definitions_common.c - see definitions.h. */
#include "api/definitions/definitions.h"

#include "api/api.h"
#include "define/credential.h"
#include "define/facts.h"
#include "effect/secret/vault.h"
#include "store/read_definition.h"
#include "value/json.h"
#include "value/object.h"

/* As the audit log names them: "scenario.publish". */
static const char *const actions[] = {
    [DEFINITION_SAVE_DRAFT] = "draft",  [DEFINITION_DELETE_DRAFT] = "draft_delete",
    [DEFINITION_PUBLISH] = "publish",   [DEFINITION_REVERT] = "revert",
    [DEFINITION_PUT] = "put",           [DEFINITION_REMOVE] = "delete",
    [DEFINITION_KEEP] = "keep",         [DEFINITION_RETIRE] = "retire",
    [DEFINITION_UNRETIRE] = "unretire", [DEFINITION_ERASE] = "delete",
};

const struct kind_spec *definitions_kind(const struct call *c)
{
    struct str prefix = STR("/api/v1/"), path = c->http->path;
    const struct kind_spec *spec;
    int64_t end;

    ASSERT(str_starts_with(path, prefix));
    path = str_slice(path, prefix.len, path.len);
    end = str_find(path, STR("/"), 0);
    spec = kind_at(end < 0 ? path : str_slice(path, 0, (size_t)end));
    ASSERT(spec != NULL);
    return spec;
}

/* --- the world --- */

/* A process that cannot be looked up now counts as known: no warning rests on a failed read. */
static bool is_process_published(void *reader, struct str code)
{
    struct stored_definition d;
    struct arena mem;
    bool found = true;
    struct err err;

    arena_init(&mem);
    if (!read_process(reader, &mem, code, -1, &d, &found, &err))
        found = true;
    arena_fini(&mem);
    return found;
}

static bool is_template_saved(void *context, struct str code)
{
    struct reader *reader = context;
    struct stored_definition d;
    struct arena mem;
    bool found = true;
    struct err err;

    arena_init(&mem);
    if (!read_definition(reader, &mem, str_of(kind_spec(KIND_TEMPLATE)->name), code, -1, &d, &found,
                         &err))
        found = true;
    arena_fini(&mem);
    return found;
}

void definitions_look_up(struct world *w, struct reader *reader)
{
    w->knows_process = is_process_published;
    w->knows_template = is_template_saved;
    w->lookup_context = reader;
}

bool definitions_world(struct reader *reader, struct arena *mem, struct world *out, struct err *err)
{
    struct stored_definitions functions, procedures, config, credentials;

    *out = (struct world){.mem = mem, .knows_credentials = true};
    definitions_look_up(out, reader);
    if (!read_published(reader, mem, STR("function"), &functions, err) ||
        !read_published(reader, mem, STR("procedure"), &procedures, err) ||
        !read_published(reader, mem, STR("config"), &config, err) ||
        !read_published(reader, mem, STR("credential"), &credentials, err))
        return false;
    for (size_t i = 0; i < functions.count; i++) {
        struct value v;
        if (!json_read(mem, functions.items[i].text, &v, err))
            return false;
        world_add_function(out, functions.items[i].code, v);
    }
    for (size_t i = 0; i < procedures.count; i++) {
        const struct stored_definition *d = &procedures.items[i];
        struct value v;
        if (!json_read(mem, d->text, &v, err))
            return false;
        world_add_procedure(out, d->code,
                            (struct registered){.definition = v,
                                                .version = d->version,
                                                .rules = facts_rules(mem, d->facts)});
    }
    for (size_t i = 0; i < config.count; i++)
        world_add_config(out, config.items[i].code);
    for (size_t i = 0; i < credentials.count; i++) {
        struct value shown;
        bool is_filled;
        if (vault_shown(mem, credentials.items[i].text, &shown, &is_filled))
            world_add_credential(out, credentials.items[i].code, shown);
    }
    return true;
}

void definitions_add(struct world *w, const struct definition_item *item)
{
    if (item->spec->kind == KIND_FUNCTION)
        world_add_function(w, item->code, item->definition);
    else if (item->spec->kind == KIND_PROCEDURE)
        world_add_procedure(w, item->code, (struct registered){.definition = item->definition});
    else if (item->spec->kind == KIND_CONFIG)
        world_add_config(w, item->code);
    else if (item->spec->kind == KIND_CREDENTIAL)
        world_add_credential(w, item->code, item->definition);
    else if (item->spec->kind == KIND_TEMPLATE)
        world_add_template(w, item->code);
    else if (item->spec->use == KIND_PROCESS)
        world_add_process(w, item->code);
}

/* --- items --- */

/* The only field of config. */
static bool take_config(struct arena *mem, struct value body, struct definition_item *out,
                        struct findings *findings)
{
    const struct body_field field = {"value", BODY_ANY, true, .out = &out->definition};
    size_t before = findings->count;

    out->definition = value_map_get_str(body, STR("value"));
    for (uint32_t i = 0; i < body.len && !findings_are_full(findings); i++) {
        struct str name = value_text(body.map->entries[i].key);
        if (!str_eq(name, STR("value")))
            body_unknown(mem, findings, name, &field, 1);
    }
    if (out->definition.kind == VALUE_ABSENT)
        body_finding(mem, findings, "value", "missing_field", "'value' is missing");
    return findings->count == before;
}

/* Only a stub: bundles are files, and no place for secrets. */
static bool take_credential(struct arena *mem, struct value body, struct definition_item *out,
                            struct findings *findings)
{
    enum credential_type type;
    struct value secret;

    if (!credential_read(mem, body, findings, &type, &out->definition, &secret))
        return false;
    if (secret.kind == VALUE_ABSENT)
        return true;
    body_finding(mem, findings, credential_secret_field(type), "misplaced",
                 "a bundle holds no secrets: leave this out, and set it with `pawl credential "
                 "set`");
    return false;
}

bool definitions_take_live(struct arena *mem, const struct kind_spec *spec, struct value body,
                           struct definition_item *out, struct findings *findings)
{
    out->definition = body;
    if (spec->kind == KIND_CONFIG && !take_config(mem, body, out, findings))
        return false;
    if (spec->kind == KIND_CREDENTIAL && !take_credential(mem, body, out, findings))
        return false;
    out->text = json_must_text(mem, out->definition);
    return true;
}

bool definitions_value(struct arena *mem, const struct kind_spec *spec, struct str text,
                       struct value *out, struct err *err)
{
    struct value_entry *entries;
    size_t count = 0, duplicate;

    if (!json_read(mem, text, out, err))
        return false;
    if (spec->life == KIND_LIVE || out->kind != VALUE_MAP ||
        value_map_get_str(*out, STR("kind")).kind == VALUE_ABSENT)
        return true;
    entries = ARENA_ARRAY(mem, out->len, struct value_entry);
    for (uint32_t i = 0; i < out->len; i++)
        if (!str_eq(value_text(out->map->entries[i].key), STR("kind")))
            entries[count++] = out->map->entries[i];
    *out = value_map_make(mem, entries, count, &duplicate);
    return true;
}

/* --- changes --- */

bool definitions_if_match(struct call *c, int64_t *out)
{
    struct str text = http_header(c->http, "If-Match");

    *out = MATCH_WHATEVER;
    if (text.len == 0) {
        if (str_eq(http_header(c->http, "If-None-Match"), STR("*")))
            *out = 0;
        return true;
    }
    if (str_eq(str_trim(text), STR("*"))) {
        *out = MATCH_ANY_VERSION;
        return true;
    }
    if (str_starts_with(text, STR("W/")))
        text = str_slice(text, 2, text.len);
    if (text.len > 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        text = str_slice(text, 1, text.len - 1);
    return (str_to_int64(text, out) && *out > 0) ||
           call_refuse_text(c, ERR_PRECONDITION_FAILED,
                            "If-Match is the ETag of what is changed, a number in quotes, or *");
}

struct definition_change definitions_change(const struct call *c,
                                            const struct definition_item *item,
                                            enum definition_action action)
{
    enum kind kind = item->spec->kind;

    return (struct definition_change){
        .action = action,
        .kind = str_of(item->spec->name),
        .code = item->code,
        .name = item->name,
        .text = item->text,
        .user_id = c->user.id,
        .if_match = MATCH_WHATEVER,
        .is_process = item->spec->use == KIND_PROCESS,
        .forgets = kind == KIND_CONFIG || kind == KIND_TEMPLATE || kind == KIND_CREDENTIAL ||
                   kind == KIND_SUBSCRIPTION,
        .now_us = api_now_us(c->api),
    };
}

struct node_request *definitions_request(struct call *c, const struct definition_item *item,
                                         enum definition_action action,
                                         void (*done)(struct node_request *r))
{
    struct node_request *r = call_request(c, NODE_DEFINITION, done);

    if (r == NULL)
        return NULL;
    r->definitions = ARENA_NEW(c->mem, struct definition_change);
    *r->definitions = definitions_change(c, item, action);
    r->idempotency.status = 204;
    call_audit(c, r, str_printf(c->mem, "%s.%s", item->spec->name, actions[action]).ptr, item->code,
               STR_NONE);
    return r;
}

bool definitions_config(struct reader *reader, struct arena *mem, struct value *out,
                        struct err *err)
{
    struct stored_definitions all;
    struct value_entry *entries;

    if (!read_published(reader, mem, STR("config"), &all, err))
        return false;
    entries = ARENA_ARRAY(mem, all.count + 1, struct value_entry);
    for (size_t i = 0; i < all.count; i++) {
        entries[i].key = value_key(all.items[i].code);
        if (!json_read(mem, all.items[i].text, &entries[i].value, err))
            return false;
    }
    *out = value_map_take(mem, entries, all.count);
    return true;
}

struct str definitions_put_json(struct arena *mem, const struct definition_change *d,
                                int32_t *status)
{
    struct buf out;

    *status = d->created ? 201 : 200;
    object_begin(&out, mem);
    object_text(&out, kind_named(d->kind)->key, d->code);
    object_int(&out, "version", d->version);
    return object_end(&out);
}

void definitions_answer(const struct node_request *r, bool etag)
{
    struct call *c = r->owner;
    const struct definition_change *d = r->definitions;
    struct http_header header = {"ETag", NULL};
    int32_t status = r->idempotency.status;
    struct str json = STR_NONE;

    if (!r->ok) {
        call_refuse_with(c, &r->err, &r->findings, STR_NONE);
        return;
    }
    if (r->stored_status != 0) {
        call_answer_again(c, r->stored_status, r->stored_answer);
        return;
    }
    if (d->answer != NULL)
        json = d->answer(c->mem, d, &status);
    header.value = str_printf(c->mem, "\"%lld\"", (long long)d->version).ptr;
    if (status == 204)
        call_answer_nothing(c);
    else
        call_answer_headers(c, status, json, &header, etag && d->version > 0);
}

/* --- who uses what --- */

static bool name_is_listed(const struct definition_names *names, enum kind kind, struct str name)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].kind == kind && str_eq(names->items[i].name, name))
            return true;
    return false;
}

/* Whether a version names one of them: what does is looked at closely. */
static bool names_one(struct arena *mem, struct str facts, const struct definition_names *names)
{
    struct value v;
    struct err err;

    if (facts.len == 0 || !json_read(mem, facts, &v, &err))
        return false;
    for (size_t i = 0; i < names->count; i++) {
        enum kind kind = names->items[i].kind;

        if (facts_use(v, kind_spec(kind)->use == KIND_PROCESS ? "process" : kind_spec(kind)->name,
                      names->items[i].name))
            return true;
    }
    return false;
}

static bool refuse_user(const struct kind_spec *spec, struct str code,
                        const struct findings *findings, struct err *err)
{
    const struct finding *f = findings->items;

    while (f->is_warning)
        f++;
    return err_set(err, ERR_CONFLICT, "%s '%.*s' uses it and would be wrong: %pS", spec->name,
                   STR_ARG(code), SENTENCE_ARG(f->message));
}

static bool check_published(struct reader *reader, struct world *w, const struct kind_spec *spec,
                            const struct definition_names *changed,
                            const struct definition_names *except, struct err *err)
{
    struct stored_definitions all;

    if (!read_published(reader, w->mem, str_of(spec->name), &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        const struct stored_definition *d = &all.items[i];
        struct findings findings = {0};
        struct value v;

        if (name_is_listed(except, spec->kind, d->code) || !names_one(w->mem, d->facts, changed))
            continue;
        if (!json_read(w->mem, d->text, &v, err))
            return false;
        w->checks_stored = true;
        world_check(w, spec->kind, d->code, v, &findings);
        w->checks_stored = false;
        if (findings_have_errors(&findings))
            return refuse_user(spec, d->code, &findings, err);
    }
    return true;
}

bool definitions_still_valid(struct reader *reader, struct world *w,
                             const struct definition_names *changed,
                             const struct definition_names *except, struct err *err)
{
    if (changed->count == 0)
        return true;
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);

        if (spec->state == KIND_LATER || i == KIND_CONFIG)
            continue;
        if (!check_published(reader, w, spec, changed, except, err))
            return false;
    }
    return true;
}

bool definitions_unused(struct reader *reader, struct arena *mem, const struct kind_spec *spec,
                        struct str code, struct err *err)
{
    struct definition_names one = {0};

    *VEC_ADD(mem, &one) = (struct definition_name){.kind = spec->kind, .name = code};
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *user = kind_spec((enum kind)i);
        struct stored_definitions all;

        if (user->state == KIND_LATER || i == KIND_CONFIG)
            continue;
        if (!read_published(reader, mem, str_of(user->name), &all, err))
            return false;
        for (size_t k = 0; k < all.count; k++)
            if (!(user->kind == spec->kind && str_eq(all.items[k].code, code)) &&
                names_one(mem, all.items[k].facts, &one))
                return err_set(err, ERR_CONFLICT, "%s '%.*s' uses it", user->name,
                               STR_ARG(all.items[k].code));
    }
    return true;
}
