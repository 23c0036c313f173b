/*
 * world.h - what a definition may name beside itself: the functions and the
 * config of an installation, or of the files that are looked at together.
 */
#ifndef PAWL_DEFINE_WORLD_H
#define PAWL_DEFINE_WORLD_H

#include "define/define.h"
#include "define/function.h"
#include "define/kind.h"

struct world_procedure {
    struct str code;
    struct registered registered;
};

struct world_credential {
    struct str code;
    struct value shown; /* {type, base_url, ...}, without secrets */
};

/* Fill functions, procedures, config and credentials, then world_open(); all in one arena. */
struct world {
    struct arena *mem;
    struct function_list functions;
    struct {
        VEC_OF(struct world_procedure);
    } procedures;
    struct name_list config;
    struct {
        VEC_OF(struct world_credential);
    } credentials;
    bool knows_credentials;          /* all of them: one that is not there does not exist */
    struct name_list processes;      /* that are there beside the published ones */
    struct name_list mail_templates; /* the same of templates */
    /* Whether a process, a template of that code is published; NULL: nobody knows. */
    bool (*knows_process)(void *context, struct str code);
    bool (*knows_template)(void *context, struct str code);
    void *lookup_context;
    bool is_partial;          /* procedures that it does not know may exist: a warning */
    bool checks_stored;       /* what is checked was published before: see struct registry */
    struct name_list assumed; /* functions that are not at hand: they take and give anything */

    /* filled by world_open() */
    const struct cel_env *definitions; /* of processes and procedures */
    const struct cel_env *templates;
    const struct cel_env *plain; /* functions and nothing else */
};

/* Add a function, a procedure, or a name of config, in place of one of the same name. */
void world_add_function(struct world *w, struct str name, struct value definition);
void world_add_procedure(struct world *w, struct str code, struct registered what);
void world_add_config(struct world *w, struct str name);
void world_add_credential(struct world *w, struct str code, struct value shown);
void world_add_process(struct world *w, struct str code);
void world_add_template(struct world *w, struct str code);
/* {code: base_url} of the credentials that have one, in `mem`. */
struct value world_bases(const struct world *w, struct arena *mem);
void world_drop(struct world *w, enum kind kind, struct str name);

/* Compile the functions and make the environments. */
void world_open(struct world *w);

/* Give back what world_open() holds outside the arena. */
void world_close(struct world *w);

/* The function of that name, or NULL. */
struct function *world_function(struct world *w, struct str name);

/* Compile a process in the world, whose environments the program uses: see define_compile(). */
void world_compile(struct world *w, struct arena *mem, enum kind kind, struct registered what,
                   struct findings *findings, const struct program **out);

/*
 * The same as world_check() for what is not in the world and that nothing in it
 * names: the world is only read, but for its `mem`.
 */
void world_check_apart(struct world *w, enum kind kind, struct str name, struct value definition,
                       struct findings *findings);

/*
 * Check a definition of any kind that is built, findings included. Of a
 * process or procedure `definition` is what was written; of a function
 * {params, body}; of a template {subject, body, html}; of config its value; of a credential
 * what is written, with its secret or without. A function must be in the world.
 */
void world_check(struct world *w, enum kind kind, struct str name, struct value definition,
                 struct findings *findings);

/* The fields of a value of config as it is written, {value}: what is unknown or missing. */
void world_check_config(struct arena *mem, struct value body, struct findings *findings);

#endif
