// What belongs to the installation: who may change it, and how much there may be; on both stores.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { check, equal } from '../lib/claims.mjs';
import { Client, refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';

const ORG = '018f5f00-0000-7000-8000-00000000000b';
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const steps = [{ code: 'one', procedure: { type: 'compute.transform', data: 1 } }];

async function user(rig, fields) {
    const answer = await rig.api('POST', '/users', fields);
    equal(answer.status, 201, JSON.stringify(answer.body));
    const client = new Client(rig.server.url, answer.body.token);
    return { ...answer.body, api: (method, path, body) => client.ask(method, `/api/v1${path}`, body), close: () => client.close() };
}

// --- who may change it ---

// Each call that changes what all organisations share, with a request that an admin of the default one may make.
const CHANGES = [
    ['PUT', '/scenarios/{code}/draft', '/scenarios/shared/draft', { code: 'shared', steps }],
    ['POST', '/scenarios/{code}/publish', '/scenarios/shared/publish', {}],
    ['POST', '/scenarios/{code}/revert', '/scenarios/shared/revert', {}],
    ['DELETE', '/scenarios/{code}/draft', '/scenarios/shared/draft'],
    ['PUT', '/procedures/{code}/draft', '/procedures/shared.work/draft', { code: 'shared.work', commands: [] }],
    ['POST', '/procedures/{code}/publish', '/procedures/shared.work/publish', {}],
    ['POST', '/procedures/{code}/revert', '/procedures/shared.work/revert', {}],
    ['DELETE', '/procedures/{code}/draft', '/procedures/shared.work/draft'],
    ['PUT', '/functions/{name}', '/functions/shared', { params: [], body: '1' }],
    ['DELETE', '/functions/{name}', '/functions/shared'],
    ['PUT', '/templates/{code}', '/templates/shared', { subject: 'a', body: 'b' }],
    ['DELETE', '/templates/{code}', '/templates/shared'],
    ['PUT', '/config/{name}', '/config/shared', { value: 1 }],
    ['DELETE', '/config/{name}', '/config/shared'],
    ['POST', '/import', '/import', { items: [{ kind: 'config', name: 'shared', value: 2 }] }],
];

claim('what belongs to the installation is changed by admins of the default organisation alone', async (rig) => {
    const foreign = await user(rig, { name: 'Foreign', role: 'admin', org_id: ORG });
    for (const [method, pattern, path, body] of CHANGES) {
        const problem = refused(await foreign.api(method, path, body), 403, 'default_org_only');
        check(/default organisation/.test(problem.detail), `${pattern}: ${problem.detail}`);
    }
    for (const path of ['/credentials', '/credentials/bank']) refused(await foreign.api('GET', path), 403, 'default_org_only');
    equal((await foreign.api('GET', '/scenarios')).status, 200, 'reading is for everybody');
    const may = (await foreign.api('GET', '/me')).body.may;
    equal([may.includes('admin'), may.includes('installation'), (await rig.api('GET', '/me')).body.may.includes('installation')], [true, false, true]);
    equal((await foreign.api('GET', '/scenarios/shared')).status, 404, 'nothing was changed');
    equal((await foreign.api('GET', '/config/shared')).status, 404, 'nothing was changed');
    foreign.close();
    const ours = await user(rig, { name: 'Ours', role: 'admin' });
    for (const [method, pattern, path, body] of CHANGES)
        check((await ours.api(method, path, body)).status !== 403, `${method} ${pattern}`);
    ours.close();
});

claim('an operator of another organisation is refused by the role first', async (rig) => {
    const clerk = await user(rig, { name: 'Clerk', role: 'operator', org_id: ORG });
    refused(await clerk.api('PUT', '/config/shared', { value: 1 }), 403, 'forbidden');
    clerk.close();
});

claim('every route that changes a definition, a function, a template or config demands it', async () => {
    const rows = JSON.parse(execFileSync(join(root, 'build/tests/route_table'), { encoding: 'utf8' }));
    const kinds = /^\/api\/v1\/(scenarios|procedures|schemas|machines|functions|templates|config|credentials|subscriptions|workers|import)\b/;
    const changing = rows.filter(({ changes, path, roles }) => changes && kinds.test(path) && !roles.includes('viewer'));
    check(changing.length >= CHANGES.length, `${changing.length} of them were found`);
    equal(changing.filter(({ ofInstallation }) => !ofInstallation).map(({ method, path }) => `${method} ${path}`), []);
});

claim('the audit log of an organisation finds its own user, not a namesake of another', async (rig) => {
    const here = await user(rig, { name: 'Anna', role: 'admin' });
    const there = await user(rig, { name: 'Anna', role: 'admin', org_id: ORG });
    equal((await here.api('PUT', '/config/of_anna', { value: 1 })).status, 201);
    const made = await there.api('POST', '/users', { name: 'Ben', role: 'viewer', org_id: ORG });
    equal(made.status, 201, JSON.stringify(made.body));
    equal((await there.api('GET', '/audit?user=Anna')).body.items.map((a) => [a.action, a.user.id]), [['user.create', there.id]]);
    equal((await here.api('GET', '/audit?user=Anna')).body.items.map((a) => a.user.id), [here.id], 'ours first');
    equal((await there.api('GET', `/audit?user=${here.id}`)).body.items, [], 'nothing of another organisation');
    here.close();
    there.close();
});

// --- how much there may be ---

const importing = (rig, items) => rig.api('POST', '/import', { items });
const replacing = (rig, items) => rig.api('POST', '/import', { items, overwrite: ['config', 'subscription'] });
const config = (name, value) => ({ kind: 'config', name, value });

claim('import leaves the environment as it is unless it is told otherwise', async (rig) => {
    const items = (url) => [config('shop_url', url), { kind: 'subscription', code: 'crm', url, events: ['Sold'] }];
    const plan = (answer) => answer.body.items.map((item) => [item.action, item.errors.map((e) => `${e.severity} ${e.code}`).join()]);
    const stored = async () => [(await rig.api('GET', '/config/shop_url')).body.value, (await rig.api('GET', '/subscriptions/crm')).body.url];
    const here = 'http://127.0.0.1:9/here', there = 'http://127.0.0.1:9/there', kept = ['unchanged', 'warning kept_as_it_is'];
    equal(plan(await importing(rig, items(here))), [['create', ''], ['create', '']]);
    equal(plan(await importing(rig, items(here))), [['unchanged', ''], ['unchanged', '']]);
    equal(plan(await rig.api('POST', '/import', { items: items(there), dryRun: true })), [kept, kept]);
    equal([plan(await importing(rig, items(there))), await stored()], [[kept, kept], [here, here]]);
    const one = await rig.api('POST', '/import', { items: items(there), overwrite: ['config'] });
    equal([plan(one), await stored()], [[['update', ''], kept], [there, here]]);
    equal([plan(await replacing(rig, items(there))), await stored()], [[['unchanged', ''], ['update', '']], [there, there]]);
    refused(await rig.api('POST', '/import', { items: [], overwrite: ['scenarios'] }), 422, 'invalid');
});

claim('prune retires what the bundle lacks, keeps what its items use, and takes back what it has', async (rig) => {
    const calls = (code, procedure) => ({ code, steps: [{ code: 'do', procedure }] });
    const procedure = (code, name) => ({ code, commands: [name ? { type: 'flow.call', procedure: name } : { type: 'compute.set', values: { a: 1 } }] });
    const before = (await rig.api('GET', '/export')).body.items;
    const pruned = [calls('prune_stays', 'prune_used'), calls('prune_goes', 'prune_alone')];
    const parts = [procedure('prune_deep'), procedure('prune_used', 'prune_deep'), procedure('prune_alone')];
    equal((await importing(rig, [...parts, ...pruned])).status, 200);
    await rig.begin('prune_goes');
    const bundle = [...before, pruned[0]];
    const sorted = (plan) => Object.entries(plan).sort();
    const plan = ({ body }) => sorted(Object.fromEntries(body.items.filter((item) => item.code.startsWith('prune_')).map((item) => [item.code, [item.action, item.errors.map((e) => e.code).join()]])));
    const wanted = sorted({ prune_stays: ['unchanged', ''], prune_goes: ['retire', ''], prune_alone: ['retire', ''], prune_deep: ['unchanged', 'still_used'], prune_used: ['unchanged', 'still_used'] });
    equal(plan(await rig.api('POST', '/import', { items: bundle, prune: true, dryRun: true })), wanted);
    equal((await rig.begin('prune_goes')).code, 'prune_goes', 'a dry run retires nothing');
    const done = await rig.api('POST', '/import', { items: bundle, prune: true });
    equal([done.status, plan(done)], [200, wanted], done.raw);
    refused(await rig.api('POST', '/executions', { code: 'prune_goes' }), 409, 'retired');
    await rig.begin('prune_stays');
    const again = await rig.api('POST', '/import', { items: [...before, ...pruned, ...parts], prune: true });
    equal(plan(again), sorted({ prune_stays: ['unchanged', ''], prune_goes: ['unretire', ''], prune_used: ['unchanged', ''], prune_alone: ['unretire', ''], prune_deep: ['unchanged', ''] }));
    await rig.begin('prune_goes');
    refused(await rig.api('POST', '/import', { items: [], prune: true }), 422, 'invalid', 'everything');
    refused(await rig.api('POST', '/import', { items: bundle, prune: true, draft: true }), 422, 'invalid', 'drafts');
    const { items: [line] } = (await rig.api('GET', '/audit?action=import&limit=1')).body;
    check(line.details.changes.some((change) => change.code === 'prune_goes' && change.action === 'unretire'), JSON.stringify(line));
});

claim('a credential is replaced when that is asked for, and its secret never goes to another address', async (rig) => {
    const stub = (more = {}) => ({ kind: 'credential', code: 'promoted', type: 'api_key', base_url: 'http://127.0.0.1:9/a', header_name: 'X-Key', ...more });
    const { kind, code, ...fields } = stub();
    equal((await rig.api('PUT', '/credentials/promoted', { ...fields, header_value: 'secret-1234' })).status, 201);
    const take = async (item, overwrite = ['credential']) => {
        const answer = await rig.api('POST', '/import', { items: [item], overwrite });
        equal(answer.status, 200, answer.raw);
        return [answer.body.items[0].action, answer.body.items[0].errors.map((e) => e.code).join()];
    };
    const shown = async () => { const { body } = await rig.api('GET', '/credentials/promoted'); return [body.header_name, body.base_url, body.filled]; };
    equal([await take(stub({ header_name: 'X-Other' }), []), (await shown())[0]], [['unchanged', 'kept_as_it_is'], 'X-Key']);
    equal([await take(stub()), await take(stub({ header_name: 'X-Other' }))], [['unchanged', ''], ['update', '']]);
    equal(await shown(), ['X-Other', 'http://127.0.0.1:9/a', true], 'the same address: the secret stays');
    equal((await rig.api('POST', '/credentials/rekey')).status, 200, 'it is sealed as all others are');
    equal(await take(stub({ base_url: 'http://127.0.0.1:9/b' })), ['update', 'secret_missing']);
    equal(await shown(), ['X-Key', 'http://127.0.0.1:9/b', false], 'another address: it is gone');
});

claim('import keeps the limits of config', async (rig) => {
    const large = refused(await importing(rig, [config('small', 1), config('large', 'x'.repeat(65 * 1024))]), 413, 'too_large');
    check(/large.*65536/.test(large.detail), large.detail);
    equal((await rig.api('GET', '/config/small')).status, 404, 'all or nothing');
    const all = Array.from({ length: 5 }, (_, i) => config(`part${i}`, 'x'.repeat(60 * 1024)));
    check(/262144 bytes together/.test(refused(await importing(rig, all), 413, 'too_large').detail), 'all of them');
    const many = Array.from({ length: 1001 }, (_, i) => config(`many${i}`, 1));
    check(/1000/.test(refused(await importing(rig, many), 413, 'too_large').detail), 'their number');
    equal((await importing(rig, [config('part0', 'x'.repeat(60 * 1024))])).status, 200);
    equal((await replacing(rig, [config('part0', 'y'.repeat(60 * 1024)), config('part1', 1)])).status, 200, 'replaced, not added');
});

claim('import keeps the limit of functions', async (rig) => {
    const items = Array.from({ length: 1001 }, (_, i) => ({ kind: 'function', name: `f${i}`, params: [], body: '1' }));
    check(/1000/.test(refused(await importing(rig, items), 413, 'too_large').detail), 'their number');
    equal((await rig.api('GET', '/functions/f0')).status, 404);
});

claim('an item of a bundle is not larger than it could be alone', async (rig) => {
    const wide = { code: 'wide', name: 'x', steps, description: 'y'.repeat(2 << 20) };
    check(/wide.*2097152/.test(refused(await importing(rig, [wide]), 413, 'too_large').detail), 'a scenario');
    const long = { kind: 'template', code: 'long', subject: 'a', body: 'b'.repeat((1 << 20) + 1) };
    check(/long.*1048576/.test(refused(await importing(rig, [long]), 413, 'too_large').detail), 'a template');
});

run(async () => {});
