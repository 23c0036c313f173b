/* auth.c - see auth.h. */
#include "api/access/auth.h"

#include "api/access/token.h"
#include "http/request.h"
#include "node/request.h"

static struct value copy_texts(struct arena *mem, struct value list)
{
    struct value *items;

    if (list.kind != VALUE_LIST || list.len == 0)
        return value_list(NULL, 0);
    items = ARENA_ARRAY(mem, list.len, struct value);
    for (uint32_t i = 0; i < list.len; i++)
        items[i] = list.items[i].kind == VALUE_STRING
                       ? value_string(str_copy(mem, value_text(list.items[i])))
                       : value_null();
    return value_list(items, list.len);
}

/* The directory may change while the request is in flight. */
void auth_copy_person(struct arena *mem, const struct person *p, struct node_user *out)
{
    *out = (struct node_user){
        .id = str_copy(mem, p->id),
        .name = str_copy(mem, p->name),
        .email = str_copy(mem, p->email),
        .role = str_of(role_name(p->role)),
        .org_id = str_copy(mem, p->org_id),
        .groups = copy_texts(mem, p->groups),
        .namespaces = copy_texts(mem, p->namespaces),
    };
}

static const struct person *if_active(const struct person *p, struct err *err)
{
    if (p == NULL || p->is_active)
        return p;
    (void)err_set(err, ERR_UNAUTHORIZED, "this user is not active any more");
    return NULL;
}

const struct person *auth_by_token(struct directory *people, struct str token, struct pass *pass,
                                   struct err *err)
{
    bool is_expired;
    const struct person *p = directory_by_token(people, token, pass, &is_expired);

    if (p == NULL)
        (void)err_set(err, ERR_UNAUTHORIZED,
                      is_expired ? "this token has expired; ask for a new one"
                                 : "this token is not known; it may have been revoked");
    return if_active(p, err);
}

static const struct person *by_session(struct directory *people, struct str cookie,
                                       struct pass *pass, struct err *err)
{
    const struct person *p = directory_by_session(people, cookie, pass);

    if (p == NULL)
        (void)err_set(err, ERR_UNAUTHORIZED, "this session has ended; sign in again");
    return if_active(p, err);
}

static const struct person *by_proxy(struct directory *people, const struct auth_options *options,
                                     const char *header, const struct http_request *r,
                                     struct err *err)
{
    struct str email = str_trim(http_header(r, header));
    const struct person *p;
    struct ip peer;

    if (!http_peer(r, &peer) || !cidrs_have(&options->trusted_proxies, peer)) {
        (void)err_set(err, ERR_UNAUTHORIZED,
                      "the header %s is believed only from a proxy of --trusted-proxy", header);
        return NULL;
    }
    if (http_header_count(r, header) != 1) {
        (void)err_set(err, ERR_UNAUTHORIZED, "the header %s was sent more than once", header);
        return NULL;
    }
    p = directory_by_email(people, email);
    if (p != NULL && p->is_active)
        return p;
    (void)err_set(err, ERR_UNAUTHORIZED, "there is no active user with the e-mail %.*s",
                  (int)(email.len > 100 ? 100 : email.len), email.ptr);
    return NULL;
}

bool auth_identify(struct directory *people, const struct auth_options *options,
                   const struct http_request *r, struct node_user *out, enum role *role,
                   struct pass *pass, struct err *err)
{
    struct str authorization = http_header(r, "Authorization"), token;
    struct str cookie = http_cookie(r, AUTH_COOKIE);
    const struct person *p;

    if (token_borne(authorization, &token)) {
        p = auth_by_token(people, token, pass, err);
    } else if (options->header.len > 0 && authorization.len == 0 &&
               http_header(r, options->header.ptr).ptr != NULL) {
        *pass = (struct pass){.kind = PASS_PROXY};
        p = by_proxy(people, options, options->header.ptr, r, err);
    } else if (cookie.len > 0 && authorization.len == 0) {
        p = by_session(people, cookie, pass, err);
    } else {
        return err_set(err, ERR_UNAUTHORIZED,
                       "send the header Authorization: Bearer with a token; the first one is in "
                       "admin.token of the data folder");
    }
    if (p == NULL)
        return false;
    auth_copy_person(r->mem, p, out);
    *role = p->role;
    pass->user_id = out->id;
    pass->token_id = str_copy(r->mem, pass->token_id);
    pass->session = str_copy(r->mem, pass->session);
    pass->revision = p->revision;
    return true;
}
