// model.ts - what a definition is made of, as the constructor shows it: steps or commands with their places. Pure.
import type { Item, List } from '../lib/layout';
import { stepList } from '../lib/layout';
import { commandsOf, iconOf, nameOf } from '../lib/steps';
import type { Definition, StepDef } from '../lib/types';
import { type Catalog, type CatalogCommand, commandOf, kindsOf } from './catalog';
import type { Good } from './doc';
import { type Edit, insert, lift, nodeAt, type Path, pointerOf, set } from './edits';

export type DefinitionKind = 'scenario' | 'procedure';
export type Command = Record<string, unknown> & { type?: string };

/** Where the list is that the canvas shows. */
export const rootOf = (kind: DefinitionKind): Path => [kind === 'scenario' ? 'steps' : 'commands'];

const asList = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : value !== null && typeof value === 'object' ? [value as T] : []);
const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Steps that the text has in part only are shown, too. */
const clean = (steps: unknown): StepDef[] => asList<Record<string, unknown>>(steps).map((step) => {
    const own = isObject(step) ? step : {};
    const result: Record<string, unknown> = { ...own, code: typeof own.code === 'string' ? own.code : '', name: typeof own.name === 'string' && own.name ? own.name : undefined };
    if (isObject(own.loop)) result.loop = { ...own.loop, steps: clean(own.loop.steps) };
    else delete result.loop;
    if (isObject(own.parallel)) result.parallel = { ...own.parallel, branches: asList<unknown>(own.parallel.branches).map(clean) };
    else delete result.parallel;
    if (Array.isArray(own.branch)) result.branch = own.branch.map((way) => ({ ...(isObject(way) ? way : {}), when: isObject(way) && 'when' in way ? String(way.when) : undefined, steps: clean(isObject(way) ? way.steps : []) }));
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
    const step = { code: String(command.as ?? command.type ?? '?'), name: spec?.label ?? String(command.type ?? '?'), procedure: command, rollback: command.rollback } as StepDef;
    return { code: pointerOf(at), step, at, inside: lists.length ? { kind: 'ways', lists, labels } : undefined };
}

export const commandList = (catalog: Catalog, commands: unknown, at: Path): List => ({
    at, items: asList<Command>(commands).map((command, i) => commandItem(catalog, isObject(command) ? command : {}, Array.isArray(commands) ? [...at, i] : at)),
});

/** The list that the canvas shows. */
export const listOf = (catalog: Catalog, kind: DefinitionKind, value: Definition & Record<string, unknown>, otherwise: string): List =>
    kind === 'scenario' ? stepList(clean(value.steps), ['steps'], otherwise) : commandList(catalog, value.commands, ['commands']);

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

/** The picture of an item: of its command, by the group that the catalog has it in. */
export function iconFor(catalog: Catalog, step: StepDef): string {
    const own = iconOf(step);
    const first = commandsOf(step)[0];
    if (!first || own === 'user') return own;
    return iconOfCommand(commandOf(catalog, first.type), String(first.type));
}

const GROUP_ICON: Record<string, string> = { compute: 'calc', flow: 'branch', record: 'db', wait: 'clock', message: 'mail', integration: 'globe', task: 'board', planner: 'board' };
const OWN_ICON: Record<string, string> = { 'flow.call': 'flow', 'flow.start': 'play', 'flow.try': 'shield', 'flow.match': 'list', 'event.publish': 'bolt', 'message.publish': 'bolt', 'notification.push': 'bell', 'compute.set': 'pin' };
export const iconOfCommand = (command: CatalogCommand | undefined, type: string) => {
    const own = iconOf({ code: 'x', procedure: { type } } as StepDef);
    if (OWN_ICON[type]) return OWN_ICON[type];
    return own !== 'calc' || type.startsWith('compute.') ? own : (GROUP_ICON[command?.group ?? ''] ?? 'bolt');
};

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

/** What can be put in: a command of the catalog, or a field of a step that has steps of its own. */
export type Part = { what: 'command'; command: CatalogCommand } | { what: 'step'; field: string };

/** A command as it begins: its type, and lists that want to be filled on the canvas. */
function newCommand(command: CatalogCommand): Record<string, unknown> {
    const result: Record<string, unknown> = { type: command.name };
    for (const field of command.fields) {
        const kinds = kindsOf(field.kind);
        if (!field.required) continue;
        if (kinds.some((kind) => kind.is === 'word' && kind.word === 'commands')) result[field.name] = [];
        else if (kinds[0]!.is === 'map') result[field.name] = {};
        else if (kinds[0]!.is === 'list') result[field.name] = [];
    }
    return result;
}

/** A new step or command of this kind. */
export function newItem(kind: DefinitionKind, part: Part, taken: Set<string>): Record<string, unknown> {
    if (part.what === 'command') {
        const command = newCommand(part.command);
        return kind === 'procedure' ? command : { code: freeCode(taken, part.command.name.split('.').at(-1)!), procedure: command };
    }
    const code = freeCode(taken, part.field === 'procedure' ? 'run' : part.field);
    const body: Record<string, unknown> = {
        branch: [{ when: '', steps: [] }, { steps: [] }],
        loop: { for: '', steps: [] },
        parallel: { branches: [[], []] },
        procedure: '',
    };
    return { code, [part.field]: body[part.field] };
}

/** Put an item into a list; a command that stood alone becomes one of a list. */
export function insertItem({ text, tree }: Good, list: Path, index: number, value: unknown): Edit[] {
    const there = nodeAt(tree, list);
    if (there?.type !== 'object') return insert(text, tree, list, index, value);
    const alone = lift(text, tree, list);
    return set(text, tree, list, index === 0 ? [value, alone] : [alone, value]);
}
