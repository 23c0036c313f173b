// walk_world.mjs - the processes that the walks of walk.mjs go through.

export const NOBODY = '00000000-0000-7000-8000-000000000000';

export const greeting = (text) => ({
    code: 'greeting',
    name: 'Greeting',
    input: [{ name: 'who', type: 'string', default: 'world' }],
    steps: [{ code: 'greet', procedure: { type: 'compute.transform', data: { text: `${text}, {{ $.input.who }}` } } }],
});

export const waiting = {
    code: 'waiting',
    steps: [
        { code: 'first', procedure: { type: 'compute.set', values: { n: 1 } } },
        { code: 'never', when: 'false', procedure: { type: 'compute.transform', data: 1 } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go', timeout: '1h' } },
        { code: 'last', procedure: { type: 'compute.transform', data: { got: '$.steps.ask.payload' } } },
    ],
};

export const failing = {
    code: 'failing',
    steps: [{ code: 'no', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none left', details: { left: 0 } } }],
};

export const holding = {
    code: 'holding',
    onError: 'hold',
    steps: [{ code: 'no', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none left' } }],
};

// Something of everything that an execution can show: loops, retries, rollback, people.
export const eventful = {
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

export async function publish(api, definition) {
    await api.call('saveScenarioDraft', { path: { code: definition.code }, body: definition }, 200);
    await api.call('publishScenario', { path: { code: definition.code } }, 200);
}
