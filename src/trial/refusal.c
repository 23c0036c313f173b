/*
 * refusal.c - see refusal.h.
 *
 * What must be refused says `true`, or some of {message, pointer, code}: the
 * message as a part of what was said, pointer and code as those of one finding.
 */
#include "trial/refusal.h"

static bool is_same(struct value wanted, struct str is)
{
    return wanted.kind == VALUE_ABSENT ||
           (wanted.kind == VALUE_STRING && str_eq(value_text(wanted), is));
}

static bool is_part(struct value wanted, struct str of)
{
    return wanted.kind == VALUE_ABSENT ||
           (wanted.kind == VALUE_STRING && str_find(of, value_text(wanted), 0) >= 0);
}

static bool is_as_wanted(struct value wanted, struct str message, const struct findings *findings)
{
    struct value pointer = value_map_member(wanted, STR("pointer")),
                 code = value_map_member(wanted, STR("code"));
    struct value words = value_map_member(wanted, STR("message"));

    if (wanted.kind != VALUE_MAP)
        return true;
    for (size_t i = 0; i < findings->count; i++)
        if (is_same(pointer, findings->items[i].pointer) &&
            is_same(code, findings->items[i].code) &&
            (is_part(words, findings->items[i].message.text) || is_part(words, message)))
            return true;
    return pointer.kind == VALUE_ABSENT && code.kind == VALUE_ABSENT && is_part(words, message);
}

/* Add a problem when what was said is not what was wanted. */
static void check_words(struct arena *mem, struct sentence what, struct value wanted,
                        struct sentence message, const struct findings *findings,
                        struct trial_problems *problems)
{
    if (is_as_wanted(wanted, message.text, findings))
        return;
    *VEC_ADD(mem, problems) = sentence_make(mem, "%pS was refused in other words: %pS",
                                            SENTENCE_ARG(what), SENTENCE_ARG(message));
    for (size_t i = 0; i < findings->count; i++)
        *VEC_ADD(mem, problems) = sentence_make(
            mem, "  at \"%.*s\", %.*s: %pS", STR_ARG(findings->items[i].pointer),
            STR_ARG(findings->items[i].code), SENTENCE_ARG(findings->items[i].message));
}

void refusal_check_start(struct arena *mem, const struct trial_case *c, const struct trial *trial,
                         const struct err *err, const struct findings *findings,
                         struct trial_problems *problems)
{
    if (trial->is_started)
        *VEC_ADD(mem, problems) =
            sentence_make(mem, "the start was to be refused, but it was taken: it is %s",
                          status_name(trial->main.x->status));
    else
        check_words(mem, SENTENCE("the start"), c->refused, err_sentence(err), findings, problems);
}

/* --- signals --- */

static const struct trial_reply *reply_to(const struct trial *trial, size_t signal)
{
    for (size_t i = 0; i < trial->replies.count; i++)
        if (trial->replies.items[i].signal == signal)
            return &trial->replies.items[i];
    return NULL;
}

/* Why one was not sent: it was too late, or its turn never came. */
static struct sentence unsent_text(struct arena *mem, const struct trial_signal *s,
                                   const struct trial *trial)
{
    const char *status = status_name(trial->main.x->status);

    if (s->to.len == 0 && s->has_time && status_is_terminal(trial->main.x->status))
        return sentence_make(
            mem,
            "the signal '%.*s' comes too late: the execution was %s before; if that "
            "is meant, it says \"refused\": true",
            STR_ARG(s->type), status);
    return sentence_make(mem, "the signal '%.*s' was never waited for", STR_ARG(s->type));
}

void refusal_check_signals(struct arena *mem, const struct trial_case *c, const struct trial *trial,
                           struct trial_problems *problems)
{
    for (size_t i = 0; i < c->script.signals.count; i++) {
        const struct trial_signal *s = &c->script.signals.items[i];
        const struct trial_reply *reply = reply_to(trial, i);
        struct sentence what = sentence_make(mem, "the signal '%.*s'", STR_ARG(s->type));

        if (!trial->signals_sent[i])
            *VEC_ADD(mem, problems) = unsent_text(mem, s, trial);
        else if (reply != NULL && !reply->is_refused)
            *VEC_ADD(mem, problems) = sentence_make(
                mem, "%pS was to be refused, but it was received", SENTENCE_ARG(what));
        else if (reply != NULL)
            check_words(mem, what, s->refused, reply->message, &reply->findings, problems);
    }
}
