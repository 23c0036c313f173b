/* mock.c - what a trial answers in place of others; see inner.h and trial.h. */
#include "define/program.h"
#include "trial/inner.h"
#include "value/json.h"

/* The member, if the map has no other. */
static struct value only_member(struct value map, struct str name)
{
    return map.kind == VALUE_MAP && map.len == 1 ? value_map_get_str(map, name) : value_absent();
}

static size_t count_call(struct trial_run *r, struct str name)
{
    struct mock_count *added;

    for (size_t i = 0; i < r->counts.count; i++)
        if (str_eq(r->counts.items[i].name, name))
            return r->counts.items[i].count++;
    added = VEC_ADD(r->mem, &r->counts);
    *added = (struct mock_count){.name = str_copy(r->mem, name), .count = 1};
    return 0;
}

struct value mock_answer(struct trial_run *r, struct str name, struct value mock,
                         struct value *error)
{
    struct value answers = only_member(mock, STR("answers")), output;
    size_t nth = count_call(r, name);

    if (answers.kind == VALUE_LIST && answers.len > 0)
        mock = answers.items[nth < answers.len ? nth : answers.len - 1];
    *error = only_member(mock, STR("error"));
    if (error->kind == VALUE_MAP)
        return value_absent();
    output = only_member(mock, STR("output"));
    return output.kind != VALUE_ABSENT ? output : mock;
}

void mock_note(struct trial_run *r, struct str name, struct value input)
{
    *VEC_ADD(r->mem, &r->out->calls) = (struct trial_call){
        .name = str_copy(r->mem, name),
        .input = input.kind == VALUE_ABSENT ? input : value_copy(r->mem, input)};
}

/* --- processes --- */

static const char completes[] =
    "{\"code\":\"mock\",\"steps\":[{\"code\":\"mock\",\"procedure\":"
    "{\"type\":\"compute.transform\",\"data\":\"$.meta.output\"}}],\"meta\":{\"output\":";

/* The class of an error is a word of the definition; a mock has one that exists. */
static const char fails[] =
    "{\"code\":\"mock\",\"onError\":\"fail_fast\",\"steps\":[{\"code\":\"mock\",\"procedure\":"
    "{\"type\":\"compute.fail\",\"code\":\"=$.meta.error.?code.orValue('failed')\","
    "\"message\":\"=$.meta.error.?message.orValue('the mock failed')\",\"class\":\"%.*s\"}}],"
    "\"meta\":{\"error\":";

const struct program *mock_process(struct trial_run *r, struct str code, struct value mock)
{
    struct value error, output = mock_answer(r, code, mock, &error), definition;
    bool has_failed = output.kind == VALUE_ABSENT;
    const struct program *program = NULL;
    struct findings findings = {0};
    struct program *named;
    struct buf text;
    struct err err;

    buf_init_arena(&text, r->mem);
    if (has_failed) {
        struct value class = value_map_get_str(error, STR("class"));
        buf_printf(&text, fails,
                   STR_ARG(value_text_or(class, str_of(err_class_name(ERR_CLASS_BUSINESS)))));
    } else {
        buf_text(&text, completes);
    }
    if (!json_write(&text, has_failed ? error : output, &err))
        return NULL;
    buf_text(&text, "}}");
    if (!json_read(r->mem, buf_view(&text), &definition, &err))
        PANIC(err.message);
    /* It has no patterns, so there is nothing to release. */
    define_compile_scenario(r->mem, define_env(r->mem), definition, 0, &findings, &program);
    ASSERT(program != NULL);
    named = arena_alloc(r->mem, sizeof(*named));
    *named = *program;
    named->code = named->name = str_copy(r->mem, code);
    return named;
}

/* --- workers --- */

/* What the job that is awaited was given. */
static struct value job_input(struct trial_run *r, const struct actor *a, struct str awaited)
{
    struct value input = value_absent();
    struct err err;

    for (size_t i = a->history.count; i > 0; i--) {
        const struct history_row *row = &a->history.items[i - 1];

        if (row->kind != HISTORY_EVENT || !str_eq(row->key, awaited))
            continue;
        if (row->input_json.len > 0 && !json_read(r->mem, row->input_json, &input, &err))
            PANIC("a row of history does not read back");
        break;
    }
    return input;
}

/* --- calls --- */

