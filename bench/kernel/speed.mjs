// speed.mjs - the parts that are held against a goal.
import fs from 'node:fs';
import { FOUR, FOUR_START, HOLD, HOLD_START, SIGNAL, SLEEP } from './definitions.mjs';
import { Server, ceiling, makeFolder, removeFolder, sleep, strippedMb, withServer }
    from './server.mjs';

const ROUNDS = 3;

function percentile(numbers, part) {
    const sorted = [...numbers].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

const median = numbers => percentile(numbers, 0.5);
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

function linesFile(folder, lines) {
    const name = `${folder}/lines`;
    fs.writeFileSync(name, `${lines.join('\n')}\n`);
    return name;
}

/** Four steps on 64 connections, and SQLite alone: in turns, so that noise meets both. */
export const speed = report => withServer(async server => {
    await server.publish(FOUR);
    await server.load({ ...FOUR_START, connections: 64, seconds: 1 });
    const real = [], alone = [], best = [];
    for (let i = 0; i < ROUNDS; i++) {
        alone.push(await ceiling(server.folder, 64, 1000));
        real.push(await server.loadWithCpu({ ...FOUR_START, connections: 64, seconds: 3 }));
        best.push(await ceiling(server.folder, 1024, 1000));
    }
    const rates = real.map(r => r.perSecond);
    const ratios = real.map((r, i) => r.perSecond / alone[i]);
    report.number('SQLite alone, 64 executions a transaction (median of 3)', median(alone), '/s');
    report.number('SQLite alone, 1,024 executions a transaction (median of 3)', median(best), '/s');
    report.number('executions of 4 steps, 64 connections, ?wait (median of 3)', median(rates), '/s',
        ['>=', 10000]);
    report.number('the same, best of 3', Math.max(...rates), '/s', ['>=', 10000]);
    report.number('of SQLite alone with 64 (median of 3)', median(ratios), '', ['>=', 0.5]);
    for (const p of ['p50Ms', 'p95Ms', 'p99Ms'])
        report.number(`answer, ${p.slice(0, 3)}`, median(real.map(r => r[p])), 'ms');
    report.number('CPU of the server for each execution', median(real.map(r => r.cpuUs)) / 1000,
        'ms', ['<=', 0.12]);
});

export const oneAtATime = report => withServer(async server => {
    await server.publish(FOUR);
    const r = await server.loadWithCpu({ ...FOUR_START, connections: 1, seconds: 3 });
    report.number('one at a time, p50', r.p50Ms, 'ms', ['<=', 2]);
    report.number('one at a time, p99', r.p99Ms, 'ms');
    report.number('one at a time, CPU of the server', r.cpuUs / 1000, 'ms');
});

async function startWaiting(server, count, connections) {
    const ids = `${server.folder}/ids`;
    const r = await server.load({ ...HOLD_START, connections, count, save: ids });
    return { ids, seconds: r.seconds, perSecond: r.perSecond };
}

export const signals = report => withServer(async server => {
    await server.publish(HOLD);
    for (const connections of [1, 16, 64]) {
        const { ids } = await startWaiting(server, 2000, 64);
        const r = await server.load({ ...SIGNAL, lines: ids, connections,
            count: connections === 1 ? 500 : 2000 });
        report.number(`signal to completion, 2,000 waiting, ${connections} at once, p99`, r.p99Ms,
            'ms', ['<=', 20]);
    }
});

/**
 * How late timers fire. The history says when the server fired them; some that are waited for
 * with ?wait say when the answer, which is durable, was here.
 */
export const timers = report => withServer(async server => {
    const COUNT = 100000, WATCHED = 500, SPREAD_MS = 20000;
    const body = { code: SLEEP.code, input: { due: '@LINE@' } };
    await server.publish(SLEEP);
    const dueMs = i => first + (i / COUNT) * SPREAD_MS;
    const isoAt = ms => new Date(ms).toISOString();
    let first = Date.now() + 3600000; /* not yet: how long does starting take here? */
    const trial = await server.load({ path: '/api/v1/executions', body: JSON.stringify(body),
        lines: linesFile(server.folder, Array.from({ length: 5000 }, (_, i) => isoAt(dueMs(i)))),
        count: 5000, connections: 64 });
    first = Date.now() + Math.max(5000, (COUNT / trial.perSecond) * 2500 + 3000);
    const answers = Promise.all(Array.from({ length: WATCHED }, async (_, i) => {
        const at = first + ((i + 0.5) / WATCHED) * SPREAD_MS;
        await server.call('POST', '/executions?wait=300s',
            { code: SLEEP.code, input: { due: isoAt(at) } });
        return Date.now() - Math.floor(at);
    }));
    const due = Array.from({ length: COUNT }, (_, i) => isoAt(dueMs(i)));
    const started = await server.load({ path: '/api/v1/executions', body: JSON.stringify(body),
        lines: linesFile(server.folder, due), count: COUNT, connections: 64 });
    report.number('100,000 sleeping: started', started.perSecond, '/s');
    if (Date.now() > first) report.note('the first were due before the last were started');
    const watched = await answers;
    await sleep(1000);
    const ended = await server.list(`code=${SLEEP.code}&status=completed`);
    const late = ended.map(x => Date.parse(x.completedAt) - Date.parse(x.result.due));
    if (late.length < COUNT) report.note(`only ${late.length} have fired`);
    report.number('timers, 100,000 sleeping, 5,000 due a second: fired late, p50',
        percentile(late, 0.5), 'ms');
    report.number('the same, p99', percentile(late, 0.99), 'ms', ['<=', 50]);
    report.number('the same, until a client has the durable answer, p99', percentile(watched, 0.99),
        'ms', ['<=', 50]);
    report.number('RSS afterwards', server.rssMb(), 'MB');
});

/** 10,000 requests that wait for an end, while others start and are answered. */
export const suspended = report => withServer(async server => {
    const COUNT = 10000;
    await server.publish(FOUR);
    await server.publish(HOLD);
    const full = { ...FOUR_START, connections: 64, seconds: 4, 'warm-up-ms': 500 };
    const before = await server.loadWithCpu(full);
    report.number('nobody waits: executions', before.perSecond, '/s');
    report.number('nobody waits: p99', before.p99Ms, 'ms');
    report.number('nobody waits: CPU for each', before.cpuUs / 1000, 'ms');
    const rss = server.rssMb();
    const waiting = server.load({ path: '/api/v1/executions?wait=300s', body: HOLD_START.body,
        connections: COUNT, count: COUNT });
    let ids = [];
    while (ids.length < COUNT) {
        await sleep(500);
        ids = (await server.list(`code=${HOLD.code}&status=waiting`)).map(x => x.id);
    }
    report.number('10,000 suspended ?wait: RSS', server.rssMb(), 'MB');
    report.number('10,000 suspended ?wait: RSS for each', ((server.rssMb() - rss) * 1024) / COUNT,
        'KB');
    const during = await server.loadWithCpu(full);
    report.number('10,000 suspended: executions beside them', during.perSecond, '/s');
    report.number('10,000 suspended: p99 of those', during.p99Ms, 'ms');
    report.number('10,000 suspended: CPU for each', during.cpuUs / 1000, 'ms');
    const beside = server.load({ ...full, seconds: 5 });
    const r = await server.load({ ...SIGNAL, lines: linesFile(server.folder, ids), connections: 16,
        count: COUNT });
    report.number('the 10,000 signalled under load: signal to completion, p99', r.p99Ms, 'ms');
    const all = await waiting;
    report.number('of them answered', all.answered, '');
    await beside;
    report.number('10,000 suspended ?wait, under load: RSS', server.rssMb(), 'MB');
    await sleep(500);
    report.number('... when nothing is to be done', server.rssMb(), 'MB');
});

export async function idle(report) {
    const readies = [];
    for (let i = 0; i < 5; i++) await withServer(async s => { readies.push(s.readyMs); });
    report.number('from exec to ready, empty folder (median of 5)', median(readies), 'ms',
        ['<=', 100]);
    await withServer(async server => {
        await sleep(500);
        const before = server.cpuUs();
        await sleep(5000);
        report.number('idle: RSS', server.rssMb(), 'MB', ['<=', 15]);
        report.number('idle: CPU in 5 s', (server.cpuUs() - before) / 1000, 'ms', ['<=', 5]);
    });
    report.number('binary without symbols', strippedMb(), 'MB', ['<=', 5]);
}

/** Signal 200 random ones, which leave `ids`. */
async function signalSome(report, server, ids, what) {
    const some = Array.from({ length: 200 },
        () => ids.splice(Math.floor(Math.random() * ids.length), 1)[0]);
    const r = await server.load({ ...SIGNAL, lines: linesFile(server.folder, some),
        connections: 1, count: some.length });
    report.number(`signal to completion of a random one, ${what}, p50`, r.p50Ms, 'ms');
    report.number(`signal to completion of a random one, ${what}, p99`, r.p99Ms, 'ms');
}

/** A million that wait, started through the API. */
export async function million(report) {
    const COUNT = Number(process.env.MILLION ?? 1000000);
    const folder = makeFolder();
    let server = await Server.start(folder);
    try {
        await server.publish(HOLD);
        await server.publish(FOUR);
        const { ids: file, perSecond } = await startWaiting(server, COUNT, 256);
        const ids = fs.readFileSync(file, 'utf8').trim().split('\n');
        report.number(`${ids.length.toLocaleString('en-US')} waiting, started through the API`,
            perSecond, '/s');
        report.number('RSS when all are started', server.rssMb(), 'MB', ['<=', 300]);
        for (const [how, signal] of [['after SIGTERM', 'SIGTERM'], ['after SIGKILL', 'SIGKILL']]) {
            const began = nowMs();
            await server.stop(signal);
            if (signal === 'SIGTERM') report.number('stopped in', nowMs() - began, 'ms');
            server = await Server.start(folder);
            report.number(`from exec to ready ${how}`, server.readyMs, 'ms', ['<=', 2000]);
            await sleep(2000);
            report.number('RSS 2 s later', server.rssMb(), 'MB', ['<=', 300]);
            await signalSome(report, server, ids, how);
            const r = await server.loadWithCpu({ ...FOUR_START, connections: 64, seconds: 4 });
            report.number('executions of 4 steps beside them', r.perSecond, '/s');
            report.number('RSS afterwards', server.rssMb(), 'MB', ['<=', 300]);
        }
        report.number('pawl.db', fs.statSync(`${folder}/pawl.db`).size / 1e6, 'MB');
    } finally {
        await server.stop('SIGKILL');
        removeFolder(folder);
    }
}
