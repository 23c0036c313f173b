/*
 * callback_payload.h - the fields of a form as a page without scripts has them, and what was
 * filled in as a payload. Internal to the pages behind links.
 *
 * An object with `fields` stands there as its fields, called "order.sku". What has no names, such
 * as the items of a list, is asked for as JSON.
 */
#ifndef PAWL_API_EXECUTIONS_CALLBACK_PAYLOAD_H
#define PAWL_API_EXECUTIONS_CALLBACK_PAYLOAD_H

#include "api/executions/callback_page.h"
#include "define/param_type.h"

enum param_type page_type_of(struct value field);

/* A value as it stands in a text field. */
struct str page_plain_text(struct arena *mem, struct value v);

/* The fields of a form, those of objects in place of the objects. */
struct value page_flat(struct arena *mem, struct value form);

#endif
