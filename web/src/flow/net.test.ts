import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { boxOf, isNet, netWay, readNet, sourceOf } from './net';
import { place } from './place';
import type { Passed } from './way';

const example = (name: string) => JSON.parse(readFileSync(`../examples/${name}.json`, 'utf8'));
const BALANCE = example('graphs/balance');
const ORDER = example('machines/order_life');
const row = (step: string, output: unknown = {}, more: Partial<Passed> = {}): Passed => ({ step, kind: 'forward', visit: 1, attempt: 1, status: 'completed', output, ...more });
const nowhere = new Map<string, string>();
const overlaps = ({ boxes }: ReturnType<typeof place>) => boxes.filter((a, i) => boxes.some((b, n) => n > i && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)).map((box) => box.code);

describe('a schema', () => {
    const net = readNet(BALANCE);
    test('is its nodes, and edges with the words of their branches', () => {
        expect([isNet(BALANCE), isNet({ steps: [] }), net.left]).toEqual([true, false, 0]);
        expect(net.boxes.map((box) => box.code)).toEqual(['start_1', 'http_1', 'condition_1', 'var_set_1', 'end_1', 'end_2']);
        expect(net.links.map((link) => `${link.from}>${link.to} ${link.label ?? ''}`.trim())).toContain('condition_1>end_2 false');
        expect(net.links.find((link) => link.branch === 'true')!.title).toContain('status_code');
    });
    test('stands where its author has put it, spread so that no two boxes lie on each other', () => {
        const drawn = place(net);
        const at = (code: string) => drawn.boxes.find((box) => box.code === code)!;
        expect(at('start_1').y).toBe(at('end_1').y);
        expect([at('http_1').x > at('start_1').x + 212, at('end_2').y > at('var_set_1').y, at('end_2').x === at('var_set_1').x]).toEqual([true, true, true]);
        expect(overlaps(drawn)).toEqual([]);
    });
    test('without places it stands from above to below', () => {
        const drawn = place(readNet({ ...BALANCE, nodes: BALANCE.nodes.map(({ position: _, ...node }: Record<string, unknown>) => node) }));
        const y = (code: string) => drawn.boxes.find((box) => box.code === code)!.y;
        expect([y('start_1') < y('http_1'), y('http_1') < y('condition_1'), y('condition_1') < y('end_2'), overlaps(drawn)]).toEqual([true, true, true, []]);
    });
    test('shows the edge of the branch that was chosen, and not the other', () => {
        const way = netWay(net, [row('start_1'), row('http_1'), row('condition_1', { branch: 'false' }), row('end_2')], nowhere);
        expect([...way.taken].map((code) => net.links.find((link) => link.code === code)!.to)).toEqual(['http_1', 'condition_1', 'end_2']);
        expect([way.visited.has('end_2'), way.visited.has('var_set_1')]).toEqual([true, false]);
    });
    test('where two branches lead to one node only that of the failure is shown', () => {
        const two = readNet({ nodes: [{ id: 'a', type: 'log' }, { id: 'b', type: 'end' }], edges: [{ source: 'a', target: 'b' }, { source: 'a', target: 'b', branch: 'error' }] });
        expect([...netWay(two, [row('a', null, { status: 'failed' }), row('b')], nowhere).taken]).toEqual(['edges/1']);
        expect([...netWay(two, [row('a'), row('b')], nowhere).taken]).toEqual(['edges/0']);
        expect(place(two).lines[0]!.d).not.toBe(place(two).lines[1]!.d);
    });
    test('a node that is tried again stands where it stands', () => {
        const circle = readNet({ nodes: [{ id: 'a', type: 'log' }], edges: [{ source: 'a', target: 'a' }] });
        expect([...netWay(circle, [row('a', null, { status: 'failed' })], new Map([['a', 'waiting']])).taken]).toEqual([]);
        expect([...netWay(circle, [row('a')], new Map([['a', 'waiting']])).taken]).toEqual(['edges/0']);
    });
});

