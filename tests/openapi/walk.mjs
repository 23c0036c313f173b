// walk.mjs - a way through every operation that meets each of its documented answers at least once.
//
// Left out, because they are met in the same way everywhere (test_routes.mjs does that): 400 of a
// path that is no UTF-8 or a body that is no JSON, 401, 403, 413. Left out, because a healthy server
// does not give them: 500, 503.

import { walkChecks, walkCredentials, walkDefinitions, walkDryRun, walkLive, walkProcedures, walkSchemas, walkMachines } from './walk_definitions.mjs';
import { walkDeadLetters, walkEvents, walkExecutions, walkMany } from './walk_executions.mjs';
import { walkPlanner } from './walk_planner.mjs';
import { NOBODY, publish } from './walk_world.mjs';

// --- webhooks ---

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'];
const hooked = {
    code: 'hooked',
    triggers: methods.flatMap((method) => [
        { type: 'webhook', path: 'walk', method, key: method },
        { type: 'webhook', path: 'walk/signed', method, verify: { credential: 'walk_hmac', header: 'x-signature' } },
        { type: 'webhook', path: 'walk/broken', method, when: 'webhook.headers["x-not-there"] == "1"' },
        { type: 'webhook', path: 'walk/idle', method, when: 'false' },
    ]),
    steps: [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }],
};

async function walkHooks(api, holds) {
    await api.call('putCredential', { path: { code: 'walk_hmac' }, body: { type: 'hmac', secret: 'walk' } }, 201);
    await publish(api, hooked);
    for (const method of methods) {
        const id = `callWebhook${method[0]}${method.slice(1).toLowerCase()}`;
        const call = (path, wanted) => api.call(id, { path: { path }, token: null }, wanted);
        const started = await call('walk', 202);
        holds((await api.call('getExecution', { path: { id: started.json.id } }, 200)).json.key === method, 'the key of the trigger');
        holds((await call('walk', 409)).json.executionId === undefined, 'a stranger is not told who has the key');
        await call('walk/signed', 401);
        await call('walk/broken', 422);
        holds((await call('walk/idle', 202)).json.id === null, 'nothing has happened');
        await call('walk/nowhere', 404);
    }
    const page = await api.call('listHooks', { query: { limit: 1 } }, 200);
    holds(page.json.nextCursor !== null, 'webhooks are listed');
    await api.call('listHooks', { query: { cursor: 'x' } }, 400);
    const lately = await api.call('listDeliveries', { path: { path: 'walk/idle' } }, 200);
    holds(lately.json.items.length === methods.length && lately.json.items.every((d) => d.outcome === 'ignored'), 'and what came to them');
    await api.call('listDeliveries', { path: { path: 'walk/signed' } }, 200);
    await api.call('listDeliveries', { path: { path: 'walk/broken' }, query: { limit: 2 } }, 200);
    await api.call('listDeliveries', { path: { path: 'walk/off' } }, 404);
    await api.call('listDeliveries', { path: { path: 'walk' }, query: { limit: 0 } }, 400);
}

// --- jobs ---

const working = { code: 'working', steps: [{ code: 'do', procedure: 'walk.work', input: { n: 1 }, retry: { maxAttempts: 1 } }] };

