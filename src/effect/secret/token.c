/* token.c - see token.h. */
#include "effect/secret/token.h"

#include "base/alloc.h"
#include "base/url.h"
#include "effect/secret/secret_mask.h"
#include "value/json.h"
#include "value/object.h"

/* Used no more when it has so long left; and, without a word of the service, so long at all. */
#define TOKEN_EARLY_US INT64_C(30000000)
#define TOKEN_LIFE_US (INT64_C(3600) * 1000000)

enum { TOKEN_LEN_MAX = 16384 };

struct token {
    struct arena mem; /* of the text */
    struct str text;  /* or empty */
    int64_t version;  /* of the credential that it is of */
    int64_t until_us; /* monotonic */
    bool is_asked;
    struct transfer *waiting;
};

void tokens_init(struct tokens *all)
{
    arena_init(&all->mem);
    map_init(&all->all, &all->mem);
}

void tokens_fini(struct tokens *all)
{
    for (struct map_entry *e = map_next(&all->all, NULL); e != NULL; e = map_next(&all->all, e)) {
        struct token *token = e->ptr;

        arena_fini(&token->mem);
        free(token);
    }
    arena_fini(&all->mem);
}

static struct token *token_of(struct tokens *all, const struct credential *c)
{
    struct token *token = map_get(&all->all, c->code);

    if (token == NULL) {
        token = alloc_zeroed(sizeof(*token));
        arena_init(&token->mem);
        map_put(&all->all, str_copy(&all->mem, c->code), token);
    }
    return token;
}

struct str token_find(struct tokens *all, const struct credential *c, int64_t now_us)
{
    const struct token *token = map_get(&all->all, c->code);

    if (token == NULL || token->version != c->version || token->until_us <= now_us)
        return STR_NONE;
    return token->text;
}

void token_refused(struct tokens *all, const struct credential *c, struct str text)
{
    struct token *token = map_get(&all->all, c->code);

    if (token != NULL && str_eq(token->text, text))
        token->text = STR_NONE;
}

/* --- asking --- */

static void add_form_text(struct buf *out, struct str text)
{
    secret_add_percent(out, text, "-._*", true, true);
}

/* RFC 6749, 2.3.1: both parts are encoded as in a form before they are joined. */
static struct str client_header(struct arena *mem, const struct credential *c)
{
    struct buf both;

    buf_init_arena(&both, mem);
    add_form_text(&both, c->client_id);
    buf_char(&both, ':');
    add_form_text(&both, c->secret);
    return secret_basic_header(mem, buf_view(&both));
}

static struct effect_call *token_call(const struct credential *c)
{
    struct effect_call *call = effect_call_new();
    struct buf body, out;

    call->token_of = c;
    call->timeout_us = TOKEN_TIMEOUT_US;
    if (url_host(&call->mem, c->token_url, &call->host) != NULL)
        call->host = STR("http://invalid:80");
    buf_init_arena(&body, &call->mem);
    buf_text(&body, "grant_type=client_credentials");
    if (c->scope.len > 0) {
        buf_text(&body, "&scope=");
        add_form_text(&body, c->scope);
    }
    buf_init_arena(&out, &call->mem);
    buf_text(&out, "{\"method\":\"POST\"");
    object_text(&out, "url", c->token_url);
    buf_text(&out, ",\"headers\":{\"Content-Type\":\"application/x-www-form-urlencoded\","
                   "\"Accept\":\"application/json\"");
    object_text(&out, "Authorization", client_header(&call->mem, c));
    buf_char(&out, '}');
    object_text(&out, "body", buf_view(&body));
    buf_char(&out, '}');
    call->request_json = buf_view(&out);
    return call;
}

struct effect_call *token_wait(struct tokens *all, struct transfer *t)
{
    const struct credential *c = t->secrets->oauth;
    struct token *token = token_of(all, c);

    t->waiting = token->waiting;
    token->waiting = t;
    if (token->is_asked)
        return NULL;
    token->is_asked = true;
    return token_call(credential_share(c));
}

/* --- the answer --- */

static int64_t life_us(struct value body)
{
    struct value v = value_map_get_str(body, STR("expires_in"));
    int64_t seconds = 0, life;

    if (v.kind == VALUE_INT)
        seconds = v.i;
    else if (v.kind == VALUE_STRING && !str_to_int64(value_text(v), &seconds))
        seconds = 0;
    if (seconds <= 0 || seconds > 365 * 86400)
        return TOKEN_LIFE_US;
    life = seconds * 1000000;
    return life > 2 * TOKEN_EARLY_US ? life - TOKEN_EARLY_US : life / 2;
}

static bool is_sendable(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 0x7f)
            return false;
    return text.len > 0 && text.len <= TOKEN_LEN_MAX;
}

static void keep_token(struct token *token, const struct effect_call *call, struct value body,
                       int64_t now_us)
{
    arena_reset(&token->mem);
    token->text = str_copy(&token->mem, value_map_text(body, STR("access_token")));
    token->version = call->token_of->version;
    token->until_us = now_us + life_us(body);
}

/* Why there is no token, for those who wait: never what the service has said in full. */
static void refuse_waiting(struct transfer *t, const struct effect_call *call, struct value body)
{
    bool is_final = call->status >= 400 && call->status < 500 && call->status != 429;
    struct str said = value_map_text(body, STR("error"));
    struct str message = STR("no token was given out: the token_url did not answer");
    struct arena *mem = &t->call->mem;

    if (call->status != 0)
        message =
            str_printf(mem, "no token was given out: status %ld%s%.*s", call->status,
                       said.len > 0 ? ", " : "", (int)(said.len < 100 ? said.len : 100), said.ptr);
    call_fail(t->call, "external_token", is_final ? ERR_CLASS_BUSINESS : ERR_CLASS_TRANSIENT,
              message);
    t->call->error_json = secret_mask_json(mem, &t->secrets->mask, t->call->error_json);
}

struct transfer *token_answered(struct tokens *all, const struct effect_call *call, int64_t now_us)
{
    struct token *token = token_of(all, call->token_of);
    struct transfer *first = token->waiting;
    struct value answer, body = value_absent();
    struct arena mem;
    struct err err;

    arena_init(&mem);
    if (call->answer_json.len > 0 && json_read(&mem, call->answer_json, &answer, &err))
        body = value_map_get_str(answer, STR("body"));
    token->is_asked = false;
    token->waiting = NULL;
    token->text = STR_NONE;
    if (call->status == 200 && is_sendable(value_map_text(body, STR("access_token"))))
        keep_token(token, call, body, now_us);
    else
        for (struct transfer *t = first; t != NULL; t = t->waiting)
            refuse_waiting(t, call, body);
    arena_fini(&mem);
    return first;
}
