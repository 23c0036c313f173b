/*
 * generate_special.c - steps of what mix.def names; see generate.h.
 *
 * The codes of steps say what is added up and held against each other: `inc`
 * adds one to a record of `acc` when it completes (disk.c counts), `own` writes
 * a record that nobody else knows, so it never conflicts.
 */
#include "sim/generate.h"

static void begin_step(struct buf *out, struct plan *plan, const char *prefix)
{
    generate_put(out, "{'code':'%s%u'", prefix, plan->number++);
}

/* --- children --- */

static void start_one(struct buf *out, struct dice *d, const struct plan *plan, bool waits)
{
    generate_put(out, "{'type':'flow.start','code':'k%u','input':{'n':'=input.n + %u'}",
                 dice_roll(d, plan->kids), dice_roll(d, 5));
    if (dice_roll(d, 4) == 0)
        generate_put(out, ",'key':'%s'", PICK(d, "k{{ input.n % 4 }}", "one"));
    if (waits)
        generate_put(out, ",'wait':true");
    generate_put(out, "}");
}

static void start_step(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'%s'", PICK(d, "continue", "hold", "fail_fast"));
    if (dice_roll(d, 4) == 0)
        generate_put(out, ",'timeout':'%s'", PICK(d, "1s", "30s", "2h"));
    generate_put(out, ",'procedure':[");
    for (unsigned i = dice_roll(d, 3) == 0 ? 2 : 1; i-- > 0;) {
        start_one(out, d, plan, dice_roll(d, 3) > 0);
        generate_put(out, i > 0 ? "," : "]}");
    }
}

/* One child for each round, all at once: their ends meet the commits of the parent. */
static void fan_out(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    generate_put(out, ",'loop':{'for':%s,'max':9,'concurrency':%u%s,'steps':[",
                 PICK(d, "[1,2,3,4]", "[1,2]", "[1,2,3,4,5,6]"), 2 + dice_roll(d, 5),
                 PICK(d, "", ",'onError':'continue'"));
    begin_step(out, plan, "s");
    generate_put(out, ",'procedure':");
    start_one(out, d, plan, true);
    generate_put(out, "}]}}");
}

/* Branches that are stopped when one of them is done. */
static void race_child(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    generate_put(out, ",'parallel':{'join':'any','branches':[[");
    start_step(out, d, plan);
    generate_put(out, "],[");
    begin_step(out, plan, "s");
    generate_put(out, ",'procedure':{'type':'wait.timer','duration':'%s'}}]]}}",
                 PICK(d, "20ms", "2s", "40s"));
}

/* --- steps that hold record writes while they wait --- */

static void increment(struct buf *out, unsigned which)
{
    generate_put(out,
                 "{'type':'record.get','object':'acc','id':'c%u','as':'r'},"
                 "{'type':'record.update','object':'acc','id':'c%u','data':{'n':'=r.n + 1'}}",
                 which, which);
}

static void suspended_step(struct buf *out, struct dice *d, struct plan *plan, unsigned which)
{
    begin_step(out, plan, "inc");
    generate_put(out, ",'procedure':[");
    increment(out, which);
    generate_put(out, ",");
    start_one(out, d, plan, true);
    generate_put(out, "]}");
}

/* Others change the record meanwhile: other executions, or a branch beside it. */
static void suspend(struct buf *out, struct dice *d, struct plan *plan)
{
    unsigned which = dice_roll(d, 3);

    if (dice_roll(d, 3) == 0) {
        suspended_step(out, d, plan, which);
        return;
    }
    begin_step(out, plan, "s");
    generate_put(out, ",'parallel':{'join':'all','branches':[[");
    if (dice_roll(d, 2) == 0) {
        start_step(out, d, plan);
    } else {
        begin_step(out, plan, "s");
        generate_put(out, ",'procedure':{'type':'wait.timer','duration':'%s'}}",
                     PICK(d, "20ms", "2s", "50s"));
    }
    generate_put(out, ",");
    begin_step(out, plan, "inc");
    generate_put(out, ",'procedure':[");
    increment(out, which);
    generate_put(out, "]}],[");
    suspended_step(out, d, plan, which);
    generate_put(out, "]]}}");
}

