// grow.mjs - how the cost of a step grows with what is around it.
import fs from 'node:fs';
import { FIFTY, FOUR, FOUR_START, HOLD, LARGE, LOOP } from './definitions.mjs';
import { OUT, ceiling, withServer } from './server.mjs';

const STEPS = 4;

/**
 * What a part answers: a chart of `series` over `x`. A point is {x, series name: value}.
 */
function chart(name, title, x, unit, points) {
    const series = Object.keys(points[0]).filter(k => k !== 'x');
    return { name, title, x, unit, series, points };
}

export function write({ name, x, series, points }) {
    const rows = points.map(p => [p.x, ...series.map(s => p[s] ?? '')].join(','));
    fs.writeFileSync(`${OUT}/kernel-${name}.csv`,
        [[x, ...series].join(','), ...rows, ''].join('\n'));
}

function print(c) {
    const cell = v => (v === undefined ? '' : v >= 100 ? v.toFixed(0) : v.toPrecision(3));
    console.log(`  ${c.title}, ${c.unit}`);
    console.log(`  ${c.x.padStart(20)} ${c.series.map(s => s.padStart(18)).join(' ')}`);
    for (const p of c.points)
        console.log(`  ${String(p.x).padStart(20)} ` +
                    c.series.map(s => cell(p[s]).padStart(18)).join(' '));
    return c;
}

/** Connections are what fills a batch: each has one execution under way. */
export const batch = () => withServer(async server => {
    const points = [];
    await server.publish(FOUR);
    await server.load({ ...FOUR_START, connections: 64, seconds: 1 });
    for (let n = 1; n <= 1024; n *= 2) {
        const r = await server.loadWithCpu({ ...FOUR_START, connections: n, seconds: 1 });
        const alone = await ceiling(server.folder, n, 300);
        points.push({ x: n, 'wall time': 1e6 / r.perSecond / STEPS, 'server CPU': r.cpuUs / STEPS,
            'SQLite alone': 1e6 / alone / STEPS });
    }
    return print(chart('batch', 'Executions at once', 'connections', 'µs a step', points));
});

/** Steps of one execution: rounds of a loop, 64 steps or less to a turn and a commit. */
export const history = () => withServer(async server => {
    const points = [];
    await server.publish(LOOP);
    for (const n of [10, 10, 30, 100, 300, 1000, 3000, 10000]) {
        const r = await server.loadWithCpu({ path: '/api/v1/executions?wait=60s',
            body: JSON.stringify({ code: LOOP.code, input: { rounds: n } }),
            connections: 1, count: Math.max(1, Math.min(100, Math.floor(20000 / n))) });
        points.push({ x: n, 'wall time': 1e6 / r.perSecond / n, 'server CPU': r.cpuUs / n });
    }
    points.shift(); /* the first one finds everything cold */
    return print(chart('history', 'Steps of one execution', 'steps', 'µs a step', points));
});

/**
 * Signals that nobody takes are part of the context, which may have 1 MiB: that is where this
 * ends. The row that holds the context grows with them.
 */
export const signals = () => withServer(async server => {
    const points = [];
    const lines = `${server.folder}/lines`;
    fs.writeFileSync(lines, Array.from({ length: 8000 }, (_, i) => `${i}\n`).join(''));
    await server.publish(HOLD);
    for (const n of [10, 10, 30, 100, 300, 1000, 3000, 8000]) {
        const { id } = await server.call('POST', '/executions', { code: HOLD.code });
        const r = await server.loadWithCpu({ path: `/api/v1/executions/${id}/signal`,
            body: '{"type":"x","id":"@LINE@"}', lines, connections: 16, count: n });
        points.push({ x: n, 'wall time': 1e6 / r.perSecond, 'server CPU': r.cpuUs });
    }
    points.shift();
    return print(chart('signals', 'Signals kept by one execution', 'signals', 'µs a signal', points));
});

