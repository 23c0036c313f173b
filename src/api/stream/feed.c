/* feed.c - see feed.h. */
#include "api/stream/feed.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/time/clock.h"

enum {
    PENDING_MAX_BYTES = 1 << 20, /* of hints between two rounds; beyond: everybody is reset */
    ROUND_BYTES = 2 << 20,       /* what one round may hand out, shared among the listeners */
    SHARE_MIN_BYTES = 2 << 10,
    ROUND_LOOKS = 1 << 20, /* hints that listeners may look at in one round, all together */
    LOOKS_MIN = 256,
};

#define ROUND_US INT64_C(100000)
#define BEAT_GRAIN_US INT64_C(1000000) /* how late a heartbeat may be */
#define QUIET_US INT64_C(1000000) /* between resets, so that refetching does not become a storm */

struct listener {
    struct sse sse; /* first: see listener_of() */
    struct feed *feed;
    struct str code; /* empty: any */
    bool has_status; /* or any */
    int status;
    struct str org_id; /* empty: all of them */
    int64_t quiet_until_us;
    int64_t heartbeat_us;
    bool has_missed;
    void (*gone)(void *context);
    void *gone_context;
    struct listener *newer, *older;
    char text[]; /* of code and org_id */
};

/* Where a hint stands in the text of a round. */
struct hint {
    size_t start, end;
    size_t code_start, code_len; /* the code, in `names` */
    size_t org_len;              /* the org follows it */
    int status;
    struct value access;                /* of the definition, which outlives the round */
    uint32_t next_of_code, next_of_org; /* one more than the next of its kind; 0 = none */
};

struct hints {
    VEC_OF(struct hint);
};

struct feed {
    const struct clock *clock;
    struct listener *newest;
    size_t count;
    int64_t number; /* of the last hint */
    struct arena mem;
    struct buf text, names;
    struct hints hints;
    struct map first_of_code; /* one more than the first hint, by code and organisation */
    struct map first_of_org;  /* the same, by organisation */
    bool is_mixed; /* hints are of several organisations, or not for everyone in theirs */
    bool has_overflown;
    bool someone_waits;   /* for a reset */
    int64_t round_us;     /* when the last round was */
    int64_t heartbeat_us; /* when it was looked who needs a heartbeat */
};

/* The stream is the first member. */
static struct listener *listener_of(struct sse *s)
{
    return (struct listener *)s;
}

struct feed *feed_new(const struct clock *clock)
{
    struct feed *f = ALLOC_NEW(struct feed);

    f->clock = clock;
    arena_init(&f->mem);
    buf_init(&f->text);
    buf_init(&f->names);
    return f;
}

void feed_free(struct feed *f)
{
    buf_fini(&f->text);
    buf_fini(&f->names);
    arena_fini(&f->mem);
    free(f);
}

/* --- listeners --- */

static void listener_drained(struct sse *s)
{
    (void)s; /* the next round brings more */
}

static void listener_gone(struct sse *s)
{
    struct listener *l = listener_of(s);
    struct feed *f = l->feed;

    *(l->newer != NULL ? &l->newer->older : &f->newest) = l->older;
    if (l->older != NULL)
        l->older->newer = l->newer;
    f->count--;
    sse_fini(s);
    l->gone(l->gone_context);
    free(l);
}

static void reset(struct listener *l, int64_t now_us)
{
    struct buf text;

    buf_init(&text);
    sse_event(&text, "reset", l->feed->number, STR("{}"));
    sse_add(&l->sse, buf_view(&text));
    buf_fini(&text);
    l->has_missed = false;
    l->quiet_until_us = now_us + QUIET_US;
}

static struct listener *listener_new(struct feed *f, struct str code, struct str org_id)
{
    struct listener *l = alloc_zeroed(sizeof(*l) + code.len + org_id.len + 1);

    sse_init(&l->sse, f->clock, listener_drained, listener_gone);
    l->feed = f;
    if (code.len > 0)
        memcpy(l->text, code.ptr, code.len);
    if (org_id.len > 0)
        memcpy(l->text + code.len, org_id.ptr, org_id.len);
    l->code = str_from(l->text, code.len);
    l->org_id = str_from(l->text + code.len, org_id.len);
    l->heartbeat_us = clock_mono_us(f->clock);
    l->older = f->newest;
    if (l->older != NULL)
        l->older->newer = l;
    f->newest = l;
    f->count++;
    return l;
}

