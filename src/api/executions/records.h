/*
 * records.h - what the calls on records share.
 *
 * why: decisions 0059, 0287
 */
#ifndef PAWL_API_EXECUTIONS_RECORDS_H
#define PAWL_API_EXECUTIONS_RECORDS_H

#include "api/call.h"

/* Whether params[0] can be the name of an object; refused when not. */
bool records_check_object(struct call *c) MUST_USE;

/* The same, and whether params[1] can be the id of a record. */
bool records_check_path(struct call *c) MUST_USE;

#endif
