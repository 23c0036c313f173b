// Who may do what: roles, tokens, organisations, the access of definitions, the audit log; on both stores.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { claim, end, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { startServer } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const ORG_A = '018f5f00-0000-7000-8000-00000000000a';
const NOBODY = '018f5f00-0000-7000-8000-0000000000ff';
const ROLES = ['admin', 'operator', 'viewer', 'member', 'supervisor', 'lead', 'executor', 'system', 'worker'];
const READS = ['admin', 'operator', 'viewer'];
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const waiting = (code, access) => ({
    code,
    ...(access ? { access } : {}),
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } }],
});

// What the contract says of the calls that it names; the others go by their row.
const CONTRACT = {
    'POST /api/v1/executions': ['admin', 'operator'],
    'GET /api/v1/executions': READS,
    'GET /api/v1/executions/{id}': READS,
    'GET /api/v1/executions/{id}/steps': READS,
    'POST /api/v1/executions/{id}/signal': ['admin', 'operator'],
    'POST /api/v1/executions/{id}/cancel': ['admin', 'operator'],
    'POST /api/v1/executions/{id}/pause': ['admin', 'operator'],
    'POST /api/v1/executions/{id}/resume': ['admin', 'operator'],
    'GET /api/v1/scenarios': READS,
    'PUT /api/v1/scenarios/{code}/draft': ['admin'],
    'POST /api/v1/scenarios/{code}/publish': ['admin'],
    'GET /api/v1/users': ['admin'],
    'POST /api/v1/users': ['admin'],
    'PATCH /api/v1/users/{id}': ['admin'],
    'POST /api/v1/users/{id}/tokens': ['admin'],
    'DELETE /api/v1/tokens/{id}': ['admin'],
    'GET /api/v1/me': ROLES,
    'GET /api/v1/audit': ['admin'],
};

// Every route with the roles that have its right, from the table that the server is built of.
const routes = () => JSON.parse(execFileSync(join(root, 'build/tests/route_table'), { encoding: 'utf8' }));

// --- claims, each on a server of the store ---

async function everyRouteByEveryRole(s) {
    const tokens = {};
    for (const role of ROLES) tokens[role] = (await s.user({ name: role, role })).token;
    const all = routes();
    equal(all.length >= 26, true, 'the table was read');
    for (const { method, path, isOpen, roles } of all) {
        const where = `${method} ${path}`;
        const target = path.replaceAll('{id}', NOBODY).replaceAll(/\{\w+\}/g, 'nothing');
        if (CONTRACT[where]) equal([...roles].sort(), [...CONTRACT[where]].sort(), where);
        if (isOpen) {
            const open = await s.call(null, method, target);
            equal(open.status === 401 || open.status === 403, false, where);
            continue;
        }
        refused(await s.call(null, method, target), 401, 'unauthorized');
        for (const role of ROLES) {
            const answer = await s.call(tokens[role], method, target);
            // What does not exist is not found, but only by those who may look.
            if (!roles.includes(role)) refused(answer, 403, 'forbidden');
            else equal([401, 403, 500].includes(answer.status), false, `${where} as ${role}: ${answer.raw}`);
        }
    }
    equal(Object.keys(CONTRACT).every((key) => all.some((r) => `${r.method} ${r.path}` === key)), true);
}

