// Sessions of browsers, tokens that expire, and requests from other sites' pages: every row of the
// table of routes is tried with a cookie and with a proxy's header; on both stores.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { claim, end, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { startServer } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const ORG_A = '018f5f00-0000-7000-8000-00000000000a';
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const routes = JSON.parse(execFileSync(join(root, 'build/tests/route_table'), { encoding: 'utf8' }));

/** Sign in; answers the cookie as a browser sends it, and what was set. */
async function signIn(s, token) {
    const answer = await s.api(null, 'POST', '/session', { token });
    equal(answer.status, 204, answer.raw);
    const [set] = answer.headers['set-cookie'];
    return { cookie: set.split(';')[0], set };
}

const own = (s) => ({ Origin: s.url });
const me = (s, cookie) => s.api(null, 'GET', '/me', undefined, { Cookie: cookie });
const waiting = { code: 'ask', steps: [{ code: 'a', procedure: { type: 'wait.signal', signalType: 'go' } }] };

// --- sessions ---

async function cookieIsTheUser(s) {
    const ada = await s.user({ name: 'Ada', role: 'admin' });
    const { cookie, set } = await signIn(s, ada.token);
    equal(/^pawl_session=pawl_[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/.test(set), true, set);
    equal((await me(s, cookie)).body.id, ada.id);
    equal((await me(s, `other=1; ${cookie}; more=2`)).body.id, ada.id);
    const changed = await s.api(null, 'PUT', '/config/by_cookie', { value: 1 }, { Cookie: cookie, ...own(s) });
    equal([200, 201].includes(changed.status), true, changed.raw);
    // The text of the cookie is no token, and a token is no cookie.
    refused(await s.api(cookie.split('=')[1], 'GET', '/me'), 401, 'unauthorized');
    refused(await me(s, `pawl_session=${ada.token}`), 401, 'unauthorized');
    // A token beside it counts, a wrong one too.
    equal((await s.api(s.token, 'GET', '/me', undefined, { Cookie: cookie })).body.name, 'admin');
    refused(await s.api('wrong', 'GET', '/me', undefined, { Cookie: cookie }), 401, 'unauthorized');
    equal((await s.asAdmin('GET', '/audit?action=session.begin')).body.items[0].user.id, ada.id);
}

async function wrongSignInsAreRefused(s) {
    const sign = (body, headers) => s.api(null, 'POST', '/session', body, headers);
    refused(await sign({ token: 'nonsense' }), 401, 'unauthorized');
    refused(await sign({}), 422, 'invalid');
    refused(await sign({ token: s.token, x: 1 }), 422, 'invalid');
    refused(await sign({ token: 'x'.repeat(5000) }), 413, 'too_large');
    for (const headers of [{ Origin: 'https://evil.example.org' }, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'null' }])
        refused(await sign({ token: s.token }, headers), 403, 'cross_site');
    equal((await sign({ token: s.token }, { ...own(s), 'Sec-Fetch-Site': 'same-origin' })).status, 204);
}

async function sessionsEnd(s) {
    const user = await s.user({ name: 'Bob', role: 'operator' });
    const signOut = (cookie) => s.api(null, 'DELETE', '/session', undefined, { Cookie: cookie, ...own(s) });
    const [one, two] = [await signIn(s, user.token), await signIn(s, user.token)];
    const out = await signOut(one.cookie);
    equal([out.status, out.headers['set-cookie'][0]], [204, 'pawl_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0']);
    refused(await me(s, one.cookie), 401, 'unauthorized');
    refused(await signOut(one.cookie), 401, 'unauthorized');
    equal((await me(s, two.cookie)).status, 200);
    // With its token.
    const token = (await s.asAdmin('POST', `/users/${user.id}/tokens`)).body;
    const three = await signIn(s, token.token);
    equal((await s.asAdmin('DELETE', `/tokens/${token.id}`)).status, 204);
    refused(await me(s, three.cookie), 401, 'unauthorized');
    equal((await me(s, two.cookie)).status, 200);
    // With its user.
    equal((await s.asAdmin('PATCH', `/users/${user.id}`, { active: false })).status, 200);
    refused(await me(s, two.cookie), 401, 'unauthorized');
    refused(await s.api(null, 'POST', '/session', { token: user.token }), 401, 'unauthorized');
}

async function streamsEndWithTheSession(s) {
    const user = await s.user({ name: 'Stream', role: 'viewer' });
    const { cookie } = await signIn(s, user.token);
    const stream = await fetch(`${s.url}/api/v1/events`, { headers: { Cookie: cookie } });
    equal(stream.status, 200);
    equal((await s.api(null, 'DELETE', '/session', undefined, { Cookie: cookie, ...own(s) })).status, 204);
    const reader = stream.body.getReader();
    await (async () => {
        while (!(await reader.read()).done);
    })().catch(() => {});
}

