// place.ts - where the boxes of a net stand, and the lines between them. Pure.
//
// They stand where their author has put them, when every box has such a place and no two lie on each other; else dagre
// says where. What is too large for that in a moment stands in rows, by how far it is from the start.
import { Graph, layout } from '@dagrejs/dagre';
import { NODE_H, NODE_W, path, PILL_H, PILL_W, type Point } from './layout';
import { type Box, byKey, type Link, type Net, STAYS_MOST } from './net';

export const STAY_H = 18;
const EDGE = 24; // around the whole
const GAP = 30;
const LETTER = 6.2;
const WORD_H = 22;
const FACTOR_MOST = 4;
const DAGRE_BOXES = 150;
const DAGRE_WIRES = 300;
const ROW_MOST = 8;

export interface PlacedBox extends Box { x: number; y: number; w: number; h: number; at: string[] }
export interface Line extends Link { d: string; labelAt: Point }
/** `pill`: where it says that it begins, with `start` below. */
export interface Placed { boxes: PlacedBox[]; lines: Line[]; pill: Point | null; start: string | null; w: number; h: number }

interface Rect { x: number; y: number; w: number; h: number }
interface Route { d: string; labelAt: Point; far: Point }

export const widthOf = (label: string | undefined) => (label ? label.length * LETTER + 26 : 0);

const staysHigh = (box: Box) => (box.stays.length > 0 ? Math.min(box.stays.length, STAYS_MOST + 1) * STAY_H + 6 : 0);
const sized = (box: Box) => ({ w: NODE_W, h: NODE_H + staysHigh(box) });

/** By how much places are spread so that boxes that stand side by side, or one below the other, do not touch. */
function spread(rects: Rect[], gapX: number, gapY: number): Point | null {
    let [kx, ky] = [1, 1];
    for (const [i, a] of rects.entries()) {
        for (const b of rects.slice(i + 1)) {
            const [dx, dy] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
            if (dx === 0 && dy === 0) return null;
            // What is nearer to being beside is made to be beside.
            if (dx * NODE_H >= dy * NODE_W) kx = Math.max(kx, (NODE_W + gapX) / dx);
            else ky = Math.max(ky, (Math.max(a.h, b.h) + gapY) / dy);
        }
    }
    return kx > FACTOR_MOST || ky > FACTOR_MOST ? null : { x: kx, y: ky };
}

function ownPlaces(net: Net): Rect[] | null {
    if (net.kind !== 'schema' || net.boxes.some((box) => !box.position)) return null;
    const rects = net.boxes.map((box) => ({ ...box.position!, ...sized(box) }));
    const words = Math.min(150, Math.max(0, ...net.links.map((link) => widthOf(link.label))));
    const factor = spread(rects, Math.max(40, words + 24), 40);
    return factor && rects.map((rect) => ({ ...rect, x: rect.x * factor.x, y: rect.y * factor.y }));
}

/** Rows by how many links lead there from the start; what nothing leads to comes last. */
function rowPlaces(net: Net): Rect[] {
    const next = byKey(net.links, (link) => link.from);
    const rank = new Map<string, number>();
    for (const first of [...net.boxes.filter((box) => box.isInitial), ...net.boxes]) {
        if (rank.has(first.code)) continue;
        const begun = rank.size === 0 ? 0 : Math.max(...rank.values()) + 1;
        let front = [first.code];
        for (let n = begun; front.length > 0; n++) {
            const fresh = [...new Set(front)].filter((code) => !rank.has(code));
            for (const code of fresh) rank.set(code, n);
            front = fresh.flatMap((code) => (next.get(code) ?? []).map((link) => link.to));
        }
    }
    const rows = byKey(net.boxes, (box) => rank.get(box.code)!);
    const places = new Map<string, Rect>();
    let y = PILL_H + GAP;
    for (const n of [...rows.keys()].sort((a, b) => a - b)) {
        const row = rows.get(n)!;
        for (let i = 0; i < row.length; i += ROW_MOST) {
            const part = row.slice(i, i + ROW_MOST);
            part.forEach((box, column) => places.set(box.code, { x: column * (NODE_W + 2 * GAP), y, ...sized(box) }));
            y += Math.max(...part.map((box) => sized(box).h)) + 2 * GAP;
        }
    }
    return net.boxes.map((box) => places.get(box.code)!);
}

