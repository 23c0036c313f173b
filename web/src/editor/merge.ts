// merge.ts - two drafts that began from one text: what fits together is put together, what does not is a choice. Pure.
//
// Changes are told apart by what they are changes of: a step is found by its code wherever it stands, a field by its
// name. What one did and the other did not touch goes in as it was written.
import { getNodeValue, type Node } from 'jsonc-parser';
import { apply, insert, lift, nodeAt, type Path, Raw, read, remove, set } from './edits';

/** A member by name, or an item of a list by its code or name. */
export type Part = string | { id: string };
export interface Change { at: Part[]; kind: 'set' | 'add' | 'remove'; before?: string; after?: string; behind?: string | null }
export interface Choice { at: Part[]; mine: Change[]; theirs: Change[] }
export interface Merge { fits: { by: 'mine' | 'theirs' | 'both'; change: Change }[]; choices: Choice[] }

const textOf = (text: string, node: Node) => text.slice(node.offset, node.offset + node.length);
const same = (a: Node, b: Node) => JSON.stringify(getNodeValue(a)) === JSON.stringify(getNodeValue(b));

/** The names of the items of a list, when all have one and no two the same. */
function ids(node: Node): string[] | null {
    const all = (node.children ?? []).map((item) => {
        if (item.type !== 'object') return null;
        const own = ['code', 'name'].map((name) => item.children?.find((p) => p.children?.[0]?.value === name)?.children?.[1]?.value).find((v) => typeof v === 'string');
        return typeof own === 'string' ? own : null;
    });
    return all.every((id) => id !== null) && new Set(all).size === all.length ? (all as string[]) : null;
}

function changes(base: string, a: Node, other: string, b: Node, at: Part[]): Change[] {
    if (same(a, b)) return [];
    if (a.type === 'object' && b.type === 'object') {
        const member = (node: Node) => new Map((node.children ?? []).map((p) => [String(p.children![0]!.value), p.children![1]!]));
        const before = member(a);
        const after = member(b);
        return [
            ...[...before].flatMap(([name, node]) => (after.has(name) ? changes(base, node, other, after.get(name)!, [...at, name]) : [{ at: [...at, name], kind: 'remove' as const, before: textOf(base, node) }])),
            ...[...after].filter(([name]) => !before.has(name)).map(([name, node]) => ({ at: [...at, name], kind: 'set' as const, after: textOf(other, node) })),
        ];
    }
    const was = a.type === 'array' ? ids(a) : null;
    const is = b.type === 'array' ? ids(b) : null;
    if (was && is && (was.length > 0 || is.length > 0)) {
        const stayed = was.filter((id) => is.includes(id));
        if (String(stayed) === String(is.filter((id) => was.includes(id)))) return [
            ...was.flatMap((id, i) => (is.includes(id) ? changes(base, a.children![i]!, other, b.children![is.indexOf(id)]!, [...at, { id }]) : [{ at: [...at, { id }], kind: 'remove' as const, before: textOf(base, a.children![i]!) }])),
            ...is.flatMap((id, i) => (was.includes(id) ? [] : [{ at: [...at, { id }], kind: 'add' as const, after: textOf(other, b.children![i]!), behind: is[i - 1] ?? null }])),
        ];
    }
    return [{ at, kind: 'set', before: textOf(base, a), after: textOf(other, b) }];
}

/** What was done to `from` to make it `to`; null when one of them is no JSON. */
export function differences(from: string, to: string): Change[] | null {
    const [a, b] = [read(from).tree, read(to).tree];
    return a && b ? changes(from, a, to, b, []) : null;
}

const same1 = (a: Part, b: Part) => (typeof a === 'string' ? a === b : typeof b === 'object' && a.id === b.id);
const touches = (a: Part[], b: Part[]) => { const most = Math.min(a.length, b.length); for (let i = 0; i < most; i++) if (!same1(a[i]!, b[i]!)) return false; return true; };
const equal = (a: Change, b: Change) => a.kind === b.kind && a.at.length === b.at.length && touches(a.at, b.at) && squeeze(a.after) === squeeze(b.after);
const squeeze = (text: string | undefined) => text?.replace(/\s+/g, '');

