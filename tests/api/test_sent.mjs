// What was sent stands in history and dead letters, without what is sensitive; on both stores.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Listener } from './listen.mjs';

// A service that says by its path how it answers; /slow answers when it is let go.
const held = [];
const service = createServer((request, response) => {
    const answer = (status, body) => {
        response.writeHead(status, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(body));
    };
    request.resume();
    if (request.url.startsWith('/slow')) held.push(() => answer(200, { ok: true }));
    else if (request.url.startsWith('/doubt')) request.socket.destroy();
    else answer(request.url.startsWith('/no') ? 409 : 200, { ok: true });
});
await new Promise((done) => service.listen(0, '127.0.0.1', done));
service.unref();
const at = (path) => `http://127.0.0.1:${service.address().port}${path}`;

const call = (path, body, more = {}) => ({ type: 'integration.http', method: 'POST', url: at(path), body, ...more });
const card = { name: 'card', type: 'string', sensitive: true, default: '4111-2222' };
const once = { retryPolicy: { maxAttempts: 1, delay: '1ms' } };

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const rows = (rig, id, query = '') => rig.all(`/executions/${id}/steps${query}`, 500);
const letters = async (rig, id) => (await rig.api('GET', `/dlq?execution=${id}`)).body.items;
const ended = (rig, id) => until('it has ended', async () => !['running', 'waiting', 'compensating'].includes((await get(rig, id)).status));
const cli = (rig, ...args) => execFileSync(pawl, [...args, '--url', rig.server.url, '--token', rig.server.token], { encoding: 'utf8', env: { ...process.env, COLUMNS: '300' } });

claim('the row of a call has what was sent, under its key', async (rig) => {
    await rig.publish({ code: 'sent_one', input: [card], steps: [{ code: 'pay', procedure: call('/yes?card={{ $.input.card }}', { card: '$.input.card', n: 1 }, { headers: { 'X-Shop': 'a' } }) }] });
    const { id } = await rig.begin('sent_one');
    await ended(rig, id);
    const [row] = await rows(rig, id);
    equal([row.kind, row.input, row.idempotencyKey], ['forward', { method: 'POST', url: at('/yes?card=***'), headers: { 'X-Shop': 'a' }, body: { card: '***', n: 1 } }, `${id}-pay`]);
    equal((await rows(rig, id, '?order=newest'))[0].input, row.input);
    const stream = new Listener(rig.server, `/executions/${id}/events`);
    await stream.over;
    equal(stream.events.find((event) => event.type === 'step').data, row);
    check(!JSON.stringify(stream.events).includes('4111'), 'nothing sensitive');
});

claim('a step with an input of its own keeps it, and each of its calls has a row among the events', async (rig) => {
    await rig.publish({ code: 'sent_two', steps: [{ code: 'both', procedure: [call('/yes/a', { n: 1 }), call('/no/b', { n: 2 })] }] });
    const { id } = await rig.begin('sent_two');
    await ended(rig, id);
    const all = await rows(rig, id, '?events=all');
    equal(all.map((row) => [row.kind, row.status, row.input.url, row.input.body, row.idempotencyKey]), [
        ['event', 'call', at('/yes/a'), { n: 1 }, `${id}-both`],
        ['event', 'call', at('/no/b'), { n: 2 }, `${id}-both.2`],
        ['forward', 'failed', at('/no/b'), { n: 2 }, `${id}-both.2`],
    ]);
    equal((await rows(rig, id, '?events=true')).length, 1, 'true: only what operators did');
    equal((await rows(rig, id, '?events=all&order=newest')).map((row) => row.id), all.map((row) => row.id).reverse());
    const shown = cli(rig, 'show', id);
    for (const text of [`POST ${at('/no/b')} under the key ${id}-both.2 with {"n":2}`, `POST ${at('/yes/a')}`]) check(shown.includes(text), `${text} in\n${shown}`);
});

claim('while a call is in flight, what was sent and its key are known', async (rig) => {
    await rig.publish({ code: 'sent_slow', steps: [{ code: 'pay', procedure: call('/slow', { n: 7 }) }] });
    const { id } = await rig.begin('sent_slow');
    await until('the call has arrived', () => held.length > 0);
    equal((await get(rig, id)).waitingFor.idempotencyKey, `${id}-pay`);
    const [row] = await rows(rig, id, '?events=all');
    equal([row.status, row.input.body, row.idempotencyKey], ['call', { n: 7 }, `${id}-pay`]);
    equal(await rows(rig, id), []);
    const heard = new Listener(rig.server, `/executions/${id}/events`);
    await until('the follower is told that it waits', () => heard.events.length > 0);
    held.splice(0).forEach((letGo) => letGo());
    await ended(rig, id);
    await heard.over; // it ends with the execution
    equal(heard.events.find((event) => event.type === 'step').data, (await rows(rig, id))[0]);
});

