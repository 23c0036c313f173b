// POST /test on both stores: declarative tests, run as `pawl test` runs them.
import { readFileSync } from 'node:fs';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const read = (name) => JSON.parse(readFileSync(`examples/${name}`, 'utf8'));
const tests = read('approval.test.json');
const listed = Array.isArray(tests) ? tests : tests.tests;
const adds = (amount) => ({
    code: 'adds', input: [{ name: 'n', type: 'integer' }],
    steps: [{ code: 'add', procedure: { type: 'compute.transform', data: { sum: `=$.input.n + ${amount}` } } }],
});
const wants = (sum, more = {}) => ({ name: `gives ${sum}`, scenario: 'adds', input: { n: 1 }, expect: { status: 'completed', result: { sum } }, ...more });

async function tried(rig, body) {
    const answer = await rig.api('POST', '/test', body);
    equal(answer.status, 200, JSON.stringify(answer.body));
    equal(answer.body.passed + answer.body.failed, body.tests.length);
    return answer.body;
}

claim('the tests of an example pass against the definition that is sent along', async (rig) => {
    const all = await tried(rig, { definitions: [read('approval.json')], tests: listed });
    equal([all.passed, all.failed], [listed.length, 0], JSON.stringify(all.items.filter((i) => !i.ok)));
    equal(all.items.map((i) => i.name), listed.map((t) => t.name));
    equal((await rig.api('GET', '/scenarios/approval')).status, 404, 'nothing is kept');
    equal((await rig.all('/executions?code=approval')).length, 0);
});

claim('a test that fails says what was expected and what came', async (rig) => {
    const { items } = await tried(rig, { definitions: [adds(2)], tests: [wants(3), wants(4)] });
    equal(items.map((i) => [i.name, i.ok]), [['gives 3', true], ['gives 4', false]]);
    check(items[1].problems.length > 0 && items[1].problems.join().includes('4'), JSON.stringify(items[1]));
});

claim('two configs of one name are refused as what they are', async (rig) => {
    const config = (value) => ({ kind: 'config', name: 'never_stored', value });
    const answer = await rig.api('POST', '/test', { definitions: [adds(2), config(1), config(2)], tests: [wants(3)] });
    equal([answer.status, answer.body.code], [422, 'invalid'], answer.raw);
});

