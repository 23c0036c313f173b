// pawl move: an installation goes from its data folder to PostgreSQL and back, killed in between,
// and is the same installation there: what was waiting goes on, and nothing is given a number twice.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';

import { check, claim, end, equal, skip } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { execute, makeFolder, pawl } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const ODD = 'a\tb\nc\r\\N \\. "quoted" \'single\' – Кабель 😀 {{ 1 }} \\u0041';
const MANY = 1500;

const definition = (code, input, ...procedures) => ({
    code,
    name: code,
    input: input.map(([name, type]) => ({ name, type })),
    steps: procedures.map((procedure, n) => ({ code: `s${n}`, procedure })),
});
const definitions = [
    definition('short', [['text', 'string']], { type: 'compute.transform', data: { text: '$.input.text', list: [1, 2.5, null, true] } }),
    definition('signalled', [['text', 'string']], { type: 'wait.signal', signalType: ['go', 'stop'], correlation: '$.input.text' },
        { type: 'compute.transform', data: '$.steps.s0.output' }),
    definition('sleeping', [], { type: 'wait.timer', duration: '30d' }),
    { ...definition('broken', [['n', 'integer']], { type: 'compute.transform', data: '=1 / input.n' }), onError: 'hold' },
];

const postgres = await Postgres.open();
if (!postgres) {
    skip('PostgreSQL is not installed');
    end();
}

async function serve(data, store = null) {
    const server = new Server(data, { store });
    await started(server);
    return server;
}

async function fill(server) {
    for (const each of definitions) {
        const saved = await server.asAdmin('PUT', `/scenarios/${each.code}/draft`, each);
        equal(saved.body.valid, true, saved.raw);
        equal((await server.asAdmin('POST', `/scenarios/${each.code}/publish`)).status, 200);
    }
    const begin = (code, input, more = {}) => server.asAdmin('POST', '/executions', { code, input, ...more });
    for (let n = 0; n < 30; n++) await begin('short', { text: `${ODD} ${n}` }, { key: `short-${n}` });
    for (let n = 0; n < 5; n++) await begin('signalled', { text: `order ${n}` }, { key: `signal-${n}` });
    await begin('sleeping', {}, { key: 'asleep' });
    await begin('broken', { n: 0 }, { key: 'held' });
    equal((await server.asAdmin('PUT', '/records/client/C-1', { name: ODD, n: 9007199254740993 })).status, 201);
    equal((await server.asAdmin('PUT', '/config/odd', { value: ODD })).status < 300, true, 'config');
    equal((await server.asAdmin('POST', '/tasks', { title: ODD, project_id: 'p' })).status, 201);
    await server.user({ name: 'Анна', email: 'anna@example.org', role: 'operator' });
    // The newest execution goes: its number must not come again.
    const last = (await begin('short', { text: 'last' })).body;
    await until('it has ended', async () => (await server.asAdmin('GET', `/executions/${last.id}`)).body.status === 'completed');
    equal((await server.asAdmin('DELETE', `/executions/${last.id}`)).status, 204);
}

