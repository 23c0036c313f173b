// timeline.ts - what the bars are and where they lie. Pure; times in ms.
import { isWait } from '../../lib/steps';
import { type Execution, type Step, type StepDef, timeOf, type WaitingFor } from '../../lib/types';

export interface Bar {
    id: string; step: string; note: string; lane: 'forward' | 'back'; state: string; from: number; to: number; open: boolean; waits: boolean;
    row: Step | null; retryFrom: number | null; wait?: WaitingFor; marks?: Mark[];
}

/** A reminder that was sent while it waited, or the signal that came. */
export interface Mark { at: number; kind: 'reminder' | 'signal' }

const waitsNow = (x: Execution): WaitingFor[] => {
    if (!x.waitingFor) return [];
    const { branches, ...first } = x.waitingFor;
    if (x.waitingFor.kind === 'paused') return branches?.length ? branches : [first];
    return branches?.length ? branches : [first];
};

export function barsOf(x: Execution, rows: Step[], steps: Map<string, StepDef>, now: number): Bar[] {
    const bars: Bar[] = [];
    const reminders: Step[] = [];
    const ended = new Map<string, number>(); // the end of the attempt before, by step, visit and lane
    for (const row of rows) {
        if (row.kind === 'event' || !row.step) continue;
        if (row.kind === 'reminder') {
            reminders.push(row);
            continue;
        }
        const lane = row.kind === 'rollback' ? 'back' : 'forward';
        const from = Date.parse(timeOf(row));
        const to = row.completedAt ? Date.parse(row.completedAt) : now;
        const before = `${row.step} ${row.visit} ${lane}`;
        const retryFrom = row.attempt > 1 ? (ended.get(before) ?? null) : null;
        ended.set(before, to);
        const note = [row.kind === 'reconcile' ? 'reconcile' : '', row.attempt > 1 ? `attempt ${row.attempt}` : '', row.visit > 1 ? `visit ${row.visit}` : ''].filter(Boolean).join(', ');
        bars.push({ id: row.id, step: row.step, note, lane, state: row.status, from, to, open: !row.completedAt, waits: lane === 'forward' && isWait(steps.get(row.step)), row, retryFrom });
    }
    if (['running', 'waiting', 'compensating', 'pending'].includes(x.status)) {
        for (const wait of waitsNow(x)) {
            if (!wait.step || wait.kind === 'incident') continue;
            bars.push({ id: `open-${wait.step}`, step: wait.step, note: wait.kind === 'retry' ? 'waits to try again' : '', lane: x.status === 'compensating' ? 'back' : 'forward', state: x.status === 'compensating' ? 'compensating' : 'waiting', from: wait.since ? Date.parse(wait.since) : now, to: now, open: true, waits: true, row: null, retryFrom: null, wait });
        }
        if (!x.waitingFor && x.currentStep) bars.push({ id: `open-${x.currentStep}`, step: x.currentStep, note: '', lane: x.status === 'compensating' ? 'back' : 'forward', state: x.status, from: Date.parse(x.updatedAt), to: now, open: true, waits: false, row: null, retryFrom: null });
    }
    for (const bar of bars) {
        const got = bar.waits && bar.row?.output && typeof bar.row.output === 'object' ? (bar.row.output as { receivedAt?: string }).receivedAt : undefined;
        if (got) bar.marks = [{ at: Date.parse(got), kind: 'signal' }];
    }
    for (const sent of reminders) {
        const at = Date.parse(timeOf(sent));
        const wait = bars.find((bar) => bar.step === sent.step && bar.waits && at >= bar.from && at <= bar.to);
        if (wait) wait.marks = [...(wait.marks ?? []), { at, kind: 'reminder' }];
        else bars.push({ id: sent.id, step: sent.step ?? '', note: 'reminder', lane: 'forward', state: sent.status, from: at, to: sent.completedAt ? Date.parse(sent.completedAt) : at, open: false, waits: false, row: sent, retryFrom: null });
    }
    return bars;
}

export interface Scale { at: (ms: number) => number; ticks: { at: number; ms: number }[]; folds: { at: number; width: number; ms: number }[] }

const FOLD_FROM = 60000;
const FOLD_WIDTH = 44;

/** Where a time lies, in pixels of `width`. Folded, what only waits for over a minute is 44 px wide. */
export function scaleOf(bars: Bar[], start: number, end: number, width: number, fold: boolean): Scale {
    const span = Math.max(1, end - start);
    if (!fold) return { at: (ms) => ((ms - start) / span) * width, ticks: [{ at: 0, ms: start }, { at: width, ms: end }], folds: [] };
    const busy = bars.filter((bar) => !bar.waits).map((bar) => [bar.from, Math.max(bar.to, bar.from)] as const).sort((a, b) => a[0] - b[0]);
    const gaps: [number, number][] = [];
    let until = start;
    for (const [from, to] of [...busy, [end, end] as const]) {
        if (from - until > FOLD_FROM) gaps.push([until, from]);
        until = Math.max(until, to);
    }
    const folded = gaps.reduce((sum, [a, b]) => sum + b - a, 0);
    // Work that is over in no time needs no room: the folds share what is left.
    const isBrief = span - folded < 1000;
    const room = isBrief ? Math.min(width / 2, 24 * (gaps.length + 1)) : Math.max(40, width - gaps.length * FOLD_WIDTH);
    const foldWidth = gaps.length === 0 ? 0 : isBrief ? (width - room) / gaps.length : FOLD_WIDTH;
    const perMs = room / Math.max(1, span - folded);
    const at = (ms: number) => {
        let x = 0;
        let from = start;
        for (const [a, b] of gaps) {
            if (ms <= a) return x + (ms - from) * perMs;
            x += (a - from) * perMs;
            if (ms <= b) return x + ((ms - a) / (b - a)) * foldWidth;
            x += foldWidth;
            from = b;
        }
        return x + (ms - from) * perMs;
    };
    return { at, ticks: [start, ...gaps.flat(), end].map((ms) => ({ at: at(ms), ms })), folds: gaps.map(([a, b]) => ({ at: at(a), width: foldWidth, ms: b - a })) };
}

/** Labels are left out before they touch. */
export function readable(ticks: Scale['ticks'], apart: number): Scale['ticks'] {
    const result: Scale['ticks'] = [];
    for (const [i, tick] of ticks.entries()) {
        const last = i === ticks.length - 1;
        if (last) while (result.length > 0 && tick.at - result.at(-1)!.at < apart) result.pop();
        if (last || result.length === 0 || tick.at - result.at(-1)!.at >= apart) result.push(tick);
    }
    return result;
}

export interface Undoable { code: string; visits: number }

/** What would be undone now, the last first: each step that is completed and has a rollback, with how often it ran. */
export function undoableOf(bars: Bar[], steps: Map<string, StepDef>): Undoable[] {
    const visits = new Map<string, Set<number>>();
    for (const bar of bars) {
        if (bar.lane !== 'forward' || bar.state !== 'completed' || !bar.row || !steps.get(bar.step)?.rollback) continue;
        const own = visits.get(bar.step) ?? new Set();
        visits.delete(bar.step); // the one that ran last stands last
        visits.set(bar.step, own.add(bar.row.visit));
    }
    return [...visits].map(([code, own]) => ({ code, visits: own.size })).reverse();
}
