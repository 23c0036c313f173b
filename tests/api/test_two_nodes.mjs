// test_two_nodes.mjs - two servers on one PostgreSQL: what must happen once happens once, and what
// one of them does the other one knows.
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { checkProgram } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const ON = 'PostgreSQL';
const KEY = 'master.key';
let second;
let other;

const there = (method, path, body, headers) => other.ask(method, `/api/v1${path}`, body, headers);

async function startSecond(rig) {
    second ??= new Server(join(rig.folder, 'second'), { beside: rig.server, store: rig.store, program: rig.server.program });
    check(await second.start(), second.log);
    other?.close();
    other = second.client();
}

async function endSecond() {
    other.close();
    equal(await second.stop(), 0, second.log);
}

const quick = (code, more) => ({ code, name: code, steps: [{ code: 's', procedure: { type: 'compute.transform', data: { at: '$.input' } } }], ...more });

const sender = { code: 'sends', name: 'sends', steps: [{ code: 's', procedure: { type: 'event.publish', event: 'thing.done', payload: { n: '$.input.n' } } }] };
const listener = (code) => quick(code, { triggers: [{ type: 'event', event: 'thing.done', input: { n: '$.event.payload.n' } }] });
const numbers = (count) => Array.from({ length: count }, (_, n) => n);

/** What a listener has heard of, without what it was asked while the other server got to know it. */
async function heard(rig, code) {
    const items = await rig.all(`/executions?code=${code}`, 100);
    const inputs = await Promise.all(items.map(async ({ id }) => (await rig.api('GET', `/executions/${id}`)).body.input.n));
    return inputs.filter((n) => n >= 0).sort((a, b) => a - b);
}

/** Another server hears of a definition within a second; events before that go by what it knew. */
async function publishEverywhere(rig, definition) {
    await rig.publish(definition);
    await until('the other server knows of it', async () => {
        await there('POST', '/executions?wait=30s', { code: 'sends', input: { n: -1 } });
        return (await rig.api('GET', `/executions?code=${definition.code}`)).body.items.length > 0;
    });
}

claim('an event starts each process that waits for it once, whichever server it arises on', async (rig) => {
    const sent = 40;
    await rig.publish(sender);
    for (const code of ['hears', 'hears_too']) await publishEverywhere(rig, listener(code));
    const starts = numbers(sent).map((n) => (n % 2 ? there : rig.api.bind(rig))('POST', '/executions?wait=30s', { code: 'sends', input: { n } }));
    for (const answer of await Promise.all(starts)) equal([answer.status, answer.body.status], [201, 'completed'], JSON.stringify(answer.body));
    await until('no message is left', async () => (await rig.all('/outbox')).length === 0);
    for (const code of ['hears', 'hears_too']) equal(await heard(rig, code), numbers(sent), code);
}, ON);

