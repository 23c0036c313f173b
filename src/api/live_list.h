/* live_list.h - reading what is live as it is saved: functions, templates, config, credentials. */
#ifndef PAWL_API_LIVE_LIST_H
#define PAWL_API_LIVE_LIST_H

#include "api/definitions.h"

/* Append a definition of this kind as an object. */
typedef bool live_show_fn(struct arena *mem, struct buf *out, const struct kind_spec *spec,
                          const struct stored_definition *d, struct err *err);

/* Answer with a page of the kind that the path of the call names. */
void live_list_page(struct call *c, live_show_fn *show);

/* Answer with the one that the path names. */
void live_list_one(struct call *c, live_show_fn *show);

#endif