const farthest = (points: Point[]) => ({ x: Math.max(...points.map((p) => p.x)), y: Math.max(...points.map((p) => p.y)) });

/** Out of a box and into it again, with its word at the right of it. */
function circle(a: Rect, n: number, word: number): Route {
    const [x, y] = [a.x + a.w, a.y + Math.min(a.h, NODE_H) / 2 + n * 24];
    const labelAt = { x: x + 10 + word / 2, y };
    const points = [{ x, y: y - 9 }, { x: x + 26, y: y - 9 }, { x: x + 26, y: y + 9 }, { x, y: y + 9 }];
    return { d: path(points), labelAt, far: { x: labelAt.x, y: y + 12 } };
}

/** A line of right angles from one box to another; `n`: how many lead there from the same box already; `word`: its width. */
function route(a: Rect, b: Rect, n: number, word: number): Route {
    if (a === b) return circle(a, n, word);
    const [ax, ay, bx, by] = [a.x + a.w / 2, a.y + Math.min(a.h, NODE_H) / 2, b.x + b.w / 2, b.y + Math.min(b.h, NODE_H) / 2];
    const aside = Math.max(a.x + a.w, b.x + b.w) + 28 + 24 * n;
    const below = Math.max(a.y + a.h, b.y + b.h) + 22 + 24 * n;
    const around = [{ x: ax, y: a.y + a.h }, { x: ax, y: below }, { x: bx, y: below }, { x: bx, y: b.y + b.h }];
    let points: Point[];
    if (b.x >= a.x + a.w + 16) {
        const middle = (a.x + a.w + b.x) / 2;
        points = n === 0 ? [{ x: a.x + a.w, y: ay }, { x: middle, y: ay }, { x: middle, y: by }, { x: b.x, y: by }] : around;
    } else if (a.x >= b.x + b.w + 16) points = around;
    else if (b.y >= a.y + a.h + 16 && n === 0) {
        const middle = (a.y + a.h + b.y) / 2;
        points = [{ x: ax, y: a.y + a.h }, { x: ax, y: middle }, { x: bx, y: middle }, { x: bx, y: b.y }];
    } else points = [{ x: a.x + a.w, y: ay }, { x: aside, y: ay }, { x: aside, y: by }, { x: b.x + b.w, y: by }];
    const [p, q] = [points[1]!, points[2]!];
    const straight = points.filter((point, i) => i === 0 || point.x !== points[i - 1]!.x || point.y !== points[i - 1]!.y);
    return { d: path(straight), labelAt: { x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 }, far: farthest([p, q]) };
}

/** Through points that need no right angles, without corners. */
function curve(points: Point[]): string {
    const [first, ...rest] = points;
    let d = `M${first!.x} ${first!.y}`;
    rest.forEach((p, i) => {
        const next = rest[i + 1];
        d += next ? `Q${p.x} ${p.y} ${(p.x + next.x) / 2} ${(p.y + next.y) / 2}` : `L${p.x} ${p.y}`;
    });
    return d;
}

const round = (n: number) => Math.round(n * 10) / 10;

