/* link.c - see link.h. */
#include "engine/commit/link.h"

#include "base/buf.h"
#include "base/text/base64.h"
#include "engine/flow/strand.h"

enum { UUID_BYTES = sizeof(struct uuid) };
enum { LINK_BYTES = UUID_BYTES + 8 + LINK_MAC_LEN, LINK_TEXT_LEN = LINK_TOKEN_LEN - 7 };

/* --- scopes --- */

static bool is_scope(const struct program *p, const struct frame *frame)
{
    return frame_runs_at_once(&p->steps[frame->step]);
}

static void scope_add(struct buf *out, const struct program *p, const struct frame *frame)
{
    const struct step *step = &p->steps[frame->step];
    int64_t number = step->kind == STEP_LOOP ? frame->index : frame->block - step->first_block;

    buf_printf(out, "/%.*s:%lld:%lld", STR_ARG(step->code), (long long)frame->visit,
               (long long)number);
}

/* Of the innermost branch or iteration; empty outside of any. */
static struct str scope_of(struct arena *mem, const struct execution *x)
{
    struct buf out;

    buf_init_arena(&out, mem);
    for (uint32_t i = 0; i < x->frame_count; i++)
        if (is_scope(x->program, &x->frames[i]))
            scope_add(&out, x->program, &x->frames[i]);
    return buf_view(&out);
}

struct value link_scopes(struct arena *mem, const struct program *p, const struct frame *frames,
                         uint32_t count)
{
    struct value *scopes = ARENA_ARRAY(mem, count + 1u, struct value);
    size_t found = 1;
    struct buf out;

    buf_init_arena(&out, mem);
    scopes[0] = value_string(STR(""));
    for (uint32_t i = 0; i < count; i++)
        if (is_scope(p, &frames[i])) {
            scope_add(&out, p, &frames[i]);
            scopes[found++] = value_string(str_copy(mem, buf_view(&out)));
        }
    return value_list(scopes, found);
}

/* --- tokens --- */

static void token_write_number(char *out, uint64_t n)
{
    for (int i = 7; i >= 0; i--, n >>= 8)
        out[i] = (char)(n & 0xFF);
}

static void link_sign(const struct link_maker *maker, struct uuid execution, int64_t seq,
                      struct str scope, uint8_t mac[LINK_MAC_LEN])
{
    char head[UUID_BYTES + 8], text[512];
    size_t len = scope.len < sizeof(text) - sizeof(head) ? scope.len : sizeof(text) - sizeof(head);

    memcpy(head, execution.bytes, UUID_BYTES);
    token_write_number(head + UUID_BYTES, (uint64_t)seq);
    memcpy(text, head, sizeof(head));
    if (len > 0)
        memcpy(text + sizeof(head), scope.ptr + scope.len - len, len);
    maker->sign(maker->key, str_from(text, sizeof(head) + len), mac);
}

struct str link_url(struct arena *mem, const struct link_maker *maker, const struct execution *x)
{
    char bytes[LINK_BYTES], text[LINK_TEXT_LEN + 4];
    uint8_t mac[LINK_MAC_LEN];

    link_sign(maker, x->id, x->seq, scope_of(mem, x), mac);
    memcpy(bytes, x->id.bytes, UUID_BYTES);
    token_write_number(bytes + UUID_BYTES, (uint64_t)x->seq);
    memcpy(bytes + UUID_BYTES + 8, mac, LINK_MAC_LEN);
    (void)base64_encode(str_from(bytes, sizeof(bytes)), text);
    for (size_t i = 0; i < LINK_TEXT_LEN; i++)
        text[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    return str_printf(mem, "%.*s" LINK_MARK "%.*s", STR_ARG(maker->base), (int)LINK_TEXT_LEN, text);
}

bool link_read(struct str token, struct link *out)
{
    char text[LINK_TEXT_LEN], bytes[LINK_TEXT_LEN];
    uint64_t seq = 0;
    size_t len;

    if (token.len != LINK_TOKEN_LEN || !str_starts_with(token, STR(LINK_MARK)))
        return false;
    for (size_t i = 0; i < LINK_TEXT_LEN; i++) {
        char c = token.ptr[i + sizeof(LINK_MARK) - 1];

        if (c == '+' || c == '/')
            return false;
        text[i] = (char)(c == '-' ? '+' : c == '_' ? '/' : c);
    }
    if (!base64_decode(str_from(text, sizeof(text)), bytes, &len) || len != LINK_BYTES)
        return false;
    memcpy(out->execution.bytes, bytes, UUID_BYTES);
    for (size_t i = 0; i < 8; i++)
        seq = seq << 8 | (uint8_t)bytes[UUID_BYTES + i];
    out->seq = (int64_t)seq;
    memcpy(out->mac, bytes + UUID_BYTES + 8, LINK_MAC_LEN);
    return true;
}

bool link_is_genuine(const struct link_maker *maker, const struct link *link, struct str scope)
{
    uint8_t mac[LINK_MAC_LEN];
    unsigned differs = 0;

    link_sign(maker, link->execution, link->seq, scope, mac);
    for (size_t i = 0; i < LINK_MAC_LEN; i++)
        differs |= (unsigned)(mac[i] ^ link->mac[i]);
    return differs == 0;
}

/* --- which are spent --- */

int64_t link_floor(const struct execution *x, const struct frame *frames, uint32_t count)
{
    int64_t floor = x->links_from;

    for (uint32_t i = 0; i < count; i++)
        if (frames[i].links_from > floor)
            floor = frames[i].links_from;
    return floor;
}

/* The frames of the strand in hand, to be changed. */
static struct frame *own_frames(struct arena *mem, struct execution *x)
{
    struct frame *frames = ARENA_ARRAY(mem, x->frame_count, struct frame);

    memcpy(frames, x->frames, x->frame_count * sizeof(*frames));
    x->frames = frames;
    return frames;
}

/* Links made before `seq` are spent for the innermost branch or iteration, or for all. */
static void raise_floor(struct arena *mem, struct execution *x, int64_t seq)
{
    for (uint32_t i = x->frame_count; i-- > 0;)
        if (is_scope(x->program, &x->frames[i])) {
            if (seq > x->frames[i].links_from)
                own_frames(mem, x)[i].links_from = seq;
            return;
        }
    if (seq > x->links_from)
        x->links_from = seq;
}

void link_spend(struct arena *mem, struct execution *x)
{
    raise_floor(mem, x, x->seq + 1);
    x->links_spent = x->seq + 1;
}

void link_leave(struct arena *mem, struct execution *x, const struct frame *popped)
{
    /* Some other branch may have spent links that were made before all of them. */
    if (x->links_spent > 0)
        raise_floor(mem, x, popped->links_from > 0 ? popped->links_from : 0);
    for (uint32_t i = 0; i < x->frame_count; i++)
        if (is_scope(x->program, &x->frames[i]))
            return;
    if (x->links_spent > x->links_from)
        x->links_from = x->links_spent;
}