async function walkJobs(api, holds) {
    const claimed = async () => {
        await api.call('startExecution', { body: { code: 'working' } }, 201);
        const { json } = await api.call('claimJobs', { body: { types: ['walk.work'], wait: '10s', lease: '60s', worker: 'walker' } }, 200);
        holds(json.items.length === 1, 'a job is claimed');
        return json.items[0];
    };
    await publish(api, working);
    await api.call('claimJobs', { body: { types: [] } }, 422);
    await api.call('startExecution', { body: { code: 'working' } }, 201);
    const claim = { headers: { 'Idempotency-Key': 'walk-claim' }, body: { types: ['walk.work'], wait: '10s' } };
    const [leased] = (await api.call('claimJobs', claim, 200)).json.items;
    await api.call('claimJobs', { ...claim, body: { types: ['walk.other'] } }, 409);
    await api.call('completeJob', { path: { jobId: leased.id }, body: { leaseToken: leased.leaseToken } }, 200);
    await api.call('listJobs', { query: { status: 'gone' } }, 400);
    await api.call('listWorkers', {}, 200);
    await api.call('listWorkers', { query: { limit: 0 } }, 400);
    const at = { namespace: 'walk_by' };
    await api.call('putWorker', { path: at, body: { url: 'ftp://x' } }, 422);
    const same = { 'Idempotency-Key': 'walk-worker' };
    await api.call('putWorker', { path: at, body: { url: 'http://127.0.0.1:1/' }, headers: same }, 201);
    await api.call('putWorker', { path: at, body: { url: 'http://127.0.0.1:2/' }, headers: same }, 409);
    await api.call('putWorker', { path: at, body: { url: 'http://127.0.0.1:2/' } }, 200);
    await api.call('getWorker', { path: at }, 200);
    await api.call('getWorker', { path: { namespace: 'walk_off' } }, 404);
    const gone = { 'Idempotency-Key': 'walk-worker-gone' };
    await api.call('deleteWorker', { path: at, headers: gone }, 204);
    await api.call('deleteWorker', { path: at, body: { x: 1 }, headers: gone }, 409);
    await api.call('deleteWorker', { path: at }, 404);
    const done = await claimed();
    const path = { jobId: done.id };
    const { leaseToken } = done;
    for (const operation of ['completeJob', 'failJob', 'keepJob', 'returnJob']) {
        const error = operation === 'failJob' ? { error: { code: 'no' } } : {};
        await api.call(operation, { path: { jobId: NOBODY }, body: { leaseToken: 'x', ...error } }, 404);
        await api.call(operation, { path, body: { leaseToken: 'x', ...error } }, 409);
        await api.call(operation, { path, body: {} }, 422);
    }
    await api.call('keepJob', { path, body: { leaseToken } }, 200);
    const open = await api.call('listJobs', { query: { type: 'walk.work' } }, 200);
    holds(open.json.items.some((job) => job.id === done.id && job.status === 'leased'), 'a job that is with a worker is listed');
    await api.call('completeJob', { path, body: { leaseToken, output: { ok: true } } }, 200);
    await api.call('completeJob', { path, body: { leaseToken, output: { ok: true } } }, 200);
    const spare = await claimed();
    const back = { path: { jobId: spare.id }, body: { leaseToken: spare.leaseToken }, headers: { 'Idempotency-Key': 'walk-return' } };
    await api.call('returnJob', back, 200);
    await api.call('returnJob', back, 200);
    const [again] = (await api.call('claimJobs', { body: { types: ['walk.work'], wait: '10s' } }, 200)).json.items;
    holds(again.id === spare.id && again.attempt === 1, 'a job that was given back is claimed as the same attempt');
    await api.call('completeJob', { path: { jobId: again.id }, body: { leaseToken: again.leaseToken } }, 200);
    const failed = await claimed();
    await api.call('failJob', { path: { jobId: failed.id }, body: { leaseToken: failed.leaseToken, error: { code: 'no', message: 'm', class: 'business' } } }, 200);
}

// --- messages, schedules, records ---

async function walkMessages(api, holds, path, execution) {
    const shown = await api.call('getMessage', { path }, 200);
    holds(shown.json.payload.subject === 's', 'a message is shown with what it says');
    await api.call('getMessage', { path: { messageId: NOBODY } }, 404);
    const many = (body, wanted, headers = {}) => api.call('changeMessages', { body, headers }, wanted);
    const key = { 'Idempotency-Key': 'walk-messages' };
    holds((await many({ action: 'retry', filter: { execution }, dryRun: true }, 200)).json.matched === 2, 'a dry-run counts the messages');
    holds((await many({ action: 'resolve', note: 'x', ids: [NOBODY] }, 200, key)).json.errors[0].id === NOBODY, 'one that is gone is named');
    await many({ action: 'resolve', note: 'y', ids: [NOBODY] }, 409, key);
    await many({ action: 'resolve', filter: {} }, 422);
    const resolve = (body, wanted, to, headers = {}) => api.call('resolveMessage', { path: to, body, headers }, wanted);
    await resolve({}, 422, path);
    await resolve({ note: 'x' }, 404, { messageId: NOBODY });
    const { id } = (await api.call('startExecution', { body: { code: 'letters' }, query: { wait: '10s' } }, 201)).json;
    const [one] = (await api.call('listOutbox', { query: { execution: id } }, 200)).json.items;
    const given = { 'Idempotency-Key': 'walk-given-up' };
    await resolve({ note: 'called' }, 202, { messageId: one.id }, given);
    await resolve({ note: 'other' }, 409, { messageId: one.id }, given);
    const counts = (await api.call('getCounts', {}, 200)).json;
    holds(counts.outboxWaiting > 0 && counts.executions.running >= 0, 'what there is to do is counted');
}

