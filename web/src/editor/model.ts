// model.ts - what a definition is made of, as the constructor shows it: steps or commands with their places. Pure.
import { isObject } from '../lib/exact';
import type { Item, List } from '../flow/layout';
import { stepList } from '../flow/layout';
import { codeOf } from '../lib/names';
import { commandsOf, nameOf } from '../lib/steps';
import type { Definition, StepDef } from '../lib/types';
import { type Catalog, type CatalogCommand, type CatalogPreset, commandOf, kindsOf, tableOf } from './catalog';
import type { Good } from './doc';
import { apply, type Edit, insert, lift, nodeAt, type Path, pointerOf, Raw, read, renameStep, set } from './edits';

export type DefinitionKind = 'scenario' | 'procedure';
export type Command = Record<string, unknown> & { type?: string };

/** Where the list is that the canvas shows. */
export const rootOf = (kind: DefinitionKind): Path => [kind === 'scenario' ? 'steps' : 'commands'];

const asList = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : value !== null && typeof value === 'object' ? [value as T] : []);

/** Steps that the text has in part only are shown, too. */
const clean = (steps: unknown, empty: string): StepDef[] => asList<Record<string, unknown>>(steps).map((step) => {
    const own = isObject(step) ? step : {};
    const result: Record<string, unknown> = { ...own, code: typeof own.code === 'string' ? own.code : '', name: typeof own.name === 'string' && own.name ? own.name : undefined };
    if (isObject(own.loop)) result.loop = { ...own.loop, steps: clean(own.loop.steps, empty) };
    else delete result.loop;
    if (isObject(own.parallel)) result.parallel = { ...own.parallel, branches: asList<unknown>(own.parallel.branches).map((branch) => clean(branch, empty)) };
    else delete result.parallel;
    if (Array.isArray(own.branch)) result.branch = own.branch.map((way) => ({ ...(isObject(way) ? way : {}), when: isObject(way) && 'when' in way ? String(way.when) || empty : undefined, steps: clean(isObject(way) ? way.steps : [], empty) }));
    else delete result.branch;
    return result as unknown as StepDef;
});

/** A command as something that the canvas can draw: commands within it are ways to go. */
function commandItem(catalog: Catalog, command: Command, at: Path): Item {
    const spec = commandOf(catalog, command.type);
    const lists: List[] = [];
    const labels: string[] = [];
    for (const field of spec?.fields ?? []) {
        const value = command[field.name];
        for (const kind of kindsOf(field.kind)) {
            if (kind.is === 'word' && kind.word === 'commands' && (value !== undefined || field.required)) {
                lists.push(commandList(catalog, value, [...at, field.name]));
                labels.push(field.label);
            } else if (kind.is === 'map' && kind.of.is === 'word' && kind.of.word === 'commands' && isObject(value)) {
                for (const [name, inner] of Object.entries(value)) {
                    lists.push(commandList(catalog, inner, [...at, field.name, name]));
                    labels.push(name);
                }
            }
        }
    }
    const step = { code: String(command.as ?? command.type ?? '?'), name: spec?.label ?? String(command.type ?? '?'), procedure: command, rollback: command.rollback, when: typeof command.when === 'string' ? command.when : undefined } as StepDef;
    return { code: pointerOf(at), step, at, inside: lists.length ? { kind: 'ways', lists, labels } : undefined };
}

export const commandList = (catalog: Catalog, commands: unknown, at: Path): List => ({
    at, items: asList<Command>(commands).map((command, i) => commandItem(catalog, isObject(command) ? command : {}, Array.isArray(commands) ? [...at, i] : at)),
});

/** The list that the canvas shows. */
export const listOf = (catalog: Catalog, kind: DefinitionKind, value: Definition & Record<string, unknown>, otherwise: string, empty = '…'): List =>
    kind === 'scenario' ? stepList(clean(value.steps, empty), ['steps'], otherwise) : commandList(catalog, value.commands, ['commands']);

/** Every item in the order of the text, with those that it stands in. */
export function* everyItem(list: List, within: Item[] = []): Generator<{ item: Item; within: Item[]; list: List; index: number }> {
    for (const [index, item] of list.items.entries()) {
        yield { item, within, list, index };
        for (const inner of item.inside?.lists ?? []) yield* everyItem(inner, [...within, item]);
    }
}

const startsWith = (path: Path, prefix: Path) => prefix.length <= path.length && prefix.every((part, i) => String(part) === String(path[i]));
export const samePath = (a: Path | null, b: Path | null) => a !== null && b !== null && a.length === b.length && startsWith(a, b);

/** The innermost item that a path leads into. */
export function itemAt(list: List, path: Path): Item | null {
    let found: Item | null = null;
    for (const { item } of everyItem(list)) if (startsWith(path, item.at) && (!found || item.at.length > found.at.length)) found = item;
    return found;
}

/** What a person calls an item. */
export const titleOf = (item: Pick<Item, 'step'>) => (item.step.code || item.step.name ? nameOf(item.step) : '?');

/** Every code of a step that is taken. */
export function codesOf(list: List): Set<string> {
    return new Set([...everyItem(list)].map(({ item }) => item.step.code));
}

export function freeCode(taken: Set<string>, wish: string): string {
    const base = wish.toLowerCase().replace(/[^a-z0-9_]+/g, '_').replace(/^[^a-z]+|_+$/g, '') || 'step';
    for (let n = 1; ; n++) {
        const code = n === 1 ? base : `${base}_${n}`;
        if (!taken.has(code) && !['end', 'next', 'break'].includes(code)) return code;
    }
}

