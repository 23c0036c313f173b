/*
 * callback_page.h - the pages behind links that answer waits: a form made from
 * `form` of the wait, thanks, and that there is nothing to answer.
 *
 * Plain HTML without a script, in English or Russian, for any browser, a
 * keyboard and a small screen. What a process or a person has put in is
 * escaped. Pure: text in, text out.
 */
#ifndef PAWL_API_EXECUTIONS_CALLBACK_PAGE_H
#define PAWL_API_EXECUTIONS_CALLBACK_PAGE_H

#include "base/buf.h"
#include "define/define.h"
#include "http/urlencoded.h"
#include "words/words.h"

struct page_form {
    enum language language;
    struct str title;                /* of the wait, or empty */
    struct value form;               /* its fields, a list; or absent */
    struct value show, then;         /* lists of {label, value} and {label, text}; or absent */
    struct value time_up;            /* {action, to?, name?}; or absent */
    int64_t until_us;                /* when its time is up; 0 = never */
    struct str type;                 /* of the answer */
    const struct urlencoded *given;  /* what was filled in before, or NULL */
    const struct findings *findings; /* what is wrong with that, pointers below /payload; or NULL */
};

/* The form, in `mem`. */
struct str page_form(struct arena *mem, const struct page_form *f);

/*
 * The types of which one is chosen, as links from `token`; in `mem`. `types` comes from a stored row:
 * what is no text in it is left out.
 */
struct str page_types(struct arena *mem, enum language language, struct str title,
                      struct value types, struct str token);

enum page_note {
    PAGE_THANKS,  /* the answer is recorded */
    PAGE_NOTHING, /* there is nothing to answer */
    PAGE_LATER,   /* the server cannot take it now */
    PAGE_WRONG,   /* the request is no form */
};

struct str page_note(struct arena *mem, enum language language, enum page_note note);

/* The policy for these pages: no script, no foreign thing, the one style that they have. */
const char *page_policy(struct arena *mem);

/*
 * What was filled in, as a payload: texts become what the fields of the form
 * want, fields that were left empty are left out. What cannot be read stays a
 * text, so that the form says what is wrong with it. In `mem`.
 */
struct value page_payload(struct arena *mem, struct value form, const struct urlencoded *given);

#endif