/* --- contended records --- */

static void contend(struct buf *out, struct dice *d, struct plan *plan)
{
    unsigned own;

    begin_step(out, plan, "s");
    generate_put(out,
                 ",'onError':'continue','procedure':{'type':'record.update','object':'hot','id':"
                 "'h%u','data':{'by':'=execution.id'}}},",
                 dice_roll(d, 2));
    own = plan->number;
    begin_step(out, plan, "own");
    generate_put(out,
                 ",'procedure':{'type':'record.create','object':'own','id':"
                 "'{{ execution.id }}-%u-{{ execution.visit }}','data':{'n':1}}}",
                 own);
}

/* --- limits --- */

static void exceed(struct buf *out, struct dice *d, struct plan *plan)
{
    unsigned self = plan->number;

    begin_step(out, plan, "s");
    generate_put(out, ",'when':'input.n == %u'", dice_roll(d, 20));
    switch (dice_roll(d, plan->at_once == 0 ? 3 : 2)) {
    case 0:
        generate_put(out,
                     ",'onError':'%s','procedure':{'type':'compute.transform','data':1},"
                     "'goto':[{'when':'true','to':'s%u'}]}",
                     PICK(d, "continue", "fail_fast"), self);
        return;
    case 1:
        generate_put(out, ",'onError':'%s','loop':{'for':[1,2,3,4],'max':2,'steps':[",
                     PICK(d, "continue", "fail_fast"));
        begin_step(out, plan, "s");
        generate_put(out, ",'procedure':{'type':'compute.transform','data':1}}]}}");
        return;
    default:
        /* Eleven times as much, until the context is full. */
        generate_put(out,
                     ",'onError':'%s','procedure':{'type':'compute.set','values':{'big':"
                     "'=[variables.?big.orValue(\\'0123456789012345678901234567890123456789\\')]"
                     ".map(b, b + b + b + b + b + b + b + b + b + b + b)[0]'}},'goto':[{'when':"
                     "'execution.visit < 6','to':'s%u'}]}",
                     PICK(d, "continue", "fail_fast"), self);
        return;
    }
}

/* --- calls --- */

static void call(struct buf *out, struct dice *d)
{
    generate_put(out,
                 "{'type':'integration.http','method':'%s','url':'http://s%u.example/x','body':"
                 "{'n':'=input.n','at':'=now'},'timeout':'%s'%s}",
                 PICK(d, "POST", "POST", "GET"), dice_roll(d, 3), PICK(d, "100ms", "1s", "30s"),
                 PICK(d, "", "", ",'expect':['2xx',422]", ",'optional':true"));
}

static void call_step(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'%s'", PICK(d, "continue", "hold", "fail_fast"));
    generate_put(out, ",'retry':{'maxAttempts':%u,'delay':'%s'}", 1 + dice_roll(d, 4),
                 PICK(d, "10ms", "2s", "1m"));
    if (dice_roll(d, 3) == 0) {
        generate_put(out, ",'rollback':");
        call(out, d);
    }
    if (dice_roll(d, 3) == 0)
        generate_put(out,
                     ",'reconcile':{'every':'%s','max':%u,'procedure':{'type':'integration.http',"
                     "'url':'http://s1.example/ask','result':{'outcome':'$.response.body.outcome',"
                     "'output':{'n':1}}}}",
                     PICK(d, "20ms", "5s", "1h"), 1 + dice_roll(d, 3));
    generate_put(out, ",'procedure':[");
    for (unsigned i = dice_roll(d, 3) == 0 ? 2 : 1; i-- > 0;) {
        call(out, d);
        generate_put(out, i > 0 ? "," : "]}");
    }
}