async function usersAreMadeAndChanged(s) {
    const made = await s.asAdmin('POST', '/users', {
        name: 'Ada', email: 'Ada@Example.org', role: 'executor', groups: ['welders'],
        skill_level: 7, specializations: ['steel'],
    });
    equal(made.status, 201, made.raw);
    const { id, token, tokenId, createdAt, updatedAt, ...rest } = made.body;
    equal(made.headers.location, `/api/v1/users/${id}`);
    equal(/^pawl_[0-9a-f]{64}$/.test(token), true, 'token');
    equal(rest, {
        name: 'Ada', email: 'ada@example.org', role: 'executor', groups: ['welders'],
        org_id: '00000000-0000-7000-8000-000000000001', skill_level: 7, specializations: ['steel'],
        namespaces: [], active: true,
    });
    const me = await s.api(token, 'GET', '/me');
    equal([me.status, me.body.id, me.body.role], [200, id, 'executor']);
    equal('token' in me.body, false);
    const { may, ...shown } = me.body;
    equal(Array.isArray(may), true);
    equal((await s.asAdmin('GET', `/users/${id}`)).body, shown);
    const changed = await s.asAdmin('PATCH', `/users/${id}`, { role: 'lead', groups: [], skill_level: null });
    equal([changed.status, changed.body.role, changed.body.groups, changed.body.skill_level, changed.body.name],
        [200, 'lead', [], null, 'Ada']);
    equal((await s.api(token, 'GET', '/me')).body.role, 'lead');
    refused(await s.asAdmin('GET', `/users/${NOBODY}`), 404, 'not_found');
    refused(await s.asAdmin('PATCH', `/users/${NOBODY}`, { name: 'x' }), 404, 'not_found');
    refused(await s.asAdmin('POST', `/users/${NOBODY}/tokens`), 404, 'not_found');
    refused(await s.asAdmin('GET', `/users/${NOBODY}/tokens`), 404, 'not_found');
    refused(await s.asAdmin('DELETE', `/tokens/${NOBODY}`), 404, 'not_found');
    const taken = await s.asAdmin('POST', '/users', { name: 'Eve', email: 'ADA@example.org', role: 'viewer' });
    refused(taken, 409, 'conflict');
}

async function wrongUsersAreToldAll(s) {
    const answer = await s.asAdmin('POST', '/users', {
        name: '', role: 'operater', email: 'nobody', groups: [1], org_id: 'x', skill_level: 'high', nmae: 1,
    });
    refused(answer, 422, 'invalid');
    equal(answer.body.errors.map((e) => [e.pointer, e.code, e.hint]),
        [['/nmae', 'unknown_field', "did you mean 'name'?"]]);
    const rest = await s.asAdmin('POST', '/users', {
        name: '', role: 'operater', email: 'nobody', groups: [1], org_id: 'x', skill_level: 'high',
    });
    equal(rest.body.errors.map((e) => e.pointer),
        ['/name', '/email', '/role', '/groups', '/org_id', '/skill_level']);
    equal(rest.body.errors.find((e) => e.pointer === '/role').hint, "did you mean 'operator'?");
    const none = await s.asAdmin('POST', '/users', {});
    equal(none.body.errors.map((e) => [e.pointer, e.code]), [['/name', 'missing_field'], ['/role', 'missing_field']]);
}

async function usersAreListed(s) {
    const all = [];
    let cursor = '';
    do {
        const page = (await s.asAdmin('GET', `/users?limit=3&cursor=${cursor}`)).body;
        equal(page.items.length <= 3, true);
        all.push(...page.items);
        cursor = page.nextCursor;
    } while (cursor);
    equal([all[0].name, all.some((u) => u.name === 'Ada')], ['admin', true]);
    equal(new Set(all.map((u) => u.id)).size, all.length, 'each once');
    equal((await s.asAdmin('GET', '/users?q=ada@example.org')).body.items.map((u) => u.name), ['Ada']);
    equal((await s.asAdmin('GET', '/users?role=lead')).body.items.map((u) => u.name).sort(), ['Ada', 'lead']);
    refused(await s.asAdmin('GET', '/users?role=king'), 400, 'bad_request');
    refused(await s.asAdmin('GET', '/users?cursor=x'), 400, 'bad_request');
}

