// edits.ts - changes of a definition as changes of its text: what is not meant stays as it was written. Pure.
//
// A path leads to a value as in jsonc-parser: ['steps', 0, 'name']. Every function answers with edits in the
// coordinates of the text it was given; none of them reads a number, so that big ones survive.
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { Exact, isObject } from '../lib/exact';

export type Path = (string | number)[];
export interface Edit { from: number; to: number; insert: string }
export interface Broken { offset: number; length: number; message: string }

/** Text that is put in as it is: a number that no double holds, a step that is moved. */
export class Raw {
    constructor(readonly text: string) {}
}

const LINE_MOST = 100;

/** The tree of a JSON object, or what is wrong with the text. */
export function read(text: string): { tree: Node; broken: null } | { tree: null; broken: Broken } {
    const errors: ParseError[] = [];
    const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
    const first = errors[0];
    if (first) return { tree: null, broken: { offset: first.offset, length: first.length, message: printParseErrorCode(first.error) } };
    if (!tree || tree.type !== 'object') return { tree: null, broken: { offset: 0, length: text.length, message: 'NotAnObject' } };
    const twice = duplicate(tree);
    if (twice) return { tree: null, broken: { offset: twice.offset, length: twice.length, message: 'DuplicateKey' } };
    return { tree, broken: null };
}

function duplicate(node: Node): Node | null {
    const names = new Set<string>();
    for (const child of node.children ?? []) {
        if (node.type === 'object') {
            const key = child.children![0]!;
            if (names.has(String(key.value))) return key;
            names.add(String(key.value));
        }
        const inner = duplicate(child);
        if (inner) return inner;
    }
    return null;
}

export const apply = (text: string, edits: Edit[]) => [...edits].sort((a, b) => b.from - a.from || b.to - a.to).reduce((all, e) => all.slice(0, e.from) + e.insert + all.slice(e.to), text);

export const nodeAt = (tree: Node, path: Path): Node | undefined => (path.length === 0 ? tree : findNodeAtLocation(tree, path));
export const rawAt = (text: string, tree: Node, path: Path): string | undefined => {
    const node = nodeAt(tree, path);
    return node && text.slice(node.offset, node.offset + node.length);
};

/** The spaces at the beginning of the line of `offset`. */
function indentAt(text: string, offset: number): string {
    const start = text.lastIndexOf('\n', offset - 1) + 1;
    return /^[ \t]*/.exec(text.slice(start, offset))![0];
}

const isFirstInLine = (text: string, offset: number) => text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';

/** How far one level is indented, as the text itself does it. */
function unitOf(text: string): string {
    const found = /\n([ \t]+)"/.exec(text);
    return found ? (found[1]!.startsWith('\t') ? '\t' : found[1]!.slice(0, 8)) : '  ';
}

