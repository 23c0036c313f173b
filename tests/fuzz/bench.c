/* bench.c - see bench.h. */
#include "fuzz/bench.h"

#include "engine/commit/commit.h"
#include "engine/show.h"
#include "value/json.h"

enum { NEEDS_MAX = 40 };

#define INDETERMINATE "{'type':'compute.fail','code':'lost','message':'m','class':'indeterminate'}"

/*
 * Each with what happens to it, a letter an event:
 *
 *   w its time comes   s signal go    p pause   c cancel   f the child fails    e the child ends
 *   k answer 200       v answer 503   x answer 409         l the answer is lost
 *   o a worker is done n a worker fails        r resume   t retry   i skip     u its task is done
 */
static const struct {
    const char *scenario, *events;
} scenes[] = {
    {"{'code':'a','steps':[{'code':'s','procedure':{'type':'wait.signal','signalType':['go','no'],"
     "'correlation':'k{{ input.n }}','match':'signal.payload.n > 0','timeout':'1h','assignee':'"
     "group:leads','form':[{'name':'n','type':'integer','sensitive':true}],'reminder':{'every':"
     "'10m','procedure':{'type':'log','message':'m'}}}},{'code':'t','procedure':{'type':'wait."
     "timer','duration':'5s'}}]}",
     "wpsrwsw"},
    {"{'code':'a','steps':[{'code':'p','procedure':{'type':'integration.http','method':'POST',"
     "'url':'http://pay.example/a','body':{'n':'$.input.n'}},'retry':{'maxAttempts':2,'delay':"
     "'5s'},'rollback':{'procedure':{'type':'integration.http','method':'POST','url':"
     "'http://pay.example/undo'}}},{'code':'q','procedure':[{'type':'record.create','object':'o',"
     "'id':'x','data':{'n':1}},{'type':'event.publish','event':'E','payload':{'n':1}},{'type':"
     "'integration.http','method':'GET','url':'http://pay.example/b','as':'r'},{'type':"
     "'compute.transform','data':'$.r.body'}]}]}",
     "vwkpkrvwxlvwv"},
    {"{'code':'a','onError':'hold','steps':[{'code':'p','procedure':{'type':'integration.http',"
     "'method':'POST','url':'http://pay.example/a'}},{'code':'z','procedure':{'type':"
     "'compute.transform','data':'$.steps.p'}}]}",
     "xtxi"},
    {"{'code':'a','steps':[{'code':'l','loop':{'for':'$.input.list','concurrency':2,'collect':"
     "'$.steps.z.output','onError':'continue','steps':[{'code':'w','procedure':{'type':"
     "'wait.signal','signalType':'go'}},{'code':'z','procedure':{'type':'compute.transform','data':"
     "'$.loop.item'}}]}},{'code':'m','loop':{'for':'$.input.list','as':'it','collect':'$.loop.item'"
     ",'steps':"
     "[{'code':'n','procedure':{'type':'wait.timer','duration':'1s'}}]}}]}",
     "spsrsswww"},
    {"{'code':'a','steps':[{'code':'p','parallel':{'branches':[[{'code':'x',"
     "'procedure':{'type':'wait.signal','signalType':'go'}},{'code':'x2','procedure':{'type':"
     "'integration.http','method':'GET','url':'http://pay.example/b'}}],["
     "{'code':'y','procedure':{'type':'integration.http','method':'POST','url':"
     "'http://pay.example/c'},'retry':{'maxAttempts':2,'delay':'5s'}}],["
     "{'code':'v','procedure':{'type':'wait.timer','duration':'9s'}}]]}}]}",
     "vwpsrkkw"},
    {"{'code':'a','onError':'compensate','steps':[{'code':'a1',"
     "'procedure':{'type':'compute.transform','data':{'n':1}},'rollback':{'procedure':{'type':"
     "'integration.http','method':'POST','url':'http://pay.example/undo'}}},{'code':'a2',"
     "'procedure':{'type':'wait.signal','signalType':'go'}},{'code':'a3','procedure':{'type':"
     "'compute.fail','code':'no','message':'no'}}]}",
     "svwxwwvwvwvwvwk"},
    {"{'code':'a','steps':[{'code':'pay','procedure':" INDETERMINATE ",'reconcile':{'procedure':"
     "{'type':'integration.http','method':'GET','url':'http://pay.example/"
     "q'},'every':'5s','max':3},"
     "'retry':{'maxAttempts':2,'delay':'5s'}}]}",
     "vwlwkwvwvwvw"},
    {"{'code':'a','steps':[{'code':'s','procedure':[{'type':'compute.set','values':{'v':1}},"
     "{'type':'flow.start','code':'child','input':{'n':1},'wait':true,'as':'c'},{'type':"
     "'compute.transform','data':'$.c'}]},{'code':'s2','procedure':{'type':'flow.start','code':"
     "'child','input':{'n':2},'wait':true}}]}",
     "weprfc"},
    {"{'code':'a','steps':[{'code':'s','procedure':{'type':'task.create','title':'T','wait':true,"
     "'form':[{'name':'l','type':'number'}]}},{'code':'b','branch':[{'when':"
     "'input.n == 1','steps':[{'code':'j','procedure':'bank.pay'}]},{'steps':[]}]}]}",
     "pruon"},
    {"{'code':'a','steps':[{'code':'j','procedure':'bank.pay',"
     "'input':{'n':1},'retry':{'maxAttempts':2,'delay':'1s'}},{'code':'k','goto':[{'when':"
     "'input.n == 1','to':'j'}],'procedure':{'type':'compute.transform','data':1}}]}",
     "nwoponl"},
};