async function tokensAreMadeAndRevoked(s) {
    const user = await s.user({ name: 'Tom', role: 'operator' });
    const made = await s.asAdmin('POST', `/users/${user.id}/tokens`, { name: 'laptop' });
    equal([made.status, made.body.name, made.body.userId, made.body.lastUsedAt], [201, 'laptop', user.id, null]);
    equal((await s.api(made.body.token, 'GET', '/me')).body.id, user.id);
    const list = await s.asAdmin('GET', `/users/${user.id}/tokens`);
    equal(list.body.items.map((t) => [t.id, t.name]), [[user.tokenId, null], [made.body.id, 'laptop']]);
    equal(list.raw.includes('pawl_'), false, 'a token is shown once');
    await until('the use of the token is written', async () =>
        (await s.asAdmin('GET', `/users/${user.id}/tokens`)).body.items[1].lastUsedAt !== null);
    equal((await s.asAdmin('DELETE', `/tokens/${made.body.id}`)).status, 204);
    refused(await s.api(made.body.token, 'GET', '/me'), 401, 'unauthorized');
    equal((await s.api(user.token, 'GET', '/me')).status, 200);
    refused(await s.asAdmin('DELETE', `/tokens/${made.body.id}`), 404, 'not_found');
}

async function tokensAreRotated(s) {
    const user = await s.user({ name: 'Rita', role: 'operator' });
    const path = `/users/${user.id}/tokens`;
    const soon = new Date(Date.now() + 86400e3).toISOString();
    const laptop = (await s.asAdmin('POST', path, { name: 'laptop', expiresAt: soon })).body;
    const other = (await s.asAdmin('POST', path, { name: 'ci' })).body;
    const lets = async (token) => (await s.api(token, 'GET', '/me')).status;

    // One of them: name and expiry are kept, and the others stay.
    const one = await s.asAdmin('POST', path, { replaces: laptop.id });
    equal([one.status, one.body.name, Date.parse(one.body.expiresAt)], [201, 'laptop', Date.parse(soon)]);
    equal([await lets(laptop.token), await lets(one.body.token), await lets(other.token)], [401, 200, 200]);
    refused(await s.asAdmin('POST', path, { replaces: laptop.id }), 404, 'not_found');
    refused(await s.asAdmin('POST', path, { replaces: 'some' }), 422, 'invalid');
    equal(await lets(one.body.token), 200, 'what is refused ends nothing');

    // All of them: a session that rests on one ends too.
    const session = await s.api(null, 'POST', '/session', { token: other.token });
    const browser = { Cookie: session.headers['set-cookie'][0].split(';')[0] };
    equal((await s.api(null, 'GET', '/me', undefined, browser)).status, 200);
    const all = await s.asAdmin('POST', path, { replaces: 'all', name: 'new', expiresAt: null });
    equal([all.status, all.body.name, all.body.expiresAt], [201, 'new', null]);
    equal([await lets(user.token), await lets(one.body.token), await lets(other.token), await lets(all.body.token)],
        [401, 401, 401, 200]);
    equal((await s.asAdmin('GET', path)).body.items.map((t) => t.id), [all.body.id]);
    equal((await s.api(null, 'GET', '/me', undefined, browser)).status, 401);
    const told = (await s.asAdmin('GET', `/audit?action=token.rotate&target=${user.id}`)).body.items;
    equal(told.map((a) => a.details.replaces), ['all', laptop.id]);
    equal(told[0].details.tokenId, all.body.id);
}

async function inactiveUsersAreShutOut(s) {
    const user = await s.user({ name: 'Ian', role: 'operator' });
    equal((await s.asAdmin('PATCH', `/users/${user.id}`, { active: false })).body.active, false);
    const answer = await s.api(user.token, 'GET', '/me');
    refused(answer, 401, 'unauthorized');
    equal(answer.body.detail.includes('not active'), true);
    refused(await s.asAdmin('POST', `/users/${user.id}/tokens`), 409, 'conflict');
    equal((await s.asAdmin('PATCH', `/users/${user.id}`, { active: true })).status, 200);
    equal((await s.api(user.token, 'GET', '/me')).status, 200);
}

async function administratorStays(s) {
    const me = (await s.asAdmin('GET', '/me')).body;
    equal([me.name, me.role, me.active], ['admin', 'admin', true]);
    for (const change of [{ active: false }, { role: 'viewer' }, { org_id: ORG_A }])
        refused(await s.asAdmin('PATCH', `/users/${me.id}`, change), 409, 'conflict');
    equal((await s.asAdmin('PATCH', `/users/${me.id}`, { groups: ['finance'] })).body.groups, ['finance']);
}