claim('a held step, a rollback that was given up and an attempt in doubt: the letter names request and key', async (rig) => {
    await rig.publish({ code: 'sent_held', onError: 'hold', input: [card], settings: once, steps: [{ code: 'pay', procedure: call('/no', { card: '$.input.card' }) }] });
    await rig.publish({ code: 'sent_undo', settings: once, steps: [
        { code: 'pay', procedure: call('/yes', { n: 1 }), rollback: call('/no/undo', { undo: 1 }) },
        { code: 'stop', procedure: { type: 'compute.fail', code: 'stop', message: 'stop' } }] });
    await rig.publish({ code: 'sent_doubt', settings: once, steps: [
        { code: 'pay', procedure: call('/doubt', { n: 9 }), reconcile: { procedure: call('/yes/ask', { ask: 1 }), every: '1ms', max: 1 } }] });
    for (const [code, kind, url, body, key] of [
        ['sent_held', 'incident', at('/no'), { card: '***' }, 'pay'],
        ['sent_undo', 'compensation', at('/no/undo'), { undo: 1 }, 'pay-rollback'],
        ['sent_doubt', 'reconcile', at('/doubt'), { n: 9 }, 'pay'],
    ]) {
        const { id } = await rig.begin(code);
        const [letter] = await until(`a letter of ${code}`, async () => { const all = await letters(rig, id); return all.length > 0 && all; });
        equal([letter.kind, letter.payload.url, letter.payload.body, letter.idempotencyKey], [kind, url, body, `${id}-${key}`]);
        equal((await rig.api('GET', `/dlq/${letter.id}`)).body, letter);
        const shown = cli(rig, 'dlq', 'show', letter.id);
        check(shown.includes(`${id}-${key}`) && shown.includes(url), shown);
    }
});

claim('an attempt that was in doubt has what it sent, not what was asked afterwards', async (rig) => {
    await rig.publish({ code: 'sent_found', settings: once, steps: [
        { code: 'pay', procedure: call('/doubt', { n: 3 }), reconcile: { procedure: [call('/yes/ask', { ask: 1 }), { type: 'compute.transform', data: { outcome: 'succeeded', output: { paid: true } } }], every: '1ms', max: 1 } }] });
    const { id } = await rig.begin('sent_found');
    await ended(rig, id);
    equal((await rows(rig, id)).map((row) => [row.kind, row.input?.body, row.idempotencyKey]), [
        ['reconcile', { ask: 1 }, `${id}-pay-reconcile-1`],
        ['forward', { n: 3 }, `${id}-pay`],
    ]);
});

claim('what was sent counts for the size of a page', async (rig) => {
    const big = 'x'.repeat(200000);
    await rig.publish({ code: 'sent_big', input: [{ name: 'text', type: 'string', required: true }, { name: 'all', type: 'array', required: true }], steps: [{ code: 'each', loop: { for: '$.input.all', as: 'n', steps: [{ code: 'one', procedure: [call('/yes/big', { text: '$.input.text' }), { type: 'compute.transform', data: 1 }] }] } }] });
    const { id } = await rig.begin('sent_big', { input: { text: big, all: [...Array(60).keys()] } });
    await ended(rig, id);
    for (const order of ['oldest', 'newest']) {
        const seen = [];
        let cursor = null, pages = 0;
        do {
            const page = await rig.api('GET', `/executions/${id}/steps?order=${order}${cursor ? `&cursor=${cursor}` : ''}`);
            check(page.raw.length < 6 << 20, `a page of ${page.raw.length}`);
            seen.push(...page.body.items.map((row) => row.seq));
            cursor = page.body.nextCursor;
            pages++;
        } while (cursor);
        check(pages > 2, `${pages} pages`);
        equal(seen, [...new Set(seen)].sort((a, b) => (order === 'oldest' ? a - b : b - a)), 'none twice, in order');
        equal(seen.length, 61);
    }
});

await run(async () => {});
