import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getNodeValue, type Node } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { Doc } from './doc';
import { readText, writeText } from './stored';
import { apply, insert, move, type Path, pathOf, pointerOf, Raw, read, remove, renameStep, set } from './edits';

const examples = '../examples';
const files = readdirSync(examples, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && e.name.endsWith('.json') && !e.name.includes('.test.')).map((e) => join(e.parentPath, e.name))
    .filter((file) => { const all = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>; return Array.isArray(all.steps) || Array.isArray(all.commands); });
const tree = (text: string) => read(text).tree!;
const value = (text: string) => getNodeValue(tree(text)) as unknown;

function* leaves(node: Node, path: Path = []): Generator<[Path, Node]> {
    if (node.type === 'object') for (const p of node.children ?? []) yield* leaves(p.children![1]!, [...path, String(p.children![0]!.value)]);
    else if (node.type === 'array') for (const [i, item] of (node.children ?? []).entries()) yield* leaves(item, [...path, i]);
    else yield [path, node];
}

describe('round trip', () => {
    test('there are examples', () => expect(files.length).toBeGreaterThan(4));
    test.each(files)('%s: touching one field changes the text of that field and nothing else', (file) => {
        const text = readFileSync(file, 'utf8');
        const all = [...leaves(tree(text))];
        expect(all.length).toBeGreaterThan(3);
        for (const [path, node] of all) {
            const to = node.type === 'string' ? `${String(node.value)}!` : node.type === 'number' ? new Raw('12345678901234567890') : 'other';
            const after = apply(text, set(text, tree(text), path, to));
            const written = to instanceof Raw ? to.text : JSON.stringify(to);
            expect(after).toBe(text.slice(0, node.offset) + written + text.slice(node.offset + node.length));
        }
    });
    test.each(files)('%s: a field that is added and taken away leaves no trace', (file) => {
        const text = readFileSync(file, 'utf8');
        for (const path of [['description2'], ['meta2', 'a'], ...(text.includes('"steps"') ? [['steps', 0, 'added'], ['steps', 0, 'retry2', 'maxAttempts']] : [])] as Path[]) {
            const after = apply(text, set(text, tree(text), path, 'x'));
            expect(read(after).broken).toBe(null);
            expect(apply(after, remove(after, tree(after), path.length > 3 ? path.slice(0, 3) : path.slice(0, path[0] === 'meta2' ? 1 : path.length)))).toBe(text);
        }
    });
    test.each(files)('%s: a step that is put in and taken out again leaves no trace', (file) => {
        const text = readFileSync(file, 'utf8');
        const name = text.includes('"steps"') ? 'steps' : 'commands';
        const list = (value(text) as Record<string, unknown[]>)[name]!;
        for (let i = 0; i <= list.length; i++) {
            const after = apply(text, insert(text, tree(text), [name], i, { code: 'fresh', procedure: { type: 'log', message: 'hello' } }));
            const items = (value(after) as Record<string, { code: string }[]>)[name]!;
            expect(items.map((s) => s.code).indexOf('fresh')).toBe(i);
            expect(apply(after, remove(after, tree(after), [name, i]))).toBe(text);
        }
    });
});