function inline(value: unknown): string {
    if (value instanceof Raw) return value.text;
    if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
    if (isObject(value)) return `{${Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${inline(v)}`).join(', ')}}`;
    return JSON.stringify(value);
}

/** `value` as text: on one line while that is short, else one member a line. */
export function write(value: unknown, indent: string, unit: string, used = 0): string {
    if (value instanceof Raw) return reindent(value.text, '', indent);
    const short = inline(value);
    if (value === null || typeof value !== 'object' || value instanceof Exact || (short.length + indent.length + used <= LINE_MOST && !short.includes('\n'))) return short;
    const inner = indent + unit;
    if (Array.isArray(value)) return `[\n${value.map((v) => inner + write(v, inner, unit)).join(',\n')}\n${indent}]`;
    return `{\n${Object.entries(value).map(([name, v]) => `${inner}${JSON.stringify(name)}: ${write(v, inner, unit, name.length + 4)}`).join(',\n')}\n${indent}}`;
}

/** Only what differs between the two. */
export function narrow(from: number, before: string, after: string): Edit {
    let start = 0;
    const most = Math.min(before.length, after.length);
    while (start < most && before[start] === after[start]) start++;
    let end = 0;
    while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
    return { from: from + start, to: from + before.length - end, insert: after.slice(start, after.length - end) };
}

/** Set what stands at `path`; what is missing on the way there is made. */
export function set(text: string, tree: Node, path: Path, value: unknown): Edit[] {
    const there = nodeAt(tree, path);
    if (there) {
        const before = text.slice(there.offset, there.offset + there.length);
        const after = write(value, indentAt(text, there.offset), unitOf(text));
        return before === after ? [] : [narrow(there.offset, before, after)];
    }
    const above = path.slice(0, -1);
    const last = path.at(-1)!;
    const parent = nodeAt(tree, above);
    if (!parent) return set(text, tree, above, typeof last === 'number' ? [value] : { [last]: value });
    if (parent.type === 'array') return insert(text, tree, above, parent.children?.length ?? 0, value);
    if (parent.type !== 'object') return set(text, tree, above, { [last]: value });
    return addMember(text, parent, String(last), value);
}

function addMember(text: string, object: Node, name: string, value: unknown): Edit[] {
    const unit = unitOf(text);
    const key = `${JSON.stringify(name)}: `;
    const last = object.children?.at(-1);
    if (!last) {
        const indent = indentAt(text, object.offset);
        const short = `{${key}${inline(value)}}`;
        const wide = short.length + indent.length > LINE_MOST || object.parent === undefined;
        return [{ from: object.offset, to: object.offset + object.length, insert: wide ? `{\n${indent}${unit}${key}${write(value, indent + unit, unit, key.length)}\n${indent}}` : short }];
    }
    const at = last.offset + last.length;
    if (isFirstInLine(text, last.offset)) {
        const indent = indentAt(text, last.offset);
        return [{ from: at, to: at, insert: `,\n${indent}${key}${write(value, indent, unit, key.length)}` }];
    }
    // On one line with the others, as long as there is room for it.
    const start = text.lastIndexOf('\n', at - 1) + 1;
    const indent = indentAt(text, at);
    const short = `, ${key}${inline(value)}`;
    const isBroken = object.children!.some((child) => isFirstInLine(text, child.offset));
    if (at - start + short.length <= LINE_MOST || !isBroken) return [{ from: at, to: at, insert: short.length + at - start <= LINE_MOST * 1.5 ? short : `, ${key}${write(value, indent, unit)}` }];
    return [{ from: at, to: at, insert: `,\n${indent}${key}${write(value, indent, unit, key.length)}` }];
}

/** Take away a member or an item, with its comma. */
export function remove(text: string, tree: Node, path: Path): Edit[] {
    const node = nodeAt(tree, path);
    if (!node || path.length === 0) return [];
    const whole = node.parent?.type === 'property' ? node.parent : node;
    const all = whole.parent!.children!;
    const i = all.indexOf(whole);
    const end = whole.offset + whole.length;
    const before = all[i - 1];
    const after = all[i + 1];
    if (before) return [{ from: before.offset + before.length, to: end, insert: '' }];
    if (after) return [{ from: whole.offset, to: after.offset, insert: '' }];
    const box = whole.parent!;
    return [{ from: box.offset + 1, to: box.offset + box.length - 1, insert: '' }];
}

/** Put an item into the list at `list`, before the one that is at `index` now. */
export function insert(text: string, tree: Node, list: Path, index: number, value: unknown): Edit[] {
    const box = nodeAt(tree, list);
    if (!box) return set(text, tree, list, [value]);
    const unit = unitOf(text);
    const items = box.children ?? [];
    if (items.length === 0) {
        const indent = indentAt(text, box.offset);
        const wide = value instanceof Raw ? true : value !== null && typeof value === 'object' && !Array.isArray(value);
        const fresh = `[${wide ? `\n${indent}${unit}${write(value, indent + unit, unit)}\n${indent}` : inline(value)}]`;
        return [{ from: box.offset, to: box.offset + box.length, insert: fresh }];
    }
    const beside = items[Math.max(0, Math.min(index, items.length) - 1)]!;
    const ownLine = isFirstInLine(text, beside.offset);
    const indent = indentAt(text, beside.offset);
    const gap = ownLine ? `\n${indent}` : ' ';
    if (index <= 0) return [{ from: beside.offset, to: beside.offset, insert: `${write(value, indent, unit)},${gap}` }];
    const at = beside.offset + beside.length;
    return [{ from: at, to: at, insert: `,${gap}${write(value, indent, unit)}` }];
}

/** The lines behind the first, moved from one depth to another. */
export function reindent(raw: string, from: string, to: string): string {
    return raw.split('\n').map((line, i) => (i === 0 ? line : line.startsWith(from) ? to + line.slice(from.length) : line)).join('\n');
}

/** The text of an item as it would stand at the margin. */
export function lift(text: string, tree: Node, path: Path): Raw {
    const node = nodeAt(tree, path)!;
    return new Raw(reindent(text.slice(node.offset, node.offset + node.length), indentAt(text, node.offset), ''));
}

/** Move an item before what is at `index` of the list at `list` now. Into itself: nothing happens. */
export function move(text: string, tree: Node, from: Path, list: Path, index: number): Edit[] {
    const own = from.slice(0, -1);
    const at = Number(from.at(-1));
    const isSame = String(own) === String(list) && own.length === list.length;
    if (isSame && (index === at || index === at + 1)) return [];
    if (list.length >= from.length && from.every((part, i) => part === list[i])) return [];
    return [...remove(text, tree, from), ...insert(text, tree, list, index, lift(text, tree, from))];
}

/** Call a member of an object otherwise. */
export function renameMember(tree: Node, object: Path, name: string, to: string): Edit[] {
    const box = nodeAt(tree, object);
    const key = box?.children?.find((child) => child.children?.[0]?.value === name)?.children?.[0];
    return key ? [{ from: key.offset, to: key.offset + key.length, insert: JSON.stringify(to) }] : [];
}

/** Where the texts of people stand: nothing there is a name of a step. */
const PROSE = new Set(['name', 'label', 'description', 'code', 'type']);

/** Every string of the tree with the name it stands under. */
function* strings(node: Node, under: string): Generator<[Node, string]> {
    if (node.type === 'string') yield [node, under];
    else if (node.type === 'property') yield* strings(node.children![1]!, String(node.children![0]!.value));
    else for (const child of node.children ?? []) yield* strings(child, under);
}

/** Give a step another code, wherever it is spoken of: expressions, jumps. */
export function renameStep(text: string, tree: Node, step: Path, to: string): Edit[] {
    const code = nodeAt(tree, [...step, 'code']);
    if (!code) return set(text, tree, [...step, 'code'], to);
    const from = String(code.value);
    const edits = [narrow(code.offset, text.slice(code.offset, code.offset + code.length), JSON.stringify(to))];
    if (!/^\w+$/.test(from) || from === to) return from === to ? [] : edits;
    const dotted = new RegExp(`\\bsteps(\\.\\??)${from}(?!\\w)`, 'g');
    const quoted = new RegExp(`\\bsteps\\[(\\\\"|')${from}\\1\\]`, 'g');
    for (const [node, under] of strings(tree, '')) {
        if (node === code || PROSE.has(under)) continue;
        const before = text.slice(node.offset, node.offset + node.length);
        const after = (under === 'goto' || under === 'to') && node.value === from ? JSON.stringify(to) : before.replace(dotted, `steps$1${to}`).replace(quoted, `steps[$1${to}$1]`);
        if (after !== before) edits.push(narrow(node.offset, before, after));
    }
    return edits;
}

export const pointerOf = (path: Path) => path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The path of a JSON pointer, as far as the tree has it; and what of it the tree has not. */
export function pathOf(tree: Node | null, pointer: string): Path {
    const path: Path = [];
    for (const part of pointer.split('/').slice(1).map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~'))) {
        const node = tree ? nodeAt(tree, path) : undefined;
        path.push(node ? (node.type === 'array' ? Number(part) : part) : /^\d+$/.test(part) ? Number(part) : part);
    }
    return path;
}
