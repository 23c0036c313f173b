/* param_type.h - the types that parameters have. */
#ifndef PAWL_DEFINE_PARAM_TYPE_H
#define PAWL_DEFINE_PARAM_TYPE_H

enum param_type {
#define PARAM(symbol, name, cel_type, wanted) PARAM_##symbol,
#include "define/catalog/param_types.def"
#undef PARAM
    PARAM_TYPE_COUNT
};

#endif
