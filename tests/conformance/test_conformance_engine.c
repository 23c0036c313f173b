/*
 * test_conformance_engine.c - the rules of scenarios, row by row, on the engine alone.
 *
 * Every row of cases/NAME.json is a test; README.md says how a row is written.
 * With CONFORMANCE_TRACE=FILE what came of each row is written there, a line of
 * JSON each: the other runners hold the server against that.
 */
#include "conformance/conformance_play.h"

#include "base/buf.h"
#include "value/json.h"
#include "value/object.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define FOLDER "tests/conformance/cases"

struct test_row {
    const char *name; /* FILE: RULE */
    struct value row;
};

static struct {
    VEC_OF(struct test_row);
} rows;

static struct arena mem;
static FILE *trace;

/* --- what came of a row --- */

static void add_value(struct buf *out, const char *name, struct value v)
{
    struct err err;

    object_name(out, name);
    if (!json_write(out, v, &err))
        fail_msg("%s: %s", name, err.message);
}

static struct value dead_letters(struct play *p)
{
    struct value *items = ARENA_ARRAY(&p->rig.mem, p->dead_letters.count + 1, struct value);
    struct buf out;

    for (size_t i = 0; i < p->dead_letters.count; i++) {
        const struct dead_letter *d = &p->dead_letters.items[i];

        buf_init_arena(&out, &p->rig.mem);
        buf_char(&out, '{');
        object_text(&out, "kind", d->kind);
        object_text(&out, "step", d->step);
        object_int(&out, "attempts", d->attempts);
        object_json(&out, "cause", d->cause_json);
        buf_char(&out, '}');
        if (!json_read(&p->rig.mem, buf_view(&out), &items[i], &p->rig.err))
            fail_msg("%s", p->rig.err.message);
    }
    return value_list(items, p->dead_letters.count);
}

static void write_trace(struct play *p, const char *name)
{
    struct buf out;

    if (trace == NULL)
        return;
    buf_init_arena(&out, &p->rig.mem);
    buf_char(&out, '{');
    object_text(&out, "name", str_of(name));
    add_value(&out, "findings", findings_value(&p->rig.mem, &p->findings));
    object_name(&out, "points");
    buf_char(&out, '[');
    for (size_t i = 0; i < p->points.count; i++) {
        const struct play_point *point = &p->points.items[i];

        object_next(&out);
        buf_char(&out, '{');
        object_int(&out, "at", point->at_us);
        object_int(&out, "event", point->event);
        object_int(&out, "rowVersion", point->row_version);
        object_int(&out, "refused", point->refused);
        buf_char(&out, '}');
    }
    buf_char(&out, ']');
    if (p->has_started) {
        add_value(&out, "shown", play_shown(p));
        add_value(&out, "steps", play_steps(p));
        add_value(&out, "deadLetters", dead_letters(p));
    }
    buf_char(&out, '}');
    if (fprintf(trace, "%.*s\n", STR_ARG(buf_view(&out))) < 0 || fflush(trace) != 0)
        fail_msg("the trace cannot be written");
}

/* --- what must have come of it --- */

static void must(const char *problem)
{
    if (problem != NULL)
        fail_msg("%s", problem);
}

static struct value logged(struct play *p)
{
    struct value *items = ARENA_ARRAY(&p->rig.mem, p->logs.count + 1, struct value);

    for (size_t i = 0; i < p->logs.count; i++)
        items[i] = value_string(p->logs.items[i].message);
    return value_list(items, p->logs.count);
}

/* The last rows, where all of them would be too many to write down. */
static struct value last_rows(struct value rows_all, struct value last)
{
    uint32_t count = last.len < rows_all.len ? last.len : rows_all.len;

    return value_list(rows_all.items + (rows_all.len - count), count);
}

