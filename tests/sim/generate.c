/* generate.c - scenarios that are made up; see sim.h. */
#include "sim/generate.h"

#include <stdarg.h>
#include <stdio.h>

void generate_put(struct buf *out, const char *format, ...)
{
    size_t from = out->len;
    char text[1200];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_text(out, text);
    for (size_t i = from; i < out->len; i++)
        if (out->ptr[i] == '\'')
            out->ptr[i] = '"';
}

const char *generate_pick(struct dice *d, const char *const *words, unsigned count)
{
    return words[dice_roll(d, count)];
}

static void wait_signal(struct buf *out, struct dice *d)
{
    generate_put(out, "{'type':'wait.signal','signalType':%s", PICK(d, "'a'", "'b'", "['a','b']"));
    if (dice_roll(d, 4) == 0)
        generate_put(out, ",'match':'signal.payload.n > %u'", dice_roll(d, 10));
    else if (dice_roll(d, 3) == 0)
        generate_put(out, ",'correlation':'c%u'", dice_roll(d, 4));
    if (dice_roll(d, 2) == 0)
        generate_put(out, ",'timeout':%s", PICK(d, "'1s'", "'30s'", "'5m'", "'3h'"));
    if (dice_roll(d, 2) == 0)
        generate_put(out, ",'onTimeout':'continue'");
    generate_put(out, "}");
}

static void wait_time(struct buf *out, struct dice *d)
{
    if (dice_roll(d, 2) == 0)
        generate_put(out, "{'type':'wait.timer','duration':%s}",
                     PICK(d, "'0s'", "'20ms'", "'2s'", "'50s'", "'70s'", "'2h'"));
    else
        generate_put(out, "{'type':'wait.until','timestamp':'=now + duration(\\'%s\\')'}",
                     PICK(d, "1s", "90s", "1h", "-5s"));
}

static void change_records(struct buf *out, struct dice *d)
{
    switch (dice_roll(d, 4)) {
    case 0:
        generate_put(out, "{'type':'record.create','object':'things','data':{'n':'=input.n'}}");
        return;
    case 1:
        generate_put(
            out,
            "{'type':'record.create','object':'shared','id':'s%u','ifExists':'%s','data':{'by'"
            ":'=execution.id'}}",
            dice_roll(d, 3), PICK(d, "keep", "merge", "replace"));
        return;
    case 2:
        generate_put(out, "{'type':'record.delete','object':'shared','id':'s%u'}", dice_roll(d, 3));
        return;
    default:
        generate_put(out,
                     "{'type':'record.query','object':'shared','orderBy':'by','result':{'count':"
                     "'=response.count'}}");
        return;
    }
}

/* Read, add one, write: what others write in between must not be lost. */
static void increment(struct buf *out, struct dice *d)
{
    unsigned which = dice_roll(d, 3);

    generate_put(out,
                 "[{'type':'record.get','object':'acc','id':'c%u','as':'r'},"
                 "{'type':'record.update','object':'acc','id':'c%u','data':{'n':'=r.n + 1'}}]",
                 which, which);
}

/* Rounds that run at once set no variables: that is left out. */
static void compute(struct buf *out, struct dice *d, bool may_set)
{
    switch (may_set ? dice_roll(d, 5) : 1 + dice_roll(d, 4)) {
    case 0:
        generate_put(out, "{'type':'compute.set','values':{'v%u':'=input.n','at':'=now'}}",
                     dice_roll(d, 3));
        return;
    case 1:
        generate_put(out, "{'type':'log','message':'{{ execution.id }} {{ input.n }}'}");
        return;
    case 2:
        generate_put(out,
                     "{'type':'compute.fail','code':'no','message':'{{ input.n }}','when':"
                     "'input.n %% 4 == %u'}",
                     dice_roll(d, 4));
        return;
    case 3:
        generate_put(out, "{'type':'compute.transform','data':'=100 / (input.n - %u)'}",
                     dice_roll(d, 12));
        return;
    default:
        generate_put(out,
                     "{'type':'compute.transform','data':{'n':'=input.n + %u','t':'=now','signals':"
                     "'=size(signals)','v':'=variables'}}",
                     dice_roll(d, 100));
        return;
    }
}

/* Fails now and then in a way that another attempt may mend. */
static void unreliable(struct buf *out, struct dice *d)
{
    generate_put(out,
                 "[{'type':'compute.fail','code':'shaky','message':'m','class':'%s','when':"
                 "'(input.n + execution.attempt) %% %u == 0'%s},{'type':'compute.transform','data':"
                 "'$.execution.attempt'}]",
                 PICK(d, "transient", "indeterminate"), 2 + dice_roll(d, 3),
                 dice_roll(d, 3) == 0 ? ",'retry':{'maxAttempts':4,'delay':'1s'}" : "");
}

