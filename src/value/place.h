/* place.h - where something stands in a text that people write. */
#ifndef PAWL_VALUE_PLACE_H
#define PAWL_VALUE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct place {
    uint32_t line, column; /* from 1, columns in code points; line 0: nowhere */
    bool is_exact;         /* a column within a text is counted in */
};

#endif
