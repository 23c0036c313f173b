/* records.h - what the calls on records share. */
#ifndef PAWL_API_RECORDS_H
#define PAWL_API_RECORDS_H

#include "api/call.h"

/* Whether params[0] can be the name of an object; refused when not. */
bool records_check_object(struct call *c) MUST_USE;

#endif
