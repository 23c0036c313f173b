/* notice.h - a notice of peers as a text on the wire; see store/peers.h. Internal to src/store/peer. */
#ifndef PAWL_STORE_PEER_NOTICE_H
#define PAWL_STORE_PEER_NOTICE_H

#include "base/buf.h"
#include "store/peers.h"

/* The server takes no longer ones. */
enum { NOTICE_TEXT_MAX = 7900 };

/*
 * Append it as JSON, zero-terminated texts being escaped; `moved`: shards have another owner. What
 * makes it longer than NOTICE_TEXT_MAX is replaced by the mark that there was more.
 */
void notice_write(struct buf *out, struct str node, const struct peer_notice *n, bool moved);

/*
 * Add what a text says to *into; `moved` is left alone unless it says so. One that this node has
 * sent, or that cannot be read, says nothing: anybody who may connect can write one.
 */
void notice_read(struct arena *mem, struct str text, struct str own_node, struct peer_notice *into,
                 bool *moved);

#endif