/* Commands with commands in them, and rollbacks of their own. */
static void nested(struct buf *out, struct dice *d)
{
    switch (dice_roll(d, 4)) {
    case 0:
        generate_put(
            out,
            "[{'type':'flow.try','as':'t','commands':[{'type':'compute.transform','data':"
            "'=100 / (input.n - %u)'}],'catch':[{'type':'compute.transform','data':"
            "'$.error.code'}]},{'type':'flow.if','condition':'input.n > 4','then':[{'type':'log',"
            "'message':'{{ execution.id }}'}]}]",
            dice_roll(d, 12));
        return;
    case 1:
        generate_put(
            out,
            "[{'type':'compute.transform','as':'one','data':'=input.n','rollback':{'type':"
            "'compute.set','values':{'undone':'$.one'}}},{'type':'flow.call','procedure':'proc',"
            "'input':{'n':'=input.n'}},{'type':'compute.fail','code':'late','message':'m','when':"
            "'input.n %% 5 == %u'}]",
            dice_roll(d, 5));
        return;
    case 2:
        generate_put(
            out, "{'type':'flow.match','expression':'input.n','cases':{'1':[{'type':'compute.fail',"
                 "'code':'one','message':'m','optional':true}]},'default':[{'type':"
                 "'compute.transform','data':'=size($.warnings)'}]}");
        return;
    default:
        generate_put(out, "'proc','input':{'n':'=input.n'}");
        return;
    }
}

/* What became of an attempt in doubt; it may not be found out. */
static void reconcile(struct buf *out, struct dice *d)
{
    generate_put(out,
                 ",'reconcile':{'every':'%s','max':%u,'procedure':", PICK(d, "20ms", "5s", "1h"),
                 1 + dice_roll(d, 3));
    if (dice_roll(d, 6) == 0)
        generate_put(out, "'proc','input':{'n':'=input.n'}}");
    else
        generate_put(out,
                     "[{'type':'compute.set','values':{'asks':'$.error.code'}},{'type':"
                     "'compute.transform','data':{'outcome':'=[\\'succeeded\\',\\'failed\\',"
                     "\\'not_happened\\',\\'unknown\\'][(input.n + %u) %% 4]','output':{'n':"
                     "'=input.n'}}}]}",
                     dice_roll(d, 4));
}

/* What undoes a step; it may fail, too. */
static void rollback(struct buf *out, struct dice *d)
{
    switch (dice_roll(d, 4)) {
    case 0:
        generate_put(out,
                     ",'rollback':{'type':'compute.fail','code':'stuck','message':'m','class':'%s',"
                     "'retry':{'maxAttempts':5}}",
                     PICK(d, "transient", "business"));
        return;
    case 1:
        generate_put(out, ",'rollback':{'procedure':'proc','input':{'n':'=input.n'}}");
        return;
    default:
        generate_put(out,
                     ",'rollback':{'type':'compute.set','values':{'u%u':'=[$.error.code, "
                     "string(size($.compensation.failed))]'}}",
                     dice_roll(d, 3));
        return;
    }
}

static void block(struct buf *out, struct dice *d, struct plan *plan, unsigned count);

static void branch(struct buf *out, struct dice *d, struct plan *plan)
{
    generate_put(out, ",'branch':[{'when':'input.n %% 2 == %u','steps':[", dice_roll(d, 2));
    plan->depth++;
    block(out, d, plan, 1 + dice_roll(d, 2));
    generate_put(out, "]}");
    if (dice_roll(d, 2) == 0) {
        generate_put(out, ",{'steps':[");
        block(out, d, plan, 1);
        generate_put(out, "]}");
    }
    plan->depth--;
    generate_put(out, "]");
}

static void parallel(struct buf *out, struct dice *d, struct plan *plan)
{
    unsigned branches = 1 + dice_roll(d, 3);

    generate_put(out, ",'parallel':{'join':%s,'branches':[",
                 PICK(d, "'all'", "'all'", "'any'", "1"));
    plan->depth++;
    for (unsigned i = 0; i < branches; i++) {
        generate_put(out, i > 0 ? ",[" : "[");
        block(out, d, plan, dice_roll(d, 3));
        generate_put(out, "]");
    }
    plan->depth--;
    generate_put(out, "]}");
}

static void loop(struct buf *out, struct dice *d, struct plan *plan)
{
    bool at_once = dice_roll(d, 3) == 0;
    unsigned last;

    generate_put(out, ",'loop':{'for':%s,'as':'it','max':50",
                 PICK(d, "[1,2,3]", "'=[input.n, 7]'", "[]"));
    if (dice_roll(d, 2) == 0)
        generate_put(out, ",'collect':'=string($.loop.index) + string($.loop.it)'");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'continue'");
    if (at_once)
        generate_put(out, ",'concurrency':%u", 2 + dice_roll(d, 2));
    generate_put(out, ",'steps':[");
    plan->depth++;
    plan->loops++;
    plan->at_once += at_once;
    block(out, d, plan, 1 + dice_roll(d, 2));
    last = plan->number++;
    if (dice_roll(d, 2) == 0)
        generate_put(
            out,
            ",{'code':'s%u','procedure':{'type':'compute.transform','data':'$.loop.item'},'goto':["
            "{'when':'$.loop.index == %u','to':'%s'}]}",
            last, dice_roll(d, 3), PICK(d, "next", "break", "end"));
    plan->depth--;
    plan->loops--;
    plan->at_once -= at_once;
    generate_put(out, "]}");
}

