/* call_secret.c - see call_secret.h. */
#include "engine/command/call_secret.h"

#include "engine/flow/step.h"

#include <inttypes.h>
#include <stdio.h>

/* "secret-" and the number, "-", the place in the list of the command, "-": unchanged in a URL. */
enum { MARK_LEN = 7 + 32 + 1, PLACEHOLDER_LEN = MARK_LEN + 3 };

struct places {
    VEC_OF(struct value);
};

struct taking {
    struct turn *t;
    const struct command *c;
    char mark[MARK_LEN + 1];
    struct value path[64]; /* where we stand */
    uint32_t depth;
    struct places found;
};

static void write_mark(const struct turn *t, char out[MARK_LEN + 1])
{
    (void)snprintf(out, MARK_LEN + 1, "secret-%016" PRIx64 "%016" PRIx64 "-", t->ev->nonce[0],
                   t->ev->nonce[1]);
}

/* --- showing --- */

/* {NAME: placeholder} of one credential. */
static struct value values_of(struct turn *t, const struct command *c, struct str code,
                              const char *mark)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, c->secret_count, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < c->secret_count; i++)
        if (str_eq(c->secrets[i].code, code))
            value_entry_add(entries, &count, c->secrets[i].name,
                            value_string(str_printf(t->mem, "%s%02u-", mark, i)));
    return value_map_make(t->mem, entries, count, &duplicate);
}

static bool is_first_of_code(const struct command *c, uint32_t place)
{
    for (uint32_t i = 0; i < place; i++)
        if (str_eq(c->secrets[i].code, c->secrets[place].code))
            return false;
    return true;
}

void call_secrets_show(struct turn *t, const struct command *c)
{
    struct value_entry *entries;
    size_t count = 0, duplicate;
    char mark[MARK_LEN + 1];

    if (c->secret_count == 0)
        return;
    write_mark(t, mark);
    entries = ARENA_ARRAY(t->mem, c->secret_count, struct value_entry);
    for (uint32_t i = 0; i < c->secret_count; i++)
        if (is_first_of_code(c, i))
            value_entry_add(entries, &count, c->secrets[i].code,
                            values_of(t, c, c->secrets[i].code, mark));
    t->slots[ROOT_SECRETS] = value_map_make(t->mem, entries, count, &duplicate);
}

void call_secrets_hide(struct turn *t)
{
    t->slots[ROOT_SECRETS] = value_absent();
}

/* --- taking --- */

static void note_place(struct taking *k, size_t from, size_t len, struct str name)
{
    struct arena *mem = k->t->mem;
    struct value *at = ARENA_ARRAY(mem, k->depth + 1, struct value);

    memcpy(at, k->path, k->depth * sizeof(*at));
    *VEC_ADD(mem, &k->found) =
        value_map_of(mem, VALUE_ENTRIES({value_key(STR("at")), value_list(at, k->depth)},
                                        {value_key(STR("from")), value_int((int64_t)from)},
                                        {value_key(STR("len")), value_int((int64_t)len)},
                                        {value_key(STR("name")), value_string(name)}));
}

/* The place in the list that a placeholder at `at` names; -1: it was cut or changed. */
static int64_t placeholder_at(const struct taking *k, struct str text, size_t at)
{
    int64_t i;

    if (at + PLACEHOLDER_LEN > text.len || text.ptr[at + PLACEHOLDER_LEN - 1] != '-' ||
        !str_to_int64(str_slice(text, at + MARK_LEN, at + MARK_LEN + 2), &i) ||
        i >= k->c->secret_count)
        return -1;
    return i;
}

static bool refuse_secret(struct taking *k, const char *why)
{
    (void)turn_fail(k->t, STR("validation_secret"), ERR_CLASS_BUSINESS, "%s", why);
    return false;
}

static bool take_text(struct taking *k, struct str *text)
{
    int64_t found = str_find(*text, str_from(k->mark, MARK_LEN), 0);
    size_t done = 0;
    struct buf out;

    if (found < 0)
        return true;
    buf_init_arena(&out, k->t->mem);
    for (; found >= 0; found = str_find(*text, str_from(k->mark, MARK_LEN), done)) {
        int64_t i = placeholder_at(k, *text, (size_t)found);
        struct str name;
        size_t from;

        if (i < 0)
            return refuse_secret(k, "a secret is put into a text as it is: it cannot be cut");
        name = str_printf(k->t->mem, "%.*s.%.*s", STR_ARG(k->c->secrets[i].code),
                          STR_ARG(k->c->secrets[i].name));
        buf_str(&out, str_slice(*text, done, (size_t)found));
        from = out.len;
        buf_printf(&out, "{{secrets.%.*s}}", STR_ARG(name));
        note_place(k, from, out.len - from, name);
        done = (size_t)found + PLACEHOLDER_LEN;
    }
    buf_str(&out, str_slice(*text, done, text->len));
    *text = buf_view(&out);
    return true;
}

