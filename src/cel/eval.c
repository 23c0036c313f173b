/* eval.c - calling functions, and what those of the library need; see env.h and eval.h. */
#include "cel/eval.h"
#include "cel/env.h"

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
    struct sentence_storage storage;
    struct sentence message;
    size_t cost;
    va_list args;

    va_start(args, format);
    message = sentence_vmake_in(&storage, ERROR_TEXT_MAX, format, args);
    va_end(args);
    /* A loop may absorb one error after the other. */
    cost = sizeof(struct value_error) + sentence_size(message);
    if (cost > ev->mem_left)
        return cel_over_memory(ev);
    ev->mem_left -= cost;
    return value_error_of(ev->mem, ERR_EXPRESSION_ERROR, ev->offset, message);
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

/* --- calling --- */

/* The kind of the values of a type; all kinds where the table has none. */
static const uint8_t kinds[] = {
    [TYPE_NULL] = VALUE_NULL,         [TYPE_BOOL] = VALUE_BOOL,
    [TYPE_INT] = VALUE_INT,           [TYPE_UINT] = VALUE_UINT,
    [TYPE_DOUBLE] = VALUE_DOUBLE,     [TYPE_STRING] = VALUE_STRING,
    [TYPE_BYTES] = VALUE_BYTES,       [TYPE_TIMESTAMP] = VALUE_TIMESTAMP,
    [TYPE_DURATION] = VALUE_DURATION, [TYPE_IP] = VALUE_IP,
    [TYPE_CIDR] = VALUE_CIDR,         [TYPE_LIST] = VALUE_LIST,
    [TYPE_MAP] = VALUE_MAP,           [TYPE_TYPE] = VALUE_TYPE,
    [TYPE_OPTIONAL] = VALUE_OPTIONAL, [TYPE_VARIABLE] = VALUE_ABSENT,
};

static bool overload_takes(const struct overload *o, const struct value *args, unsigned count)
{
    if (o->takes_numbers ? count == 0 : o->count != count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        enum value_kind kind = (enum value_kind)args[i].kind;
        if (o->takes_numbers) {
            if (kind != VALUE_INT && kind != VALUE_UINT && kind != VALUE_DOUBLE)
                return false;
        } else if (kinds[o->params[i]->kind] != VALUE_ABSENT && kinds[o->params[i]->kind] != kind) {
            return false;
        }
    }
    return true;
}

static bool library_takes(const struct cel_function *f, const struct value *args, unsigned count)
{
    for (const struct overload *o = f->overloads; o != NULL; o = o->next)
        if (overload_takes(o, args, count))
            return true;
    return false;
}

struct value function_call(struct cel_eval *ev, const struct cel_function *f,
                           const struct value *args, unsigned count)
{
    ev->function = f->name.ptr;
    ev->context = f->context;
    ev->arg_count = count;
    if (f->call == NULL)
        return cel_fail(ev, "undeclared function '%.*s'", STR_ARG(f->name));
    if (!f->is_pure || LIKELY(library_takes(f, args, count)))
        return f->call(ev, args);
    if (f->call == cel_fn_contains && args[0].kind == VALUE_LIST)
        return cel_fail(ev, "no such overload: a list has no contains(): write \"x\" in list");
    return cel_no_overload(ev, args, count);
}
