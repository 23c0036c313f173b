// Dry-runs over HTTP, on both stores: the way they take, what they rest on, and that nothing is left.
import { readFileSync } from 'node:fs';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const example = (name) => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'));
const steps = (trace) => trace.steps.map((s) => `${s.step} ${s.kind === 'forward' ? s.status : s.kind}`);
const order = { order: 'A-1', customer: 'Ada', cents: 4200, items: [{ sku: 'bolt', count: 3 }] };

async function tried(rig, code, body) {
    const answer = await rig.api('POST', `/scenarios/${code}/dry-run`, body);
    equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
}

/** All that a dry-run could have changed. */
async function everything(rig) {
    const executions = await rig.all('/executions?');
    const records = await Promise.all(['stock', 'payment', 'shipment', 'note'].map((o) => rig.all(`/records/${o}?`)));
    const scenario = await rig.api('GET', '/scenarios/order_processing');
    return JSON.stringify([executions.map((x) => [x.id, x.rowVersion]), records, scenario.body]);
}

claim('a dry-run takes the way that an execution would, and leaves nothing behind', async (rig) => {
    const before = await everything(rig);
    const trace = await tried(rig, 'order_processing', {
        input: order,
        mocks: { signals: [{ type: 'payment_completed', after: '5m' }, { type: 'parcel_picked_up', payload: { parcel: 'P' }, after: '1h' }] },
    });
    equal(trace.status, 'completed');
    equal(trace.result, { order: 'A-1', parcel: 'P' });
    equal(trace.duration, '1h');
    equal(trace.version, 1);
    equal(steps(trace), ['take', 'reserve', 'charge', 'payment', 'paid', 'ship', 'pickup', 'close'].map((s) => `${s} completed`));
    equal(trace.steps[0].output, { id: 'bolt', version: 2, left: 7 }, 'what the step would have answered');
    equal(trace.context.signals[0].by.name, 'admin', 'the caller sends the signals');
    equal(trace.records.map((r) => [r.object, r.id, r.data.status ?? r.data.left]),
        [['stock', 'bolt', 7], ['payment', 'A-1', 'paid'], ['shipment', 'A-1', 'on its way']]);
    equal(await everything(rig), before, 'what is stored');
});

claim('the real thing goes the same way', async (rig) => {
    const body = { input: { ...order, order: 'A-2' }, mocks: { signals: { payment_failed: null } } };
    const trace = await tried(rig, 'order_processing', body);
    const x = await rig.begin('order_processing', { input: body.input });
    await rig.api('POST', `/executions/${x.id}/signal?wait=60s`, { type: 'payment_failed' });
    const done = await rig.api('GET', `/executions/${x.id}`);
    const real = await rig.api('GET', `/executions/${x.id}/steps`);
    equal(steps({ steps: real.body.items }), steps(trace));
    equal([done.body.status, done.body.error], [trace.status, trace.error]);
});

claim('what is written by hand is seen, and what the trial writes lies over it', async (rig) => {
    await rig.api('PUT', '/records/stock/nut', { left: 1 });
    const items = [{ sku: 'nut', count: 1 }, { sku: 'nut', count: 1 }];
    const trace = await tried(rig, 'order_processing', { input: { ...order, items } });
    equal([trace.status, trace.error.code], ['failed', 'out_of_stock']);
    equal(trace.records, [{ object: 'stock', id: 'nut', version: 3, data: { left: 1 } }]);
    equal((await rig.api('GET', '/records/stock/nut')).body.version, 1);
});

claim('a record that was deleted goes on counting', async (rig) => {
    await rig.publish({ code: 'making', steps: [{ code: 'make', procedure: { type: 'record.create', object: 'note', id: 'n', data: {} } }] });
    await rig.api('PUT', '/records/note/n', { a: 1 });
    await rig.api('DELETE', '/records/note/n');
    const x = await tried(rig, 'making', {});
    check(x.result.version > 1, `version ${x.result.version}`);
});

claim('a procedure is tried alone, as a draft and as published', async (rig) => {
    const price = (factor) => ({
        code: 'price', input: [{ name: 'net', type: 'number', required: true }],
        commands: [{ type: 'record.create', object: 'quote', id: 'q', data: { net: '$.input.net' } },
            { type: 'compute.transform', data: { gross: `=input.net * ${factor}` } }],
    });
    const tryIt = (body) => rig.api('POST', '/procedures/price/dry-run', body);
    equal((await tryIt({ input: { net: 10 } })).status, 404);
    await rig.api('PUT', '/procedures/price/draft', price('1.5'));
    const draft = await tryIt({ input: { net: 10 } });
    equal([draft.status, draft.body.status, draft.body.result, draft.body.version], [200, 'completed', { gross: 15 }, 'draft']);
    equal(draft.body.records, [{ object: 'quote', id: 'q', version: 1, data: { net: 10 } }]);
    await rig.api('POST', '/procedures/price/publish', {});
    await rig.api('PUT', '/procedures/price/draft', price('2.0'));
    equal((await tryIt({ input: { net: 10 }, version: 1 })).body.result, { gross: 15 });
    equal((await tryIt({ input: { net: 10 }, version: 'draft' })).body.result, { gross: 20 });
    equal((await tryIt({ input: {} })).status, 422);
    equal((await rig.api('GET', '/records/quote/q')).status, 404, 'nothing is left');
    await rig.api('PUT', '/procedures/price/draft', { code: 'price', commands: [{ type: 'lgo' }] });
    const wrong = await tryIt({ version: 'draft' });
    equal([wrong.status, wrong.body.errors[0].code, wrong.body.errors[0].pointer], [422, 'unknown_command', '/commands/0/type']);
});

