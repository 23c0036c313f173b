/* err.c - the table of err.def and the functions that read it. */
#include "base/err.h"

#include "base/names.h"

static const struct {
    const char *name;
    int status;
    enum err_class class;
    bool retryable;
} table[] = {
#define ERR(symbol, code, http_status, saga_class, may_retry)                                      \
    {.name = (code),                                                                               \
     .status = (http_status),                                                                      \
     .class = ERR_CLASS_##saga_class,                                                              \
     .retryable = (may_retry)},
#include "base/err.def"
#undef ERR
};

/* Made aside, so that *err may be among the arguments. */
bool err_vset(struct err *err, enum err_code code, uint32_t line, uint32_t column,
              const char *format, va_list args)
{
    struct err made;
    struct sentence_writer w = {.text = made.message,
                                .capacity = sizeof(made.message),
                                .parts = made.parts,
                                .part_capacity = ERR_PARTS_MAX};

    sentence_vwrite(&w, format, args);
    made.code = code;
    made.line = line;
    made.column = column;
    made.about = ERR_ABOUT_NOTHING;
    made.part_count = (uint8_t)w.part_count;
    *err = made;
    return false;
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)err_vset(err, code, 0, 0, format, args);
    va_end(args);
    return false;
}

bool err_set_at(struct err *err, enum err_code code, uint32_t line, uint32_t column,
                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)err_vset(err, code, line, column, format, args);
    va_end(args);
    return false;
}

bool err_set_hint(struct err *err, const char *format, ...)
{
    uint8_t about = err->about;
    struct err hint;
    va_list args;

    va_start(args, format);
    (void)err_vset(&hint, err->code, 0, 0, format, args);
    va_end(args);
    (void)err_set_at(err, err->code, err->line, err->column, sentence_hinted, ERR_ARG(err),
                     ERR_ARG(&hint));
    err->about = about;
    return false;
}

struct sentence err_sentence(const struct err *err)
{
    return (struct sentence){
        .text = str_of(err->message), .parts = err->parts, .part_count = err->part_count};
}

struct str err_name(const struct err *err, enum err_about about)
{
    struct sentence plain = sentence_plain(err_sentence(err));

    return err->about == about && plain.part_count > 1 ? sentence_at(plain, 1).text : STR_NONE;
}

const char *err_code_name(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].name;
}

int err_http_status(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].status;
}

enum err_class err_class_of(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].class;
}

bool err_is_retryable(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].retryable;
}

static const char *const class_names[] = {
#define ERR_CLASS(symbol, name) (name),
#include "base/err_class.def"
#undef ERR_CLASS
};

NAMES_NAME(err_class_name, enum err_class, class_names)

enum err_class err_class_find(struct str name)
{
    int found = names_find(class_names, sizeof(class_names[0]), ARRAY_SIZE(class_names), name);

    return found < 0 ? ERR_CLASS_NONE : (enum err_class)found;
}