describe('a machine', () => {
    const net = readNet(ORDER);
    const link = (code: string) => net.links.find((one) => one.code === code)!;
    test('is its states, and transitions by the codes of their steps', () => {
        expect([net.start, net.left, net.boxes.filter((box) => box.isFinal).map((box) => box.code)]).toEqual(['new', 0, ['delivered', 'cancelled']]);
        expect(net.links.map((one) => one.code)).toEqual(['new.pay', 'new.cancel', 'new#3d', 'paid.pack', 'paid.cancel', 'packed.ship', 'shipped.deliver', 'shipped#14d']);
        expect([link('new.pay').label, link('new.cancel').label, link('new#3d').isTime]).toEqual(['The whole sum is paid', 'cancel', true]);
        expect(link('new.pay').title).toContain('signal.payload.sum >= input.sum');
        expect(link('new#3d').label).toContain('Nobody has paid');
    });
    test('has what stays as a line in the box of its state', () => {
        const stays = (code: string) => net.boxes.find((box) => box.code === code)!.stays.map((stay) => stay.code);
        expect([stays('new'), stays('paid'), stays('packed')]).toEqual([['new#1d'], ['paid.note'], []]);
        const drawn = place(net);
        const high = (code: string) => drawn.boxes.find((box) => box.code === code)!.h;
        expect([high('new') > high('packed'), overlaps(drawn), drawn.pill !== null]).toEqual([true, [], true]);
    });
    test('numbers the second transition of an event as its step is', () => {
        const list = readNet(example('machines/document_life'));
        expect(list.links.filter((one) => one.from === 'review').map((one) => `${one.code} ${one.to}`)).toEqual(['review.approve approved', 'review.reject discarded', 'review.reject#2 draft']);
        expect(sourceOf(list, 'review.reject#2')).toEqual({ to: 'draft' });
    });
    test('shows the transitions that its states were left by, and that which is under way', () => {
        const rows = [row('new', { transition: 'new.pay' }), row('new.pay'), row('paid', { transition: 'paid.note' }), row('paid.note'), row('paid', { transition: 'paid.pack' }, { visit: 2 })];
        const way = netWay(net, rows, new Map([['packed', 'waiting']]));
        expect([[...way.taken], [...way.visited], [...way.under]]).toEqual([['new.pay', 'paid.note', 'paid.pack'], ['new', 'paid', 'packed'], []]);
        const held = netWay(net, [row('new', { transition: 'new.pay' }), row('new.pay', null, { status: 'failed' })], new Map([['new.pay', 'held']]));
        expect([[...held.taken], [...held.under], [...held.visited]]).toEqual([[], ['new.pay'], ['new']]);
        expect([boxOf(net, 'new.pay'), boxOf(net, 'new#3d'), boxOf(net, null)]).toEqual(['new', 'new', null]);
    });
});

test('what leads back to its own state is a circle at the right of it, with its word beside', () => {
    const drawn = place(readNet({ initial: 'a', states: { a: { on: { again: { to: 'a' }, more: { to: 'a' }, go: { to: 'b' } } }, b: { final: true } } }));
    const [box] = drawn.boxes;
    const words = drawn.lines.slice(0, 2).map((line) => line.labelAt);
    expect(words.every((at) => at.x > box!.x + box!.w)).toBe(true);
    expect(Math.abs(words[0]!.y - words[1]!.y)).toBeGreaterThan(20);
});

test('what leads back to its own state is a circle at the right of it, with its word beside', () => {
    const drawn = place(readNet({ initial: 'a', states: { a: { on: { again: { to: 'a' }, more: { to: 'a' }, go: { to: 'b' } } }, b: { final: true } } }));
    const [box] = drawn.boxes;
    const words = drawn.lines.slice(0, 2).map((line) => line.labelAt);
    expect(words.every((at) => at.x > box!.x + box!.w)).toBe(true);
    expect(Math.abs(words[0]!.y - words[1]!.y)).toBeGreaterThan(20);
});

describe('what nobody has checked', () => {
    test('is drawn as far as it can be', () => {
        for (const odd of [null, 7, 'x', [], { nodes: 3 }, { nodes: {}, edges: {} }, { nodes: [null, 1, { id: 5 }], edges: [null, {}] }, { states: [] }, { states: { a: null, b: 4 }, initial: {} }, { states: { a: { on: [], after: 'x' } }, initial: 'z' }])
            expect(() => place(readNet(odd))).not.toThrow();
        const net = readNet({ nodes: [{ id: 'a' }, { id: 'a' }, { id: '__proto__' }, { id: 'constructor', type: {} }], edges: [{ source: 'a', target: 'z' }, { source: 'a', target: '__proto__' }, { source: 'constructor', target: 'constructor' }] });
        expect([net.boxes.map((box) => box.code), net.links.length, net.left]).toEqual([['a', '__proto__', 'constructor'], 2, 2]);
        expect(overlaps(place(net))).toEqual([]);
        const lost = readNet({ states: { a: { on: { go: { to: 'nowhere' }, odd: 5 } } } });
        expect([lost.links.length, lost.left]).toEqual([0, 2]);
    });
    test('places that are none, or lie on each other, are not taken', () => {
        for (const places of [[{ x: 0, y: 0 }, { x: 0, y: 0 }], [{ x: 1e300, y: 0 }, { x: 0, y: 0 }], [{ x: 'a' }, null], [{ x: 0, y: 0 }, { x: 0.001, y: 0 }]])
            expect(overlaps(place(readNet({ nodes: places.map((position, i) => ({ id: `n${i}`, type: 'log', position })), edges: [{ source: 'n0', target: 'n1' }] })))).toEqual([]);
    });
    test('what the library cannot lay out stands in rows', () => {
        const nodes = Array.from({ length: 100 }, (_, i) => ({ id: `n${i}`, type: 'log' }));
        const edges = Array.from({ length: 400 }, (_, i) => ({ source: `n${i % 100}`, target: `n${(i * 7 + 1) % 100}`, branch: i % 3 ? 'true' : undefined }));
        expect(overlaps(place(readNet({ nodes, edges })))).toEqual([]);
    });
    test('a thousand nodes and five thousand edges stand in rows, none on another', () => {
        const nodes = Array.from({ length: 1200 }, (_, i) => ({ id: `n${i}`, type: i === 0 ? 'start' : 'log' }));
        const edges = Array.from({ length: 6000 }, (_, i) => ({ source: `n${i % 1000}`, target: `n${(i * 7 + 1) % 1000}` }));
        const net = readNet({ nodes, edges });
        expect([net.boxes.length, net.links.length, net.left]).toEqual([1000, 5000, 1200]);
        expect(overlaps(place(net))).toEqual([]);
    });
});
