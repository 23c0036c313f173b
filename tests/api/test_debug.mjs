// Debugging executions: stops, breakpoints and going on, on both stores and across kills.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });
const ask = (code, more = {}) => ({ code, procedure: { type: 'wait.signal', signalType: 'go', ...more } });

const steps = { code: 'steps', steps: [
    { code: 'a', procedure: { type: 'compute.set', values: { x: 1 } } }, transform('b', 'b'), transform('c', '$.variables'),
] };
const many = { ...steps, code: 'many' };
const graph = { code: 'graph', nodes: [
    { id: 'start', type: 'start', config: {} },
    { id: 'sum', type: 'math', config: { expression: '$.input.n + 1' } },
    { id: 'big', type: 'condition', config: { expression: '$.steps.sum.output.result > 10' } },
    { id: 'set', type: 'variable_set', config: { name: 'seen', value: '$.steps.sum.output.result' } },
    { id: 'finish', type: 'end', config: { result: { seen: '$.variables.seen' } } },
], edges: [
    { source: 'start', target: 'sum' }, { source: 'sum', target: 'big' }, { source: 'big', target: 'set', branch: 'true' },
    { source: 'big', target: 'finish', branch: 'false' }, { source: 'set', target: 'finish' },
] };
const beside = { code: 'beside', settings: { timeout: '1h' }, steps: [
    { code: 'both', parallel: { branches: [[ask('ask', { timeout: '30m' }), transform('told', '$.steps.ask.payload')], [transform('q', 1), transform('r', 2)]] } },
    transform('done', '$.steps.told.output'),
] };
const waiting = { code: 'waiting', steps: [ask('ask'), transform('done', 1)] };

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const act = (rig, id, action, body, headers) => rig.api('POST', `/executions/${id}/${action}`, body, headers);
async function done(rig, id, action, body, headers) {
    const answer = await act(rig, id, action, body, headers);
    equal(answer.status, 202, JSON.stringify(answer.body));
}
const go = (rig, id, body, headers) => done(rig, id, 'continue', body, headers);
const history = async (rig, id) => (await rig.all(`/executions/${id}/steps`)).filter((r) => r.kind === 'forward').map((r) => r.step);
async function stands(rig, id, next) {
    const x = await get(rig, id);
    equal([x.status, x.waitingFor?.kind, x.waitingFor?.next, x.currentStep, x.debug], ['waiting_debug', 'debug', next, next, true]);
    return x;
}

claim('a start in debug runs one step, and each continue one more', async (rig) => {
    const { id, status } = await rig.begin('steps', { debug: true });
    equal(status, 'waiting_debug');
    const x = await stands(rig, id, 'b');
    equal([x.waitingFor.step, x.actions, x.breakpoints], ['a', ['cancel', 'signal', 'migrate', 'continue', 'breakpoints'], []]);
    equal(x.context.variables, { x: 1 });
    await go(rig, id);
    await stands(rig, id, 'c');
    await go(rig, id, { set: { variables: { x: 5, y: [true] } } });
    const end = await get(rig, id);
    equal([end.status, end.result, end.debug, end.actions], ['completed', { x: 5, y: [true] }, true, ['again', 'delete']]);
    const rows = await rig.all(`/executions/${id}/steps?events=true`);
    equal(rows.filter((r) => r.status === 'continued').map((r) => r.input), [null, { set: { variables: { x: 5, y: [true] } } }]);
    refused(await act(rig, id, 'continue'), 409, 'conflict');
    const lines = (await rig.api('GET', `/audit?target=${id}`)).body.items.map((l) => [l.action, l.details]);
    equal(lines.slice(0, 2), [['execution.continue', { set: true }], ['execution.continue', null]]);
});

claim('the context before and after each step can be read', async (rig) => {
    const { id } = await rig.begin('steps', { breakpoints: ['a'] });
    await stands(rig, id, 'a');
    await go(rig, id, { to: 'b' });
    const rows = await rig.all(`/executions/${id}/steps?events=true`);
    const at = async (row) => (await rig.api('GET', `/executions/${id}/context?at=${row.id}`)).body;
    const a = rows.findIndex((r) => r.step === 'a' && r.status === 'completed');
    equal([(await at(rows[a - 1])).variables, (await at(rows[a])).variables], [{}, { x: 1 }]);
    equal([(await at(rows[a])).steps.b, (await at(rows[a + 1])).steps.b.output], [undefined, 'b']);
});

claim('nodes of a graph are stepped through, and breakpoints are nodes', async (rig) => {
    const { id } = await rig.begin('graph', { input: { n: 20 }, breakpoints: ['big'] });
    equal((await stands(rig, id, 'big')).breakpoints, ['big']);
    equal(await history(rig, id), ['start', 'sum']);
    await done(rig, id, 'breakpoints', { nodes: ['finish'] });
    equal((await get(rig, id)).breakpoints, ['finish']);
    await go(rig, id);
    await stands(rig, id, 'set');
    await go(rig, id, { to: 'end' });
    await stands(rig, id, 'finish');
    await done(rig, id, 'breakpoints', { nodes: [] });
    await go(rig, id, { to: 'end' });
    equal((await get(rig, id)).result, { seen: 21 });
});