/** The same definition as other hands write it. */
const hands: [string, (text: string) => string][] = [
    ['with tabs', (text) => text.replace(/^( +)/gm, (spaces) => '\t'.repeat(Math.ceil(spaces.length / 2)))],
    ['with the line ends of Windows', (text) => text.replace(/\n/g, '\r\n')],
    ['on one line', (text) => JSON.stringify(JSON.parse(text))],
    ['with odd spaces', (text) => text.replace(/": /g, '"  :\t').replace(/,\n/g, ' ,\n')],
    ['with escapes', (text) => text.replace(/[a-z](?=[a-z]*"\s*:)/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)],
    ['with keys from the last to the first', (text) => JSON.stringify(JSON.parse(text, (_, v: unknown) => (v && typeof v === 'object' && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).reverse()) : v)), null, 3)],
];

describe.each(hands)('round trip of texts %s', (_, by) => {
    test.each(files)('%s: opened, touched by a form and undone, the text is the same to the letter', (file) => {
        const text = by(readFileSync(file, 'utf8'));
        expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
        const opened = readText(text);
        const doc = new Doc(opened.text);
        const written = () => writeText(doc.text, opened.isWindows);
        expect(doc.text).toBe(opened.text);
        expect(written()).toBe(text);
        const all = [...leaves(tree(text))].filter(([, node]) => node.type === 'string');
        for (const [path, node] of all.filter((_one, i) => i % 7 === 0)) {
            doc.change((good) => set(good.text, good.tree, path, `${String(node.value)} ß`));
            expect(written()).toBe(text.slice(0, node.offset) + JSON.stringify(`${String(node.value)} ß`) + text.slice(node.offset + node.length));
            doc.undo();
            expect(written()).toBe(text);
        }
    });
});

describe('what is not understood stays', () => {
    const text = '{\n  "code": "x",\n  "unknown": {"deep": [1, 2.50, 12345678901234567890123, 1e400]},\n  "name": "Ä\\u00e4"\n}\n';
    test('big numbers, escapes and fields that nobody knows survive an edit beside them', () => {
        const after = apply(text, set(text, tree(text), ['code'], 'y'));
        expect(after).toBe(text.replace('"x"', '"y"'));
    });
    test('a text without any line break stays on its line', () => {
        const one = '{"code":"x","steps":[{"code":"a"}]}';
        expect(apply(one, set(one, tree(one), ['steps', 0, 'when'], 'true'))).toBe('{"code":"x","steps":[{"code":"a", "when": "true"}]}');
    });
    test('keys that stand twice are no definition', () => expect(read('{"a": 1, "a": 2}').broken?.message).toBe('DuplicateKey'));
});

describe('moving', () => {
    const text = '{\n  "steps": [\n    {"code": "a"},\n    {\n      "code": "b",\n      "loop": {\n        "steps": [\n          {"code": "c"}\n        ]\n      }\n    },\n    {"code": "d"}\n  ]\n}\n';
    const codes = (t: string) => (value(t) as { steps: { code: string }[] }).steps.map((s) => s.code).join('');
    const moved = (from: Path, list: Path, index: number) => apply(text, move(text, tree(text), from, list, index));
    test('down, up, to the ends', () => {
        expect(codes(moved(['steps', 0], ['steps'], 2))).toBe('bad');
        expect(codes(moved(['steps', 2], ['steps'], 0))).toBe('dab');
        expect(codes(moved(['steps', 0], ['steps'], 3))).toBe('bda');
        expect(codes(moved(['steps', 2], ['steps'], 1))).toBe('adb');
    });
    test('there and back is the same text', () => {
        const there = moved(['steps', 1], ['steps'], 3);
        expect(codes(there)).toBe('adb');
        expect(apply(there, move(there, tree(there), ['steps', 2], ['steps'], 1))).toBe(text);
    });
    test('into a loop and out of it', () => {
        const inside = moved(['steps', 2], ['steps', 1, 'loop', 'steps'], 1);
        expect((value(inside) as any).steps[1].loop.steps).toEqual([{ code: 'c' }, { code: 'd' }]);
        const out = moved(['steps', 1, 'loop', 'steps', 0], ['steps'], 0);
        expect(codes(out)).toBe('cabd');
        expect((value(out) as any).steps[2].loop.steps).toEqual([]);
    });
    test('nothing moves into itself, or to where it is', () => {
        expect(moved(['steps', 1], ['steps', 1, 'loop', 'steps'], 0)).toBe(text);
        expect(moved(['steps', 1], ['steps'], 1)).toBe(text);
        expect(moved(['steps', 1], ['steps'], 2)).toBe(text);
    });
});

test('a step gets another code wherever it is spoken of, and nowhere else', () => {
    const text = JSON.stringify({
        name: 'steps.ask is prose', steps: [
            { code: 'ask', name: 'ask' }, { code: 'ask_above', when: '$.steps.ask.payload.ok && steps.ask_above == null && $.steps.?ask.orValue(1) == 1', goto: 'ask' },
            { code: 'z', goto: [{ when: "steps['ask'].x", to: 'ask' }], procedure: { type: 'log', message: 'ask {{ steps.ask.x }} or task', onTimeout: { to: 'ask' } } }],
    }, null, 2);
    const after = value(apply(text, renameStep(text, tree(text), ['steps', 0], 'decide'))) as any;
    expect(after.name).toBe('steps.ask is prose');
    expect(after.steps[0]).toEqual({ code: 'decide', name: 'ask' });
    expect(after.steps[1]).toEqual({ code: 'ask_above', when: '$.steps.decide.payload.ok && steps.ask_above == null && $.steps.?decide.orValue(1) == 1', goto: 'decide' });
    expect(after.steps[2]).toEqual({ code: 'z', goto: [{ when: "steps['decide'].x", to: 'decide' }], procedure: { type: 'log', message: 'ask {{ steps.decide.x }} or task', onTimeout: { to: 'decide' } } });
});

test('pointers and paths are the same thing', () => {
    const text = '{"a": [{"b/c": {"~": 1}}]}';
    expect(pointerOf(['a', 0, 'b/c', '~'])).toBe('/a/0/b~1c/~0');
    expect(pathOf(tree(text), '/a/0/b~1c/~0')).toEqual(['a', 0, 'b/c', '~']);
});

describe('one text, one history', () => {
    const text = '{\n  "code": "x",\n  "steps": []\n}\n';
    test('a change of a form is undone and done again', () => {
        const doc = new Doc(text);
        doc.change(({ text: t, tree: n }) => set(t, n, ['code'], 'y'));
        doc.change(({ text: t, tree: n }) => insert(t, n, ['steps'], 0, { code: 'a', procedure: { type: 'log' } }));
        const both = doc.text;
        expect(doc.snapshot().good!.value.steps!.length).toBe(1);
        doc.undo();
        expect(doc.text).toBe(text.replace('"x"', '"y"'));
        doc.undo();
        expect(doc.text).toBe(text);
        expect(doc.snapshot().canUndo).toBe(false);
        doc.redo();
        doc.redo();
        expect(doc.text).toBe(both);
    });
    test('typing on in a field is one step of the history', () => {
        const doc = new Doc(text);
        for (const code of ['xa', 'xab', 'xabc']) doc.change(({ text: t, tree: n }) => set(t, n, ['code'], code), false);
        expect(doc.snapshot().good!.value.code).toBe('xabc');
        doc.undo();
        expect(doc.text).toBe(text);
    });
    test('a broken text keeps what could be read last, refuses changes of forms, and is undone', () => {
        const doc = new Doc(text);
        doc.apply([{ from: 4, to: 5, insert: '' }]);
        const { broken, good } = doc.snapshot();
        expect(broken).not.toBe(null);
        expect(good!.text).toBe(text);
        doc.change(({ text: t, tree: n }) => set(t, n, ['code'], 'lost'));
        expect(doc.text.includes('lost')).toBe(false);
        doc.undo();
        expect(doc.snapshot().broken).toBe(null);
    });
});
