// known.ts - what an expression at a place of the definition can speak of: the context as the definition makes it,
// with the values of an execution that was chosen. Pure.
import { isObject } from '../lib/exact';
import type { Item, List } from '../flow/layout';
import { commandsOf } from '../lib/steps';
import type { FormField } from '../lib/types';
import { type Catalog, commandOf } from './catalog';
import { type Command, type DefinitionKind, everyItem, samePath } from './model';
import type { Path } from './edits';

export interface Known { group: 'Input' | 'Steps before this one' | 'Around it' | 'Functions'; label: string; insert: string; note: string; /** Of a parameter, or a field of a form. */ type?: string; options?: unknown[]; value?: unknown; has: boolean }


/** The members of what a command returns, as far as its text tells. */
interface Member { name: string; type?: string; options?: unknown[] }

function resultOf(catalog: Catalog, command: Command): Member[] {
    if (isObject(command.result)) return Object.keys(command.result).map((name) => ({ name }));
    const spec = commandOf(catalog, command.type);
    const own = (spec?.result.fields ?? []).map((field) => field.name);
    const said = ['data', 'values', 'fields'].flatMap((name) => (spec?.fields.some((field) => field.name === name) && isObject(command[name]) && !String(command.type).startsWith('notification.') && command.type !== 'log' ? Object.keys(command[name]) : []));
    // What people fill in is asked for most: it stands first.
    const form = Array.isArray(command.form) ? (command.form as FormField[]).filter((field) => field?.name).map((field) => ({ name: `payload.${field.name}`, type: field.type, options: field.enum })) : [];
    return [...form, ...[...new Set([...said, ...own])].map((name) => ({ name }))];
}

function membersOf(catalog: Catalog, item: Item): Member[] {
    const step = item.step;
    if (step.loop) return ['count', 'items', 'errors'].map((name) => ({ name }));
    if (step.parallel) return ['branches', 'count', 'ended'].map((name) => ({ name }));
    const last = commandsOf(step).at(-1);
    return last ? resultOf(catalog, last as Command) : [];
}

/** What a step has answered: what its rollback can speak of. */
export function ownAnswer(catalog: Catalog, item: Item, context: unknown): Known[] {
    const code = item.step.code;
    const value = at(context, `steps.${code}`).value;
    const labels = [...membersOf(catalog, item).map((member) => `steps.${code}.${member.name}`), ...(isObject(value) ? paths(value, `steps.${code}`, 2).filter((label) => !ENGINE.has(label.split('.')[2] ?? '')) : [])];
    return [...new Set(labels)].map((label) => ({ group: 'Steps before this one', label, insert: label, note: '', ...at(context, label) }));
}

const at = (context: unknown, label: string): { has: boolean; value: unknown } => {
    let value = context;
    for (const part of label.split('.')) {
        if (!isObject(value) || !(part in value)) return { has: false, value: undefined };
        value = value[part];
    }
    return { has: true, value };
};

/** Paths of a value that is there, down to where a person would stop. */
function paths(value: unknown, label: string, depth: number): string[] {
    if (!isObject(value) || depth === 0 || Object.keys(value).length === 0) return [label];
    return Object.keys(value).filter((name) => /^[A-Za-z_]\w*$/.test(name)).flatMap((name) => paths(value[name], `${label}.${name}`, depth - 1));
}

const ENGINE = new Set(['success', 'output', 'meta', 'error']);

export function knownAt(catalog: Catalog, kind: DefinitionKind, list: List, place: Path | null, input: FormField[], context: unknown, functions: { name: string; params?: { name: string }[] }[]): Known[] {
    const found: Known[] = [];
    const seen = new Set<string>();
    const add = (group: Known['group'], label: string, note = '', own: Pick<Known, 'type' | 'options'> = {}) => {
        if (seen.has(label)) return;
        seen.add(label);
        found.push({ group, label, insert: label, note, type: own.type, options: own.options?.length ? own.options : undefined, ...at(context, label) });
    };
    for (const field of input) if (field?.name) add('Input', `input.${field.name}`, '', { type: field.type, options: field.enum });
    if (isObject(context) && isObject(context.input)) for (const label of paths(context.input, 'input', 2)) if (label !== 'input') add('Input', label);
    for (const { item, within } of everyItem(list)) {
        if (place && samePath(item.at, place)) {
            for (const outer of within) {
                if (!outer.step.loop) continue;
                add('Around it', 'loop.item');
                add('Around it', 'loop.index');
                if (typeof outer.step.loop.as === 'string' && outer.step.loop.as) add('Around it', `loop.${outer.step.loop.as}`);
            }
            break;
        }
        if (kind === 'procedure') {
            const name = (item.step.procedure as Command)?.as;
            if (typeof name === 'string') for (const member of membersOf(catalog, item)) add('Steps before this one', `${name}.${member.name}`, '', member);
            continue;
        }
        if (!item.step.code) continue;
        for (const member of membersOf(catalog, item)) add('Steps before this one', `steps.${item.step.code}.${member.name}`, '', member);
        const value = at(context, `steps.${item.step.code}`).value;
        if (isObject(value)) for (const label of paths(value, `steps.${item.step.code}`, 2)) if (!ENGINE.has(label.split('.')[2] ?? '')) add('Steps before this one', label);
    }
    for (const name of ['execution.key', 'execution.id', 'execution.startedAt', 'user.name', 'user.email', 'now']) add('Around it', name);
    for (const root of catalog.context) if (['signal', 'response', 'error', 'record', 'reminder', 'webhook', 'variables', 'config'].includes(root.name)) {
        const value = at(context, root.name).value;
        for (const label of isObject(value) ? paths(value, root.name, 2) : [root.name]) add('Around it', label, root.type === 'dyn' ? '' : root.type);
    }
    for (const own of functions) found.push({ group: 'Functions', label: `fn.${own.name}(${(own.params ?? []).map((p) => p.name).join(', ')})`, insert: `fn.${own.name}(`, note: '', has: false });
    for (const one of catalog.functions) if (/^[A-Za-z]/.test(one.name)) found.push({ group: 'Functions', label: `${one.name}(…)`, insert: `${one.name}(`, note: one.help ?? one.signatures?.[0] ?? '', has: false });
    return found;
}

/** A value in a word or two. */
export function brief(value: unknown): string {
    if (Array.isArray(value)) return `[ ${value.length} ]`;
    if (isObject(value)) return `{ ${Object.keys(value).length} }`;
    const text = value === undefined ? '' : JSON.stringify(value);
    return text.length > 34 ? `${text.slice(0, 33)}…` : text;
}