static bool take_value(struct taking *k, struct value *v);

static bool take_items(struct taking *k, struct value *v)
{
    struct value *items = ARENA_ARRAY(k->t->mem, v->len + 1, struct value);
    bool ok = true;

    for (uint32_t i = 0; ok && i < v->len; i++) {
        items[i] = v->items[i];
        k->path[k->depth++] = value_int(i);
        ok = take_value(k, &items[i]);
        k->depth--;
    }
    *v = value_list(items, v->len);
    return ok;
}

static bool take_members(struct taking *k, struct value *v)
{
    struct value_entry *entries = ARENA_ARRAY(k->t->mem, v->len + 1, struct value_entry);
    size_t duplicate;
    bool ok = true;

    for (uint32_t i = 0; ok && i < v->len; i++) {
        entries[i] = v->map->entries[i];
        k->path[k->depth++] = entries[i].key;
        ok = take_value(k, &entries[i].value);
        k->depth--;
    }
    if (ok)
        *v = value_map_make(k->t->mem, entries, v->len, &duplicate);
    return ok;
}

static bool take_value(struct taking *k, struct value *v)
{
    struct str text;

    if (v->kind == VALUE_MAP || v->kind == VALUE_LIST) {
        if (k->depth + 1 >= ARRAY_SIZE(k->path))
            return refuse_secret(k, "a body that holds secrets is nested too deeply");
        return v->kind == VALUE_MAP ? take_members(k, v) : take_items(k, v);
    }
    if (v->kind != VALUE_STRING)
        return true;
    text = value_text(*v);
    if (!take_text(k, &text))
        return false;
    if (text.ptr != v->text)
        *v = value_string(text);
    return true;
}

static bool take_member(struct taking *k, const char *name, struct value *v)
{
    k->path[0] = value_string(str_of(name));
    k->depth = 1;
    return v->kind == VALUE_ABSENT || take_value(k, v);
}

/* Whether a secret stands before the path. */
static bool names_host(const struct taking *k, struct str url)
{
    int64_t start = str_find(url, STR("://"), 0);
    int64_t found = str_find(url, str_from(k->mark, MARK_LEN), 0);
    size_t end;

    if (found < 0)
        return false;
    for (end = start < 0 ? 0 : (size_t)start + 3;
         end < url.len && strchr("/?#", url.ptr[end]) == NULL; end++)
        ;
    return (size_t)found < end;
}

bool call_secrets_take(struct turn *t, const struct command *c, struct str *url,
                       struct value *headers, struct value *body, struct value *secrets)
{
    struct taking k = {.t = t, .c = c};
    struct value address = value_string(*url);

    *secrets = value_absent();
    if (c->secret_count == 0)
        return true;
    write_mark(t, k.mark);
    if (names_host(&k, *url))
        return refuse_secret(&k, "a secret stands behind the host of a URL");
    if (!take_member(&k, "url", &address) || !take_member(&k, "headers", headers) ||
        !take_member(&k, "body", body))
        return false;
    *url = value_text(address);
    if (k.found.count > 0)
        *secrets = value_list(k.found.items, k.found.count);
    return true;
}

/* --- credentials --- */

bool call_credential_url(struct turn *t, struct str code, struct str path, struct str *out)
{
    struct value base = value_map_member(t->ev->credentials, code);
    struct str text;

    if (base.kind == VALUE_STRING) {
        text = value_text(base);
    } else if (t->ev->assumes_credentials) {
        text = str_printf(t->mem, "https://%.*s.invalid", STR_ARG(code));
    } else {
        (void)turn_fail(t, STR("not_found_credential"), ERR_CLASS_BUSINESS,
                        "there is no credential '%.*s' with a base_url", STR_ARG(code));
        return false;
    }
    *out = str_printf(t->mem, "%.*s%s%.*s", STR_ARG(text),
                      str_starts_with(path, STR("/")) ? "" : "/", STR_ARG(path));
    return true;
}
