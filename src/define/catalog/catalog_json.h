/* catalog_json.h - everything that a definition may hold, as one JSON document. */
#ifndef PAWL_DEFINE_CATALOG_CATALOG_JSON_H
#define PAWL_DEFINE_CATALOG_CATALOG_JSON_H

#include "base/buf.h"
#include "define/catalog/catalog.h"

/*
 * Append {commands, nodes, groups, fields, tables, fieldKinds, functions,
 * inputTypes, context, kinds, errorPrefixes, findings}, from the tables that
 * checking uses, the texts in that language.
 */
void catalog_write(struct buf *out, enum language language);

/* Append "functions": every function and macro of expressions. Internal to the two files. */
void catalog_write_functions(struct buf *out, enum language language);

#endif