static bool url_matches(struct str pattern, struct str url)
{
    if (str_ends_with(pattern, STR("*")))
        return str_starts_with(url, str_slice(pattern, 0, pattern.len - 1));
    return str_eq(pattern, url);
}

/* The mock of a call: of several that match, each answers once and the last one on. */
static struct value find_call(struct trial_run *r, struct str method, struct str url)
{
    struct value mocks = r->script->mocks.http, found = value_absent();
    size_t nth = count_call(r, str_printf(r->mem, "%.*s %.*s", STR_ARG(method), STR_ARG(url)));

    for (uint32_t i = 0; mocks.kind == VALUE_LIST && i < mocks.len; i++) {
        struct value wanted = value_map_get_str(mocks.items[i], STR("method"));

        if (!url_matches(value_text(value_map_get_str(mocks.items[i], STR("url"))), url) ||
            (wanted.kind == VALUE_STRING && !str_eq(value_text(wanted), method)))
            continue;
        found = mocks.items[i];
        if (nth-- == 0)
            break;
    }
    return found;
}

/* {status_code, headers, body} as a service would have answered. */
static struct value call_answer(struct trial_run *r, struct value response)
{
    static const char *const names[] = {"status_code", "headers", "body"};
    const struct value defaults[] = {value_int(200), value_map_empty(), value_null()};
    struct value_entry *entries = ARENA_ARRAY(r->mem, ARRAY_SIZE(names), struct value_entry);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct value v = value_map_member(response, str_of(names[i]));

        value_entry_add(entries, &count, str_of(names[i]),
                        v.kind == VALUE_ABSENT ? defaults[i] : v);
    }
    return value_map_take(r->mem, entries, count);
}

static bool mock_call(struct trial_run *r, const struct actor *a, const struct cursor *c,
                      struct value why, struct event *out)
{
    struct value method = value_map_get_str(why, STR("method"));
    struct value url = value_map_get_str(why, STR("url")), mock, error;

    if (method.kind != VALUE_STRING || url.kind != VALUE_STRING)
        return false;
    mock = find_call(r, value_text(method), value_text(url));
    if (mock.kind != VALUE_MAP)
        return false;
    mock_note(
        r, str_printf(r->mem, "%.*s %.*s", STR_ARG(value_text(method)), STR_ARG(value_text(url))),
        job_input(r, a, c->awaited));
    error = value_map_get_str(mock, STR("error"));
    *out = (struct event){.kind = EVENT_ANSWER,
                          .answer_seq = c->asked_seq,
                          .answer_output = value_absent(),
                          .answer_error = error};
    if (error.kind == VALUE_ABSENT)
        out->answer_output = call_answer(r, value_map_get_str(mock, STR("response")));
    return true;
}

/* The answer to what a strand has asked for. */
static bool mock_strand(struct trial_run *r, const struct actor *a, const struct cursor *cursor,
                        struct str waits, struct event *out)
{
    struct value why, name, mock, error;
    struct str awaited = cursor->awaited;
    struct err err;

    if (awaited.len == 0 || waits.len == 0 || !json_read(r->mem, waits, &why, &err))
        return false;
    if (call_is_awaited(cursor))
        return mock_call(r, a, cursor, why, out);
    name = value_map_get_str(why, STR("procedure"));
    if (name.kind != VALUE_STRING)
        return false;
    mock = value_map_member(r->script->mocks.procedures, value_text(name));
    if (mock.kind == VALUE_ABSENT)
        return false;
    mock_note(r, value_text(name), job_input(r, a, awaited));
    *out = (struct event){.kind = EVENT_ANSWER, .answer_key = awaited};
    out->answer_output = mock_answer(r, value_text(name), mock, &error);
    out->answer_error = error;
    return true;
}

bool mock_job(struct trial_run *r, const struct actor *a, struct event *out)
{
    if (status_is_terminal(a->x->status))
        return false;
    for (uint32_t i = 0; i < execution_strands(a->x); i++)
        if (mock_strand(r, a, execution_cursor(a->x, i), execution_waits(a->x, i), out))
            return true;
    for (uint32_t i = 0; i < a->x->reminding_count; i++)
        if (mock_strand(r, a, &a->x->reminding[i]->cursor, a->x->reminding[i]->waiting_for_json,
                        out))
            return true;
    return false;
}
