// Procedures of the registry, over HTTP and on both stores: published by themselves, named by
// scenarios, run by them, moved between installations with them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';

/** Save a definition of a kind and publish it; answers what the second says. */
async function publish(rig, kind, definition) {
    const path = `/${kind}/${definition.code}`;
    equal((await rig.api('PUT', `${path}/draft`, definition)).status, 200);
    return rig.api('POST', `${path}/publish`, { changeSummary: 'test' });
}

async function result(rig, code, input) {
    const answer = await rig.api('POST', '/executions?wait=60s', { code, input });
    equal([answer.status, answer.body.status], [201, 'completed'], answer.raw);
    return answer.body.result;
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

claim('a scenario that names what is not there cannot be published', async (rig) => {
    const refused = await publish(rig, 'scenarios', shop);
    equal([refused.status, refused.body.errors[0].code, refused.body.errors[0].pointer],
        [422, 'unknown_procedure', '/steps/0/procedure'], refused.raw);
});

claim('a procedure is published by itself, and a scenario runs it', async (rig) => {
    equal((await publish(rig, 'procedures', price(2))).body, { code: 'price', version: 1 });
    equal((await publish(rig, 'scenarios', shop)).body.version, 1);
    equal(await result(rig, 'shop', { net: 5 }), 10);
    const list = (await rig.api('GET', '/procedures')).body.items;
    equal(list.map((i) => [i.code, i.published.version]), [['price', 1]]);
    equal((await rig.api('GET', '/processes')).body.items.map((i) => i.code), ['shop'], 'it is no process');
    equal((await rig.api('POST', '/executions', { code: 'price' })).status, 404, 'and cannot be started');
});

claim('what is wrong with it is found when it is saved', async (rig) => {
    const answer = await rig.api('PUT', '/procedures/broken/draft', {
        code: 'broken', commands: [{ type: 'log', message: '{{ steps.x }}' }, { type: 'flow.call', procedure: 'broken' }],
    });
    equal([answer.body.valid, answer.body.errors.map((e) => e.code)],
        [false, ['expression_type', 'procedure_cycle']], answer.raw);
    const valid = await rig.api('POST', '/validate', { definition: price(3) });
    equal(valid.body, { valid: true, errors: [] });
});

claim('the next version is what new executions run', async (rig) => {
    equal((await publish(rig, 'procedures', price(3))).body.version, 2);
    equal(await result(rig, 'shop', { net: 5 }), 15);
    equal((await rig.api('POST', '/procedures/price/revert')).body.version, 1);
    equal(await result(rig, 'shop', { net: 5 }), 10);
});

claim('a bundle holds both, in any order', async (rig) => {
    const items = [
        { code: 'outer', steps: [{ code: 'a', procedure: 'inner' }] },
        { code: 'inner', commands: [{ type: 'compute.transform', data: { x: 1 } }] },
    ];
    const answer = await rig.api('POST', '/import', { items });
    equal(answer.status, 200, answer.raw);
    equal(await result(rig, 'outer', {}), { x: 1 });
    const bundle = (await rig.api('GET', '/export?codes=outer,inner')).body;
    equal(bundle.items?.map((i) => i.code).sort(), ['inner', 'outer']);
    const again = await rig.api('POST', '/import', { ...bundle, dryRun: true });
    equal(again.body.items?.map((i) => i.action), ['unchanged', 'unchanged'], again.raw);
});

claim('it is still there after a restart', async (rig) => {
    await rig.server.stop();
    await rig.start();
    equal(await result(rig, 'shop', { net: 7 }), 14);
});

// Files that are given together know each other; what is elsewhere is a warning.
function validate(...definitions) {
    const folder = makeFolder();
    const files = definitions.map((d) => join(folder, `${d.code}.json`));
    files.forEach((f, i) => writeFileSync(f, JSON.stringify(definitions[i])));
    return spawnSync(pawl, ['validate', ...files], { encoding: 'utf8' });
}

claim('files that are given together know each other', () => {
    const { status, stdout, stderr } = validate(shop, price(2));
    check(status === 0 && !/known here/.test(stdout + stderr), stdout + stderr);
}, 'SQLite');

claim('what is in no file is a warning', () => {
    const { status, stdout, stderr } = validate(shop);
    check(status === 0 && /no procedure 'price' is known here/.test(stdout + stderr), stdout + stderr);
}, 'SQLite');

claim('an input that is missing is found', () => {
    const { status, stdout, stderr } = validate({ ...shop, steps: [{ code: 'a', procedure: 'price' }] }, price(2));
    check(status === 1 && /\/steps\/0\/input\/net/.test(stdout + stderr), stdout + stderr);
}, 'SQLite');

await run(() => {});