/** One step makes a context of that size; whoever waits gets all of it. */
export const context = report => withServer(async server => {
    const LIMIT = 1 << 20; /* of a context, which holds the input, its output and some names */
    const points = [];
    const file = `${server.folder}/body`;
    await server.publish(LARGE);
    for (let kb = 1; kb <= 1024; kb *= 2) {
        const bytes = Math.min(kb * 1024, LIMIT - 2048);
        const text = 'x'.repeat(Math.floor(bytes / 17));
        fs.writeFileSync(file, JSON.stringify({ code: LARGE.code, input: { text } }));
        const first = JSON.parse((await server.ask('POST', '/api/v1/executions?wait=60s',
            JSON.parse(fs.readFileSync(file, 'utf8')))).text);
        if (first.status !== 'completed') throw new Error(`${kb} KB: ${first.status}`);
        const r = await server.loadWithCpu({ path: '/api/v1/executions?wait=60s',
            'body-file': file, connections: 8, count: Math.min(1000, Math.ceil(65536 / kb)) });
        points.push({ x: kb, 'wall time': 1e6 / r.perSecond / kb, 'server CPU': r.cpuUs / kb });
    }
    report.number('context of 1 MB: CPU of the server for each KB', points.at(-1)['server CPU'],
        'µs');
    return print(chart('context', 'Size of the context', 'KB', 'µs a KB', points));
});

/**
 * Fifty steps of one execution whose context grows to 900 KB; several executions at once, a signal
 * for each two steps. Were the whole context written with each commit, the last steps would cost
 * ten times what the first do.
 */
export const context50 = report => withServer(async server => {
    const AT_ONCE = 16, ROUNDS = 5, KB = 900;
    const text = 'x'.repeat(Math.floor(KB * 1024 / 26)); /* the input, and 25 outputs */
    const lines = `${server.folder}/lines`;
    const points = [];
    await server.publish(FIFTY);
    const start = async () => (await server.call('POST', '/executions',
        { code: FIFTY.code, input: { text } })).id;
    const ids = [];
    for (let i = 0; i < AT_ONCE; i++) ids.push(await start());
    fs.writeFileSync(lines, ids.map(id => `${id}\n`).join(''));
    const round = () => server.load({ path: '/api/v1/executions/@LINE@/signal',
        body: '{"type":"go"}', lines, connections: AT_ONCE, count: AT_ONCE });
    for (let done = 0; done < FIFTY.steps.length;) {
        const cpu = server.cpuUs(), written = server.writtenKb();
        for (let i = 0; i < ROUNDS; i++) await round();
        done += 2 * ROUNDS;
        const steps = 2 * ROUNDS * AT_ONCE;
        points.push({ x: done, 'server CPU': (server.cpuUs() - cpu) / steps,
            'KB written': (server.writtenKb() - written) / steps });
    }
    const ended = await server.list(`code=${FIFTY.code}&status=completed`);
    if (ended.length !== AT_ONCE) throw new Error(`${ended.length} of ${AT_ONCE} have ended`);
    const first = points[0], last = points.at(-1);
    report.number('50 steps, 900 KB: CPU of the last ten over the first ten',
        last['server CPU'] / first['server CPU'], 'times');
    report.number('the same: KB written a step, each of which adds 17 KB to the context',
        points.reduce((sum, p) => sum + p['KB written'], 0) / points.length, 'KB');
    return print(chart('context50', 'Steps done, with up to 900 KB', 'steps', 'µs, KB a step', points));
});

/** What the next executions cost when so many are stored. */
export const stored = report => withServer(async server => {
    const most = report.full ? 1000000 : 30000;
    const points = [];
    let have = 0;
    await server.publish(FOUR);
    for (const n of [1000, 3000, 10000, 30000, 100000, 300000, 1000000]) {
        if (n > most) break;
        const measured = Math.min(Math.floor((n - have) / 2), 20000);
        const fill = { ...FOUR_START, connections: 64 };
        await server.load({ ...fill, count: n - have - measured });
        const r = await server.loadWithCpu({ ...fill, count: measured });
        points.push({ x: n, 'wall time': 1e6 / r.perSecond / STEPS,
            'server CPU': r.cpuUs / STEPS });
        have = n;
    }
    return print(chart('stored', 'Stored executions', 'executions', 'µs a step', points));
});
