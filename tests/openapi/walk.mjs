// walk.mjs - a way through every operation that meets each of its documented answers at least once.
//
// Left out, because they are met in the same way everywhere (test_routes.mjs does that): 400 of a
// path that is no UTF-8 or a body that is no JSON, 401, 403, 413. Left out, because a healthy server
// does not give them: 500, 503.

import { createServer } from 'node:http';

import { walkPlanner } from './walk_planner.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';

const greeting = (text) => ({
    code: 'greeting',
    name: 'Greeting',
    input: [{ name: 'who', type: 'string', default: 'world' }],
    steps: [{ code: 'greet', procedure: { type: 'compute.transform', data: { text: `${text}, {{ $.input.who }}` } } }],
});

const waiting = {
    code: 'waiting',
    steps: [
        { code: 'first', procedure: { type: 'compute.set', values: { n: 1 } } },
        { code: 'never', when: 'false', procedure: { type: 'compute.transform', data: 1 } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', timeout: '1h' } },
        { code: 'last', procedure: { type: 'compute.transform', data: { got: '$.steps.ask.payload' } } },
    ],
};

const failing = {
    code: 'failing',
    steps: [{ code: 'no', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none left', details: { left: 0 } } }],
};

const holding = {
    code: 'holding',
    onError: 'hold',
    steps: [{ code: 'no', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none left' } }],
};

// Something of everything that an execution can show: loops, retries, rollback, people.
const eventful = {
    code: 'eventful',
    settings: { retryPolicy: { maxAttempts: 2, delay: '1ms', backoff: 1 } },
    steps: [
        { code: 'each', loop: { for: '=[1, 2]', as: 'n', collect: '$.loop.n', steps: [{ code: 'one', procedure: { type: 'compute.transform', data: '$.loop.n' }, rollback: { type: 'log', message: 'undone' } }] } },
        { code: 'choice', branch: [{ when: 'false', steps: [{ code: 'not', procedure: { type: 'log', message: 'x' } }] }, { steps: [{ code: 'else', procedure: { type: 'log', message: 'y' } }] }] },
        { code: 'soft', onError: 'continue', procedure: { type: 'compute.fail', code: 'soft_one', message: 'never mind', details: [1] } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: ['yes', 'no'], match: '$.signal.payload.n == 1', title: 'May we?', assignee: ['group:bosses', 'ada@example.org'], form: [{ name: 'n', type: 'integer' }], public: true, timeout: '1h' } },
        { code: 'fails', procedure: { type: 'compute.fail', code: 'external_down', message: 'not there', class: 'transient' } },
    ],
};

async function publish(api, definition) {
    await api.call('saveScenarioDraft', { path: { code: definition.code }, body: definition }, 200);
    await api.call('publishScenario', { path: { code: definition.code } }, 200);
}

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

async function walkHooks(api, claim) {
    await api.call('putCredential', { path: { code: 'walk_hmac' }, body: { type: 'hmac', secret: 'walk' } }, 201);
    await publish(api, hooked);
    for (const method of methods) {
        const id = `callWebhook${method[0]}${method.slice(1).toLowerCase()}`;
        const call = (path, wanted) => api.call(id, { path: { path }, token: null }, wanted);
        const started = await call('walk', 202);
        claim((await api.call('getExecution', { path: { id: started.json.id } }, 200)).json.key === method, 'the key of the trigger');
        claim((await call('walk', 409)).json.executionId === started.json.id, 'who has the key');
        await call('walk/signed', 401);
        await call('walk/broken', 422);
        claim((await call('walk/idle', 202)).json.id === null, 'nothing has happened');
        await call('walk/nowhere', 404);
    }
}

// --- jobs ---

const working = { code: 'working', steps: [{ code: 'do', procedure: 'walk.work', input: { n: 1 }, retry: { maxAttempts: 1 } }] };

async function walkJobs(api, claim) {
    const claimed = async () => {
        await api.call('startExecution', { body: { code: 'working' } }, 201);
        const { json } = await api.call('claimJobs', { body: { types: ['walk.work'], wait: '10s', lease: '60s', worker: 'walker' } }, 200);
        claim(json.items.length === 1, 'a job is claimed');
        return json.items[0];
    };
    await publish(api, working);
    await api.call('claimJobs', { body: { types: [] } }, 422);
    await api.call('listJobs', { query: { status: 'gone' } }, 400);
    await api.call('listWorkers', {}, 200);
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
    for (const operation of ['completeJob', 'failJob', 'keepJob']) {
        const error = operation === 'failJob' ? { error: { code: 'no' } } : {};
        await api.call(operation, { path: { jobId: NOBODY }, body: { leaseToken: 'x', ...error } }, 404);
        await api.call(operation, { path, body: { leaseToken: 'x', ...error } }, 409);
        await api.call(operation, { path, body: {} }, 422);
    }
    await api.call('keepJob', { path, body: { leaseToken } }, 200);
    const open = await api.call('listJobs', { query: { type: 'walk.work' } }, 200);
    claim(open.json.items.some((job) => job.id === done.id && job.status === 'leased'), 'a job that is with a worker is listed');
    await api.call('completeJob', { path, body: { leaseToken, output: { ok: true } } }, 200);
    await api.call('completeJob', { path, body: { leaseToken, output: { ok: true } } }, 200);
    const failed = await claimed();
    await api.call('failJob', { path: { jobId: failed.id }, body: { leaseToken: failed.leaseToken, error: { code: 'no', message: 'm', class: 'business' } } }, 200);
}

// --- definitions ---

async function walkDefinitions(api, claim) {
    const code = 'greeting';
    await api.call('saveScenarioDraft', { path: { code }, body: { code, stps: 1 }, headers: { 'If-None-Match': '*' } }, 200);
    await api.call('saveScenarioDraft', { path: { code }, body: {}, headers: { 'If-None-Match': '*' } }, 412);
    await api.call('saveScenarioDraft', { path: { code }, body: {}, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('saveScenarioDraft', { path: { code: 'Bad-Code' }, body: {} }, 422);
    await api.call('publishScenario', { path: { code } }, 422);
    await api.call('deleteScenarioDraft', { path: { code }, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteScenarioDraft', { path: { code } }, 204);
    await api.call('deleteScenarioDraft', { path: { code } }, 404);

    const key = { 'Idempotency-Key': 'walk-draft' };
    const saved = await api.call('saveScenarioDraft', { path: { code }, body: greeting('Hello'), headers: key }, 200);
    claim(saved.headers.etag === `"${saved.json.version}"` && saved.json.valid, 'a valid draft is saved');
    await api.call('saveScenarioDraft', { path: { code }, body: greeting('Hi'), headers: key }, 409);
    const draft = await api.call('getScenario', { path: { code } }, 200);
    claim(draft.headers.etag === saved.headers.etag && draft.json.draft.definition !== undefined, 'a draft is shown whole');
    await api.call('getScenarioVersion', { path: { code, n: 'draft' } }, 200);
    await api.call('publishScenario', { path: { code }, body: { changeSummary: 'first' }, headers: key }, 200);
    await api.call('publishScenario', { path: { code }, body: { changeSummary: 'other' }, headers: key }, 409);
    await api.call('publishScenario', { path: { code } }, 404);
    await publish(api, greeting('Hi'));
    for (const definition of [waiting, failing, holding, eventful]) await publish(api, definition);
    await api.call('saveScenarioDraft', { path: { code }, body: { code, nodes: [] } }, 200);

    await api.call('revertScenario', { path: { code }, body: { changeSummary: 'back' }, headers: { 'Idempotency-Key': 'walk-revert' } }, 200);
    await api.call('revertScenario', { path: { code }, body: {}, headers: { 'Idempotency-Key': 'walk-revert' } }, 409);
    await api.call('revertScenario', { path: { code: 'waiting' } }, 409);
    await api.call('revertScenario', { path: { code: 'nothing' } }, 404);
    await api.call('revertScenario', { path: { code }, body: { why: 1 } }, 422);
    await api.call('publishScenario', { path: { code }, body: { why: 1 } }, 422);

    const versions = await api.call('listScenarioVersions', { path: { code } }, 200);
    claim(versions.json.items.length === 2, 'two versions are listed');
    await api.call('listScenarioVersions', { path: { code: 'nothing' } }, 404);
    const version = await api.call('getScenarioVersion', { path: { code, n: 1 } }, 200);
    claim(version.json.definition.steps.length === 1 && version.json.status === 'published', 'a version is shown whole');
    await api.call('getScenarioVersion', { path: { code, n: 99 } }, 404);
    await api.call('getScenario', { path: { code } }, 200);
    await api.call('getScenario', { path: { code: 'nothing' } }, 404);
    await api.call('deleteScenarioDraft', { path: { code }, headers: { 'Idempotency-Key': 'walk-delete' } }, 204);
    await api.call('deleteScenarioDraft', { path: { code }, headers: { 'Idempotency-Key': 'walk-delete' }, body: '{}' }, 409);
    const page = await api.call('listScenarios', { query: { limit: 1 } }, 200);
    claim(page.json.items.length === 1 && page.json.nextCursor !== null, 'a page of one has a next one');
    await api.call('listScenarios', { query: { limit: 500, cursor: page.json.nextCursor } }, 200);
    await api.call('listScenarios', { query: { limit: 0 } }, 400);
}

async function walkProcedures(api, claim) {
    const code = 'double';
    const path = { code };
    const double = (n) => ({ code, input: [{ name: 'n', type: 'integer' }], commands: [{ type: 'compute.transform', data: `=$.input.n * ${n}` }] });
    const key = { 'Idempotency-Key': 'walk-procedure' };
    await api.call('saveProcedureDraft', { path, body: { code }, headers: key }, 200);
    await api.call('saveProcedureDraft', { path, body: {}, headers: key }, 409);
    await api.call('saveProcedureDraft', { path, body: {}, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('saveProcedureDraft', { path: { code: 'No' }, body: {} }, 422);
    await api.call('publishProcedure', { path }, 422);
    await api.call('deleteProcedureDraft', { path, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteProcedureDraft', { path, headers: key }, 204);
    await api.call('deleteProcedureDraft', { path, headers: key, body: '{}' }, 409);
    await api.call('deleteProcedureDraft', { path }, 404);
    await api.call('publishProcedure', { path }, 404);
    for (const n of [2, 3]) {
        await api.call('saveProcedureDraft', { path, body: double(n) }, 200);
        await api.call('publishProcedure', { path, headers: { 'Idempotency-Key': `walk-procedure-${n}` } }, 200);
    }
    await api.call('publishProcedure', { path, body: {}, headers: { 'Idempotency-Key': 'walk-procedure-3' } }, 409);
    await api.call('dryRunProcedure', { path, body: { input: { n: 2 } } }, 200);
    await api.call('dryRunProcedure', { path, body: { inptu: {} } }, 422);
    await api.call('revertProcedure', { path, headers: key }, 200);
    await api.call('revertProcedure', { path, headers: key, body: {} }, 409);
    await api.call('revertProcedure', { path: { code: 'nothing' } }, 404);
    await api.call('revertProcedure', { path, body: { x: 1 } }, 422);
    await api.call('getProcedure', { path }, 200);
    await api.call('getProcedure', { path: { code: 'nothing' } }, 404);
    const list = await api.call('listProcedures', {}, 200);
    claim(list.json.items.length === 1, 'the procedure is listed');
    await api.call('listProcedures', { query: { limit: 'x' } }, 400);
    await api.call('listProcedureVersions', { path }, 200);
    await api.call('listProcedureVersions', { path: { code: 'nothing' } }, 404);
    await api.call('getProcedureVersion', { path: { code, n: 1 } }, 200);
    await api.call('getProcedureVersion', { path: { code, n: 9 } }, 404);
    await walkRetirement(api, claim, 'Procedure', 'spare', { code: 'spare', commands: [{ type: 'log', message: 'x' }] });
    await walkRetirement(api, claim, 'Scenario', 'spare', { code: 'spare', steps: [{ code: 'a', procedure: { type: 'log', message: 'x' } }] });
}

// Out of use, and gone: `kind` is Scenario or Procedure, `code` one that nothing uses.
async function walkRetirement(api, claim, kind, code, definition) {
    const key = (name) => ({ 'Idempotency-Key': `walk-${kind}-${name}` });
    const path = { code };
    await api.call(`save${kind}Draft`, { path, body: definition }, 200);
    await api.call(`publish${kind}`, { path }, 200);
    for (const verb of ['retire', 'unretire']) {
        const done = await api.call(`${verb}${kind}`, { path, headers: key(verb) }, 200);
        claim(done.json.retired === (verb === 'retire'), `${kind}: ${verb} says how it stands`);
        await api.call(`${verb}${kind}`, { path, headers: key(verb), body: {} }, 409);
        await api.call(`${verb}${kind}`, { path: { code: 'nothing' } }, 404);
        await api.call(`${verb}${kind}`, { path, body: { why: 1 } }, 422);
    }
    await api.call(`delete${kind}`, { path, headers: key('delete') }, 204);
    await api.call(`delete${kind}`, { path, headers: key('delete'), body: '{}' }, 409);
    await api.call(`delete${kind}`, { path }, 404);
}

async function walkLive(api, claim) {
    const kinds = [
        ['Function', 'Functions', { name: 'twice' }, { params: [{ name: 'n', type: 'integer' }], body: 'n * 2' }, { body: 'n +' }],
        ['Subscription', 'Subscriptions', { code: 'shop' }, { url: 'http://127.0.0.1:9/', events: ['OrderPaid'], secret: 's' }, { url: 'ftp://x', events: ['a'] }],
        ['Template', 'Templates', { code: 'welcome' }, { subject: 'Hi {{ data.name }}', body: 'x', html: '<b>{{ data.name }}</b>' }, { subject: '{{ data. }}', body: 'x' }],
        ['Config', 'Config', { name: 'days' }, { value: 14 }, { valeu: 14 }],
    ];
    for (const [one, many, path, good, bad] of kinds) {
        const key = { 'Idempotency-Key': `walk-${one}` };
        const call = (what, more, wanted) => api.call(`${what}${one}`, { path, ...more }, wanted);
        const made = await call('put', { body: good, headers: { 'If-None-Match': '*' } }, 201);
        await call('put', { body: good, headers: key }, 200);
        await call('put', { body: bad, headers: key }, 422);
        await call('put', { body: { ...good, [{ Config: 'value', Subscription: 'secret' }[one] ?? 'body']: '1' }, headers: key }, 409);
        await call('put', { body: good, headers: { 'If-Match': '"77"' } }, 412);
        claim(made.headers.etag === `"${made.json.version}"`, `${one}: ETag is the version`);
        await call('get', {}, 200);
        const list = await api.call(`list${many}`, { query: { limit: 1 } }, 200);
        claim(list.json.items.length === 1, `${one}: it is listed`);
        if (one !== 'Subscription') {
            await api.call(`list${one}Versions`, { path }, 200);
            await api.call(`get${one}Version`, { path: { ...path, n: made.json.version } }, 200);
        }
        await api.call(`list${many}`, { query: { limit: 0 } }, 400);
    }
    const shown = await api.call('previewTemplate', { path: { code: 'welcome' }, body: { data: { name: '<Ann>' } } }, 200);
    claim(shown.json.subject === 'Hi <Ann>' && shown.json.html === '<b>&lt;Ann&gt;</b>', 'a preview is escaped where it must be');
    await api.call('previewTemplate', { path: { code: 'welcome' }, body: {} }, 422);
    await api.call('previewTemplate', { path: { code: 'nothing' } }, 404);
    await api.call('getCatalog', {}, 200);
    await api.call('getCatalog', { query: { lang: 'xx' } }, 422);
    const processes = await api.call('listProcesses', {}, 200);
    claim(processes.json.items.every((p) => p.kind === 'scenario'), 'processes are listed with their kind');
    await api.call('listProcesses', { query: { limit: 'x' } }, 400);

    const bundle = await api.call('exportDefinitions', {}, 200);
    await api.call('exportDefinitions', { query: { codes: 'welcome,days' } }, 200);
    await api.call('exportDefinitions', { query: { codes: 'nothing' } }, 404);
    const same = await api.call('importDefinitions', { body: { ...bundle.json, dryRun: true } }, 200);
    claim(same.json.items.every((i) => i.action === 'unchanged'), 'what was exported is here already');
    const key = { 'Idempotency-Key': 'walk-import' };
    const more = { items: [{ kind: 'config', name: 'days', value: 15 }, { kind: 'config', name: 'hours', value: [1] }] };
    const done = await api.call('importDefinitions', { body: more, headers: key }, 200);
    claim(done.json.items.map((i) => i.action).join() === 'update,create', 'an import says what it did');
    await api.call('importDefinitions', { body: { items: more.items.slice(1) }, headers: key }, 409);
    await api.call('importDefinitions', { body: { items: [{ kind: 'confg' }] } }, 422);

    await api.call('saveScenarioDraft', { path: { code: 'uses_twice' }, body: { code: 'uses_twice', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: '=fn.twice(2)' } }] } }, 200);
    await api.call('publishScenario', { path: { code: 'uses_twice' } }, 200);
    await api.call('deleteFunction', { path: { name: 'twice' } }, 409);
    for (const [one, , path] of kinds) {
        const missing = Object.fromEntries(Object.keys(path).map((k) => [k, 'nothing']));
        await api.call(`get${one}`, { path: missing }, 404);
        await api.call(`delete${one}`, { path: missing }, 404);
        if (one === 'Function') continue;
        const key2 = { 'Idempotency-Key': `walk-delete-${one}` };
        await api.call(`delete${one}`, { path, headers: { 'If-Match': '"77"' } }, 412);
        await api.call(`delete${one}`, { path, headers: key2 }, 204);
        await api.call(`delete${one}`, { path, headers: key2, body: '{}' }, 409);
    }
    await api.call('putFunction', { path: { name: 'thrice' }, body: { params: [], body: '3' } }, 201);
    await api.call('deleteFunction', { path: { name: 'thrice' }, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteFunction', { path: { name: 'thrice' } }, 204);
}

async function walkCredentials(api, claim) {
    const path = { code: 'erp' };
    const key = { 'Idempotency-Key': 'walk-credential' };
    const good = { type: 'api_key', base_url: 'https://erp.example', header_name: 'X-Key', header_value: 'hush-hush' };
    const made = await api.call('putCredential', { path, body: good, headers: { 'If-None-Match': '*' } }, 201);
    claim(made.headers.etag === `"${made.json.version}"`, 'the ETag of a credential is its version');
    await api.call('putCredential', { path, body: good, headers: key }, 200);
    await api.call('putCredential', { path, body: { ...good, header_value: 'another' }, headers: key }, 409);
    await api.call('putCredential', { path, body: good, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('putCredential', { path, body: { ...good, header_value: undefined } }, 422);
    const shown = await api.call('getCredential', { path }, 200);
    claim(shown.json.filled && !JSON.stringify(shown.json).includes('hush'), 'a secret is not shown');
    const list = await api.call('listCredentials', { query: { limit: 1 } }, 200);
    claim(list.json.items.length === 1, 'credentials are listed');
    await api.call('listCredentials', { query: { limit: 0 } }, 400);
    const rotated = await api.call('rekeyCredentials', { headers: key }, 200);
    claim(rotated.json.credentials === 1, 'rotating the key says what it did');
    await api.call('rekeyCredentials', { headers: key, body: '{}' }, 409);
    await api.call('getCredential', { path: { code: 'nothing' } }, 404);
    await api.call('deleteCredential', { path: { code: 'nothing' } }, 404);
    await api.call('deleteCredential', { path, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteCredential', { path, headers: { 'Idempotency-Key': 'walk-delete-credential' } }, 204);
    await api.call('deleteCredential', { path, headers: { 'Idempotency-Key': 'walk-delete-credential' }, body: '{}' }, 409);
}

async function walkChecks(api, claim) {
    const good = await api.call('validateDefinition', { body: { kind: 'scenario', definition: greeting('Hey') } }, 200);
    claim(good.json.valid && good.json.errors.length === 0, 'a good definition has no findings');
    const bad = await api.call('validateDefinition', { body: { definition: { code: 'x', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: '=1 +' } }] } } }, 200);
    claim(!bad.json.valid && bad.json.errors.some((e) => e.column), 'a bad expression is found with its column');
    await api.call('validateDefinition', { body: {} }, 422);
    const ran = await api.call('runTests', { body: { definitions: [greeting('Hey')], tests: [{ scenario: 'greeting', input: { who: 'Ada' }, expect: { status: 'completed' } }] } }, 200);
    claim(ran.json.passed === 1 && ran.json.failed === 0, 'a test that is sent with its definition passes');
    await api.call('runTests', { body: { tests: 1 } }, 422);
    const value = await api.call('evaluateExpression', { body: { expression: '$.a + 1', context: { a: 2 } } }, 200);
    claim(value.json.value === 3 && value.json.type === 'int', 'an expression has a value and a type');
    for (const expression of ['1 +', '1 + "a"', '1 / 0', 'x', '[1].map(i, i)[7]'])
        await api.call('evaluateExpression', { body: { expression } }, 422);
}

const tried = {
    code: 'tried',
    input: [{ name: 'pin', type: 'string', default: 'secret-4711', sensitive: true }],
    settings: { retryPolicy: { maxAttempts: 1 } },
    steps: [
        { code: 'keep', procedure: { type: 'record.create', object: 'tried', id: 'r1', data: { pin: '$.input.pin' } },
          rollback: { type: 'compute.fail', code: 'stuck', message: 'cannot be undone' } },
        { code: 'sub', procedure: { type: 'flow.start', code: 'greeting' } },
        { code: 'work', procedure: 'crm.sync', timeout: '1h', onError: 'continue' },
        { code: 'say', procedure: { type: 'log', message: 'said {{ input.pin }}' } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', timeout: '2d',
          reminder: { every: '1d', procedure: { type: 'log', message: 'go!' } } } },
    ],
};

async function walkDryRun(api, claim) {
    await publish(api, greeting('Hello'));
    await publish(api, tried);
    const path = { code: 'tried' };
    const whole = await api.call('dryRunScenario', { path, body: { mocks: { procedures: { 'crm.sync': 1 }, signals: { go: null } } } }, 200);
    claim(whole.json.status === 'completed' && whole.json.version === 1 && whole.json.children.length === 1, 'a dry-run goes to the end');
    claim(!JSON.stringify(whole.json).includes('secret-4711'), 'what is sensitive is not shown');
    const late = await api.call('dryRunScenario', { path, body: {} }, 200);
    claim(late.json.status === 'failed' && late.json.duration === '2d1h' && late.json.deadLetters.length === 1, 'without mocks time passes');
    await api.call('saveScenarioDraft', { path, body: { ...tried, steps: [{ code: 'ask', procedure: 'crm.sync' }] } }, 200);
    const draft = await api.call('dryRunScenario', { path, body: { version: 'draft', key: 'k', now: '2026-01-31T09:00:00Z' } }, 200);
    claim(draft.json.version === 'draft' && draft.json.waitingFor.kind === 'job' && draft.json.warnings.length === 1, 'a draft is tried, and what it lacks is told');
    await api.call('dryRunScenario', { path, body: { version: 99 } }, 404);
    await api.call('dryRunScenario', { path: { code: 'nothing' } }, 404);
    for (const body of [{ version: 'last' }, { mocks: { procedure: {} } }, { input: { pine: 1 } }, { now: 'soon' }])
        await api.call('dryRunScenario', { path, body }, 422);
    const left = await api.call('getRecord', { path: { object: 'tried', recordId: 'r1' } }, 404);
    claim(left.json.code === 'not_found', 'a dry-run writes nothing');
}

// --- executions ---

async function walkExecutions(api, claim) {
    const start = (body, more = {}, wanted = 201) => api.call('startExecution', { body, ...more }, wanted);
    const ended = await start({ code: 'greeting', input: { who: 'Ada' } }, { query: { wait: '10s' } });
    claim(ended.json.status === 'completed' && ended.json.result.text === 'Hello, Ada', 'a waited start has ended');
    claim(ended.headers.location === `/api/v1/executions/${ended.json.id}`, 'Location names it');
    const held = await start({ scenario: 'waiting', key: 'walk-1' }, { headers: { 'Idempotency-Key': 'walk-start' } });
    const id = held.json.id;
    await start({ scenario: 'waiting', key: 'walk-1' }, { headers: { 'Idempotency-Key': 'walk-start' } }, 200);
    const other = await start({ scenario: 'waiting', key: 'walk-2' }, { headers: { 'Idempotency-Key': 'walk-start' } }, 409);
    claim(other.json.code === 'idempotency_conflict', 'a key for another request is a conflict');
    const busy = await start({ code: 'waiting', key: 'walk-1' }, {}, 409);
    claim(busy.json.code === 'key_busy' && busy.json.executionId === id, 'a busy key says who has it');
    const slow = await start({ code: 'waiting' }, { query: { wait: '1ms' } }, 202);
    await start({ code: 'nothing' }, {}, 404);
    await start({ code: 'greeting', version: 99 }, {}, 404);
    await start({ code: 'greeting', input: { who: 7, whom: 'x' } }, {}, 422);
    await start({ code: 'greeting' }, { query: { wait: 'long' } }, 400);
    for (const key of ['\xff', 'a\xe9', 'k'.repeat(256)]) await start({ code: 'greeting' }, { headers: { 'Idempotency-Key': key } }, 400);
    const failed = await start({ code: 'failing' }, { query: { wait: '' } });
    claim(failed.json.status === 'failed' && failed.json.error.code === 'no_stock', 'a failed one says why');
    const incident = await start({ code: 'holding' }, { query: { wait: '100ms' } }, 202);
    claim(incident.json.waitingFor.kind === 'incident', 'one that is held waits as an incident');

    for (const one of [ended, held, slow, failed, incident]) {
        await api.call('getExecution', { path: { id: one.json.id } }, 200);
        await api.call('listSteps', { path: { id: one.json.id } }, 200);
    }
    await api.call('getExecution', { path: { id: NOBODY } }, 404);
    await api.call('listSteps', { path: { id: NOBODY } }, 404);
    await api.call('listSteps', { path: { id }, query: { cursor: 'x' } }, 400);
    await api.call('listSteps', { path: { id }, query: { order: 'newest', limit: 1 } }, 200);
    const steps = await api.call('listSteps', { path: { id }, query: { limit: 1 } }, 200);
    await api.call('listSteps', { path: { id }, query: { limit: 1, cursor: steps.json.nextCursor } }, 200);
    await walkAgain(api, claim);
    await walkLists(api, claim, id);
    await walkEventful(api, claim);
    await walkSignals(api, claim, id);
    await walkJobs(api, claim);

    await walkPause(api, claim, slow.json.id, id);
    await walkInbox(api, claim, slow.json.id, id);
    await walkCallbacks(api, claim);
    await api.call('cancelExecution', { path: { id: slow.json.id }, body: { reason: 'enough' } }, 202);
    const gone = await api.call('getExecution', { path: { id: slow.json.id } }, 200);
    claim(gone.json.status === 'cancelled' && !gone.json.actions.includes('cancel'), 'a cancelled one is cancelled');
    await api.call('cancelExecution', { path: { id: slow.json.id } }, 409);
    await api.call('cancelExecution', { path: { id: NOBODY } }, 404);
    await walkRepair(api, claim, held.json.id, failed.json.id);
    await api.call('cancelExecution', { path: { id: incident.json.id }, body: { raeson: 'x' } }, 422);
    await api.call('cancelExecution', { path: { id: incident.json.id } }, 202);
}

async function walkPause(api, claim, id, ended) {
    const path = { id };
    await api.call('resumeExecution', { path }, 409);
    await api.call('pauseExecution', { path, body: { reason: 'x'.repeat(1001) } }, 422);
    await api.call('pauseExecution', { path, body: { reason: 'not now' } }, 202);
    const paused = (await api.call('getExecution', { path }, 200)).json;
    claim(paused.waitingFor.kind === 'paused' && paused.waitingFor.branches.length === 1 && paused.actions.includes('resume'), 'a paused one says so');
    await api.call('pauseExecution', { path }, 409);
    await api.call('resumeExecution', { path, body: { why: 1 } }, 422);
    await api.call('resumeExecution', { path, body: {} }, 202);
    for (const action of ['pause', 'resume']) {
        const many = { action, filter: { code: paused.code, status: 'waiting' } };
        const done = await api.call('changeExecutions', { body: many }, 200);
        claim(done.json.done > 0, `many are told to ${action}`);
    }
    for (const operation of ['pauseExecution', 'resumeExecution']) {
        await api.call(operation, { path: { id: ended } }, 409);
        await api.call(operation, { path: { id: NOBODY } }, 404);
    }
}

async function walkInbox(api, claim, waits, ended) {
    const me = (await api.call('getMe', {}, 200)).json;
    const path = { id: waits };
    await api.call('listInbox', { query: { cursor: 'x' } }, 400);
    await api.call('assignExecution', { path, body: { assignee: [] } }, 422);
    await api.call('assignExecution', { path, body: { step: 'nowhere', assignee: me.id } }, 409);
    await api.call('assignExecution', { path: { id: ended }, body: { assignee: me.id } }, 409);
    await api.call('assignExecution', { path: { id: NOBODY }, body: { assignee: me.id } }, 404);
    await publish(api, { code: 'asking', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: ['yes', 'no'], title: 'May we?', assignee: me.id, timeout: '1h', form: [{ name: 'n', type: 'integer', required: true }] } }] });
    for (const query of [{}, { wait: '5s' }]) {
        const { id } = (await api.call('startExecution', { body: { code: 'asking' } }, 201)).json;
        const mine = (await api.call('listInbox', {}, 200)).json.items;
        const item = { itemId: mine.find((i) => i.executionId === id)?.id };
        claim(item.itemId !== undefined, 'what is assigned to the caller is in the inbox');
        await api.call('answerInbox', { path: item, body: { payload: { n: 1 } } }, 422);
        await api.call('answerInbox', { path: { itemId: 'nothing' }, body: {} }, 404);
        await api.call('answerInbox', { path: item, query, body: { type: 'yes', payload: { n: 1 } } }, query.wait ? 200 : 202);
        await api.call('answerInbox', { path: item, body: { type: 'yes', payload: { n: 1 } } }, 409);
    }
    const given = (await api.call('startExecution', { body: { code: 'asking' } }, 201)).json.id;
    await api.call('assignExecution', { path: { id: given }, body: { assignee: 'group:others' } }, 202);
    const rows = (await api.call('listSteps', { path: { id: given }, query: { events: true } }, 200)).json.items;
    claim(rows.some((row) => row.status === 'assigned'), 'an assignment is in the history');
    await api.call('cancelExecution', { path: { id: given } }, 202);
}

/** The tokens of links that executions tell a server of ours. */
async function tokens(api, count, code) {
    const found = [];
    const server = createServer((request, response) => {
        let body = '';
        request.on('data', (part) => (body += part));
        request.on('end', () => {
            found.push(body.split('/').pop());
            response.writeHead(200).end();
        });
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${server.address().port}/`;
    await publish(api, { code, steps: [
        { code: 'tell', procedure: { type: 'integration.http', method: 'POST', url, body: '$.execution.callbackUrl' } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', public: true, timeout: '1h', form: [{ name: 'n', type: 'integer', required: true }] } },
    ] });
    for (let i = 0; i < count; i++) {
        const { id } = (await api.call('startExecution', { body: { code } }, 201)).json;
        while ((await api.call('getExecution', { path: { id } }, 200)).json.currentStep !== 'ask') await new Promise((done) => setTimeout(done, 10));
    }
    server.close();
    return found;
}

async function walkCallbacks(api, claim) {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const links = await tokens(api, 4, 'linked');
    for (const [show, answer, type] of [['showCallback', 'answerCallback', {}], ['showCallbackOfType', 'answerCallbackOfType', { type: 'go' }]]) {
        const page = { token: links.pop(), ...type }, program = { token: links.pop(), ...type };
        await api.call(show, { path: { token: 'nothing', type: 'go' } }, 404);
        claim((await api.call(show, { path: page }, 200)).raw.includes('<form'), 'a link shows a form');
        for (const path of [page, program]) {
            const headers = path === page ? form : {};
            await api.call(answer, { path, headers, body: path === page ? 'n=x' : { n: 'x' } }, 422);
            await api.call(answer, { path, headers, body: path === page ? 'n=%ff' : '{' }, 400);
            await api.call(answer, { path, headers, body: path === page ? 'n=1' : { n: 1 } }, path === page ? 200 : 202);
            await api.call(answer, { path, headers, body: path === page ? 'n=1' : { n: 1 } }, 404);
        }
    }
}

async function walkRepair(api, claim, ended, failed) {
    const incident = async () => ({ id: (await api.call('startExecution', { body: { code: 'holding' } }, 201)).json.id });
    let path = await incident();
    const before = (await api.call('getExecution', { path }, 200)).json;
    claim(['retry', 'skip', 'migrate'].every((action) => before.actions.includes(action)), 'what is held can be repaired');
    await api.call('retryExecution', { path }, 202);
    await api.call('retryExecution', { path, body: { from: before.currentStep, version: before.version } }, 202);
    await api.call('retryExecution', { path, body: { from: 'nowhere' } }, 422);
    await api.call('retryExecution', { path, body: { version: 99 } }, 422);
    await api.call('migrateExecution', { path, body: { version: before.version } }, 202);
    await api.call('migrateExecution', { path, body: {} }, 422);
    await api.call('skipStep', { path, body: { output: { n: 1 } } }, 202);
    path = await incident();
    await api.call('skipStep', { path }, 202);
    const after = (await api.call('getExecution', { path }, 200)).json;
    claim(after.status === 'completed' && !after.actions.includes('skip'), 'without its step it goes on');
    await api.call('skipStep', { path, body: { outptu: 1 } }, 422);
    await api.call('retryExecution', { path: { id: failed } }, 202);
    for (const id of [ended, NOBODY]) {
        const wanted = id === ended ? 409 : 404;
        await api.call('retryExecution', { path: { id } }, wanted);
        await api.call('skipStep', { path: { id } }, wanted);
        await api.call('migrateExecution', { path: { id }, body: { version: 1 } }, wanted);
    }
}

async function walkEventful(api, claim) {
    const { json } = await api.call('startExecution', { body: { code: 'eventful' } }, 201);
    const path = { id: json.id };
    claim(json.waitingFor.title === 'May we?' && json.waitingFor.form.length === 1 && json.waitingFor.public, 'a wait says what people are asked');
    await api.call('signalExecution', { path, body: { type: 'yes', payload: { n: 2 } } }, 202);
    const unmatched = await api.call('getExecution', { path }, 200);
    claim(unmatched.json.waitingFor.unmatched === 1, 'a signal that does not match is counted');
    await api.call('signalExecution', { path, body: { type: 'yes', payload: { n: 'many' } } }, 422);
    await api.call('signalExecution', { path, body: { type: 'no', payload: { n: 1 } }, query: { wait: '10s' } }, 200);
    await api.events('followExecution', { path });
    const end = await api.call('getExecution', { path }, 200);
    claim(end.json.status === 'failed' && end.json.error.compensation.compensated.length === 2, 'a failure is told with what was undone');
    const steps = await api.call('listSteps', { path }, 200);
    const seen = new Set(steps.json.items.map((s) => `${s.kind} ${s.status}`));
    for (const row of ['forward completed', 'forward failed', 'rollback compensated']) claim(seen.has(row), `history has a row ${row}: ${[...seen]}`);
}

async function walkAgain(api, claim) {
    const first = await api.call('startExecution', { body: { code: 'greeting', input: { who: 'Ada' } }, query: { wait: '10s' } }, 201);
    const path = { id: first.json.id };
    const headers = { 'Idempotency-Key': 'walk-again' };
    const again = await api.call('startAgain', { path, headers }, 201);
    claim(again.json.againOf === first.json.id, 'the new one names the old one');
    await api.call('startAgain', { path, headers }, 200);
    await api.call('startAgain', { path, body: { version: 77 } }, 404);
    await api.call('startAgain', { path, body: { version: 0 } }, 422);
    await api.call('startAgain', { path, query: { wait: 'long' } }, 400);
    await api.call('startAgain', { path: { id: NOBODY } }, 404);
    const live = await api.call('startExecution', { body: { code: 'waiting' } }, 201);
    await api.call('startAgain', { path: { id: live.json.id } }, 409);
    await api.call('cancelExecution', { path: { id: live.json.id } }, 202);
    await api.call('startAgain', { path: { id: live.json.id }, query: { wait: '1ms' } }, 202);
    await api.call('listLogs', { path, query: { limit: 1 } }, 200);
    await api.call('listLogs', { path, query: { cursor: 'x' } }, 400);
    await api.call('listLogs', { path: { id: NOBODY } }, 404);
}

async function walkLists(api, claim, id) {
    const first = await api.call('listExecutions', { query: { limit: 1 } }, 200);
    claim(first.json.nextCursor !== null, 'a page of one has a next one');
    await api.call('listExecutions', { query: { limit: 2, cursor: first.json.nextCursor } }, 200);
    const found = await api.call('listExecutions', {
        query: { kind: 'scenario', code: 'waiting', status: 'waiting', key: 'walk-1', step: 'ask', from: '2020-01-01', to: '2999-01-01T00:00:00Z', q: id },
    }, 200);
    claim(found.json.items.length === 1 && found.json.items[0].id === id, 'all filters together find one');
    await api.call('listExecutions', { query: { parent: id, error: 'x', waiting: 'signal', deadlineBefore: '2h', order: 'oldest' } }, 200);
    for (const by of ['code', 'status', 'step', 'error']) {
        const counts = await api.call('summarizeExecutions', { query: { by } }, 200);
        claim(by === 'error' || counts.json.items.length > 0, `executions are counted by ${by}`);
    }
    await api.call('summarizeExecutions', { query: { by: 'size' } }, 400);
    for (const query of [{ limit: 501 }, { from: 'soon' }, { status: 'asleep' }, { cursor: 'x' }])
        await api.call('listExecutions', { query }, 400);
}

async function walkSignals(api, claim, id) {
    const signal = (body, more = {}, wanted = 202) => api.call('signalExecution', { path: { id }, body, ...more }, wanted);
    await signal({ type: 'other', id: 's1', payload: [1] });
    await signal({ type: 'other', id: 's1', payload: [1] });
    await signal({ type: 'other', id: 's1', payload: [2] }, {}, 409);
    await signal({ type: '' }, {}, 422);
    await api.call('signalExecution', { path: { id: NOBODY }, body: { type: 'go' } }, 404);
    const taken = await signal({ type: 'go', payload: { a: 1 } }, { query: { wait: '10s' } }, 200);
    claim(taken.json.step.step === 'ask' && taken.json.executionId === id, 'a signal is answered with the step that took it');
    const done = await api.call('getExecution', { path: { id } }, 200);
    claim(done.json.status === 'completed' && done.json.result.got.a === 1, 'what was signalled arrived');
    await signal({ type: 'go' }, {}, 409);
}

async function walkEvents(api, claim) {
    const { id } = (await api.call('startExecution', { body: { code: 'waiting' } }, 201)).json;
    const first = await api.events('followExecution', { path: { id }, until: (all) => all.some((e) => e.event === 'status') });
    claim(first.events.map((e) => e.event).join() === 'step,step,status' && !first.hasEnded, 'an execution is followed to where it waits');
    await api.call('signalExecution', { path: { id }, body: { type: 'go' }, query: { wait: '10s' } }, 200);
    const last = first.events.at(-1).id;
    const rest = await api.events('followExecution', { path: { id }, headers: { 'Last-Event-ID': last } });
    claim(rest.hasEnded && rest.events.at(-1).data.status === 'completed' && rest.events.every((e) => e.id > last), 'and then to its end');
    const same = await api.events('followExecution', { path: { id }, query: { after: last } });
    claim(JSON.stringify(same) === JSON.stringify(rest), 'after says the same as Last-Event-ID');
    await api.call('followExecution', { path: { id: NOBODY } }, 404);
    await api.call('followExecution', { path: { id }, query: { after: 'x' } }, 400);

    const other = new api.constructor(api.url, api.token, api.doc);
    const feed = api.events('followAll', { query: { code: 'waiting' }, headers: { 'Last-Event-ID': 0 }, until: (all) => all.some((e) => e.event === 'execution') });
    // Nobody says when the feed has begun, so something happens until it was heard.
    let heard = false;
    feed.then(() => (heard = true), () => (heard = true));
    while (!heard) {
        const { json } = await other.call('startExecution', { body: { code: 'waiting' } }, 201);
        await other.call('cancelExecution', { path: { id: json.id } }, 202);
    }
    const { events } = await feed;
    claim(events[0].event === 'reset', 'a reconnect to the feed begins with reset');
    other.close();
    await api.call('followAll', { query: { status: 'asleep' } }, 400);
}

async function walkMany(api, claim) {
    const { id } = (await api.call('startExecution', { body: { code: 'waiting', key: 'many-1' } }, 201)).json;
    await api.call('sendSignal', { body: { type: 'other', key: 'many-1', payload: 1, id: 'm1' } }, 202);
    await api.call('sendSignal', { body: { type: 'other', key: 'many-1', payload: 2, id: 'm1' } }, 409);
    await api.call('sendSignal', { body: { type: 'other', key: 'nobody' } }, 404);
    await api.call('sendSignal', { body: { type: 'other' } }, 422);
    await api.call('deleteExecution', { path: { id } }, 409);

    const steps = (await api.call('listSteps', { path: { id } }, 200)).json.items;
    const then = await api.call('getContext', { path: { id }, query: { at: steps[0].id } }, 200);
    claim(then.json.variables.n === 1, 'a context is shown as it was');
    await api.call('getContext', { path: { id } }, 200);
    await api.call('getContext', { path: { id }, query: { at: NOBODY } }, 404);

    const all = { action: 'cancel', filter: { code: 'waiting', status: ['waiting'] } };
    const dry = await api.call('changeExecutions', { body: { ...all, dryRun: true } }, 200);
    claim(dry.json.matched > 0 && dry.json.done === 0, 'a dry run counts');
    const key = { 'Idempotency-Key': 'many-bulk' };
    const done = await api.call('changeExecutions', { body: all, headers: key }, 200);
    claim(done.json.done === dry.json.matched && !done.json.more, 'many are cancelled');
    await api.call('changeExecutions', { body: { ...all, limit: 1 }, headers: key }, 409);
    await api.call('changeExecutions', { body: { action: 'explode', filter: {} } }, 422);
    await api.call('deleteExecution', { path: { id } }, 204);
    await api.call('deleteExecution', { path: { id } }, 404);
}

async function walkDeadLetters(api, claim) {
    const held = [];
    for (let i = 0; i < 3; i++) held.push((await api.call('startExecution', { body: { code: 'holding' } }, 201)).json.id);
    const page = await api.call('listDeadLetters', { query: { limit: 1, code: 'holding', kind: 'incident', status: 'open' } }, 200);
    claim(page.json.items[0].executionId === held[2] && page.json.nextCursor !== null, 'dead letters are listed, newest first');
    await api.call('listDeadLetters', { query: { limit: 1, cursor: page.json.nextCursor, from: '2026-01-01', to: '2999-01-01T00:00:00Z' } }, 200);
    const one = await api.call('listDeadLetters', { query: { execution: held[0], status: 'all' } }, 200);
    claim(one.json.items.length === 1 && one.json.items[0].cause.code === 'no_stock', 'an incident has one letter');
    await api.call('listDeadLetters', { query: { status: 'opn' } }, 400);
    const path = { letterId: one.json.items[0].id };
    await api.call('getDeadLetter', { path }, 200);
    await api.call('getDeadLetter', { path: { letterId: NOBODY } }, 404);

    const resolve = (body, headers, wanted, to = path) => api.call('resolveDeadLetter', { path: to, body, headers }, wanted);
    const key = { 'Idempotency-Key': 'walk-letter' };
    await resolve({}, {}, 422);
    await resolve({ note: 'x', outcome: 'succeeded' }, {}, 422);
    await resolve({ note: 'x' }, {}, 404, { letterId: NOBODY });
    await resolve({ note: 'x' }, { 'Idempotency-Key': 'k'.repeat(256) }, 400);
    const closed = await resolve({ note: 'counted again' }, key, 200);
    claim(closed.json.status === 'resolved' && closed.json.note === 'counted again', 'a letter is resolved with a note');
    await resolve({ note: 'counted again' }, key, 200);
    await resolve({ note: 'other' }, key, 409);

    const many = (body, wanted, headers = {}) => api.call('retryDeadLetters', { body, headers }, wanted);
    const counted = await many({ action: 'retry', filter: { kind: 'incident' }, dryRun: true }, 200);
    claim(counted.json.matched > 0 && counted.json.done === 0, 'a dry-run counts the letters');
    await many({ action: 'retry', filter: { code: 'nothing' } }, 200, { 'Idempotency-Key': 'walk-letters' });
    await many({ action: 'retry', filter: { code: 'other' } }, 409, { 'Idempotency-Key': 'walk-letters' });
    await many({ action: 'retry', filter: { kind: 'none' } }, 422);

    const retry = (to, wanted, more = {}) => api.call('retryDeadLetter', { path: to, ...more }, wanted);
    await retry(path, 409);
    await retry({ letterId: NOBODY }, 404);
    await retry(path, 422, { body: { what: 1 } });
    await retry({ letterId: page.json.items[0].id }, 202);
}

/** Mail waits: no server for it is configured. */
async function walkOutbox(api, claim) {
    const [code, key] = ['letters', { 'Idempotency-Key': 'walk-message' }];
    const tell = { code: 'tell', procedure: { type: 'notification.email', to: 'a@example.com', subject: 's', body: 'b' } };
    await api.call('saveScenarioDraft', { path: { code }, body: { code, steps: [tell, { ...tell, code: 'again' }] } }, 200);
    await api.call('publishScenario', { path: { code } }, 200);
    const { json: x } = await api.call('startExecution', { body: { code }, query: { wait: '10s' } }, 201);
    const page = await api.call('listOutbox', { query: { execution: x.id, kind: 'email', status: 'pending', destination: 'email', limit: 1 } }, 200);
    claim(page.json.items[0].error.code === 'not_configured' && page.json.nextCursor !== null, 'messages are listed, newest first');
    await api.call('listOutbox', { query: { execution: x.id, limit: 1, cursor: page.json.nextCursor } }, 200);
    await api.call('listOutbox', { query: { status: 'sent' } }, 400);
    const path = { messageId: page.json.items[0].id };
    const retry = (to, wanted, more = {}) => api.call('retryMessage', { path: to, ...more }, wanted);
    await retry({ messageId: NOBODY }, 404);
    await retry(path, 422, { body: { what: 1 } });
    await retry(path, 202, { headers: key });
    await retry(path, 409, { headers: key, body: '{}' });
    await retry(path, 400, { headers: { 'Idempotency-Key': 'k'.repeat(256) } });
}

async function walkSchedules(api, claim) {
    const [code, key] = ['nightly', { 'Idempotency-Key': 'walk-schedule' }];
    const triggers = ['0 3 * * *', '0 4 29 2 *'].map((cron) => ({ type: 'schedule', cron, timezone: 'Europe/Berlin' }));
    const nap = { code: 'nap', procedure: { type: 'wait.timer', duration: '1h' } };
    await api.call('saveScenarioDraft', { path: { code }, body: { code, triggers, steps: [nap] } }, 200);
    await api.call('publishScenario', { path: { code } }, 200);
    const page = await api.call('listSchedules', { query: { code, limit: 1 } }, 200);
    claim(page.json.items[0].cron === '0 3 * * *' && page.json.nextCursor !== null, 'schedules are listed');
    await api.call('listSchedules', { query: { code, cursor: page.json.nextCursor } }, 200);
    await api.call('listSchedules', { query: { cursor: 'x' } }, 400);
    const preview = await api.call('previewSchedule', { query: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin' } }, 200);
    claim(preview.json.items.length === 10, 'an expression is shown with its next ten times');
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

async function walkActions(api, claim) {
    await publish(api, acting);
    const path = { object: 'card', recordId: '1', code: 'acting' };
    for (const object of ['card', 'shut']) await api.call('putRecord', { path: { ...path, object }, body: { a: 1 } }, 201);
    claim((await api.call('listActions', { path }, 200)).json.items[0].label === 'Act', 'the card has a button');
    await api.call('listActions', { path: { ...path, recordId: '2' } }, 404);
    await api.call('listActions', { path: { ...path, object: 'no object' } }, 422);
    const started = await api.call('startAction', { path, body: { input: { n: 1 } } }, 201);
    claim(started.json.record === 'card/1', 'what it was started from');
    await api.call('startAction', { path, body: { input: { n: 1 } } }, 200);
    await api.call('startAction', { path, body: { input: { n: 2 } }, query: { wait: '1ms' } }, 202);
    await api.call('startAction', { path, body: { input: { n: 'x' } } }, 422);
    await api.call('startAction', { path: { ...path, code: 'nothing_here' } }, 404);
    await api.call('startAction', { path: { ...path, object: 'shut' } }, 409);
    claim((await api.call('listExecutions', { query: { record: 'card/1' } }, 200)).json.items.length === 2, 'those of one card');
}

async function walkRecords(api, claim) {
    const path = { object: 'invoice', recordId: 'I 1/ä' };
    const put = (body, headers, wanted) => api.call('putRecord', { path, body, headers }, wanted);
    const made = await put({ amount: 1 }, { 'If-None-Match': '*' }, 201);
    claim(made.headers.etag === '"1"' && made.headers.location === '/api/v1/records/invoice/I%201%2F%C3%A4', 'a new record says where it is');
    const key = { 'Idempotency-Key': 'walk-record' };
    await put({ amount: 2 }, key, 200);
    await put({ amount: 3 }, key, 409);
    await put({ amount: 2 }, { 'If-Match': '"77"' }, 412);
    await put({ id: 'other' }, {}, 422);
    await put({}, { 'Idempotency-Key': 'k'.repeat(256) }, 400);
    const patch = (body, headers, wanted, to = path) => api.call('patchRecord', { path: to, body, headers }, wanted);
    const merged = await patch({ paid: true }, { 'If-Match': '"2"' }, 200);
    claim(merged.json.amount === 2 && merged.json.paid === true, 'a patch leaves the rest');
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
    claim(page.json.items[0].id === '2' && page.json.nextCursor !== null, 'records are filtered, ordered and paged');
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

async function walkAccess(api, claim) {
    const body = { name: 'Walker', role: 'operator', email: 'walk@example.org', groups: ['a'], skill_level: 3, specializations: ['b'] };
    const key = { 'Idempotency-Key': 'walk-user' };
    const made = await api.call('createUser', { body, headers: key }, 201);
    const path = { id: made.json.id };
    const again = await api.call('createUser', { body, headers: key }, 201);
    claim(typeof made.json.token === 'string' && again.json.token === undefined && again.json.id === path.id, 'a token is shown once');
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
    claim(brief.json.expiresAt === '2999-01-01T00:00:00Z', `a token may expire: ${brief.json.expiresAt}`);
    await api.call('listTokens', { path }, 200);
    const tokens = await api.call('listTokens', { path, query: { limit: 1 } }, 200);
    claim(tokens.json.items.length === 1 && tokens.json.nextCursor === tokens.json.items[0].id, 'a page of tokens has a next one');
    claim((await api.call('listTokens', { path, query: { cursor: tokens.json.nextCursor } }, 200)).json.items.length === 2, 'the rest of the tokens');
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

async function walkSessions(api, claim) {
    const token = null;
    const begun = await api.call('beginSession', { token, body: { token: api.token } }, 204);
    await api.call('beginSession', { token, body: { token: 'pawl_wrong' } }, 401);
    await api.call('beginSession', { token, body: {} }, 422);
    await api.call('beginSession', { token, body: { token: api.token }, headers: { Origin: 'https://elsewhere.example.org' } }, 403);
    const cookie = { Cookie: begun.headers['set-cookie'].split(';')[0] };
    claim((await api.call('getMe', { token, headers: cookie }, 200)).json.name === 'admin', 'a cookie is somebody');
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
    await api.call('getHealth', { token: null }, 200);
    await api.call('getReadiness', { token: null }, 200);
    await api.call('getDocument', { token: null }, 200);
}

export const walks = [walkDefinitions, walkProcedures, walkLive, walkCredentials, walkHooks, walkChecks, walkDryRun, walkExecutions, walkEvents, walkMany, walkDeadLetters, walkOutbox, walkSchedules, walkActions, walkRecords, walkPlanner, walkAccess, walkSessions, walkServer];
