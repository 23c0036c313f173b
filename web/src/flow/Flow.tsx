// Flow.tsx - the picture of a process: the same for the constructor, an execution and a dry-run.
//
// What it draws follows from the list of steps; how a step looks is its caller's (`dress`), and which lines were taken
// follows from a history (`way`). why: decision 0512
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { t } from '../lib/text';
import type { StepDef } from '../lib/types';
import { type Dress, type Editing, Heads, LaneBox, NodeBox, PillBox, Slots, UNDO_W, UndoLane, Wire, Word } from './boxes';
import './flow.css';
import { arrange, type At, type Edge, type Layout, type List, type Node, NODE_H, path } from './layout';
import { matches, Overview, Search, ZoomBar } from './Tools';
import { useViewport } from './useViewport';
import { isTaken, type Way } from './way';

export interface FlowProps {
    list: List; label: string; selected: At | null; select: (at: At | null) => void; dress?: (node: Node) => Dress;
    /** What was taken; without it every line is only there. `isLive`: it stands at this step now. */
    way?: Way | null; wayTone?: 'done' | 'way'; isLive?: (code: string) => boolean; edgeTone?: (edge: Edge) => string;
    edit?: Editing; undo?: (step: StepDef) => string; undoOrder?: Map<string, number>;
    /** Room at the left of the steps, for what stands there, and what stands at the right. */
    margin?: number; aside?: { width: number; draw: (drawn: Layout, head: (tone: string) => string) => { lines: ReactNode; marks: ReactNode } }; className?: string;
}

const UNDO_GAP = 40;
const FAR = 0.69; // from here on names alone are legible
const WRAP_FROM = 14;
const COLUMNS_MOST = 10;
const samePlace = (a: At | null, b: At) => a !== null && a.length === b.length && a.every((part, i) => part === b[i]);
const isWithin = (inner: At, outer: At) => inner.length > outer.length && outer.every((part, i) => part === inner[i]);

/** Lanes and branches that are folded; what is chosen inside of one opens it. */
function useFolded(drawn: (folded: ReadonlySet<string>) => Layout, selected: At | null) {
    const [folded, set] = useState<ReadonlySet<string>>(new Set());
    const layout = useMemo(() => drawn(folded), [drawn, folded]);
    useEffect(() => {
        if (!selected) return;
        const around = layout.nodes.filter((node) => node.folded !== undefined && isWithin(selected, node.at)).map((node) => node.code);
        if (around.length > 0) set((before) => new Set([...before].filter((code) => !around.includes(code))));
    }, [selected]);
    const fold = (code: string) => set((before) => { const next = new Set(before); if (!next.delete(code)) next.add(code); return next; });
    return { layout, folded, fold };
}

/** Whether something is being dragged on the page: places to drop it light up. */
function useDragging(isWanted: boolean) {
    const [isOn, set] = useState(false);
    useEffect(() => {
        if (!isWanted) return;
        // After the picture of what is dragged was taken: changing the page within the event would end the drag.
        const begin = (event: DragEvent) => { if (event.dataTransfer?.types.some((type) => type.startsWith('text/pawl-'))) setTimeout(() => set(true), 0); };
        const end = () => set(false);
        addEventListener('dragstart', begin);
        addEventListener('dragend', end);
        addEventListener('drop', end);
        return () => {
            removeEventListener('dragstart', begin);
            removeEventListener('dragend', end);
            removeEventListener('drop', end);
        };
    }, [isWanted]);
    return isOn;
}

function toneFor({ way, wayTone = 'done', isLive, edgeTone }: FlowProps) {
    return (edge: Edge): string => {
        if (edgeTone) return edgeTone(edge);
        if (!way) return '';
        if (!isTaken(way, edge.claim)) return 'no';
        return edge.to !== '' && isLive?.(edge.to) ? 'live' : wayTone;
    };
}

