/*
 * facts.h - what others must know of a definition without reading it: derived
 * once, when a version is published, and stored beside it.
 *
 *     {"sensitive": ["card"],          parameters whose values are masked
 *      "answers": ["pin"],             the same for fields of forms
 *      "stepMeta": {"charge": {...}},  `meta` of the steps that have one, by code
 *      "access": {"start": [...]},     as it is written
 *      "triggers": [...],              the same, that of a schema's start included
 *      "uses": {"procedure": ["price"], "function": ["vat"], "config": ["rate"],
 *               "process": ["refund"], "credential": ["erp"],
 *               "template": ["receipt"]},   what it names, by kind
 *      "rules": 1}                     those that hold for it: enum define_rules
 *
 * What a definition does not have is left out. `rules` stand in the text only.
 *
 * why: decision 0154
 */
#ifndef PAWL_DEFINE_FACTS_H
#define PAWL_DEFINE_FACTS_H

#include "define/define.h"
#include "value/value.h"

/* Whether definitions of that kind have facts: all but config, which is a value. */
bool facts_has_kind(struct str kind);

/* The facts of a definition that may be anything, a draft included: a map, empty when there are none.
 * In `mem`, sharing with `definition`. */
struct value facts_of(struct arena *mem, struct value definition);

/*
 * The triggers of a process: those of `triggers`, and behind them the one that the start of a
 * schema has in short. *start is the pointer of that one, or empty. Absent: there are none.
 */
struct value facts_triggers(struct arena *mem, struct value definition, struct str *start);

/*
 * The facts of the text of a definition, as text, with the rules that hold for
 * what is published now; empty when it is no JSON.
 */
struct str facts_text(struct arena *mem, struct str definition);

/* The rules that hold for a version with these facts, as they are stored. */
enum define_rules facts_rules(struct arena *mem, struct str facts_text);

/* One of the facts, or VALUE_ABSENT: "sensitive", "stepMeta". */
struct value facts_get(struct value facts, const char *name);

/* Whether the facts say that it names this one; `kind` is one of those in `uses`. */
bool facts_use(struct value facts, const char *kind, struct str name);

#endif