claim('a draft is tried before it is published', async (rig) => {
    const draft = { code: 'drafted', steps: [{ code: 'a', procedure: { type: 'log', message: 'one' } }] };
    await rig.api('PUT', '/scenarios/drafted/draft', draft);
    equal((await tried(rig, 'drafted', {})).version, 'draft', 'what is not published');
    await rig.api('POST', '/scenarios/drafted/publish');
    draft.steps[0].procedure.message = 'two';
    await rig.api('PUT', '/scenarios/drafted/draft', draft);
    equal((await tried(rig, 'drafted', {})).logs[0].message, 'one');
    equal((await tried(rig, 'drafted', { version: 1 })).logs[0].message, 'one');
    equal((await tried(rig, 'drafted', { version: 'draft' })).logs[0].message, 'two');
    draft.steps[0].procedure.mesage = 'three';
    await rig.api('PUT', '/scenarios/drafted/draft', draft);
    const wrong = refused(await rig.api('POST', '/scenarios/drafted/dry-run', { version: 'draft' }), 422, 'invalid');
    equal(wrong.errors[0].pointer, '/steps/0/procedure/mesage');
});

claim('functions, procedures, config and processes are those that are stored', async (rig) => {
    await rig.api('PUT', '/functions/twice', { params: [{ name: 'n', type: 'integer' }], body: 'n * 2' });
    await rig.api('PUT', '/config/limit', { value: 40 });
    await rig.api('PUT', '/procedures/check/draft', { code: 'check', input: [{ name: 'n', type: 'integer' }], commands: [
        { type: 'compute.transform', data: { ok: '=fn.twice($.input.n) > $.config.limit' } }] });
    await rig.api('POST', '/procedures/check/publish');
    await rig.publish({ code: 'sub', steps: [{ code: 'wait', procedure: { type: 'wait.timer', duration: '3d' } }], result: { done: true } });
    await rig.publish({ code: 'using', steps: [
        { code: 'ask', procedure: 'check', input: { n: '$.input.n' } },
        { code: 'run', procedure: { type: 'flow.start', code: 'sub', wait: true } }],
        result: { ok: '$.steps.ask.ok', sub: '$.steps.run.output' } });
    const trace = await tried(rig, 'using', { input: { n: 21 } });
    equal([trace.result, trace.duration], [{ ok: true, sub: { done: true } }, '3d']);
    equal(trace.children.map((c) => [c.code, c.status]), [['sub', 'completed']]);
    const mocked = await tried(rig, 'using', { input: { n: 21 }, mocks: { procedures: { check: { ok: 'mock' } }, processes: { sub: 5 } } });
    equal([mocked.result, mocked.duration], [{ ok: 'mock', sub: 5 }, '0s']);
});

claim('it tells what it lacks, and what was given in vain', async (rig) => {
    await rig.publish({ code: 'outside', steps: [{ code: 'sync', procedure: 'crm.sync' }] });
    const trace = await tried(rig, 'outside', { mocks: { procedures: { 'crm.snc': 1 }, signals: { go: null } } });
    equal([trace.status, trace.waitingFor.kind, trace.currentStep], ['waiting', 'job', 'sync']);
    equal(trace.warnings.map((w) => [w.pointer, w.code, w.hint]), [
        ['/mocks/procedures/crm.snc', 'unknown_procedure', "did you mean 'crm.sync'?"],
        ['/mocks/signals', 'unused_signal', undefined],
        ['/mocks/procedures', 'missing_mock', undefined]]);
});

claim('branches are tried beside each other, and each tells what it lacks', async (rig) => {
    await rig.publish({ code: 'beside', steps: [{ code: 'p', parallel: { branches: [
        [{ code: 'a', procedure: 'crm.sync' }], [{ code: 'b', procedure: 'erp.sync' }],
        [{ code: 't', procedure: { type: 'wait.timer', duration: '2h' } }]] } }] });
    const lacking = await tried(rig, 'beside', {});
    equal([lacking.status, lacking.waitingFor.branches.map((b) => b.step)], ['waiting', ['a', 'b']]);
    equal(lacking.warnings.map((w) => w.code), ['missing_mock', 'missing_mock']);
    const trace = await tried(rig, 'beside', { mocks: { procedures: { 'crm.sync': 1, 'erp.sync': 2 } } });
    equal([trace.status, trace.duration, trace.result.branches.slice(0, 2)], ['completed', '2h', [1, 2]]);
});