/* Branches of which one may stop the other while its call is under way. */
static void race_call(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    generate_put(out, ",'parallel':{'join':%s,'branches':[[", PICK(d, "'any'", "'all'"));
    call_step(out, d, plan);
    generate_put(out, "],[");
    call_step(out, d, plan);
    generate_put(out, "]]}}");
}

/* --- sagas --- */

#define UNDO_OF_CALL                                                                               \
    ",'rollback':{'type':'integration.http','method':'POST','url':'http://e.example/undo',"        \
    "'timeout':'1s'}"

/* A call that is undone by another one; see effects.c. */
static void undoable_call(struct buf *out, struct dice *d)
{
    generate_put(out,
                 "{'type':'integration.http','method':'POST','url':'http://e.example/do',"
                 "'body':{'n':'=input.n'},'timeout':'%s'%s" UNDO_OF_CALL "}",
                 PICK(d, "100ms", "1s", "30s"),
                 PICK(d, "", "", ",'retry':{'maxAttempts':2,'delay':'3s'}", ",'optional':true"));
}

/* One call, or several within another command. */
static void undoable_command(struct buf *out, struct dice *d)
{
    unsigned kind = dice_roll(d, 6);

    if (kind == 0) {
        generate_put(out, "{'type':'flow.try','commands':[");
        undoable_call(out, d);
        generate_put(out, ",");
        undoable_call(out, d);
        generate_put(out, "],'catch':[");
        undoable_call(out, d);
        generate_put(out, "]}");
    } else if (kind == 1) {
        generate_put(out, "{'type':'flow.if','condition':'input.n %% 2 == 0','then':[");
        undoable_call(out, d);
        generate_put(out, "],'else':[{'type':'log','message':'odd'}]}");
    } else {
        undoable_call(out, d);
    }
}

/* Every place of `what` in a text becomes `with`. */
static struct str generate_replace(struct arena *mem, struct str text, struct str what,
                                   struct str with)
{
    struct buf out;
    size_t at = 0;
    int64_t found;

    buf_init_arena(&out, mem);
    while ((found = str_find(text, what, at)) >= 0) {
        buf_str(&out, str_slice(text, at, (size_t)found));
        buf_str(&out, with);
        at = (size_t)found + what.len;
    }
    buf_str(&out, str_slice(text, at, text.len));
    return buf_view(&out);
}

struct str generate_variant(struct arena *mem, struct dice *d, struct str text)
{
    unsigned step = dice_roll(d, 4);
    struct buf undo;

    buf_init_arena(&undo, mem);
    generate_put(&undo, UNDO_OF_CALL);
    /* What has no rollback is asked of somebody who keeps no ledger. */
    if (dice_roll(d, 3) > 0) {
        text = generate_replace(mem, text, buf_view(&undo), STR_NONE);
        text = generate_replace(mem, text, STR("e.example/do"), STR("plain.example/do"));
    }
    if (dice_roll(d, 2) > 0)
        text = generate_replace(mem, text, str_printf(mem, "\"s%u\"", step),
                                str_printf(mem, "\"r%u\"", step));
    return text;
}

static void saga_step(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'%s'", PICK(d, "continue", "hold", "fail_fast"));
    generate_put(out, ",'retry':{'maxAttempts':%u,'delay':'%s'},'procedure':[", 1 + dice_roll(d, 3),
                 PICK(d, "10ms", "2s", "1m"));
    for (unsigned i = 2 + dice_roll(d, 2); i-- > 0;) {
        undoable_command(out, d);
        generate_put(out, i > 0 ? "," : "]}");
    }
}

/* Branches of which one may stop the other between two of its calls. */
static void race_saga(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    generate_put(out, ",'parallel':{'join':%s,'branches':[[", PICK(d, "'any'", "'all'"));
    saga_step(out, d, plan);
    generate_put(out, "],[");
    saga_step(out, d, plan);
    generate_put(out, "]]}}");
}

/* --- jobs --- */

