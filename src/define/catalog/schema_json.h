/*
 * schema_json.h - a JSON Schema of definitions, for editors: fields.def,
 * field_tables.def and commands.def in the words of draft 2020-12.
 *
 * It says what can be said without reading expressions: names of fields, what
 * is required, types, words, patterns. What it refuses, checking refuses too.
 *
 * why: decision 0171
 */
#ifndef PAWL_DEFINE_CATALOG_SCHEMA_JSON_H
#define PAWL_DEFINE_CATALOG_SCHEMA_JSON_H

#include "base/buf.h"
#include "define/catalog/catalog.h"

/* Append the schema of a file: a definition of any kind that is built, or a bundle of them. */
void schema_write(struct buf *out, enum language language);

#endif
