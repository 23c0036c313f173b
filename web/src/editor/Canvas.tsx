// Canvas.tsx - the definition as it runs: steps below each other, lanes, ways; where one can put a step in, and what undoes what.
import { type DragEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Glyph, Icon } from '../lib/icons';
import { arrange, type Edge, type List, type Node, NODE_H, path as line, type Slot } from '../lib/layout';
import { nameOf } from '../lib/steps';
import { t } from '../lib/text';
import type { StepDef } from '../lib/types';
import type { Catalog } from './catalog';
import type { Path } from './edits';
import { iconFor, samePath } from './model';
import '../screens/execution/graph.css';
import './canvas.css';

/** How one item is shown beside being there: a mark, a number, a colour. */
export interface Dress { tone?: 'here' | 'bad' | 'ok' | 'add' | 'del' | 'chg' | 'same' | 'way' | 'off' | 'undo'; mark?: ReactNode; left?: ReactNode; right?: ReactNode }

export interface CanvasProps {
    catalog: Catalog; list: List; selected: Path | null; select: (path: Path | null) => void; dress?: (node: Node) => Dress; edgeTone?: (edge: Edge) => string;
    /** Putting in and moving; without it the canvas is for reading. */
    edit?: { chosen: Slot | null; choose: (slot: Slot | null) => void; drop: (slot: Slot, event: DragEvent) => void; keys: (event: React.KeyboardEvent, node: Node) => void };
    undoLane?: boolean; undoOrder?: Map<string, number>; /** Room at the left of the steps, for what stands there. */ margin?: number; children?: ReactNode; label: string;
}

const UNDO_W = 176;
const UNDO_GAP = 64;

/** What undoes a step, in a word. */
export function undoName(rollback: unknown, catalog: Catalog): string {
    if (typeof rollback === 'string') return nameOf({ code: rollback });
    if (Array.isArray(rollback)) return rollback.map((one) => undoName(one, catalog)).join(', ');
    if (rollback && typeof rollback === 'object') {
        const own = rollback as { type?: string; procedure?: unknown };
        if (own.type) return catalog.commands.find((c) => c.name === own.type)?.label ?? own.type;
        return undoName(own.procedure, catalog);
    }
    return '';
}

export const slotKey = (slot: Slot | null) => (slot ? `${slot.list.join('/')}#${slot.index}` : '');

function laneTitle(step: StepDef): ReactNode {
    if (step.loop) return <><span className="cut">{step.loop.for !== undefined ? t('{name}, for each', { name: nameOf(step) }) : t('{name}, again and again', { name: nameOf(step) })}</span>{'max' in step.loop && <span className="end t3">{t('at most {n}', { n: String((step.loop as { max?: unknown }).max) })}</span>}</>;
    const join = step.parallel?.join;
    return <><span className="cut">{t('{name}, side by side', { name: nameOf(step) })}</span><span className="end t3">{join === 'any' ? t('goes on when one is done') : typeof join === 'number' ? t('goes on when {n} are done', { n: join }) : t('goes on when all are done')}</span></>;
}