static void job_step(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'%s'", PICK(d, "continue", "hold", "fail_fast"));
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'timeout':'%s'", PICK(d, "500ms", "20s", "2h"));
    generate_put(out, ",'retry':{'maxAttempts':%u,'delay':'%s'}", 1 + dice_roll(d, 4),
                 PICK(d, "10ms", "2s", "1m"));
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'rollback':{'procedure':'w.t%u','input':{'n':'=input.n'}}",
                     dice_roll(d, 3));
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'reconcile':{'every':'%s','max':%u,'procedure':'w.t%u'}",
                     PICK(d, "20ms", "5s", "1h"), 1 + dice_roll(d, 3), dice_roll(d, 3));
    if (dice_roll(d, 2) == 0) {
        generate_put(out, ",'procedure':'w.t%u','input':{'n':'=input.n','at':'=now'}}",
                     dice_roll(d, 3));
        return;
    }
    /* What it wrote before waits with it. */
    generate_put(out,
                 ",'procedure':[{'type':'record.create','object':'things','data':{'n':'=input.n'}},"
                 "{'type':'flow.call','procedure':'w.t%u','input':{'at':'=now'}%s},{'type':"
                 "'flow.call','procedure':'w.t%u','when':'input.n %% 2 == 0'}]}",
                 dice_roll(d, 3), PICK(d, "", ",'optional':true"), dice_roll(d, 3));
}

/* Branches of which one may stop the other while a worker has its job. */
static void race_job(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    generate_put(out, ",'parallel':{'join':%s,'branches':[[", PICK(d, "'any'", "'all'"));
    job_step(out, d, plan);
    generate_put(out, "],[");
    job_step(out, d, plan);
    generate_put(out, "]]}}");
}

/* --- tasks --- */

static void task_step(struct buf *out, struct dice *d, struct plan *plan)
{
    bool waits = dice_roll(d, 4) > 0;

    begin_step(out, plan, "s");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'%s'", PICK(d, "continue", "hold", "fail_fast"));
    generate_put(out, ",'procedure':{'type':'task.create','title':'t {{ input.n }}','wait':%s",
                 waits ? "true" : "false");
    if (dice_roll(d, 8) == 0)
        generate_put(out, ",'assign_to':'nobody'");
    if (waits && dice_roll(d, 2) == 0)
        generate_put(out, ",'timeout':'%s','onTimeout':'%s','keep':%s", PICK(d, "20ms", "3s", "1h"),
                     PICK(d, "fail", "continue"), PICK(d, "true", "false"));
    if (waits && dice_roll(d, 4) == 0)
        generate_put(out,
                     ",'reminder':{'every':'%s','max':3,'procedure':{'type':'log','message':"
                     "'r'}}",
                     PICK(d, "1s", "1h"));
    generate_put(out, "}}");
}

/* Branches of which one may stop the other while somebody does its task. */
static void race_task(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "s");
    generate_put(out, ",'parallel':{'join':%s,'branches':[[", PICK(d, "'any'", "'all'"));
    task_step(out, d, plan);
    generate_put(out, "],[");
    task_step(out, d, plan);
    generate_put(out, "]]}}");
}

/* --- messages --- */

static void message_step(struct buf *out, struct dice *d, struct plan *plan)
{
    bool calls = (plan->mix & MIX_OF(CALLS)) != 0 && dice_roll(d, 3) == 0;

    begin_step(out, plan, "s");
    generate_put(out, ",'retry':{'maxAttempts':2,'delay':'1s'},'procedure':[");
    for (unsigned i = 1 + dice_roll(d, 3); i-- > 0;)
        generate_put(out,
                     "{'type':'event.publish','event':'E%u','payload':{'n':'=input.n','at':"
                     "'=now'}}%s",
                     dice_roll(d, 3), i > 0 ? "," : "");
    if (dice_roll(d, 4) == 0)
        generate_put(out, ",{'type':'compute.fail','code':'late','message':'m','when':"
                          "'input.n %% 3 == 0','class':'transient'}");
    /* They wait with it until it is answered. */
    if (calls) {
        generate_put(out, ",");
        call(out, d);
    }
    generate_put(out, "]}");
}

