// test_machine.mjs - the machine fails under the server: no space, no rights, a damaged file,
// a clock that jumps, a second server, a database that goes away.
//
// Nothing is measured in time: what must happen is waited for.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { check, claim, end, Skip } from '../lib/claims.mjs';
import { microseconds } from '../lib/client.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { needPostgres } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { foldMistakes } from './fold.mjs';
import { Load } from './load.mjs';
import { publish } from './scenarios.mjs';

const DAY_S = 86400;
const START_MAX = 3000;
const isRoot = process.geteuid() === 0;
const only = process.env.MACHINE_ONLY;

const cases = [];
const machine = (name, run) => cases.push({ name, run });

async function runCase({ name, run }) {
    const clean = [];
    await claim(name, () => run({ folder: makeFolder(), later: (action) => clean.push(action) }));
    for (const action of clean.reverse()) await action();
}

/** A server that is killed when the case is over. */
function newServer({ later }, data, store) {
    const server = new Server(data, { store, program: checkProgram });
    later(() => server.kill());
    return server;
}

/** Wait until the server has taken some more of the load. */
function isLoaded(load) {
    const enough = load.acknowledged + 30;
    return until('the load is taken', () => load.acknowledged >= enough);
}

async function start(server, environment) {
    check(await server.start(environment), `it does not start: ${server.log}`);
}

async function mustRefuse(server, pattern) {
    check(!(await server.start()), 'it started');
    check(server.code > 0, `it ended with ${server.code ?? server.signal}, not with a status`);
    check(pattern.test(server.log), `it says: ${server.log}`);
    check(!/SELECT|PRAGMA|stack/.test(server.log), `it shows its inside: ${server.log}`);
}

function foldCheck(place) {
    const mistakes = foldMistakes(place);
    check(mistakes === '', mistakes);
}

function mount(context, folder, options) {
    mkdirSync(folder, { recursive: true });
    try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
    } catch {
        throw new Skip('a file system cannot be mounted here');
    }
    context.later(() => execFileSync('umount', ['-l', folder]));
}

// --- no space ---

/** Fill a file system. */
function fill(file) {
    const fd = openSync(file, 'w');
    try {
        for (;;) writeSync(fd, Buffer.alloc(1 << 16));
    } catch {
        // There is no room for more.
    }
    closeSync(fd);
}

const startBody = (n, bytes) => ({
    code: 'kill_signal',
    input: { n, pad: 'x'.repeat(bytes) },
});

/** Start executions until `isEnough` of an answer that is no success, or a count. */
async function startMany(client, known, isEnough) {
    for (let n = 0; n < START_MAX; n++) {
        const answer = await client.ask('POST', '/api/v1/executions', startBody(n, 8000));
        if (answer.status === 201) known.push({ id: answer.body.id, n });
        if (isEnough(answer, known.length)) return answer;
    }
    throw new Error(`${START_MAX} starts, and still not enough`);
}

async function mustHave(client, known) {
    for (const { id, n } of known) {
        const answer = await client.ask('GET', `/api/v1/executions/${id}`);
        check(answer.status === 200, `${id} was acknowledged: ${JSON.stringify(answer)}`);
        check(answer.body.input.n === n && answer.body.status === 'waiting', `${id} is another`);
    }
}