function dagrePlaces(net: Net): { rects: Rect[]; routes: Route[]; pill: Point | null } | null {
    // Numbers as names: a box may be called as the fields of an object are.
    const number = new Map(net.boxes.map((box, i) => [box.code, `n${i}`]));
    const ends = (link: Link): [string, string] => [number.get(link.from)!, number.get(link.to)!];
    const graph = new Graph({ multigraph: true });
    graph.setGraph({ rankdir: 'TB', nodesep: 36, edgesep: 16, ranksep: 30 });
    if (net.start !== null) {
        graph.setNode('start', { width: PILL_W, height: PILL_H });
        graph.setEdge('start', number.get(net.start)!, { weight: 4 }, 'start');
    }
    // What leads back to its own box stands at the right of it, and needs room there.
    const circles = byKey(net.links.filter((link) => link.from === link.to), (link) => link.from);
    for (const box of net.boxes) {
        const own = circles.get(box.code) ?? [];
        const room = Math.max(0, ...own.map((link) => 40 + widthOf(link.label)));
        graph.setNode(number.get(box.code)!, { width: sized(box).w + 2 * room, height: Math.max(sized(box).h, 24 * own.length) });
    }
    net.links.forEach((link, i) => {
        if (link.from === link.to) return;
        graph.setEdge(...ends(link), { width: widthOf(link.label), height: link.label ? WORD_H : 0, labelpos: 'c' }, `e${i}`);
    });
    try {
        layout(graph);
    } catch {
        return null; // there are nets that it cannot lay out
    }
    const rects = net.boxes.map((box): Rect => {
        const at = graph.node(number.get(box.code)!) as Point;
        const { w, h } = sized(box);
        return { x: round(at.x - w / 2), y: round(at.y - h / 2), w, h };
    });
    const rectOf = new Map(net.boxes.map((box, i) => [box.code, rects[i]!]));
    const routes = net.links.map((link, i): Route => {
        const word = widthOf(link.label);
        if (link.from === link.to) return circle(rectOf.get(link.from)!, circles.get(link.from)!.indexOf(link), word);
        const edge = graph.edge(...ends(link), `e${i}`) as { points: Point[]; x?: number; y?: number };
        const points = edge.points.map((p) => ({ x: round(p.x), y: round(p.y) }));
        const middle = points[Math.floor(points.length / 2)]!;
        return { d: curve(points), labelAt: { x: edge.x ?? middle.x, y: edge.y ?? middle.y }, far: farthest(points) };
    });
    const pill = net.start === null ? null : (graph.node('start') as Point);
    return { rects, routes, pill: pill && { x: pill.x, y: pill.y - PILL_H / 2 } };
}

function plain(net: Net, own: Rect[]) {
    const [left, top] = [Math.min(...own.map((rect) => rect.x)), Math.min(...own.map((rect) => rect.y))];
    const above = net.start === null ? 0 : PILL_H + GAP;
    const rects = own.map((rect) => ({ ...rect, x: round(rect.x - left), y: round(rect.y - top) + above }));
    const at = new Map(net.boxes.map((box, i) => [box.code, rects[i]!]));
    const used = new Map<string, number>();
    const routes = net.links.map((link) => {
        const pair = `${link.from}>${link.to}`;
        used.set(pair, (used.get(pair) ?? -1) + 1);
        return route(at.get(link.from)!, at.get(link.to)!, used.get(pair)!, widthOf(link.label));
    });
    const first = net.start === null ? null : at.get(net.start)!;
    return { rects, routes, pill: first && { x: first.x + first.w / 2, y: first.y - PILL_H - GAP } };
}

export function place(net: Net): Placed {
    if (net.boxes.length === 0) return { boxes: [], lines: [], pill: null, start: null, w: 0, h: 0 };
    const own = ownPlaces(net);
    const isSmall = net.boxes.length <= DAGRE_BOXES && net.links.length <= DAGRE_WIRES;
    const { rects, routes, pill } = own ? plain(net, own) : ((isSmall && dagrePlaces(net)) || plain(net, rowPlaces(net)));
    const boxes = net.boxes.map((box, i) => ({ ...box, ...rects[i]!, at: [box.code] }));
    const lines = net.links.map((link, i): Line => ({ ...link, d: routes[i]!.d, labelAt: routes[i]!.labelAt }));
    const rightOf = (one: Route, i: number) => Math.max(one.far.x, one.labelAt.x + widthOf(net.links[i]!.label) / 2);
    const right = [...boxes.map((box) => box.x + box.w), ...routes.map(rightOf)];
    const low = [...boxes.map((box) => box.y + box.h), ...routes.map((one) => one.far.y + 12)];
    return { boxes, lines, pill, start: net.start, w: Math.ceil(Math.max(...right)) + EDGE, h: Math.ceil(Math.max(...low)) + EDGE };
}
