// Credentials on both stores: saved is live, a secret is never shown again, and nothing starts with the wrong key.
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { pawl } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { claim, run } from '../lib/stores.mjs';

const apiKey = { type: 'api_key', base_url: 'https://erp.example/v1', header_name: 'X-Api-Key', header_value: 'sk-very-secret-1' };
const put = (rig, code, body, headers) => rig.api('PUT', `/credentials/${code}`, body, headers);

claim('a credential is shown without its secret', async (rig) => {
    const made = await put(rig, 'erp', apiKey);
    equal([made.status, made.body], [201, { code: 'erp', version: 1 }]);
    const one = await rig.api('GET', '/credentials/erp');
    equal([one.status, one.body.type, one.body.base_url, one.body.header_name, one.body.filled], [200, 'api_key', apiKey.base_url, 'X-Api-Key', true]);
    const list = await rig.api('GET', '/credentials');
    equal(list.body.items.map((item) => item.code), ['erp']);
    for (const answer of [made, one, list]) check(!JSON.stringify(answer).includes('very-secret'), 'a secret is shown');
    equal((await put(rig, 'erp', { ...apiKey, header_value: 'sk-very-secret-2' })).status, 200);
});

claim('every type has its own fields', async (rig) => {
    const base_url = 'https://erp.example';
    const good = {
        plain: { type: 'basic', base_url, username: 'pawl', password: 'pass word' },
        oauth: { type: 'oauth2_client', base_url, token_url: 'https://id.example/token', client_id: 'pawl', client_secret: 'hush-hush', scope: 'a b' },
        hooks: { type: 'hmac', secret: 'whsec_1234' },
        bot: { type: 'secret', base_url, values: { token: '123:ABC', other: 'wxyz' } },
    };
    for (const [code, body] of Object.entries(good)) equal((await put(rig, code, body)).status, 201, code);
    equal((await rig.api('GET', '/credentials/bot')).body.values.sort(), ['other', 'token']);
    const bad = [
        [{ ...good.plain, password: undefined }, 'missing_field', '/password'],
        [{ ...good.plain, header_name: 'X' }, 'misplaced', '/header_name'],
        [{ ...good.plain, base_url: undefined }, 'missing_field', ''],
        [{ ...good.plain, base_url: 'ftp://erp.example' }, 'bad_value', '/base_url'],
        [{ ...good.plain, base_url: 'https://me:pw@erp.example' }, 'bad_value', '/base_url'],
        [{ ...good.plain, password: 'abc' }, 'bad_value', '/password'],
        [{ ...good.plain, password: 'with\nline feed' }, 'bad_value', '/password'],
        [{ ...good.bot, values: {} }, 'bad_value', '/values'],
        [{ ...good.bot, values: ['token'] }, 'missing_field', '/values'],
        [{ ...good.bot, values: { 'no name': 'abcd' } }, 'bad_name', '/values/no name'],
        [{ ...good.oauth, token_url: 'nowhere' }, 'bad_value', '/token_url'],
        [{ type: 'apikey' }, 'bad_value', '/type'],
        [{ ...apiKey, header_name: 'X Y' }, 'bad_value', '/header_name'],
        [{ ...apiKey, sealed: 'x' }, 'unknown_field', '/sealed'],
    ];
    for (const [body, code, pointer] of bad) {
        const problem = refused(await put(rig, 'bad', body), 422, 'invalid');
        equal([problem.errors[0].code, problem.errors[0].pointer], [code, pointer], JSON.stringify(body));
        check(!JSON.stringify(problem).includes('hush-hush') && !JSON.stringify(problem).includes('pass word'), 'a problem shows a secret');
    }
    refused(await rig.api('GET', '/credentials/bad'), 404, 'not_found');
    refused(await put(rig, 'No', apiKey), 422, 'invalid');
});

claim('only administrators of the default organisation change them, and only administrators see them', async (rig) => {
    const org_id = '00000000-0000-7000-8000-0000000000aa';
    const token = async (body) => (await rig.api('POST', '/users', { name: 'x', ...body })).body.token;
    const as = (bearer) => ({ Authorization: `Bearer ${bearer}` });
    const operator = as(await token({ role: 'operator' }));
    const other = as(await token({ role: 'admin', org_id }));
    refused(await rig.api('GET', '/credentials', undefined, operator), 403, 'forbidden');
    equal((await rig.api('PUT', '/credentials/erp', apiKey, other)).status, 403);
    equal((await rig.api('DELETE', '/credentials/erp', undefined, other)).status, 403);
    equal((await rig.api('POST', '/credentials/rekey', undefined, other)).status, 403);
});

