// world.mjs - something for wrong requests to break: made, looked at, and tried out afterwards.

const greeting = {
    code: 'greeting',
    input: [{ name: 'who', type: 'string', default: 'world' }],
    steps: [{ code: 'greet', procedure: { type: 'compute.transform', data: { text: 'Hello, {{ $.input.who }}' } } }],
};

const approval = {
    code: 'approval',
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'approved' } }],
};

const held = {
    code: 'held',
    onError: 'hold',
    steps: [{ code: 'no', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none left' } }],
};

/** Make it. Answers the values of path parameters that exist. */
export async function prepare(api) {
    for (const definition of [greeting, approval, held]) {
        const path = { code: definition.code };
        await api.call('saveScenarioDraft', { path, body: definition }, 200);
        await api.call('publishScenario', { path }, 200);
    }
    await api.call('saveScenarioDraft', { path: { code: 'approval' }, body: approval }, 200);
    const { json } = await api.call('startExecution', { body: { code: 'approval', key: 'world' } }, 201);
    await api.call('startExecution', { body: { code: 'greeting' }, query: { wait: '10s' } }, 201);
    await api.call('putConfig', { path: { name: 'twice' }, body: { value: 14 } }, 201);
    await api.call('putFunction', { path: { name: 'twice' }, body: { params: [{ name: 'n', type: 'integer' }], body: 'n * 2' } }, 201);
    await api.call('putTemplate', { path: { code: 'approval' }, body: { subject: 'a', body: 'b' } }, 201);
    await api.call('putSubscription', { path: { code: 'approval' }, body: { url: 'http://127.0.0.1:9/', events: ['Never'] } }, 201);
    await api.call('putRecord', { path: { object: 'invoice', recordId: 'I1', jobId: '00000000-0000-7000-8000-000000000000', namespace: 'nothing_here' }, body: { amount: 1 } }, 201);
    await api.call('startExecution', { body: { code: 'held' } }, 201);
    const mailing = { code: 'mailing', steps: [{ code: 'tell', procedure: { type: 'notification.email', to: 'a@example.com', subject: 's', body: 'b' } }] };
    await api.call('saveScenarioDraft', { path: { code: 'mailing' }, body: mailing }, 200);
    await api.call('publishScenario', { path: { code: 'mailing' } }, 200);
    await api.call('startExecution', { body: { code: 'mailing' }, query: { wait: '10s' } }, 201);
    const [message] = (await api.call('listOutbox', {}, 200)).json.items;
    const [letter] = (await api.call('listDeadLetters', {}, 200)).json.items;
    return { letterId: letter.id, messageId: message.id, itemId: `${json.id}-ask`, token: 'pawlcb_x', type: 'go', id: json.id, code: 'approval', name: 'twice', n: '1', object: 'invoice', recordId: 'I1' };
}

async function all(api, id, path = {}) {
    const items = [];
    let cursor = null;
    do {
        const { json } = await api.call(id, { path, query: { limit: 500, ...(cursor ? { cursor } : {}) } }, 200);
        items.push(...json.items);
        cursor = json.nextCursor;
    } while (cursor);
    return items;
}

/** Everything that a request could have changed, as texts by name. */
export async function snapshot(api) {
    const executions = await all(api, 'listExecutions');
    const scenarios = await all(api, 'listScenarios');
    const whole = [];
    for (const { id } of executions)
        whole.push((await api.call('getExecution', { path: { id } }, 200)).raw, (await api.call('listSteps', { path: { id } }, 200)).raw);
    for (const { code } of scenarios)
        whole.push((await api.call('getScenario', { path: { code } }, 200)).raw, (await api.call('listScenarioVersions', { path: { code } }, 200)).raw);
    return {
        'the list of executions': JSON.stringify(executions),
        'the list of scenarios': JSON.stringify(scenarios),
        'what they are': whole.join('\n'),
        'everything that is published': (await api.call('exportDefinitions', {}, 200)).raw,
        'the list of procedures': JSON.stringify(await all(api, 'listProcedures')),
        'the dead letters': JSON.stringify(await all(api, 'listDeadLetters')),
        'the list of records': JSON.stringify(await all(api, 'listRecords', { object: 'invoice' })),
    };
}

/** Whether a new execution ends, and the one that waits takes its signal. */
export async function stillWorks(api, known) {
    const fresh = await api.call('startExecution', { body: { code: 'greeting', input: { who: 'you' } }, query: { wait: '30s' } }, 201);
    const signalled = await api.call('signalExecution', { path: known, body: { type: 'approved' }, query: { wait: '30s' } }, 200);
    const { json } = await api.call('getExecution', { path: known }, 200);
    return fresh.json.result.text === 'Hello, you' && signalled.status === 200 && json.status === 'completed';
}