void feed_listen(struct feed *f, struct call *c, const struct feed_filter *filter,
                 void (*gone)(void *context), void *context)
{
    struct listener *l;
    int64_t last_id;

    if (!sse_last_id(c, &last_id)) {
        gone(context);
        return;
    }
    l = listener_new(f, filter->code, c->user.org_id);
    l->gone = gone;
    l->gone_context = context;
    l->has_status = filter->has_status;
    l->status = filter->status;
    sse_begin(&l->sse, c);
    if (last_id >= 0)
        reset(l, l->heartbeat_us);
}

size_t feed_count_of(const struct feed *f, struct str user_id)
{
    size_t count = 0;

    for (const struct listener *l = f->newest; l != NULL; l = l->older)
        count += l->sse.call != NULL && str_eq(l->sse.call->user.id, user_id);
    return count;
}

/* --- hints --- */

/* The organisation of a hint; of one that is being added it is not there yet. */
static struct str org_of(const struct feed *f, const struct hint *hint, struct str otherwise)
{
    size_t start = hint->code_start + hint->code_len;

    return start + hint->org_len > f->names.len ? otherwise
                                                : str_from(f->names.ptr + start, hint->org_len);
}

bool feed_is_heard(const struct feed *f)
{
    return f->count > 0 && !f->has_overflown;
}

void feed_hear(struct feed *f, const struct feed_news *news)
{
    struct hint *hint;

    if (!feed_is_heard(f))
        return;
    if (f->text.len > PENDING_MAX_BYTES) {
        f->has_overflown = true;
        return;
    }
    hint = VEC_ADD(&f->mem, &f->hints);
    *hint = (struct hint){.start = f->text.len,
                          .code_start = f->names.len,
                          .code_len = news->code.len,
                          .org_len = news->org_id.len,
                          .status = news->status,
                          .access = news->access};
    f->is_mixed |= news->access.kind == VALUE_MAP ||
                   !str_eq(news->org_id, org_of(f, &f->hints.items[0], news->org_id));
    buf_str(&f->names, news->code);
    buf_str(&f->names, news->org_id);
    buf_printf(&f->text, "id: %lld\nevent: %s\ndata: {\"type\":\"%s\",", (long long)++f->number,
               news->type, news->type);
    buf_str(&f->text, news->members);
    buf_text(&f->text, "}\n\n");
    hint->end = f->text.len;
}

static bool wants(const struct listener *l, const struct hint *hint)
{
    const struct feed *f = l->feed;
    const char *names = f->names.ptr + hint->code_start;

    if (l->has_status && hint->status != l->status)
        return false;
    if (l->code.len > 0 && !str_eq(l->code, str_from(names, hint->code_len)))
        return false;
    if (l->org_id.len > 0 && !str_eq(l->org_id, str_from(names + hint->code_len, hint->org_len)))
        return false;
    return l->sse.call == NULL ||
           access_allows(hint->access, "view", l->sse.call->user.role, l->sse.call->user.groups);
}

/* Whether a listener may get less than the whole text of this round. */
static bool has_filter(const struct listener *l)
{
    const struct feed *f = l->feed;

    return l->has_status || l->code.len > 0 || f->is_mixed ||
           (l->org_id.len > 0 && f->hints.count > 0 &&
            !str_eq(l->org_id, org_of(f, &f->hints.items[0], STR_NONE)));
}

/*
 * Chain the hints of each organisation, and of each code in it, so that a
 * listener looks at those that it may want. A code and its organisation stand
 * next to each other in `names`, as they do in the text of a listener.
 */
static void link_hints(struct feed *f)
{
    map_init(&f->first_of_code, &f->mem);
    map_init(&f->first_of_org, &f->mem);
    for (size_t i = f->hints.count; i-- > 0;) {
        struct hint *hint = &f->hints.items[i];
        const char *names = f->names.ptr + hint->code_start;
        struct map_entry *code =
            map_add(&f->first_of_code, str_from(names, hint->code_len + hint->org_len), NULL);
        struct map_entry *org =
            map_add(&f->first_of_org, str_from(names + hint->code_len, hint->org_len), NULL);

        hint->next_of_code = (uint32_t)code->number;
        code->number = i + 1;
        hint->next_of_org = (uint32_t)org->number;
        org->number = i + 1;
    }
}

static uint32_t first_hint(const struct listener *l)
{
    const struct feed *f = l->feed;
    const struct map_entry *e =
        l->code.len > 0
            ? map_find(&f->first_of_code, str_from(l->text, l->code.len + l->org_id.len))
            : map_find(&f->first_of_org, l->org_id);

    return e == NULL ? 0 : (uint32_t)e->number;
}

