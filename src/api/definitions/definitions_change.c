/*
 * definitions_change.c - drafts, publishing and reverting.
 *
 * Checking a definition takes longer than the loop has time, so each call first
 * runs on a reader thread; what it found goes to the node, which makes it
 * durable. What is published is the text that was checked.
 */
#include "api/definitions/definitions.h"
#include "api/problem.h"
#include "api/repeat.h"
#include "store/read_definition.h"
#include "value/json.h"
#include "value/object.h"

/* What is known of a definition after it was checked. */
struct checked {
    struct definition_item item;
    bool is_valid;
    bool was_found;  /* publish: there is a draft; revert: there is a version */
    bool is_another; /* publish: If-Match is not the draft that there is */
    bool is_there;   /* publish: no draft, for all that was saved is published */
    struct str errors_json;
    struct findings findings;
    int64_t if_match;
    int64_t rests_on; /* revert: the version that is published */
    struct str summary;
};

static struct checked *new_checked(struct call *c)
{
    struct checked *k = ARENA_NEW(c->mem, struct checked);

    k->item.spec = definitions_kind(c);
    k->item.code = c->params[0];
    k->if_match = MATCH_WHATEVER;
    return k;
}

/* --- checking, on a reader thread --- */

/* The code in the definition is the one in the path, and so is its kind. */
static void check_path(struct arena *mem, struct checked *k, struct value definition)
{
    struct value own = value_map_get_str(definition, STR("code"));
    struct value kind = value_map_get_str(definition, STR("kind"));
    struct str code = k->item.code;

    if (own.kind == VALUE_STRING && !str_eq(value_text(own), code))
        body_finding(mem, &k->findings, "code", "bad_code",
                     "the definition calls itself '%.*s' and is saved as '%.*s'",
                     STR_ARG(value_text(own)), STR_ARG(code));
    if (kind.kind == VALUE_STRING && !str_eq(value_text(kind), str_of(k->item.spec->name)))
        body_finding(mem, &k->findings, "kind", "bad_value", "this is the place of a %s",
                     k->item.spec->name);
}

/* Published definitions that call the procedure must stay valid. */
static bool check_callers(struct reader *reader, struct world *w, const struct checked *k,
                          struct err *err)
{
    struct definition_names changed = {0}, except = {0};

    if (k->item.spec->kind != KIND_PROCEDURE || !k->is_valid)
        return true;
    *VEC_ADD(w->mem, &changed) =
        (struct definition_name){.kind = KIND_PROCEDURE, .name = k->item.code};
    *VEC_ADD(w->mem, &except) = changed.items[0];
    return definitions_still_valid(reader, w, &changed, &except, err);
}

static bool check(struct lookup *q, struct reader *reader, struct checked *k, bool is_published,
                  struct err *err)
{
    struct world w;
    struct value name;
    bool ok;

    if (!json_read(q->mem, k->item.text, &k->item.definition, err))
        return false;
    if (k->item.definition.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "a definition is a JSON object");
    name = value_map_get_str(k->item.definition, STR("name"));
    k->item.name = value_text_or(name, STR_NONE);
    if (!definitions_world(reader, q->mem, &w, err))
        return false;
    check_path(q->mem, k, k->item.definition);
    definitions_add(&w, &k->item);
    world_open(&w);
    world_check(&w, k->item.spec->kind, k->item.code, k->item.definition, &k->findings);
    findings_locate_json(q->mem, k->item.text, STR(""), &k->findings);
    k->is_valid = !findings_have_errors(&k->findings);
    ok = !is_published || check_callers(reader, &w, k, err);
    world_close(&w);
    k->errors_json =
        json_must_text(q->mem, problem_findings(q->mem, call_language(q->call), &k->findings));
    return ok;
}

/* --- saving a draft --- */

static bool run_save(struct lookup *q, struct reader *reader, struct err *err)
{
    return check(q, reader, q->args, false, err);
}

static struct str saved_json(struct arena *mem, const struct definition_change *d, int32_t *status)
{
    const struct checked *k = d->owner;
    struct buf out;

