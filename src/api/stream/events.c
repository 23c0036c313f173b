/*
 * events.c - streams that follow one execution; see events.h.
 *
 * A follower is sent every row of history once, in order of seq. What the store
 * has is read a page at a time, the next one when the client has taken the one
 * before. Then rows come with the commits that this node makes. Where a commit
 * does not begin right behind the last row that was sent, or does not fit what
 * may wait for the client, the follower falls behind and reads again: so
 * nothing is skipped, and a row that was read and then heard of is not sent
 * twice.
 *
 *     opening --read--> behind <--> live --terminal status sent--> ending
 */
#include "api/stream/events.h"

#include "api/api.h"
#include "api/filter.h"
#include "api/stream/feed.h"
#include "api/stream/page.h"
#include "api/stream/task_watch.h"
#include "api/view.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "value/object.h"

enum {
    STREAMS_MAX = 4000,         /* of both kinds together */
    STREAMS_MAX_OF_USER = 1000, /* so that one user cannot take them all */
    BUCKETS = 1024,
    PAGE_ROWS = 64,
    LOOKS_MAX = 8, /* reads that only look whether another node did something, at once */
};

#define LOOK_US INT64_C(1000000)

enum follower_state {
    FOLLOWER_OPENING, /* is it there? the call is not answered yet */
    FOLLOWER_BEHIND,  /* there is more to be read, or there may be */
    FOLLOWER_LIVE,    /* everything up to last_seq was sent; commits are passed on */
};

struct follower {
    struct sse sse; /* first: see follower_of() */
    struct events *events;
    struct call *call; /* OPENING */
    struct uuid id;
    enum follower_state state;
    bool is_reading, is_looking;
    int64_t last_seq;  /* sent, or hidden */
    int64_t heard_seq; /* of the newest commit */
    uint64_t shown;    /* hash of the status that was sent last */
    bool has_shown;
    int64_t page_rows;
    struct node_read read;
    struct page page;
    int64_t look_us, heartbeat_us;  /* when it was looked at, and sent a heartbeat */
    struct follower *newer, *older; /* by look_us */
    struct follower *next;          /* in its bucket */
};

struct events {
    struct node *node;
    const struct clock *clock;
    struct feed *feed;  /* of executions */
    struct feed *tasks; /* ... and of tasks */
    struct task_watch *watch;
    size_t count; /* streams of both kinds */
    size_t looks;
    struct follower *buckets[BUCKETS];
    struct follower *newest, *oldest;
    struct arena mem; /* of one commit that is passed on */
    struct buf text;  /* of one event */
    bool is_draining, have_readers_ended;
};

/* The stream is the first member. */
static struct follower *follower_of(struct sse *s)
{
    return (struct follower *)s;
}

static struct follower **bucket_of(struct events *e, struct uuid id)
{
    return &e->buckets[hash_bytes(id.bytes, sizeof(id.bytes)) % BUCKETS];
}

/* --- how many there are --- */

static void on_notice(void *context, const struct node_notice *news);

/* The streams of a user, those included that are being opened. */
static size_t count_of(const struct events *e, struct str user_id)
{
    size_t count = feed_count_of(e->feed, user_id) + feed_count_of(e->tasks, user_id);

    for (const struct follower *f = e->newest; f != NULL; f = f->older) {
        const struct call *c = f->state == FOLLOWER_OPENING ? f->call : f->sse.call;
        count += c != NULL && str_eq(c->user.id, user_id);
    }
    return count;
}

static bool count_up(struct events *e, struct call *c)
{
    if (e->is_draining)
        return call_refuse_text(c, ERR_OVERLOADED, "the server is stopping");
    if (e->count >= STREAMS_MAX)
        return call_refuse_text(c, ERR_OVERLOADED,
                                "%d streams are open, which is the most there may be", STREAMS_MAX);
    if (e->count >= STREAMS_MAX_OF_USER && count_of(e, c->user.id) >= STREAMS_MAX_OF_USER)
        return call_refuse_text(c, ERR_TOO_MANY,
                                "you have %d streams open, which is the most that a user may have",
                                STREAMS_MAX_OF_USER);
    if (e->count++ == 0)
        node_listen(e->node, on_notice, e);
    return true;
}

static void count_down(void *context)
{
    struct events *e = context;

    ASSERT(e->count > 0);
    if (--e->count == 0 && !e->have_readers_ended)
        node_listen(e->node, NULL, NULL);
}

/* --- making and freeing --- */

static void unlink_look(struct events *e, struct follower *f)
{
    *(f->older != NULL ? &f->older->newer : &e->oldest) = f->newer;
    *(f->newer != NULL ? &f->newer->older : &e->newest) = f->older;
}

