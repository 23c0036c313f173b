/* lib_time.h - what lib_time.c and lib_date.c share: how they read arguments. */
#ifndef PAWL_CEL_LIB_LIB_TIME_H
#define PAWL_CEL_LIB_LIB_TIME_H

#include "base/time/tz.h"
#include "cel/eval.h"

/* As much of a text as a message shows of it. */
struct str lib_time_shown(struct str s);

/* A timestamp, or text that timestamp() takes. False: *error is filled. */
bool lib_time_moment(struct cel_eval *ev, struct value arg, struct value *out,
                     struct value *error) MUST_USE;

/* The zone that a string names. False: *error is filled. */
bool lib_time_zone(struct cel_eval *ev, struct value name, struct tz *out,
                   struct value *error) MUST_USE;

#endif
