// pawl user, audit and login, and how commands find a server that is not the default one.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { claim, end, equal } from '../lib/claims.mjs';
import { execute, makeFolder, pawl } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';

const folder = makeFolder();
const s = await startServer();
let ada, second;

const env = { PATH: process.env.PATH, PAWL_URL: s.url, PAWL_DATA: s.data };
const cli = (...args) => execute(pawl, args, { env, cwd: folder });

async function said(status, parts, ...args) {
    const answer = await cli(...args);
    equal(answer.status, status, answer.out);
    for (const part of parts) equal(answer.out.includes(part), true, `"${part}" in ${answer.out}`);
    return answer.out;
}

await claim('a user is added and the token shown once', async () => {
    const out = await said(0, ['Ada, operator', 'shown only now: pawl_'],
        'user', 'add', 'Ada', '--role', 'operator', '--email', 'ada@example.org', '--groups', 'finance, audit');
    ada = out.match(/pawl_[0-9a-f]{64}/)[0];
    const list = await said(0, ['Ada', 'ada@example.org', 'finance,audit', 'active', 'admin'], 'user', 'ls');
    equal(list.includes('pawl_'), false);
});

await claim('the token works by option and by variable', async () => {
    await said(0, ['no executions'], 'ls', '--token', ada);
    await said(0, ['no executions'], 'ls', `--token=${ada}`, '--url', s.url);
    const variable = await execute(pawl, ['ls'], { env: { ...env, PAWL_TOKEN: ada } });
    equal(variable.status, 0, variable.out);
    await said(1, ['your role, operator, may not do this'], 'user', 'ls', '--token', ada);
    await said(1, ['no server at http://127.0.0.1:1'], 'ls', '--url', 'http://127.0.0.1:1');
    await said(1, ['not known', 'PAWL_TOKEN'], 'ls', '--token', 'wrong');
});

await claim('a user is found by e-mail or name and changed', async () => {
    await said(0, ['viewer'], 'user', 'set', 'ada@example.org', '--role', 'viewer', '--skill', '5');
    await said(0, ['inactive'], 'user', 'set', 'Ada', '--inactive');
    await said(1, ['not active'], 'ls', '--token', ada);
    await said(0, ['active'], 'user', 'set', 'Ada', '--active', '--groups', '', '--email', '');
    const one = JSON.parse(await said(0, [], 'user', 'set', 'Ada', '--name', 'Ada Berg', '--json'));
    equal([one.name, one.email, one.groups, one.skill_level, one.role], ['Ada Berg', null, [], 5, 'viewer']);
    await said(1, ['no user has the name or e-mail Nobody'], 'user', 'set', 'Nobody', '--active');
    await said(1, ["did you mean 'viewer'?"], 'user', 'set', 'Ada Berg', '--role', 'viever');
    await said(1, ['--skill takes a number'], 'user', 'set', 'Ada Berg', '--skill', 'high');
});

await claim('two of one name are told apart by id', async () => {
    const made = JSON.parse(await said(0, [], 'user', 'add', 'Ada Berg', '--role', 'member', '--json'));
    await said(1, ['several users'], 'user', 'set', 'Ada Berg', '--active');
    await said(0, ['member'], 'user', 'set', made.id, '--active');
    await said(0, [], 'user', 'set', made.id, '--name', 'Other Ada');
});

await claim('tokens are made, listed and revoked', async () => {
    const made = JSON.parse(await said(0, [], 'user', 'token', 'Ada Berg', '--name', 'laptop', '--json'));
    second = made.token;
    await said(0, ['no executions'], 'ls', '--token', second);
    await said(0, ['laptop', made.id, 'LAST USED'], 'user', 'tokens', 'Ada Berg');
    await said(0, [`${made.id} is revoked`], 'user', 'revoke', made.id);
    await said(1, ['not known'], 'ls', '--token', second);
    await said(1, ['there is no token with this id'], 'user', 'revoke', made.id);
});

