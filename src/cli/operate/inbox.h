/* inbox.h - naming an item of the inbox. */
#ifndef PAWL_CLI_OPERATE_INBOX_H
#define PAWL_CLI_OPERATE_INBOX_H

#include "cli/client.h"

/*
 * The item of the inbox that `name` means: its id or that of its execution, an end of either,
 * @last or key:K. False after a message: there is none, or there are several.
 */
bool inbox_find(struct client *c, const char *name, struct value *out) MUST_USE;

#endif