export function Flow(props: FlowProps) {
    const { list, label, selected, select, dress, way, wayTone = 'done', edit, undo, undoOrder, margin = 32, aside, className = '' } = props;
    const isEdited = edit !== undefined;
    const ends = list.at[0] === 'steps';
    const [columns, wrap] = useState(1);
    const drawIn = (folded: ReadonlySet<string>, n: number) => arrange(list, { slots: isEdited, gap: isEdited ? 30 : 24, folded, columns: n, ends: ends ? { start: t('start'), end: t('end') } : undefined });
    const draw = useMemo(() => (folded: ReadonlySet<string>) => drawIn(folded, columns), [list, isEdited, columns]);
    const { layout: drawn, folded, fold } = useFolded(draw, selected);
    const [sought, seek] = useState<string | null>(null);
    const isDragging = useDragging(isEdited);
    const id = useId().replaceAll(':', '');
    const box = useRef<HTMLDivElement>(null);
    const sheet = useRef<HTMLDivElement>(null);
    // In columns there is no place at the right of each step.
    const undone = undo && columns === 1 ? [...drawn.nodes, ...drawn.lanes].filter((node) => node.step.rollback) : [];
    const undoX = drawn.w + UNDO_GAP;
    const w = (undone.length > 0 ? undoX + UNDO_W + 16 : drawn.w) + (aside?.width ?? 0);
    const h = drawn.h + (isEdited ? 34 : 0);
    // The head of the undo lane stands above the first step that it undoes.
    const above = undone.length > 0 ? Math.max(0, 44 - Math.min(...undone.map((node) => node.y))) : 0;
    const view = useViewport(box, sheet, { w, h: h + above, margin });
    const { zoom } = view;
    useEffect(() => {
        box.current?.querySelector('.node.sel, .lane.sel > .hd, .node.live, .node.held, .node.bad')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [selected, drawn]);
    /** All of it at once: in as many columns as let it be largest. */
    const fit = () => {
        const choices = Array.from({ length: list.items.length >= WRAP_FROM ? COLUMNS_MOST : 1 }, (_, i) => ({ n: i + 1, size: drawIn(folded, i + 1) }));
        const best = choices.reduce((a, b) => (view.zoomFor(b.size.w, b.size.h) > view.zoomFor(a.size.w, a.size.h) ? b : a));
        const isOne = best.n === 1;
        wrap(best.n);
        view.fit(isOne ? w : best.size.w, isOne ? h + above : best.size.h + 34);
    };
    const reset = () => {
        wrap(1);
        view.to(1);
    };
    const tone = toneFor(props);
    const head = (name: string) => `url(#${id}-${name})`;
    const extra = aside?.draw(drawn, head);
    const common = (node: Node) => ({ dress: dress?.(node) ?? {}, isSelected: samePlace(selected, node.at), isHit: sought !== null && matches(node, sought), select, edit, fold });
    return (
        <div className={`graphbox ed-canvas ${isEdited ? 'editing' : ''} ${isDragging ? 'dragging' : ''} ${way ? '' : 'plain'} ${zoom < FAR ? 'far' : ''} ${className}`} onKeyDown={(event) => {
            if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') {
                event.preventDefault();
                seek(sought ?? '');
            }
        }}>
            <div className="canvas" ref={box} tabIndex={0} role="group" aria-label={label} {...view.drag} onClick={(event) => { if (!view.wasDragged() && !(event.target as HTMLElement).closest('button')) select(null); }}>
                <div className="paper" style={{ width: w * zoom + margin + 32, height: (h + above) * zoom + 48 }}>
                    <div className="sheet" ref={sheet} style={{ transform: `scale(${zoom})`, width: w, height: h, left: margin, marginTop: above * zoom }}>
                        {drawn.lanes.map((lane) => <LaneBox key={lane.at.join('/')} node={lane} {...common(lane)} />)}
                        <svg className="wires" width={w} height={h} aria-hidden="true">
                            <Heads id={id} />
                            {drawn.edges.map((edge, i) => <Wire key={i} id={id} edge={edge} tone={tone(edge)} />)}
                            {undone.map((node) => <path key={node.at.join('/')} className="wire undo" markerEnd={head('undo')} d={path([{ x: node.x + node.w, y: node.y + Math.min(node.h, NODE_H) / 2 }, { x: undoX - 2, y: node.y + Math.min(node.h, NODE_H) / 2 }])} />)}
                            {extra?.lines}
                        </svg>
                        {drawn.pills.map((pill, i) => <PillBox key={i} pill={pill} tone={!way ? '' : isTaken(way, pill.claim) ? wayTone : 'later'} />)}
                        {drawn.edges.map((edge, i) => <Word key={i} edge={edge} tone={tone(edge)} select={edit ? select : undefined} />)}
                        {drawn.nodes.map((node) => <NodeBox key={node.at.join('/')} node={node} {...common(node)} />)}
                        {undo && <UndoLane nodes={undone} x={undoX} nameOfUndo={undo} order={undoOrder} select={select} />}
                        {edit && <Slots drawn={drawn} edit={edit} />}
                        {extra?.marks}
                    </div>
                </div>
            </div>
            <Overview drawn={drawn} box={box} zoom={zoom} size={{ w: w + margin, h: h + above }} />
            {sought !== null && <Search drawn={drawn} sought={sought} seek={seek} go={(node) => { select(node.at); requestAnimationFrame(() => box.current?.querySelector('.node.sel, .lane.sel')?.scrollIntoView({ block: 'center', inline: 'nearest' })); }} close={() => seek(null)} />}
            <ZoomBar view={view} openSearch={() => seek(sought ?? '')} fit={fit} reset={reset} />
        </div>
    );
}
