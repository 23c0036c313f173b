/* secret.c - see secret.h. */
#include "effect/secret/secret.h"

#include "base/text/base64.h"
#include "effect/secret/secret_mask.h"

/* --- filling --- */

struct filling {
    struct vault *vault;
    struct arena *mem;
    struct call_secrets *secrets;
    struct secret_failure *failure;
    struct value request;
    struct str url;
};

static bool fail_with(struct filling *f, const char *code, struct str message)
{
    *f->failure =
        (struct secret_failure){.code = code, .class = ERR_CLASS_BUSINESS, .message = message};
    return false;
}

/* Nothing is wrong with the process, and a node with the right key can send it. */
static void fail_locked(struct filling *f, struct str code)
{
    (void)fail_with(f, "unavailable_credential",
                    str_printf(f->mem,
                               "the credential '%.*s' is sealed with another master key than this "
                               "node has: nothing was sent",
                               STR_ARG(code)));
    f->failure->class = ERR_CLASS_TRANSIENT;
}

/* The credential if its secret may go with this call; to be released. */
static const struct credential *take_allowed(struct filling *f, struct str code)
{
    const struct credential *c = vault_take(f->vault, code);

    if (c == NULL)
        (void)fail_with(f, "not_found_credential",
                        str_printf(f->mem, "there is no credential '%.*s'", STR_ARG(code)));
    else if (c->is_locked)
        fail_locked(f, code);
    else if (!c->is_filled)
        (void)fail_with(f, "not_found_credential",
                        str_printf(f->mem,
                                   "the credential '%.*s' has no secret yet: `pawl credential set "
                                   "%.*s`",
                                   STR_ARG(code), STR_ARG(code)));
    else if (!credential_covers(c, f->url))
        (void)fail_with(f, "permission_credential",
                        str_printf(f->mem,
                                   "the URL is outside the base_url of the credential '%.*s': "
                                   "nothing was sent",
                                   STR_ARG(code)));
    else {
        if (f->secrets->code.len == 0)
            f->secrets->code = str_copy(f->mem, code);
        return c;
    }
    credential_release(c);
    return NULL;
}

/* --- the credential of a call --- */

struct str secret_basic_header(struct arena *mem, struct str both)
{
    char *text = arena_alloc(mem, 6 + base64_encoded_len(both.len));

    memcpy(text, "Basic ", 6);
    return str_from(text, 6 + base64_encode(both, text + 6));
}

/* "Bearer abc": a service may repeat what stands behind the scheme. */
static struct str behind_scheme(struct str header)
{
    int64_t space = str_find(header, STR(" "), 0);

    return space < 0 ? STR_NONE : str_trim(str_slice(header, (size_t)space + 1, header.len));
}

static void hide_header(struct filling *f, struct str header)
{
    secret_mask_add(f->mem, &f->secrets->mask, header);
    secret_mask_add(f->mem, &f->secrets->mask, behind_scheme(header));
}

static bool fill_credential(struct filling *f, struct str code)
{
    const struct credential *c = take_allowed(f, code);
    struct call_secrets *s = f->secrets;
    bool ok = true;

    if (c == NULL)
        return false;
    secret_mask_add(f->mem, &s->mask, c->secret);
    switch (c->type) {
    case CREDENTIAL_API_KEY:
        s->header_name = str_copy(f->mem, c->header_name);
        s->header = str_copy(f->mem, c->secret);
        hide_header(f, s->header);
        break;
    case CREDENTIAL_BASIC:
        s->header_name = STR("Authorization");
        s->header = secret_basic_header(
            f->mem, str_printf(f->mem, "%.*s:%.*s", STR_ARG(c->username), STR_ARG(c->secret)));
        hide_header(f, s->header);
        break;
    case CREDENTIAL_OAUTH2_CLIENT:
        s->oauth = c;
        return true;
    case CREDENTIAL_SECRET:
        break; /* its values stand where the request says */
    case CREDENTIAL_HMAC:
    case CREDENTIAL_TYPE_COUNT:
        ok = fail_with(f, "permission_credential",
                       str_printf(f->mem, "the credential '%.*s' is not sent", STR_ARG(code)));
        break;
    }
    credential_release(c);
    return ok;
}

/* --- secrets by place --- */

static int64_t member_int(struct value map, const char *name)
{
    struct value v = value_map_member(map, str_of(name));

    return v.kind == VALUE_INT ? v.i : -1;
}

/* "bot.token" */
static bool find_secret(struct filling *f, struct str name, struct str *out)
{
    int64_t dot = str_find(name, STR("."), 0);
    struct str code = str_slice(name, 0, dot < 0 ? name.len : (size_t)dot);
    const struct credential *c = take_allowed(f, code);
    bool found = false;

    if (c == NULL)
        return false;
    for (size_t i = 0; dot >= 0 && i < c->values.count && !found; i++)
        if (str_eq(c->values.items[i].name, str_slice(name, (size_t)dot + 1, name.len))) {
            *out = str_copy(f->mem, c->values.items[i].text);
            found = true;
        }
    credential_release(c);
    if (!found)
        return fail_with(f, "not_found_credential",
                         str_printf(f->mem, "there is no secret '%.*s'", STR_ARG(name)));
    secret_mask_add(f->mem, &f->secrets->mask, *out);
    return true;
}

