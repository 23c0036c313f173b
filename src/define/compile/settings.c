/* settings.c - `settings` of a scenario. */
#include "define/compile/compile.h"
#include "define/compile/mapping.h"
#include "define/compile/scenario.h"

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
        p->key = compile_computed(c, settings, "key");
        p->joins_by_key = compile_word(c, TABLE_SETTINGS, settings, "onKeyConflict") == 1;
    }
    compile_leave(c, outer);
}
