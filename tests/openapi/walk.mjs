// walk.mjs - a way through every operation that meets each of its documented answers at least once.
//
// Left out, because they are met in the same way everywhere (test_routes.mjs does that): 400 of a
// path that is no UTF-8 or a body that is no JSON, 401, 403, 413. Left out, because a healthy server
// does not give them: 500, 503.

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

async function publish(api, definition) {
    await api.call('saveScenarioDraft', { path: { code: definition.code }, body: definition }, 200);
    await api.call('publishScenario', { path: { code: definition.code } }, 200);
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
    for (const definition of [waiting, failing, holding]) await publish(api, definition);
    await api.call('saveScenarioDraft', { path: { code }, body: { code, nodes: [] } }, 200);

    const versions = await api.call('listScenarioVersions', { path: { code } }, 200);
    claim(versions.json.items.length === 2, 'two versions are listed');
    await api.call('listScenarioVersions', { path: { code: 'nothing' } }, 404);
    const version = await api.call('getScenarioVersion', { path: { code, n: 1 } }, 200);
    claim(version.json.definition.steps.length === 1 && version.json.status === 'superseded', 'a version is shown whole');
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

async function walkChecks(api, claim) {
    const good = await api.call('validateDefinition', { body: { kind: 'scenario', definition: greeting('Hey') } }, 200);
    claim(good.json.valid && good.json.errors.length === 0, 'a good definition has no findings');
    const bad = await api.call('validateDefinition', { body: { definition: { code: 'x', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: '=1 +' } }] } } }, 200);
    claim(!bad.json.valid && bad.json.errors.some((e) => e.column), 'a bad expression is found with its column');
    await api.call('validateDefinition', { body: {} }, 422);
    const value = await api.call('evaluateExpression', { body: { expression: '$.a + 1', context: { a: 2 } } }, 200);
    claim(value.json.value === 3 && value.json.type === 'int', 'an expression has a value and a type');
    for (const expression of ['1 +', '1 + "a"', '1 / 0', 'x', '[1].map(i, i)[7]'])
        await api.call('evaluateExpression', { body: { expression } }, 422);
}

// --- executions ---

async function walkExecutions(api, claim) {
    const start = (body, more = {}, wanted = 201) => api.call('startExecution', { body, ...more }, wanted);
    const ended = await start({ code: 'greeting', input: { who: 'Ada' } }, { query: { wait: '10s' } });
    claim(ended.json.status === 'completed' && ended.json.result.text === 'Hi, Ada', 'a waited start has ended');
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
    const steps = await api.call('listSteps', { path: { id }, query: { limit: 1 } }, 200);
    await api.call('listSteps', { path: { id }, query: { limit: 1, cursor: steps.json.nextCursor } }, 200);
    await walkLists(api, claim, id);
    await walkSignals(api, claim, id);

    await api.call('cancelExecution', { path: { id: slow.json.id }, body: { reason: 'enough' } }, 202);
    const gone = await api.call('getExecution', { path: { id: slow.json.id } }, 200);
    claim(gone.json.status === 'cancelled' && gone.json.actions.length === 0, 'a cancelled one is cancelled');
    await api.call('cancelExecution', { path: { id: slow.json.id } }, 409);
    await api.call('cancelExecution', { path: { id: NOBODY } }, 404);
    await api.call('cancelExecution', { path: { id: incident.json.id }, body: { raeson: 'x' } }, 422);
    await api.call('cancelExecution', { path: { id: incident.json.id } }, 202);
}

async function walkLists(api, claim, id) {
    const first = await api.call('listExecutions', { query: { limit: 1 } }, 200);
    claim(first.json.nextCursor !== null, 'a page of one has a next one');
    await api.call('listExecutions', { query: { limit: 2, cursor: first.json.nextCursor } }, 200);
    const found = await api.call('listExecutions', {
        query: { kind: 'scenario', code: 'waiting', status: 'waiting', key: 'walk-1', step: 'ask', from: '2020-01-01', to: '2999-01-01T00:00:00Z', q: id },
    }, 200);
    claim(found.json.items.length === 1 && found.json.items[0].id === id, 'all filters together find one');
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
    claim(typeof taken.json.id === 'string', 'a signal has an id');
    const done = await api.call('getExecution', { path: { id } }, 200);
    claim(done.json.status === 'completed' && done.json.result.got.a === 1, 'what was signalled arrived');
    await signal({ type: 'go' }, {}, 409);
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
    await api.call('listTokens', { path }, 200);
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

// --- the server ---

async function walkServer(api) {
    await api.call('getHealth', { token: null }, 200);
    await api.call('getReadiness', { token: null }, 200);
    await api.call('getDocument', { token: null }, 200);
}

export const walks = [walkDefinitions, walkChecks, walkExecutions, walkAccess, walkServer];
