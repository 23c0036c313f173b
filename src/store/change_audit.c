/* change_audit.c - see change_audit.h. */
#include "store/change_audit.h"

enum apply_result audit_purge_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct audit_purge *p = (struct audit_purge *)m->change;

    if (!apply_write(a, SQL_AUDIT_PURGE, DB_PARAMS(db_int(p->before_us), db_int(p->limit)), status))
        return APPLY_FAILED;
    p->purged = db_changes(a->db);
    return APPLY_DONE;
}
