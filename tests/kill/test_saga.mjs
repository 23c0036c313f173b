// Sagas, loops, retries and children while the server is killed, on both stores: whatever was done
// is undone once, in the reverse order, and every execution ends as it would have without a kill.
import { join } from 'node:path';

import { end, holds } from '../lib/claims.mjs';
import { forAll } from '../lib/client.mjs';
import { checkProgram, makeFolder } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';
import { foldMistakes } from './fold.mjs';

const COUNT = 60;
const KILLS = 4;

const told = (what, ok, found) => holds(ok, `${what}: ${JSON.stringify(found)}`);

// Undoing adds one to `undone`: what is undone twice shows.
const undo = (object, id) => ({
    procedure: 'undo',
    input: { object, id },
});

const order = {
    code: 'saga_order',
    settings: { retryPolicy: { maxAttempts: 3, delay: '40ms', jitter: 'none' } },
    input: [{ name: 'n', type: 'integer', required: true }],
    procedures: {
        undo: {
            commands: [
                { type: 'record.get', object: '$.input.object', id: '$.input.id', as: 'r' },
                {
                    type: 'record.update',
                    object: '$.input.object',
                    id: '$.input.id',
                    data: { undone: '=$.r.undone + 1' },
                },
            ],
        },
    },
    steps: [
        {
            code: 'pay',
            procedure: {
                type: 'record.create',
                object: 'payment',
                id: '$.execution.id',
                data: { undone: 0 },
            },
            rollback: undo('payment', '$.steps.pay.id'),
        },
        {
            code: 'lines',
            loop: {
                for: ['x', 'y', 'z'],
                as: 'line',
                collect: '$.loop.line',
                steps: [
                    {
                        code: 'reserve',
                        procedure: {
                            type: 'record.create',
                            object: 'stock',
                            id: '{{ $.execution.id }}-{{ $.loop.line }}',
                            data: { undone: 0 },
                        },
                        rollback: undo('stock', '$.steps.reserve.id'),
                    },
                    { code: 'pause', procedure: { type: 'wait.timer', duration: '30ms' } },
                ],
            },
        },
        {
            code: 'shaky',
            procedure: [
                {
                    type: 'compute.fail',
                    when: 'execution.attempt < 3',
                    code: 'down',
                    message: 'not yet',
                    class: 'transient',
                },
                { type: 'log', message: 'up' },
            ],
        },
        {
            code: 'check',
            branch: [
                {
                    when: '$.input.n % 2 == 0',
                    steps: [
                        {
                            code: 'refuse',
                            procedure: { type: 'compute.fail', code: 'refused', message: 'no' },
                        },
                    ],
                },
            ],
        },
    ],
    result: '$.steps.lines.items',
};

const parent = {
    code: 'saga_parent',
    input: [{ name: 'n', type: 'integer', required: true }],
    steps: [
        {
            code: 'child',
            onError: 'continue',
            procedure: { type: 'flow.start', code: 'saga_order', input: { n: '$.input.n' }, wait: true },
        },
        {
            code: 'tell',
            procedure: {
                type: 'compute.transform',
                data: "=$.steps.child.success ? 'ok' : $.steps.child.error.code",
            },
        },
    ],
};

async function publish(client, definition) {
    const path = `/api/v1/scenarios/${definition.code}`;
    const draft = await client.ask('PUT', `${path}/draft`, definition);
    if (!draft.body.valid) throw new Error(JSON.stringify(draft.body.errors));
    await client.ask('POST', `${path}/publish`, {});
}

/** Until it is answered, whoever was killed meanwhile. */
async function start(server, code, n) {
    return until('a start is answered', async () => {
        if (!server.isRunning()) return null;
        const client = server.client();
        const answer = await client.ask('POST', '/api/v1/executions', { code, input: { n } },
            { 'idempotency-key': `${code}-${n}` });
        client.close();
        return answer.status === 201 || answer.status === 200 ? answer.body.id : null;
    });
}

/** All executions of a code: a page that is not full may still have a next one. */
async function list(client, code) {
    const items = [];
    let cursor = '';
    do {
        const { body } = await client.ask('GET', `/api/v1/executions?code=${code}&limit=500${cursor}`);
        items.push(...body.items);
        cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : '';
    } while (cursor);
    return items;
}

const undone = ['pay', 'reserve', 'reserve', 'reserve', 'lines', 'shaky'];

async function checkOrder(client, x, n) {
    const { body } = await client.ask('GET', `/api/v1/executions/${x.id}/steps`);
    const steps = body.items.filter((row) => row.kind === 'forward' && row.status === 'completed');
    const rollbacks = body.items.filter((row) => row.kind === 'rollback');
    const attempts = body.items.filter((row) => row.step === 'shaky').map((row) => row.attempt);
    const done = steps.map((row) => row.step).filter((step) => step !== 'pause');

    told('attempts are counted', attempts.join() === '1,2,3', attempts);
    if (n % 2 === 1) {
        told('it completes', x.status === 'completed' && x.result.join() === 'x,y,z', x);
        told('nothing is undone', rollbacks.length === 0, rollbacks);
        return;
    }
    told('it fails', x.status === 'failed' && x.error.code === 'refused', x.error);
    told('all steps ran once', done.join() === undone.join(), done);
    told('all is undone, in the reverse order',
        x.error.compensation?.compensated.join() === 'reserve,reserve,reserve,pay' &&
        rollbacks.map((row) => row.visit).join() === '3,2,1,1', x.error);
    told('keys tell the visits apart',
        rollbacks.map((row) => row.idempotencyKey.slice(37)).join() ===
        'reserve-3-rollback,reserve-2-rollback,reserve-rollback,pay-rollback', rollbacks);
    told('each is undone once',
        rollbacks.every((row) => row.status === 'compensated' && row.output.undone === 1),
        rollbacks);
}

async function campaign(name, store) {
    const server = new Server(makeFolder(), { store, program: checkProgram });
    const wanted = [];
    let client;

    await server.start();
    client = server.client();
    await publish(client, order);
    await publish(client, parent);
    client.close();
    const starts = (async () => {
        for (let n = 0; n < COUNT; n++) {
            const code = n % 3 === 0 ? 'saga_parent' : 'saga_order';
            wanted.push({ n, code, id: await start(server, code, n) });
        }
    })();
    for (let i = 0; i < KILLS; i++) {
        await until('some have been started', () => wanted.length >= ((i + 1) * COUNT) / (KILLS + 1));
        await sleep(20 * i);
        await server.kill();
        await server.start();
    }
    await starts;
    await forAll(server, wanted, async (c, w) => {
        const x = await until(`${w.code} ${w.n} ends`, async () => {
            const { body } = await c.ask('GET', `/api/v1/executions/${w.id}`);
            return ['completed', 'failed', 'cancelled'].includes(body.status) ? body : null;
        });
        if (w.code === 'saga_order') return checkOrder(c, x, w.n);
        told('the parent knows what became of its child',
            x.status === 'completed' && x.result === (w.n % 2 === 0 ? 'refused' : 'ok'), x);
        const children = (await list(c, 'saga_order')).filter((child) => child.parentId === x.id);
        told('it has one child', children.length === 1, children);
        await checkOrder(c, (await c.ask('GET', `/api/v1/executions/${children[0].id}`)).body, w.n);
    }, 4);
    await server.stop();
    const mistakes = foldMistakes(store ?? server.data);
    holds(mistakes === '', `${name}: ${mistakes}`);
    console.log(`${name}: ${COUNT} executions, ${KILLS} kills`);
}

await onStores(campaign);
end();
