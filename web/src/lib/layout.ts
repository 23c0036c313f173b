// layout.ts - where the steps of a definition stand: one below the other, branches side by side, loops in a box. Pure.
//
// What is arranged is a list of items; the steps of a scenario are one such list, the commands of a procedure another.
import { jumpsOf, timeoutTo } from './steps';
import type { StepDef } from './types';

export const NODE_W = 212;
export const NODE_H = 44;
const LABEL_GAP = 40; // where an edge carries a word
const FORK = 22; // above and below branches that run side by side
const PAD = 16;
const HEAD = 32;
const COLUMN_GAP = 18;

/** Where something stands in the definition: ['steps', 0]. */
export type At = (string | number)[];
export interface List { at: At; items: Item[] }
export interface Item { code: string; step: StepDef; at: At; inside?: { kind: 'ways' | 'loop' | 'parallel'; lists: List[]; labels: string[] } }

export interface Point { x: number; y: number }
export interface Node { code: string; step: StepDef; at: At; x: number; y: number; w: number; h: number }
export interface Lane extends Node { kind: 'loop' | 'parallel' }
export interface Edge { from: string; to: string; points: Point[]; label?: string; labelAt?: Point; way?: At; kind: 'next' | 'jump' | 'timeout' }
/** A place where a step can be put in: before the item that is at `index` of the list now. */
export interface Slot { list: At; index: number; x: number; y: number; isOnly: boolean }
export interface Layout { nodes: Node[]; lanes: Lane[]; edges: Edge[]; slots: Slot[]; w: number; h: number }
export interface Options { slots?: boolean; gap?: number }

interface Block { w: number; h: number; first: string; last: string; place: (x: number, y: number) => void; top: () => Point; bottom: () => Point; falls: boolean }

const short = (text: string, most = 26) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const wayLabel = (way: { when?: string; name?: string }, otherwise: string) => way.name ?? (way.when ? short(way.when.replaceAll('$.', '')) : otherwise);

/** The steps of a scenario. A branch without a way for the rest has one that is empty, and nobody can put a step there. */
export function stepList(steps: StepDef[], at: At, otherwise: string): List {
    const items = steps.map((step, i): Item => {
        const own = [...at, i];
        const item: Item = { code: step.code, step, at: own };
        if (step.loop) item.inside = { kind: 'loop', lists: [stepList(step.loop.steps ?? [], [...own, 'loop', 'steps'], otherwise)], labels: [] };
        else if (step.parallel) item.inside = { kind: 'parallel', lists: (step.parallel.branches ?? []).map((branch, n) => stepList(branch, [...own, 'parallel', 'branches', n], otherwise)), labels: [] };
        else if (step.branch) {
            const ways = step.branch;
            const lists = ways.map((way, n) => stepList(way.steps ?? [], [...own, 'branch', n, 'steps'], otherwise));
            const isOpen = !ways.some((way) => way.when === undefined);
            item.inside = { kind: 'ways', lists: isOpen ? [...lists, { at: [], items: [] }] : lists, labels: [...ways.map((way) => wayLabel(way, otherwise)), ...(isOpen ? [otherwise] : [])] };
        }
        return item;
    });
    return { at, items };
}

export const layout = (steps: StepDef[], otherwise = 'otherwise', options: Options = {}): Layout => arrange(stepList(steps, ['steps'], otherwise), options);