static void step_procedure(struct buf *out, struct dice *d, const struct plan *plan, unsigned kind)
{
    generate_put(out, ",'procedure':");
    if (kind == 0)
        increment(out, d);
    else if (kind == 1)
        change_records(out, d);
    else if (kind <= 3)
        wait_signal(out, d);
    else if (kind == 4)
        wait_time(out, d);
    else if (kind == 5)
        unreliable(out, d);
    else if (kind == 6)
        nested(out, d);
    else
        compute(out, d, plan->at_once == 0);
    if (kind == 5 && dice_roll(d, 2) == 0)
        reconcile(out, d);
    if (kind != 0 && dice_roll(d, 3) == 0)
        rollback(out, d);
    if (kind > 4 && dice_roll(d, 6) == 0)
        generate_put(out, ",'retry':{'maxAttempts':%u,'delay':'%s'}", 1 + dice_roll(d, 4),
                     PICK(d, "10ms", "2s", "1m"));
}

static void step(struct buf *out, struct dice *d, struct plan *plan)
{
    unsigned kind = dice_roll(d, 13), number = plan->number++;
    /* What is added up at the end must happen once for each completed step. */
    bool is_block = kind >= 10 && plan->depth < 3 && number < 30;

    generate_put(out, "{'code':'%s%u'", kind == 0 ? "inc" : "s", number);
    if (dice_roll(d, 6) == 0)
        generate_put(out, ",'when':'input.n %% 3 != %u'", dice_roll(d, 3));
    if (!is_block && kind != 6 && dice_roll(d, 6) == 0)
        generate_put(out, ",'input':{'n':'=input.n + 1','pad':'=input.?pad.orValue(\\'\\')'}");
    if (dice_roll(d, 3) == 0)
        generate_put(out, ",'onError':'%s'", PICK(d, "continue", "continue", "hold", "fail_fast"));
    if (is_block && kind == 10)
        branch(out, d, plan);
    else if (is_block && kind == 11)
        loop(out, d, plan);
    else if (is_block)
        parallel(out, d, plan);
    else
        step_procedure(out, d, plan, kind);
    if (dice_roll(d, 12) == 0)
        generate_put(out, ",'goto':[{'when':'execution.visit < %u','to':'%s%u'}]", dice_roll(d, 4),
                     kind == 0 ? "inc" : "s", number);
    generate_put(out, "}");
}

static void block(struct buf *out, struct dice *d, struct plan *plan, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            buf_char(out, ',');
        if (plan->mix == 0 || dice_roll(d, 3) > 0 || !generate_special(out, d, plan))
            step(out, d, plan);
    }
}

struct str generate_scenario(struct arena *mem, struct dice *d, struct str code, unsigned mix,
                             unsigned kids)
{
    bool is_kid = str_starts_with(code, STR("k"));
    /* Kids are small, so that there may be many. */
    struct plan plan = {
        .mix = is_kid && dice_roll(d, 2) == 0 ? 0 : mix, .kids = kids, .depth = is_kid ? 2 : 0};
    struct buf out;

    buf_init_arena(&out, mem);
    generate_put(&out, "{'code':'%.*s','onError':'%s'", STR_ARG(code),
                 is_kid ? PICK(d, "compensate", "fail_fast")
                        : PICK(d, "compensate", "fail_fast", "hold", "retry"));
    generate_put(&out, ",'settings':{'timeout':'%s'", PICK(d, "30d", "30d", "1h", "10s"));
    if (dice_roll(d, 5) == 0)
        generate_put(&out, ",'key':'k{{ input.n %% 5 }}'");
    if (dice_roll(d, 3) == 0)
        generate_put(&out, ",'onKeyConflict':'join'");
    generate_put(&out, "}");
    if (dice_roll(d, 5) == 0)
        generate_put(&out, ",'result':{'n':'=input.n','x':'=%s'}",
                     PICK(d, "1", "1 / (input.n - 3)"));
    generate_put(
        &out, ",'procedures':{'proc':{'commands':[{'type':'compute.transform','as':'p','data':"
              "'=input.n * 2','rollback':{'type':'record.create','object':'things','data':{'undo':"
              "'$.p'}}},{'type':'record.create','object':'things','data':{'n':'$.p'}}],'result':"
              "{'p':'$.p'}}},'steps':[");
    block(&out, d, &plan, is_kid ? 1 + dice_roll(d, 2) : 2 + dice_roll(d, 7));
    buf_text(&out, "]}");
    return buf_view(&out);
}
