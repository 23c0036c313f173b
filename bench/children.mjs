// 100 and 1,000 children of one parent, all joined: what one of them takes, on both stores. See run-children.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Postgres } from '../tests/lib/postgres.mjs';
import { Server } from '../tests/lib/server.mjs';

const FEW = 100, MANY = 1000, ROUNDS = 9;
const kid = { code: 'kid', input: [{ name: 'n', type: 'integer' }], steps: [{ code: 'k', procedure: { type: 'compute.transform', data: { n: '$.input.n' } } }] };
const parent = {
    code: 'parent',
    input: [{ name: 'list', type: 'array', required: true }],
    steps: [{
        code: 'all',
        loop: {
            for: '$.input.list', concurrency: 100, collect: '$.steps.run.n',
            steps: [{ code: 'run', procedure: { type: 'flow.start', code: 'kid', input: { n: '$.loop.item' }, wait: true } }],
        },
    }],
};

/** Milliseconds from the start of a parent of so many children to its end. */
async function join(client, count) {
    const list = Array.from({ length: count }, (_, i) => i), began = process.hrtime.bigint();
    const answer = await client.ask('POST', '/api/v1/executions?wait=300s', { code: 'parent', input: { list } });
    const ms = Number(process.hrtime.bigint() - began) / 1e6;
    if (answer.body?.status !== 'completed') throw new Error(`the parent of ${count}: ${JSON.stringify(answer.body).slice(0, 300)}`);
    return ms;
}

const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

async function bench(what, store) {
    const folder = mkdtempSync(path.join(tmpdir(), 'pawl-bench-'));
    const server = new Server(path.join(folder, 'data'), { store });
    if (!(await server.start())) throw new Error(server.log);
    const client = server.client(), few = [], many = [];
    for (const process of [kid, parent]) await server.publish(process);
    await join(client, FEW);
    for (let i = 0; i < ROUNDS; i++) {
        few.push(await join(client, FEW));
        many.push(await join(client, MANY));
    }
    const [a, b] = [middle(few) / FEW, middle(many) / MANY];
    console.log(`${what}: ${FEW} children ${a.toFixed(2)} ms each, ${MANY} ${b.toFixed(2)} ms each: ${(b / a).toFixed(2)} times (1 is linear)`);
    client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
}

await bench('SQLite', null);
const postgres = await Postgres.open();
if (postgres) await bench('PostgreSQL', postgres.fresh());
postgres?.close();
