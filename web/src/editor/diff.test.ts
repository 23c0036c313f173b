import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { diffVersions, sayChange } from './diff';

const base = readFileSync('../examples/discount_approval.json', 'utf8');

test('steps that came, went and changed are told apart, and those that went are still there to be drawn', () => {
    const parsed = JSON.parse(base) as { steps: { code: string; procedure: Record<string, unknown> }[] };
    const next = { ...parsed, name: 'Other', steps: [...parsed.steps.filter((s) => s.code !== 'escalate').map((s) => (s.code === 'ask' ? { ...s, procedure: { ...s.procedure, timeout: '12h' } } : s)), { code: 'fresh', procedure: { type: 'log', message: 'x' } }] };
    const diff = diffVersions(base, JSON.stringify(next, null, 2))!;
    expect([...diff.steps].map(([code, change]) => `${code} ${change.what}`).sort()).toEqual(['ask chg', 'escalate del', 'fresh add']);
    expect(diff.around.map((change) => sayChange(change))).toEqual([{ name: 'name', before: 'Discount approval', after: 'Other' }]);
    expect(sayChange(diff.steps.get('ask')!.changes[0]!)).toEqual({ name: 'timeout', before: '24h', after: '12h' });
    expect(JSON.parse(diff.union).steps.map((s: { code: string }) => s.code)).toEqual(['check', 'route', 'ask', 'escalate', 'ask_above', 'decide', 'grant', 'refuse', 'fresh']);
});
test('the same text differs in nothing', () => expect(diffVersions(base, base)!.steps.size).toBe(0));