static void link_look(struct events *e, struct follower *f, int64_t now_us)
{
    f->look_us = now_us;
    f->older = e->newest;
    f->newer = NULL;
    *(f->older != NULL ? &f->older->newer : &e->oldest) = f;
    e->newest = f;
}

static void follower_free(struct follower *f)
{
    struct events *e = f->events;
    struct follower **link = bucket_of(e, f->id);

    while (*link != f)
        link = &(*link)->next;
    *link = f->next;
    unlink_look(e, f);
    e->looks -= f->is_looking;
    sse_fini(&f->sse);
    arena_fini(&f->page.mem);
    free(f);
    count_down(e);
}

static void follower_gone(struct sse *s)
{
    struct follower *f = follower_of(s);

    /* A reader's thread may be at work in it: then its answer frees it. */
    if (!f->is_reading || f->events->have_readers_ended)
        follower_free(f);
}

static void catch_up(struct follower *f);

static void follower_drained(struct sse *s)
{
    struct follower *f = follower_of(s);

    if (f->state == FOLLOWER_BEHIND)
        catch_up(f);
}

static struct follower *follower_new(struct events *e, struct uuid id)
{
    struct follower *f = ALLOC_NEW(struct follower), **bucket = bucket_of(e, id);

    sse_init(&f->sse, e->clock, follower_drained, follower_gone);
    arena_init(&f->page.mem);
    f->events = e;
    f->id = id;
    f->page_rows = PAGE_ROWS;
    f->next = *bucket;
    *bucket = f;
    f->heartbeat_us = clock_mono_us(e->clock);
    link_look(e, f, f->heartbeat_us);
    return f;
}

/* --- reading what the store has --- */

/* Say how the execution stands, unless that was said already; after the last status, end. */
static void show_status(struct follower *f, const struct page_status *s)
{
    struct events *e = f->events;
    uint64_t shown = page_status_hash(s);

    if (f->has_shown && f->shown == shown)
        return;
    f->has_shown = true;
    f->shown = shown;
    buf_clear(&e->text);
    page_status(&e->text, &e->mem, s);
    sse_add(&f->sse, buf_view(&e->text));
    if (status_is_terminal(s->status))
        sse_end(&f->sse);
}

static void follower_run_page(struct node_read *read, struct reader *reader)
{
    struct follower *f = read->owner;
    struct page *p = &f->page;

    p->ok = f->state != FOLLOWER_OPENING || view_check_id(f->call, &p->mem, reader, f->id, &p->err);
    if (p->ok)
        page_read(p, reader, f->id);
}

static void read_again(struct follower *f)
{
    f->state = FOLLOWER_BEHIND;
    if (sse_unsent(&f->sse) == 0)
        catch_up(f);
}

static void take_page(struct follower *f)
{
    struct page *p = &f->page;
    const struct progress *now = &p->progress;

    /* Commits came during the read, and their rows have been sent. */
    if (p->after != f->last_seq) {
        if (f->state == FOLLOWER_BEHIND || p->last_seq > f->last_seq)
            read_again(f);
        return;
    }
    sse_add(&f->sse, buf_view(&p->text));
    f->last_seq = p->last_seq;
    /* Rows so large that few fit are not read in vain the next time. */
    f->page_rows = (int64_t)p->rows < p->limit && !p->is_all ? (int64_t)p->rows + 1 : PAGE_ROWS;
    if (!p->is_all || f->heard_seq > f->last_seq) {
        read_again(f);
        return;
    }
    f->state = FOLLOWER_LIVE;
    show_status(f, &(struct page_status){.status = now->status,
                                         .current_step = now->current_step,
                                         .waiting_for_json =
                                             mask_json(&p->mem, &p->mask, now->waiting_for_json),
                                         .row_version = now->row_version,
                                         .seq = now->seq,
                                         .at_us = now->updated_at_us});
    arena_reset(&f->events->mem);
    arena_fini(&p->mem); /* silent clients are many */
}

/* The first answer: the stream begins, or the call is refused. */
static void open_stream(struct follower *f)
{
    struct page *p = &f->page;
    struct call *c = f->call;

    if (p->ok && p->found && !f->events->is_draining) {
        f->state = FOLLOWER_BEHIND;
        sse_begin(&f->sse, c);
        take_page(f);
        return;
    }
    if (!p->ok)
        call_refuse(c, &p->err);
    else if (f->events->is_draining)
        call_refuse_text(c, ERR_OVERLOADED, "the server is stopping");
    else
        call_refuse_text(c, ERR_NOT_FOUND, "there is no execution with this id");
    follower_free(f);
}

