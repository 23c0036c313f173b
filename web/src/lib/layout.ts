// layout.ts - where the steps of a definition stand: one below the other, branches side by side, loops in a box. Pure.
import { jumpsOf, timeoutTo } from './steps';
import type { StepDef } from './types';

export const NODE_W = 212;
export const NODE_H = 44;
const GAP = 22; // between steps
const LABEL_GAP = 40; // where an edge carries a word
const PAD = 16;
const HEAD = 32;
const COLUMN_GAP = 18;

export interface Point { x: number; y: number }
export interface Node { code: string; step: StepDef; x: number; y: number; w: number; h: number }
export interface Lane { code: string; step: StepDef; kind: 'loop' | 'parallel'; x: number; y: number; w: number; h: number }
export interface Edge { from: string; to: string; points: Point[]; label?: string; labelAt?: Point; kind: 'next' | 'jump' | 'timeout' }
export interface Layout { nodes: Node[]; lanes: Lane[]; edges: Edge[]; w: number; h: number }

interface Block { w: number; h: number; firsts: string[]; lasts: string[]; place: (x: number, y: number) => void; top: () => Point; bottom: () => Point; falls: boolean }

const short = (text: string, most = 26) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function layout(steps: StepDef[], otherwise = 'otherwise'): Layout {
    const nodes: Node[] = [];
    const lanes: Lane[] = [];
    const edges: Edge[] = [];

    const connect = (from: string[], to: string[], a: Point, b: Point, label?: string, labelAt?: Point) => {
        const middle = (a.y + b.y) / 2;
        const points = a.x === b.x ? [a, b] : [a, { x: a.x, y: middle }, { x: b.x, y: middle }, b];
        edges.push({ from: from[0] ?? '', to: to[0] ?? '', points, label, labelAt, kind: 'next' });
    };

    function plain(step: StepDef): Block {
        const node: Node = { code: step.code, step, x: 0, y: 0, w: NODE_W, h: NODE_H };
        return {
            w: NODE_W, h: NODE_H, firsts: [step.code], lasts: [step.code], falls: !jumpsOf(step).some((jump) => jump.always),
            place: (x, y) => { node.x = x; node.y = y; nodes.push(node); },
            top: () => ({ x: node.x + NODE_W / 2, y: node.y }), bottom: () => ({ x: node.x + NODE_W / 2, y: node.y + NODE_H }),
        };
    }

    function lane(step: StepDef, kind: Lane['kind'], inner: Block): Block {
        const box: Lane = { code: step.code, step, kind, x: 0, y: 0, w: Math.max(inner.w, NODE_W) + 2 * PAD, h: HEAD + inner.h + 2 * PAD };
        return {
            w: box.w, h: box.h, firsts: [step.code], lasts: [step.code], falls: true,
            place: (x, y) => {
                box.x = x;
                box.y = y;
                lanes.push(box);
                inner.place(x + (box.w - inner.w) / 2, y + HEAD + PAD);
            },
            top: () => ({ x: box.x + box.w / 2, y: box.y }), bottom: () => ({ x: box.x + box.w / 2, y: box.y + box.h }),
        };
    }

    function columns(parts: Block[], gapAbove: number): Omit<Block, 'top' | 'bottom'> & { at: Point } {
        const w = parts.reduce((sum, part) => sum + part.w, 0) + COLUMN_GAP * Math.max(0, parts.length - 1);
        const h = Math.max(0, ...parts.map((part) => part.h));
        const at = { x: 0, y: 0 };
        return {
            w, h: h + gapAbove, at, firsts: parts.flatMap((part) => part.firsts), lasts: parts.flatMap((part) => part.lasts), falls: true,
            place: (x, y) => {
                at.x = x;
                at.y = y;
                let left = x;
                for (const part of parts) {
                    part.place(left, y + gapAbove);
                    left += part.w + COLUMN_GAP;
                }
            },
        };
    }

    const hollow = (): Block => {
        const at = { x: 0, y: 0 };
        return { w: 90, h: 0, firsts: [], lasts: [], falls: true, place: (x, y) => { at.x = x; at.y = y; }, top: () => ({ x: at.x + 45, y: at.y }), bottom: () => ({ x: at.x + 45, y: at.y }) };
    };

    function branch(step: StepDef): Block {
        const head = plain(step);
        const ways = step.branch ?? [];
        const hasElse = ways.some((way) => !way.when);
        const parts = [...ways.map((way) => (way.steps.length ? sequence(way.steps) : hollow())), ...(hasElse ? [] : [hollow()])];
        const cols = columns(parts, LABEL_GAP);
        const w = Math.max(NODE_W, cols.w);
        const h = NODE_H + cols.h + GAP;
        const at = { x: 0, y: 0 };
        return {
            w, h, firsts: [step.code], lasts: [step.code], falls: true,
            place: (x, y) => {
                at.x = x;
                at.y = y;
                head.place(x + (w - NODE_W) / 2, y);
                cols.place(x + (w - cols.w) / 2, y + NODE_H);
                const end = { x: x + w / 2, y: y + h };
                parts.forEach((part, i) => {
                    const a = head.bottom();
                    const b = part.top();
                    const way = ways[i];
                    const label = way ? (way.name ?? (way.when ? short(way.when.replaceAll('$.', '')) : otherwise)) : otherwise;
                    const turn = a.y + 12;
                    edges.push({ from: step.code, to: part.firsts[0] ?? '', kind: 'next', points: a.x === b.x ? [a, b] : [a, { x: a.x, y: turn }, { x: b.x, y: turn }, b], label, labelAt: { x: b.x, y: a.y + 25 } });
                    const out = part.bottom();
                    const low = end.y - 10;
                    edges.push({ from: part.lasts.at(-1) ?? step.code, to: '', kind: 'next', points: out.x === end.x ? [out, end] : [out, { x: out.x, y: low }, { x: end.x, y: low }, end] });
                });
            },
            top: () => head.top(), bottom: () => ({ x: at.x + w / 2, y: at.y + h }),
        };
    }

    function block(step: StepDef): Block {
        if (step.loop) return lane(step, 'loop', sequence(step.loop.steps));
        if (step.parallel) {
            const parts = step.parallel.branches.map((steps) => (steps.length ? sequence(steps) : hollow()));
            const cols = columns(parts, 0);
            return lane(step, 'parallel', { ...cols, top: () => ({ x: cols.at.x + cols.w / 2, y: cols.at.y }), bottom: () => ({ x: cols.at.x + cols.w / 2, y: cols.at.y + cols.h }) });
        }
        if (step.branch) return branch(step);
        return plain(step);
    }

    function sequence(list: StepDef[]): Block {
        const blocks = list.map(block);
        const w = Math.max(NODE_W, ...blocks.map((b) => b.w));
        const h = blocks.reduce((sum, b) => sum + b.h, 0) + GAP * Math.max(0, blocks.length - 1);
        return {
            w, h, firsts: blocks[0]?.firsts ?? [], lasts: blocks.at(-1)?.lasts ?? [], falls: true,
            place: (x, y) => {
                let top = y;
                blocks.forEach((b, i) => {
                    b.place(x + (w - b.w) / 2, top);
                    const before = blocks[i - 1];
                    if (before?.falls) connect(before.lasts, b.firsts, before.bottom(), b.top());
                    top += b.h + GAP;
                });
            },
            top: () => blocks[0]!.top(), bottom: () => blocks.at(-1)!.bottom(),
        };
    }

    if (steps.length === 0) return { nodes, lanes, edges, w: 0, h: 0 };
    const whole = sequence(steps);
    whole.place(0, 0);

    // Jumps run along the right side, each in a lane of its own.
    const places = new Map<string, { x: number; y: number; w: number; h: number }>([...nodes.map((n) => [n.code, n] as const), ...lanes.map((l) => [l.code, l] as const)]);
    let aside = 0;
    for (const { code, step } of [...nodes, ...lanes]) {
        const jumps = jumpsOf(step).filter((jump) => places.has(jump.to)).map((jump) => ({ to: jump.to, label: jump.when ? short(jump.when.replaceAll('$.', ''), 18) : undefined, kind: 'jump' as const }));
        const late = timeoutTo(step);
        const order = steps.findIndex((s) => s.code === code);
        const isNext = order >= 0 && steps[order + 1]?.code === late;
        const all = [...jumps, ...(late && places.has(late) && !(isNext && jumps.length === 0) ? [{ to: late, label: undefined, kind: 'timeout' as const }] : [])];
        for (const jump of all) {
            const a = places.get(code)!;
            const b = places.get(jump.to)!;
            const right = whole.w + 16 + 12 * (aside++ % 5);
            const from = { x: a.x + a.w, y: a.y + a.h / 2 + (jump.kind === 'timeout' ? 8 : -4) };
            const to = { x: b.x + b.w, y: b.y + Math.min(b.h, NODE_H) / 2 };
            edges.push({ from: code, to: jump.to, points: [from, { x: right, y: from.y }, { x: right, y: to.y }, to], kind: jump.kind, label: jump.label });
        }
    }
    return { nodes, lanes, edges, w: whole.w + (aside > 0 ? 28 + 12 * Math.min(aside, 5) : 0), h: whole.h };
}

/** Right angles with corners of radius `r`. */
export function path(points: Point[], r = 8): string {
    let d = `M${points[0]!.x} ${points[0]!.y}`;
    for (let i = 1; i < points.length; i++) {
        const p = points[i]!;
        const next = points[i + 1];
        const before = points[i - 1]!;
        if (!next) {
            d += `L${p.x} ${p.y}`;
            continue;
        }
        const inLen = Math.hypot(p.x - before.x, p.y - before.y);
        const outLen = Math.hypot(next.x - p.x, next.y - p.y);
        const c = Math.min(r, inLen / 2, outLen / 2);
        const a = { x: p.x - (Math.sign(p.x - before.x)) * c, y: p.y - (Math.sign(p.y - before.y)) * c };
        const b = { x: p.x + (Math.sign(next.x - p.x)) * c, y: p.y + (Math.sign(next.y - p.y)) * c };
        d += `L${a.x} ${a.y}Q${p.x} ${p.y} ${b.x} ${b.y}`;
    }
    return d;
}
