/* synonym.h - what functions and operators are called elsewhere: for hints. */
#ifndef PAWL_CEL_SYNONYM_H
#define PAWL_CEL_SYNONYM_H

#include "base/str.h"

/* What a function or operator of another language is called here; empty when nothing is known. */
struct str cel_synonym(struct str word);

#endif
