// layout.ts - where the steps of a definition stand: one below the other, branches side by side, loops in a box. Pure.
//
// What is arranged is a list of items; the steps of a scenario are one such list, the commands of a procedure another.
// A step with a condition has a line around it; neighbours of which only one can run stand side by side. Each line says
// what must have happened for it to be taken (way.ts).
import { jumpsOf, nameOf, timeoutTo } from '../lib/steps';
import type { StepDef } from '../lib/types';
import type { Claim } from './way';
import { conditionWords, exitWords, ifWords, jumpWords, lateWords, relation } from './words';

export const NODE_W = 212;
export const NODE_H = 44;
export const PILL_H = 26;
export const PILL_W = 84;
const LABEL_GAP = 40; // where an edge carries a word
const FORK = 22; // above and below branches that run side by side
const PAD = 16;
const HEAD = 32;
const COLUMN_GAP = 40;
const TURN = 18; // above and below a column that goes on in the next
const AROUND = 26; // the line around a step that has a condition
const LANE = 14; // between two jumps
const LETTER = 6.2; // of a word on a line, in px

/** Where something stands in the definition: ['steps', 0]. */
export type At = (string | number)[];
export interface List { at: At; items: Item[] }
export interface Item { code: string; step: StepDef; at: At; inside?: { kind: 'ways' | 'loop' | 'parallel'; lists: List[]; labels: string[] } }

export interface Point { x: number; y: number }
export interface Node { code: string; step: StepDef; at: At; x: number; y: number; w: number; h: number; /** How many steps are folded away in it. */ folded?: number }
export interface Lane extends Node { kind: 'loop' | 'parallel' }
export type EdgeKind = 'next' | 'skip' | 'jump' | 'timeout';
/** `to` is '' where lines meet; `way` is the way of a branch that the word stands for, `of` the step that it belongs to. */
export interface Edge { from: string; to: string; kind: EdgeKind; points: Point[]; hasHead: boolean; claim: Claim; label?: string; title?: string; labelAt?: Point; way?: At; of?: At }
/** Where it begins and where it ends. */
export interface Pill { kind: 'start' | 'end' | 'exit'; label: string; x: number; y: number; w: number; claim: Claim }
/** A place where a step can be put in: before the item that is at `index` of the list now. */
export interface Slot { list: At; index: number; x: number; y: number; isOnly: boolean }
export interface Layout { nodes: Node[]; lanes: Lane[]; edges: Edge[]; slots: Slot[]; pills: Pill[]; w: number; h: number }
/** `ends`: with a start and an end; `words`: what stands on them. */
export interface Options { slots?: boolean; /** In how many columns a long list stands, to be seen at once. */ columns?: number; gap?: number; folded?: ReadonlySet<string>; ends?: { start: string; end: string } }

interface Block {
    w: number; h: number; last: string; falls: boolean; /** What says that it was come to, and that it was gone through. */ come: Claim; gone: Claim;
    place: (x: number, y: number) => void; top: () => Point; bottom: () => Point; first: string; item?: Item;
}

const wayLabel = (way: { when?: string; name?: string }, otherwise: string) => way.name ?? (way.when ? ifWords(way.when) : otherwise);

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

const countIn = (item: Item): number => (item.inside?.lists ?? []).reduce((sum, list) => sum + list.items.reduce((n, one) => n + 1 + countIn(one), 0), 0);
const isExit = (to: string) => to === 'end' || to === 'break' || to === 'next';
/** Where it always goes, when that is no step. */
const exitOf = (step: StepDef) => jumpsOf(step).find((jump) => jump.always && isExit(jump.to))?.to ?? null;

/** Neighbours that exclude each other are one group; anything else stands alone. */
function grouped(items: Item[]): { items: Item[]; isWhole: boolean }[] {
    const groups: { items: Item[]; isWhole: boolean }[] = [];
    for (const item of items) {
        const open = groups.at(-1);
        const relations = open && item.step.when !== undefined && open.items.every((one) => one.step.when !== undefined) ? open.items.map((one) => relation(one.step.when, item.step.when)) : [];
        if (open && !open.isWhole && relations.length > 0 && relations.every((one) => one !== null)) {
            open.items.push(item);
            open.isWhole = relations.length === 1 && relations[0] === 'opposite';
        } else groups.push({ items: [item], isWhole: false });
    }
    return groups;
}