    *status = 200;
    object_begin(&out, mem);
    object_text(&out, "code", d->code);
    object_int(&out, "version", d->version);
    object_bool(&out, "valid", k->is_valid);
    object_json(&out, "errors", k->errors_json);
    return object_end(&out);
}

static void saved(struct node_request *r)
{
    definitions_answer(r, true);
}

static void save(struct lookup *q)
{
    struct checked *k = q->args;
    struct node_request *r = definitions_request(q->call, &k->item, DEFINITION_SAVE_DRAFT, saved);

    if (r == NULL)
        return;
    r->definitions->if_match = k->if_match;
    r->definitions->answer = saved_json;
    r->definitions->owner = k;
    call_submit(q->call, r);
}

void definitions_save_draft(struct call *c)
{
    struct checked *k = new_checked(c);

    k->item.text = c->http->body;
    if (!kind_allows_name(k->item.spec, k->item.code))
        call_refuse_text(c, ERR_INVALID, "%s", kind_name_rule(k->item.spec));
    else if (definitions_if_match(c, &k->if_match))
        lookup_start(c, k, run_save, save);
}

/* --- deleting a draft --- */

static void draft_deleted(struct node_request *r)
{
    if (!r->ok && r->err.code == ERR_NOT_FOUND)
        call_refuse_text(r->owner, ERR_NOT_FOUND, "there is no draft of this code");
    else
        definitions_answer(r, false);
}

void definitions_delete_draft(struct call *c)
{
    struct checked *k = new_checked(c);
    struct node_request *r;

    if (!definitions_if_match(c, &k->if_match))
        return;
    r = definitions_request(c, &k->item, DEFINITION_DELETE_DRAFT, draft_deleted);
    if (r == NULL)
        return;
    r->definitions->if_match = k->if_match;
    call_submit(c, r);
}

/* --- publishing --- */

/* A draft that says what is published has gone: publishing it changes nothing. */
static bool look_for_published(struct lookup *q, struct reader *reader, struct checked *k,
                               struct err *err)
{
    struct stored_definition now;

    if (!read_definition(reader, q->mem, str_of(k->item.spec->name), k->item.code, -1, &now,
                         &k->was_found, err))
        return false;
    k->is_there = k->was_found && str_eq(now.status, STR("published"));
    k->was_found = k->is_valid = k->is_there;
    if (k->is_there)
        k->rests_on = now.version;
    return true;
}

static bool run_publish(struct lookup *q, struct reader *reader, struct err *err)
{
    struct checked *k = q->args;
    struct stored_definition draft;

    if (!read_definition(reader, q->mem, str_of(k->item.spec->name), k->item.code, 0, &draft,
                         &k->was_found, err))
        return false;
    if (!k->was_found)
        return k->if_match != MATCH_WHATEVER || look_for_published(q, reader, k, err);
    k->is_another = k->if_match != MATCH_WHATEVER && k->if_match != MATCH_ANY_VERSION &&
                    k->if_match != draft.revision;
    k->item.text = draft.text;
    return k->is_another || check(q, reader, k, true, err);
}

static struct str published_json(struct arena *mem, const struct definition_change *d,
                                 int32_t *status)
{
    struct buf out;

    *status = 200;
    object_begin(&out, mem);
    object_text(&out, "code", d->code);
    object_int(&out, "version", d->version);
    return object_end(&out);
}

static void published(struct node_request *r)
{
    definitions_answer(r, false);
}

/* {"changeSummary": "..."}, for the audit log. */
static struct str summary_json(struct arena *mem, struct str summary)
{
    struct buf out;

    if (summary.len == 0)
        return STR_NONE;
    object_begin(&out, mem);
    object_text(&out, "changeSummary", summary);
    return object_end(&out);
}

static struct node_request *publication(struct call *c, struct checked *k,
                                        enum definition_action action,
                                        void (*done)(struct node_request *r))
{
    struct node_request *r = definitions_request(c, &k->item, action, done);

    if (r == NULL)
        return NULL;
    r->audit.details_json = summary_json(c->mem, k->summary);
    r->definitions->summary = k->summary;
    r->definitions->answer = published_json;
    return r;
}