machine('a full disk stops intake, loses nothing, and work goes on when space is back', async (c) => {
    const data = join(c.folder, 'small');
    mount(c, data, 'size=32m'); // what the ballast leaves is filled; what it takes is room for later
    const server = newServer(c, data);
    const known = [];
    await start(server);
    const client = server.client();
    check((await publish(client, 'kill_signal')).status === 200, 'publish');
    writeFileSync(join(data, 'ballast'), Buffer.alloc(24 << 20));
    const answer = await startMany(client, known, ({ status }) => status !== 201);
    check(answer.status === 503, `a full disk: ${JSON.stringify(answer)}`);
    check(/space/.test(answer.body.detail), `it says: ${answer.body.detail}`);
    check(known.length > 50, `only ${known.length} were taken`);
    await mustHave(client, known);
    const path = `/api/v1/executions/${known[0].id}/signal`;
    const signal = { type: 'go', id: 's1', payload: { n: 1 } };
    check((await client.ask('POST', path, signal)).status === 503, 'a signal needs space too');
    check((await client.ask('GET', '/healthz')).status === 200, 'it lives');
    rmSync(join(data, 'ballast'));
    await until('it takes signals again', async () => {
        return (await client.ask('POST', path, signal)).status === 202;
    });
    const before = known.length;
    await startMany(client, known, (one, count) => count >= before + 20);
    const woken = (await client.ask('GET', `/api/v1/executions/${known[0].id}`)).body;
    check(woken.context.signals.length === 1, 'the signal counts once');
    await server.kill();
    await start(server);
    await mustHave(server.client(), known);
    await server.stop();
    foldCheck(data);
});

machine('a disk that fills up and empties under load loses nothing', async (c) => {
    const data = join(c.folder, 'small');
    mount(c, data, 'size=128m'); // more than a fast machine writes until the end
    const server = newServer(c, data);
    const load = new Load(server, 'full');
    await start(server);
    await load.publishAll();
    for (let i = 0; i < 5; i++) {
        const before = load.refused;
        let isOver = false;
        const running = load.run(() => isOver);
        await isLoaded(load);
        fill(join(data, 'ballast'));
        await until('changes are refused', () => load.refused > before + 20 || !server.isRunning());
        rmSync(join(data, 'ballast'));
        const taken = load.acknowledged;
        await until('changes are taken', () => load.acknowledged > taken + 20 || !server.isRunning());
        isOver = true;
        await running;
        check(server.isRunning(), `it ended: ${server.code} ${server.log}`);
        await load.settle();
        check(load.problems.length === 0, load.problems.join('\n'));
    }
    await load.finish();
    check(load.problems.length === 0, load.problems.join('\n'));
    check((await server.stop()) === 0, 'it stops');
    foldCheck(data);
});

machine('a full disk at the start is said, and is no damage', async (c) => {
    const data = join(c.folder, 'small');
    mount(c, data, 'size=12m');
    const server = newServer(c, data);
    const known = [];
    await start(server);
    let client = server.client();
    check((await publish(client, 'kill_signal')).status === 200, 'publish');
    await startMany(client, known, (one, count) => count >= 50);
    await server.kill();
    fill(join(data, 'ballast'));
    if (await server.start()) {
        client = server.client();
        await mustHave(client, known);
        await server.kill();
    } else {
        check(server.code > 0 && /space/.test(server.log), `${server.code}: ${server.log}`);
    }
    rmSync(join(data, 'ballast'));
    await start(server);
    await mustHave(server.client(), known);
    await server.stop();
    foldCheck(data);
});

// --- the folder and its files ---

machine('a read-only folder is refused with a reason', async (c) => {
    const data = join(c.folder, 'data');
    mkdirSync(data);
    if (isRoot) {
        mount(c, data, 'size=1m,ro');
    } else {
        execFileSync('chmod', ['0500', data]);
    }
    await mustRefuse(newServer(c, data), /writable|read-only/i);
});

machine('a store that became read-only is refused with a reason', async (c) => {
    const data = join(c.folder, 'data');
    if (!isRoot) throw new Skip('a file system cannot be mounted here');
    mount(c, data, 'size=8m');
    const server = newServer(c, data);
    await start(server);
    check((await publish(server.client(), 'kill_signal')).status === 200, 'publish');
    check((await server.stop()) === 0, 'it stops');
    execFileSync('mount', ['-o', 'remount,ro', data]);
    await mustRefuse(server, /writable|read-only/i);
    execFileSync('mount', ['-o', 'remount,rw', data]);
    await start(server);
});

machine('a file where the folder should be is refused with a reason', async (c) => {
    const data = join(c.folder, 'data');
    writeFileSync(data, 'hello');
    await mustRefuse(newServer(c, data), /not a directory|folder/i);
});

