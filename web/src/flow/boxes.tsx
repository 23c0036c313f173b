// boxes.tsx - what stands on a canvas: steps, lanes, words on lines, places to put a step in, what undoes a step.
import { type DragEvent, memo, type ReactNode, useState } from 'react';
import { Icon } from '../lib/icons';
import { iconOf, nameOf } from '../lib/steps';
import { t } from '../lib/text';
import type { StepDef } from '../lib/types';
import { type At, type Edge, type Lane, type Layout, type Node, NODE_H, path, type Pill, PILL_H, type Slot } from './layout';

/** How one item is shown beside being there: a mark, a number, a colour. */
export interface Dress { tone?: string; className?: string; mark?: ReactNode; left?: ReactNode; right?: ReactNode; note?: string; said?: string }
/** Putting in and moving; without it the canvas is for reading. */
export interface Editing { chosen: Slot | null; choose: (slot: Slot | null) => void; drop: (slot: Slot, event: DragEvent) => void; keys: (event: React.KeyboardEvent, node: Node) => void }

const MOVED = 'text/pawl-move';
const dragOf = (edit: Editing | undefined, at: At) => ({ draggable: edit !== undefined, onDragStart: (event: DragEvent) => event.dataTransfer.setData(MOVED, JSON.stringify(at)) });

function LaneTitle({ step }: { step: StepDef }) {
    if (step.loop) {
        const most = (step.loop as { max?: unknown }).max;
        return <><span className="cut">{step.loop.for !== undefined ? t('{name}, for each', { name: nameOf(step) }) : t('{name}, again and again', { name: nameOf(step) })}</span>{most !== undefined && <span className="end t3">{t('at most {n}', { n: String(most) })}</span>}</>;
    }
    const join = step.parallel?.join;
    return <><span className="cut">{t('{name}, side by side', { name: nameOf(step) })}</span><span className="end t3">{join === 'any' ? t('goes on when one is done') : typeof join === 'number' ? t('goes on when {n} are done', { n: join }) : t('goes on when all are done')}</span></>;
}

interface BoxProps<T> { node: T; dress: Dress; isSelected: boolean; isHit: boolean; select: (at: At) => void; edit?: Editing; fold?: (code: string) => void }

const FoldButton = ({ node, isFolded, fold }: { node: Node; isFolded: boolean; fold: (code: string) => void }) => (
    <button type="button" className="foldmark" aria-expanded={!isFolded} aria-label={isFolded ? t('Unfold {name}', { name: nameOf(node.step) }) : t('Fold {name}', { name: nameOf(node.step) })} onClick={() => fold(node.code)}><Icon name={isFolded ? 'right' : 'down'} small /></button>
);

export function LaneBox({ node: lane, dress, isSelected, isHit, select, edit, fold }: BoxProps<Lane>) {
    return (
        <div className={`lane ${lane.kind === 'loop' ? 'loop' : ''} t-${dress.tone ?? 'none'} ${dress.className ?? ''} ${isSelected ? 'sel' : ''} ${isHit ? 'hit' : ''}`} style={{ left: lane.x, top: lane.y, width: lane.w, height: lane.h }}>
            <button type="button" className="hd" aria-pressed={isSelected} {...dragOf(edit, lane.at)} onClick={() => select(lane.at)} onKeyDown={(event) => edit?.keys(event, lane)}><Icon name={iconOf(lane.step)} small /><LaneTitle step={lane.step} />{dress.right}{dress.mark}</button>
            {fold && <FoldButton node={lane} isFolded={false} fold={fold} />}{dress.left}
        </div>
    );
}

export function NodeBox({ node, dress, isSelected, isHit, select, edit, fold }: BoxProps<Node>) {
    const { step } = node;
    return (
        <div className="nodewrap" style={{ left: node.x, top: node.y, width: node.w, height: node.h }}>
            {dress.left}
            <button type="button" data-code={step.code} title={step.name} aria-pressed={isSelected} className={`node t-${dress.tone ?? 'none'} ${dress.className ?? ''} ${isSelected ? 'sel' : ''} ${isHit ? 'hit' : ''}`} onClick={() => select(node.at)} {...dragOf(edit, node.at)} onKeyDown={(event) => edit?.keys(event, node)}>
                <span className="k"><Icon name={iconOf(step)} /></span>
                <span className="grow cut"><span className="nm cut">{step.code || step.name ? nameOf(step) : t('no code yet')}</span><span className="cd cut">{step.code}{node.folded !== undefined && ` · ${t('{n} step in it|{n} steps in it', { n: node.folded })}`}{dress.note}</span></span>
                {dress.right}{dress.said !== undefined && <span className="vh">{dress.said}</span>}
                {Boolean(step.rollback) && !dress.right && <span className="undomark" title={t('Has a rollback')}><Icon name="undo" small /></span>}
                {Boolean(step.rollback) && dress.right && <span className="badge" title={t('Has a rollback')}><Icon name="undo" /></span>}
                {dress.mark}
            </button>
            {fold && (node.folded !== undefined || step.branch) && <FoldButton node={node} isFolded={node.folded !== undefined} fold={fold} />}
        </div>
    );
}

