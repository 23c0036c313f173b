/*
 * yaml.h - YAML text to JSON text, by libyaml.
 *
 * The core schema of YAML 1.2: true and false are the only booleans, so `no`
 * and `on` are texts; times stay texts. Anchors and aliases are read within a
 * bound. Tags, merge keys, several documents, keys that are lists or objects,
 * infinity and NaN are refused: JSON has none of them.
 */
#ifndef PAWL_VALUE_YAML_H
#define PAWL_VALUE_YAML_H

#include "value/source.h"

enum { YAML_ALIAS_BYTES_MAX = 1 << 20 }; /* of JSON that aliases repeat, all together */

/* *json in one line, and a mark for each key and value in it. ERR_INVALID with line and column. */
bool yaml_to_json(struct arena *mem, struct str text, struct str *json, struct source_marks *marks,
                  struct err *err) MUST_USE;

#endif
