/*
 * template.h - templates of messages to people: a subject, a text, and perhaps
 * the same as HTML.
 *
 *     {"subject": "Order {{ data.id }}", "body": "...", "html": "<p>...</p>"}
 *
 * Expressions see `data`, `user`, `execution` and `config`. What they give is
 * escaped in `html`.
 */
#ifndef PAWL_DEFINE_TEMPLATE_H
#define PAWL_DEFINE_TEMPLATE_H

#include "define/define.h"

enum { TEMPLATE_TEXT_MAX = 256 * 1024 }; /* bytes, of each part */

enum template_root {
    TEMPLATE_DATA,
    TEMPLATE_USER,
    TEMPLATE_EXECUTION,
    TEMPLATE_CONFIG,
    TEMPLATE_ROOT_COUNT
};

enum template_part { TEMPLATE_SUBJECT, TEMPLATE_BODY, TEMPLATE_HTML, TEMPLATE_PART_COUNT };

struct template
{
    const struct cel_program *parts[TEMPLATE_PART_COUNT]; /* html: may be NULL */
    struct str sources[TEMPLATE_PART_COUNT];
};

/* The environment of templates: their roots, over one with functions and nothing else. */
struct cel_env *template_env(struct arena *mem, const struct cel_env *plain);

/*
 * Check a template and compile it into *out, which lives in `mem`. What is
 * wrong is added to `findings`; then *out cannot be rendered. Release it in
 * any case.
 */
void template_compile(struct arena *mem, const struct cel_env *env, struct value definition,
                      struct findings *findings, struct template *out);
void template_release(const struct template *t);

/*
 * The texts for these roots; a part that the template does not have is
 * STR_NONE. A line break in the subject becomes a space. False: what could not
 * be evaluated is in `findings`.
 */
bool template_render(struct arena *mem, const struct template *t,
                     const struct value roots[TEMPLATE_ROOT_COUNT], int64_t now_us,
                     struct str out[TEMPLATE_PART_COUNT], struct findings *findings) MUST_USE;

#endif
