// walk_definitions.mjs - the part of walk.mjs about definitions: saved, published, live, checked, tried.
import { NOBODY, greeting, waiting, failing, holding, eventful, publish } from './walk_world.mjs';

export async function walkDefinitions(api, holds) {
    const code = 'greeting';
    await api.call('saveScenarioDraft', { path: { code }, body: { code, stps: 1 }, headers: { 'If-None-Match': '*' } }, 200);
    await api.call('saveScenarioDraft', { path: { code }, body: {}, headers: { 'If-None-Match': '*' } }, 412);
    await api.call('saveScenarioDraft', { path: { code }, body: {}, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('saveScenarioDraft', { path: { code: 'Bad-Code' }, body: {} }, 422);
    await api.call('publishScenario', { path: { code } }, 422);
    await api.call('publishScenario', { path: { code }, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteScenarioDraft', { path: { code }, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteScenarioDraft', { path: { code } }, 204);
    await api.call('deleteScenarioDraft', { path: { code } }, 404);

    const key = { 'Idempotency-Key': 'walk-draft' };
    const saved = await api.call('saveScenarioDraft', { path: { code }, body: greeting('Hello'), headers: key }, 200);
    holds(saved.headers.etag === `"${saved.json.version}"` && saved.json.valid, 'a valid draft is saved');
    await api.call('saveScenarioDraft', { path: { code }, body: greeting('Hi'), headers: key }, 409);
    const draft = await api.call('getScenario', { path: { code } }, 200);
    holds(draft.headers.etag === saved.headers.etag && draft.json.draft.definition !== undefined, 'a draft is shown whole');
    await api.call('getScenarioVersion', { path: { code, n: 'draft' } }, 200);
    await api.call('publishScenario', { path: { code }, body: { changeSummary: 'first' }, headers: key }, 200);
    await api.call('publishScenario', { path: { code }, body: { changeSummary: 'other' }, headers: key }, 409);
    await api.call('publishScenario', { path: { code } }, 200);
    await api.call('publishScenario', { path: { code: 'nothing' } }, 404);
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
    holds(versions.json.items.length === 2, 'two versions are listed');
    await api.call('listScenarioVersions', { path: { code: 'nothing' } }, 404);
    const version = await api.call('getScenarioVersion', { path: { code, n: 1 } }, 200);
    holds(version.json.definition.steps.length === 1 && version.json.status === 'published', 'a version is shown whole');
    await api.call('getScenarioVersion', { path: { code, n: 99 } }, 404);
    await api.call('getScenario', { path: { code } }, 200);
    await api.call('getScenario', { path: { code: 'nothing' } }, 404);
    await api.call('deleteScenarioDraft', { path: { code }, headers: { 'Idempotency-Key': 'walk-delete' } }, 204);
    await api.call('deleteScenarioDraft', { path: { code }, headers: { 'Idempotency-Key': 'walk-delete' }, body: '{}' }, 409);
    const page = await api.call('listScenarios', { query: { limit: 1 } }, 200);
    holds(page.json.items.length === 1 && page.json.nextCursor !== null, 'a page of one has a next one');
    await api.call('listScenarios', { query: { limit: 500, cursor: page.json.nextCursor } }, 200);
    await api.call('listScenarios', { query: { limit: 0 } }, 400);
}

/** A kind of definition by its routes: `make(n)` is one of them, `spare` another that nothing uses. */
async function walkStaged(api, holds, kind, code, make, spare) {
    const path = { code };
    const key = { 'Idempotency-Key': `walk-${kind}` };
    await api.call(`save${kind}Draft`, { path, body: { code }, headers: key }, 200);
    await api.call(`save${kind}Draft`, { path, body: {}, headers: key }, 409);
    await api.call(`save${kind}Draft`, { path, body: {}, headers: { 'If-Match': '"77"' } }, 412);
    await api.call(`save${kind}Draft`, { path: { code: 'No' }, body: {} }, 422);
    await api.call(`publish${kind}`, { path }, 422);
    await api.call(`publish${kind}`, { path, headers: { 'If-Match': '"77"' } }, 412);
    await api.call(`delete${kind}Draft`, { path, headers: { 'If-Match': '"77"' } }, 412);
    await api.call(`delete${kind}Draft`, { path, headers: key }, 204);
    await api.call(`delete${kind}Draft`, { path, headers: key, body: '{}' }, 409);
    await api.call(`delete${kind}Draft`, { path }, 404);
    await api.call(`publish${kind}`, { path }, 404);
    for (const n of [2, 3]) {
        await api.call(`save${kind}Draft`, { path, body: make(n) }, 200);
        await api.call(`publish${kind}`, { path, headers: { 'Idempotency-Key': `walk-${kind}-${n}` } }, 200);
    }
    await api.call(`publish${kind}`, { path, body: {}, headers: { 'Idempotency-Key': `walk-${kind}-3` } }, 409);
    await api.call(`dryRun${kind}`, { path, body: { input: { n: 2 } } }, 200);
    await api.call(`dryRun${kind}`, { path, body: { inptu: {} } }, 422);
    await api.call(`revert${kind}`, { path, headers: key }, 200);
    await api.call(`revert${kind}`, { path, headers: key, body: {} }, 409);
    await api.call(`revert${kind}`, { path: { code: 'nothing' } }, 404);
    await api.call(`revert${kind}`, { path, body: { x: 1 } }, 422);
    await api.call(`get${kind}`, { path }, 200);
    await api.call(`get${kind}`, { path: { code: 'nothing' } }, 404);
    const list = await api.call(`list${kind}s`, {}, 200);
    holds(list.json.items.length === 1, `the ${kind} is listed`);
    await api.call(`list${kind}s`, { query: { limit: 'x' } }, 400);
    await api.call(`list${kind}Versions`, { path }, 200);
    await api.call(`list${kind}Versions`, { path: { code: 'nothing' } }, 404);
    await api.call(`get${kind}Version`, { path: { code, n: 1 } }, 200);
    await api.call(`get${kind}Version`, { path: { code, n: 9 } }, 404);
    await walkRetirement(api, holds, kind, spare.code, spare);
}

export async function walkProcedures(api, holds) {
    await walkStaged(api, holds, 'Procedure', 'double',
        (n) => ({ code: 'double', input: [{ name: 'n', type: 'integer' }], commands: [{ type: 'compute.transform', data: `=$.input.n * ${n}` }] }),
        { code: 'spare', commands: [{ type: 'log', message: 'x' }] });
    await walkRetirement(api, holds, 'Scenario', 'spare', { code: 'spare', steps: [{ code: 'a', procedure: { type: 'log', message: 'x' } }] });
}

export async function walkSchemas(api, holds) {
    const graph = (code, data) => ({ code, nodes: [{ id: 's', type: 'start' }, { id: 'x', type: 'compute.transform', config: { data } }, { id: 'e', type: 'end' }],
        edges: [{ source: 's', target: 'x' }, { source: 'x', target: 'e' }] });
    await walkStaged(api, holds, 'Schema', 'double_graph', (n) => graph('double_graph', `=$.input.n * ${n}`), graph('spare_graph', 1));
}

export async function walkMachines(api, holds) {
    const machine = (code, data) => ({ code, mode: 'state_machine', initial: 'a', states: { a: { on: { go: { to: 'b', do: { type: 'compute.transform', data } } } }, b: { final: true } } });
    await walkStaged(api, holds, 'Machine', 'double_machine', (n) => machine('double_machine', `=$.input.n * ${n}`), machine('spare_machine', 1));
}

// Out of use, and gone: `kind` is Scenario, Schema, Machine or Procedure, `code` one that nothing uses.
async function walkRetirement(api, holds, kind, code, definition) {
    const key = (name) => ({ 'Idempotency-Key': `walk-${kind}-${name}` });
    const path = { code };
    await api.call(`save${kind}Draft`, { path, body: definition }, 200);
    await api.call(`publish${kind}`, { path }, 200);
    for (const verb of ['retire', 'unretire']) {
        const done = await api.call(`${verb}${kind}`, { path, headers: key(verb) }, 200);
        holds(done.json.retired === (verb === 'retire'), `${kind}: ${verb} says how it stands`);
        await api.call(`${verb}${kind}`, { path, headers: key(verb), body: {} }, 409);
        await api.call(`${verb}${kind}`, { path: { code: 'nothing' } }, 404);
        await api.call(`${verb}${kind}`, { path, body: { why: 1 } }, 422);
    }
    await api.call(`delete${kind}`, { path, headers: key('delete') }, 200);
    await api.call(`delete${kind}`, { path, headers: key('delete'), body: '{}' }, 409);
    await api.call(`delete${kind}`, { path }, 404);
}

export async function walkLive(api, holds) {
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
        holds(made.headers.etag === `"${made.json.version}"`, `${one}: ETag is the version`);
        await call('get', {}, 200);
        const list = await api.call(`list${many}`, { query: { limit: 1 } }, 200);
        holds(list.json.items.length === 1, `${one}: it is listed`);
        if (one !== 'Subscription') {
            await api.call(`list${one}Versions`, { path }, 200);
            await api.call(`get${one}Version`, { path: { ...path, n: made.json.version } }, 200);
        }
        await api.call(`list${many}`, { query: { limit: 0 } }, 400);
    }
    const shown = await api.call('previewTemplate', { path: { code: 'welcome' }, body: { data: { name: '<Ann>' } } }, 200);
    holds(shown.json.subject === 'Hi <Ann>' && shown.json.html === '<b>&lt;Ann&gt;</b>', 'a preview is escaped where it must be');
    await api.call('previewTemplate', { path: { code: 'welcome' }, body: {} }, 422);
    await api.call('previewTemplate', { path: { code: 'nothing' } }, 404);
    await api.call('getCatalog', {}, 200);
    await api.call('getCatalog', { query: { lang: 'xx' } }, 422);
    const processes = await api.call('listProcesses', {}, 200);
    holds(processes.json.items.every((p) => p.kind === (p.code.endsWith('_graph') ? 'schema' : p.code.endsWith('_machine') ? 'machine' : 'scenario')), 'processes are listed with their kind');
    await api.call('listProcesses', { query: { limit: 'x' } }, 400);

    const bundle = await api.call('exportDefinitions', {}, 200);
    await api.call('exportDefinitions', { query: { codes: 'welcome,days' } }, 200);
    await api.call('exportDefinitions', { query: { codes: 'nothing' } }, 404);
    const same = await api.call('importDefinitions', { body: { ...bundle.json, dryRun: true } }, 200);
    holds(same.json.items.every((i) => i.action === 'unchanged'), 'what was exported is here already');
    const key = { 'Idempotency-Key': 'walk-import' };
    const more = { items: [{ kind: 'config', name: 'days', value: 15 }, { kind: 'config', name: 'hours', value: [1] }], overwrite: ['config'] };
    const done = await api.call('importDefinitions', { body: more, headers: key }, 200);
    holds(done.json.items.map((i) => i.action).join() === 'update,create', 'an import says what it did');
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

export async function walkCredentials(api, holds) {
    const path = { code: 'erp' };
    const key = { 'Idempotency-Key': 'walk-credential' };
    const good = { type: 'api_key', base_url: 'https://erp.example', header_name: 'X-Key', header_value: 'hush-hush' };
    const made = await api.call('putCredential', { path, body: good, headers: { 'If-None-Match': '*' } }, 201);
    holds(made.headers.etag === `"${made.json.version}"`, 'the ETag of a credential is its version');
    await api.call('putCredential', { path, body: good, headers: key }, 200);
    await api.call('putCredential', { path, body: { ...good, header_value: 'another' }, headers: key }, 409);
    await api.call('putCredential', { path, body: good, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('putCredential', { path, body: { ...good, header_value: undefined } }, 422);
    const shown = await api.call('getCredential', { path }, 200);
    holds(shown.json.filled && !JSON.stringify(shown.json).includes('hush'), 'a secret is not shown');
    const list = await api.call('listCredentials', { query: { limit: 1 } }, 200);
    holds(list.json.items.length === 1, 'credentials are listed');
    await api.call('listCredentials', { query: { limit: 0 } }, 400);
    const rotated = await api.call('rekeyCredentials', { headers: key }, 200);
    holds(rotated.json.credentials === 1, 'rotating the key says what it did');
    await api.call('rekeyCredentials', { headers: key, body: '{}' }, 409);
    await api.call('getCredential', { path: { code: 'nothing' } }, 404);
    await api.call('deleteCredential', { path: { code: 'nothing' } }, 404);
    await api.call('deleteCredential', { path, headers: { 'If-Match': '"77"' } }, 412);
    await api.call('deleteCredential', { path, headers: { 'Idempotency-Key': 'walk-delete-credential' } }, 204);
    await api.call('deleteCredential', { path, headers: { 'Idempotency-Key': 'walk-delete-credential' }, body: '{}' }, 409);
}

export async function walkChecks(api, holds) {
    const good = await api.call('validateDefinition', { body: { kind: 'scenario', definition: greeting('Hey') } }, 200);
    holds(good.json.valid && good.json.errors.length === 0, 'a good definition has no findings');
    const bad = await api.call('validateDefinition', { body: { definition: { code: 'x', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: '=1 +' } }] } } }, 200);
    holds(!bad.json.valid && bad.json.errors.some((e) => e.column), 'a bad expression is found with its column');
    await api.call('validateDefinition', { body: {} }, 422);
    const ran = await api.call('runTests', { body: { definitions: [greeting('Hey')], tests: [{ scenario: 'greeting', input: { who: 'Ada' }, expect: { status: 'completed' } }] } }, 200);
    holds(ran.json.passed === 1 && ran.json.failed === 0, 'a test that is sent with its definition passes');
    await api.call('runTests', { body: { tests: 1 } }, 422);
    const value = await api.call('evaluateExpression', { body: { expression: '$.a + 1', context: { a: 2 } } }, 200);
    holds(value.json.value === 3 && value.json.type === 'int', 'an expression has a value and a type');
    const several = await api.call('evaluateExpression', { body: { items: [{ expression: '$.a + 1' }, { value: '{{ $.a }}' }, { expression: '1 +' }], context: { a: 2 } } }, 200);
    holds(several.json.items[0].value === 3 && several.json.items[2].error.column > 0, 'several have a value or an error each');
    await api.call('evaluateExpression', { body: { items: [{ expression: '1' }], executionId: NOBODY } }, 404);
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

export async function walkDryRun(api, holds) {
    await publish(api, greeting('Hello'));
    await publish(api, tried);
    const path = { code: 'tried' };
    const whole = await api.call('dryRunScenario', { path, body: { mocks: { procedures: { 'crm.sync': 1 }, signals: { go: null } } } }, 200);
    holds(whole.json.status === 'completed' && whole.json.version === 1 && whole.json.children.length === 1, 'a dry-run goes to the end');
    holds(!JSON.stringify(whole.json).includes('secret-4711'), 'what is sensitive is not shown');
    const late = await api.call('dryRunScenario', { path, body: {} }, 200);
    holds(late.json.status === 'failed' && late.json.duration === '2d1h' && late.json.deadLetters.length === 1, 'without mocks time passes');
    await api.call('saveScenarioDraft', { path, body: { ...tried, steps: [{ code: 'ask', procedure: 'crm.sync' }] } }, 200);
    const draft = await api.call('dryRunScenario', { path, body: { version: 'draft', key: 'k', now: '2026-01-31T09:00:00Z' } }, 200);
    holds(draft.json.version === 'draft' && draft.json.waitingFor.kind === 'job' && draft.json.warnings.length === 1, 'a draft is tried, and what it lacks is told');
    await api.call('dryRunScenario', { path, body: { version: 99 } }, 404);
    await api.call('dryRunScenario', { path: { code: 'nothing' } }, 404);
    for (const body of [{ version: 'last' }, { mocks: { procedure: {} } }, { input: { pine: 1 } }, { now: 'soon' }])
        await api.call('dryRunScenario', { path, body }, 422);
    const left = await api.call('getRecord', { path: { object: 'tried', recordId: 'r1' } }, 404);
    holds(left.json.code === 'not_found', 'a dry-run writes nothing');
}