/** Mail waits: no server for it is configured. */
async function walkOutbox(api, holds) {
    const [code, key] = ['letters', { 'Idempotency-Key': 'walk-message' }];
    const tell = { code: 'tell', procedure: { type: 'notification.email', to: 'a@example.com', subject: 's', body: 'b' } };
    await api.call('saveScenarioDraft', { path: { code }, body: { code, steps: [tell, { ...tell, code: 'again' }] } }, 200);
    await api.call('publishScenario', { path: { code } }, 200);
    const { json: x } = await api.call('startExecution', { body: { code }, query: { wait: '10s' } }, 201);
    const page = await api.call('listOutbox', { query: { execution: x.id, kind: 'email', status: 'pending', destination: 'email', limit: 1 } }, 200);
    holds(page.json.items[0].error.code === 'not_configured' && page.json.nextCursor !== null, 'messages are listed, newest first');
    await api.call('listOutbox', { query: { execution: x.id, limit: 1, cursor: page.json.nextCursor } }, 200);
    await api.call('listOutbox', { query: { status: 'sent' } }, 400);
    const path = { messageId: page.json.items[0].id };
    await walkMessages(api, holds, path, x.id);
    const retry = (to, wanted, more = {}) => api.call('retryMessage', { path: to, ...more }, wanted);
    await retry({ messageId: NOBODY }, 404);
    await retry(path, 422, { body: { what: 1 } });
    await retry(path, 202, { headers: key });
    await retry(path, 409, { headers: key, body: '{}' });
    await retry(path, 400, { headers: { 'Idempotency-Key': 'k'.repeat(256) } });
}

