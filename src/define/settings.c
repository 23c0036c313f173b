/* settings.c - `settings` of a scenario. */
#include "define/compile.h"

static void compile_key(struct compiler *c, struct value v, struct program *p)
{
    size_t outer = compile_enter(c, STR("key"));

    if (v.kind == VALUE_STRING)
        p->key = compile_mapping(c, v);
    else
        compile_wrong_type(c, v, "a text");
    compile_leave(c, outer);
}

void compile_settings(struct compiler *c, struct value settings, struct program *p)
{
    size_t outer = compile_enter(c, STR("settings"));
    struct value v;

    if (compile_fields(c, settings, TABLE_SETTINGS)) {
        compile_timeout(c, settings, "timeout", &p->timeout_us);
        p->timeout_is_written = compile_has(settings, "timeout");
        v = compile_field(settings, "retryPolicy");
        if (v.kind != VALUE_ABSENT) {
            size_t inner = compile_enter(c, STR("retryPolicy"));
            p->retry_is_written = true;
            compile_retry(c, v, &p->retry);
            compile_leave(c, inner);
        }
        v = compile_field(settings, "key");
        if (v.kind != VALUE_ABSENT)
            compile_key(c, v, p);
        p->joins_by_key = compile_word(c, TABLE_SETTINGS, settings, "onKeyConflict") == 1;
    }
    compile_leave(c, outer);
}
