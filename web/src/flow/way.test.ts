import { describe, expect, test } from 'vitest';
import type { StepDef } from '../lib/types';
import { arrange, type Layout, stepList } from './layout';
import { isTaken, type Passed, wayOf } from './way';

const wait = { type: 'wait.signal', signalType: 'answer', timeout: '24h', onTimeout: { to: 'escalate' } };
const DISCOUNT = [
    { code: 'check' }, { code: 'ask', procedure: wait, goto: 'decide' }, { code: 'escalate' }, { code: 'decide' },
    { code: 'grant', when: '$.steps.decide.approved' }, { code: 'refuse', when: '!$.steps.decide.approved' },
] as StepDef[];
const row = (step: string, status = 'completed', more: Partial<Passed> = {}): Passed => ({ step, kind: 'forward', visit: 1, attempt: 1, status, ...more });
const picture = (steps: StepDef[], rows: Passed[], isOver = true) => {
    const list = stepList(steps, ['steps'], 'otherwise');
    const drawn = arrange(list, { ends: { start: 'start', end: 'end' } });
    const way = wayOf(list, rows, isOver);
    return { drawn, lines: drawn.edges.filter((edge) => isTaken(way, edge.claim)).map((edge) => `${edge.kind} ${edge.from}-${edge.to}`), ends: drawn.pills.filter((pill) => isTaken(way, pill.claim)).map((pill) => pill.label) };
};
const at = (drawn: Layout, code: string) => drawn.nodes.find((node) => node.code === code)!;

describe('a discount', () => {
    test('that is granted draws "granted", and not "refused"', () => {
        const { lines, ends } = picture(DISCOUNT, [row('check'), row('ask'), row('decide'), row('grant'), row('refuse', 'skipped')]);
        expect(lines).toContain('jump ask-decide');
        expect(lines).toContain('next -grant');
        expect(lines.some((line) => line.includes('refuse') || line.includes('escalate'))).toBe(false);
        expect(ends).toEqual(['start', 'end']);
    });
    test('that nobody answers goes by its timeout, and not by its jump', () => {
        const { lines } = picture(DISCOUNT, [row('check'), row('ask', 'completed', { output: { timedOut: true } }), row('escalate'), row('decide'), row('grant', 'skipped'), row('refuse')]);
        expect(lines).toContain('timeout ask-escalate');
        expect(lines).not.toContain('jump ask-decide');
        expect(lines.some((line) => line.includes('grant'))).toBe(false);
    });
    test('has its two ends side by side, with their words', () => {
        const { drawn } = picture(DISCOUNT, []);
        expect(at(drawn, 'grant').y).toBe(at(drawn, 'refuse').y);
        expect(drawn.edges.flatMap((edge) => edge.label ?? []).join('|')).toMatch(/after 24.h.*if decide\.approved\|if not decide\.approved\|goes to Decide/);
    });
    test('that still waits has no end', () => expect(picture(DISCOUNT, [row('check'), row('ask', 'waiting')], false).ends).toEqual(['start']));
});

test('a step with a condition has a line around it, which is taken when it is skipped', () => {
    const steps = [{ code: 'a' }, { code: 'b', when: '$.input.x > 5' }, { code: 'c' }] as StepDef[];
    expect(picture(steps, [row('a'), row('b', 'skipped'), row('c')]).lines).toContain('skip b-');
    expect(picture(steps, [row('a'), row('b'), row('c')]).lines).not.toContain('skip b-');
});

test('a jump back, a jump to the end and rounds of a loop', () => {
    const steps = [{ code: 'a' }, { code: 'b', goto: [{ when: '$.x', to: 'a' }, { to: 'end' }] }, { code: 'c' }] as StepDef[];
    const { lines, ends, drawn } = picture(steps, [row('a'), row('b'), row('a', 'completed', { visit: 2 }), row('b', 'completed', { visit: 2 })]);
    expect(lines).toContain('jump b-a');
    expect(lines.some((line) => line.endsWith('-c'))).toBe(false);
    expect(ends).toContain('end');
    expect(drawn.edges.some((edge) => edge.from === 'b' && edge.to === 'c')).toBe(false);
    const loop = [{ code: 'l', loop: { for: '=[1]', steps: [{ code: 'x' }, { code: 'y' }] } }] as unknown as StepDef[];
    const rounds = picture(loop, [row('x'), row('y'), row('x', 'completed', { visit: 2 }), row('y', 'completed', { visit: 2 }), row('l')]).lines;
    expect(rounds).toContain('next x-y');
});

test('of a branch the way that was gone is drawn, also the empty one', () => {
    const steps = [{ code: 'b', branch: [{ when: '$.x', steps: [{ code: 'one' }] }] }, { code: 'z' }] as unknown as StepDef[];
    expect(picture(steps, [row('one'), row('b'), row('z')]).lines).toEqual(expect.arrayContaining(['next -one', 'next one-', 'next b-z']));
    const empty = picture(steps, [row('b'), row('z')]).lines;
    expect(empty.some((line) => line.includes('one'))).toBe(false);
    expect(empty.filter((line) => line === 'next -').length).toBeGreaterThan(0);
});

test('what is folded is one step that says how many are in it', () => {
    const loop = [{ code: 'l', loop: { for: '=[1]', steps: [{ code: 'x' }, { code: 'y' }] } }] as unknown as StepDef[];
    const drawn = arrange(stepList(loop, ['steps'], ''), { folded: new Set(['l']) });
    expect([drawn.lanes.length, drawn.nodes.map((node) => [node.code, node.folded])]).toEqual([0, [['l', 2]]]);
});

test('conditions stand on the lines in the words of their author', () => {
    const steps = [{ code: 'a' }, { code: 'b', when: '$.input.x > 5', whenName: 'the order is large', goto: [{ when: '$.input.y', name: 'it is late', to: 'a' }, { when: '$.input.z', name: 'all is done', to: 'end' }] }, { code: 'c' }] as StepDef[];
    const labels = arrange(stepList(steps, ['steps'], '')).edges.map((edge) => edge.label).filter(Boolean).join('\n');
    for (const words of ['the order is large', 'it is late', 'all is done']) expect(labels).toContain(words);
    expect(labels).not.toContain('is over');
});

test('no two words on jumps lie on each other', () => {
    const steps = Array.from({ length: 12 }, (_, i) => ({ code: `s${i}`, goto: [{ when: `$.a${i}`, to: 's0' }, { when: `$.b${i}`, to: 's11' }] })) as StepDef[];
    const words = arrange(stepList(steps, ['steps'], '')).edges.filter((edge) => edge.kind === 'jump').map((edge) => ({ y: edge.labelAt!.y, x: edge.labelAt!.x, w: edge.label!.length * 6.2 + 18 }));
    for (const [i, a] of words.entries()) for (const b of words.slice(i + 1)) expect(Math.abs(a.y - b.y) >= 23 || Math.abs(a.x - b.x) >= (a.w + b.w) / 2 - 1).toBe(true);
});