/* Submit what can be published; else refuse, unless the Idempotency-Key has a stored answer. */
static void submit_publication(struct call *c, struct node_request *r, const struct checked *k,
                               const char *missing, const char *invalid)
{
    const struct finding *f = k->findings.items;
    struct err err;

    if (!k->was_found) {
        (void)err_set(&err, ERR_NOT_FOUND, "%s", missing);
    } else if (k->is_another) {
        (void)err_set(&err, ERR_PRECONDITION_FAILED,
                      "the draft is another one by now: read it before it is published");
    } else if (!k->is_valid) {
        while (f->is_warning)
            f++;
        (void)err_set(&err, ERR_INVALID, "%s: %pS", invalid, SENTENCE_ARG(f->message));
    } else {
        call_submit(c, r);
        return;
    }
    repeat_or_refuse(c, &r->idempotency, &err, &k->findings, STR_NONE);
}

static void publish(struct lookup *q)
{
    const struct checked *k = q->args;
    struct node_request *r = publication(
        q->call, q->args, k->is_there ? DEFINITION_KEEP : DEFINITION_PUBLISH, published);

    if (r != NULL) {
        r->definitions->has_rests_on = k->is_there;
        r->definitions->rests_on = k->rests_on;
        submit_publication(q->call, r, q->args,
                           PHRASE("there is no draft to be published; save one first"),
                           PHRASE("the draft cannot be published"));
    }
}

/* The code and {changeSummary}; refused when there is something wrong with them. */
static struct checked *read_publication(struct call *c)
{
    struct checked *k = new_checked(c);
    struct value summary;
    const struct body_field fields[] = {
        {"changeSummary", BODY_TEXT, false, .out = &summary, .max = SUMMARY_LEN_MAX}};

    if (!kind_allows_name(k->item.spec, k->item.code)) {
        call_refuse_text(c, ERR_NOT_FOUND, "there is no %s of this code", k->item.spec->name);
        return NULL;
    }
    if (!call_body(c, fields, 1))
        return NULL;
    k->summary = value_text_or(summary, STR_NONE);
    return k;
}

void definitions_publish(struct call *c)
{
    struct checked *k = read_publication(c);

    if (k != NULL && definitions_if_match(c, &k->if_match))
        lookup_start(c, k, run_publish, publish);
}

/* --- reverting --- */

/* The version to go back to must still be valid: functions and config may have been deleted. */
static bool run_revert(struct lookup *q, struct reader *reader, struct err *err)
{
    struct checked *k = q->args;
    struct str kind = str_of(k->item.spec->name);
    struct stored_definition now, before;
    bool found;

    if (!read_definition(reader, q->mem, kind, k->item.code, -1, &now, &k->was_found, err))
        return false;
    if (!k->was_found)
        return true;
    k->rests_on = now.version;
    k->is_valid = true;
    if (now.previous == 0)
        return true;
    if (!read_definition(reader, q->mem, kind, k->item.code, now.previous, &before, &found, err))
        return false;
    k->item.text = found ? before.text : STR_NONE;
    return !found || check(q, reader, k, true, err);
}

static void reverted(struct node_request *r)
{
    if (!r->ok && r->err.code == ERR_PRECONDITION_FAILED)
        call_refuse_text(r->owner, ERR_CONFLICT, "someone else has just published another version");
    else
        definitions_answer(r, false);
}

static void revert(struct lookup *q)
{
    const struct checked *k = q->args;
    struct node_request *r = publication(q->call, q->args, DEFINITION_REVERT, reverted);

    if (r == NULL)
        return;
    r->definitions->has_rests_on = true;
    r->definitions->rests_on = k->rests_on;
    submit_publication(q->call, r, k, PHRASE("nothing is published under this code"),
                       PHRASE("what was published before is not valid any more"));
}

void definitions_revert(struct call *c)
{
    struct checked *k = read_publication(c);

    if (k != NULL)
        lookup_start(c, k, run_revert, revert);
}
