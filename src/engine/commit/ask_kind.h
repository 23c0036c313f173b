/* ask_kind.h - what a strand asks somebody outside for; see ask.def. */
#ifndef PAWL_ENGINE_ASK_KIND_H
#define PAWL_ENGINE_ASK_KIND_H

enum ask_kind {
    ASK_NONE, /* for nothing */
#define ASK(symbol, name, kind, is_stored) ASK_##symbol,
#include "engine/commit/ask.def"
#undef ASK
    ASK_COUNT
};

#endif