claim('a server that starts while its users cannot be read in time waits for them', async (rig) => {
    await endSecond();
    const release = await rig.postgres.holdWhat('LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
    const starting = startSecond(rig);
    await until('its first look has failed', () => second.log.includes('users cannot be read'));
    await release();
    await starting;
    equal((await there('GET', '/me')).status, 200);
}, ON);

claim('a server that is killed in the middle leaves its events to the other one: none is lost or doubled', async (rig) => {
    const sent = 40;
    await publishEverywhere(rig, listener('hears_all'));
    const starts = numbers(sent).map((n) => there('POST', '/executions?wait=30s', { code: 'sends', input: { n } }, { 'Idempotency-Key': `sends-${n}` }).catch(() => null));
    await Promise.race(starts);
    await second.kill();
    await Promise.all(starts);
    for (const n of numbers(sent)) {
        const answer = await rig.api('POST', '/executions?wait=60s', { code: 'sends', input: { n } }, { 'Idempotency-Key': `sends-${n}` });
        check(answer.status < 300, JSON.stringify(answer.body));
    }
    await until('all of them have ended', async () => (await rig.all('/executions?code=sends', 100)).every((item) => item.status === 'completed'));
    await until('no message is left', async () => (await rig.all('/outbox')).length === 0);
    equal(await heard(rig, 'hears_all'), numbers(sent));
    await startSecond(rig);
}, ON);

claim('a tick of a schedule starts one execution', async (rig) => {
    await rig.publish(quick('ticks', { triggers: [{ type: 'schedule', cron: '* * * * * *' }] }));
    const times = async () => (await rig.all('/executions?code=ticks', 100)).map((item) => item.createdAt.slice(0, 19));
    await until('some ticks', async () => (await times()).length >= 4);
    const [schedule] = (await rig.api('GET', '/schedules')).body.items;
    equal((await there('POST', `/schedules/${schedule.id}/pause`)).status, 200);
    const seen = await times();
    equal(new Set(seen).size, seen.length, seen.join(' '));
}, ON);

claim('the key is rotated by one server while the other one runs', async (rig) => {
    const stub = (value) => ({ type: 'api_key', base_url: 'https://erp.example', header_name: 'X-Key', header_value: `the secret of ${value}` });
    for (const code of ['one', 'two']) equal((await rig.api('PUT', `/credentials/${code}`, stub(code))).status, 201);
    const done = await rig.api('POST', '/credentials/rekey');
    equal([done.status, done.body.credentials], [200, 2], JSON.stringify(done.body));

    /* The other one has the old key in its file: it goes on, and seals nothing with that key. */
    const late = await there('PUT', '/credentials/three', stub('three'));
    check(late.status >= 400, `sealed with a key that is gone: ${late.status}`);
    await until('it says so', () => second.log.includes('master key'));
    await until('it is not ready', async () => (await other.ask('GET', '/readyz')).body.status === 'wrong_key');

    /* The operator brings the new file. */
    copyFileSync(join(rig.server.data, KEY), join(second.data, KEY));
    await until('a credential can be saved there', async () => (await there('PUT', '/credentials/three', stub('three'))).status === 201);
    await until('it is ready', async () => (await other.ask('GET', '/readyz')).status === 200);
    for (const server of [rig.server, second])
        equal(readdirSync(server.data).filter((name) => name.startsWith(KEY)), [KEY]);
    check(!rig.server.log.includes('cannot be opened'), rig.server.log);
    await endSecond();
    await startSecond(rig);
    equal((await there('GET', '/credentials')).body.items.map((item) => [item.code, item.filled]), [['one', true], ['three', true], ['two', true]]);
    check(!second.log.includes('cannot be opened'), second.log);

    /* Both rotate at once: one key is everybody's in the end, and both files can be made the same. */
    const both = await Promise.all([rig.api('POST', '/credentials/rekey'), there('POST', '/credentials/rekey')]);
    const won = both.findIndex((answer) => answer.status === 200);
    check(won >= 0, JSON.stringify(both.map((answer) => answer.body)));
    const files = [rig.server, second].map((server) => join(server.data, KEY));
    const keys = files.map((file) => readFileSync(file, 'utf8'));
    check(keys[0] !== keys[1], 'each server has a file of its own');

    /* Either may have won: the operator gives its file to the other. */
    copyFileSync(files[won], files[1 - won]);
    for (const ask of [(...what) => rig.api(...what), there]) await until('both have the key', async () => (await ask('PUT', '/credentials/last', stub('last'))).status < 300);
}, ON);

claim('a node whose key was rotated away fails calls as transient until it has the right one', async (rig) => {
    const third = new Server(join(rig.folder, 'third'), { beside: rig.server, store: rig.store, program: rig.server.program });
    for (const item of (await rig.api('GET', '/credentials')).body.items) await rig.api('DELETE', `/credentials/${item.code}`);
    for (const item of (await rig.api('GET', '/subscriptions')).body.items) await rig.api('DELETE', `/subscriptions/${item.code}`);
    check(await third.start(), third.log);
    const at = third.client();
    equal((await rig.api('POST', '/credentials/rekey')).status, 200);
    await rig.api('PUT', '/credentials/shop', { type: 'api_key', base_url: `${rig.server.url}/healthz`, header_name: 'X-Key', header_value: 'a secret' });
    await rig.publish({ code: 'buys', name: 'buys', steps: [{ code: 's', retry: { maxAttempts: 1000, delay: '100ms', maxDelay: '100ms' },
        procedure: { type: 'integration.http', method: 'GET', url: `${rig.server.url}/healthz`, credential: 'shop' } }] });
    await until('it is not ready', async () => (await at.ask('GET', '/readyz')).body.status === 'wrong_key');
    const { body: { id } } = await at.ask('POST', '/api/v1/executions', { code: 'buys' });
    const failed = await until('an attempt has failed', async () => {
        const { body } = await rig.api('GET', `/executions/${id}/steps`);
        return body.items.find((row) => row.error !== null);
    });
    equal([failed.error.code, failed.error.class], ['unavailable_credential', 'transient'], JSON.stringify(failed));
    copyFileSync(join(rig.server.data, KEY), join(third.data, KEY));
    await until('it is ready by itself', async () => (await at.ask('GET', '/readyz')).status === 200);
    await until('and the call is sent', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
    at.close();
    equal(await third.stop(), 0, third.log);
}, ON);

await run(async (rig) => {
    if (!rig.store) return;
    mkdirSync(join(rig.folder, 'second'));
    copyFileSync(join(rig.server.data, KEY), join(rig.folder, 'second', KEY));
    await startSecond(rig);
    const close = rig.close.bind(rig);
    rig.close = async () => {
        await endSecond();
        await close();
    };
}, checkProgram);
