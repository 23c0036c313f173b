/* pow10.c - the generated table of powers of ten, in one place. */
#include "value/pow10_row.h"

#include "pow10.h"
