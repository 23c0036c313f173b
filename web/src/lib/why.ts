// why.ts - where an execution stands and why, in one line; the sentence of its page is in screens/execution.
import { t } from './text';
import { when } from './time';
import { stateOf } from './status';
import type { Execution, WaitingFor } from './types';

export const listed = (names: string | string[] | undefined) => (Array.isArray(names) ? names.join(` ${t('or')} `) : (names ?? ''));

/** "group:directors" is what the engine calls it. */
export const whom = (assignee: string | string[]): string => (Array.isArray(assignee) ? assignee.map(whom).join(` ${t('or')} `) : assignee.startsWith('group:') ? t('the group {name}', { name: assignee.slice(6) }) : assignee.replace(/^user:/, ''));

export interface Line { step: string | null; text: string; strong?: boolean; quiet?: string }

function waits(w: WaitingFor): Omit<Line, 'step'> {
    const until = w.until ? t('until {when}', { when: when(w.until) }) : undefined;
    switch (w.kind) {
        case 'signal':
            if (w.assignee) return { text: t('for {whom} to answer', { whom: whom(w.assignee) }), quiet: w.title ? `“${w.title}”` : until };
            return { text: t('for the signal {type}', { type: listed(w.signalType) }), quiet: until };
        case 'timer': return { text: w.until ? t('for its time, {when}', { when: when(w.until, { seconds: true }) }) : t('for its time') };
        case 'retry': {
            const at = w.until;
            return { text: at ? t('to try again at {when}', { when: when(at, { seconds: true }) }) : t('to try again'), quiet: w.error?.message };
        }
        case 'call': return { text: t('for the answer of a call'), quiet: w.url };
        case 'job': return { text: t('for a worker'), quiet: w.procedure };
        case 'task': return { text: t('for a task') };
        case 'child': return { text: t('for what it has started'), quiet: w.code };
        case 'debug': return { text: t('stopped by a debugger') };
        case 'incident': return { text: w.error?.message ?? t('an operator decides'), strong: true, quiet: w.error?.code };
        case 'reconcile': return { text: t('to find out whether it happened'), quiet: w.error?.message };
        case 'paused': return { text: w.by ? t('paused by {name}', { name: w.by.name }) : t('paused'), quiet: w.reason };
        default: return { text: w.kind, quiet: until };
    }
}

const resultLine = (result: unknown): string => {
    if (result === null || result === undefined) return '';
    if (typeof result !== 'object') return String(result);
    return Object.entries(result as Record<string, unknown>)
        .filter(([, value]) => value !== null && typeof value !== 'object' && value !== '')
        .slice(0, 3)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ');
};

export function whereAndWhy(x: Execution): Line {
    const undone = x.error?.compensation?.compensated.length ?? 0;
    const undoneText = undone > 0 ? t('{n} step undone|{n} steps undone', { n: undone }) : undefined;
    const state = stateOf(x);
    if (x.status === 'failed') return { step: x.error?.step ?? null, text: x.error?.message ?? t('failed'), strong: true, quiet: undoneText };
    if (x.status === 'cancelled') return { step: null, text: x.error?.message && x.error.message !== 'cancelled' ? x.error.message : t('cancelled'), quiet: undoneText };
    if (x.status === 'completed') return { step: null, text: resultLine(x.result) };
    if (x.status === 'compensating') return { step: x.currentStep, text: t('undoing'), quiet: x.error?.message };
    if (x.waitingFor) {
        const held = state === 'held' && x.waitingFor.kind !== 'incident' ? x.waitingFor.branches?.find((b) => b.kind === 'incident') : undefined;
        const wait = held ?? x.waitingFor;
        const more = !held && (x.waitingFor.branchCount ?? x.waitingFor.branches?.length ?? 0);
        const line = waits(wait);
        return { step: wait.step ?? x.currentStep, ...line, quiet: line.quiet ?? (more && more > 1 ? t('and {n} more branches', { n: more - 1 }) : undefined) };
    }
    return { step: x.currentStep, text: '' };
}