claim('changes are audited without the secret', async (rig) => {
    const lines = (await rig.api('GET', '/audit?action=credential.put&limit=500')).body.items;
    check(lines.some((line) => line.target === 'erp' && line.details.type === 'api_key'), JSON.stringify(lines));
    check(!JSON.stringify(lines).includes('very-secret') && !JSON.stringify(lines).includes('hush-hush'), 'a secret in the audit log');
});

claim('If-Match and deleting work as with everything that is live', async (rig) => {
    equal((await put(rig, 'going', apiKey)).status, 201);
    refused(await put(rig, 'going', apiKey, { 'If-Match': '"7"' }), 412, 'precondition_failed');
    equal((await rig.api('DELETE', '/credentials/going')).status, 204);
    refused(await rig.api('DELETE', '/credentials/going'), 404, 'not_found');
});

claim('a bundle has credentials without secrets, and says which must be filled in', async (rig) => {
    const bundle = (await rig.api('GET', '/export')).body;
    const stubs = bundle.items.filter((item) => item.kind === 'credential');
    check(stubs.length > 0 && stubs.every((item) => !('sealed' in item)), JSON.stringify(stubs));
    check(!JSON.stringify(bundle).includes('very-secret'), 'a secret in an export');
    const stub = { kind: 'credential', code: 'fresh', type: 'secret', base_url: 'https://new.example', values: ['token'] };
    const made = await rig.api('POST', '/import', { items: [stub, { kind: 'credential', code: 'erp', type: 'api_key', base_url: 'https://test.example', header_name: 'X-Api-Key' }] });
    equal(made.status, 200, JSON.stringify(made.body));
    equal(made.body.items.map((item) => [item.action, item.errors.map((e) => [e.code, e.severity])]), [
        ['create', [['secret_missing', 'warning']]], ['unchanged', [['kept_as_it_is', 'warning']]]]);
    equal((await rig.api('GET', '/credentials/fresh')).body.filled, false);
    equal((await rig.api('GET', '/credentials/erp')).body.base_url, apiKey.base_url);
    const secret = await rig.api('POST', '/import', { items: [{ ...stub, code: 'other', values: { token: 'abcdef' } }] });
    equal([secret.status, secret.body.errors[0].code], [422, 'misplaced']);
    equal((await put(rig, 'fresh', { type: 'secret', base_url: 'https://new.example', values: { token: 'abcdef' } })).status, 200);
});

claim('the key is made for its owner alone, and what is stored holds no secret', async (rig) => {
    const path = join(rig.server.data, 'master.key');
    equal(statSync(path).mode & 0o777, 0o600);
    check(/^[0-9a-f]{64}\n$/.test(readFileSync(path, 'utf8')), 'the form of the key');
    if (rig.store) return;
    for (const name of ['pawl.db', 'pawl.db-wal']) {
        const bytes = readFileSync(join(rig.server.data, name));
        for (const secret of ['very-secret', 'hush-hush', 'whsec_1234', '123:ABC', 'pass word'])
            check(!bytes.includes(secret), `${secret} in ${name}`);
    }
});

claim('with the wrong key, or none, nothing starts and nothing changes', async (rig) => {
    const path = join(rig.server.data, 'master.key');
    const kept = join(rig.folder, 'kept.key');
    await rig.server.kill();
    renameSync(path, kept);
    equal(await rig.server.start(), false, 'a start without the key');
    check(rig.server.log.includes('there is no file') && rig.server.log.includes('--master-key'), rig.server.log);
    writeFileSync(path, '00'.repeat(32), { mode: 0o600 });
    equal(await rig.server.start(), false, 'a start with another key');
    check(rig.server.log.includes('name the right file'), rig.server.log);
    rmSync(path);
    await rig.start({ PAWL_MASTER_KEY: kept });
    equal((await put(rig, 'erp', apiKey)).status, 200);
    await rig.server.kill();
    copyFileSync(kept, path);
    await rig.start();
});

claim('nodes with different keys do not share credentials', async (rig) => {
    const other = new Server(join(rig.folder, 'other'), { store: rig.store });
    equal(await other.start(), false, 'a node with a key of its own');
    check(other.log.includes('master key'), other.log);
}, 'PostgreSQL');

await run(async () => {});