export function arrange(list: List, { slots: withSlots = false, gap = 22, folded, ends, columns = 1 }: Options = {}): Layout {
    const nodes: Node[] = [];
    const lanes: Lane[] = [];
    const edges: Edge[] = [];
    const slots: Slot[] = [];
    const pills: Pill[] = [];

    const bend = (a: Point, b: Point, turn: number) => (a.x === b.x ? [a, b] : [a, { x: a.x, y: turn }, { x: b.x, y: turn }, b]);

    function plain(item: Item): Block {
        const isFolded = item.inside !== undefined && folded?.has(item.code);
        const node: Node = { code: item.code, step: item.step, at: item.at, x: 0, y: 0, w: NODE_W, h: NODE_H, ...(isFolded ? { folded: countIn(item) } : {}) };
        const exit = exitOf(item.step);
        const asides = jumpsOf(item.step).filter((jump) => !jump.always && isExit(jump.to));
        const below = (exit ? 14 + PILL_H : 0) + asides.length * 30;
        const hold = Math.max(0, ...asides.map((jump) => `${conditionWords(jump.when, jump.name)}: ${exitWords(jump.to)}`.length * LETTER - 60));
        const w = NODE_W + 2 * Math.min(80, hold);
        const middle = () => node.x + NODE_W / 2;
        return {
            w, h: NODE_H + below, first: item.code, last: item.code, item, falls: !jumpsOf(item.step).some((jump) => jump.always), come: { enter: item.code }, gone: { leave: item.code },
            place: (x, y) => {
                node.x = x + (w - NODE_W) / 2;
                node.y = y;
                nodes.push(node);
                asides.forEach((jump, i) => {
                    const at = { x: node.x + NODE_W - 40, y: node.y + NODE_H + 20 + i * 30 };
                    edges.push({ from: item.code, to: '', kind: 'jump', hasHead: false, claim: { jump: `${item.code}>${jump.to}` }, points: [{ x: at.x, y: node.y + NODE_H }, at], label: `${ifWords(jump.when, jump.name)}: ${exitWords(jump.to)}`, title: `${conditionWords(jump.when, jump.name)}: ${exitWords(jump.to)}`, labelAt: at, of: item.at });
                });
                if (!exit) return;
                const claim: Claim = { jump: `${item.code}>${exit}` };
                const top = y + NODE_H + below - PILL_H;
                edges.push({ from: item.code, to: 'end', kind: 'next', hasHead: true, claim, points: [{ x: middle(), y: y + NODE_H }, { x: middle(), y: top }] });
                pills.push({ kind: 'exit', label: exitWords(exit), x: middle(), y: top, w: exit === 'end' ? PILL_W : 130, claim });
            },
            top: () => ({ x: middle(), y: node.y }), bottom: () => ({ x: middle(), y: node.y + NODE_H + (asides.length > 0 ? below : 0) }),
        };
    }

    /** Nothing is there: a line goes through, or a step can be put in. */
    function hollow(at: At, claim: Claim): Block {
        const w = withSlots && at.length > 0 ? NODE_W : 90;
        const h = withSlots && at.length > 0 ? NODE_H : 0;
        const spot = { x: 0, y: 0 };
        return {
            w, h, first: '', last: '', falls: true, come: claim, gone: claim,
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
            w: box.w, h: box.h, first: item.code, last: item.code, item, falls: true, come: { enter: item.code }, gone: { leave: item.code },
            place: (x, y) => {
                box.x = x;
                box.y = y;
                lanes.push(box);
                inner.place(x + (box.w - inner.w) / 2, y + HEAD + PAD);
            },
            top: () => ({ x: box.x + box.w / 2, y: box.y }), bottom: () => ({ x: box.x + box.w / 2, y: box.y + box.h }),
        };
    }

    interface Column { block: Block; claim: Claim; label?: string; title?: string; way?: At; of?: At; kind?: EdgeKind }

    /** Blocks side by side, each reached from one point, with a word on the way, and meeting in another. */
    function beside(columns: Column[], above: number, below: number, head: (x: number, y: number, w: number) => Point): Omit<Block, 'come' | 'gone' | 'first' | 'last'> {
        const inside = columns.reduce((sum, one) => sum + one.block.w, 0) + COLUMN_GAP * Math.max(0, columns.length - 1);
        const w = Math.max(NODE_W, inside);
        const h = above + Math.max(0, ...columns.map((one) => one.block.h)) + below;
        const at = { x: 0, y: 0 };
        return {
            w, h, falls: columns.some((one) => one.block.falls),
            place: (x, y) => {
                at.x = x;
                at.y = y;
                const a = head(x, y, w);
                const end = { x: x + w / 2, y: y + h };
                let left = x + (w - inside) / 2;
                for (const { block, claim, label, title, way, of, kind = 'next' } of columns) {
                    block.place(left, y + above);
                    left += block.w + COLUMN_GAP;
                    const b = block.top();
                    edges.push({ from: '', to: block.first, kind, hasHead: block.first !== '', claim, points: bend(a, b, a.y + 10), label, title, labelAt: label === undefined ? undefined : { x: b.x, y: a.y + 25 }, way, of });
                    if (block.falls) edges.push({ from: block.last, to: '', kind, hasHead: false, claim: block.first === '' ? claim : block.gone, points: bend(block.bottom(), end, end.y - 10) });
                }
            },
            top: () => ({ x: at.x + w / 2, y: at.y }), bottom: () => ({ x: at.x + w / 2, y: at.y + h }),
        };
    }

    function listColumns(item: Item, above: number, below: number, head: (x: number, y: number, w: number) => Point): Block {
        const { lists, labels, kind } = item.inside!;
        const columns = lists.map((inner, i): Column => {
            const taken: Claim = kind !== 'ways' ? { enter: inner.items[0]?.code ?? item.code } : { any: [{ way: inner.items.length > 0 ? inner.at.join('/') : `${item.at.join('/')}:${i}` }] };
            return { block: sequence(inner, taken), claim: taken, label: labels[i], way: kind === 'ways' ? inner.at.slice(0, -1) : undefined };
        });
        return { ...beside(columns, above, below, head), falls: true, first: item.code, last: item.code, item, come: { enter: item.code }, gone: { leave: item.code } };
    }

    function block(item: Item): Block {
        const inside = item.inside;
        if (!inside || folded?.has(item.code)) return plain(item);
        if (inside.kind === 'loop') return lane(item, 'loop', sequence(inside.lists[0]!, { enter: item.code }));
        if (inside.kind === 'parallel') return lane(item, 'parallel', listColumns(item, FORK, FORK, (x, y, w) => ({ x: x + w / 2, y })));
        const head = plain(item);
        return listColumns(item, NODE_H + LABEL_GAP, gap, (x, y, w) => {
            head.place(x + (w - head.w) / 2, y);
            return head.bottom();
        });
    }

    /** A step that runs only when something holds: a word on the line to it, and a line around it. */
    function conditional(item: Item): Block {
        const inner = block(item);
        const w = inner.w + 2 * AROUND;
        const h = LABEL_GAP + inner.h + 16;
        const at = { x: 0, y: 0 };
        const come: Claim = { any: [{ enter: item.code }, { skip: item.code }] };
        return {
            w, h, first: item.code, last: item.code, falls: true, item, come, gone: { any: [inner.gone, { skip: item.code }] },
            place: (x, y) => {
                at.x = x;
                at.y = y;
                inner.place(x + AROUND, y + LABEL_GAP);
                const [a, b, end] = [{ x: x + w / 2, y }, inner.top(), { x: x + w / 2, y: y + h }];
                edges.push({ from: '', to: item.code, kind: 'next', hasHead: true, claim: { enter: item.code }, points: [a, b], label: ifWords(item.step.when, item.step.whenName), title: conditionWords(item.step.when), labelAt: { x: a.x, y: y + 20 }, of: item.at });
                edges.push({ from: item.code, to: '', kind: 'skip', hasHead: false, claim: { skip: item.code }, points: [{ x: a.x, y: y + 4 }, { x: x + 8, y: y + 4 }, { x: x + 8, y: end.y - 6 }, { x: end.x, y: end.y - 6 }] });
                if (inner.falls) edges.push({ from: item.code, to: '', kind: 'next', hasHead: false, claim: inner.gone, points: [inner.bottom(), end] });
            },
            top: () => ({ x: at.x + w / 2, y: at.y }), bottom: () => ({ x: at.x + w / 2, y: at.y + h }),
        };
    }

    /** Steps of which one runs, or none. */
    function exclusive(items: Item[], isWhole: boolean): Block {
        const columns = items.map((item): Column => ({ block: block(item), claim: { enter: item.code }, label: ifWords(item.step.when, item.step.whenName), title: conditionWords(item.step.when), of: item.at }));
        const none: Claim = { all: items.map((item) => ({ skip: item.code })) };
        if (!isWhole) columns.push({ block: hollow([], none), claim: none, kind: 'skip' });
        const come: Claim = { any: items.flatMap((item) => [{ enter: item.code }, { skip: item.code }]) };
        const gone: Claim = { any: [...columns.filter((one) => one.block.falls).map((one) => one.block.gone), ...(isWhole ? [] : [none])] };
        return { ...beside(columns, LABEL_GAP, 22, (x, y, w) => ({ x: x + w / 2, y })), first: items[0]!.code, last: '', come, gone };
    }

    const blockOf = ({ items, isWhole }: { items: Item[]; isWhole: boolean }) => (items.length > 1 ? exclusive(items, isWhole) : items[0]!.step.when === undefined ? block(items[0]!) : conditional(items[0]!));

    function sequence({ at, items }: List, taken: Claim, part = { from: 0, isLast: true }): Block {
        if (items.length === 0) return hollow(at, taken);
        // In a lane the places at its ends stay clear of those outside of it.
        const reach = at.length === 1 ? gap / 2 : 9;
        const groups = grouped(items);
        const blocks = groups.map(blockOf);
        const lates = blocks.map((one, i) => (!one.falls && one.item && timeoutTo(one.item.step) === groups[i + 1]?.items[0]?.code ? lateWords(one.item.step) : null));
        const room = (i: number) => gap + (lates[i] ? 22 : 0);
        const w = Math.max(NODE_W, ...blocks.map((b) => b.w));
        const h = blocks.reduce((sum, b, i) => sum + b.h + (i < blocks.length - 1 ? room(i) : 0), 0);
        return {
            w, h, first: blocks[0]!.first, last: blocks.at(-1)!.last, falls: blocks.at(-1)!.falls, come: blocks[0]!.come, gone: blocks.at(-1)!.gone,
            place: (x, y) => {
                let top = y;
                let index = part.from;
                blocks.forEach((b, i) => {
                    b.place(x + (w - b.w) / 2, top);
                    const before = blocks[i - 1];
                    const late = i > 0 ? lates[i - 1] : null;
                    const isBare = groups[i]!.items.length > 1 || groups[i]!.items[0]!.step.when !== undefined;
                    const line = () => bend(before!.bottom(), b.top(), (before!.bottom().y + b.top().y) / 2);
                    if (before?.falls) edges.push({ from: before.last, to: isBare ? '' : b.first, kind: 'next', hasHead: !isBare, claim: b.come, points: line() });
                    else if (before && late) edges.push({ from: before.last, to: b.first, kind: 'timeout', hasHead: !isBare, claim: { jump: `${before.last}!${b.first}` }, points: line(), label: late, labelAt: { x: b.top().x, y: (before.bottom().y + b.top().y) / 2 }, of: before.item?.at });
                    if (withSlots) slots.push({ list: at, index, x: b.top().x, y: i === 0 ? top - reach : top - gap / 2, isOnly: false });
                    index += groups[i]!.items.length;
                    top += b.h + room(i);
                });
                if (withSlots && part.isLast) slots.push({ list: at, index: part.from + items.length, x: blocks.at(-1)!.bottom().x, y: y + h + reach, isOnly: false });
            },
            top: () => blocks[0]!.top(), bottom: () => blocks.at(-1)!.bottom(),
        };
    }

    /** A long list in columns, each going on at the top of the next. Neighbours that exclude each other stay together. */
    function wrapped(own: List, n: number): Block {
        const groups = grouped(own.items);
        const each = Math.ceil(groups.length / n);
        const parts: Item[][] = [];
        for (let i = 0; i < groups.length; i += each) parts.push(groups.slice(i, i + each).flatMap((group) => group.items));
        let from = 0;
        const blocks = parts.map((items, i) => {
            const block = sequence({ at: own.at, items }, { over: '' }, { from, isLast: i === parts.length - 1 });
            from += items.length;
            return block;
        });
        const w = blocks.reduce((sum, one) => sum + one.w, 0) + COLUMN_GAP * (blocks.length - 1);
        return {
            ...blocks[0]!, w, h: Math.max(...blocks.map((one) => one.h)) + 2 * TURN, last: blocks.at(-1)!.last, falls: blocks.at(-1)!.falls, gone: blocks.at(-1)!.gone, bottom: () => blocks.at(-1)!.bottom(),
            place: (x, y) => {
                let left = x;
                blocks.forEach((one, i) => {
                    one.place(left, y + (i === 0 ? 0 : TURN));
                    const before = blocks[i - 1];
                    const side = left - COLUMN_GAP / 2;
                    left += one.w + COLUMN_GAP;
                    if (!before?.falls) return;
                    const [a, b] = [before.bottom(), one.top()];
                    edges.push({ from: before.last, to: one.first, kind: 'next', hasHead: true, claim: one.come, points: [a, { x: a.x, y: a.y + TURN }, { x: side, y: a.y + TURN }, { x: side, y: b.y - TURN + 4 }, { x: b.x, y: b.y - TURN + 4 }, b] });
                });
            },
        };
    }

    if (list.items.length === 0 && !withSlots) return { nodes, lanes, edges, slots, pills, w: 0, h: 0 };
    const whole = columns > 1 && list.items.length > columns ? wrapped(list, columns) : sequence(list, { over: '' });
    const above = ends && list.items.length > 0 ? PILL_H + gap : 0;
    whole.place(0, above);
    let height = above + whole.h;
    if (above > 0) {
        const top = whole.top();
        pills.push({ kind: 'start', label: ends!.start, x: top.x, y: 0, w: PILL_W, claim: whole.come });
        edges.push({ from: '', to: whole.first, kind: 'next', hasHead: true, claim: whole.come, points: [{ x: top.x, y: PILL_H }, top] });
        if (whole.falls) {
            const from = whole.bottom();
            const claim: Claim = { all: [whole.gone, { over: '' }] };
            edges.push({ from: whole.last, to: 'end', kind: 'next', hasHead: true, claim, points: [from, { x: from.x, y: columns > 1 ? from.y + gap : height + gap }] });
            pills.push({ kind: 'end', label: ends!.end, x: from.x, y: columns > 1 ? from.y + gap : height + gap, w: PILL_W, claim });
            height = Math.max(height, columns > 1 ? from.y + gap + PILL_H : height + gap + PILL_H);
        }
    }
    const right = placeJumps([...nodes, ...lanes], edges, whole.w);
    return { nodes, lanes, edges, slots, pills, w: right, h: height };
}