claim('what is wrong is refused, with its place', async (rig) => {
    const post = (body) => rig.api('POST', '/scenarios/order_processing/dry-run', body);
    refused(await rig.api('POST', '/scenarios/nothing/dry-run', {}), 404, 'not_found');
    refused(await post({ input: order, version: 7 }), 404, 'not_found');
    equal(refused(await post({ input: { ...order, cents: 'many' } }), 422, 'invalid').errors[0].pointer, '/input/cents');
    equal(refused(await post({ input: order, version: 0 }), 422, 'invalid').errors[0].pointer, '/version');
    equal(refused(await post({ input: order, mocks: { signals: 7 } }), 422, 'invalid').errors[0].pointer, '/mocks');
    equal(refused(await post({ inputs: order }), 422, 'invalid').errors[0].pointer, '/inputs');
});

claim('a message of a template reads as it would be sent, and a template that cannot be rendered fails its step', async (rig) => {
    equal((await rig.api('PUT', '/templates/granted', { subject: '{{ data.percent }} % for you', body: 'Dear {{ data.name }}, it is granted.' })).status < 300, true);
    await rig.publish({ code: 'letters', input: [{ name: 'percent', type: 'any' }], steps: [{ code: 'tell', onError: 'fail_fast', procedure: { type: 'notification.email', to: 'ada@example.org', template: 'granted', data: { name: 'Ada', percent: '$.input.percent' } } }] });
    const [mail] = (await tried(rig, 'letters', { input: { percent: 12 } })).messages;
    equal([mail.kind, mail.body.subject, mail.body.body ?? mail.body.text], ['email', '12 % for you', 'Dear Ada, it is granted.'], JSON.stringify(mail));
    equal((await tried(rig, 'letters', { input: { percent: null } })).status, 'failed');
});

claim('whoever may not start it may not try it', async (rig) => {
    await rig.publish({ code: 'guarded', access: { start: ['group:finance'] }, steps: [{ code: 'a', procedure: { type: 'log', message: 'x' } }] });
    const as = async (groups) => {
        const { token } = (await rig.api('POST', '/users', { name: 'Vi', role: 'viewer', groups })).body;
        return rig.api('POST', '/scenarios/guarded/dry-run', {}, { Authorization: `Bearer ${token}` });
    };
    equal((await as(['finance'])).status, 200);
    refused(await as([]), 403, 'forbidden');
    equal((await tried(rig, 'guarded', {})).status, 'completed', 'an administrator');
});

claim('how long a dry-run may take does not depend on what else the machine does', async (rig) => {
    await rig.publish({ code: 'many', input: [{ name: 'items', type: 'array' }], steps: [
        { code: 'each', loop: { for: '$.input.items', steps: [{ code: 'one', procedure: { type: 'compute.transform', data: { n: '=size(lists.range(300).map(x, x * 2))' } } }] } }] });
    const asked = rig.api('POST', '/scenarios/many/dry-run', { input: { items: Array.from({ length: 5000 }, (_, i) => i) } });
    // A process that gets no time, as on a machine with too much to do.
    await new Promise((done) => setTimeout(done, 100));
    rig.server.child.kill('SIGSTOP');
    await new Promise((done) => setTimeout(done, 1500));
    rig.server.child.kill('SIGCONT');
    const answer = await asked;
    equal([answer.status, answer.body.status], [200, 'completed'], answer.raw?.slice(0, 500));
});

claim('what goes on for ever, or grows, is cut', async (rig) => {
    const rest = { code: 'rest', procedure: { type: 'wait.timer', duration: '1s' } };
    await rig.publish({ code: 'endless', settings: { timeout: '3650d' }, steps: [{ code: 'each', loop: { while: 'true', max: 100000, steps: [rest] } }] });
    const long = refused(await rig.api('POST', '/scenarios/endless/dry-run', {}), 422, 'invalid');
    check(['limit_events', 'limit_time', 'limit_memory'].includes(long.errors[0].code), long.errors[0].code);
    await rig.publish({ code: 'growing', steps: [
        { code: 'each', loop: { while: 'true', max: 100000, steps: [rest,
            { code: 'grow', procedure: { type: 'compute.transform', data: { text: "=lists.range(60000)" } } }] } }] });
    const big = refused(await rig.api('POST', '/scenarios/growing/dry-run', {}), 422, 'invalid');
    check(['limit_time', 'limit_memory'].includes(big.errors[0].code), big.errors[0].code);
    equal((await rig.api('GET', '/scenarios/endless')).status, 200, 'the server goes on');
});

await run(async (rig) => {
    await rig.publish(example('order_processing'));
    await rig.api('PUT', '/records/stock/bolt', { left: 10 });
});
