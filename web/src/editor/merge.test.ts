import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canKeepBoth, compare, merged } from './merge';

const base = readFileSync('../examples/discount_approval.json', 'utf8');

test('what two people did in different places goes together, to the letter', () => {
    const mine = base.replace('"timeout": "24h"', '"timeout": "12h"').replace('"Discount approval"', '"Discounts"');
    const theirs = base.replace('"timeout": "48h"', '"timeout": "72h"').replace('"level": "warn", ', '');
    const merge = compare(base, mine, theirs)!;
    expect(merge.choices).toEqual([]);
    expect(merge.fits.map((fit) => fit.by).sort()).toEqual(['mine', 'mine', 'theirs', 'theirs']);
    expect(merged(mine, theirs, merge, new Set())).toBe(theirs.replace('"timeout": "24h"', '"timeout": "12h"').replace('"Discount approval"', '"Discounts"'));
});

test('one place that both changed is a choice, and each answer is what was chosen', () => {
    const mine = base.replace('"timeout": "24h"', '"timeout": "12h"');
    const theirs = base.replace('"timeout": "24h"', '"timeout": "36h"');
    const merge = compare(base, mine, theirs)!;
    expect(merge.fits).toEqual([]);
    expect(merge.choices.length).toBe(1);
    expect([merge.choices[0]!.mine[0]!.after, merge.choices[0]!.theirs[0]!.after]).toEqual(['"12h"', '"36h"']);
    expect(merged(mine, theirs, merge, new Set())).toBe(theirs);
    expect(merged(mine, theirs, merge, new Set(merge.choices))).toBe(mine);
});

test('new steps of both are both there, where each was put', () => {
    const after = (text: string, code: string, fresh: string) => text.replace(`"code": "${code}"`, `"code": "${fresh}", "procedure": {"type": "log", "message": "x"}\n    },\n    {\n      "code": "${code}"`);
    const mine = after(base, 'route', 'my_step');
    const theirs = after(base, 'decide', 'their_step');
    const merge = compare(base, mine, theirs)!;
    expect(merge.choices).toEqual([]);
    const all = JSON.parse(merged(mine, theirs, merge, new Set())).steps.map((s: { code: string }) => s.code);
    expect(all).toEqual(['check', 'my_step', 'route', 'ask', 'escalate', 'ask_above', 'their_step', 'decide', 'grant', 'refuse']);
});

test('the same change of both is no choice; a step that one took away and the other changed is one', () => {
    const both = base.replace('"timeout": "24h"', '"timeout": "12h"');
    expect(compare(base, both, both)!.choices).toEqual([]);
    const gone = JSON.stringify({ ...JSON.parse(base), steps: JSON.parse(base).steps.filter((s: { code: string }) => s.code !== 'escalate') });
    const changed = base.replace('"level": "warn"', '"level": "error"');
    const merge = compare(base, gone, changed)!;
    expect(merge.choices.length).toBe(1);
    expect(JSON.parse(merged(gone, changed, merge, new Set(merge.choices))).steps.some((s: { code: string }) => s.code === 'escalate')).toBe(false);
    expect(JSON.parse(merged(gone, changed, merge, new Set())).steps.some((s: { code: string }) => s.code === 'escalate')).toBe(true);
});

test('two steps of one code at one place: each alone, or both, mine under another code', () => {
    const added = (message: string) => base.replace('"code": "decide"', `"code": "notify", "procedure": {"type": "log", "message": "${message}"}\n    },\n    {\n      "code": "decide"`);
    const [mine, theirs] = [added('mine'), added('theirs')];
    const merge = compare(base, mine, theirs)!;
    expect(merge.choices.length).toBe(1);
    expect(canKeepBoth(merge.choices[0]!)).toBe(true);
    const both = merged(mine, theirs, merge, new Set(), new Set(merge.choices));
    const steps = JSON.parse(both).steps as { code: string; procedure: { message?: string } }[];
    const at = steps.findIndex((s) => s.code === 'notify');
    expect(steps.slice(at, at + 3).map((s) => [s.code, s.procedure.message])).toEqual([['notify', 'theirs'], ['notify_2', 'mine'], ['decide', undefined]]);
    expect(both.startsWith(theirs.slice(0, theirs.indexOf('"decide"') - 20))).toBe(true);
});

test('new steps of both at one place under two codes are both there', () => {
    const added = (code: string) => base.replace('"code": "decide"', `"code": "${code}", "procedure": {"type": "log", "message": "x"}\n    },\n    {\n      "code": "decide"`);
    const [mine, theirs] = [added('my_step'), added('their_step')];
    const merge = compare(base, mine, theirs)!;
    expect(merge.choices).toEqual([]);
    const codes = JSON.parse(merged(mine, theirs, merge, new Set())).steps.map((s: { code: string }) => s.code);
    expect(codes.slice(4, 8)).toEqual(['ask_above', 'my_step', 'their_step', 'decide']);
});