static uint32_t next_hint(const struct listener *l, const struct hint *hint)
{
    return l->code.len > 0 ? hint->next_of_code : hint->next_of_org;
}

/* How much of a round one listener has: bytes that are sent, hints that are looked at. */
struct share {
    size_t bytes;
    size_t looks;
};

/* How many bytes of this round are for it; more than its share when it is not worth counting. */
static size_t count_bytes(const struct listener *l, const struct share *share)
{
    const struct feed *f = l->feed;
    size_t bytes = 0, looks = 0;

    if (!has_filter(l))
        return f->text.len;
    for (uint32_t i = first_hint(l); i != 0 && bytes <= share->bytes;) {
        const struct hint *hint = &f->hints.items[i - 1];

        if (++looks > share->looks)
            return share->bytes + 1;
        if (wants(l, hint))
            bytes += hint->end - hint->start;
        i = next_hint(l, hint);
    }
    return bytes;
}

static void hand_out(struct listener *l, const struct share *share, int64_t now_us)
{
    const struct feed *f = l->feed;
    size_t bytes = count_bytes(l, share);

    if (bytes > 0 && (bytes > share->bytes || !sse_fits(&l->sse, bytes)))
        l->has_missed = true;
    if (f->has_overflown)
        l->has_missed = true;
    if (l->has_missed) {
        if (sse_is_slow(&l->sse))
            sse_abort(&l->sse);
        else if (now_us >= l->quiet_until_us && sse_unsent(&l->sse) == 0)
            reset(l, now_us);
        return;
    }
    if (!has_filter(l)) {
        sse_add(&l->sse, buf_view(&f->text));
        return;
    }
    for (uint32_t i = bytes > 0 ? first_hint(l) : 0; i != 0;) {
        const struct hint *hint = &f->hints.items[i - 1];

        if (wants(l, hint))
            sse_add(&l->sse, str_slice(buf_view(&f->text), hint->start, hint->end));
        i = next_hint(l, hint);
    }
}

/* Every listener gets what is for it. */
static void run_round(struct feed *f, int64_t now_us)
{
    size_t bytes = ROUND_BYTES / f->count, looks = ROUND_LOOKS / f->count;
    const struct share share = {.bytes = bytes < SHARE_MIN_BYTES  ? SHARE_MIN_BYTES
                                         : bytes > SSE_ROOM_BYTES ? SSE_ROOM_BYTES
                                                                  : bytes,
                                .looks = looks < LOOKS_MIN ? LOOKS_MIN : looks};

    f->someone_waits = false;
    link_hints(f);
    for (struct listener *l = f->newest; l != NULL; l = l->older) {
        hand_out(l, &share, now_us);
        f->someone_waits |= l->has_missed;
    }
    buf_clear(&f->text);
    buf_clear(&f->names);
    f->hints = (struct hints){0};
    arena_reset(&f->mem);
    f->has_overflown = f->is_mixed = false;
    f->round_us = now_us;
}

static void feed_lower_timeout(int *timeout_ms, int64_t us)
{
    int ms = us <= 0 ? 0 : (int)((us + 999) / 1000);

    if (*timeout_ms < 0 || ms < *timeout_ms)
        *timeout_ms = ms;
}

static void feed_heartbeat(struct feed *f, int64_t now_us)
{
    for (struct listener *l = f->newest; l != NULL; l = l->older)
        if (now_us - l->heartbeat_us >= SSE_HEARTBEAT_US) {
            sse_heartbeat(&l->sse);
            l->heartbeat_us = now_us;
        }
    f->heartbeat_us = now_us;
}

static bool is_round_due(const struct feed *f)
{
    return f->hints.count > 0 || f->has_overflown || f->someone_waits;
}

void feed_run(struct feed *f, int64_t now_us, int *timeout_ms)
{
    if (f->count == 0)
        return;
    if (is_round_due(f) && now_us >= f->round_us + ROUND_US)
        run_round(f, now_us);
    if (now_us >= f->heartbeat_us + BEAT_GRAIN_US)
        feed_heartbeat(f, now_us);
    if (is_round_due(f))
        feed_lower_timeout(timeout_ms, f->round_us + ROUND_US - now_us);
    feed_lower_timeout(timeout_ms, f->heartbeat_us + BEAT_GRAIN_US - now_us);
}

void feed_recheck(struct feed *f)
{
    for (struct listener *l = f->newest, *older; l != NULL; l = older) {
        older = l->older;
        sse_recheck(&l->sse);
    }
}

void feed_end(struct feed *f)
{
    for (struct listener *l = f->newest; l != NULL; l = l->older)
        sse_end(&l->sse);
}