async function makeStore(c) {
    const data = join(c.folder, 'data');
    const server = newServer(c, data);
    const known = [];
    await start(server);
    const client = server.client();
    check((await publish(client, 'kill_signal')).status === 200, 'publish');
    await startMany(client, known, (one, count) => count >= 100);
    check((await server.stop()) === 0, 'it stops');
    return { data, server, known };
}

machine('a file that is no database is refused with a reason, and left as it is', async (c) => {
    const data = join(c.folder, 'data');
    const text = 'this is not a database\n'.repeat(500);
    mkdirSync(data);
    writeFileSync(join(data, 'pawl.db'), text);
    await mustRefuse(newServer(c, data), /damaged|not a database/i);
    check(readFileSync(join(data, 'pawl.db'), 'utf8') === text, 'the file was changed');
});

machine('a database that was cut short is refused with a reason', async (c) => {
    const { data, server } = await makeStore(c);
    truncateSync(join(data, 'pawl.db'), 20000);
    await mustRefuse(server, /damaged/i);
});

machine('a database whose first page is damaged is refused with a reason', async (c) => {
    const { data, server } = await makeStore(c);
    const bytes = readFileSync(join(data, 'pawl.db'));
    bytes.fill(0x5a, 100, 3000);
    writeFileSync(join(data, 'pawl.db'), bytes);
    await mustRefuse(server, /damaged/i);
});

machine('a token file without a token is refused with a reason', async (c) => {
    const { data, server } = await makeStore(c);
    writeFileSync(join(data, 'admin.token'), '');
    await mustRefuse(server, /token/i);
});

machine('a second server on the folder is refused, and the first goes on', async (c) => {
    const { data, server, known } = await makeStore(c);
    const second = newServer(c, data);
    await start(server);
    await mustRefuse(second, /used by another server \(process \d+\)/);
    await mustHave(server.client(), known);
    await server.kill();
    await start(second);
    await mustHave(second.client(), known);
});

// --- the clock ---

const timer = (pause) => ({ code: 'kill_timer', input: { n: 1, pause } });

async function startTimer(client, pause) {
    const answer = await client.ask('POST', '/api/v1/executions', timer(pause));
    check(answer.status === 201, `start: ${JSON.stringify(answer)}`);
    return answer.body.id;
}

async function statusOf(client, id) {
    return (await client.ask('GET', `/api/v1/executions/${id}`)).body.status;
}

const completes = (client, id, what) =>
    until(what, async () => (await statusOf(client, id)) === 'completed');

class Clock {
    constructor(folder) {
        this.file = join(folder, 'clock');
        this.set(0);
    }

    set(seconds) {
        writeFileSync(this.file, `${seconds}\n`);
    }

    /** Wait until the server lives by it. */
    async setFor(client, seconds) {
        this.set(seconds);
        await until('the server sees its clock', async () => {
            const id = await startTimer(client, '1ms');
            const { createdAt } = (await client.ask('GET', `/api/v1/executions/${id}`)).body;
            return Math.abs(Date.parse(createdAt) - Date.now() - seconds * 1000) < 3600e3;
        });
    }
}

async function mustBeInOrder(client, id) {
    const { items } = (await client.ask('GET', `/api/v1/executions/${id}/steps`)).body;
    for (let i = 1; i < items.length; i++)
        check(
            microseconds(items[i].completedAt) >= microseconds(items[i - 1].completedAt),
            `${id}: a time goes back`,
        );
}

machine('a clock set forward by a day fires what it passes, and only that', async (c) => {
    const data = join(c.folder, 'data');
    const clock = new Clock(c.folder);
    const server = newServer(c, data);
    await start(server, { PAWL_CLOCK_FILE: clock.file });
    const client = server.client();
    for (const code of ['kill_timer', 'kill_signal'])
        check((await publish(client, code)).status === 200, 'publish');
    const hour = await startTimer(client, '1h');
    const week = await startTimer(client, '7d');
    const soon = await startTimer(client, '50ms');
    await completes(client, soon, 'a timer of 50 ms fires');
    check((await statusOf(client, hour)) === 'waiting', 'an hour has not passed');
    await clock.setFor(client, DAY_S);
    await completes(client, hour, 'a timer that the clock has passed fires');
    check((await statusOf(client, week)) === 'waiting', 'a week has not passed');
    await clock.setFor(client, 8 * DAY_S);
    await completes(client, week, 'the week has passed');
    for (const id of [hour, week, soon]) await mustBeInOrder(client, id);
    await server.stop();
    foldCheck(data);
});

