// Graph.tsx - the steps of an execution with what became of each, the way that it took, and the way back.
import { memo, useMemo } from 'react';
import type { Dress } from '../../flow/boxes';
import { Flow } from '../../flow/Flow';
import { type Item, type Layout, type List, type Node, path, stepList } from '../../flow/layout';
import { wayOf } from '../../flow/way';
import { Glyph } from '../../lib/icons';
import { lookOf } from '../../lib/status';
import { t } from '../../lib/text';
import type { Definition, Step } from '../../lib/types';

export interface StepState { state: string; visits: number; undoneOrder: number[] }

/** What became of each step, from its history and from where the execution stands. */
export function statesOf(rows: Step[], live: Map<string, string>): Map<string, StepState> {
    const result = new Map<string, StepState>();
    let undone = 0;
    for (const row of rows) {
        if (!row.step || row.kind === 'event') continue;
        const state = result.get(row.step) ?? { state: '', visits: 0, undoneOrder: [] };
        if (row.kind === 'forward') {
            state.state = row.status;
            state.visits = Math.max(state.visits, row.visit);
        } else if (row.kind === 'rollback') {
            if (row.status === 'compensated') {
                state.undoneOrder.push(++undone);
                state.state = 'undone';
            } else if (row.status === 'failed') state.state = 'undoFailed';
        }
        result.set(row.step, state);
    }
    for (const [code, state] of live) result.set(code, { ...(result.get(code) ?? { visits: 0, undoneOrder: [] }), state });
    return result;
}

export const CLASS: Record<string, string> = { completed: '', failed: 'bad', undone: 'undone', undoFailed: 'undone', skipped: 'skipped', waiting: 'live', running: 'live', held: 'held', paused: 'live', compensating: 'live', unknown: 'held' };
const UNDO_LANE = 76;
const middleOf = (node: Node) => node.y + Math.min(node.h, 44) / 2;

/** From the step that failed to each that was undone, in the order in which that happened. */
function drawBack(drawn: Layout, states: Map<string, StepState>, head: (tone: string) => string) {
    const at = new Map([...drawn.nodes, ...drawn.lanes].map((node) => [node.code, node]));
    const undone = [...states].flatMap(([code, s]) => s.undoneOrder.map((order) => ({ code, order }))).sort((a, b) => a.order - b.order);
    const stops = [...new Set(undone.map((u) => u.code))].flatMap((code) => (at.has(code) ? [{ code, orders: undone.filter((u) => u.code === code).map((u) => u.order), place: at.get(code)! }] : []));
    const failed = drawn.nodes.find((node) => states.get(node.code)?.state === 'failed');
    const x = drawn.w + 24;
    return {
        lines: stops.map((stop, i) => {
            const from = i === 0 ? failed : stops[i - 1]!.place;
            if (!from || from === stop.place) return null;
            const [a, b] = [middleOf(from) - 6, middleOf(stop.place) + (i < stops.length - 1 ? 6 : 0)];
            return <path key={stop.code} className="wire undo" d={path([{ x: from.x + from.w, y: a }, { x, y: a }, { x, y: b }, { x: stop.place.x + stop.place.w, y: b }])} markerEnd={head('undo')} />;
        }),
        marks: stops.map((stop) => <span key={stop.code} className="ord" style={{ left: drawn.w + 34, top: middleOf(stop.place) - 10, width: stop.orders.length > 1 ? 'auto' : undefined }} title={t('Undone as number {n}', { n: stop.orders.join(', ') })}>{stop.orders.length > 3 ? `${stop.orders[0]}–${stop.orders.at(-1)}` : stop.orders.join(', ')}</span>),
    };
}

interface GraphProps {
    definition: Definition; states: Map<string, StepState>; selected: string | null; select: (code: string) => void;
    /** The history, and where it stands now; without it the steps are only there. */ rows?: Step[]; live?: Map<string, string>; /** How it ended. */ ended?: string;
}

export const Graph = memo(function Graph({ definition, states, selected, select, rows, live, ended }: GraphProps) {
    const list = useMemo(() => stepList(definition.steps ?? [], ['steps'], t('otherwise')), [definition]);
    const items = useMemo(() => { const all: Item[] = []; const walk = (inner: List) => inner.items.forEach((item) => { all.push(item); item.inside?.lists.forEach(walk); }); walk(list); return all; }, [list]);
    const way = useMemo(() => {
        if (!rows) return null;
        const stands = [...(live ?? [])].map(([step]) => ({ step, kind: 'forward', visit: Infinity, attempt: 1, status: 'waiting' }));
        return wayOf(list, [...rows, ...stands], ended === 'completed');
    }, [list, rows, live, ended]);
    const stateOf = (node: Node): string | undefined => {
        const own = states.get(node.step.code)?.state;
        // A lane has a row of history only when it has ended: until then what is in it says that it was reached.
        return own || (way?.visited.has(node.step.code) ? (ended ?? 'running') : undefined);
    };
    const dress = (node: Node): Dress => {
        if (!rows) return {};
        const state = stateOf(node);
        const look = state ? lookOf(state === 'undone' ? 'compensated' : state) : null;
        const visits = states.get(node.step.code)?.visits ?? 0;
        return {
            className: state ? (CLASS[state] ?? '') : 'later', note: visits > 1 ? ` × ${visits}` : undefined, said: look ? t(look.word) : t('not reached'),
            right: look ? <Glyph name={look.glyph} tone={look.tone} className={look.glyph === 'running' ? 'turn' : ''} /> : undefined,
        };
    };
    const isBack = [...states.values()].some((s) => s.undoneOrder.length > 0);
    return (
        <Flow label={t('Graph of the steps')} list={list} dress={dress} way={way} isLive={(code) => ['live', 'held'].includes(CLASS[states.get(code)?.state ?? ''] ?? '')}
            selected={items.find((item) => item.step.code === selected)?.at ?? null} select={(at) => { const item = at && items.find((one) => one.at.join('/') === at.join('/')); if (item) select(item.step.code); }}
            margin={24} aside={isBack ? { width: UNDO_LANE, draw: (drawn, head) => drawBack(drawn, states, head) } : undefined} />
    );
});
