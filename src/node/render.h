/* render.h - templates, rendered where they can be read: for notification.email. */
#ifndef PAWL_NODE_RENDER_H
#define PAWL_NODE_RENDER_H

#include "store/read.h"

struct render_read;

/*
 * On a reader thread: render the template that is asked for, as it is now.
 * What is wrong with it is out->error; false: it could not be read.
 */
bool render_template(struct reader *reader, struct arena *mem, const struct render_read *need,
                     struct render_read *out, struct err *err) MUST_USE;

#endif