static struct rig child;
static struct bench_states made;

static void bench_keep(struct rig *r)
{
    struct bench_state *s = VEC_ADD(&child.mem, &made);

    *s = (struct bench_state){.program = r->program,
                              .stored = r->stored,
                              .history = r->history,
                              .now_us = r->now_us,
                              .awaits_call = call_is_awaited(&r->x->cursor)};
    s->stored.history = (struct history){0};
    for (size_t i = 0; i < r->history.count; i++)
        if (r->history.items[i].seq > r->stored.checkpoint_seq)
            *VEC_ADD(&r->mem, &s->stored.history) = r->history.items[i];
}

static struct event answer_with(struct rig *r, const char *output, const char *error)
{
    return (struct event){
        .kind = EVENT_ANSWER,
        .answer_key = r->x->cursor.awaited,
        .answer_seq = r->x->cursor.asked_seq,
        .answer_output = output != NULL ? rig_value(r, output) : value_absent(),
        .answer_error = error != NULL ? rig_value(r, error) : value_absent(),
    };
}

static struct event task_done(struct rig *r)
{
    struct task_answers *answers = ARENA_NEW(&r->mem, struct task_answers);

    *VEC_ADD(&r->mem, answers) =
        (struct task_answer){.id = r->x->cursor.task,
                             .output = rig_value(r, "{'id':'t','status':'done','result':{'l':2}}"),
                             .error = value_absent()};
    return (struct event){.kind = EVENT_WAKE, .tasks = answers};
}

static struct event scene_event(struct rig *r, char letter)
{
    switch (letter) {
    case 's':
        return (struct event){.kind = EVENT_SIGNAL,
                              .signal_id = str_printf(&r->mem, "i%lld", (long long)r->x->seq),
                              .signal_type = STR("go"),
                              .signal_payload = rig_value(r, "{'n':1}"),
                              .by = rig_value(r, "{'id':'u1','name':'Ann'}")};
    case 'k':
        return answer_with(r, "{'status_code':200,'headers':{},'body':{'outcome':'not_happened'}}",
                           NULL);
    case 'v':
        return answer_with(r, "{'status_code':503,'headers':{},'body':null}", NULL);
    case 'x':
        return answer_with(r, "{'status_code':409,'headers':{},'body':'no'}", NULL);
    case 'l':
        return answer_with(r, NULL, "{'code':'l','class':'indeterminate','message':'lost'}");
    case 'o':
        return answer_with(r, "{'done':true}", NULL);
    case 'n':
        return answer_with(r, NULL, "{'code':'n','class':'transient','message':'no'}");
    case 'p':
        return (struct event){.kind = EVENT_PAUSE, .reason = STR("why")};
    case 'r':
        return (struct event){.kind = EVENT_RESUME};
    case 'c':
        return (struct event){.kind = EVENT_CANCEL, .reason = STR("why")};
    case 't':
        return (struct event){.kind = EVENT_RETRY};
    case 'i':
        return (struct event){.kind = EVENT_SKIP, .output = value_int(1)};
    case 'u':
        return task_done(r);
    default:
        return (struct event){.kind = EVENT_WAKE};
    }
}

