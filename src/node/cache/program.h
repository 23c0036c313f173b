/*
 * program.h - compiled programs, and which version of a process is published.
 * Internal to src/node.
 *
 * A program is known by its content: its code, its version and the snapshot of
 * what it reaches (procedures and functions, each in a version). What begins
 * now is asked for by code and version alone; the table `current` says which
 * content that is, until something is published that the program reaches.
 *
 *     current: code@version ----> program <---- contents: code@version:snapshot
 *
 * Programs are counted by those that hold them: entries and works. Those that
 * nobody holds stay, by last use, until all of them take more than
 * node_options.program_bytes; idle entries go first when all are held. One whose
 * place in `current` another has taken goes with the last who holds it: an
 * execution in the store that has begun with it makes it be compiled again, and
 * then it stays like any other.
 */
#ifndef PAWL_NODE_PROGRAM_H
#define PAWL_NODE_PROGRAM_H

#include "base/map.h"
#include "define/function.h"
#include "define/pins.h"
#include "node/work.h"

#include <sys/queue.h>

struct execution_load;

/* A program as it was read and compiled, with what it rests on. */
enum program_state { PROGRAM_LOADING, PROGRAM_READY, PROGRAM_MISSING, PROGRAM_BROKEN };

struct program_read {
    enum program_state state;
    const struct program *program;  /* READY */
    struct function_list functions; /* as they were then */
    int64_t stamp;                  /* of the definitions that it may rest on */
};

enum { PROGRAM_KEY_MAX = 256 }; /* bytes: a code, a version and a digest */

/*
 * Whether there can be a program of this code, with this snapshot or none: both come from requests and
 * from stored rows, and none that is longer may be asked for.
 */
bool program_can_be_named(struct str code, struct str snapshot);

struct program_ref {
    struct str name;    /* code@version */
    struct str content; /* code@version:snapshot; or empty: that is not known yet */
    struct str code;
    int64_t version;            /* never 0 */
    struct str snapshot;        /* or empty: with what is published */
    struct uuid about;          /* the execution that it was first needed for; or none */
    char text[PROGRAM_KEY_MAX]; /* of all these */
    enum program_state state;
    const struct program *program;
    struct pins pins; /* READY: what it reaches */
    struct arena mem;
    struct program_read read; /* what `program` is a part of */
    struct err err;
    unsigned holders;
    bool has_content;     /* it is in the table of contents */
    bool is_current;      /* it is in the table of what begins now */
    bool is_superseded;   /* it was: it goes when nobody holds it */
    int64_t changes_seen; /* of reachable definitions, when its read was sent */
    size_t bytes;         /* as counted in the node */
    TAILQ_ENTRY(program_ref) by_use;
    struct work_queue starts;     /* waiting for it */
    struct work_queue moves;      /* retries and migrations that wait for it */
    struct execution_load *loads; /* executions that wait for it */
};

/* So many changes of procedures and functions are remembered by the hashes of their names. */
enum { PROGRAM_CHANGES_MAX = 64 };

struct programs {
    struct map contents, current; /* of struct program_ref */
    TAILQ_HEAD(, program_ref)
    by_use; /* all of them, those that are in no table too; last: newest */
    size_t count, bytes;
    int64_t compiled; /* so many were read and compiled */
    int64_t changes;  /* of procedures and functions */
    uint64_t changed_names[PROGRAM_CHANGES_MAX];
    int64_t unknown_changes; /* the last of them of which no name is known */
};

/* The published version of a code, as far as this node knows. */
struct published {
    int64_t version; /* 0 = unknown */
    bool is_reading;
    struct work_queue starts;
    struct str code;
    char text[]; /* of the code */
};

void programs_init(struct node *n);
void programs_free(struct node *n);

/*
 * The first is for what begins now; the second for the execution `about`, with
 * its snapshot or none. It is READY, or it is LOADING and may be waited for.
 */
struct program_ref *program_get(struct node *n, struct str code, int64_t version);
struct program_ref *program_get_pinned(struct node *n, struct uuid about, struct str code,
                                       int64_t version, struct str snapshot);

/* Count one who uses it; *to, which is NULL or another, is let go of. NULL: none. */
void program_hold(struct node *n, struct program_ref **to, struct program_ref *ref);

/* A procedure or a function is another one now. */
void programs_changed(struct node *n, struct str kind, struct str code);
/* Others may have changed them: these are the versions of now. */
void programs_compare(struct node *n, const struct pins *now);

/* Free programs that nobody holds, while they take too much. */
void programs_trim(struct node *n);
/* Whether they take too much although nobody holds any that could be freed. */
bool programs_are_too_large(const struct node *n);

/*
 * Read a version of a process (-1: the published one) and compile it, on a
 * reader thread, with the procedures and functions that are published now.
 * *out is in `mem` and must be released. False: the store could not be read.
 */
bool program_read(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                  int64_t version, struct program_read *out, struct err *err) MUST_USE;
void program_read_release(struct program_read *read);

/* The same with the versions that a snapshot names; without one they are those of now. */
bool program_read_pinned(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                         int64_t version, struct str snapshot, struct program_read *out,
                         struct err *err) MUST_USE;

struct published_versions {
    struct map by_code; /* of struct published */
    int64_t forgotten;  /* how often they were forgotten */
};

struct published *published_get(struct node *n, struct str code);
void published_load(struct node *n, struct published *p);
void published_forget(struct node *n); /* others may have published: ask again */
void published_free(struct node *n);

#endif