machine('a clock set back by a day delays what was set before, and nothing else', async (c) => {
    const data = join(c.folder, 'data');
    const clock = new Clock(c.folder);
    const server = newServer(c, data);
    await start(server, { PAWL_CLOCK_FILE: clock.file });
    let client = server.client();
    for (const code of ['kill_timer', 'kill_signal'])
        check((await publish(client, code)).status === 200, 'publish');
    const before = await startTimer(client, '2h');
    const person = (await client.ask('POST', '/api/v1/executions', startBody(1, 10))).body.id;
    await clock.setFor(client, -DAY_S);
    const after = await startTimer(client, '50ms');
    await completes(client, after, 'a timer that was set after the clock fires');
    check((await statusOf(client, before)) === 'waiting', 'the older one waits for its time');
    // Times of an execution that saw the later clock do not go back; its signals are taken.
    const path = `/api/v1/executions/${person}/signal`;
    for (const id of ['s1', 's2'])
        check(
            (await client.ask('POST', path, { type: 'go', id, payload: { n: 1 } })).status === 202,
            'signal',
        );
    await completes(client, person, 'a signal counts whatever the clock says');
    await mustBeInOrder(client, person);
    // The same after a start on the earlier clock.
    await server.kill();
    await start(server, { PAWL_CLOCK_FILE: clock.file });
    client = server.client();
    const restarted = await startTimer(client, '50ms');
    await completes(client, restarted, 'a timer fires after a start on the earlier clock');
    check((await statusOf(client, before)) === 'waiting', 'the older one still waits');
    await clock.setFor(client, 3 * 3600);
    await completes(client, before, 'its time has come');
    for (const id of [before, after, restarted]) await mustBeInOrder(client, id);
    await server.stop();
    foldCheck(data);
});

// --- stopping ---

machine('SIGTERM under load ends with 0 and loses nothing', async (c) => {
    const data = join(c.folder, 'data');
    const server = newServer(c, data);
    const load = new Load(server, 'term');
    await start(server);
    await load.publishAll();
    for (let i = 0; i < 5; i++) {
        const running = load.run(() => false);
        await isLoaded(load);
        check((await server.stop()) === 0, `it ended with ${server.code ?? server.signal}`);
        await running;
        await start(server);
        await load.settle();
    }
    await load.finish();
    check(load.problems.length === 0, load.problems.join('\n'));
    await server.stop();
    foldCheck(data);
});

// --- PostgreSQL ---

let sharedPostgres = null; // one for all cases, since making one takes long

async function openPostgres(c) {
    const postgres = needPostgres((sharedPostgres ??= await Postgres.own()));
    c.later(() => postgres.isRunning() || postgres.resume());
    return postgres;
}

machine('PostgreSQL that restarts under load loses nothing, and service returns', async (c) => {
    const postgres = await openPostgres(c);
    const store = postgres.fresh();
    const server = newServer(c, join(c.folder, 'data'), store);
    const load = new Load(server, 'postgres');
    await start(server);
    await load.publishAll();
    for (let i = 0; i < 4; i++) {
        let isOver = false;
        const running = load.run(() => isOver);
        await isLoaded(load);
        postgres.stop();
        await sleep(i % 2 === 0 ? 0 : 1500);
        postgres.resume();
        await isLoaded(load);
        isOver = true;
        await running;
        const client = server.client();
        await until('service returns', async () => {
            const body = { code: 'kill_steps', input: { n: 1, pad: 'x' } };
            const answer = await client.ask('POST', '/api/v1/executions?wait=5s', body);
            return answer.status === 201;
        });
        await load.settle();
        check(server.isRunning(), `it ended: ${server.log}`);
        check(load.problems.length === 0, `restart ${i + 1}: ${load.problems.join('\n')}`);
    }
    await load.finish();
    check(load.problems.length === 0, load.problems.join('\n'));
    check((await server.stop()) === 0, 'it stops');
    foldCheck(store);
});

