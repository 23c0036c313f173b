/* generate.c - scenarios that are made up; see sim.h. */
#include "sim/sim.h"

#include <stdarg.h>
#include <stdio.h>

/* Append JSON whose quotes are written as '. */
static void PRINTF_LIKE(2, 3) put(struct buf *out, const char *format, ...)
{
    size_t from = out->len;
    char text[600];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_text(out, text);
    for (size_t i = from; i < out->len; i++)
        if (out->ptr[i] == '\'')
            out->ptr[i] = '"';
}

static const char *pick(struct dice *d, const char *const *words, unsigned count)
{
    return words[dice_roll(d, count)];
}

#define PICK(d, ...)                                                                               \
    pick((d), (const char *const[]){__VA_ARGS__},                                                  \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void wait_signal(struct buf *out, struct dice *d)
{
    put(out, "{'type':'wait.signal','signalType':%s", PICK(d, "'a'", "'b'", "['a','b']"));
    if (dice_roll(d, 4) == 0)
        put(out, ",'match':'signal.payload.n > %u'", dice_roll(d, 10));
    if (dice_roll(d, 2) == 0)
        put(out, ",'timeout':%s", PICK(d, "'1s'", "'30s'", "'5m'", "'3h'"));
    if (dice_roll(d, 2) == 0)
        put(out, ",'onTimeout':'continue'");
    put(out, "}");
}

static void wait_time(struct buf *out, struct dice *d)
{
    if (dice_roll(d, 2) == 0)
        put(out, "{'type':'wait.timer','duration':%s}",
            PICK(d, "'0s'", "'20ms'", "'2s'", "'50s'", "'70s'", "'2h'"));
    else
        put(out, "{'type':'wait.until','timestamp':'=now + duration(\\'%s\\')'}",
            PICK(d, "1s", "90s", "1h", "-5s"));
}

static void change_records(struct buf *out, struct dice *d)
{
    switch (dice_roll(d, 4)) {
    case 0:
        put(out, "{'type':'record.create','object':'things','data':{'n':'=input.n'}}");
        return;
    case 1:
        put(out,
            "{'type':'record.create','object':'shared','id':'s%u','ifExists':'%s','data':{'by'"
            ":'=execution.id'}}",
            dice_roll(d, 3), PICK(d, "keep", "merge", "replace"));
        return;
    case 2:
        put(out, "{'type':'record.delete','object':'shared','id':'s%u'}", dice_roll(d, 3));
        return;
    default:
        put(out, "{'type':'record.query','object':'shared','orderBy':'by','result':{'count':"
                 "'=response.count'}}");
        return;
    }
}

/* Read, add one, write: what others write in between must not be lost. */
static void increment(struct buf *out, struct dice *d)
{
    unsigned which = dice_roll(d, 3);

    put(out,
        "[{'type':'record.get','object':'acc','id':'c%u','as':'r'},"
        "{'type':'record.update','object':'acc','id':'c%u','data':{'n':'=r.n + 1'}}]",
        which, which);
}

static void compute(struct buf *out, struct dice *d)
{
    switch (dice_roll(d, 5)) {
    case 0:
        put(out, "{'type':'compute.set','values':{'v%u':'=input.n','at':'=now'}}", dice_roll(d, 3));
        return;
    case 1:
        put(out, "{'type':'log','message':'{{ execution.id }} {{ input.n }}'}");
        return;
    case 2:
        put(out,
            "{'type':'compute.fail','code':'no','message':'{{ input.n }}','when':"
            "'input.n %% 4 == %u'}",
            dice_roll(d, 4));
        return;
    case 3:
        put(out, "{'type':'compute.transform','data':'=100 / (input.n - %u)'}", dice_roll(d, 12));
        return;
    default:
        put(out,
            "{'type':'compute.transform','data':{'n':'=input.n + %u','t':'=now','signals':"
            "'=size(signals)','v':'=variables'}}",
            dice_roll(d, 100));
        return;
    }
}

static void step(struct buf *out, struct dice *d, unsigned number)
{
    unsigned kind = dice_roll(d, 10);

    put(out, "{'code':'%s%u'", kind == 0 ? "inc" : "s", number);
    if (dice_roll(d, 6) == 0)
        put(out, ",'when':'input.n %% 3 != %u'", dice_roll(d, 3));
    if (dice_roll(d, 6) == 0)
        put(out, ",'input':{'n':'=input.n + 1','pad':'=input.?pad.orValue(\\'\\')'}");
    if (dice_roll(d, 3) == 0)
        put(out, ",'onError':'%s'", PICK(d, "continue", "continue", "hold", "fail_fast"));
    put(out, ",'procedure':");
    if (kind == 0)
        increment(out, d);
    else if (kind == 1)
        change_records(out, d);
    else if (kind <= 3)
        wait_signal(out, d);
    else if (kind == 4)
        wait_time(out, d);
    else
        compute(out, d);
    put(out, "}");
}

struct str generate_scenario(struct arena *mem, struct dice *d, struct str code)
{
    unsigned steps = 2 + dice_roll(d, 7);
    struct buf out;

    buf_init_arena(&out, mem);
    put(&out, "{'code':'%.*s','onError':'%s'", STR_ARG(code),
        PICK(d, "compensate", "fail_fast", "hold", "retry"));
    put(&out, ",'settings':{'timeout':'%s'", PICK(d, "30d", "30d", "1h", "10s"));
    if (dice_roll(d, 5) == 0)
        put(&out, ",'key':'k{{ input.n %% 5 }}'");
    if (dice_roll(d, 3) == 0)
        put(&out, ",'onKeyConflict':'join'");
    put(&out, "}");
    if (dice_roll(d, 5) == 0)
        put(&out, ",'result':{'n':'=input.n','x':'=%s'}", PICK(d, "1", "1 / (input.n - 3)"));
    put(&out, ",'steps':[");
    for (unsigned i = 0; i < steps; i++) {
        if (i > 0)
            buf_char(&out, ',');
        step(&out, d, i);
    }
    buf_text(&out, "]}");
    return buf_view(&out);
}