async function walkSchedules(api, holds) {
    const [code, key] = ['nightly', { 'Idempotency-Key': 'walk-schedule' }];
    const triggers = ['0 3 * * *', '0 4 29 2 *'].map((cron) => ({ type: 'schedule', cron, timezone: 'Europe/Berlin' }));
    const nap = { code: 'nap', procedure: { type: 'wait.timer', duration: '1h' } };
    await api.call('saveScenarioDraft', { path: { code }, body: { code, triggers, steps: [nap] } }, 200);
    await api.call('publishScenario', { path: { code } }, 200);
    const page = await api.call('listSchedules', { query: { code, limit: 1 } }, 200);
    holds(page.json.items[0].cron === '0 3 * * *' && page.json.nextCursor !== null, 'schedules are listed');
    await api.call('listSchedules', { query: { code, cursor: page.json.nextCursor } }, 200);
    await api.call('listSchedules', { query: { cursor: 'x' } }, 400);
    const preview = await api.call('previewSchedule', { query: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin' } }, 200);
    holds(preview.json.items.length === 10, 'an expression is shown with its next ten times');
    await api.call('previewSchedule', { query: { cron: '0 24 * * *' } }, 422);
    await api.call('previewSchedule', { query: { cron: '0 9 * * *', zone: 'x' } }, 400);
    const path = { scheduleId: page.json.items[0].id };
    for (const act of ['pauseSchedule', 'resumeSchedule']) {
        await api.call(act, { path: { scheduleId: NOBODY } }, 404);
        await api.call(act, { path, body: { what: 1 } }, 422);
        await api.call(act, { path, headers: { 'Idempotency-Key': 'k'.repeat(256) } }, 400);
        await api.call(act, { path }, 200);
    }
    const run = (to, wanted, more = {}) => api.call('runSchedule', { path: to, ...more }, wanted);
    await run({ scheduleId: NOBODY }, 404);
    await run(path, 422, { body: { what: 1 } });
    await run(path, 400, { query: { wait: 'soon' } });
    await run(path, 201, { headers: key });
    await run(path, 200, { headers: key });
    await run(path, 202, { query: { wait: '1ms' } });
    await api.call('retireScenario', { path: { code } }, 200);
    await run(path, 409);
    for (const act of ['pauseSchedule', 'resumeSchedule']) await api.call(act, { path }, 409);
}

const acting = {
    code: 'acting',
    input: [{ name: 'n', type: 'integer' }],
    settings: { key: '{{ input.?n.orValue(0) }}', onKeyConflict: 'join' },
    triggers: [{ type: 'action', object: 'card', label: 'Act' }, { type: 'action', object: 'shut', when: 'false' }],
    steps: [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }],
};

async function walkActions(api, holds) {
    await publish(api, acting);
    const path = { object: 'card', recordId: '1', code: 'acting' };
    for (const object of ['card', 'shut']) await api.call('putRecord', { path: { ...path, object }, body: { a: 1 } }, 201);
    holds((await api.call('listActions', { path }, 200)).json.items[0].label === 'Act', 'the card has a button');
    await api.call('listActions', { path: { ...path, recordId: '2' } }, 404);
    await api.call('listActions', { path: { ...path, object: 'no object' } }, 422);
    const started = await api.call('startAction', { path, body: { input: { n: 1 } } }, 201);
    holds(started.json.record === 'card/1', 'what it was started from');
    await api.call('startAction', { path, body: { input: { n: 1 } } }, 200);
    await api.call('startAction', { path, body: { input: { n: 2 } }, query: { wait: '1ms' } }, 202);
    await api.call('startAction', { path, body: { input: { n: 'x' } } }, 422);
    await api.call('startAction', { path: { ...path, code: 'nothing_here' } }, 404);
    await api.call('startAction', { path: { ...path, object: 'shut' } }, 409);
    holds((await api.call('listExecutions', { query: { record: 'card/1' } }, 200)).json.items.length === 2, 'those of one card');
    await api.call('listRecordExecutions', { path: { object: 'card', recordId: '1' }, query: { limit: 1 } }, 200);
    await api.call('listRecordExecutions', { path: { object: 'card', recordId: '1' }, query: { cursor: 'x' } }, 400);
    await api.call('listRecordExecutions', { path: { object: 'no object', recordId: 'x' } }, 422);
}

async function walkRecords(api, holds) {
    const path = { object: 'invoice', recordId: 'I 1/ä' };
    const put = (body, headers, wanted) => api.call('putRecord', { path, body, headers }, wanted);
    const made = await put({ amount: 1 }, { 'If-None-Match': '*' }, 201);
    holds(made.headers.etag === '"1"' && made.headers.location === '/api/v1/records/invoice/I%201%2F%C3%A4', 'a new record says where it is');
    const objects = await api.call('listObjects', { query: { limit: 1 } }, 200);
    holds(objects.json.items.length === 1, 'objects are listed');
    await api.call('listObjects', { query: { limit: 0 } }, 400);
    const key = { 'Idempotency-Key': 'walk-record' };
    await put({ amount: 2 }, key, 200);
    await put({ amount: 3 }, key, 409);
    await put({ amount: 2 }, { 'If-Match': '"77"' }, 412);
    await put({ id: 'other' }, {}, 422);
    await put({}, { 'Idempotency-Key': 'k'.repeat(256) }, 400);
    const patch = (body, headers, wanted, to = path) => api.call('patchRecord', { path: to, body, headers }, wanted);
    const merged = await patch({ paid: true }, { 'If-Match': '"2"' }, 200);
    holds(merged.json.amount === 2 && merged.json.paid === true, 'a patch leaves the rest');
    await patch({ paid: 1 }, key, 200);
    await patch({ paid: 2 }, key, 409);
    await patch({ paid: 3 }, { 'If-Match': '"77"' }, 412);
    await patch({ paid: 3 }, {}, 404, { object: 'invoice', recordId: 'none' });
    await patch({ version: -1 }, {}, 422);
    await api.call('getRecord', { path }, 200);
    await api.call('getRecord', { path: { object: 'invoice', recordId: 'none' } }, 404);
    await api.call('getRecord', { path: { object: 'no object', recordId: 'x' } }, 422);

    await api.call('putRecord', { path: { object: 'invoice', recordId: '2' }, body: { amount: 9 } }, 201);
    const page = await api.call('listRecords', { path: { object: 'invoice' }, query: { limit: 1, orderBy: 'amount desc', where: 'record.amount > 0' } }, 200);
    holds(page.json.items[0].id === '2' && page.json.nextCursor !== null, 'records are filtered, ordered and paged');
    await api.call('listRecords', { path: { object: 'invoice' }, query: { where: 'record.' } }, 422);
    await api.call('listRecords', { path: { object: 'invoice' }, query: { cursor: 'x' } }, 400);
    const remove = (headers, wanted, to = path) => api.call('deleteRecord', { path: to, headers }, wanted);
    await remove({ 'If-Match': '"77"' }, 412);
    await remove(key, 204);
    await api.call('deleteRecord', { path, headers: key, body: '{}' }, 409);
    await remove({}, 404);
    await remove({}, 422, { object: 'no object', recordId: 'x' });
}

// --- access ---

async function walkAccess(api, holds) {
    const body = { name: 'Walker', role: 'operator', email: 'walk@example.org', groups: ['a'], skill_level: 3, specializations: ['b'] };
    const key = { 'Idempotency-Key': 'walk-user' };
    const made = await api.call('createUser', { body, headers: key }, 201);
    const path = { id: made.json.id };
    const again = await api.call('createUser', { body, headers: key }, 201);
    holds(typeof made.json.token === 'string' && again.json.token === undefined && again.json.id === path.id, 'a token is shown once');
    await api.call('createUser', { body }, 409);
    await api.call('createUser', { body: { name: 'x' } }, 422);
    await api.call('getUser', { path }, 200);
    await api.call('getUser', { path: { id: NOBODY } }, 404);
    await api.call('getMe', {}, 200);
    await api.call('getMe', { token: made.json.token }, 200);
    await api.call('changeUser', { path, body: { role: 'viewer', email: null } }, 200);
    await api.call('changeUser', { path, body: { role: 'king' } }, 422);
    await api.call('changeUser', { path: { id: NOBODY }, body: {} }, 404);
    await api.call('changeUser', { path: { id: (await api.call('getMe', {}, 200)).json.id }, body: { active: false } }, 409);
    const first = await api.call('listUsers', { query: { limit: 1 } }, 200);
    await api.call('listUsers', { query: { cursor: first.json.nextCursor, role: 'viewer', q: 'Walker' } }, 200);
    for (const query of [{ role: 'king' }, { cursor: 'x' }, { limit: 0 }]) await api.call('listUsers', { query }, 400);

    const token = await api.call('createToken', { path, body: { name: 'walk' } }, 201);
    await api.call('createToken', { path, body: { nmae: 'walk' } }, 422);
    await api.call('createToken', { path: { id: NOBODY } }, 404);
    await api.call('createToken', { path, body: { expiresAt: '2000-01-01T00:00:00Z' } }, 422);
    const brief = await api.call('createToken', { path, body: { expiresAt: '2999-01-01T00:00:00Z' } }, 201);
    holds(brief.json.expiresAt === '2999-01-01T00:00:00Z', `a token may expire: ${brief.json.expiresAt}`);
    await api.call('listTokens', { path }, 200);
    const tokens = await api.call('listTokens', { path, query: { limit: 1 } }, 200);
    holds(tokens.json.items.length === 1 && tokens.json.nextCursor === tokens.json.items[0].id, 'a page of tokens has a next one');
    holds((await api.call('listTokens', { path, query: { cursor: tokens.json.nextCursor } }, 200)).json.items.length === 2, 'the rest of the tokens');
    for (const query of [{ cursor: 'x' }, { limit: 0 }]) await api.call('listTokens', { path, query }, 400);
    await api.call('listTokens', { path: { id: NOBODY } }, 404);
    const revocation = { path: { id: token.json.id }, headers: { 'Idempotency-Key': 'walk-revoke' } };
    await api.call('revokeToken', revocation, 204);
    await api.call('revokeToken', { ...revocation, body: { x: 1 } }, 409);
    await api.call('revokeToken', { path: { id: token.json.id } }, 404);
    await api.call('changeUser', { path, body: { active: false } }, 200);
    await api.call('createToken', { path }, 409);

    const page = await api.call('listAudit', { query: { limit: 1 } }, 200);
    await api.call('listAudit', { query: { cursor: page.json.nextCursor, user: 'admin', action: 'user.create', target: path.id, from: '2020-01-01', to: '2999-01-01' } }, 200);
    for (const query of [{ from: 'soon' }, { cursor: 'x' }, { limit: 0 }]) await api.call('listAudit', { query }, 400);
}

async function walkSessions(api, holds) {
    const token = null;
    const begun = await api.call('beginSession', { token, body: { token: api.token } }, 204);
    await api.call('beginSession', { token, body: { token: 'pawl_wrong' } }, 401);
    await api.call('beginSession', { token, body: {} }, 422);
    await api.call('beginSession', { token, body: { token: api.token }, headers: { Origin: 'https://elsewhere.example.org' } }, 403);
    const cookie = { Cookie: begun.headers['set-cookie'].split(';')[0] };
    holds((await api.call('getMe', { token, headers: cookie }, 200)).json.name === 'admin', 'a cookie is somebody');
    await api.call('endSession', { token, headers: cookie }, 403);
    await api.call('endSession', { token, headers: { ...cookie, 'Sec-Fetch-Site': 'same-origin' } }, 204);
    await api.call('getMe', { token, headers: cookie }, 401);
    await api.call('endSession', {}, 204);
}

// --- the server ---

async function walkServer(api) {
    await api.call('getMetrics', { token: null }, 200);
    await api.call('getStats', {}, 200);
    await api.call('getStats', { query: { window: '24h', step: '15m' } }, 200);
    await api.call('getStats', { query: { window: 'long' } }, 400);
    await api.call('listNodes', {}, 200);
    await api.call('listNodes', { query: { limit: 1, cursor: '0' } }, 200);
    await api.call('listNodes', { query: { limit: 0 } }, 400);
    const path = { nodeId: NOBODY };
    await api.call('drainNode', { path }, 404);
    await api.call('drainNode', { path, body: { what: 1 } }, 422);
    await api.call('drainNode', { path, headers: { 'Idempotency-Key': 'drains' } }, 404);
    await api.call('drainNode', { path, headers: { 'Idempotency-Key': 'drains' }, body: '{}' }, 409);
    await api.call('getHealth', { token: null }, 200);
    await api.call('getReadiness', { token: null }, 200);
    await api.call('getDocument', { token: null }, 200);
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    await api.call('sendToAssistant', { body: message }, 200);
    await api.call('sendToAssistant', { body: { ...message, method: 'nothing' } }, 200);
    await api.call('sendToAssistant', { body: { ...message, method: 'tools/call', params: { name: 'list_jobs', arguments: { status: 'gone' } } } }, 200);
    await api.call('sendToAssistant', { body: { jsonrpc: '2.0', method: 'notifications/initialized' } }, 202);
    await api.call('sendToAssistant', { body: [message] }, 400);
    await api.call('sendToAssistant', { body: message, headers: { 'MCP-Protocol-Version': '1999-01-01' } }, 400);
    await api.call('sendToAssistant', { body: '{"jsonrpc":"2.0","id":"\\u0000","method":"ping"}' }, 422);
}

export const walks = [walkDefinitions, walkProcedures, walkSchemas, walkMachines, walkLive, walkCredentials, walkHooks, walkChecks, walkDryRun, walkExecutions, walkJobs, walkEvents, walkMany, walkDeadLetters, walkOutbox, walkSchedules, walkActions, walkRecords, walkPlanner, walkAccess, walkSessions, walkServer];