async function sessionsOutliveAKill(s) {
    const user = await s.user({ name: 'Survivor', role: 'viewer' });
    const kept = await signIn(s, user.token), gone = await signIn(s, user.token), admin = await signIn(s, s.token);
    await s.api(null, 'DELETE', '/session', undefined, { Cookie: gone.cookie, ...own(s) });
    await s.kill();
    equal(await s.start(), true, s.log);
    equal((await me(s, kept.cookie)).body.id, user.id);
    equal((await me(s, admin.cookie)).body.name, 'admin');
    refused(await me(s, gone.cookie), 401, 'unauthorized');
    // Another administrator's file is another token: what was signed in with the old one has ended.
    await s.kill();
    s.args = ['--new-admin-token'];
    equal(await s.start(), true, s.log);
    s.args = [];
    refused(await me(s, admin.cookie), 401, 'unauthorized');
    equal((await me(s, kept.cookie)).status, 200);
}

async function tokensExpire(s) {
    const user = await s.user({ name: 'Brief', role: 'viewer' });
    const make = (expiresAt) => s.asAdmin('POST', `/users/${user.id}/tokens`, { expiresAt });
    for (const wrong of ['soon', '2001-01-01T00:00:00Z', 7, '']) refused(await make(wrong), 422, 'invalid');
    const at = new Date(Date.now() + 1500).toISOString();
    const token = (await make(at)).body;
    equal(Date.parse(token.expiresAt), Date.parse(at));
    equal((await s.api(token.token, 'GET', '/me')).status, 200);
    const { cookie } = await signIn(s, token.token);
    equal((await me(s, cookie)).status, 200);
    const stream = await fetch(`${s.url}/api/v1/events`, { headers: { Authorization: `Bearer ${token.token}` } });
    await until('the token has expired', async () => (await s.api(token.token, 'GET', '/me')).status === 401);
    equal(Date.now() >= Date.parse(at), true, 'not before its time');
    equal((await s.api(token.token, 'GET', '/me')).body.detail.includes('expired'), true);
    refused(await me(s, cookie), 401, 'unauthorized');
    refused(await s.api(null, 'POST', '/session', { token: token.token }), 401, 'unauthorized');
    equal((await s.asAdmin('GET', `/users/${user.id}/tokens`)).body.items.map((t) => t.expiresAt), [null, token.expiresAt]);
    const reader = stream.body.getReader();
    await (async () => {
        while (!(await reader.read()).done);
    })().catch(() => {});
    equal((await make(null)).body.expiresAt, null);
}

// --- other sites ---

const nowhere = (path) => path.replaceAll(/\{id\}/g, '018f5f00-0000-7000-8000-0000000000ff').replaceAll(/\{\w+\*?\}/g, 'nothing');

/** What pages of other sites, and what no browser at all, would send. */
const foreign = (s) => [
    { Origin: 'https://evil.example.org' }, { Origin: 'null' }, { Origin: s.url.replace(/\d+$/, '1') }, { Origin: `${s.url}.evil.org` },
    { 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }, { Origin: s.url, 'Sec-Fetch-Site': 'cross-site' }, {},
];