/** What can be put in: a command of the catalog, a step that it offers ready, or a field of a step that has steps of its own. */
export type Part = { what: 'command'; command: CatalogCommand } | { what: 'preset'; preset: CatalogPreset } | { what: 'step'; field: string };

/** A command as it begins: its type, and lists that want to be filled on the canvas. */
function newCommand(catalog: Catalog, command: CatalogCommand): Record<string, unknown> {
    const result: Record<string, unknown> = { type: command.name };
    for (const field of command.fields) {
        const kinds = kindsOf(field.kind);
        if (!field.required) continue;
        if (kinds.some((kind) => kind.is === 'word' && kind.word === 'commands')) result[field.name] = [];
        else if (kinds[0]!.is === 'map') result[field.name] = {};
        else if (kinds[0]!.is === 'list' && kinds.length === 1) result[field.name] = kinds[0]!.of.is === 'word' && tableOf(catalog, kinds[0]!.of.word) ? [{}] : [];
    }
    return result;
}

/** The word that the code of a new step begins with. */
const wishOf = (part: Part) => (part.what === 'command' ? part.command.name.split('.').at(-1)! : part.what === 'preset' ? part.preset.step.code : part.field === 'procedure' ? 'run' : part.field);

/** A new step or command of this kind, called `name`. */
export function newItem(catalog: Catalog, kind: DefinitionKind, part: Part, taken: Set<string>, name: string): Record<string, unknown> {
    if (part.what === 'command' && kind === 'procedure') return newCommand(catalog, part.command);
    const code = freeCode(taken, wishOf(part));
    if (part.what === 'command') return { code, name, procedure: newCommand(catalog, part.command) };
    if (part.what === 'preset') {
        const step = JSON.parse(JSON.stringify(part.preset.step).replaceAll('{code}', code)) as Record<string, unknown>;
        return kind === 'procedure' ? (step.procedure as Record<string, unknown>) : { code, name, ...Object.fromEntries(Object.entries(step).filter(([field]) => field !== 'code')) };
    }
    const body: Record<string, unknown> = {
        branch: [{ when: '', steps: [] }, { steps: [] }],
        loop: { for: '', steps: [] },
        parallel: { branches: [[], []] },
        procedure: '',
    };
    return { code, name, [part.field]: body[part.field] };
}

/**
 * The code of a step that is called otherwise now: it follows the name for as long as nobody has chosen a code. Null: it
 * stays.
 */
export function codeAfterName(step: StepDef, before: string, after: string, taken: Set<string>): string | null {
    const first = commandsOf(step)[0];
    const wishes = [codeOf(before, 40), String(first?.type ?? '').split('.').at(-1)!, first?.assignee ? 'ask' : '', first?.ifExists ? 'save' : '', step.branch ? 'branch' : step.loop ? 'loop' : step.parallel ? 'parallel' : 'run'];
    const isOurs = wishes.some((wish) => wish !== '' && new RegExp(`^${wish}(_\\d+)?$`).test(step.code));
    const wish = codeOf(after, 40);
    if (!isOurs || wish === '') return null;
    const others = new Set([...taken].filter((code) => code !== step.code));
    const code = freeCode(others, wish);
    return code === step.code ? null : code;
}

/** The codes of a step and of those in it. */
function codesIn(value: unknown): string[] {
    if (Array.isArray(value)) return value.flatMap(codesIn);
    if (!isObject(value)) return [];
    return [...(typeof value.code === 'string' && BODIES.some((name) => name in value) ? [value.code] : []), ...BODIES.flatMap((name) => codesIn(value[name])), ...codesIn(value.steps), ...codesIn(value.branches)];
}
const BODIES = ['procedure', 'branch', 'loop', 'parallel'];

/** The text of an item, with codes that are free where it is put, and what it says of its own steps going with them. */
export function copyOf(item: string, kind: DefinitionKind, taken: Set<string>): Raw {
    if (kind === 'procedure') return new Raw(item);
    let text = `{"steps":[${item}]}`;
    const used = new Set(taken);
    const value = JSON.parse(text) as { steps: unknown[] };
    for (const code of codesIn(value.steps)) {
        const free = freeCode(used, code.replace(/_\d+$/, ''));
        used.add(free);
        const { tree } = read(text);
        const step = tree && placeOf(JSON.parse(text), code);
        if (tree && step && free !== code) text = apply(text, renameStep(text, tree, step, free));
    }
    const { tree } = read(text);
    return lift(text, tree!, ['steps', 0]);
}

/** Where the step of this code stands. */
function placeOf(value: unknown, code: string, at: Path = []): Path | null {
    if (value === null || typeof value !== 'object') return null;
    if (isObject(value) && value.code === code && BODIES.some((name) => name in value)) return at;
    for (const [name, inner] of Object.entries(value)) {
        const found = placeOf(inner, code, [...at, Array.isArray(value) ? Number(name) : name]);
        if (found) return found;
    }
    return null;
}

/** Put an item into a list; a command that stood alone becomes one of a list. */
export function insertItem({ text, tree }: Good, list: Path, index: number, value: unknown): Edit[] {
    const there = nodeAt(tree, list);
    if (there?.type !== 'object') return insert(text, tree, list, index, value);
    const alone = lift(text, tree, list);
    return set(text, tree, list, index === 0 ? [value, alone] : [alone, value]);
}
