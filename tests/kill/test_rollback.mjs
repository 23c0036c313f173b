// test_rollback.mjs - the server dies at every point of its work while executions roll back and
// while they pause between attempts, on both stores: what was recorded is not done again, the
// order stays the reverse of completion, and keys stay what they were.
//
// ROLLBACK_ONLY=writer.committed runs one point.
import { join } from 'node:path';

import { share } from '../lib/budget.mjs';
import { end, holds } from '../lib/claims.mjs';
import { forAll } from '../lib/client.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { foldMistakes } from './fold.mjs';

const LINES = 70; // more than one turn undoes, and more than one page of history
const AT_ONCE = 4;
const isShaky = (line) => line % 30 === 7; // its rollback fails twice
const only = process.env.ROLLBACK_ONLY;

// Points that are passed while executions run, and at which time to die there.
const POINTS = [
    ['node.before_advance', 26],
    ['node.after_advance', 9],
    ['node.need_reads', 30],
    ['node.before_submit', 9],
    ['node.after_submit', 5],
    ['node.batch_done', 8],
    ['node.after_answers', 1],
    ['node.timer_fired', 3],
    ['node.timer_fired', 14],
    ['writer.begun', 8],
    ['writer.member', 26],
    ['writer.before_commit', 6],
    ['writer.committed', 3],
    ['writer.committed', 10],
].filter(([point]) => !only || point === only);

const pauses = { delay: '20ms', backoff: 1, jitter: 'none' };
const down = (when) => ({ type: 'compute.fail', when, code: 'down', message: 'not yet', class: 'transient' });

const definition = {
    code: 'kill_undo',
    steps: [
        {
            code: 'lines',
            loop: {
                for: '$.input.lines',
                as: 'line',
                steps: [
                    {
                        code: 'reserve',
                        retry: pauses,
                        procedure: {
                            type: 'record.create',
                            object: 'undo_stock',
                            id: '{{ execution.id }}-{{ loop.line }}',
                            data: { undone: 0 },
                        },
                        rollback: {
                            retry: pauses,
                            procedure: [
                                down('$.loop.line % 30 == 7 && execution.attempt < 3'),
                                { type: 'record.get', object: 'undo_stock', id: '$.steps.reserve.id', as: 'r' },
                                {
                                    type: 'record.update',
                                    object: 'undo_stock',
                                    id: '$.steps.reserve.id',
                                    data: { line: '$.loop.line', undone: '=$.r.undone + 1' },
                                },
                            ],
                        },
                    },
                ],
            },
        },
        { code: 'go', procedure: { type: 'wait.signal', signalType: 'go' } },
        {
            code: 'pay',
            retry: { ...pauses, maxAttempts: 4 },
            procedure: [
                down('execution.attempt < 4'),
                { type: 'record.create', object: 'undo_payment', id: '$.execution.id', data: {} },
            ],
            rollback: { type: 'record.delete', object: 'undo_payment', id: '$.execution.id' },
        },
        { code: 'refuse', procedure: { type: 'compute.fail', code: 'refused', message: 'no' } },
    ],
};
const input = { lines: Array.from({ length: LINES }, (_, i) => i) };

/** All that must stand in the history from the signal on: [step, kind, visit, attempt, status, key]. */
const wanted = (() => {
    const rows = [['go', 'forward', 1, 1, 'completed', 'go']];
    for (let attempt = 1; attempt <= 4; attempt++)
        rows.push(['pay', 'forward', 1, attempt, attempt < 4 ? 'failed' : 'completed', 'pay']);
    rows.push(['refuse', 'forward', 1, 1, 'failed', 'refuse']);
    rows.push(['pay', 'rollback', 1, 1, 'compensated', 'pay-rollback']);
    for (let visit = LINES; visit >= 1; visit--) {
        const key = visit === 1 ? 'reserve-rollback' : `reserve-${visit}-rollback`;
        const attempts = isShaky(visit - 1) ? 3 : 1;
        for (let attempt = 1; attempt <= attempts; attempt++)
            rows.push(['reserve', 'rollback', visit, attempt, attempt < attempts ? 'failed' : 'compensated', key]);
    }
    return rows.map((row) => row.join(' '));
})();

async function publish(client) {
    const path = `/api/v1/scenarios/${definition.code}`;
    const draft = await client.ask('PUT', `${path}/draft`, definition);
    if (!draft.body.valid) throw new Error(JSON.stringify(draft.body.errors));
    await client.ask('POST', `${path}/publish`, {});
}