async function repeatedUserHasNoToken(s) {
    const key = { 'Idempotency-Key': 'user-1' };
    const body = { name: 'Rep', role: 'viewer' };
    const first = await s.asAdmin('POST', '/users', body, key);
    const second = await s.asAdmin('POST', '/users', body, key);
    equal([first.status, second.status, second.body.id], [201, 201, first.body.id]);
    equal([typeof first.body.token, second.body.token], ['string', undefined]);
    refused(await s.asAdmin('POST', '/users', { ...body, role: 'admin' }, key), 409, 'idempotency_conflict');
}

/** Each organisation has records of its own, also under the same name, by hand and in processes. */
async function recordsOfOrganisationsAreApart(s) {
    const theirs = await s.user({ name: 'Rita', role: 'operator', org_id: ORG_A });
    await s.publish({
        code: 'counts_up',
        steps: [{
            code: 'add',
            procedure: [
                { type: 'record.get', object: 'apart', id: 'R-1', as: 'r' },
                { type: 'record.update', object: 'apart', id: 'R-1', data: { n: '=r.n + 1' } },
                { type: 'record.query', object: 'apart', result: '$.response.count' },
            ],
        }],
    });
    equal((await s.asAdmin('PUT', '/records/apart/R-1', { n: 100 })).status, 201);
    refused(await s.api(theirs.token, 'GET', '/records/apart/R-1'), 404, 'not_found');
    refused(await s.api(theirs.token, 'DELETE', '/records/apart/R-1'), 404, 'not_found');
    equal((await s.api(theirs.token, 'GET', '/records/apart')).body.items, []);
    const made = await s.api(theirs.token, 'PUT', '/records/apart/R-1', { n: 1 });
    equal([made.status, made.body.version], [201, 1], made.raw);
    const run = async (token) => (await s.api(token, 'POST', '/executions?wait=30s', { code: 'counts_up' })).body;
    equal((await run(theirs.token)).context.steps.add.output, 1, 'it finds one record');
    equal((await run(theirs.token)).status, 'completed');
    equal((await s.api(theirs.token, 'GET', '/records/apart/R-1')).body.n, 3);
    equal((await s.asAdmin('GET', '/records/apart/R-1')).body.n, 100);
    equal((await s.api(theirs.token, 'DELETE', '/records/apart/R-1')).status, 204);
    equal((await s.asAdmin('GET', '/records/apart/R-1')).status, 200);
}

