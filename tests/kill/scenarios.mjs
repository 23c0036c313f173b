// scenarios.mjs - what runs while the server is killed.

const transform = (code, data) => ({ code, procedure: { type: 'compute.transform', data } });
const go = (code) => ({
    code,
    procedure: { type: 'wait.signal', signalType: ['go', 'finish'] },
});

const startKid = (n, wait) => ({
    type: 'flow.start',
    code: 'kill_kid',
    input: { n, pause: '$.input.pause' },
    wait,
});

// Adds one to a record that others add to.
const count = () => [
    { type: 'record.get', object: 'tally', id: '$.input.tally', as: 'tally' },
    { type: 'record.update', object: 'tally', id: '$.input.tally', data: { n: '=$.tally.n + 1' } },
];

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
            ...count(),
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
    // What others start.
    kill_kid: {
        steps: [
            { code: 'nap', procedure: { type: 'wait.timer', duration: '$.input.pause' } },
            transform('done', { n: '=$.input.n + 1' }),
        ],
    },
    // Three children at once, that it waits for, and one that it does not.
    kill_family: {
        steps: [
            {
                code: 'fan',
                loop: {
                    for: [1, 2, 3],
                    as: 'which',
                    max: 9,
                    concurrency: 3,
                    collect: '=$.steps.kid.n',
                    steps: [{ code: 'kid', procedure: startKid('=$.input.n + $.loop.which', true) }],
                },
            },
            { code: 'aside', procedure: startKid('$.input.n', false) },
            transform('done', { items: '=$.steps.fan.items' }),
        ],
    },
    // Holds the write of a record while it waits for a child.
    kill_held: {
        steps: [
            countIn()[0],
            { code: 'count', procedure: [...count(), startKid('$.input.n', true)] },
            transform('done', { n: '$.input.n' }),
        ],
    },
    // More rows than are deleted at once.
    kill_long: {
        steps: [
            {
                code: 'rounds',
                loop: {
                    for: '=lists.range(4100)',
                    max: 5000,
                    steps: [transform('one', 1)],
                },
            },
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
    kill_family: (x) => ({ items: [2, 3, 4].map((n) => x.input.n + n) }),
    kill_held: (x) => ({ n: x.input.n }),
    kill_long: (x) => ({ n: x.input.n }),
};

/** How many children one has, when all of them have ended. */
export const kids = { kill_family: 4, kill_held: 1 };

/** The steps that are completed once each, in this order, when it has ended well. */
export const stepsOf = (code) =>
    scenarios[code].steps.flatMap((step) => [
        ...(code === 'kill_family' && step.loop ? ['kid', 'kid', 'kid'] : []),
        ...(code === 'kill_long' && step.loop ? Array(4100).fill('one') : []),
        step.code,
    ]);

let edits = 0;

/** Publishes it with a text that no version has: what is the same as before makes no version. */
export async function publish(client, code, summary = '') {
    const edited = { ...scenarios[code], description: `Edit ${++edits}` };
    const draft = await client.ask('PUT', `/api/v1/scenarios/${code}/draft`, edited);
    if (draft.status !== 200) return draft;
    if (!draft.body.valid) throw new Error(`${code}: ${JSON.stringify(draft.body.errors)}`);
    return client.ask('POST', `/api/v1/scenarios/${code}/publish`, { changeSummary: summary });
}
