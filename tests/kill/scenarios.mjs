// scenarios.mjs - what runs while the server is killed.

const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });
const go = (code) => ({
    code,
    procedure: { type: 'wait.signal', signalType: ['go', 'finish'] },
});

// Makes a record of its own and counts itself in a shared one.
const countIn = () => [
    {
        code: 'open',
        procedure: {
            type: 'record.create',
            object: 'tally',
            id: '$.input.tally',
            data: { n: 0 },
            ifExists: 'keep',
        },
    },
    {
        code: 'count',
        procedure: [
            {
                type: 'record.create',
                object: 'mark',
                id: '$.execution.id',
                data: { n: '$.input.n' },
            },
            { type: 'record.get', object: 'tally', id: '$.input.tally', as: 'tally' },
            {
                type: 'record.update',
                object: 'tally',
                id: '$.input.tally',
                data: { n: '=$.tally.n + 1' },
            },
        ],
    },
];

export const scenarios = {
    // Four local steps: one turn, one commit.
    kill_steps: {
        steps: [
            transform('a', { n: '=$.input.n + 1' }),
            { code: 'b', procedure: { type: 'compute.set', values: { m: '=$.steps.a.n * 2' } } },
            transform('c', { text: 'n is {{ $.steps.a.n }}', pad: '$.input.pad' }),
            transform('d', { n: '=$.variables.m + 1', text: '$.steps.c.text' }),
        ],
    },
    // Waits twice for a person.
    kill_signal: {
        steps: [
            transform('prepare', { n: '$.input.n', pad: '$.input.pad' }),
            go('first'),
            transform('between', { n: '=$.steps.prepare.n + $.steps.first.payload.n' }),
            go('second'),
            transform('after', { n: '=$.steps.between.n + $.steps.second.payload.n' }),
        ],
    },
    kill_timer: {
        steps: [
            transform('before', { n: '$.input.n' }),
            { code: 'nap', procedure: { type: 'wait.timer', duration: '$.input.pause' } },
            { code: 'short', procedure: { type: 'wait.timer', duration: '20ms' } },
            transform('after', { n: '=$.steps.before.n + 1' }),
        ],
    },
    // The same count, after a timer: its commits meet those of the others.
    kill_later: {
        steps: [
            { code: 'nap', procedure: { type: 'wait.timer', duration: '$.input.pause' } },
            ...countIn(),
            transform('done', { n: '$.input.n' }),
        ],
    },
    // A step that ran twice shows in the tally.
    kill_records: {
        steps: [
            ...countIn(),
            transform('done', { n: '$.input.n' }),
        ],
    },
    kill_read: {
        steps: [
            {
                code: 'read',
                procedure: { type: 'record.get', object: 'tally', id: '$.input.tally' },
            },
        ],
    },
};

for (const [code, scenario] of Object.entries(scenarios)) scenario.code = code;

/** What an execution ends with. */
export const results = {
    kill_steps: (x) => ({ n: (x.input.n + 1) * 2 + 1, text: `n is ${x.input.n + 1}` }),
    kill_signal: (x) => ({ n: x.input.n + x.taken[0] + x.taken[1] }),
    kill_timer: (x) => ({ n: x.input.n + 1 }),
    kill_records: (x) => ({ n: x.input.n }),
    kill_later: (x) => ({ n: x.input.n }),
};

/** The steps that are completed once each, in this order, when it has ended well. */
export const stepsOf = (code) => scenarios[code].steps.map((step) => step.code);

export async function publish(client, code, summary = '') {
    const draft = await client.ask('PUT', `/api/v1/scenarios/${code}/draft`, scenarios[code]);
    if (draft.status !== 200) return draft;
    if (!draft.body.valid) throw new Error(`${code}: ${JSON.stringify(draft.body.errors)}`);
    return client.ask('POST', `/api/v1/scenarios/${code}/publish`, { changeSummary: summary });
}
