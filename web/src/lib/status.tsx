// status.tsx - how an execution stands: always a glyph and a word, a ground only when it wants somebody.
import { Glyph } from './icons';
import { t } from './text';
import type { Execution, WaitingFor } from './types';

export interface Look { glyph: string; tone: string; word: string; loud: boolean }

const LOOKS: Record<string, Look> = {
    pending: { glyph: 'pending', tone: 'none', word: 'pending', loud: false },
    running: { glyph: 'running', tone: 'run', word: 'running', loud: false },
    waiting: { glyph: 'waiting', tone: 'wait', word: 'waiting', loud: false },
    paused: { glyph: 'paused', tone: 'none', word: 'paused', loud: false },
    held: { glyph: 'held', tone: 'held', word: 'held', loud: true },
    unknown: { glyph: 'unknown', tone: 'held', word: 'outcome unknown', loud: true },
    compensating: { glyph: 'undoing', tone: 'undo', word: 'compensating', loud: true },
    compensated: { glyph: 'undone', tone: 'undo', word: 'undone', loud: false },
    rolledBack: { glyph: 'undone', tone: 'undo', word: 'rolled back', loud: true },
    undoFailed: { glyph: 'undofail', tone: 'undo', word: 'undo failed', loud: true },
    completed: { glyph: 'completed', tone: 'ok', word: 'completed', loud: false },
    cancelled: { glyph: 'cancelled', tone: 'none', word: 'cancelled', loud: false },
    failed: { glyph: 'failed', tone: 'bad', word: 'failed', loud: true },
    skipped: { glyph: 'cancelled', tone: 'none', word: 'skipped', loud: false },
    waiting_debug: { glyph: 'debug', tone: 'debug', word: 'stopped', loud: true },
    open: { glyph: 'held', tone: 'held', word: 'open', loud: true },
    live: { glyph: 'completed', tone: 'ok', word: 'all is well', loud: false },
    resolved: { glyph: 'completed', tone: 'ok', word: 'resolved', loud: false },
    retried: { glyph: 'completed', tone: 'ok', word: 'retried', loud: false },
};

export const lookOf = (name: string): Look => LOOKS[name] ?? { glyph: 'pending', tone: 'none', word: name, loud: false };

const isParked = (waiting: WaitingFor) => waiting.kind === 'reconcile' && !waiting.until;

/** "held" and "paused" are words of the pages for two kinds of waiting. */
export function stateOf(x: Pick<Execution, 'status' | 'waitingFor'>): string {
    if (x.status === 'waiting' && x.waitingFor) {
        if (x.waitingFor.kind === 'incident') return 'held';
        if (x.waitingFor.kind === 'paused') return 'paused';
        if (isParked(x.waitingFor)) return 'unknown';
        if (x.waitingFor.branches?.some((b) => b.kind === 'incident')) return 'held';
    }
    return x.status;
}

export const wasRolledBack = (x: Pick<Execution, 'error'>) => (x.error?.compensation?.compensated.length ?? 0) > 0;
export const undoFailed = (x: Pick<Execution, 'error'>) => (x.error?.compensation?.failed.length ?? 0) > 0;

export function Status({ name, pill, quiet }: { name: string; pill?: boolean; quiet?: boolean }) {
    const look = lookOf(name);
    const grounded = pill || (look.loud && !quiet);
    return (
        <span className={`st ${look.tone} ${grounded ? 'pill' : 'flat'}`}>
            <Glyph name={look.glyph} tone={look.tone} className={look.glyph === 'running' ? 'turn' : ''} />
            {t(look.word)}
        </span>
    );
}

/** A list of all statuses, for the page of keys. */
export const STATUSES = ['pending', 'running', 'waiting', 'paused', 'held', 'unknown', 'compensating', 'rolledBack', 'undoFailed', 'completed', 'cancelled', 'failed'];