/* In a URL a secret is one part of the path, or one value of the query. */
static void add_to_url(struct buf *out, struct str text, bool is_query)
{
    secret_add_percent(out, text, is_query ? "-._~" : "-._~!$&'()*+,;=:@", true, false);
}

/* The text with what stands at [from, from + len) replaced. */
static struct str replace_part(struct filling *f, struct str text, struct value place,
                               struct str secret, bool is_url)
{
    int64_t from = member_int(place, "from"), len = member_int(place, "len");
    struct buf out;

    ASSERT(from >= 0 && len >= 0 && (size_t)(from + len) <= text.len);
    buf_init_arena(&out, f->mem);
    buf_str(&out, str_slice(text, 0, (size_t)from));
    if (is_url)
        add_to_url(&out, secret, str_find(buf_view(&out), STR("?"), 0) >= 0);
    else
        buf_str(&out, secret);
    buf_str(&out, str_slice(text, (size_t)(from + len), text.len));
    return buf_view(&out);
}

/* A copy of `v` in which the text at the end of the path is replaced. */
static struct value replace_at(struct filling *f, struct value v, struct value path, uint32_t at,
                               struct value place, struct str secret)
{
    bool is_url = path.len == 1 && str_eq(value_text(path.items[0]), STR("url"));

    if (at == path.len) {
        ASSERT(v.kind == VALUE_STRING);
        return value_string(replace_part(f, value_text(v), place, secret, is_url));
    }
    if (v.kind == VALUE_LIST) {
        struct value *items = ARENA_ARRAY(f->mem, v.len + 1, struct value);
        int64_t index = path.items[at].i;

        ASSERT(path.items[at].kind == VALUE_INT && index >= 0 && index < v.len);
        memcpy(items, v.items, v.len * sizeof(*items));
        items[index] = replace_at(f, items[index], path, at + 1, place, secret);
        return value_list(items, v.len);
    }
    ASSERT(v.kind == VALUE_MAP && path.items[at].kind == VALUE_STRING);
    struct value_entry *entries = ARENA_ARRAY(f->mem, v.len + 1, struct value_entry);

    for (uint32_t i = 0; i < v.len; i++) {
        entries[i] = v.map->entries[i];
        if (str_eq(value_text(entries[i].key), value_text(path.items[at])))
            entries[i].value = replace_at(f, entries[i].value, path, at + 1, place, secret);
    }
    return value_map_take(f->mem, entries, v.len);
}

/* From the last to the first: what is replaced moves nothing before it. */
static bool fill_places(struct filling *f, struct value places)
{
    for (uint32_t i = places.len; i > 0; i--) {
        struct value place = places.items[i - 1], path = value_map_get_str(place, STR("at"));
        struct str secret, first;

        if (!find_secret(f, value_map_text(place, STR("name")), &secret))
            return false;
        first = value_text(path.items[0]);
        if (!str_eq(first, STR("headers")))
            f->secrets->is_in_headers_only = false;
        f->request = replace_at(f, f->request, path, 0, place, secret);
    }
    return true;
}

enum secret_result secret_fill(struct vault *vault, struct arena *mem, struct value *request,
                               struct call_secrets **out, struct secret_failure *failure)
{
    struct value places = value_map_get_str(*request, STR("secrets"));
    struct str code = value_map_text(*request, STR("credential"));
    struct filling f = {.vault = vault,
                        .mem = mem,
                        .failure = failure,
                        .request = *request,
                        .url = value_map_text(*request, STR("url"))};

    *out = NULL;
    if (code.len == 0 && places.kind != VALUE_LIST)
        return SECRET_READY;
    *out = f.secrets = ARENA_NEW(mem, struct call_secrets);
    *f.secrets = (struct call_secrets){.is_in_headers_only = true};
    if ((code.len > 0 && !fill_credential(&f, code)) ||
        (places.kind == VALUE_LIST && !fill_places(&f, places)))
        return SECRET_FAILED;
    *request = f.request;
    return f.secrets->oauth != NULL ? SECRET_WAITS : SECRET_READY;
}

void secret_take_token(struct arena *mem, struct call_secrets *s, struct str token)
{
    s->token = str_copy(mem, token);
    s->header_name = STR("Authorization");
    s->header = str_printf(mem, "Bearer %.*s", STR_ARG(token));
    secret_mask_add(mem, &s->mask, s->token);
}

void secret_release(struct call_secrets *s)
{
    if (s == NULL)
        return;
    credential_release(s->oauth);
    s->oauth = NULL;
}
