// filters.ts - which executions are meant. What is chosen stands in the address, and nowhere else.
import { t } from '../../lib/text';
import { span } from '../../lib/time';

export const FIELDS = ['status', 'waiting', 'code', 'step', 'error', 'key', 'from', 'to', 'parent', 'kind', 'deadlineBefore'] as const;
export type Field = (typeof FIELDS)[number];
export type Filter = Partial<Record<Field | 'q', string>>;
export type Order = 'newest' | 'oldest';

export const STATUSES = ['pending', 'running', 'waiting', 'compensating', 'completed', 'failed', 'cancelled'];
export const WAITING = ['incident', 'signal', 'timer', 'retry', 'call', 'reconcile', 'job', 'task', 'child', 'paused'];
export const SPANS = ['1h', '24h', '7d', '30d'];

export const filterOf = (search: Record<string, string>): Filter =>
    Object.fromEntries([...FIELDS, 'q' as const].filter((name) => search[name]).map((name) => [name, search[name]]));

/** "status is failed", in the words of the pages. */
export function inWords(field: Field, value: string): [string, string, string] {
    const spoken = value.split(',').map((word) => (field === 'status' || field === 'waiting' ? t(waitingWord(field, word)) : word)).join(` ${t('or')} `);
    switch (field) {
        case 'status': return [t('status'), t('is'), spoken];
        case 'waiting': return [t('waits for'), '', spoken];
        case 'code': return [t('process'), t('is'), spoken];
        case 'step': return [t('step'), t('is'), value];
        case 'error': return [t('error'), t('is'), value];
        case 'key': return [t('key'), t('is'), value];
        case 'from': return /^\d+[smhd]$/.test(value) ? [t('started'), t('in the last'), span(value)] : [t('started'), t('after'), value];
        case 'to': return [t('started'), t('before'), value];
        case 'parent': return [t('started by'), '', `…${value.slice(-8)}`];
        case 'kind': return [t('kind'), t('is'), value];
        case 'deadlineBefore': return [t('deadline'), t('before'), value];
    }
}

export const waitingWord = (field: Field, word: string): string => (field === 'waiting' ? ({ incident: 'repair', signal: 'a signal', timer: 'its time', retry: 'another attempt', call: 'a call', reconcile: 'certainty', job: 'a worker', task: 'a task', child: 'a child', paused: 'being resumed' }[word] ?? word) : word);

const UNIT: Record<string, number> = { s: 1000, m: 60000, h: 3600000, d: 86400000 };

/** The same filter for ever: "the last 24 h" becomes times, and what starts later is not meant. */
export function frozen(filter: Filter, now: number): Filter {
    const result: Filter = { ...filter };
    const span = filter.from?.match(/^(\d+)([smhd])$/);
    if (span) result.from = new Date(now - Number(span[1]) * UNIT[span[2]!]!).toISOString();
    result.to ??= new Date(now).toISOString();
    return result;
}

export interface View { name: string; filter: Filter; builtIn?: boolean; glyph?: string }

export const builtInViews = (): View[] => [
    { name: t('All'), filter: {}, builtIn: true },
    { name: t('Needs a person'), filter: { waiting: 'incident' }, builtIn: true, glyph: 'held' },
    { name: t('Failed today'), filter: { status: 'failed', from: '24h' }, builtIn: true },
    { name: t('Waits for an answer'), filter: { waiting: 'signal' }, builtIn: true },
];

const STORED = 'pawl.views';

export const savedViews = (): View[] => {
    try {
        return JSON.parse(localStorage.getItem(STORED) ?? '[]') as View[];
    } catch {
        return [];
    }
};
export const saveViews = (views: View[]) => localStorage.setItem(STORED, JSON.stringify(views));

export const sameFilter = (a: Filter, b: Filter) => [...FIELDS, 'q' as const].every((name) => (a[name] ?? '') === (b[name] ?? ''));
