// Schemas over HTTP, on both stores: graphs run from their start to an end, by their edges.
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

/** A service that answers as its path says, /status/503 with 503; `answers` come first. */
const service = createServer((request, response) => {
    const status = service.answers.shift() ?? Number(request.url.match(/\/status\/(\d+)/)?.[1] ?? 200);
    service.asked.push({ url: request.url, key: request.headers['idempotency-key'] });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"balance":500}');
});
Object.assign(service, { answers: [], asked: [] });
await new Promise((done) => service.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${service.address().port}`;

const edge = (source, target, branch) => ({ source, target, ...(branch && { branch }) });
const start = { id: 'start_1', type: 'start' };
const end = (id = 'end_1', result) => ({ id, type: 'end', ...(result !== undefined && { config: { result } }) });

/** A graph whose nodes follow each other as they stand here, between a start and an end. */
const chain = (code, nodes, more = {}) => {
    const all = [start, ...nodes, end()];
    return { code, nodes: all, edges: all.slice(1).map((n, i) => edge(all[i].id, n.id)), ...more };
};

const seed = {
    code: 'balance',
    nodes: [
        { ...start, config: { trigger: 'manual' } },
        { id: 'http_1', type: 'http_request', config: { method: 'GET', url: '{{ input.base }}/status/{{ string(input.status) }}' } },
        { id: 'condition_1', type: 'condition', config: { expression: '{{steps.http_1.output.status_code}} == 200' } },
        { id: 'var_set_1', type: 'variable_set', config: { name: 'result', value: 'success' } },
        { id: 'end_1', type: 'end', config: { result: { result: '{{variables.result}}', balance: '{{ steps.http_1.output.body.balance }}' } } },
        { id: 'end_2', type: 'end', config: { result: { status: '$.steps.http_1.output.status_code' } } },
    ],
    edges: [edge('start_1', 'http_1'), edge('http_1', 'condition_1'), edge('condition_1', 'var_set_1', 'true'),
        edge('condition_1', 'end_2', 'false'), edge('var_set_1', 'end_1')],
};

async function ended(rig, x) {
    return until('it ends', async () => {
        const { body } = await rig.api('GET', `/executions/${x.id}`);
        return (['completed', 'failed', 'cancelled'].includes(body.status) || body.waitingFor?.kind === 'incident') && body;
    }, 60);
}
const go = async (rig, code, input = {}) => ended(rig, await rig.begin(code, { input }));
const way = async (rig, x) => (await rig.all(`/executions/${x.id}/steps`, 500))
    .filter((s) => s.kind === 'forward').map((s) => s.step + (s.status === 'completed' ? '' : ` ${s.status}`));

claim('the example of a call, a condition and a variable goes by what the service answers', async (rig) => {
    await rig.publish(seed);
    const good = await go(rig, 'balance', { base, status: 200 });
    equal([good.status, good.result], ['completed', { result: 'success', balance: 500 }]);
    equal(await way(rig, good), ['start_1', 'http_1', 'condition_1', 'var_set_1', 'end_1']);
    const missing = await go(rig, 'balance', { base, status: 404 });
    equal([missing.status, missing.result], ['completed', { status: 404 }], 'a condition looks at 404');
    equal(await way(rig, missing), ['start_1', 'http_1', 'condition_1', 'end_2']);
});

claim('a schema is started by its kind too', async (rig) => {
    const answer = await rig.api('POST', '/executions', { schema: 'balance', input: { base, status: 200 } });
    equal(answer.status, 201, answer.raw);
    equal((await ended(rig, answer.body)).status, 'completed');
    refused(await rig.api('POST', '/executions', { scenario: 'balance', schema: 'balance' }), 422, 'invalid');
});

claim('every kind of node gives what it says it gives', async (rig) => {
    await rig.publish(chain('all_nodes', [
        { id: 'log_1', type: 'log', config: { level: 'warn', message: 'n is {{ input.n }}' } },
        { id: 'http_1', type: 'http_request', config: { url: `${base}/x` } },
        { id: 'set_1', type: 'variable_set', config: { name: 'price', value: '=input.n * 10' } },
        { id: 'set_2', type: 'variable_set', config: { values: { a: 1, b: '{{ variables.price }}' } } },
        { id: 'math_1', type: 'math', config: { operation: 'divide', a: '{{ variables.price }}', b: 4 } },
        { id: 'math_2', type: 'math', config: { expression: 'variables.price + 1' } },
        { id: 'math_3', type: 'math', config: { operation: 'divide', a: 9, b: 3 } },
        { id: 'sleep_1', type: 'sleep', config: { duration: '10ms' } },
        { id: 'sleep_2', type: 'sleep', config: { until: '2001-01-01T00:00:00Z' } },
        { id: 'rabbit_1', type: 'rabbitmq_publish', config: { exchange: 'orders', routing_key: 'order.paid', body: { n: '$.input.n' }, headers: { h: 1 } } },
    ]));
    const x = await go(rig, 'all_nodes', { n: 3 });
    equal(x.status, 'completed', JSON.stringify(x));
    const got = Object.fromEntries((await rig.all(`/executions/${x.id}/steps`, 500)).filter((s) => s.kind === 'forward').map((s) => [s.step, s.output]));
    equal(got.start_1, {});
    equal(got.log_1, { message: 'n is 3' });
    equal([got.http_1.status_code, got.http_1.body], [200, { balance: 500 }]);
    equal([got.set_1, got.set_2], [{ price: 30 }, { a: 1, b: 30 }]);
    equal([got.math_1, got.math_2, got.math_3], [{ result: 7.5 }, { result: 31 }, { result: 3 }]);
    check(/^20\d\d-/.test(got.sleep_1.until), JSON.stringify(got.sleep_1));
    equal(Object.keys(got.sleep_1), ['until']);
    equal(got.sleep_2, { until: '2001-01-01T00:00:00Z' });
    equal(got.rabbit_1, { published: true });
    equal([got.end_1, x.result], [{ published: true }, { published: true }], 'an end without a result: that of the node before it');
});

claim('a message to a broker waits in the outbox, visibly, and is no failed delivery', async (rig) => {
    const items = await rig.all('/outbox?kind=rabbitmq_publish');
    equal(items.length, 1);
    equal([items[0].name, items[0].attempts, items[0].status, items[0].error.code], ['order.paid', 0, 'pending', 'not_configured']);
    const one = await rig.api('GET', `/outbox/${items[0].id}`);
    equal(one.body.payload, { exchange: 'orders', routing_key: 'order.paid', body: { n: 3 }, headers: { h: 1 } });
    equal((await rig.all('/dlq')).filter((l) => l.kind === 'outbox').length, 0);
});

claim('cases are tried in order, and the rest is the default', async (rig) => {
    const branches = ['big', 'odd', 'default'];
    await rig.publish({
        code: 'sizes',
        nodes: [start, { id: 'c', type: 'condition', config: { cases: [{ branch: 'big', expression: 'input.n > 100' }, { branch: 'odd', expression: 'input.n % 2 == 1' }] } },
            ...branches.map((b) => end(`to_${b}`, b))],
        edges: [edge('start_1', 'c'), ...branches.map((b) => edge('c', `to_${b}`, b))],
    });
    for (const [n, branch] of [[101, 'big'], [3, 'odd'], [4, 'default']]) {
        const x = await go(rig, 'sizes', { n });
        equal([x.status, x.result], ['completed', branch]);
    }
});

claim('any command may be a node, a wait for a person too', async (rig) => {
    await rig.publish(chain('lead', [
        { id: 'save', type: 'record.create', config: { object: 'lead', id: '$.input.id', data: { name: 'Ada' } }, rollback: { type: 'record.delete', object: 'lead', id: '$.input.id' } },
        { id: 'ask', type: 'wait.signal', config: { signalType: 'decision' } },
        { id: 'show', type: 'compute.transform', config: { data: { name: '$.steps.save.output.name', ok: '$.steps.ask.output.payload.ok' } } },
    ]));
    const x = await rig.begin('lead', { input: { id: 'L1' } });
    equal((await rig.api('POST', `/executions/${x.id}/signal?wait=60s`, { type: 'decision', payload: { ok: true } })).status, 200);
    equal((await ended(rig, x)).result, { name: 'Ada', ok: true });
});

claim('an edge error catches the final failure of its node and nothing else', async (rig) => {
    await rig.publish({
        code: 'careful',
        nodes: [start, { id: 'call', type: 'http_request', retry: { maxAttempts: 2, delay: '1ms' }, config: { url: '{{ input.url }}' } },
            end('good', 'good'), { id: 'note', type: 'log', config: { message: '{{ steps.call.error.code }}' } }, end('bad', '$.steps.call.error.code')],
        edges: [edge('start_1', 'call'), edge('call', 'good'), edge('call', 'note', 'error'), edge('note', 'bad')],
    });
    service.asked.length = 0;
    const bad = await go(rig, 'careful', { url: `${base}/status/503` });
    equal([bad.status, bad.result], ['completed', 'external_status']);
    equal(service.asked.length, 2, 'attempts');
    equal(new Set(service.asked.map((a) => a.key)).size, 1, 'one key for all attempts');
    const odd = await go(rig, 'careful', { url: `${base}/status/501` });
    equal([odd.result, service.asked.length], ['external_status', 4], 'any 5xx is tried again');
    const good = await go(rig, 'careful', { url: `${base}/status/204` });
    equal([good.status, good.result], ['completed', 'good']);
    equal(await way(rig, good), ['start_1', 'call', 'good']);
});

claim('without an edge error the schema fails and rolls back', async (rig) => {
    await rig.publish(chain('undone', [
        { id: 'save', type: 'record.create', config: { object: 'lead', id: 'L9', data: {} }, rollback: { type: 'record.delete', object: 'lead', id: 'L9' } },
        { id: 'fail', type: 'compute.fail', config: { code: 'no_luck', message: 'no luck' } },
    ]));
    const x = await go(rig, 'undone');
    equal([x.status, x.error.code, x.error.compensation.compensated], ['failed', 'no_luck', ['save']]);
    equal((await rig.api('GET', '/records/lead/L9')).status, 404);
});

const circle = (code, rounds) => ({
    code,
    nodes: [start, { id: 'first', type: 'variable_set', config: { name: 'n', value: 0 } },
        { id: 'count', type: 'variable_set', config: { name: 'n', value: '=variables.n + 1' } },
        { id: 'more', type: 'condition', config: { expression: `variables.n < ${rounds}` } }, end('end_1', '$.variables.n')],
    edges: [edge('start_1', 'first'), edge('first', 'count'), edge('count', 'more'), edge('more', 'count', 'true'), edge('more', 'end_1', 'false')],
});

claim('a circle goes round a hundred times, and is held before the next', async (rig) => {
    await rig.publish(circle('circle', 101));
    await rig.publish(circle('endless', 102));
    const x = await go(rig, 'circle');
    equal([x.status, x.result], ['completed', 101]);
    const held = await go(rig, 'endless');
    equal([held.waitingFor?.kind, held.waitingFor?.step, held.waitingFor?.error.code], ['incident', 'more', 'limit_goto']);
});

claim('a circle of skipped nodes comes to its limit too', async (rig) => {
    await rig.publish({
        code: 'skipping',
        nodes: [start, { id: 'a', type: 'log', when: 'false', config: { message: 'a' } }, { id: 'b', type: 'log', when: 'false', onError: 'continue', config: { message: 'b' } }],
        edges: [edge('start_1', 'a'), edge('a', 'b'), edge('b', 'a')],
    });
    const held = await go(rig, 'skipping');
    equal([held.waitingFor?.kind, held.waitingFor?.error.code], ['incident', 'limit_goto']);
    equal((await rig.api('POST', `/executions/${held.id}/cancel`, {})).status, 202);
});

claim('edges forward are free: 150 conditions one after the other', async (rig) => {
    const nodes = [start], edges = [edge('start_1', 'c0')];
    for (let i = 0; i < 150; i++) {
        nodes.push({ id: `c${i}`, type: 'condition', config: { expression: 'input.n > 0' } });
        edges.push(edge(`c${i}`, i < 149 ? `c${i + 1}` : 'end_1', 'true'), edge(`c${i}`, 'end_1', 'false'));
    }
    await rig.publish({ code: 'many', nodes: [...nodes, end('end_1', 'through')], edges });
    equal((await go(rig, 'many', { n: 1 })).result, 'through');
});

claim('a sleep survives a restart', async (rig) => {
    await rig.publish(chain('nap', [{ id: 'nap_1', type: 'sleep', config: { duration: '1500ms' } }]));
    const x = await rig.begin('nap');
    await until('it sleeps', async () => (await rig.api('GET', `/executions/${x.id}`)).body.waitingFor?.kind === 'timer');
    await rig.restart();
    const done = await ended(rig, x);
    equal([done.status, Object.keys(done.result)], ['completed', ['until']]);
});

claim('the trigger of the start starts it', async (rig) => {
    await rig.publish({
        code: 'hooked',
        nodes: [{ ...start, config: { trigger: { type: 'webhook', path: 'leads', input: { test: '$.webhook.payload.test' } } } }, end('end_1', '{{webhook.payload.test}}')],
        edges: [edge('start_1', 'end_1')],
    });
    const answer = await rig.client.ask('POST', '/hooks/leads', { test: 'hello' });
    equal(answer.status, 202, answer.raw);
    equal((await ended(rig, answer.body)).result, 'hello');
});

claim('versions, lists, dry-run and drafts as for scenarios', async (rig) => {
    const definition = { ...seed, code: 'again', name: 'Again' };
    equal(await rig.publish(definition), 1);
    equal((await rig.api('GET', '/schemas/again/versions/1')).body.definition, definition);
    equal((await rig.api('GET', '/schemas')).body.items.some((d) => d.code === 'again'), true);
    equal((await rig.api('GET', '/processes')).body.items.find((d) => d.code === 'again').kind, 'schema');
    const trace = await rig.api('POST', '/schemas/again/dry-run', {
        input: { base, status: 200 }, mocks: { http: [{ url: `${base}/status/200`, response: { status_code: 200, body: { balance: 7 } } }] },
    });
    equal([trace.status, trace.body.status, trace.body.result], [200, 'completed', { result: 'success', balance: 7 }]);
    const draft = await rig.api('PUT', '/schemas/again/draft', { ...definition, edges: [] });
    equal([draft.status, draft.body.valid], [200, false]);
    check(draft.body.errors.some((e) => e.pointer === '/nodes/2' && e.step === 'condition_1'), JSON.stringify(draft.body.errors));
    refused(await rig.api('POST', '/schemas/again/publish', {}), 422, 'invalid');
    refused(await rig.api('PUT', '/scenarios/again/draft', { code: 'again', steps: [] }), 409, 'conflict');
});

claim('what was only moved on a canvas is no difference', async (rig) => {
    const placed = (x, message) => chain('placed', [{ id: 'log_1', type: 'log', position: { x, y: 0 }, config: { message } }]);
    await rig.publish(placed(1, 'a'));
    const planned = async (definition) => (await rig.api('POST', '/import', { dryRun: true, items: [definition] })).body.items[0];
    const moved = await planned(placed(2, 'a'));
    equal([moved.action, moved.changes], ['update', []]);
    const changed = await planned(placed(2, 'b'));
    equal(changed.changes.map((c) => c.pointer), ['/nodes/1/config/message']);
});

claim('a failed node is retried, and a waiting one goes on with another version', async (rig) => {
    const held = (expression) => chain('mended', [{ id: 'sum', type: 'math', config: { expression } }, { id: 'ask', type: 'wait.signal', config: { signalType: 'go' } }]);
    await rig.publish(held('input.n / input.zero'));
    const x = await go(rig, 'mended', { n: 4, zero: 0 });
    equal(x.waitingFor?.kind, 'incident', JSON.stringify(x));
    await rig.publish(held('input.n * 2'));
    const again = await rig.api('POST', `/executions/${x.id}/retry`, { version: 2 });
    equal(again.status, 202, again.raw);
    await until('it waits', async () => (await rig.api('GET', `/executions/${x.id}`)).body.waitingFor?.kind === 'signal');
    await rig.publish({ ...held('input.n * 2'), name: 'Third' });
    const moved = await rig.api('POST', `/executions/${x.id}/migrate`, { version: 3 });
    equal(moved.status, 202, moved.raw);
    equal((await rig.api('POST', `/executions/${x.id}/signal?wait=60s`, { type: 'go' })).status, 200);
    equal((await ended(rig, x)).version, 3);
});

claim('what an operator gives a condition must name a branch', async (rig) => {
    await rig.publish({
        code: 'skipped', onError: 'hold',
        nodes: [start, { id: 'c', type: 'condition', config: { expression: 'input.missing' } }, end('yes', 'yes'), end('no', 'no')],
        edges: [edge('start_1', 'c'), edge('c', 'yes', 'true'), edge('c', 'no', 'false')],
    });
    const x = await go(rig, 'skipped');
    equal(x.waitingFor?.kind, 'incident');
    const skip = await rig.api('POST', `/executions/${x.id}/skip`, { output: { branch: 'true' } });
    equal(skip.status, 202, skip.raw);
    equal((await ended(rig, x)).result, 'yes');
    const y = await go(rig, 'skipped');
    await rig.api('POST', `/executions/${y.id}/skip`, { output: { other: 1 } });
    const held = await ended(rig, y);
    equal([held.waitingFor?.kind, held.waitingFor?.error.code], ['incident', 'expression_branch']);
});

claim('the catalog and the JSON Schema know the nodes', async (rig) => {
    const { body } = await rig.api('GET', '/catalog');
    equal(body.nodes.map((n) => n.name), ['start', 'end', 'log', 'http_request', 'condition', 'variable_set', 'math', 'sleep', 'rabbitmq_publish']);
    check(!body.commands.some((c) => c.name === 'condition'), 'a node is no command');
    equal(body.kinds.find((k) => k.name === 'schema').state, 'now');
    const checked = await rig.api('POST', '/validate', { kind: 'schema', definition: seed });
    equal([checked.status, checked.body.valid], [200, true], checked.raw);
});

await run(async () => {});
service.close();
