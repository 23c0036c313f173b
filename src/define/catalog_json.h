/* catalog_json.h - everything that a definition may hold, as one JSON document. */
#ifndef PAWL_DEFINE_CATALOG_JSON_H
#define PAWL_DEFINE_CATALOG_JSON_H

#include "base/buf.h"

/*
 * Append {commands, nodes, fields, inputTypes, argumentKinds, context, kinds,
 * errorPrefixes, findings}, from the tables that checking uses.
 */
void catalog_write(struct buf *out);

#endif