async function organisationsAreApart(s) {
    await s.publish(waiting('apart'));
    const theirs = await s.user({ name: 'Olga', role: 'operator', org_id: ORG_A });
    const boss = await s.user({ name: 'Boss', role: 'admin', org_id: ORG_A });
    const started = await s.api(theirs.token, 'POST', '/executions', { code: 'apart', key: 'K' });
    equal(started.status, 201, started.raw);
    const { id } = started.body;
    const ours = await s.asAdmin('POST', '/executions', { code: 'apart', key: 'K' });
    equal(ours.status, 201, 'a key is an organisation\'s own');
    for (const path of [`/executions/${id}`, `/executions/${id}/steps`, `/executions/${id}/context`])
        refused(await s.asAdmin('GET', path), 404, 'not_found');
    refused(await s.asAdmin('DELETE', `/executions/${id}`), 404, 'not_found');
    const all = { action: 'signal', type: 'other', filter: { code: 'apart' } };
    equal((await s.asAdmin('POST', '/executions/bulk', all)).body.matched, 1, 'only ours');
    equal((await s.asAdmin('POST', '/signals', { type: 'other', key: 'K' })).body.executionId, ours.body.id);
    equal((await s.api(theirs.token, 'POST', '/signals', { type: 'other', key: 'K' })).body.executionId, id);
    refused(await s.asAdmin('POST', `/executions/${id}/signal`, { type: 'go' }), 404, 'not_found');
    refused(await s.asAdmin('POST', `/executions/${id}/cancel`), 404, 'not_found');
    refused(await s.api(theirs.token, 'POST', `/executions/${ours.body.id}/cancel`), 404, 'not_found');
    const ids = async (token, query) =>
        (await s.api(token, 'GET', `/executions?code=apart${query}`)).body.items.map((x) => x.id);
    equal(await ids(s.token, ''), [ours.body.id]);
    equal(await ids(theirs.token, ''), [id]);
    for (const query of [`&q=${id}`, `&q=${id.slice(-12)}`, '&key=K', '&status=waiting']) {
        equal((await ids(s.token, query)).includes(id), false, query);
        equal(await ids(theirs.token, query), [id], query);
    }
    equal((await s.api(theirs.token, 'POST', `/executions/${id}/signal`, { type: 'go' })).status, 202);
    equal((await s.asAdmin('POST', `/executions/${ours.body.id}/cancel`)).status, 202);
    // An administrator of another organisation has the users of that one.
    const users = (await s.api(boss.token, 'GET', '/users')).body.items;
    equal(users.map((u) => u.name), ['Olga', 'Boss']);
    const admin = (await s.asAdmin('GET', '/me')).body.id;
    refused(await s.api(boss.token, 'GET', `/users/${admin}`), 404, 'not_found');
    refused(await s.api(boss.token, 'PATCH', `/users/${admin}`, { name: 'x' }), 404, 'not_found');
    refused(await s.api(boss.token, 'POST', `/users/${admin}/tokens`), 404, 'not_found');
    refused(await s.api(boss.token, 'GET', `/users/${admin}/tokens`), 404, 'not_found');
    refused(await s.api(boss.token, 'POST', '/users', { name: 'x', role: 'admin', org_id: users[0].org_id.replace(/a$/, '1') }),
        403, 'forbidden');
    refused(await s.api(boss.token, 'PATCH', `/users/${theirs.id}`, { org_id: NOBODY }), 403, 'forbidden');
    equal((await s.api(boss.token, 'POST', '/users', { name: 'New', role: 'viewer' })).body.org_id, ORG_A);
    const log = (await s.api(boss.token, 'GET', '/audit')).body.items;
    equal(log.map((a) => [a.user.name, a.action]), [['Boss', 'user.create'],
        ['Olga', 'execution.signal'], ['Olga', 'execution.signal'], ['Olga', 'execution.start']]);
}

async function accessNarrows(s) {
    const inside = await s.user({ name: 'In', role: 'operator', groups: ['finance'] });
    const outside = await s.user({ name: 'Out', role: 'operator' });
    const looker = await s.user({ name: 'Look', role: 'viewer', groups: ['audit'] });
    await s.publish(waiting('narrow', {
        start: ['group:finance'], view: ['group:finance', 'group:audit', 'operator'], operate: ['group:finance'],
    }));
    await s.publish(waiting('hidden', { view: ['group:finance'] }));
    refused(await s.api(outside.token, 'POST', '/executions', { code: 'narrow' }), 403, 'forbidden');
    const { id } = (await s.api(inside.token, 'POST', '/executions', { code: 'narrow' })).body;
    equal((await s.api(outside.token, 'GET', `/executions/${id}`)).status, 200);
    refused(await s.api(outside.token, 'POST', `/executions/${id}/signal`, { type: 'go' }), 403, 'forbidden');
    refused(await s.api(outside.token, 'POST', `/executions/${id}/cancel`), 403, 'forbidden');
    equal((await s.api(looker.token, 'GET', `/executions/${id}`)).status, 200);
    refused(await s.api(looker.token, 'POST', `/executions/${id}/cancel`), 403, 'forbidden');
    refused(await s.api(outside.token, 'DELETE', `/executions/${id}`), 403, 'forbidden');
    const many = (token, code, dryRun) =>
        s.api(token, 'POST', '/executions/bulk', { action: 'cancel', filter: { code }, dryRun });
    for (const dryRun of [true, false])
        equal((await many(outside.token, 'narrow', dryRun)).body.matched, 0, 'one acts on what one may operate');
    equal((await many(inside.token, 'narrow', true)).body.matched, 1);
    // What one may not view is not there.
    const hidden = (await s.api(inside.token, 'POST', '/executions', { code: 'hidden' })).body.id;
    for (const path of [`/executions/${hidden}`, `/executions/${hidden}/steps`, `/executions/${hidden}/context`])
        refused(await s.api(outside.token, 'GET', path), 404, 'not_found');
    refused(await s.api(outside.token, 'DELETE', `/executions/${hidden}`), 404, 'not_found');
    equal((await many(outside.token, 'hidden', true)).body.matched, 0);
    refused(await s.api(outside.token, 'POST', `/executions/${hidden}/signal`, { type: 'go' }), 404, 'not_found');
    equal((await s.asAdmin('GET', `/executions/${hidden}`)).status, 200);
    equal((await s.api(inside.token, 'POST', `/executions/${hidden}/signal`, { type: 'go' })).status, 202);
    equal((await s.api(outside.token, 'GET', '/executions?code=hidden')).body, { items: [], nextCursor: null });
    // A change of groups counts from its answer on.
    equal((await s.asAdmin('PATCH', `/users/${outside.id}`, { groups: ['finance'] })).status, 200);
    equal((await s.api(outside.token, 'GET', `/executions/${hidden}`)).status, 200);
}

