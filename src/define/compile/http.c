/* http.c - integration.http: where it goes, and which secrets go with it. */
#include "base/text/ascii.h"
#include "define/compile/compile.h"
#include "define/compile/library.h"

/* --- credentials --- */

static bool has_value(struct value shown, struct str name)
{
    struct value names = compile_field(shown, "values");

    /* In a file that holds secrets they are an object. */
    if (names.kind == VALUE_MAP)
        return value_map_get_str(names, name).kind != VALUE_ABSENT;
    return value_list_has_text(names, name);
}

static bool is_type(struct value shown, const char *type)
{
    struct value v = compile_field(shown, "type");

    return v.kind == VALUE_STRING && str_eq(value_text(v), str_of(type));
}

/* *shown, when the credential is known; a finding when it is not. */
static bool call_find_credential(struct compiler *c, struct str code, struct value *shown)
{
    const struct registry *r = c->library != NULL ? c->library->registry : NULL;

    if (r == NULL || r->credential == NULL)
        return false;
    if (r->credential(r->context, code, shown))
        return true;
    if (r->knows_credentials) {
        compile_error(c, FINDING_UNKNOWN_CREDENTIAL, "there is no credential '%.*s'",
                      STR_ARG(code));
        compile_hint(c, "make it with `pawl credential set %.*s`", STR_ARG(code));
    } else if (r->is_partial) {
        compile_warning(c, FINDING_UNKNOWN_CREDENTIAL,
                        "the credential '%.*s' is in none of these files; the server may have it",
                        STR_ARG(code));
    }
    return false;
}

void compile_credential_of(struct compiler *c, struct str code, const char *type)
{
    struct value shown;

    if (call_find_credential(c, code, &shown) && !is_type(shown, type))
        compile_error(c, FINDING_BAD_VALUE, "the credential '%.*s' is not of type %s",
                      STR_ARG(code), type);
}

static void call_check_credential(struct compiler *c, const struct command *command)
{
    const struct mapping *m = command->fields[FIELD_CREDENTIAL];
    size_t outer = compile_enter(c, STR("credential"));
    struct value shown;

    if (m != NULL && (m->kind != MAPPING_CONST || m->value.kind != VALUE_STRING))
        compile_error(c, FINDING_BAD_VALUE, "a credential is named by its code, and not computed");
    else if (m != NULL && call_find_credential(c, value_text(m->value), &shown) &&
             is_type(shown, "hmac"))
        compile_error(c, FINDING_BAD_VALUE,
                      "a credential of type hmac verifies signatures and is not sent");
    compile_leave(c, outer);
}

/* --- secrets --- */

struct secret_names {
    VEC_OF(struct secret_name);
};

/* ".NAME" at *at. */
static bool read_part(struct str text, size_t *at, struct str *out)
{
    size_t start = *at + 1, end = start;

    if (*at >= text.len || text.ptr[*at] != '.')
        return false;
    while (end < text.len && ascii_is_word(text.ptr[end]))
        end++;
    *out = str_slice(text, start, end);
    *at = end;
    return out->len > 0;
}

static void call_check_secret(struct compiler *c, const struct secret_name *s)
{
    struct value shown;

    if (!call_find_credential(c, s->code, &shown))
        return;
    if (!is_type(shown, "secret"))
        compile_error(c, FINDING_BAD_VALUE,
                      "$.secrets is for credentials of type secret; name '%.*s' in 'credential'",
                      STR_ARG(s->code));
    else if (!has_value(shown, s->name))
        compile_error(c, FINDING_UNKNOWN_CREDENTIAL, "the credential '%.*s' has no value '%.*s'",
                      STR_ARG(s->code), STR_ARG(s->name));
}

static void add_secret(struct compiler *c, struct secret_names *all, struct secret_name s)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].code, s.code) && str_eq(all->items[i].name, s.name))
            return;
    *VEC_ADD(c->mem, all) = s;
    call_check_secret(c, &s);
    if (all->count == SECRETS_MAX + 1)
        compile_error(c, FINDING_LIMIT_SIZE, "a call has %d secrets at most", SECRETS_MAX);
}

/* Every secrets.CODE.NAME of an expression. */
static void scan_source(struct compiler *c, struct str source, struct secret_names *all)
{
    struct str root = STR("secrets");

    for (int64_t found = str_find(source, root, 0); found >= 0;
         found = str_find(source, root, (size_t)found + 1)) {
        size_t at = (size_t)found + root.len;
        struct secret_name s;

        if ((found > 0 && (ascii_is_word(source.ptr[found - 1]) || source.ptr[found - 1] == '"')) ||
            (at < source.len && ascii_is_word(source.ptr[at])))
            continue;
        if (read_part(source, &at, &s.code) && read_part(source, &at, &s.name))
            add_secret(c, all, s);
        else
            compile_error(c, FINDING_BAD_VALUE, "a secret is written $.secrets.CODE.NAME");
    }
}

/* What a program knows of a secret is a name for it: its digest would be that of the name. */
static void refuse_hashed(struct compiler *c, const struct cel_program *program)
{
    for (uint32_t i = 0; cel_program_call(program, i).len > 0; i++)
        if (str_starts_with(cel_program_call(program, i), STR("hash."))) {
            compile_error(
                c, FINDING_NOT_SUPPORTED_YET,
                "a digest of a secret is not supported yet: the secret is put in when the "
                "call leaves");
            return;
        }
}

static void scan_mapping(struct compiler *c, const struct mapping *m, struct secret_names *all)
{
    switch (m->kind) {
    case MAPPING_CONST:
        return;
    case MAPPING_PROGRAM:
        if (m->program != NULL && cel_program_reads(m->program, ROOT_SECRETS)) {
            refuse_hashed(c, m->program);
            scan_source(c, cel_program_source(m->program), all);
        }
        return;
    case MAPPING_LIST:
    case MAPPING_MAP:
        for (uint32_t i = 0; i < m->count; i++)
            scan_mapping(c, &m->items[i], all);
        return;
    }
}

bool compile_sees_secrets(enum command_type type, enum command_field field)
{
    return type == COMMAND_HTTP &&
           (field == FIELD_URL || field == FIELD_PATH || field == FIELD_QUERY ||
            field == FIELD_HEADERS || field == FIELD_BODY);
}

static void compile_secrets(struct compiler *c, struct command *command)
{
    struct secret_names all = {0};

    for (unsigned f = 0; f < FIELD_COUNT; f++) {
        size_t outer;

        if (command->fields[f] == NULL || !compile_sees_secrets(command->type, f))
            continue;
        outer = compile_enter(c, catalog_field_name(f));
        scan_mapping(c, command->fields[f], &all);
        compile_leave(c, outer);
    }
    command->secrets = all.items;
    command->secret_count = (uint32_t)all.count;
}

/* --- the command --- */

void compile_http(struct compiler *c, struct value v, struct command *command)
{
    bool has_url = compile_has(v, "url"), has_path = compile_has(v, "path");

    if (has_url && has_path)
        compile_error(c, FINDING_ONE_OF,
                      "a call has a 'url', or a 'credential' and the 'path' behind its base_url");
    else if (!has_url && !has_path) {
        compile_missing(c, "url");
        compile_hint(c, "or a 'credential' and the 'path' behind its base_url");
    } else if (has_path && !compile_has(v, "credential"))
        compile_error(c, FINDING_MISSING_FIELD,
                      "'path' stands behind the base_url of a 'credential', which is missing");
    call_check_credential(c, command);
    compile_secrets(c, command);
}