async function all(server, path) {
    const items = [];
    for (let cursor = ''; cursor !== null;) {
        const mark = path.includes('?') ? '&' : '?';
        const page = await server.asAdmin('GET', `${path}${mark}limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        equal(page.status, 200, page.raw);
        items.push(...page.body.items);
        cursor = page.body.nextCursor ?? null;
    }
    return items;
}

/** All that the API shows of an installation. */
async function picture(server) {
    const executions = await all(server, '/executions');
    const lists = {};
    for (const path of ['/scenarios', '/records/client', '/config', '/tasks', '/users', '/dlq', '/audit']) lists[path] = await all(server, path);
    lists.steps = [];
    for (const { id } of executions) lists.steps.push((await server.asAdmin('GET', `/executions/${id}/steps?events=true`)).body);
    for (const user of lists['/users']) delete user.lastSeenAt;
    return JSON.stringify({ executions, ...lists }, (name, value) => (/^(lastUsed|seen)/.test(name) ? undefined : value));
}

const move = (from, to, ...args) => execute(pawl, ['move', '--from', from, '--to', to, '--json', ...args]);

function moved(answer) {
    equal(answer.status, 0, answer.out);
    return JSON.parse(answer.out.trim().split('\n').at(-1));
}

async function refused(answer, ...words) {
    const { status, out } = await answer;
    equal(status, 1, out);
    for (const word of words) check(out.includes(word), `${word} is not in: ${out}`);
}

async function cannotServe(data, store, ...words) {
    const server = new Server(data, { store });
    check(!(await server.start()), 'it started');
    for (const word of words) check(server.log.includes(word), `${word} is not in: ${server.log}`);
}

const data = join(makeFolder(), 'data'), back = join(makeFolder(), 'back');
const store = postgres.fresh();
let server = await serve(data);
await fill(server);
const before = await picture(server);

await claim('a folder with a server on it is not moved', () => refused(move(data, store), 'pawl'));
await server.stop();

await claim('a move says what it cannot do, and changes nothing', async () => {
    await refused(move(data, `sqlite:${back}`), 'from a data folder to PostgreSQL');
    await refused(move(join(back, 'none'), store), 'there is no store in');
    await refused(move(data, 'postgres://nobody@127.0.0.1:1/none'), 'cannot be reached');
    check(existsSync(join(data, 'pawl.db')), 'the store is where it was');
});

await claim('an installation moves to PostgreSQL and is the same there', async () => {
    const { tables, rows } = moved(await move(`sqlite:${data}`, store));
    check(tables > 40 && rows > 100, `${tables} tables, ${rows} rows`);
    server = await serve(data, store);
    equal(await picture(server), before);
});

await claim('what was waiting goes on, and what is new has new numbers', async () => {
    for (let n = 0; n < 5; n++) {
        const sent = await server.asAdmin('POST', '/signals', { correlation: `order ${n}`, type: 'go', payload: { n } });
        check(sent.status < 300, sent.raw);
        await until('it ends', async () => (await all(server, `/executions?key=signal-${n}`))[0].status === 'completed');
    }
    equal((await server.asAdmin('PUT', '/scenarios/short/draft', definitions[0])).status, 200);
    for (let n = 0; n < 20; n++) equal((await server.asAdmin('POST', '/executions?wait=10s', { code: 'short', input: { text: 'new' } })).body.status, 'completed');
    equal((await server.asAdmin('POST', '/tasks', { title: 'new' })).status, 201);
    equal((await server.asAdmin('PUT', '/records/client/C-2', { n: 1 })).status, 201);
});

await claim('a database with a server on it is not moved', () => refused(move(store, back), 'a server runs on'));

await claim('it moves back, and is the same again', async () => {
    const then = await picture(server);
    await server.stop();
    await cannotServe(data, null, 'was moved to PostgreSQL', '--store');
    await refused(move(store, postgres.fresh()), 'from a data folder to PostgreSQL');
    // It comes to a table that somebody has locked, and goes no further: from then on no server starts there.
    const release = await postgres.holdWhat('LOCK TABLE history IN ACCESS EXCLUSIVE MODE', store.split('/').at(-1));
    const ended = cut(store, back, 8000);
    await until('it has begun', () => postgres.ask("SELECT to_regclass('leaving')", store.split('/').at(-1)).includes('leaving'));
    await cannotServe(data, store, 'is being moved away', 'leaving');
    await ended;
    await release();
    await cannotServe(data, store, 'is being moved away');
    moved(await move(store, back));
    cpSync(join(data, 'admin.token'), join(back, 'admin.token'));
    cpSync(join(data, 'master.key'), join(back, 'master.key'));
    server = await serve(back);
    equal(await picture(server), then);
    equal((await server.asAdmin('POST', '/executions?wait=10s', { code: 'short', input: { text: 'new' } })).body.status, 'completed');
    await server.stop();
    await cannotServe(data, store, 'was moved away');
    await refused(move(store, join(makeFolder(), 'other')), 'moved from there before');
});

await claim('a target that holds an installation is refused', async () => {
    const other = join(makeFolder(), 'other');
    await (await serve(other)).stop();
    const full = postgres.fresh();
    await (await serve(join(makeFolder(), 'x'), full)).stop();
    await refused(move(other, full), 'holds an installation already');
});

// Kill it at a moment; answers whether it had ended before.
async function cut(from, to, ms) {
    const child = spawn(pawl, ['move', '--from', from, '--to', to], { stdio: 'ignore' });
    const ended = new Promise((done) => child.on('close', (_, signal) => done(signal === null)));
    setTimeout(() => child.kill('SIGKILL'), ms);
    return ended;
}

await claim('a move that is killed goes on when it is repeated, also when the source has changed since', async () => {
    const target = postgres.fresh();
    server = await serve(back);
    for (let n = 0; n < MANY; n += 50)
        await Promise.all(Array.from({ length: 50 }, (_, i) => server.asAdmin('POST', '/executions', { code: 'short', input: { text: `${n + i}` } })));
    await server.stop();
    let cuts = 0, isTried = false;
    // Ever later, in steps that grow with what has passed: on a slow machine too some kills are in the midst of it.
    for (let ms = 20; !(await cut(back, target, ms)); cuts++, ms *= 1.25) {
        if (!existsSync(join(back, 'pawl.db'))) continue;
        if (!isTried && postgres.ask("SELECT to_regclass('moving')").includes('moving')) {
            await cannotServe(data, target, 'is not finished');
            isTried = true;
        }
        if (cuts !== 5) continue;
        server = await serve(back);
        equal((await server.asAdmin('POST', '/executions?wait=10s', { code: 'short', input: { text: 'late' }, key: 'late' })).body.status, 'completed');
        await server.stop();
    }
    check(cuts > 3 && isTried, `it was killed ${cuts} times, ${isTried}`);
    if (existsSync(join(back, 'pawl.db'))) moved(await move(back, target));
    renameSync(join(back, 'pawl.db.moved'), join(back, 'pawl.db'));
    server = await serve(back);
    const source = await picture(server);
    await server.stop();
    renameSync(join(back, 'pawl.db'), join(back, 'pawl.db.moved'));
    server = await serve(back, target);
    equal((await picture(server)) === source, true, 'the same picture');
    await server.stop();
});

postgres.close?.();
end();