machine('PostgreSQL that hangs under load loses nothing, and service returns', async (c) => {
    const postgres = await openPostgres(c);
    const store = postgres.fresh();
    const server = newServer(c, join(c.folder, 'data'), store);
    const load = new Load(server, 'hang');
    await start(server);
    await load.publishAll();
    for (let i = 0; i < 2; i++) {
        let isOver = false;
        const running = load.run(() => isOver);
        await isLoaded(load);
        postgres.signalAll('SIGSTOP');
        const taken = load.acknowledged;
        await sleep(2000);
        postgres.signalAll('SIGCONT');
        await until('changes are taken', () => load.acknowledged > taken + 20);
        isOver = true;
        await running;
        await load.settle();
        check(load.problems.length === 0, load.problems.join('\n'));
    }
    await load.finish();
    check(load.problems.length === 0, load.problems.join('\n'));
    check((await server.stop()) === 0, 'it stops');
    foldCheck(store);
});

// A commit that was on its way when the server was killed may become true after the next start. It
// holds the row of its epoch until then, so the start can end that epoch only later. The trigger
// asks for its lock again and again: waiting for it would be cut by the lock_timeout of the session,
// which is shorter than a start that waits for that row.
machine('what PostgreSQL commits after the server was killed and started is taken up', async (c) => {
    const postgres = await openPostgres(c);
    const server = newServer(c, join(c.folder, 'data'), postgres.fresh());
    await start(server);
    check((await publish(server.client(), 'kill_timer')).status === 200, 'publish');
    const letGo = await postgres.hold(7);
    c.later(letGo);
    postgres.ask(
        `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
             WHILE NEW.business_key = ''slow'' AND NOT pg_try_advisory_xact_lock(7) LOOP
                 PERFORM pg_sleep(0.02);
             END LOOP;
             RETURN NULL;
         END';
         CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON execution DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION slow()`,
    );
    const body = { code: 'kill_timer', key: 'slow', input: { n: 1, pause: '20ms' } };
    const unanswered = server.client().ask('POST', '/api/v1/executions', body);
    await until('it is being committed', () =>
        /COMMIT/.test(postgres.ask("SELECT query FROM pg_stat_activity WHERE state = 'active'")),
    );
    await server.kill();
    check((await unanswered).status === 0, 'it was answered');
    await start(server);
    const client = server.client();
    const list = async () => (await client.ask('GET', '/api/v1/executions')).body.items;
    check((await list()).length === 0, 'it is there before its commit');
    await letGo();
    await until('it is there and ends', async () => (await list())[0]?.status === 'completed');
});

machine('a full data folder beside PostgreSQL is said', async (c) => {
    const data = join(c.folder, 'small');
    const postgres = await openPostgres(c);
    mount(c, data, 'size=64k');
    const server = newServer(c, data, postgres.fresh());
    await start(server);
    check((await server.stop()) === 0, 'it stops');
    rmSync(join(data, 'poison'));
    fill(join(data, 'ballast'));
    await mustRefuse(server, /space/);
    rmSync(join(data, 'ballast'));
    await start(server);
    check((await publish(server.client(), 'kill_steps')).status === 200, 'it works');
});

machine('a server whose PostgreSQL is away says so and does not start', async (c) => {
    const postgres = await openPostgres(c);
    const server = newServer(c, join(c.folder, 'data'), postgres.fresh());
    postgres.stop();
    await mustRefuse(server, /database|PostgreSQL|connect/i);
    postgres.resume();
    await start(server);
});

for (const one of cases) if (!only || one.name.includes(only)) await runCase(one);
end();
