// Graphs of 10 and of 1,000 nodes: what publishing one takes, and what a node of one takes, on both stores. See run-graphs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Postgres } from '../tests/lib/postgres.mjs';
import { Server } from '../tests/lib/server.mjs';

const FEW = 10, MANY = 1000, ROUNDS = 9;

/** A chain of so many nodes, the start and the end among them; each adds to what the one before gave. */
function chain(code, count, round = 0) {
    const between = Array.from({ length: count - 2 }, (_, i) => ({ id: `n${i}`, type: 'math', config: { expression: i === 0 ? `input.n + ${round}` : `steps.n${i - 1}.output.result + 1` } }));
    const nodes = [{ id: 'start_1', type: 'start' }, ...between, { id: 'end_1', type: 'end', config: { result: `$.steps.n${count - 3}.output.result` } }];
    return { code, nodes, edges: nodes.slice(1).map((node, i) => ({ source: nodes[i].id, target: node.id })) };
}

const timed = async (what) => {
    const began = process.hrtime.bigint();
    await what();
    return Number(process.hrtime.bigint() - began) / 1e6;
};
const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** Milliseconds of one execution from its start to its end. */
const run = (client, code, count) => timed(async () => {
    const answer = await client.ask('POST', '/api/v1/executions?wait=300s', { code, input: { n: 0 } });
    if (answer.body?.status !== 'completed' || answer.body.result !== count - 3) throw new Error(`${code}: ${JSON.stringify(answer.body).slice(0, 300)}`);
});

/** Milliseconds a node, of executions that are started at once: what a commit takes is shared as under load. */
async function nodes(client, code, count) {
    const executions = 10 * MANY / count;
    return (await timed(() => Promise.all(Array.from({ length: executions }, () => run(client, code, count))))) / (executions * count);
}

async function bench(what, store) {
    const folder = mkdtempSync(path.join(tmpdir(), 'pawl-bench-'));
    const server = new Server(path.join(folder, 'data'), { store });
    if (!(await server.start())) throw new Error(server.log);
    const client = server.client(), few = [], many = [], published = [], checked = [];
    await server.publish(chain('few', FEW));
    for (let i = 0; i < ROUNDS; i++) {
        published.push(await timed(() => server.publish(chain('many', MANY, i + 1))));
        checked.push(await timed(() => client.ask('POST', '/api/v1/validate', { kind: 'schema', definition: chain('many', MANY, i) })));
    }
    await server.publish(chain('many', MANY));
    await run(client, 'many', MANY);
    for (let i = 0; i < ROUNDS; i++) {
        few.push(await nodes(client, 'few', FEW));
        many.push(await nodes(client, 'many', MANY));
    }
    const [a, b] = [middle(few) * 1000, middle(many) * 1000];
    console.log(`${what}: ${MANY} nodes: validate ${middle(checked).toFixed(1)} ms (goal 50), save and publish ${middle(published).toFixed(1)} ms`);
    console.log(`${what}: a node of ${FEW} ${a.toFixed(1)} us, of ${MANY} ${b.toFixed(1)} us: ${(b / a).toFixed(2)} times (goal 1)`);
    client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
}

await bench('SQLite', null);
const postgres = await Postgres.open();
if (postgres) await bench('PostgreSQL', postgres.fresh());
postgres?.close();
