/* commit_log.c - see commit_log.h. */
#include "node/commit_log.h"

#include "base/log.h"
#include "define/program.h"
#include "engine/show.h"
#include "engine/trace.h"
#include "value/json.h"

enum { FIELDS_MAX = 12 };

/* The fields of one line; those without a text are left out. */
struct line {
    struct log_field fields[FIELDS_MAX + 1];
    size_t count;
};

static void line_add(struct line *l, const char *name, struct str text)
{
    if (text.len > 0 && l->count < FIELDS_MAX)
        l->fields[l->count++] = log_str(name, text);
}

/* What is wrong: {code, message}, without what is sensitive. */
static void line_add_error(struct line *l, struct arena *mem, const struct mask *mask,
                           struct str error_json)
{
    struct value error, code, message;
    struct err err;

    if (error_json.len == 0 || !json_read(mem, error_json, &error, &err) || error.kind != VALUE_MAP)
        return;
    code = value_map_get_str(error, STR("code"));
    message = value_map_get_str(error, STR("message"));
    if (code.kind == VALUE_STRING)
        line_add(l, "error", mask_text(mem, mask, value_text(code)));
    if (message.kind == VALUE_STRING)
        line_add(l, "reason", mask_text(mem, mask, value_text(message)));
}

/* What every line says: which execution, and who asked for what led to it. */
static void line_begin(struct line *l, struct arena *mem, const struct mask *mask,
                       const struct execution *x, const struct node_request *r)
{
    *l = (struct line){0};
    line_add(l, "execution", uuid_text(mem, x->id));
    line_add(l, "code", x->program->code);
    line_add(l, "traceId", trace_id_text(mem, x));
    line_add(l, "key", mask_text(mem, mask, x->key));
    if (r != NULL && r->name.number > 0) {
        line_add(l, "requestId",
                 str_printf(mem, "%08x-%llx", r->name.run, (unsigned long long)r->name.number));
        line_add(l, "user", r->user.name);
    }
}

static const char *letter_words(struct str kind)
{
    if (str_eq(kind, str_of(letter_kind_name(LETTER_INCIDENT))))
        return "an execution is held";
    if (str_eq(kind, str_of(letter_kind_name(LETTER_COMPENSATION))))
        return "a rollback was given up";
    return "an execution is parked: it is not known what became of a step";
}

static struct str error_step(struct arena *mem, struct str error_json)
{
    struct value error, step = value_absent();
    struct err err;

    if (error_json.len > 0 && json_read(mem, error_json, &error, &err) && error.kind == VALUE_MAP)
        step = value_map_get_str(error, STR("step"));
    return value_text_or(step, STR_NONE);
}

void commit_log(const struct commit *commit, const struct node_request *r,
                enum execution_status before)
{
    const struct execution *x = commit->after;
    bool has_failed = x->status == STATUS_FAILED && before != STATUS_FAILED;
    struct mask mask = {0};
    struct arena mem;
    struct line l;

    if (!has_failed && commit->dead_letters.count == 0)
        return;
    arena_init(&mem);
    show_mask(&mem, x, &mask);
    for (size_t i = 0; i < commit->dead_letters.count; i++) {
        const struct dead_letter *letter = &commit->dead_letters.items[i];

        line_begin(&l, &mem, &mask, x, r);
        line_add(&l, "step", letter->step);
        line_add_error(&l, &mem, &mask, letter->cause_json);
        log_write(LOG_WARN, letter_words(letter->kind), l.fields);
    }
    if (has_failed) {
        line_begin(&l, &mem, &mask, x, r);
        line_add(&l, "step", error_step(&mem, x->error_json));
        line_add_error(&l, &mem, &mask, x->error_json);
        log_write(LOG_WARN, "an execution failed", l.fields);
    }
    arena_fini(&mem);
}

void commit_log_lines(struct arena *mem, const struct commit *commit)
{
    static const enum log_level levels[] = {LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR};
    static const char *const names[] = {"debug", "info", "warn", "error"};
    struct mask mask = {0};

    if (commit->logs.count > 0)
        show_mask(mem, commit->after, &mask);
    for (size_t i = 0; i < commit->logs.count; i++) {
        const struct log_line *line = &commit->logs.items[i];
        enum log_level level = LOG_INFO;
        struct line l;

        for (size_t k = 0; k < ARRAY_SIZE(names); k++)
            if (str_eq(line->level, str_of(names[k])))
                level = levels[k];
        line_begin(&l, mem, &mask, commit->after, NULL);
        line_add(&l, "step", line->step);
        line_add(&l, "text", mask_text(mem, &mask, line->message));
        line_add(&l, "data", mask_json(mem, &mask, line->data_json));
        log_write(level, "process log", l.fields);
    }
}