static void scene_play(struct rig *r, const char *events)
{
    rig_start(r, "{'n':1,'list':[1,2,3]}");
    bench_keep(r);
    for (; *events != '\0'; events++) {
        if (*events == 'e' || *events == 'f')
            r->child = (struct child_read){
                .is_found = true,
                .status = *events == 'e' ? STATUS_COMPLETED : STATUS_FAILED,
                .result = value_int(1),
                .error = rig_value(r, "{'code':'x','message':'m','class':'business'}")};
        if (r->x->wake_at_us > r->now_us && strchr("wef", *events) != NULL)
            r->now_us = r->x->wake_at_us;
        rig_reload(r);
        if (rig_event(r, scene_event(r, *events)))
            bench_keep(r);
    }
}

const struct bench_states *bench_states(void)
{
    struct rig *r;

    if (made.count > 0)
        return &made;
    rig_init(&child);
    rig_define(&child, "{'code':'child','input':[{'name':'n','type':'integer'}],'steps':[{'code':"
                       "'x','procedure':{'type':'compute.transform','data':'=input.n'}}]}");
    for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
        r = ARENA_NEW(&child.mem, struct rig);
        rig_init(r);
        *VEC_ADD(&r->mem, &r->processes) =
            (struct process_read){.code = STR("child"), .program = child.program};
        rig_define(r, scenes[i].scenario);
        scene_play(r, scenes[i].events);
    }
    return &made;
}

/* --- events --- */