static void done_page(struct node_read *read)
{
    struct follower *f = read->owner;

    f->is_reading = false;
    f->events->looks -= f->is_looking;
    f->is_looking = false;
    if (f->state == FOLLOWER_OPENING)
        open_stream(f);
    else if (f->sse.http == NULL)
        follower_free(f);
    else if (!f->page.ok)
        f->state = FOLLOWER_BEHIND; /* the next look tries again */
    else if (!f->page.found)
        sse_end(&f->sse); /* it was deleted */
    else
        take_page(f);
}

static bool read_page(struct follower *f, struct err *err)
{
    struct page *p = &f->page;

    ASSERT(!f->is_reading);
    f->read = (struct node_read){
        .lane = LANE_CLIENT, .run = follower_run_page, .done = done_page, .owner = f};
    p->after = f->last_seq;
    p->limit = f->page_rows;
    f->is_reading = node_read(f->events->node, &f->read, err);
    return f->is_reading;
}

/* Read on, if that is possible now; else the next look does. */
static void catch_up(struct follower *f)
{
    struct err err;

    if (!f->is_reading && !f->sse.is_ending)
        (void)read_page(f, &err);
}

void executions_events(struct call *c)
{
    struct events *e = api_parts(c->api)->events;
    struct follower *f;
    struct uuid id;
    struct err err;
    int64_t after;

    if (!call_execution_id(c, &id) || !sse_last_id(c, &after) || !count_up(e, c))
        return;
    f = follower_new(e, id);
    f->call = c;
    f->last_seq = after < 0 ? 0 : after;
    if (read_page(f, &err))
        return;
    call_refuse(c, &err);
    follower_free(f);
}

void events_listen(struct call *c)
{
    struct events *e = api_parts(c->api)->events;
    struct feed_filter filter = {.code = http_query(c->http, "code")};
    struct str status = http_query(c->http, "status");
    enum execution_status wanted = STATUS_PENDING;

    if (status.len > 0 && !status_read(status, &wanted)) {
        struct str names = filter_status_names(c->mem);

        call_refuse_text(c, ERR_BAD_REQUEST, "status is one of %.*s", STR_ARG(names));
        return;
    }
    filter.has_status = status.len > 0;
    filter.status = (int)wanted;
    if (count_up(e, c))
        feed_listen(e->feed, c, &filter, count_down, e);
}

void tasks_listen(struct call *c)
{
    struct events *e = api_parts(c->api)->events;
    const struct feed_filter filter = {.code = http_query(c->http, "project_id")};

    if (count_up(e, c))
        feed_listen(e->tasks, c, &filter, count_down, e);
}

/* --- notices of the node --- */

/* A commit that cannot be passed on now. */
static void fall_behind(struct follower *f)
{
    f->state = FOLLOWER_BEHIND;
    if (sse_is_slow(&f->sse))
        sse_abort(&f->sse);
    else if (sse_unsent(&f->sse) == 0)
        catch_up(f);
}

static void pass_on(struct events *e, struct follower *f, const struct node_notice *news)
{
    for (size_t i = 0; i < news->history->count && f->state == FOLLOWER_LIVE; i++) {
        const struct history_row *row = &news->history->items[i];

        if (row->seq <= f->last_seq)
            continue;
        buf_clear(&e->text);
        /* What was sent stands in an earlier commit: a reader looks for it. */
        if (row->sent > 0 && row->kind != HISTORY_EVENT && row->input_json.len == 0) {
            fall_behind(f);
            break;
        }
        if (row->kind != HISTORY_EVENT)
            page_row(&e->text, &e->mem, f->id, row, news->mask);
        if (row->seq != f->last_seq + 1 || (e->text.len > 0 && !sse_fits(&f->sse, e->text.len))) {
            fall_behind(f);
            break;
        }
        sse_add(&f->sse, buf_view(&e->text));
        f->last_seq = row->seq;
    }
    if (f->state == FOLLOWER_LIVE && f->last_seq < news->seq)
        fall_behind(f);
    if (f->state == FOLLOWER_LIVE)
        show_status(f, &(struct page_status){.status = news->status,
                                             .current_step = news->current_step,
                                             .waiting_for_json = mask_json(&e->mem, news->mask,
                                                                           news->waiting_for_json),
                                             .row_version = news->row_version,
                                             .seq = news->seq,
                                             .at_us = news->at_us});
    arena_reset(&e->mem);
}

static void notify_listeners(struct events *e, const struct node_notice *news)
{
    buf_clear(&e->text);
    object_id(&e->text, "id", news->id);
    object_text(&e->text, "code", news->code);
    object_text(&e->text, "status", str_of(status_name(news->status)));
    object_text(&e->text, "currentStep", news->current_step);
    object_time(&e->text, "at", news->at_us);
    feed_hear(e->feed, &(struct feed_news){.type = "execution",
                                           .org_id = news->org_id,
                                           .code = news->code,
                                           .status = (int)news->status,
                                           .access = news->access,
                                           .members = buf_view(&e->text)});
}