/* --- people --- */

/* Some reminders call a service, ask a worker, or do one after the other. */
static void reminder_procedure(struct buf *out, struct dice *d, const struct plan *plan)
{
    bool calls = (plan->mix & MIX_OF(CALLS)) != 0 && dice_roll(d, 2) == 0;
    bool asks = (plan->mix & MIX_OF(JOBS)) != 0 && dice_roll(d, 2) == 0;

    generate_put(out, "[");
    if (calls) {
        call(out, d);
        generate_put(out, ",");
    }
    if (asks)
        generate_put(out,
                     "{'type':'flow.call','procedure':'w.t%u','input':{'at':'=now','i':"
                     "'=reminder.index'}},",
                     dice_roll(d, 3));
    generate_put(out, "{'type':'log','message':'{{ reminder.index }}'}]");
}

static void people_step(struct buf *out, struct dice *d, struct plan *plan)
{
    begin_step(out, plan, "ask");
    generate_put(out,
                 ",'procedure':{'type':'wait.signal','signalType':'ok','title':'t',"
                 "'assignee':%s",
                 PICK(d, "'u1'", "['u1','u2']", "['u2','u3']"));
    if (dice_roll(d, 2) == 0) {
        generate_put(out,
                     ",'reminder':{'every':'%s','max':3,'procedure':", PICK(d, "2s", "20s", "1h"));
        reminder_procedure(out, d, plan);
        generate_put(out, "}");
    }
    if (dice_roll(d, 3) > 0)
        generate_put(out, ",'timeout':%s,'onTimeout':'%s'", PICK(d, "'5s'", "'5m'", "'3h'"),
                     PICK(d, "continue", "fail"));
    generate_put(out, "}}");
}

bool generate_special(struct buf *out, struct dice *d, struct plan *plan)
{
    unsigned which = dice_roll(d, 12);
    bool is_small = plan->depth < 2 && plan->number < 24;

    if ((plan->mix & (MIX_OF(MESSAGES) | MIX_OF(TRIGGERS))) != 0 && dice_roll(d, 3) == 0) {
        message_step(out, d, plan);
        return true;
    }
    if ((plan->mix & MIX_OF(PEOPLE)) != 0 && dice_roll(d, 3) == 0) {
        people_step(out, d, plan);
        return true;
    }
    if ((plan->mix & MIX_OF(TASKS)) != 0 && dice_roll(d, 3) == 0) {
        if (is_small && which < 3)
            race_task(out, d, plan);
        else
            task_step(out, d, plan);
        return true;
    }
    if ((plan->mix & MIX_OF(SAGAS)) != 0 && dice_roll(d, 3) == 0) {
        if (is_small && which < 3)
            race_saga(out, d, plan);
        else
            saga_step(out, d, plan);
        return true;
    }
    if ((plan->mix & MIX_OF(JOBS)) != 0 && dice_roll(d, 2) == 0) {
        if (is_small && which == 0)
            race_job(out, d, plan);
        else
            job_step(out, d, plan);
        return true;
    }
    if ((plan->mix & MIX_OF(CALLS)) != 0 && dice_roll(d, 2) == 0) {
        if (is_small && which == 0)
            race_call(out, d, plan);
        else
            call_step(out, d, plan);
    } else if (plan->kids > 0 && which < 4)
        start_step(out, d, plan);
    else if (plan->kids > 0 && which < 5 && is_small)
        fan_out(out, d, plan);
    else if (plan->kids > 0 && which < 6 && is_small)
        race_child(out, d, plan);
    else if (plan->kids > 0 && (plan->mix & MIX_OF(SUSPENDED)) != 0 && which < 9 && is_small)
        suspend(out, d, plan);
    else if ((plan->mix & MIX_OF(CONTENTION)) != 0 && which < 11)
        contend(out, d, plan);
    else if ((plan->mix & MIX_OF(LIMITS)) != 0 && which == 11 && plan->loops == 0)
        exceed(out, d, plan);
    else
        return false;
    return true;
}
