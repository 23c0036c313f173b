// way.ts - the way that was taken, from the rows of a history: the same for an execution and for a dry-run. Pure.
//
// A row says that a step has ended, or was skipped. Which line led to it follows from the row before it in the same list:
// a jump of that step, its timeout, or simply the next one. Lists that run side by side are followed each for itself.
import { jumpsOf, timeoutTo } from '../lib/steps';
import type { Item, List } from './layout';

export interface Passed { step: string | null; kind: string; visit: number; attempt: number; status: string; output?: unknown }

/** `entered`: reached by the line from above; `left`: gone on below; `jumps`: "from>to", of timeouts "from!to". */
export interface Way { visited: Set<string>; entered: Set<string>; skipped: Set<string>; left: Set<string>; jumps: Set<string>; ways: Set<string>; isOver: boolean }

interface Place { list: List; item: Item; index: number }
interface Last { place: Place; leaf: Passed; leafItem: Item }

const keyOf = (list: List) => list.at.join('/');

function placesOf(list: List, above: Place[] = [], found = new Map<string, Place[]>()): Map<string, Place[]> {
    list.items.forEach((item, index) => {
        const chain = [...above, { list, item, index }];
        found.set(item.step.code, chain);
        for (const inner of item.inside?.lists ?? []) placesOf(inner, chain, found);
    });
    return found;
}

const isLate = (row: Passed) => typeof row.output === 'object' && row.output !== null && (row.output as { timedOut?: unknown }).timedOut === true;

/** The jump by which a step went on to another: its sign is that of `jumps`; null when the next one simply followed. */
function jumpBetween(last: Last, to: Place): string | null {
    const from = last.leafItem;
    if (isLate(last.leaf) && timeoutTo(from.step) === to.item.step.code) return `${from.step.code}!${to.item.step.code}`;
    const jumps = jumpsOf(from.step).filter((jump) => jump.to === to.item.step.code);
    const isNext = last.place.list === to.list && to.index === last.place.index + 1;
    return jumps.some((jump) => jump.always || !isNext) ? `${from.step.code}>${to.item.step.code}` : null;
}

export function wayOf(list: List, rows: Passed[], isOver: boolean): Way {
    const way: Way = { visited: new Set(), entered: new Set(), skipped: new Set(), left: new Set(), jumps: new Set(), ways: new Set(), isOver };
    const places = placesOf(list);
    const lasts = new Map<string, Last>();
    /** A list is over: what came last in it went on below, unless it jumped. */
    const close = (inner: List) => {
        const last = lasts.get(keyOf(inner));
        if (!last) return;
        const exit = jumpsOf(last.leafItem.step).find((jump) => jump.always);
        if (exit && ['end', 'break', 'next'].includes(exit.to)) way.jumps.add(`${last.leafItem.step.code}>${exit.to}`);
        else way.left.add(last.place.item.step.code);
        lasts.delete(keyOf(inner));
    };
    const enter = (place: Place, row: Passed, leafItem: Item) => {
        const { item } = place;
        const last = lasts.get(keyOf(place.list));
        const isSame = last?.place.item === item && (leafItem !== item || last.leaf.visit === row.visit);
        if (!isSame) {
            const jump = last ? jumpBetween(last, place) : null;
            if (jump) way.jumps.add(jump);
            else way.entered.add(item.step.code);
            // A round of a loop begins anew: what stood last in it has gone on, too.
            if (last && !jump) way.left.add(last.place.item.step.code);
            for (const inner of item.inside?.lists ?? []) lasts.delete(keyOf(inner));
        }
        way.visited.add(item.step.code);
        lasts.set(keyOf(place.list), { place, leaf: row, leafItem });
    };
    for (const row of rows) {
        const chain = row.kind === 'forward' && row.step !== null ? places.get(row.step) : undefined;
        const own = chain?.at(-1);
        if (!chain || !own) continue;
        chain.slice(0, -1).forEach((place, i) => {
            enter(place, row, own.item);
            if (place.item.inside?.kind === 'ways') way.ways.add(keyOf(chain[i + 1]!.list));
        });
        if (row.status === 'skipped') {
            way.skipped.add(own.item.step.code);
            continue;
        }
        enter(own, row, own.item);
        const inside = own.item.inside;
        if (!inside) continue;
        // The row of a container comes when it has ended. A way without steps is the one that has left nothing behind.
        const wasIn = inside.lists.some((inner) => lasts.has(keyOf(inner)));
        const hollow = inside.lists.filter((inner) => inner.items.length === 0);
        if (inside.kind === 'ways' && !wasIn && hollow.length === 1) way.ways.add(`${own.item.at.join('/')}:${inside.lists.indexOf(hollow[0]!)}`);
        inside.lists.forEach(close);
    }
    if (isOver) close(list);
    return way;
}

/** What must have happened for a line to be drawn as taken. */
export type Claim = { enter: string } | { skip: string } | { leave: string } | { jump: string } | { way: string } | { over: string } | { all: Claim[] } | { any: Claim[] };

export function isTaken(way: Way, claim: Claim): boolean {
    if ('enter' in claim) return way.entered.has(claim.enter);
    if ('skip' in claim) return way.skipped.has(claim.skip);
    if ('leave' in claim) return way.left.has(claim.leave);
    if ('jump' in claim) return way.jumps.has(claim.jump);
    if ('way' in claim) return way.ways.has(claim.way);
    if ('over' in claim) return way.isOver && (claim.over === '' || way.left.has(claim.over));
    return 'all' in claim ? claim.all.every((one) => isTaken(way, one)) : claim.any.some((one) => isTaken(way, one));
}
