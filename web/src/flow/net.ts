// net.ts - a schema or a machine as boxes and wires, and which of them an execution has taken. Pure.
//
// What is read may be a draft that nobody has checked: what is no node, or leads nowhere, is counted and not drawn.
import { isObject } from '../lib/exact';
import { t } from '../lib/text';
import { span } from '../lib/time';
import type { StepDef } from '../lib/types';
import type { Passed } from './way';

export const BOXES_MOST = 1000;
export const WIRES_MOST = 5000;
export const STAYS_MOST = 6;
const WORD_MOST = 40;
const TITLE_MOST = 300;

/** A transition that stays in its state: a line of text in the box. */
export interface Stay { code: string; label: string; title: string; isTime: boolean }
export interface Box {
    code: string; step: StepDef; icon: string; /** What stands below the name. */ sub: string;
    isInitial: boolean; isFinal: boolean; stays: Stay[]; source: unknown;
    /** Where its author has put it. */ position?: { x: number; y: number };
}
/** `code` is that of the transition's step; of an edge its place in the list. */
export interface Link {
    code: string; from: string; to: string; branch: string; label?: string; title?: string; isTime: boolean; source: unknown;
}
/** `left`: how much of it is not drawn. */
export interface Net { kind: 'schema' | 'machine'; boxes: Box[]; links: Link[]; start: string | null; left: number }