export function compare(base: string, mine: string, theirs: string): Merge | null {
    const [b, m, t] = [read(base).tree, read(mine).tree, read(theirs).tree];
    if (!b || !m || !t) return null;
    const own = changes(base, b, mine, m, []);
    const other = changes(base, b, theirs, t, []);
    const fits: Merge['fits'] = [];
    const choices: Choice[] = [];
    const left = new Set(other);
    for (const change of own) {
        const met = other.filter((one) => touches(change.at, one.at));
        if (met.length === 0) fits.push({ by: 'mine', change });
        else if (met.some((one) => equal(one, change))) {
            fits.push({ by: 'both', change });
            for (const one of met) left.delete(one);
        } else {
            const known = choices.find((choice) => choice.theirs.some((one) => met.includes(one)) || choice.mine.some((one) => touches(one.at, change.at)));
            if (known) {
                known.mine.push(change);
                known.theirs = [...new Set([...known.theirs, ...met])];
                if (change.at.length < known.at.length) known.at = change.at;
            } else choices.push({ at: change.at.length < met[0]!.at.length ? change.at : met[0]!.at, mine: [change], theirs: met });
            for (const one of met) left.delete(one);
        }
    }
    for (const change of left) fits.push({ by: 'theirs', change });
    return { fits, choices };
}

/** The path of a place in a text; null when it is not there. */
export function locate(tree: Node, at: Part[]): Path | null {
    const path: Path = [];
    for (const part of at) {
        if (typeof part === 'string') path.push(part);
        else {
            const list = nodeAt(tree, path);
            const i = list && list.type === 'array' ? (ids(list)?.indexOf(part.id) ?? -1) : -1;
            if (i < 0) return null;
            path.push(i);
        }
    }
    return path;
}

/** A change of `mine` made in another text. */
export function put(text: string, mine: string, change: Change): string {
    const tree = read(text).tree;
    const from = read(mine).tree;
    if (!tree || !from) return text;
    if (change.kind === 'remove') {
        const path = locate(tree, change.at);
        return path && nodeAt(tree, path) ? apply(text, remove(text, tree, path)) : text;
    }
    const source = locate(from, change.at);
    const raw = source ? lift(mine, from, source) : new Raw(change.after!);
    if (change.kind === 'add') {
        const list = locate(tree, change.at.slice(0, -1));
        if (!list || !nodeAt(tree, list)) return text;
        const behind = change.behind ? locate(tree, [...change.at.slice(0, -1), { id: change.behind }]) : null;
        const index = change.behind === null ? 0 : behind ? Number(behind.at(-1)) + 1 : (nodeAt(tree, list)!.children?.length ?? 0);
        return apply(text, insert(text, tree, list, index, raw));
    }
    const path = locate(tree, change.at);
    return path ? apply(text, set(text, tree, path, raw)) : text;
}

/** Whether both put something new in one place under one name: then both can stay, mine under another name. */
export const canKeepBoth = (choice: Choice) => choice.mine.length === 1 && choice.theirs.length === 1 && choice.mine[0]!.kind === 'add' && choice.theirs[0]!.kind === 'add';

/** The name that mine gets when both stay: the next one that nobody uses. */
export function freeName(id: string, ...texts: string[]): string {
    const bare = id.replace(/_\d+$/, '');
    for (let n = 2; ; n++) if (!texts.some((text) => text.includes(`"${bare}_${n}"`))) return `${bare}_${n}`;
}

/** What is mine of a choice, put behind what is theirs, under a name of its own. */
function putBeside(text: string, mine: string, theirs: string, choice: Choice): string {
    const change = choice.mine[0]!;
    const last = change.at.at(-1)!;
    const [tree, from] = [read(text).tree, read(mine).tree];
    const source = from && locate(from, change.at);
    const list = tree && locate(tree, change.at.slice(0, -1));
    const beside = tree && locate(tree, change.at);
    if (!tree || !source || !list || !beside || typeof last === 'string') return text;
    const own = lift(mine, from, source).text;
    const item = read(own).tree!;
    const key = item.children?.some((p) => p.children?.[0]?.value === 'code') ? 'code' : 'name';
    return apply(text, insert(text, tree, list, Number(beside.at(-1)) + 1, new Raw(apply(own, set(own, item, [key], freeName(last.id, mine, theirs))))));
}

/** Their text with what is mine in it, and of the choices those that were made for mine, or for both. */
export function merged(mine: string, theirs: string, merge: Merge, takenMine: Set<Choice>, keptBoth: Set<Choice> = new Set()): string {
    const all = [...merge.fits.filter((fit) => fit.by === 'mine').map((fit) => fit.change), ...[...takenMine].flatMap((choice) => choice.mine)];
    const text = all.reduce((now, change) => put(now, mine, change), theirs);
    return [...keptBoth].reduce((now, choice) => putBeside(now, mine, theirs, choice), text);
}

export const nameOfPlace = (at: Part[]) => at.map((part) => (typeof part === 'string' ? part : part.id)).filter((name) => !['steps', 'procedure', 'branch', 'loop', 'parallel', 'branches'].includes(name)).join(' › ');
