// limits.mjs - what one execution, one function or one query may cost the others.
import { execFileSync } from 'node:child_process';
import { FOUR, FOUR_START } from './definitions.mjs';
import { Server, makeFolder, removeFolder, sleep, withServer } from './server.mjs';

const QUERY = {
    code: 'bench_query',
    steps: [{ code: 'find', procedure: { type: 'record.query', object: 'thing',
        where: 'record.amount == -1', limit: 10, result: { n: '$.response.count' } } }],
};
const ORG = '00000000-0000-7000-8000-000000000001';

/** Records as the API would have written them, put into the file of a server that has stopped. */
function fillRecords(folder, count) {
    execFileSync('sqlite3', [`${folder}/pawl.db`,
        `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${count})
         INSERT INTO records (org_id, object, id, version, data, created_at, updated_at)
         SELECT '${ORG}', 'thing', 'T-' || i, 1, '{"amount":' || i || ',"name":"thing ' || i || '"}',
                1700000000000000, 1700000000000000 FROM c`]);
}

/** A query that looks at a million records, over and over, beside 64 connections under full load. */
export async function query(report) {
    const COUNT = Number(process.env.RECORDS ?? 1000000);
    const folder = makeFolder();
    let server = await Server.start(folder);
    try {
        await server.publish(FOUR);
        await server.publish(QUERY);
        await server.stop();
        fillRecords(folder, COUNT);
        server = await Server.start(folder);
        const full = { ...FOUR_START, connections: 64, seconds: 5, 'warm-up-ms': 500 };
        const before = await server.load(full), times = [];
        let isLoaded = true, ended;
        const queries = (async () => {
            while (isLoaded) {
                const began = performance.now();
                ended = await server.call('POST', '/executions?wait=120s', { code: QUERY.code });
                times.push(performance.now() - began);
            }
        })();
        const during = await server.load(full);
        isLoaded = false;
        await queries;
        report.number(`${COUNT.toLocaleString('en-US')} records, no query: p99`, before.p99Ms, 'ms');
        report.number('beside a record.query over all of them: p99', during.p99Ms, 'ms');
        report.number('the same, times as long', during.p99Ms / before.p99Ms, '', ['<=', 2]);
        report.number('executions a second without, and beside it', during.perSecond / before.perSecond, '');
        report.number(`queries, each ${ended.status}, on average`, times.reduce((a, b) => a + b, 0) / times.length, 'ms');
        report.number('RSS', server.rssMb(), 'MB');
    } finally {
        await server.stop('SIGKILL');
        removeFolder(folder);
    }
}

/** RSS after a tenth of them and after all, once SQLite's cache of pages is full. */
async function flat(report, what, count, server, some) {
    await server.publish(FOUR);
    await server.load({ ...FOUR_START, connections: 64, count: 40000 });
    await some(count / 10);
    await sleep(500);
    const first = server.rssMb();
    await some(count - count / 10);
    await sleep(500);
    report.number(`${what}: RSS after a tenth`, first, 'MB');
    report.number(`${what}: RSS after all, more than that`, server.rssMb() - first, 'MB', ['<=', 10]);
}

/** An execution that takes each signal and waits for the next. */
export const flatSignals = report => withServer(async server => {
    const COUNT = Number(process.env.SIGNALS ?? 200000);
    const round = { code: 'hear', procedure: { type: 'wait.signal', signalType: 'go' } };
    /* A loop has an end: so many rounds of so many. */
    const rounds = { code: 'rounds', loop: { while: '$.loop.index < 5000', max: 10000, steps: [round] } };
    const again = { code: 'again', loop: { while: 'true', max: 1000, steps: [rounds] } };
    const started = await (async () => {
        await server.publish({ code: 'bench_listen', steps: [again] });
        return server.call('POST', '/executions', { code: 'bench_listen' });
    })();
    const path = `/api/v1/executions/${started.id}/signal`;
    await flat(report, `${COUNT.toLocaleString('en-US')} signals to one execution`, COUNT, server,
        count => server.load({ path, body: JSON.stringify({ type: 'go' }), connections: 16, count }));
    const { status } = await server.call('GET', `/executions/${started.id}`);
    report.note(`the execution is ${status}`);
});

/** A function that a program in use calls, published again and again. */
export const flatPublishes = report => withServer(async server => {
    const COUNT = Number(process.env.PUBLISHES ?? 2000);
    const call = { code: 'call', procedure: { type: 'compute.transform', data: { n: '=fn.bench_add(1)' } } };
    let n = 0;
    const publish = () => server.call('PUT', '/functions/bench_add',
        { params: [{ name: 'x', type: 'integer' }], body: `x + ${++n}` });
    await publish();
    await server.publish({ code: 'bench_calls', steps: [call] });
    await flat(report, `${COUNT.toLocaleString('en-US')} publishes of a function`, COUNT, server, async count => {
        for (let i = 0; i < count; i++) {
            await publish();
            if (i % 10 === 0) await server.call('POST', '/executions?wait=10s', { code: 'bench_calls' });
        }
    });
});