claim('what is no step, is not debugged or is not stopped is refused, and nothing has changed', async (rig) => {
    const wrong = refused(await rig.api('POST', '/executions', { code: 'steps', breakpoints: ['b', 'bb'] }), 422, 'invalid').errors;
    equal(wrong.map((e) => [e.pointer, e.code]), [['/breakpoints/1', 'unknown_step']]);
    const { id } = await rig.begin('steps', { debug: true });
    const pointer = async (action, body) => refused(await act(rig, id, action, body), 422, 'invalid').errors[0].pointer;
    equal(await pointer('continue', { to: 'x' }), '/to');
    equal(await pointer('continue', { branch: 'x.1' }), '/branch');
    equal(await pointer('continue', { set: { input: {} } }), '/set');
    equal(await pointer('continue', { set: { variables: 1 } }), '/set/variables');
    equal(await pointer('continue', { set: 1 }), '/set');
    equal(await pointer('continue', { too: 'b' }), '/too');
    equal(await pointer('breakpoints', { nodes: ['x'] }), '/nodes/0');
    equal(await pointer('breakpoints', { nodes: [1] }), '/nodes');
    equal(await pointer('breakpoints', {}), '/nodes');
    refused(await act(rig, id, 'pause'), 409, 'conflict');
    await stands(rig, id, 'b');
    const plain = (await rig.begin('waiting')).id;
    equal((await get(rig, plain)).debug, false);
    refused(await act(rig, plain, 'continue'), 409, 'conflict');
    refused(await act(rig, plain, 'breakpoints', { nodes: [] }), 409, 'conflict');
    const asks = (await rig.begin('waiting', { debug: true })).id;
    refused(await act(rig, asks, 'continue'), 409, 'conflict');
    await done(rig, asks, 'signal', { type: 'go' });
    await stands(rig, asks, 'done');
    await done(rig, asks, 'cancel');
    equal((await get(rig, asks)).status, 'cancelled');
});

claim('a continue that is sent again under its key steps once', async (rig) => {
    const { id } = await rig.begin('steps', { debug: true });
    const key = { 'Idempotency-Key': 'step-1' };
    await go(rig, id, {}, key);
    await go(rig, id, {}, key);
    await stands(rig, id, 'c');
    await rig.restart();
    await go(rig, id, {}, key);
    await stands(rig, id, 'c');
    refused(await act(rig, id, 'continue', { to: 'end' }, key), 409, 'idempotency_conflict');
});

claim('it stands across kills, keeps signals, and time stands still for it', async (rig) => {
    const { id, deadlineAt } = await rig.begin('beside', { debug: true });
    await go(rig, id);
    const x = await stands(rig, id, 'q');
    equal(x.waitingFor.branch, 'both.1');
    const waits = x.waitingFor.branches.find((b) => b.kind === 'signal');
    check(waits.until, 'the wait beside it is shown');
    await rig.restart();
    await stands(rig, id, 'q');
    await go(rig, id);
    const y = await stands(rig, id, 'r');
    check(y.deadlineAt > deadlineAt, `the deadline has moved: ${y.deadlineAt}`);
    check(y.waitingFor.branches.find((b) => b.kind === 'signal').until > waits.until, 'so has the wait');
    await done(rig, id, 'signal', { type: 'go', payload: 7 });
    equal(await history(rig, id), ['q']);
    await rig.restart();
    await stands(rig, id, 'r');
    await go(rig, id, { to: 'end' });
    equal((await get(rig, id)).result, 7);
});

claim('those that are stopped are listed, counted and continued together', async (rig) => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await rig.begin('many', { debug: true, key: `many-${i}` })).id);
    const listed = await rig.all('/executions?status=waiting_debug&code=many&order=oldest');
    equal(listed.map((x) => [x.waitingFor.kind, x.debug]), ids.map(() => ['debug', true]));
    const of = await rig.all('/executions?waiting=debug&code=many');
    equal(of.length, 3);
    const summary = (await rig.api('GET', '/executions/summary?by=status')).body.items.find((i) => i.value === 'waiting_debug');
    check(summary.count >= 3, JSON.stringify(summary));
    refused(await rig.api('POST', '/executions', { code: 'many', key: 'many-0', debug: true }), 409, 'key_busy');
    const dry = (await rig.api('POST', '/executions/bulk', { action: 'continue', ids, to: 'end', dryRun: true })).body;
    const wet = (await rig.api('POST', '/executions/bulk', { action: 'continue', ids, to: 'end' })).body;
    equal(wet.done, 3, JSON.stringify([dry, wet]));
    for (const id of ids) equal((await get(rig, id)).status, 'completed');
});

claim('the views say it as the seed has it', async (rig) => {
    const { id } = await rig.begin('steps', { debug: true });
    equal(rig.sql(`SELECT id_status FROM executions WHERE id = '${id}'`), ['3']);
    equal(rig.sql(`SELECT status, debug FROM scenario_executions WHERE id = '${id}'`), ['waiting_debug|true']);
    await until('it can be continued', async () => (await get(rig, id)).status === 'waiting_debug');
    await go(rig, id, { to: 'end' });
    equal(rig.sql(`SELECT id_status FROM executions WHERE id = '${id}'`), ['4']);
});

await run(async (rig) => {
    for (const definition of [steps, many, graph, beside, waiting]) await rig.publish(definition);
});