static void on_notice(void *context, const struct node_notice *news)
{
    struct events *e = context;

    for (struct follower *f = *bucket_of(e, news->id); f != NULL; f = f->next) {
        if (uuid_cmp(f->id, news->id) != 0 || f->sse.is_ending)
            continue;
        f->heard_seq = news->seq;
        if (f->state == FOLLOWER_LIVE)
            pass_on(e, f, news);
        else if (f->state == FOLLOWER_BEHIND && !f->is_reading)
            fall_behind(f);
    }
    if (news->moved && feed_is_heard(e->feed))
        notify_listeners(e, news);
}

void events_hear_task(struct events *e, const struct task_news *news)
{
    if (!feed_is_heard(e->tasks) || !task_watch_is_new(e->watch, news))
        return;
    buf_clear(&e->text);
    object_text(&e->text, "id", news->id);
    object_text(&e->text, "project_id", news->project_id);
    object_text(&e->text, "status", news->status);
    object_time(&e->text, "at", news->at_us);
    feed_hear(e->tasks, &(struct feed_news){.type = "task",
                                            .org_id = news->org_id,
                                            .code = news->project_id,
                                            .access = value_absent(),
                                            .members = buf_view(&e->text)});
}

/* --- time --- */

/*
 * Tell the client that we live, read on where that was not possible before,
 * and look into the store: another node may have done something.
 */
static void look_at(struct events *e, struct follower *f, int64_t now_us)
{
    bool is_silent = sse_unsent(&f->sse) == 0, beats = now_us - f->heartbeat_us >= SSE_HEARTBEAT_US;

    unlink_look(e, f);
    link_look(e, f, now_us);
    if (f->state == FOLLOWER_OPENING || f->sse.is_ending)
        return;
    if (is_silent && f->state == FOLLOWER_BEHIND) {
        catch_up(f);
    } else if (is_silent && !f->is_reading && e->looks < LOOKS_MAX &&
               (beats || node_is_shared(e->node))) {
        catch_up(f);
        f->is_looking = f->is_reading;
        e->looks += f->is_looking;
    }
    if (beats) {
        sse_heartbeat(&f->sse);
        f->heartbeat_us = now_us;
    }
}

void events_before_sleep(struct events *e, int *timeout_ms)
{
    int64_t now_us;

    if (e->count == 0)
        return;
    now_us = clock_mono_us(e->clock);
    while (e->oldest != NULL && e->oldest->look_us + LOOK_US <= now_us)
        look_at(e, e->oldest, now_us);
    if (e->oldest != NULL) {
        int64_t left_ms = (e->oldest->look_us + LOOK_US - now_us) / 1000 + 1;
        if (*timeout_ms < 0 || left_ms < *timeout_ms)
            *timeout_ms = (int)left_ms;
    }
    feed_run(e->feed, now_us, timeout_ms);
    task_watch_run(e->watch, feed_is_heard(e->tasks), now_us, timeout_ms);
    feed_run(e->tasks, now_us, timeout_ms);
}

/* --- beginning and end --- */

struct events *events_new(struct node *node, const struct clock *clock)
{
    struct events *e = ALLOC_NEW(struct events);

    e->node = node;
    e->clock = clock;
    e->feed = feed_new(clock);
    e->tasks = feed_new(clock);
    e->watch = task_watch_new(node, e);
    arena_init(&e->mem);
    buf_init(&e->text);
    return e;
}

void events_recheck(struct events *e)
{
    for (struct follower *f = e->newest, *older; f != NULL; f = older) {
        older = f->older;
        sse_recheck(&f->sse);
    }
    feed_recheck(e->feed);
    feed_recheck(e->tasks);
}

void events_drain(struct events *e)
{
    if (e->is_draining)
        return;
    e->is_draining = true;
    for (struct follower *f = e->newest; f != NULL; f = f->older)
        if (f->state != FOLLOWER_OPENING)
            sse_end(&f->sse);
    feed_end(e->feed);
    feed_end(e->tasks);
}

void events_readers_ended(struct events *e)
{
    e->have_readers_ended = true;
}

void events_free(struct events *e)
{
    /* Calls that no read has answered. */
    for (struct follower *f = e->newest, *older; f != NULL; f = older) {
        older = f->older;
        follower_free(f);
    }
    feed_free(e->feed);
    feed_free(e->tasks);
    task_watch_free(e->watch);
    arena_fini(&e->mem);
    buf_fini(&e->text);
    free(e);
}
