// Graph.tsx - the steps of the version that runs, with what became of each, and where it stands now.
import { useEffect, useMemo, useRef, useState } from 'react';
import { Glyph, Icon } from '../../lib/icons';
import { layout, path } from '../../lib/layout';
import { lookOf } from '../../lib/status';
import { iconOf, nameOf } from '../../lib/steps';
import { t } from '../../lib/text';
import type { Definition, Step, StepDef } from '../../lib/types';
import './graph.css';

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

/** The steps inside a lane, those of lanes within it too. */
function codesIn(step: StepDef): string[] {
    const inner = [...(step.loop?.steps ?? []), ...(step.parallel?.branches.flat() ?? []), ...(step.branch?.flatMap((way) => way.steps) ?? [])];
    return inner.flatMap((one) => [one.code, ...codesIn(one)]);
}

const CLASS: Record<string, string> = { completed: '', failed: 'bad', undone: 'undone', undoFailed: 'undone', skipped: 'skipped', waiting: 'live', running: 'live', held: 'held', paused: 'live', compensating: 'live', unknown: 'held' };

export function Graph({ definition, states, selected, select, plain, ended }: { /** How the execution ended: a lane without a row of its own ended so. */ ended?: string; definition: Definition; states: Map<string, StepState>; selected: string | null; select: (code: string) => void; plain?: boolean }) {
    const drawn = useMemo(() => layout(definition.steps ?? [], t('otherwise')), [definition]);
    const box = useRef<HTMLDivElement>(null);
    const [zoom, scale] = useState(1);
    const undoLane = [...states.values()].some((s) => s.undoneOrder.length > 0) ? 76 : 0;
    const fit = () => {
        const el = box.current;
        if (!el || drawn.w === 0) return;
        scale(Math.max(0.75, Math.min(1, (el.clientWidth - 48) / (drawn.w + undoLane), 1)));
    };
    useEffect(fit, [drawn, undoLane]);
    useEffect(() => {
        const el = box.current?.querySelector('.node.live, .node.held, .node.bad');
        el?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [states, zoom]);

    // A lane has a row of history only when it has ended: until then what is in it says that it was reached.
    const under = useMemo(() => new Set(drawn.lanes.filter((lane) => !states.get(lane.code)?.state && codesIn(lane.step).some((code) => states.get(code)?.state)).map((lane) => lane.code)), [drawn, states]);
    const reached = (code: string) => under.has(code) || (states.get(code)?.state ?? '') !== '';
    const isLive = (code: string) => ['live', 'held'].includes(CLASS[states.get(code)?.state ?? ''] ?? '');
    const at = new Map([...drawn.nodes, ...drawn.lanes].map((n) => [n.code, n]));
    const undone = [...states].flatMap(([code, s]) => s.undoneOrder.map((order) => ({ code, order }))).sort((a, b) => a.order - b.order);
    const stops = [...new Set(undone.map((u) => u.code))].map((code) => ({ code, orders: undone.filter((u) => u.code === code).map((u) => u.order), place: at.get(code) })).filter((s) => s.place);
    const failed = drawn.nodes.find((n) => states.get(n.code)?.state === 'failed');

    const mark = (edge: (typeof drawn.edges)[number]) => {
        if (edge.kind !== 'next') return edge.kind === 'timeout' ? 'wire no late' : 'wire no';
        const target = edge.to ? reached(edge.to) : reached(edge.from) && !isLive(edge.from) && !under.has(edge.from);
        if (edge.to && isLive(edge.to) && reached(edge.from)) return 'wire live';
        return reached(edge.from) && target ? 'wire done' : 'wire no';
    };
    const arrow = (kind: string) => (kind.includes('live') ? 'live' : kind.includes('done') ? 'done' : kind.includes('undo') ? 'undo' : 'wire');

    return (
        <div className={`graphbox ${plain ? 'plain' : ''}`}><div className="canvas" ref={box} tabIndex={0} role="group" aria-label={t('Graph of the steps')}>
            <div className="paper" style={{ width: (drawn.w + undoLane) * zoom + 48, height: drawn.h * zoom + 48 }}>
                <div className="sheet" style={{ transform: `scale(${zoom})`, width: drawn.w + undoLane, height: drawn.h }}>
                    {drawn.lanes.map((lane) => {
                        const state = under.has(lane.code) ? { state: ended ?? 'running', visits: 1, undoneOrder: [] } : states.get(lane.code);
                        const what = lane.kind === 'loop' ? (lane.step.loop?.for ? t('{name}, for each', { name: nameOf(lane.step) }) : t('{name}, again and again', { name: nameOf(lane.step) })) : t('{name}, side by side', { name: nameOf(lane.step) });
                        return (
                            <div key={lane.code} className={`lane ${lane.kind === 'loop' ? 'loop' : ''} ${state ? '' : 'later'}`} style={{ left: lane.x, top: lane.y, width: lane.w, height: lane.h }}>
                                <button type="button" className="hd" onClick={() => select(lane.code)}><Icon name={iconOf(lane.step)} small /><span className="cut">{what}</span>{state && <span className="end"><Glyph name={lookOf(state.state === 'undone' ? 'compensated' : state.state).glyph} tone={lookOf(state.state === 'undone' ? 'compensated' : state.state).tone} /></span>}</button>
                            </div>
                        );
                    })}
                    <svg className="wires" width={drawn.w + undoLane} height={drawn.h} aria-hidden="true">
                        <defs>
                            {['wire', 'done', 'live', 'undo'].map((name) => (
                                <marker key={name} id={`arrow-${name}`} viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
                                    <path d="M1 1l5.500 3L1 7" className={`head ${name}`} />
                                </marker>
                            ))}
                        </defs>
                        {drawn.edges.map((edge, i) => {
                            const kind = mark(edge);
                            return <path key={i} className={kind} d={path(edge.points)} markerEnd={edge.to || edge.kind !== 'next' ? `url(#arrow-${arrow(kind)})` : undefined} />;
                        })}
                        {stops.map((stop, i) => {
                            const from = i === 0 ? failed : stops[i - 1]!.place!;
                            const to = stop.place!;
                            if (!from || from === to) return null;
                            const x = drawn.w + 24;
                            const y = to.y + Math.min(to.h, 44) / 2 + (i < stops.length - 1 ? 6 : 0);
                            return <path key={stop.code} className="wire undo" d={path([{ x: from.x + from.w, y: from.y + Math.min(from.h, 44) / 2 - 6 }, { x, y: from.y + Math.min(from.h, 44) / 2 - 6 }, { x, y }, { x: to.x + to.w, y }])} markerEnd="url(#arrow-undo)" />;
                        })}
                    </svg>
                    {stops.map((stop) => <span key={stop.code} className="ord" style={{ left: drawn.w + 34, top: stop.place!.y + Math.min(stop.place!.h, 44) / 2 - 10, width: stop.orders.length > 1 ? 'auto' : undefined }} title={t('Undone as number {n}', { n: stop.orders.join(', ') })}>{stop.orders.length > 3 ? `${stop.orders[0]}–${stop.orders.at(-1)}` : stop.orders.join(', ')}</span>)}
                    {drawn.edges.map((edge, i) => edge.label && edge.labelAt && <span key={i} className={`elab ${reached(edge.from) && edge.to && reached(edge.to) ? 'taken' : ''}`} style={{ left: edge.labelAt.x, top: edge.labelAt.y }} title={edge.label}>{edge.label}</span>)}
                    {drawn.nodes.map((node) => {
                        const state = states.get(node.code);
                        const look = state ? lookOf(state.state === 'undone' ? 'compensated' : state.state) : null;
                        return (
                            <button type="button" key={node.code} onClick={() => select(node.code)} aria-pressed={selected === node.code}
                                className={`node ${state ? (CLASS[state.state] ?? '') : 'later'} ${selected === node.code ? 'sel' : ''}`} style={{ left: node.x, top: node.y, width: node.w, height: node.h }}>
                                <span className="k"><Icon name={iconOf(node.step)} /></span>
                                <span className="grow"><span className="nm cut">{nameOf(node.step)}</span><span className="cd cut">{node.code}{state && state.visits > 1 ? ` × ${state.visits}` : ''}</span></span>
                                {look && <Glyph name={look.glyph} tone={look.tone} className={look.glyph === 'running' ? 'turn' : ''} />}<span className="vh">{plain ? '' : look ? t(look.word) : t('not reached')}</span>
                                {Boolean(node.step.rollback) && <span className="badge" title={t('Has a rollback')}><Icon name="undo" /></span>}
                            </button>
                        );
                    })}
                </div>
            </div>
            </div><div className="zoom">
                <button type="button" aria-label={t('Smaller')} onClick={() => scale((z) => Math.max(0.4, z - 0.1))}>−</button>
                <button type="button" aria-label={t('Larger')} onClick={() => scale((z) => Math.min(1.5, z + 0.1))}>+</button>
                <button type="button" aria-label={t('Fit')} onClick={fit}><Icon name="fit" /></button>
            </div>
        </div>
    );
}