async function listsFillThePageWithWhatIsVisible(s) {
    const viewer = await s.user({ name: 'Gap', role: 'viewer' });
    await s.publish(waiting('seen'));
    const wanted = [];
    for (let i = 0; i < 6; i++) {
        wanted.unshift((await s.asAdmin('POST', '/executions', { code: 'seen' })).body.id);
        for (let n = 0; n < 3; n++) await s.asAdmin('POST', '/executions', { code: 'hidden' });
    }
    const page = (await s.api(viewer.token, 'GET', '/executions?limit=4')).body;
    equal(page.items.map((x) => x.id), wanted.slice(0, 4));
    const rest = (await s.api(viewer.token, 'GET', `/executions?limit=2&cursor=${page.nextCursor}`)).body;
    equal(rest.items.map((x) => x.id), wanted.slice(4));
}

// --- streams ---

/** Follow a stream: {status, text, closed}, all of them growing. */
function follow(s, token, path) {
    const state = { status: 0, text: '', closed: false };
    const url = new URL(`${s.url}/api/v1${path}`);
    const request = http.get(url, { agent: false, headers: { Authorization: `Bearer ${token}` } }, (answer) => {
        state.status = answer.statusCode;
        answer.setEncoding('utf8');
        answer.on('data', (part) => (state.text += part));
        answer.on('error', () => {});
        answer.on('close', () => (state.closed = true));
    });
    request.on('error', () => (state.closed = true));
    state.end = () => request.destroy();
    return state;
}

async function streamsShowWhatIsVisible(s) {
    const insider = await s.user({ name: 'Stream in', role: 'operator', groups: ['finance'] });
    const outsider = await s.user({ name: 'Stream out', role: 'viewer' });
    const foreigner = await s.user({ name: 'Stream far', role: 'operator', org_id: ORG_A });
    const feeds = [insider, outsider, foreigner].map((u) => follow(s, u.token, '/events'));
    await until('they listen', () => feeds.every((f) => f.status === 200));
    const start = async (token, code) => (await s.api(token, 'POST', '/executions', { code })).body.id;
    const hidden = await start(insider.token, 'hidden');
    const open = await start(insider.token, 'seen');
    const far = await start(foreigner.token, 'seen');
    const last = await start(insider.token, 'seen');
    const lastFar = await start(foreigner.token, 'seen');
    await until('all hints', () => feeds[0].text.includes(last) && feeds[1].text.includes(last) && feeds[2].text.includes(lastFar));
    const saw = (feed) => [hidden, open, far].map((id) => feed.text.includes(id));
    equal(feeds.map(saw), [[true, true, false], [false, true, false], [false, false, true]]);
    for (const [user, id, status] of [[insider, hidden, 200], [outsider, hidden, 404], [outsider, open, 200],
        [foreigner, open, 404], [insider, far, 404]]) {
        const stream = follow(s, user.token, `/executions/${id}/events`);
        await until('it is answered', () => stream.status !== 0);
        equal(stream.status, status, user.name);
        stream.end();
    }
    feeds.forEach((f) => f.end());
}

