// Reminders that call a service and ask a worker: real HTTP, a server that is killed between; on both stores.
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

/** What came, by key; `hold` keeps answers back, `fail` answers 503 so many times. */
const seen = [];
const held = [];
const state = { hold: false, fail: 0 };
const service = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', () => {
        seen.push({ key: request.headers['idempotency-key'], body: JSON.parse(body) });
        const answer = () => {
            response.writeHead(state.fail-- > 0 ? 503 : 200, { 'Content-Type': 'application/json' });
            response.end('{"told":true}');
        };
        if (state.hold) held.push(answer);
        else answer();
    });
});
const port = await new Promise((opened) => service.listen(0, '127.0.0.1', () => opened(service.address().port)));

let names = 0;
const fresh = (rig) => `rc_${rig.name.toLowerCase()}_${++names}`;
const view = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const rows = async (rig, id) => (await rig.all(`/executions/${id}/steps`)).filter((row) => row.kind === 'reminder');
const calls = (id) => seen.filter((call) => call.key.startsWith(id));
const answer = (rig, id) => rig.api('POST', `/executions/${id}/signal`, { type: 'ok', payload: 1 });

const http = { type: 'integration.http', method: 'POST', url: `http://127.0.0.1:${port}/sms`, body: { index: '$.reminder.index', at: '$.input.at' } };
const asking = (code, procedure, more = {}) => ({
    code, settings: { retryPolicy: { maxAttempts: 3, delay: '50ms', jitter: 'none' } },
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'ok', timeout: '1d', reminder: { every: '150ms', max: 2, input: { at: '$.now' }, procedure, ...more } } },
        { code: 'then', procedure: { type: 'wait.signal', signalType: 'end' } }],
});

claim('each reminder calls the service once, under a key of its own, and is in the history', async (rig) => {
    const code = fresh(rig);
    await rig.publish(asking(code, http));
    const { id } = await rig.begin(code);
    await until('two reminders', async () => (await rows(rig, id)).length === 2);
    equal((await view(rig, id)).waitingFor.kind, 'signal');
    equal(calls(id).map((call) => [call.key, call.body.index]), [[`${id}-ask-reminder-1`, 1], [`${id}-ask-reminder-2`, 2]]);
    const [first] = await rows(rig, id);
    equal([first.step, first.status, first.attempt, first.output.status_code, first.idempotencyKey], ['ask', 'completed', 1, 200, `${id}-ask-reminder-1`]);
    equal((await answer(rig, id)).status, 202);
    equal((await view(rig, id)).waitingFor.step, 'then');
});

claim('a reminder that fails is tried again with the same key and request, and never fails the wait', async (rig) => {
    const code = fresh(rig);
    await rig.publish(asking(code, http, { max: 1 }));
    state.fail = 10;
    const { id } = await rig.begin(code);
    await until('all attempts', async () => (await rows(rig, id)).length === 3);
    state.fail = 0;
    equal((await rows(rig, id)).map((row) => [row.status, row.attempt]), [['failed', 1], ['failed', 2], ['failed', 3]]);
    equal(new Set(calls(id).map((call) => JSON.stringify(call))).size, 1, 'one request');
    equal((await view(rig, id)).waitingFor.kind, 'signal');
});

claim('an answer to the wait does not wait for the reminder, which is brought to its end', async (rig) => {
    const code = fresh(rig);
    await rig.publish(asking(code, [http, { ...http, body: { index: 'second' } }], { max: 1 }));
    state.hold = true;
    const { id } = await rig.begin(code);
    await until('the call', () => calls(id).length === 1);
    equal((await answer(rig, id)).status, 202);
    equal((await view(rig, id)).waitingFor.step, 'then');
    equal((await rows(rig, id)).length, 0);
    state.hold = false;
    held.splice(0).forEach((send) => send());
    await until('its row', async () => (await rows(rig, id)).length === 1);
    equal((await rows(rig, id))[0].status, 'completed');
    equal(calls(id).length, 1, 'no second command left');
    equal((await view(rig, id)).waitingFor.step, 'then');
});

claim('a worker does what a reminder asks for', async (rig) => {
    const code = fresh(rig), type = `${code}.remind`;
    await rig.publish(asking(code, type, { max: 1, input: { n: '$.reminder.index' } }));
    const { id } = await rig.begin(code);
    const { body } = await rig.api('POST', '/jobs/claim', { types: [type], max: 1, wait: '20s', worker: 'w' });
    const [job] = body.items;
    equal([job.executionId, job.input, job.idempotencyKey], [id, { n: 1 }, `${id}-ask-reminder-1`]);
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: { told: 'ann' } })).status, 200);
    const [row] = await until('its row', async () => { const all = await rows(rig, id); return all.length ? all : null; });
    equal([row.status, row.output], ['completed', { told: 'ann' }]);
});

claim('a job of a reminder is withdrawn when the execution ends', async (rig) => {
    const code = fresh(rig), type = `${code}.remind`;
    await rig.publish({ ...asking(code, type, { max: 1 }), steps: asking(code, type, { max: 1 }).steps.slice(0, 1) });
    const { id } = await rig.begin(code);
    const { body } = await rig.api('POST', '/jobs/claim', { types: [type], max: 1, wait: '20s', worker: 'w' });
    equal((await answer(rig, id)).status, 202);
    equal((await view(rig, id)).status, 'completed');
    equal((await rig.api('POST', `/jobs/${body.items[0].id}/complete`, { leaseToken: body.items[0].leaseToken, output: 1 })).status, 409);
});

claim('a server that is killed during the call asks for the same again, and no reminder is lost or doubled', async (rig) => {
    const code = fresh(rig);
    const definition = asking(code, { ...http, timeout: '2s' }, { max: 2, every: '300ms' });
    await rig.publish(definition);
    state.hold = true;
    const { id } = await rig.begin(code);
    await until('the call', () => calls(id).length === 1);
    await rig.server.kill();
    state.hold = false;
    held.length = 0;
    await rig.start();
    await until('two reminders', async () => (await rows(rig, id)).filter((row) => row.status === 'completed').length === 2);
    const keys = (await rows(rig, id)).filter((row) => row.status === 'completed').map((row) => row.idempotencyKey);
    equal(keys, [`${id}-ask-reminder-1`, `${id}-ask-reminder-2`]);
    const first = calls(id).filter((call) => call.key.endsWith('-1'));
    equal(new Set(first.map((call) => JSON.stringify(call.body))).size, 1, 'all attempts ask for the same');
    check(first.length >= 2, 'it was asked for again');
    equal((await view(rig, id)).waitingFor.kind, 'signal');
    equal((await answer(rig, id)).status, 202);
});

service.unref();
process.on('exit', () => service.close());
await run(async () => {});