async function startAll(server) {
    const ids = [];
    await forAll(server, [...Array(AT_ONCE).keys()], async (client) => {
        const answer = await client.ask('POST', '/api/v1/executions', { code: definition.code, input });
        if (answer.status !== 201) throw new Error(JSON.stringify(answer));
        ids.push(answer.body.id);
    });
    await forAll(server, ids, (client, id) =>
        until('it waits', async () => {
            const { body } = await client.ask('GET', `/api/v1/executions/${id}`);
            return body.status === 'waiting' ? body : null;
        }),
    );
    if (ids.length !== AT_ONCE) throw new Error('not all were started');
    return ids;
}

/** The same signal as often as it takes; the server may die of it. */
const signalAll = (server, ids) =>
    forAll(server, ids, (client, id) =>
        client.ask('POST', `/api/v1/executions/${id}/signal`, { type: 'go', id: 'go' }),
    );

async function allRows(client, id) {
    const rows = [];
    let cursor = '';
    do {
        const { body } = await client.ask('GET', `/api/v1/executions/${id}/steps?limit=500${cursor}`);
        rows.push(...body.items);
        cursor = body.nextCursor ? `&cursor=${encodeURIComponent(body.nextCursor)}` : '';
    } while (cursor);
    return rows;
}

/** What is wrong with an execution that has ended, or null. */
async function verify(client, id) {
    const x = await until('it ends', async () => {
        const { body } = await client.ask('GET', `/api/v1/executions/${id}`);
        return body.status === 'failed' ? body : null;
    });
    const rows = await allRows(client, id);
    const from = rows.findIndex((row) => row.step === 'go');
    const are = rows.slice(from).map(({ step, kind, visit, attempt, status, idempotencyKey }) =>
        [step, kind, visit, attempt, status, idempotencyKey.slice(id.length + 1)].join(' '),
    );
    const at = wanted.findIndex((row, i) => row !== are[i]);
    if (at >= 0) return `row ${at} is '${are[at]}', not '${wanted[at]}'`;
    if (are.length !== wanted.length) return `${are.length} rows, not ${wanted.length}`;
    const undone = rows.filter((row) => row.step === 'reserve' && row.status === 'compensated');
    const wrong = undone.find((row) => row.output.undone !== 1 || row.output.line !== row.visit - 1);
    if (wrong) return `visit ${wrong.visit} was undone as ${JSON.stringify(wrong.output)}`;
    const { compensated, failed: stuck } = x.error.compensation;
    if (compensated.length !== LINES + 1 || stuck.length !== 0) return JSON.stringify(x.error);
    const payment = await client.ask('GET', `/api/v1/records/undo_payment/${id}`);
    if (payment.status !== 404) return `the payment is still there: ${payment.status}`;
    const stock = await client.ask('GET', `/api/v1/records/undo_stock/${id}-0`);
    return stock.body.version === 2 ? null : `the record is ${JSON.stringify(stock.body)}`;
}

/** Let the server die at a point in the middle of it, and look at what comes of all. */
async function dieAt(server, ids, point, pass) {
    await server.kill();
    if (await server.start({ PAWL_CRASH_AT: `${point}:${pass}` })) await signalAll(server, ids);
    await until(`${point} is passed ${pass} times`, () => !server.isRunning()).catch(() => null);
    if (server.isRunning()) return `it was not passed ${pass} times`;
    if (server.signal !== 'SIGKILL') return `it ended with ${server.code}: ${server.log}`;
    if (!(await server.start())) return `it does not start: ${server.log}`;
    await signalAll(server, ids);
    const problems = [];
    await forAll(server, ids, async (client, id) => {
        const problem = await verify(client, id);
        if (problem) problems.push(`${id}: ${problem}`);
    });
    return problems[0] ?? null;
}

async function campaign(name, store, points) {
    const server = new Server(makeFolder(), { store, program: checkProgram });
    const began = Date.now();
    await server.start();
    const client = server.client();
    await publish(client);
    client.close();
    for (const [point, pass] of points) {
        const ids = await startAll(server);
        const problem = await dieAt(server, ids, point, pass);
        holds(!problem, `${name}: ${point}, pass ${pass}: ${problem}`);
        if (!server.isRunning()) await server.start();
    }
    await server.stop();
    const mistakes = foldMistakes(store ?? server.data);
    holds(mistakes === '', `${name}: every history gives its state: ${mistakes}`);
    console.log(`${name}: ${points.length} deaths in the middle, ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

await onStores((name, store) => campaign(name, store, only ? POINTS : share('rollback.points', POINTS)));
end();