async function streamsEndWithTheRight(s) {
    const make = async (name) => s.user({ name, role: 'viewer' });
    const [revoked, inactive, changed, same] = await Promise.all(['R', 'I', 'C', 'S'].map(make));
    const { id } = (await s.asAdmin('POST', '/executions', { code: 'seen' })).body;
    const streams = [];
    for (const user of [revoked, inactive, changed, same])
        streams.push(follow(s, user.token, '/events'), follow(s, user.token, `/executions/${id}/events`));
    await until('all are open', () => streams.every((x) => x.status === 200));
    await s.asAdmin('DELETE', `/tokens/${revoked.tokenId}`);
    await s.asAdmin('PATCH', `/users/${inactive.id}`, { active: false });
    await s.asAdmin('PATCH', `/users/${changed.id}`, { groups: ['other'] });
    await until('six are cut', () => streams.slice(0, 6).every((x) => x.closed));
    equal(streams.slice(6).map((x) => x.closed), [false, false]);
    streams.forEach((x) => x.end());
}

async function auditTellsWhoDidWhat(s) {
    const user = await s.user({ name: 'Watched', role: 'operator' });
    const made = (await s.asAdmin('POST', `/users/${user.id}/tokens`)).body;
    await s.asAdmin('PATCH', `/users/${user.id}`, { role: 'viewer' });
    await s.asAdmin('DELETE', `/tokens/${made.id}`);
    const about = (await s.asAdmin('GET', `/audit?target=${user.id}`)).body.items;
    equal(about.map((a) => [a.user.name, a.action]),
        [['admin', 'user.update'], ['admin', 'token.create'], ['admin', 'user.create']]);
    equal(about[0].details, { role: 'viewer' });
    equal(about[1].details, { tokenId: made.id });
    equal(Object.keys(about[0]), ['id', 'at', 'user', 'action', 'target', 'details']);
    equal((await s.asAdmin('GET', '/audit?action=token.revoke&limit=1')).body.items[0].target, made.id);
    for (const name of ['admin', about[0].user.id])
        equal((await s.asAdmin('GET', `/audit?user=${name}&target=${user.id}`)).body.items.length, 3);
    equal((await s.asAdmin('GET', `/audit?user=Watched`)).body.items, []);
    equal((await s.asAdmin('GET', `/audit?from=${about[0].at}&to=${about[0].at}`)).body.items.map((a) => a.id), [about[0].id]);
    equal((await s.asAdmin('GET', `/audit?to=2020-01-01`)).body.items, []);
    refused(await s.asAdmin('GET', '/audit?from=soon'), 400, 'bad_request');
    refused(await s.asAdmin('GET', '/audit?cursor=x'), 400, 'bad_request');
    const ids = [];
    let cursor = '', raw = '';
    do {
        const page = await s.asAdmin('GET', `/audit?limit=7&cursor=${cursor}`);
        raw += page.raw;
        ids.push(...page.body.items.map((a) => a.id));
        cursor = page.body.nextCursor;
    } while (cursor);
    equal(ids, [...new Set(ids)].sort((a, b) => b - a), 'newest first, each once');
    equal(raw.includes('pawl_'), false, 'no token in the log');
    for (const action of ['scenario.publish', 'execution.cancel', 'user.create', 'user.update', 'token.revoke'])
        equal(raw.includes(`"${action}"`), true, action);
}