uint8_t bench_byte(struct bench_bytes *b)
{
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

uint16_t bench_word(struct bench_bytes *b)
{
    unsigned high = bench_byte(b);

    return (uint16_t)(high << 8 | bench_byte(b));
}

static struct value bench_value(struct arena *mem, struct bench_bytes *b)
{
    static const char *const texts[] = {
        "null",
        "1",
        "\"x\"",
        "[]",
        "{}",
        "{\"n\":1}",
        "{\"status_code\":200,\"headers\":{},\"body\":{\"outcome\":\"succeeded\",\"output\":1}}",
        "{\"status_code\":200,\"headers\":{},\"body\":{\"outcome\":\"failed\"}}",
        "{\"status_code\":503,\"headers\":{\"retry-after\":\"7\"},\"body\":null}",
        "{\"status_code\":404,\"headers\":{},\"body\":\"no\"}",
        "{\"code\":\"c\",\"message\":\"m\",\"class\":\"transient\"}",
        "{\"code\":\"c\",\"message\":\"m\",\"class\":\"indeterminate\"}",
        "{\"code\":7,\"class\":[]}",
    };
    struct value v;
    struct err err;

    ASSERT(json_read(mem, str_of(texts[bench_byte(b) % ARRAY_SIZE(texts)]), &v, &err));
    return v;
}

static struct event bench_answer(struct arena *mem, const struct cursor *c, struct bench_bytes *b)
{
    struct event ev = {.kind = EVENT_ANSWER,
                       .answer_key = c->awaited,
                       .answer_seq = c->asked_seq,
                       .answer_output = value_absent(),
                       .answer_error = value_absent()};

    if (bench_byte(b) % 2 == 0)
        ev.answer_output = bench_value(mem, b);
    else
        ev.answer_error = bench_value(mem, b);
    return ev;
}

static struct event bench_operator(struct arena *mem, const struct execution *x,
                                   struct bench_bytes *b)
{
    uint8_t choice = bench_byte(b);
    struct str step = x->program->step_count > 0
                          ? x->program->steps[choice % x->program->step_count].code
                          : STR_NONE;
    struct shared_iter iter = {0};
    const struct value *given_up = items_next(&x->given_up, &iter);

    switch (choice % 6) {
    case 0:
        return (struct event){.kind = EVENT_RETRY};
    case 1:
        return (struct event){.kind = EVENT_RETRY, .from = step};
    case 2:
        return (struct event){.kind = EVENT_SKIP, .output = bench_value(mem, b)};
    case 3:
        return (struct event){
            .kind = EVENT_RESOLVE,
            .letter = x->cursor.reconciling != NULL ? x->cursor.reconciling->letter : STR_NONE,
            .verdict = bench_byte(b) % VERDICT_COUNT,
            .output = value_int(1),
            .note = STR("n")};
    case 4:
        return (struct event){.kind = EVENT_ROLLBACK,
                              .letter = given_up != NULL ? value_map_text(*given_up, STR("letter"))
                                                         : STR_NONE};
    default:
        return (struct event){.kind = EVENT_MIGRATE, .program = x->program};
    }
}

struct event bench_event(struct arena *mem, const struct execution *x, struct bench_bytes *b)
{
    uint8_t choice = bench_byte(b);

    switch (choice % 8) {
    case 0:
    case 1:
        return (struct event){.kind = EVENT_WAKE};
    case 2:
        return (struct event){.kind = EVENT_SIGNAL,
                              .signal_id = str_printf(mem, "b%u", choice),
                              .signal_type = STR("go"),
                              .signal_payload = bench_value(mem, b),
                              .by = value_map_empty()};
    case 3:
        return bench_answer(mem, execution_cursor(x, choice / 8 % execution_strands(x)), b);
    case 4:
        return bench_operator(mem, x, b);
    case 5:
        return (struct event){.kind = EVENT_CANCEL, .cancel_rollback = choice / 8 % 3};
    case 6:
        return (struct event){.kind = EVENT_PAUSE, .reason = STR("why")};
    default:
        return (struct event){.kind = EVENT_RESUME};
    }
}

/* --- advancing --- */

static void bench_answer_needs(struct arena *mem, const struct bench_state *from,
                               const struct commit *c, struct turn_reads *reads,
                               struct bench_bytes *b)
{
    if (c->needs_leases)
        reads->has_leases = true;
    for (size_t i = 0; i < c->needs_buffered.count; i++)
        *VEC_ADD(mem, &reads->kept) = (struct kept_read){.correlation = c->needs_buffered.items[i]};
    for (size_t i = 0; i < c->needs_processes.count; i++) {
        struct process_read read = c->needs_processes.items[i];

        if (bench_byte(b) % 4 != 0)
            read.program = child.program;
        *VEC_ADD(mem, &reads->processes) = read;
    }
    for (size_t i = 0; i < c->needs_children.count; i++) {
        struct child_read read = {.id = c->needs_children.items[i],
                                  .is_found = bench_byte(b) % 4 != 0,
                                  .status = bench_byte(b) % STATUS_COUNT};

        read.result = bench_value(mem, b);
        read.error = bench_value(mem, b);
        *VEC_ADD(mem, &reads->children) = read;
    }
    for (size_t i = 0; i < c->needs.count; i++)
        if (c->needs.items[i].search == NULL)
            *VEC_ADD(mem, &reads->records) = (struct record_read){
                .object = c->needs.items[i].object, .id = c->needs.items[i].id};
    if (!c->needs_history.is_needed)
        return;
    reads->has_history = true;
    reads->history.count = 0;
    for (size_t i = 0; i < from->history.count && reads->history.count < ROLLBACK_PAGE; i++)
        if (from->history.items[i].seq > c->needs_history.after)
            *VEC_ADD(mem, &reads->history) = from->history.items[i];
}

/* What was committed is stored, shown and read back. */
static void bench_check(struct arena *mem, const struct commit *c)
{
    struct stored_execution stored = {0};
    struct execution *again;
    struct value shown;
    struct buf text;
    struct err err;

    buf_init_arena(&text, mem);
    show_execution(&text, c->after);
    ASSERT(json_read(mem, buf_view(&text), &shown, &err));
    dump_store(mem, c, &stored);
    stored.context_json = state_context_json(mem, c->after);
    if (!state_restore(mem, c->after->program, &stored, &again, &err)) /* it was damaged before */
        ASSERT(err.code == ERR_INTERNAL && err.message[0] != '\0');
    for (size_t i = 0; i < c->history.count; i++) {
        buf_init_arena(&text, mem);
        show_history_row(&text, c->after->id, &c->history.items[i]);
        ASSERT(json_read(mem, buf_view(&text), &shown, &err));
    }
}

struct execution *bench_advance(struct arena *mem, const struct bench_state *from,
                                struct execution *x, struct event ev, int64_t now_us,
                                struct bench_bytes *b)
{
    struct turn_reads reads = {0};
    struct commit c;
    struct err err = {0};

    ev.config = value_map_empty();
    ev.reads = &reads;
    for (unsigned i = 0; i < NEEDS_MAX; i++) {
        if (!engine_advance(mem, x, &ev, now_us, &c, &err)) {
            ASSERT(err.code != ERR_NONE && err.message[0] != '\0');
            return x;
        }
        if (c.result == ADVANCE_COMMIT) {
            bench_check(mem, &c);
            return c.after;
        }
        bench_answer_needs(mem, from, &c, &reads, b);
    }
    return x;
}
