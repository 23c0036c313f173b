// Executions that are started again, what steps have logged, and the log of the server; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const failing = {
    code: 'failing',
    input: [{ name: 'n', type: 'integer', required: true }, { name: 'card', type: 'string', sensitive: true, default: '' }],
    steps: [
        { code: 'take', procedure: [{ type: 'log', level: 'warn', message: 'takes {{ $.input.n }} from {{ $.input.card }}', data: { n: '$.input.n' } }, { type: 'log', message: 'taken' }],
            rollback: { type: 'log', message: 'given back' } },
        { code: 'pay', procedure: { type: 'compute.fail', code: 'no_money', message: 'the card {{ $.input.card }} is empty' } },
    ],
};
const waiting = { code: 'waiting', input: [{ name: 'n', type: 'integer' }], steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }] };
const held = { code: 'held', onError: 'hold', steps: [{ code: 'bad', procedure: { type: 'compute.fail', code: 'no_luck', message: 'bad luck' } }] };

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const again = (rig, id, body, headers) => rig.api('POST', `/executions/${id}/again`, body, headers);
const lines = (rig) => rig.server.log.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
const logged = (rig, fits) => until('the line in the log', () => lines(rig).find(fits));

claim('what was rolled back is started again with its input and its key, and both name each other', async (rig) => {
    const old = await rig.begin('failing', { input: { n: 7 }, key: 'again-1' });
    equal([old.status, old.error.compensation.compensated], ['failed', ['take']]);
    check(old.actions.includes('again') && !old.actions.includes('retry'), 'it can be started again, not retried');
    const answer = await again(rig, old.id);
    equal(answer.status, 201, JSON.stringify(answer.body));
    equal([answer.body.againOf, answer.body.key, answer.body.input.n, answer.body.code], [old.id, 'again-1', 7, 'failing']);
    equal(answer.headers.location, `/api/v1/executions/${answer.body.id}`);
    equal((await get(rig, old.id)).againAs, answer.body.id);
    equal((await get(rig, answer.body.id)).againOf, old.id);
    equal((await rig.api('GET', `/executions?q=${answer.body.id}`)).body.items[0].againOf, old.id);
    await rig.restart();
    equal((await get(rig, answer.body.id)).againOf, old.id);
    const audit = (await rig.api('GET', '/audit?action=execution.again')).body.items;
    equal(audit.filter((line) => line.target === old.id).length, 1);
});

claim('a key that another has by now is left to it', async (rig) => {
    const old = await rig.begin('waiting', { input: { n: 1 }, key: 'again-2' });
    refused(await again(rig, old.id), 409, 'conflict');
    await rig.api('POST', `/executions/${old.id}/cancel`);
    await until('it is cancelled', async () => (await get(rig, old.id)).status === 'cancelled');
    const first = (await again(rig, old.id)).body;
    equal([first.key, first.status], ['again-2', 'waiting']);
    equal((await again(rig, old.id)).body.key, null);
});

claim('under an Idempotency-Key it is started once', async (rig) => {
    const old = await rig.begin('failing', { input: { n: 2 } });
    const key = { 'Idempotency-Key': `again-${rig.name}` };
    const first = await again(rig, old.id, {}, key);
    const second = await again(rig, old.id, {}, key);
    equal([first.status, second.status, second.body.id], [201, 200, first.body.id]);
    refused(await again(rig, old.id, { version: 1 }, key), 409, 'idempotency_conflict');
});

claim('with a version, and what cannot be started again', async (rig) => {
    const old = await rig.begin('failing', { input: { n: 3 } });
    equal((await again(rig, old.id, { version: 1 })).body.version, 1);
    refused(await again(rig, old.id, { version: 9 }), 404, 'not_found');
    refused(await again(rig, old.id, { version: 0 }), 422, 'invalid');
    refused(await again(rig, '0190a1b2-0000-7000-8000-000000000000'), 404, 'not_found');
});