static void check(struct play *p)
{
    struct arena *m = &p->rig.mem;
    struct value row = p->row, steps, last = match_member(row, "last");
    static const char *const lists[] = {"logs", "asked", "deadLetters"};

    must(p->problem);
    if (!p->has_started)
        return;
    steps = play_steps(p);
    if (match_member(row, "history").kind == VALUE_LIST)
        must(match_history(m, match_member(row, "history"), steps));
    if (last.kind == VALUE_LIST)
        must(match_history(m, last, last_rows(steps, last)));
    must(match_value(m, "end", match_member(row, "end"), play_shown(p)));
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        struct value wanted = match_member(row, lists[i]);
        struct value are = i == 0 ? logged(p) : i == 1 ? play_asked(p) : dead_letters(p);

        if (wanted.kind != VALUE_ABSENT)
            must(match_value(m, lists[i], wanted, are));
    }
}

/* A definition that must be refused, or warned of: the findings are those, and no others. */
static void check_findings(struct play *p)
{
    struct value wanted = match_member(p->row, "findings");

    if (wanted.kind == VALUE_LIST)
        must(match_value(&p->rig.mem, "findings", wanted,
                         findings_value(&p->rig.mem, &p->findings)));
    else if (p->rig.program == NULL)
        fail_msg("does not compile: %s",
                 match_text(&p->rig.mem, findings_value(&p->rig.mem, &p->findings)));
}

static void row_holds(void **state)
{
    const struct test_row *t = *state;
    struct play p;

    play_init(&p, t->row);
    if (p.rig.program != NULL)
        play_events(&p);
    write_trace(&p, t->name);
    check_findings(&p);
    check(&p);
    play_fini(&p);
}

/* --- reading the rows --- */

static struct value read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct value v = value_absent();
    struct buf text;
    struct err err;
    char part[4096];
    size_t count;

    if (file == NULL) {
        (void)fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    buf_init_arena(&text, &mem);
    while ((count = fread(part, 1, sizeof(part), file)) > 0)
        buf_add(&text, part, count);
    (void)fclose(file);
    if (!json_read(&mem, buf_view(&text), &v, &err) || v.kind != VALUE_LIST) {
        (void)fprintf(stderr, "%s:%u:%u: %s\n", path, err.line, err.column, err.message);
        exit(1);
    }
    return v;
}

static void read_rows(const char *file)
{
    struct value all = read_file(str_printf(&mem, FOLDER "/%s", file).ptr);

    for (uint32_t i = 0; i < all.len; i++) {
        struct value rule = match_member(all.items[i], "rule");
        int stem = (int)(strrchr(file, '.') - file);

        if (rule.kind != VALUE_STRING) {
            (void)fprintf(stderr, "%s: row %u has no rule\n", file, i);
            exit(1);
        }
        *VEC_ADD(&mem, &rows) = (struct test_row){
            .name = str_printf(&mem, "%.*s: %.*s", stem, file, STR_ARG(value_text(rule))).ptr,
            .row = all.items[i]};
    }
}

static int is_case_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot != NULL && strcmp(dot, ".json") == 0;
}

static void read_all(void)
{
    struct dirent **files;
    int count = scandir(FOLDER, &files, is_case_file, alphasort);

    if (count < 0) {
        (void)fprintf(stderr, FOLDER " cannot be read\n");
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        read_rows(files[i]->d_name);
        free(files[i]);
    }
    free(files);
}

int main(void)
{
    const char *path = getenv("CONFORMANCE_TRACE");
    struct CMUnitTest *tests;
    int failed;

    arena_init(&mem);
    read_all();
    if (path != NULL && (trace = fopen(path, "w")) == NULL) {
        (void)fprintf(stderr, "%s cannot be written\n", path);
        return 1;
    }
    tests = ARENA_ARRAY(&mem, rows.count, struct CMUnitTest);
    for (size_t i = 0; i < rows.count; i++)
        tests[i] = (struct CMUnitTest){
            .name = rows.items[i].name, .test_func = row_holds, .initial_state = &rows.items[i]};
    failed = _cmocka_run_group_tests("conformance", tests, rows.count, NULL, NULL);
    if (trace != NULL && fclose(trace) != 0)
        failed++;
    arena_fini(&mem);
    return failed;
}
