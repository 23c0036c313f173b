/* eval.c - what library functions need of the evaluation; see eval.h. */
#include "cel/eval.h"

#include <stdarg.h>
#include <stdio.h>

struct value cel_over_memory(struct cel_eval *ev)
{
    return value_error(ev->mem, ERR_LIMIT_EXPRESSION_MEMORY, ev->offset,
                       "the expression needs more memory than it may use");
}

struct value cel_over_cost(struct cel_eval *ev)
{
    return value_error(ev->mem, ERR_LIMIT_EXPRESSION_COST, ev->offset,
                       "the expression takes more work than it may");
}

struct value cel_fail(struct cel_eval *ev, const char *format, ...)
{
    char message[256];
    size_t cost;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    /* A loop may absorb one error after the other. */
    cost = sizeof(struct value_error) + strlen(message) + 1;
    if (cost > ev->mem_left)
        return cel_over_memory(ev);
    ev->mem_left -= cost;
    return value_error(ev->mem, ERR_EXPRESSION_ERROR, ev->offset, "%s", message);
}

struct value cel_no_overload(struct cel_eval *ev, const struct value *args, unsigned count)
{
    /* Beyond this a message would be cut anyway. */
    enum { SHOWN = 8 };
    char list[200] = "";
    size_t len = 0;

    for (unsigned i = 0; i < count && i < SHOWN && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i == 0 ? "" : ", ",
                                value_kind_name((enum value_kind)args[i].kind));
    return cel_fail(ev, "no such overload: %s(%s%s)", ev->function == NULL ? "?" : ev->function,
                    list, count > SHOWN ? ", ..." : "");
}

struct value cel_string_copy(struct cel_eval *ev, struct str s)
{
    char *copy;

    if (s.len == 0)
        return value_string(STR(""));
    if (s.len > VALUE_LEN_MAX)
        return cel_over_memory(ev);
    if (!cel_charge_bytes(ev, s.len))
        return cel_over_cost(ev);
    copy = cel_alloc(ev, s.len);
    if (copy == NULL)
        return cel_over_memory(ev);
    memcpy(copy, s.ptr, s.len);
    return value_string(str_from(copy, s.len));
}