/** Jumps run along the right side, each in a line of its own, with its words on it. Answers how far to the right they reach. */
function placeJumps(boxes: Node[], edges: Edge[], width: number): number {
    const places = new Map<string, Node>(boxes.map((n) => [n.code, n]));
    const words = edges.flatMap((edge) => (edge.label && edge.labelAt ? [{ y: edge.labelAt.y, from: edge.labelAt.x - edge.label.length * LETTER / 2 - 9, to: edge.labelAt.x + edge.label.length * LETTER / 2 + 9 }] : []));
    let right = width;
    let line = 0;
    for (const { code, step, at } of boxes) {
        const jumps = jumpsOf(step).filter((jump) => places.has(jump.to)).map((jump) => ({ to: jump.to, kind: 'jump' as const, sign: '>', label: jumpWords(jump.always ? undefined : jump.when, nameOf(places.get(jump.to)!.step), jump.name), title: jump.when ? conditionWords(jump.when) : undefined }));
        const late = timeoutTo(step);
        const isDrawn = edges.some((edge) => edge.kind === 'timeout' && edge.from === code);
        const all = late && places.has(late) && !isDrawn ? [...jumps, { to: late, kind: 'timeout' as const, sign: '!', label: lateWords(step), title: undefined }] : jumps;
        for (const jump of all) {
            const a = places.get(code)!;
            const b = places.get(jump.to)!;
            const x = width + 20 + LANE * (line++ % 6);
            const from = { x: a.x + a.w, y: a.y + Math.min(a.h, NODE_H) / 2 + (jump.kind === 'timeout' ? 10 : -6) };
            const to = { x: b.x + b.w, y: b.y + Math.min(b.h, NODE_H) / 2 };
            const long = jump.label.length * LETTER + 18;
            const down = to.y >= from.y ? 1 : -1;
            let y = from.y + 24 * down;
            if ((to.y - y) * down < 12) y = (from.y + to.y) / 2;
            const isFree = (one: { from: number; to: number }) => !words.some((word) => Math.abs(word.y - y) < 23 && word.from < one.to && one.from < word.to);
            const isOpen = (one: { from: number; to: number }) => isFree(one) && !boxes.some((node) => node.x < one.to && node.x + node.w > one.from && y > node.y - 14 && y < node.y + Math.min(node.h, NODE_H) + 14);
            const [inner, outer] = [{ from: x + 10 - long, to: x + 10 }, { from: x - 12, to: x - 12 + long }];
            if (!isOpen(inner)) while (!isFree(outer)) y += 24 * down;
            const span = isOpen(inner) ? inner : outer;
            words.push({ y, ...span });
            right = Math.max(right, span.to, x + 8);
            edges.push({ from: code, to: jump.to, kind: jump.kind, hasHead: true, claim: { jump: `${code}${jump.sign}${jump.to}` }, points: [from, { x, y: from.y }, { x, y: to.y }, to], label: jump.label, title: jump.title, labelAt: { x: (span.from + span.to) / 2, y }, of: at });
        }
    }
    return right;
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
