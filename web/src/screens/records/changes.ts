// changes.ts - which executions have written a record, and what each of them did.
import { t } from '../../lib/text';

/** One version of the record that an execution made. */
export interface Change {
    executionId: string; kind: string; code: string; version: number; key: string | null; status: string; waiting: string | null;
    action: 'created' | 'updated' | 'deleted'; recordVersion: number; step: string | null; stepKind: string; visit: number; attempt: number; at: string;
}

/** Changes that stand together and are of one execution, newest first. */
export function byExecution(changes: Change[]): Change[][] {
    const groups: Change[][] = [];
    for (const change of changes) {
        const last = groups.at(-1);
        if (last?.[0]?.executionId === change.executionId) last.push(change);
        else groups.push([change]);
    }
    return groups;
}

/** What one change did: "book made it", "undoing reserve changed it". */
export function didWhat(change: Change): string {
    const step = change.step ?? t('a step');
    if (change.stepKind === 'rollback') return change.action === 'deleted' ? t('undoing {step} deleted it', { step }) : t('undoing {step} changed it', { step });
    return change.action === 'created' ? t('{step} made it', { step }) : change.action === 'deleted' ? t('{step} deleted it', { step }) : t('{step} changed it', { step });
}