await claim('the audit log is shown', async () => {
    await said(0, ['AT', 'token.revoke', 'user.create', 'admin', '{"role":"viewer"'], 'audit', '--limit', '50');
    const json = JSON.parse(await said(0, [], 'audit', '--action', 'token.create', '--json'));
    equal(json.items.map((i) => i.action), ['token.create']);
    await said(0, ['nothing of that kind'], 'audit', '--user', 'Ada Berg');
    await said(1, ['from is a time'], 'audit', '--from', 'yesterday');
});

await claim('login prints the address that signs in', async () => {
    equal((await said(0, [], 'login')).trim(), `${s.url}/#token=${s.token}`);
    equal((await said(0, [], 'login', '--public-url', 'https://p.example.org', '--token', ada)).trim(),
        `https://p.example.org/#token=${ada}`);
    const json = JSON.parse(await said(0, [], 'login', '--json'));
    equal([json.url, json.user.name], [`${s.url}/#token=${s.token}`, 'admin']);
    await said(1, ['not known'], 'login', '--token', 'wrong');
});

await claim('wrong usage is told', async () => {
    for (const args of [['user', 'frobnicate'], ['user', 'ls', 'x'], ['user', 'add'],
        ['user', 'set', 'Ada', '--active', '--inactive'], ['audit', 'x'], ['login', 'x']])
        await said(2, ['usage: pawl'], ...args);
    await said(2, ['--token needs a value'], 'ls', '--token');
    await said(2, ['there is no option --token'], 'eval', '1', '--token', 'x');
    await said(0, ['--url or', 'PAWL_URL', '--token or PAWL_TOKEN'], 'help');
});

await claim('a token expires, and is rotated with its name and expiry', async () => {
    const made = await said(0, ['it expires '], 'user', 'token', 'Ada Berg', '--name', 'desk', '--expires', '90d');
    const token = made.match(/pawl_[0-9a-f]{64}/)[0];
    await said(0, ['desk', 'EXPIRES'], 'user', 'tokens', 'Ada Berg');
    await said(1, ['expiresAt is a time to come'], 'user', 'token', 'Ada Berg', '--expires', 'soon');
    const next = await said(0, ['it expires ', 'every token that Ada Berg had before is revoked'], 'user', 'token', 'rotate', 'Ada Berg');
    const list = JSON.parse(await said(0, [], 'user', 'tokens', 'Ada Berg', '--json')).items;
    equal([list.length, list[0].name, list[0].expiresAt !== null], [1, 'desk', true]);
    await said(1, ['not known'], 'ls', '--token', token);
    await said(0, ['no executions'], 'ls', '--token', next.match(/pawl_[0-9a-f]{64}/)[0]);
    const last = await said(0, [`${list[0].id} is revoked`], 'user', 'token', 'rotate', 'Ada Berg', '--replaces', list[0].id, '--expires', 'never');
    equal(last.includes('it expires'), false);
    await said(0, ['the one in the file admin.token stays'], 'user', 'token', 'rotate', 'admin');
});

await claim('the token of the administrator is rotated by deleting its file', async () => {
    const old = s.token;
    equal(await s.stop(), 0, s.log);
    rmSync(join(s.data, 'admin.token'));
    equal(await s.start(), true, s.log);
    env.PAWL_URL = s.url;
    const now = readFileSync(join(s.data, 'admin.token'), 'utf8').trim();
    equal([now !== old, statSync(join(s.data, 'admin.token')).mode & 0o777], [true, 0o600]);
    await said(0, ['Ada Berg'], 'user', 'ls');
    await said(1, ['not known'], 'user', 'ls', '--token', old);
    equal((await s.api(old, 'GET', '/me')).status, 401);
    equal((await s.api(now, 'GET', '/me')).body.name, 'admin');
});

equal(await s.stop(), 0, s.log);
end();