const ICON: Record<string, string> = {
    start: 'play', end: 'flag', log: 'log', http_request: 'globe', condition: 'branch', variable_set: 'pin', math: 'calc',
    sleep: 'clock', rabbitmq_publish: 'bolt',
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
/** Lists of what has the same key, in order. */
export function byKey<T, K>(all: T[], keyOf: (one: T) => K): Map<K, T[]> {
    const result = new Map<K, T[]>();
    for (const one of all) {
        const list = result.get(keyOf(one));
        if (list) list.push(one);
        else result.set(keyOf(one), [one]);
    }
    return result;
}

const numberOf = (value: unknown) => (typeof value === 'number' && Math.abs(value) < 1e6 ? value : null);

function placeOf(value: unknown): Box['position'] {
    const [x, y] = isObject(value) ? [numberOf(value.x), numberOf(value.y)] : [null, null];
    return x === null || y === null ? undefined : { x, y };
}

/** Whether it is drawn as a net; steps have a picture of their own. */
export const isNet = (definition: unknown) =>
    isObject(definition) && !definition.steps && (definition.nodes !== undefined || definition.states !== undefined);

/** What it has of a name; the code of a box that has none is shown as it is. */
const stepOf = (code: string, source: Record<string, unknown>): StepDef => ({ code, name: cut(textOf(source.name) ?? code, TITLE_MOST) });

function readSchema(definition: Record<string, unknown>, iconOfType: (type: string) => string): Net {
    const [nodes, edges] = [listOf(definition.nodes), listOf(definition.edges)];
    const boxes = new Map<string, Box>();
    for (const node of nodes) {
        const code = isObject(node) ? textOf(node.id) : undefined;
        if (!isObject(node) || code === undefined || boxes.has(code) || boxes.size >= BOXES_MOST) continue;
        const type = textOf(node.type) ?? '';
        const sub = textOf(node.name) ? `${code} · ${type}` : type;
        boxes.set(code, {
            code, step: stepOf(code, node), icon: ICON[type] ?? iconOfType(type), sub, isInitial: type === 'start', isFinal: type === 'end',
            stays: [], source: node, position: placeOf(node.position),
        });
    }
    const links: Link[] = [];
    edges.forEach((edge, i) => {
        if (!isObject(edge) || links.length >= WIRES_MOST) return;
        const [from, to, branch] = [textOf(edge.source) ?? '', textOf(edge.target) ?? '', textOf(edge.branch) ?? ''];
        if (!boxes.has(from) || !boxes.has(to)) return;
        const words = branch ? { label: cut(branch, WORD_MOST), title: expressionOf(boxes.get(from)!.source, branch) } : {};
        links.push({ code: `edges/${i}`, from, to, branch, ...words, isTime: false, source: edge });
    });
    const left = nodes.length - boxes.size + edges.length - links.length;
    return { kind: 'schema', boxes: [...boxes.values()], links, start: null, left };
}

/** What a condition asks, for the word on one of its edges. */
function expressionOf(node: unknown, branch: string): string | undefined {
    const config = isObject(node) && isObject(node.config) ? node.config : {};
    const own = listOf(config.cases).find((one) => isObject(one) && one.branch === branch);
    const asked = branch === 'true' || branch === 'false' ? config.expression : undefined;
    const said = textOf(isObject(own) ? own.expression : asked);
    return said === undefined ? undefined : cut(`${branch}: ${said}`, TITLE_MOST);
}

interface Leaving { code: string; from: string; word: string; isTime: boolean; source: Record<string, unknown> }

/** The transitions of a state, in the order in which they are judged, with the codes of their steps. */
function* leavingOf(state: string, source: Record<string, unknown>): Generator<Leaving | null> {
    for (const [group, sign] of [['on', '.'], ['after', '#']] as const) {
        if (!isObject(source[group])) continue;
        for (const [word, value] of Object.entries(source[group])) {
            const list = Array.isArray(value) ? (value as unknown[]) : [value];
            for (const [i, one] of list.entries()) {
                const code = `${state}${sign}${word}${i > 0 ? `#${i + 1}` : ''}`;
                yield isObject(one) ? { code, from: state, word, isTime: sign === '#', source: one } : null;
            }
        }
    }
}

function wordsOf({ word, isTime, source }: Leaving) {
    const said = isTime ? t('after {long}', { long: span(word) }) : word;
    const name = textOf(source.name);
    const label = cut(name === undefined ? said : isTime ? `${name}, ${said}` : name, WORD_MOST);
    return { label, title: cut([said, name, textOf(source.when)].filter(Boolean).join(' · '), TITLE_MOST) };
}

function readMachine(definition: Record<string, unknown>): Net {
    const all = isObject(definition.states) ? Object.entries(definition.states) : [];
    const isState = (entry: [string, unknown]): entry is [string, Record<string, unknown>] => entry[0] !== '' && isObject(entry[1]);
    const states = all.filter(isState).slice(0, BOXES_MOST);
    const known = new Set(states.map(([code]) => code));
    const links: Link[] = [];
    let left = all.length - states.length;
    const boxes = states.map(([code, source]): Box => {
        const stays: Stay[] = [];
        for (const one of leavingOf(code, source)) {
            if (!one || links.length >= WIRES_MOST) {
                left++;
                continue;
            }
            const words = wordsOf(one);
            const { isTime, source: { to } } = one;
            if (to === undefined) stays.push({ code: one.code, ...words, isTime });
            else if (typeof to === 'string' && known.has(to)) {
                links.push({ code: one.code, from: code, to, branch: '', ...words, isTime, source: one.source });
            } else left++;
        }
        const isFinal = source.final === true;
        const icon = isFinal ? 'flag' : source.wait !== undefined ? 'user' : 'signal';
        return { code, step: stepOf(code, source), icon, sub: code, isInitial: definition.initial === code, isFinal, stays, source };
    });
    return { kind: 'machine', boxes, links, start: boxes.find((box) => box.isInitial)?.code ?? null, left };
}

export function readNet(definition: unknown, iconOfType: (type: string) => string = () => 'bolt'): Net {
    const source = isObject(definition) ? definition : {};
    return source.states !== undefined ? readMachine(source) : readSchema(source, iconOfType);
}

/** The box that a step belongs to: a transition belongs to the state that it leaves. */
export const boxOf = (net: Net, step: string | null): string | null =>
    (step !== null && net.kind === 'machine' ? step.split(/[.#]/, 1)[0]! : step);

/** What a code means in the definition: a box, or a transition. */
export const sourceOf = (net: Net, code: string) => [...net.boxes, ...net.links].find((part) => part.code === code)?.source;

/** `taken`: links, and transitions that stay; `under`: those that are under way; `visited`: boxes that were come to. */
export interface NetWay { taken: Set<string>; under: Set<string>; visited: Set<string> }

interface Visit { box: string; status: string; by: string }

const fieldOf = (row: Passed, name: string) => (isObject(row.output) ? (textOf(row.output[name]) ?? '') : '');

/** One of each visit to a box, in order, with how it ended; where it stands now is the last. */
function visitsOf(net: Net, rows: Passed[], live: ReadonlyMap<string, string>): Visit[] {
    const visits: (Visit & { visit: number })[] = [];
    for (const row of rows) {
        if (row.kind !== 'forward' || row.step === null || boxOf(net, row.step) !== row.step) continue;
        const by = fieldOf(row, net.kind === 'machine' ? 'transition' : 'branch');
        const one = { box: row.step, visit: row.visit, status: row.status, by };
        const last = visits.at(-1);
        if (last?.box === row.step && last.visit === row.visit) Object.assign(last, one);
        else visits.push(one);
    }
    const isUnderWay = [...live.keys()].some((code) => boxOf(net, code) !== code);
    const stands = isUnderWay ? undefined : [...live.keys()][0];
    const last = visits.at(-1);
    const isLeft = last?.box !== stands || last?.status === 'completed' || last?.status === 'skipped';
    if (stands !== undefined && isLeft) visits.push({ box: stands, visit: Infinity, status: 'stands', by: '' });
    return visits;
}

/** By which edge a node was left. */
const isBy = (link: Link, visit: Visit) =>
    visit.status === 'failed' ? link.branch === 'error' : link.branch === visit.by || (link.branch === '' && visit.status === 'skipped');

export function netWay(net: Net, rows: Passed[], live: ReadonlyMap<string, string>): NetWay {
    const under = new Set([...live.keys()].filter((code) => boxOf(net, code) !== code));
    const way: NetWay = { taken: new Set(), under, visited: new Set() };
    const from = byKey(net.links, (link) => link.from);
    const visits = visitsOf(net, rows, live);
    const moves = new Set(net.links.map((link) => link.code));
    for (const code of [...visits.map((visit) => visit.box), ...live.keys()]) way.visited.add(boxOf(net, code)!);
    // The way into the initial state is a step of its own, and comes before any visit.
    if (net.start !== null && rows.some((row) => row.step === `${net.start}#entry`)) way.visited.add(net.start);
    visits.forEach((visit, i) => {
        const next = visits[i + 1]?.box;
        for (const link of from.get(visit.box) ?? []) {
            if (link.to === next && (net.kind === 'machine' ? link.code === visit.by : isBy(link, visit))) way.taken.add(link.code);
        }
        // One that stays has happened when it is not under way.
        if (net.kind === 'machine' && visit.by && !under.has(visit.by) && !moves.has(visit.by)) way.taken.add(visit.by);
    });
    return way;
}
