// definitions.mjs - the scenarios that are measured.

const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });

/** Four local steps. */
export const FOUR = {
    code: 'bench_four',
    name: 'Four local steps',
    input: [{ name: 'amount', type: 'integer', required: true }],
    steps: [
        transform('check', { large: '=$.input.amount > 100', amount: '$.input.amount' }),
        transform('tax', { tax: '=$.steps.check.amount * 19 / 100' }),
        transform('total', { total: '=$.steps.check.amount + $.steps.tax.tax' }),
        transform('note', { text: '{{ $.steps.total.total }} in all' }),
    ],
};
export const FOUR_START = {
    path: '/api/v1/executions?wait=60s',
    body: JSON.stringify({ code: FOUR.code, input: { amount: 250 } }),
};

/** Waits for a signal "go", then one more step. */
export const HOLD = {
    code: 'bench_hold',
    name: 'Waits for a signal',
    steps: [
        { code: 'hold', procedure: { type: 'wait.signal', signalType: 'go' } },
        transform('done', { by: '$.steps.hold.type' }),
    ],
};
export const HOLD_START = { path: '/api/v1/executions', body: JSON.stringify({ code: HOLD.code }) };
export const SIGNAL = {
    path: '/api/v1/executions/@LINE@/signal?wait=60s',
    body: JSON.stringify({ type: 'go', payload: { ok: true } }),
};

/** Sleeps until the time that it is given. */
export const SLEEP = {
    code: 'bench_sleep',
    name: 'Sleeps until a time',
    input: [{ name: 'due', type: 'string', required: true }],
    steps: [{ code: 'sleep', procedure: { type: 'wait.until', timestamp: '$.input.due' } }],
    result: { due: '$.input.due' },
};

/** One step whose output is 16 times its input. */
export const LARGE = {
    code: 'bench_large',
    name: 'A large context',
    input: [{ name: 'text', type: 'string', required: true }],
    steps: [
        transform('grow', { text: `=${Array(16).fill('$.input.text').join(' + ')}` }),
        transform('measure', { size: '=$.steps.grow.text.size()' }),
    ],
    result: { size: '$.steps.measure.size' },
};

/** Fifty steps: by turns one that waits for a signal, and one whose output is all of the input. */
export const FIFTY = {
    code: 'bench_fifty',
    name: 'Fifty steps with a large context',
    input: [{ name: 'text', type: 'string', required: true }],
    steps: Array.from({ length: 25 }, (_, i) => [
        { code: `wait_${i}`, procedure: { type: 'wait.signal', signalType: 'go' } },
        transform(`grow_${i}`, { text: '$.input.text' }),
    ]).flat(),
    result: { size: '=$.steps.grow_24.text.size()' },
};

/** A loop: one execution with as many steps as it is asked for, and a small context. */
export const LOOP = {
    code: 'bench_loop',
    name: 'A long history',
    input: [{ name: 'rounds', type: 'integer', required: true }],
    steps: [{
        code: 'again',
        loop: {
            while: '$.loop.index < $.input.rounds',
            max: 10000,
            steps: [transform('round', { index: '$.loop.index' })],
        },
    }],
    result: { rounds: '=$.steps.again.count' },
};