claim('an error that has no place is told without one', async (rig) => {
    const waits = { code: 'waits', onError: 'fail_fast', steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go', timeout: '1h' } }] };
    const { items } = await tried(rig, { definitions: [waits], tests: [{ name: 'ends', scenario: 'waits', expect: { status: 'completed' } }] });
    const [told] = items[0].problems.filter((p) => p.startsWith('its error: timeout_signal'));
    check(told !== undefined && !/, at $/.test(told), JSON.stringify(items));
});

claim('without a definition the draft is tried, else what is published', async (rig) => {
    await rig.publish(adds(10));
    equal((await tried(rig, { tests: [wants(11)] })).failed, 0);
    equal((await rig.api('PUT', '/scenarios/adds/draft', adds(20))).status, 200);
    equal((await tried(rig, { tests: [wants(21)] })).failed, 0);
    equal((await tried(rig, { definitions: [adds(30)], tests: [wants(31)] })).failed, 0, 'what is sent along comes first');
});

claim('functions, config and procedures are those that are sent along, else those that are stored', async (rig) => {
    const process = {
        code: 'priced', input: [{ name: 'n', type: 'integer' }],
        steps: [{ code: 'a', procedure: 'price' }], result: { is: '$.steps.a.is' },
    };
    const price = (by) => ({ code: 'price', commands: [{ type: 'compute.transform', data: { is: `=fn.twice(${by}) + int(config.base)` } }] });
    const twice = { kind: 'function', name: 'twice', params: [{ name: 'x', type: 'integer' }], body: 'x * 2' };
    const wanted = (is, more) => ({ scenario: 'priced', input: { n: 1 }, expect: { result: { is } }, ...more });
    equal((await rig.api('PUT', '/functions/twice', { params: twice.params, body: 'x * 3' })).status, 201);
    equal((await rig.api('PUT', '/config/base', { value: 100 })).status, 201);
    const stored = await tried(rig, { definitions: [process, price(5)], tests: [wanted(115), wanted(16, { config: { base: 1 } })] });
    equal(stored.items.flatMap((i) => i.problems), []);
    const sent = await tried(rig, { definitions: [process, price(5), twice, { kind: 'config', name: 'base', value: 7 }], tests: [wanted(17)] });
    equal(sent.items.flatMap((i) => i.problems), []);
    const own = await tried(rig, { definitions: [twice], tests: [
        { procedure: { code: 'own', commands: [{ type: 'compute.transform', data: { is: '=fn.twice(4)' } }] }, expect: { result: { is: 8 } } },
        { procedure: 'own', expect: {  status: 'completed' } }] });
    equal(own.items.map((i) => i.ok), [true, false], 'a procedure of one test is not there for the next');
});

claim('a definition that is not valid fails its tests, with the places', async (rig) => {
    const { items } = await tried(rig, { definitions: [{ code: 'adds', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: '=1 +' } }] }], tests: [wants(1)] });
    equal(items[0].ok, false);
    check(items[0].problems.some((p) => p.startsWith('adds:/steps/0/procedure/data: ')), JSON.stringify(items[0]));
    equal((await tried(rig, { tests: [{ scenario: 'nobody', expect: {} }] })).items[0].ok, false);
    equal((await tried(rig, { tests: [{ scenario: 'adds', expekt: {} }, 7] })).items.map((i) => i.ok), [false, false]);
});

claim('what is no list of tests or definitions is refused', async (rig) => {
    for (const [body, pointer] of [[{ tests: [] }, '/tests'], [{ tests: {} }, '/tests'], [{}, '/tests'],
        [{ tests: [wants(1)], definitions: {} }, '/definitions'], [{ tests: [wants(1)], definitions: [{ name: 'x' }] }, '/definitions/0'],
        [{ tests: [wants(1)], definitions: [{ steps: [] }] }, '/definitions/0/code']]) {
        const answer = await rig.api('POST', '/test', body);
        refused(answer, 422, 'invalid');
        equal(answer.body.errors[0].pointer, pointer);
    }
});

claim('a stored process that others may start is not tried', async (rig) => {
    await rig.publish({ ...adds(1), code: 'closed', access: { start: ['group:board'] } });
    const { token } = (await rig.api('POST', '/users', { name: 'Vi', role: 'viewer' })).body;
    const body = { tests: [{ scenario: 'closed', input: { n: 1 }, expect: {} }] };
    const { items } = (await rig.api('POST', '/test', body, { Authorization: `Bearer ${token}` })).body;
    equal([items[0].ok, items[0].problems], [false, ["'closed' lets others start it, not you"]]);
});

claim('tests that do not end are cut, and the rest is told that it was not run', async (rig) => {
    const endless = { code: 'endless', settings: { timeout: '1000d' }, steps: [{ code: 'l', loop: { while: 'true', max: 1000000, steps: [{ code: 'w', procedure: { type: 'wait.timer', duration: '1s' } }] } }] };
    const { items } = await tried(rig, { definitions: [endless], tests: Array.from({ length: 400 }, () => ({ scenario: 'endless', expect: { status: 'completed' } })) });
    check(items.every((i) => !i.ok), 'none of them passes');
});

claim('config that is given twice is refused with its name', async (rig) => {
    const config = (value) => ({ kind: 'config', name: 'given_twice', value });
    const answer = await rig.api('POST', '/test', { definitions: [config(1), config(2)], tests: [{ name: 't', scenario: 'x' }] });
    equal([answer.status, answer.body.code, answer.body.errors?.[0]?.pointer], [422, 'invalid', '/definitions'], answer.raw);
});

await run(async () => {});