const TONES = ['wire', 'done', 'live', 'way', 'add', 'del', 'off', 'undo', 'late'];
const toneOf = (name: string) => TONES.find((tone) => name.split(' ').includes(tone)) ?? 'wire';

export const Heads = ({ id }: { id: string }) => (
    <defs>{TONES.map((name) => (
        <marker key={name} id={`${id}-${name}`} viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M1 1l5.500 3L1 7" className={`head ${name}`} /></marker>
    ))}</defs>
);

export function Wire({ id, edge, tone }: { id: string; edge: Edge; tone: string }) {
    const kind = edge.kind === 'timeout' ? 'late' : edge.kind === 'next' ? '' : 'dash';
    return <path className={`wire ${tone} ${kind}`} data-from={edge.from} data-to={edge.to} data-kind={edge.kind} d={path(edge.points)} markerEnd={edge.hasHead ? `url(#${id}-${toneOf(`${tone} ${kind}`)})` : undefined} />;
}

/** A word on a line; where one can edit, it leads to the step that says so. */
export function Word({ edge, tone, select }: { edge: Edge; tone: string; select?: (at: At) => void }) {
    if (edge.label === undefined || !edge.labelAt) return null;
    const place = { left: edge.labelAt.x, top: edge.labelAt.y };
    const target = edge.of ?? (edge.way && edge.way.length > 0 ? edge.way.slice(0, typeof edge.way.at(-1) === 'number' ? -2 : -1) : undefined);
    const looks = `elab ${edge.kind === 'timeout' ? 'late' : edge.kind === 'jump' ? 'jump' : ''} ${tone}`;
    const inside = <>{edge.kind === 'timeout' && <Icon name="clock" small />}{edge.label}</>;
    return select && target ? <button type="button" className={looks} style={place} title={edge.title ?? edge.label} onClick={() => select(target)}>{inside}</button>
        : <span className={looks} style={place} title={edge.title ?? edge.label}>{inside}</span>;
}

export const PillBox = ({ pill, tone }: { pill: Pill; tone: string }) => (
    <span className={`endpill ${pill.kind} ${tone}`} style={{ left: pill.x - pill.w / 2, top: pill.y, width: pill.w, height: PILL_H }}>{pill.kind === 'start' && <Icon name="play" small />}{pill.label}</span>
);

export const slotKey = (slot: Slot | null) => (slot ? `${slot.list.join('/')}#${slot.index}` : '');

export const Slots = memo(function Slots({ drawn, edit }: { drawn: Layout; edit: Editing }) {
    const [over, drag] = useState('');
    return drawn.slots.map((slot) => {
        const key = slotKey(slot);
        const isOn = key === slotKey(edit.chosen);
        return (
            <button key={key} type="button" className={`slot ${slot.isOnly ? 'only' : ''} ${isOn ? 'on' : ''} ${over === key ? 'over' : ''}`} style={{ left: slot.x, top: slot.y }} aria-pressed={isOn} aria-label={t('Put a step here')} title={t('Put a step here')} onClick={() => edit.choose(isOn ? null : slot)}
                onDragOver={(event) => { event.preventDefault(); drag(key); }} onDragLeave={() => drag('')} onDrop={(event) => { event.preventDefault(); drag(''); edit.drop(slot, event); }}>
                <Icon name="plus" small />{slot.isOnly && <span>{isOn ? t('now choose a step at the left') : t('Put a step here')}</span>}
            </button>
        );
    });
});

export const UNDO_W = 176;
/** The lane at the right: what undoes each step, on its height. */
export function UndoLane({ nodes, x, nameOfUndo, order, select }: { nodes: Node[]; x: number; nameOfUndo: (step: StepDef) => string; order?: Map<string, number>; select: (at: At) => void }) {
    if (nodes.length === 0) return null;
    const top = Math.min(...nodes.map((node) => node.y));
    const bottom = Math.max(...nodes.map((node) => node.y + Math.min(node.h, NODE_H)));
    return (
        <>
            <div className="undobox" style={{ left: x - 14, top: top - 40, width: UNDO_W + 28, height: bottom - top + 54 }}><span className="hd"><Icon name="undo" small />{t('Undo lane, the last first')}</span></div>
            {nodes.map((node) => (
                <button key={node.at.join('/')} type="button" className="node undonode" style={{ left: x, top: node.y + Math.min(node.h, NODE_H) / 2 - NODE_H / 2, width: UNDO_W, height: NODE_H }} title={nameOfUndo(node.step)} onClick={() => select(node.at)}>
                    <span className="ord">{order?.get(node.code) ?? <Icon name="undo" small />}</span><span className="nm">{nameOfUndo(node.step)}</span>
                </button>
            ))}
        </>
    );
}