export function arrange(list: List, { slots: withSlots = false, gap = 22 }: Options = {}): Layout {
    const nodes: Node[] = [];
    const lanes: Lane[] = [];
    const edges: Edge[] = [];
    const slots: Slot[] = [];

    const bend = (a: Point, b: Point, turn: number) => (a.x === b.x ? [a, b] : [a, { x: a.x, y: turn }, { x: b.x, y: turn }, b]);

    function plain(item: Item): Block {
        const node: Node = { code: item.code, step: item.step, at: item.at, x: 0, y: 0, w: NODE_W, h: NODE_H };
        return {
            w: NODE_W, h: NODE_H, first: item.code, last: item.code, falls: !jumpsOf(item.step).some((jump) => jump.always),
            place: (x, y) => { node.x = x; node.y = y; nodes.push(node); },
            top: () => ({ x: node.x + NODE_W / 2, y: node.y }), bottom: () => ({ x: node.x + NODE_W / 2, y: node.y + NODE_H }),
        };
    }

    /** Nothing is there: a line goes through, or a step can be put in. */
    function hollow(at: At): Block {
        const w = withSlots && at.length > 0 ? NODE_W : 90;
        const h = withSlots && at.length > 0 ? NODE_H : 0;
        const spot = { x: 0, y: 0 };
        return {
            w, h, first: '', last: '', falls: true,
            place: (x, y) => {
                spot.x = x;
                spot.y = y;
                if (h > 0) slots.push({ list: at, index: 0, x: x + w / 2, y: y + h / 2, isOnly: true });
            },
            top: () => ({ x: spot.x + w / 2, y: spot.y }), bottom: () => ({ x: spot.x + w / 2, y: spot.y + h }),
        };
    }

    function lane(item: Item, kind: Lane['kind'], inner: Block): Block {
        const box: Lane = { code: item.code, step: item.step, at: item.at, kind, x: 0, y: 0, w: Math.max(inner.w, NODE_W) + 2 * PAD, h: HEAD + inner.h + 2 * PAD };
        return {
            w: box.w, h: box.h, first: item.code, last: item.code, falls: true,
            place: (x, y) => {
                box.x = x;
                box.y = y;
                lanes.push(box);
                inner.place(x + (box.w - inner.w) / 2, y + HEAD + PAD);
            },
            top: () => ({ x: box.x + box.w / 2, y: box.y }), bottom: () => ({ x: box.x + box.w / 2, y: box.y + box.h }),
        };
    }

    /** Lists side by side below `head`, from which each is reached, with a word on the way. */
    function columns(item: Item, above: number, below: number, head: (x: number, y: number, w: number) => Point): Block {
        const { lists, labels } = item.inside!;
        const parts = lists.map((inner) => sequence(inner));
        const inside = parts.reduce((sum, part) => sum + part.w, 0) + COLUMN_GAP * Math.max(0, parts.length - 1);
        const w = Math.max(NODE_W, inside);
        const h = above + Math.max(0, ...parts.map((part) => part.h)) + below;
        const at = { x: 0, y: 0 };
        return {
            w, h, first: item.code, last: item.code, falls: true,
            place: (x, y) => {
                at.x = x;
                at.y = y;
                const a = head(x, y, w);
                const end = { x: x + w / 2, y: y + h };
                let left = x + (w - inside) / 2;
                parts.forEach((part, i) => {
                    part.place(left, y + above);
                    left += part.w + COLUMN_GAP;
                    const b = part.top();
                    const label = labels[i];
                    edges.push({ from: item.code, to: part.first, kind: 'next', points: bend(a, b, a.y + 10), label, labelAt: label === undefined ? undefined : { x: b.x, y: a.y + 25 }, way: item.inside!.kind === 'ways' ? lists[i]!.at.slice(0, -1) : undefined });
                    edges.push({ from: part.last || item.code, to: '', kind: 'next', points: bend(part.bottom(), end, end.y - 10) });
                });
            },
            top: () => ({ x: at.x + w / 2, y: at.y }), bottom: () => ({ x: at.x + w / 2, y: at.y + h }),
        };
    }

    function block(item: Item): Block {
        const inside = item.inside;
        if (!inside) return plain(item);
        if (inside.kind === 'loop') return lane(item, 'loop', sequence(inside.lists[0]!));
        if (inside.kind === 'parallel') return lane(item, 'parallel', columns(item, FORK, FORK, (x, y, w) => ({ x: x + w / 2, y })));
        const head = plain(item);
        return columns(item, NODE_H + LABEL_GAP, gap, (x, y, w) => {
            head.place(x + (w - NODE_W) / 2, y);
            return head.bottom();
        });
    }

    function sequence({ at, items }: List): Block {
        if (items.length === 0) return hollow(at);
        // In a lane the places at its ends stay clear of those outside of it.
        const reach = at.length === 1 ? gap / 2 : 9;
        const blocks = items.map(block);
        const w = Math.max(NODE_W, ...blocks.map((b) => b.w));
        const h = blocks.reduce((sum, b) => sum + b.h, 0) + gap * (blocks.length - 1);
        return {
            w, h, first: blocks[0]!.first, last: blocks.at(-1)!.last, falls: true,
            place: (x, y) => {
                let top = y;
                blocks.forEach((b, i) => {
                    b.place(x + (w - b.w) / 2, top);
                    const before = blocks[i - 1];
                    if (before?.falls) edges.push({ from: before.last, to: b.first, points: bend(before.bottom(), b.top(), (before.bottom().y + b.top().y) / 2), kind: 'next' });
                    if (withSlots) slots.push({ list: at, index: i, x: b.top().x, y: i === 0 ? top - reach : top - gap / 2, isOnly: false });
                    top += b.h + gap;
                });
                if (withSlots) slots.push({ list: at, index: blocks.length, x: blocks.at(-1)!.bottom().x, y: top - gap + reach, isOnly: false });
            },
            top: () => blocks[0]!.top(), bottom: () => blocks.at(-1)!.bottom(),
        };
    }

    if (list.items.length === 0 && !withSlots) return { nodes, lanes, edges, slots, w: 0, h: 0 };
    const whole = sequence(list);
    whole.place(0, 0);

    // Jumps run along the right side, each in a lane of its own.
    const places = new Map<string, Node>([...nodes, ...lanes].map((n) => [n.code, n]));
    let aside = 0;
    for (const { code, step } of [...nodes, ...lanes]) {
        const jumps = jumpsOf(step).filter((jump) => places.has(jump.to)).map((jump) => ({ to: jump.to, label: jump.when ? short(jump.when.replaceAll('$.', ''), 18) : undefined, kind: 'jump' as const }));
        const late = timeoutTo(step);
        const order = list.items.findIndex((item) => item.code === code);
        const isNext = order >= 0 && list.items[order + 1]?.code === late;
        const all = [...jumps, ...(late && places.has(late) && !(isNext && jumps.length === 0) ? [{ to: late, label: undefined, kind: 'timeout' as const }] : [])];
        for (const jump of all) {
            const a = places.get(code)!;
            const b = places.get(jump.to)!;
            const right = whole.w + 16 + 12 * (aside++ % 5);
            const from = { x: a.x + a.w, y: a.y + Math.min(a.h, NODE_H) / 2 + (jump.kind === 'timeout' ? 8 : -4) };
            const to = { x: b.x + b.w, y: b.y + Math.min(b.h, NODE_H) / 2 };
            edges.push({ from: code, to: jump.to, points: [from, { x: right, y: from.y }, { x: right, y: to.y }, to], kind: jump.kind, label: jump.label });
        }
    }
    return { nodes, lanes, edges, slots, w: whole.w + (aside > 0 ? 28 + 12 * Math.min(aside, 5) : 0), h: whole.h };
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
