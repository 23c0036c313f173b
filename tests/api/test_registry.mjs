// Procedures of the registry, over HTTP and on both stores: published by themselves, named by
// scenarios, run by them, moved between installations with them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Postgres } from '../kill/postgres.mjs';
import { Server } from '../kill/server.mjs';

const pawl = resolve(process.env.PAWL ?? 'build/pawl');
const folder = mkdtempSync(join(tmpdir(), 'pawl-registry-'));
let passed = 0;
let failed = 0;
let count = 0;

function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual), w = JSON.stringify(wanted);
    if (a !== w) throw new Error(`${what}: ${a}, wanted ${w}`);
}

async function startServer(store) {
    const server = new Server(join(folder, `data${++count}`), store, pawl);
    if (!(await server.start())) throw new Error(server.log);
    server.call = async (method, path, body) => {
        const answer = await fetch(`${server.url}/api/v1${path}`, {
            method,
            body: body === undefined ? undefined : JSON.stringify(body),
            headers: { Authorization: `Bearer ${server.token}` },
        });
        const raw = await answer.text();
        return { status: answer.status, raw, json: raw ? JSON.parse(raw) : null };
    };
    server.publish = async (kind, definition) => {
        const path = `/${kind}/${definition.code}`;
        equal((await server.call('PUT', `${path}/draft`, definition)).status, 200);
        return server.call('POST', `${path}/publish`, { changeSummary: 'test' });
    };
    server.result = async (code, input) => {
        const answer = await server.call('POST', '/executions?wait=60s', { code, input });
        equal([answer.status, answer.json.status], [201, 'completed'], answer.raw);
        return answer.json.result;
    };
    return server;
}

const price = (factor) => ({
    code: 'price',
    input: [{ name: 'net', type: 'number', required: true }],
    commands: [{ type: 'compute.transform', data: `=$.input.net * ${factor}`, as: 'gross' }],
    result: { gross: '$.gross' },
});
const shop = {
    code: 'shop',
    steps: [{ code: 'price', procedure: 'price', input: { net: '$.input.net' } }],
    result: '$.steps.price.gross',
};

const claims = {
    'a scenario that names what is not there cannot be published': async (s) => {
        const refused = await s.publish('scenarios', shop);
        equal([refused.status, refused.json.errors[0].code, refused.json.errors[0].pointer],
            [422, 'unknown_procedure', '/steps/0/procedure'], refused.raw);
    },
    'a procedure is published by itself, and a scenario runs it': async (s) => {
        equal((await s.publish('procedures', price(2))).json, { code: 'price', version: 1 });
        equal((await s.publish('scenarios', shop)).json.version, 1);
        equal(await s.result('shop', { net: 5 }), 10);
        const list = (await s.call('GET', '/procedures')).json.items;
        equal(list.map((i) => [i.code, i.published.version]), [['price', 1]]);
        equal((await s.call('GET', '/processes')).json.items.map((i) => i.code), ['shop'], 'it is no process');
        equal((await s.call('POST', '/executions', { code: 'price' })).status, 404, 'and cannot be started');
    },
    'what is wrong with it is found when it is saved': async (s) => {
        const answer = await s.call('PUT', '/procedures/broken/draft', {
            code: 'broken', commands: [{ type: 'log', message: '{{ steps.x }}' }, { type: 'flow.call', procedure: 'broken' }],
        });
        equal([answer.json.valid, answer.json.errors.map((e) => e.code)],
            [false, ['expression_type', 'procedure_cycle']], answer.raw);
        const valid = await s.call('POST', '/validate', { definition: price(3) });
        equal(valid.json, { valid: true, errors: [] });
    },
    'the next version is what new executions run': async (s) => {
        equal((await s.publish('procedures', price(3))).json.version, 2);
        equal(await s.result('shop', { net: 5 }), 15);
        equal((await s.call('POST', '/procedures/price/revert')).json.version, 1);
        equal(await s.result('shop', { net: 5 }), 10);
    },
    'a bundle holds both, in any order': async (s) => {
        const items = [
            { code: 'outer', steps: [{ code: 'a', procedure: 'inner' }] },
            { code: 'inner', commands: [{ type: 'compute.transform', data: { x: 1 } }] },
        ];
        const answer = await s.call('POST', '/import', { items });
        equal(answer.status, 200, answer.raw);
        equal(await s.result('outer', {}), { x: 1 });
        const bundle = (await s.call('GET', '/export?codes=outer,inner')).json;
        equal(bundle.items?.map((i) => i.code).sort(), ['inner', 'outer']);
        const again = await s.call('POST', '/import', { ...bundle, dryRun: true });
        equal(again.json.items?.map((i) => i.action), ['unchanged', 'unchanged'], again.raw);
    },
    'it is still there after a restart': async (s) => {
        await s.stop();
        if (!(await s.start())) throw new Error(s.log);
        equal(await s.result('shop', { net: 7 }), 14);
    },
};

async function runAll(where, store) {
    const s = await startServer(store);
    for (const [name, run] of Object.entries(claims))
        try {
            await run(s);
            passed++;
        } catch (error) {
            failed++;
            console.log(`failed: ${where}: ${name}\n  ${error.stack}`);
        }
    await s.stop();
}

// Files that are given together know each other; what is elsewhere is a warning.
function validate(...definitions) {
    const files = definitions.map((d) => join(folder, `${d.code}.json`));
    files.forEach((f, i) => writeFileSync(f, JSON.stringify(definitions[i])));
    return spawnSync(pawl, ['validate', ...files], { encoding: 'utf8' });
}

function offline() {
    const alone = validate(shop), together = validate(shop, price(2));
    const wrong = validate({ ...shop, steps: [{ code: 'a', procedure: 'price' }] }, price(2));
    const checks = [
        [alone.status === 0 && /no procedure 'price' is known here/.test(alone.stdout + alone.stderr), alone],
        [together.status === 0 && !/known here/.test(together.stdout + together.stderr), together],
        [wrong.status === 1 && /\/steps\/0\/input\/net/.test(wrong.stdout + wrong.stderr), wrong],
    ];
    for (const [ok, got] of checks) {
        ok ? passed++ : failed++;
        if (!ok) console.log(`failed: offline: ${got.status} ${got.stdout}${got.stderr}`);
    }
}

try {
    offline();
    await runAll('sqlite', null);
    const postgres = await Postgres.open();
    if (postgres)
        try {
            await runAll('postgres', postgres.fresh());
        } finally {
            postgres.close();
        }
} finally {
    rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