/** Every row that changes something, by somebody who rests on `proof`: refused from elsewhere, let in from here. */
async function everyRouteFromElsewhere(s, proof) {
    const changing = routes.filter((r) => r.changes && r.csrf === 'same-origin');
    equal(changing.length >= 30, true, 'the table was read');
    // Hooks and links know no cookie and no proxy: whoever sends them is as good as another site.
    equal(routes.filter((r) => r.csrf === 'none' && !/^\/(hooks|callbacks)\//.test(r.path)), [], 'rows without protection');
    for (const { method, path } of changing) {
        if (path === '/api/v1/session') continue;
        const target = nowhere(path);
        for (const headers of foreign(s)) {
            const answer = await s.call(null, method, target, {}, { ...proof, ...headers });
            equal([answer.status, answer.body?.code], [403, 'cross_site'], `${method} ${target} ${JSON.stringify(headers)}`);
        }
        for (const headers of [{ Origin: s.url }, { 'Sec-Fetch-Site': 'same-origin' }, { Origin: s.url, 'Sec-Fetch-Site': 'none' }]) {
            const answer = await s.call(null, method, target, 'no JSON', { ...proof, ...headers });
            equal([401, 403, 500].includes(answer.status), false, `${method} ${target} from here: ${answer.raw}`);
        }
    }
    // Reading is not refused: a page of another site cannot see the answer.
    for (const headers of foreign(s)) equal((await s.api(null, 'GET', '/me', undefined, { ...proof, ...headers })).status, 200);
}

// --- other organisations ---

/** Every row about something of the default organisation, by those who have all roles in another one. */
async function everyRouteFromAnotherOrganisation(s) {
    await s.publish(waiting);
    await s.publish({ code: 'held', onError: 'hold', steps: [{ code: 'no', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none' } }] });
    const execution = (await s.asAdmin('POST', '/executions', { code: 'ask' })).body.id;
    await s.asAdmin('POST', '/executions', { code: 'held' });
    const letter = await until('there is a dead letter', async () => (await s.asAdmin('GET', '/dlq')).body.items[0]?.id);
    const user = await s.user({ name: 'Ours', role: 'viewer' });
    const shown = async () => JSON.stringify([
        (await s.asAdmin('GET', `/executions/${execution}`)).raw, (await s.asAdmin('GET', `/executions/${execution}/steps`)).raw,
        (await s.asAdmin('GET', `/dlq/${letter}`)).raw, (await s.asAdmin('GET', `/users/${user.id}`)).raw,
        (await s.asAdmin('GET', '/export')).raw,
    ]);
    const before = await shown();
    const ids = [['/executions/{id}', execution], ['/dlq/{id}', letter], ['/users/{id}', user.id], ['/tokens/{id}', user.tokenId]];
    const bodies = { '/signal': { type: 'go' }, '/assign': { assignee: 'a@example.org' }, '/migrate': { version: 1 }, '/resolve': { note: 'x' }, '/breakpoints': { nodes: [] }, '/users/{id}': { name: 'Theirs' } };
    let tried = 0;
    for (const role of ['admin', 'operator', 'viewer', 'member', 'supervisor', 'lead', 'executor', 'system', 'worker']) {
        const { token } = await s.user({ name: `their ${role}`, role, org_id: ORG_A });
        for (const { method, path, roles, ofInstallation } of routes) {
            const [prefix, id] = ids.find(([p]) => path.includes(p)) ?? [];
            const where = `${method} ${path} as ${role}`;
            const body = Object.entries(bodies).find(([end]) => path.endsWith(end))?.[1] ?? {};
            if (!prefix && !ofInstallation) continue;
            const answer = await s.call(token, method, nowhere(path.replace('{id}', id ?? '{id}')), method === 'GET' ? undefined : body);
            const wanted = !roles.includes(role) ? [403, 'forbidden'] : ofInstallation ? [403, 'default_org_only'] : [404, 'not_found'];
            equal([answer.status, answer.body?.code], wanted, where);
            tried++;
        }
    }
    equal(tried > 300, true, `${tried} calls were made`);
    equal(await shown() === before, true, 'nothing has changed');
}

// ---

async function runAll(name, store) {
    const proxy = ['--auth-header', 'X-Forwarded-Email', '--trusted-proxy', '127.0.0.1/32'];
    const s = await startServer({ store, args: proxy });
    const on = (text, test) => claim(`${name}: ${text}`, test);

    await on('a cookie is the user whose token was given', () => cookieIsTheUser(s));
    await on('a sign-in that is wrong, or from another site, is refused', () => wrongSignInsAreRefused(s));
    await on('a session ends by itself, with its token and with its user', () => sessionsEnd(s));
    await on('streams end with the session', () => streamsEndWithTheSession(s));
    await on('tokens expire, and what rests on them', () => tokensExpire(s));
    await on('every route refuses what another site makes a browser with a cookie send', async () =>
        everyRouteFromElsewhere(s, { Cookie: (await signIn(s, s.token)).cookie }));
    await on('every route refuses what another site sends through a proxy that signs in', async () => {
        await s.user({ name: 'Proxied', role: 'admin', email: 'boss@example.org' });
        await everyRouteFromElsewhere(s, { 'X-Forwarded-Email': 'boss@example.org' });
    });
    await on('nobody of another organisation reaches or changes what is not theirs', () => everyRouteFromAnotherOrganisation(s));
    await on('sessions outlive a kill', () => sessionsOutliveAKill(s));
    await on('the server ends well', async () => equal(await s.stop(), 0, s.log));
}

await onStores(runAll);

await claim('behind TLS the cookie is secure, and the public address is the origin', async () => {
    const s = await startServer({ args: ['--public-url', 'https://pawl.example.org/'] });
    const { cookie, set } = await signIn(s, s.token);
    equal(set.endsWith('; Secure'), true, set);
    const put = (Origin) => s.api(null, 'PUT', '/config/x', { value: 1 }, { Cookie: cookie, Origin });
    equal((await put('https://pawl.example.org')).status, 201);
    refused(await put(s.url), 403, 'cross_site');
    refused(await put('http://pawl.example.org'), 403, 'cross_site');
    equal(await s.stop(), 0, s.log);
});
end();