async function tokensOutliveAKill(s, stored) {
    const user = await s.user({ name: 'Survivor', role: 'viewer' });
    const gone = (await s.asAdmin('POST', `/users/${user.id}/tokens`)).body;
    await s.asAdmin('DELETE', `/tokens/${gone.id}`);
    await s.kill();
    equal(stored(user.token), false, 'the token in the store');
    equal(stored(user.id), true, 'the user in the store');
    equal(await s.start(), true, s.log);
    equal((await s.api(user.token, 'GET', '/me')).body.id, user.id);
    refused(await s.api(gone.token, 'GET', '/me'), 401, 'unauthorized');
    equal((await s.asAdmin('GET', '/me')).status, 200);
}

// --- two servers, one database ---

async function serversSeeEachOther(a, store) {
    const b = await startServer({ store, beside: a });
    try {
        const user = await a.user({ name: 'Both', role: 'operator' });
        const status = async (server, token) => (await server.api(token, 'GET', '/me')).status;
        equal(await status(a, user.token), 200);
        await until('the other server knows the token', async () => (await status(b, user.token)) === 200);
        equal((await a.asAdmin('PATCH', `/users/${user.id}`, { role: 'viewer' })).status, 200);
        await until('the other server knows the role', async () =>
            (await b.api(user.token, 'POST', '/executions', {})).status === 403);
        // Changes on both at once: neither forgets its own.
        const [one, two] = await Promise.all([a.user({ name: 'One' }), b.user({ name: 'Two' })]);
        equal([await status(a, one.token), await status(b, two.token)], [200, 200]);
        equal((await b.asAdmin('DELETE', `/tokens/${user.tokenId}`)).status, 204);
        equal(await status(b, user.token), 401);
        await until('the first server knows that it is revoked', async () => (await status(a, user.token)) === 401);
        await until('both know both', async () =>
            (await status(a, two.token)) === 200 && (await status(b, one.token)) === 200);
    } finally {
        equal(await b.stop(), 0, b.log);
    }
}

// ---

function filesHold(folder) {
    return (text) => readdirSync(folder)
        .filter((name) => name !== 'admin.token' && statSync(join(folder, name)).isFile())
        .some((name) => readFileSync(join(folder, name)).includes(text));
}

async function runAll(name, store, stored) {
    const s = await startServer({ store });
    const on = (text, test) => claim(`${name}: ${text}`, test);

    await on('every route lets in the roles of its right, and nobody else', () => everyRouteByEveryRole(s));
    await on('users are made, shown and changed', () => usersAreMadeAndChanged(s));
    await on('all that is wrong with a user is told', () => wrongUsersAreToldAll(s));
    await on('users are listed in pages', () => usersAreListed(s));
    await on('tokens are made, used, revoked', () => tokensAreMadeAndRevoked(s));
    await on('tokens are rotated in one step', () => tokensAreRotated(s));
    await on('inactive users are shut out at once', () => inactiveUsersAreShutOut(s));
    await on('the built-in administrator stays', () => administratorStays(s));
    await on('a repeated request is not told the token again', () => repeatedUserHasNoToken(s));
    await on('organisations are apart', () => organisationsAreApart(s));
    await on('records of organisations are apart', () => recordsOfOrganisationsAreApart(s));
    await on('the access of a definition narrows', () => accessNarrows(s));
    await on('pages are filled with what is visible', () => listsFillThePageWithWhatIsVisible(s));
    await on('streams show what is visible', () => streamsShowWhatIsVisible(s));
    await on('streams end with the right to them', () => streamsEndWithTheRight(s));
    await on('the audit log tells who did what', () => auditTellsWhoDidWhat(s));
    await on('tokens outlive a kill, and only their hashes are stored', () =>
        tokensOutliveAKill(s, store ? stored : filesHold(s.data)));
    if (store) await on('servers of one database see each other\'s changes', () =>
        serversSeeEachOther(s, store));
    await on('the server ends well', async () => equal(await s.stop(), 0, s.log));
}

await onStores((name, store, postgres) => runAll(name, store, (text) => postgres.run('pg_dump', '-d', store).includes(text)));
end();