claim('many are started again, each once, and nothing that starts meanwhile', async (rig) => {
    for (let n = 100; n < 105; n++) await rig.begin('failing', { input: { n }, key: `many-${n}` });
    const filter = { code: 'failing', q: 'failing', from: '1h', status: 'failed' };
    const before = (await rig.all('/executions?code=failing&status=failed', 500)).length;
    const dry = (await rig.api('POST', '/executions/bulk', { action: 'again', filter, dryRun: true })).body;
    equal([dry.matched, dry.done], [before, 0]);
    const key = { 'Idempotency-Key': `many-again-${rig.name}` };
    const done = (await rig.api('POST', '/executions/bulk', { action: 'again', filter }, key)).body;
    equal([done.matched, done.done, done.failed, done.skipped], [before, before, 0, 0], JSON.stringify(done.errors));
    equal((await rig.api('POST', '/executions/bulk', { action: 'again', filter }, key)).body, done);
    const after = await rig.all('/executions?code=failing', 500);
    equal(after.length, 2 * before);
    equal(new Set(after.filter((x) => x.againOf).map((x) => x.id)).size >= before, true);
    const live = await rig.begin('waiting');
    const skipped = (await rig.api('POST', '/executions/bulk', { action: 'again', filter: { q: live.id } })).body;
    equal([skipped.matched, skipped.skipped], [1, 1]);
});

claim('what steps have logged stays with the history, without what is sensitive', async (rig) => {
    const { id } = await rig.begin('failing', { input: { n: 5, card: '4111-0000' } });
    const all = await rig.all(`/executions/${id}/logs`, 2);
    equal(all.map((line) => [line.step, line.kind, line.level, line.message, line.data]), [
        ['take', 'forward', 'warn', 'takes 5 from ***', { n: 5 }],
        ['take', 'forward', 'info', 'taken', null],
        ['take', 'rollback', 'info', 'given back', null],
    ]);
    equal(await rig.all(`/executions/${id}/logs`, 1), all);
    const silent = await rig.begin('waiting');
    equal((await rig.api('GET', `/executions/${silent.id}/logs`)).body, { items: [], nextCursor: null });
    refused(await rig.api('GET', `/executions/${id}/logs?cursor=x`), 400, 'bad_request');
});

claim('the log has a line for what failed or is held, and who asked for it', async (rig) => {
    const { id } = await rig.begin('failing', { input: { n: 6, card: '4222-0000' }, key: 'log-1' });
    const line = await logged(rig, (l) => l.msg === 'an execution failed' && l.execution === id);
    equal([line.level, line.code, line.key, line.step, line.error, line.reason, line.user],
        ['warn', 'failing', 'log-1', 'pay', 'no_money', 'the card *** is empty', 'admin']);
    check(/^[0-9a-f]{8}-[0-9a-f]+$/.test(line.requestId), 'with the request');
    const stuck = await rig.begin('held', { key: 'log-2' });
    const other = await logged(rig, (l) => l.msg === 'an execution is held' && l.execution === stuck.id);
    equal([other.level, other.code, other.key, other.step, other.error], ['warn', 'held', 'log-2', 'bad', 'no_luck']);
    const said = await logged(rig, (l) => l.msg === 'process log' && l.execution === id);
    equal([said.level, said.code, said.key, said.step, said.text], ['warn', 'failing', 'log-1', 'take', 'takes 6 from ***']);
});

claim('a refused request has a line of its own level, and what is ordinary has none', async (rig) => {
    const wrong = refused(await rig.api('POST', '/executions', { code: 'nothing' }), 404, 'not_found');
    const line = await logged(rig, (l) => l.requestId === wrong.requestId);
    equal([line.level, line.msg, line.method, line.path, line.status, line.user, line.error.code],
        ['notice', 'a request was refused', 'POST', '/api/v1/executions', 404, 'admin', 'not_found']);
    const { id } = await rig.begin('waiting', { input: { n: 1 } });
    await rig.api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go' });
    equal(lines(rig).filter((l) => JSON.stringify(l).includes(id)), []);
});

claim('with a level the log leaves out what is below', async (rig) => {
    await rig.restart({ PAWL_LOG_LEVEL: 'warn' });
    const wrong = refused(await rig.api('POST', '/executions', { code: 'nothing' }), 404, 'not_found');
    const { id } = await rig.begin('failing', { input: { n: 8 } });
    await logged(rig, (l) => l.msg === 'an execution failed' && l.execution === id);
    equal(lines(rig).filter((l) => l.requestId === wrong.requestId), []);
    await rig.restart();
});

run(async (rig) => {
    for (const definition of [failing, waiting, held]) await rig.publish(definition);
});