export function Canvas({ catalog, list, selected, select, dress, edgeTone, edit, undoLane, undoOrder, margin = 32, children, label }: CanvasProps) {
    const drawn = useMemo(() => arrange(list, { slots: edit !== undefined, gap: edit ? 30 : 24 }), [list, edit !== undefined]);
    const box = useRef<HTMLDivElement>(null);
    const [zoom, scale] = useState(1);
    const [over, drag] = useState('');
    const undone = undoLane ? [...drawn.nodes, ...drawn.lanes].filter((node) => node.step.rollback) : [];
    const undoX = drawn.w + UNDO_GAP;
    const sheetW = undone.length > 0 ? undoX + UNDO_W + 16 : drawn.w;
    const sheetH = drawn.h + (edit ? 34 : 0);
    // The head of the undo lane stands above the first step that it undoes.
    const above = undone.length > 0 ? Math.max(0, 44 - Math.min(...undone.map((node) => node.y))) : 0;
    const fit = () => {
        const el = box.current;
        if (el && sheetW > 0) scale(Math.max(0.75, Math.min(1, (el.clientWidth - margin - 32) / sheetW)));
    };
    useEffect(fit, [sheetW]);
    useEffect(() => {
        box.current?.querySelector('.node.sel, .lane.sel > .hd')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [selected, drawn]);

    const tones = ['', 'way', 'add', 'del', 'off', 'undo'];
    const boxOf = (node: Node): { top: number; bottom: number } => ({ top: node.y, bottom: node.y + Math.min(node.h, NODE_H) });
    return (
        <div className={`graphbox plain ed-canvas ${edit ? 'editing' : ''}`}>
            <div className="canvas" ref={box} tabIndex={0} role="group" aria-label={label} onClick={(event) => { if (!(event.target as HTMLElement).closest('button')) select(null); }}>
                <div className="paper" style={{ width: sheetW * zoom + margin + 32, height: (sheetH + above) * zoom + 48 }}>
                    <div className="sheet" style={{ transform: `scale(${zoom})`, width: sheetW, height: sheetH, left: margin, marginTop: above * zoom }}>
                        {drawn.lanes.map((lane) => {
                            const own = dress?.(lane) ?? {};
                            return (
                                <div key={lane.at.join('/')} className={`lane ${lane.kind === 'loop' ? 'loop' : ''} t-${own.tone ?? 'none'} ${samePath(lane.at, selected) ? 'sel' : ''}`} style={{ left: lane.x, top: lane.y, width: lane.w, height: lane.h }}>
                                    <button type="button" className="hd" aria-pressed={samePath(lane.at, selected)} draggable={edit !== undefined} onDragStart={(event) => event.dataTransfer.setData('text/pawl-move', JSON.stringify(lane.at))} onClick={() => select(lane.at)} onKeyDown={(event) => edit?.keys(event, lane)}><Icon name={iconFor(catalog, lane.step)} small />{laneTitle(lane.step)}{own.right}{own.mark}</button>{own.left}
                                </div>
                            );
                        })}
                        {undone.length > 0 && <div className="undobox" style={{ left: undoX - 14, top: Math.min(...undone.map((n) => n.y)) - 40, width: UNDO_W + 28, height: Math.max(...undone.map((n) => boxOf(n).bottom)) - Math.min(...undone.map((n) => n.y)) + 54 }}><span className="hd"><Icon name="undo" small />{t('Undo lane, the last first')}</span></div>}
                        <svg className="wires" width={sheetW} height={sheetH} aria-hidden="true">
                            <defs>
                                {tones.map((name) => (
                                    <marker key={name} id={`ed-${name || 'wire'}`} viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M1 1l5.500 3L1 7" className={`head ${name}`} /></marker>
                                ))}
                            </defs>
                            {drawn.edges.map((edge, i) => {
                                const tone = edgeTone?.(edge) ?? '';
                                return <path key={i} className={`wire ${tone} ${edge.kind === 'next' ? '' : edge.kind === 'timeout' ? 'no late' : 'no'}`} d={line(edge.points)} markerEnd={edge.to || edge.kind !== 'next' ? `url(#ed-${tone || 'wire'})` : undefined} />;
                            })}
                            {undone.map((node) => {
                                const y = node.y + Math.min(node.h, NODE_H) / 2;
                                return <path key={node.at.join('/')} className="wire undo" d={line([{ x: node.x + node.w, y }, { x: undoX - 2, y }])} markerEnd="url(#ed-undo)" />;
                            })}
                        </svg>
                        {drawn.edges.map((edge, i) => edge.label && edge.labelAt && (
                            edit && edge.way && edge.way.length > 0
                                ? <button key={i} type="button" className={`elab ${edgeTone?.(edge) ?? ''}`} style={{ left: edge.labelAt.x, top: edge.labelAt.y }} title={edge.label} onClick={() => select(edge.way!.slice(0, typeof edge.way!.at(-1) === 'number' ? -2 : -1))}>{edge.label}</button>
                                : <span key={i} className={`elab ${edgeTone?.(edge) ?? ''}`} style={{ left: edge.labelAt.x, top: edge.labelAt.y }} title={edge.label}>{edge.label}</span>
                        ))}
                        {drawn.nodes.map((node) => {
                            const own = dress?.(node) ?? {};
                            return (
                                <div key={node.at.join('/')} className="nodewrap" style={{ left: node.x, top: node.y, width: node.w, height: node.h }}>
                                    {own.left}
                                    <button type="button" data-code={node.step.code} title={node.step.name} aria-pressed={samePath(node.at, selected)} className={`node t-${own.tone ?? 'none'} ${samePath(node.at, selected) ? 'sel' : ''}`} onClick={() => select(node.at)}
                                        draggable={edit !== undefined} onDragStart={(event) => event.dataTransfer.setData('text/pawl-move', JSON.stringify(node.at))} onKeyDown={(event) => edit?.keys(event, node)}>
                                        <span className="k"><Icon name={iconFor(catalog, node.step)} /></span>
                                        <span className="grow cut"><span className="nm cut">{node.step.code || node.step.name ? nameOf(node.step) : t('no code yet')}</span><span className="cd cut">{node.step.code}</span></span>
                                        {Boolean(node.step.rollback) && !own.right && <span className="undomark" title={t('Has a rollback')}><Icon name="undo" small /></span>}
                                        {own.right}{own.mark}
                                    </button>
                                </div>
                            );
                        })}
                        {undone.map((node) => (
                            <button key={node.at.join('/')} type="button" className="node undonode" style={{ left: undoX, top: node.y + Math.min(node.h, NODE_H) / 2 - NODE_H / 2, width: UNDO_W, height: NODE_H }} onClick={() => select(node.at)}>
                                <span className="ord">{undoOrder?.get(node.code) ?? <Icon name="undo" small />}</span><span className="nm">{undoName(node.step.rollback, catalog)}</span>
                            </button>
                        ))}
                        {edit && drawn.slots.map((slot) => {
                            const key = slotKey(slot);
                            const state = `${key === slotKey(edit.chosen) ? 'on' : ''} ${over === key ? 'over' : ''}`;
                            return (
                                <button key={key} type="button" className={`slot ${slot.isOnly ? 'only' : ''} ${state}`} style={{ left: slot.x, top: slot.y }} aria-pressed={key === slotKey(edit.chosen)} aria-label={t('Put a step here')} title={t('Put a step here')} onClick={() => edit.choose(key === slotKey(edit.chosen) ? null : slot)}
                                    onDragOver={(event) => { event.preventDefault(); drag(key); }} onDragLeave={() => drag('')} onDrop={(event) => { event.preventDefault(); drag(''); edit.drop(slot, event); }}>
                                    <Icon name="plus" small />{slot.isOnly && <span>{key === slotKey(edit.chosen) ? t('now choose a step at the left') : t('Put a step here')}</span>}
                                </button>
                            );
                        })}
                        {children}
                    </div>
                </div>
            </div>
            <div className="zoom">
                <button type="button" aria-label={t('Smaller')} onClick={() => scale((z) => Math.max(0.4, z - 0.1))}>−</button>
                <span className="pct num">{Math.round(zoom * 100)} %</span>
                <button type="button" aria-label={t('Larger')} onClick={() => scale((z) => Math.min(1.5, z + 0.1))}>+</button>
                <button type="button" aria-label={t('Fit')} onClick={fit}><Icon name="fit" /></button>
            </div>
        </div>
    );
}

export const ErrorMark = ({ errors, warnings }: { errors: number; warnings: number }) => (errors + warnings === 0 ? null : <span className="mark2" title={errors > 0 ? t('{n} error|{n} errors', { n: errors }) : t('{n} warning|{n} warnings', { n: warnings })}><Glyph name={errors > 0 ? 'error' : 'held'} tone={errors > 0 ? 'bad' : 'held'} /></span>);
