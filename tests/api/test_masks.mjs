// What is sensitive leaves nowhere, and hiding it never fails, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Receiver } from './receiver.mjs';

const open = {
    code: 'mask_open',
    input: [{ name: 'card', type: 'string', sensitive: true }, { name: 'extra', type: 'object' }],
    steps: [
        { code: 'use', procedure: { type: 'compute.transform', data: { extra: '$.input.extra' } } },
        { code: 'ask', procedure: { type: 'wait.signal', signalType: 'go' } },
    ],
};

const CARD = 'zqxw"zqyw\\zqzw\nzqvw', PARTS = /zq[xyzv]w/;
const card = { name: 'card', type: 'string', sensitive: true, required: true };
const plain = { ...card, name: 'plain' }; // the same in a form that a key may hold
const fails = { type: 'compute.fail', code: 'declined', message: 'not {{ $.input.card }}' };
const leaving = [
    { code: 'mask_log', input: [card, plain, { name: 'pin', type: 'string', sensitive: true }], steps: [
        { code: 'data', procedure: { type: 'log', level: 'warn', message: 'said', data: { card: '$.input.card', pin: '$.input.pin' } } },
        { code: 'whole', procedure: { type: 'log', level: 'warn', message: '$.input' } },
    ] },
    { code: 'mask_completes', input: [card, plain], steps: [{ code: 's', procedure: { type: 'compute.transform', data: { paid: 'by {{ $.input.card }}' } } }] },
    { code: 'mask_fails', input: [card, plain], onError: 'fail_fast', steps: [{ code: 's', procedure: fails }] },
    { code: 'mask_holds', input: [card, plain], onError: 'hold', steps: [{ code: 's', procedure: fails }] },
    { code: 'mask_mails', input: [card, plain], steps: [{ code: 's', procedure: { type: 'notification.email', to: '$.input.card', subject: 'a', body: 'b' } }] },
    { code: 'mask_keeps', input: [card, plain], steps: [{ code: 's', procedure: { type: 'record.create', object: 'masked', id: 'r1', data: { n: 1 }, ifExists: 'merge' } }] },
    { code: 'mask_says', input: [card, plain], steps: [{ code: 's', procedure: { type: 'event.publish', event: 'MaskSaid', payload: { n: 1 } } }] },
    { code: 'mask_asks', steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go', form: [{ name: 'note', type: 'string', sensitive: true }] } }] },
    { code: 'mask_parks', input: [card, plain], steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }] },
    { code: 'mask_told', triggers: [{ type: 'event', event: 'execution.failed', when: '$.event.payload.code == "mask_fails"', input: { event: '=$.event' } }],
        input: [{ name: 'event', type: 'object' }], steps: [{ code: 's', procedure: { type: 'compute.transform', data: { event: '$.input.event' } } }] },
];

/** Start one of them with the secret in its key. */
const start = async (rig, code, text = CARD, more = {}) => {
    const answer = await rig.api('POST', '/executions', { code, input: { card: text, plain: text.replaceAll('\n', '-'), ...more }, key: `of ${text.replaceAll('\n', '-')}` });
    equal(answer.status, 201, answer.raw);
    check(!PARTS.test(answer.raw), answer.raw);
    return answer.body;
};

/** A subscription to these events while `work` runs. */
async function listening(rig, events, work) {
    const receiver = new Receiver();
    await receiver.open();
    equal((await rig.api('PUT', '/subscriptions/masks', { url: receiver.url, events })).status, 201);
    try {
        return await work((name, code) => until(`${name} of ${code}`, () => receiver.deliveries.find((d) => d.json.name === name && d.json.code === code), 120));
    } finally {
        await rig.api('DELETE', '/subscriptions/masks');
        receiver.close();
    }
}

const deep = (levels) => Array(levels).fill(0).reduce((inner) => ({ a: inner }), { card: 'abcd1234' });

claim('a map that holds the mask itself beside a key that is a secret is shown', async (rig) => {
    const input = { card: 'abcd1234', extra: { '***': 1, abcd1234: 2, '***2': 3 } };
    const started = await rig.api('POST', '/executions', { code: 'mask_open', input });
    equal(started.status, 201, started.raw);
    const views = [started.body.input];
    views.push((await rig.api('GET', `/executions/${started.body.id}`)).body.input);
    const page = await rig.api('GET', '/executions?code=mask_open');
    equal(page.status, 200, page.raw);
    const { items } = (await rig.api('GET', `/executions/${started.body.id}/steps`)).body;
    views.push({ card: '***', extra: items[0].output.extra });
    for (const view of views) {
        check(!JSON.stringify(view).includes('abcd1234'), JSON.stringify(view));
        equal(Object.entries(view.extra), [['***', 1], ['***3', 2], ['***2', 3]]);
    }
    await rig.api('POST', `/executions/${started.body.id}/cancel`);
});

claim('an input that is nested as deep as a request may be is shown without what is sensitive', async (rig) => {
    for (const levels of [200, 252, 253, 254]) {
        const started = await rig.api('POST', '/executions', { code: 'mask_open', input: { card: 'abcd1234', extra: deep(levels) } });
        if (started.status === 400) continue;
        check([201, 422].includes(started.status), started.raw);
        if (started.status !== 201) continue;
        for (const path of ['', '/steps', '/context']) {
            const answer = await rig.api('GET', `/executions/${started.body.id}${path}`);
            equal(answer.status, 200, answer.raw);
            check(!answer.raw.includes('abcd1234'), 'masked');
        }
        equal((await rig.api('GET', '/executions?code=mask_open')).status, 200);
        await rig.api('POST', `/executions/${started.body.id}/cancel`);
    }
});

claim('what a process logs hides a secret whatever its characters are, in the log and in views', async (rig) => {
    const { id } = await start(rig, 'mask_log', CARD, { pin: '739' });
    const lines = () => rig.server.log.split('\n').filter((l) => l.includes('mask_log') && l.includes('process log'));
    await until('both lines', () => lines().length === 2);
    check(!lines().some((l) => PARTS.test(l) || l.includes('"739')), lines().join('\n'));
    for (const path of ['', '/steps', '/logs', '/context']) {
        const { raw } = await rig.api('GET', `/executions/${id}${path}`);
        check(!PARTS.test(raw), raw);
        check(!/[^-\w]739[^-\w]/.test(raw), raw);
    }
});

claim('events of the engine carry no secret, neither to subscriptions nor into triggers', (rig) => listening(rig, ['execution.*', 'dead_letter.created', 'MaskSaid', 'record.created'], async (told) => {
    for (const code of ['mask_completes', 'mask_fails', 'mask_holds', 'mask_says', 'mask_keeps']) await start(rig, code);
    const events = [await told('execution.completed', 'mask_completes'), await told('execution.failed', 'mask_fails'), await told('execution.held', 'mask_holds'),
        await told('dead_letter.created', 'mask_holds'), await told('MaskSaid', 'mask_says'), await told('record.created', 'mask_keeps')];
    for (const e of events) {
        check(!PARTS.test(e.body), e.body);
        equal(e.json.key, 'of ***');
    }
    equal(events[0].json.payload.result, { paid: 'by ***' });
    equal([events[1].json.payload.error.code, events[1].json.payload.error.message], ['declined', 'not ***']);
    equal([events[3].json.payload.cause.message, events[3].json.payload.key], ['not ***', 'of ***']);
    const [by] = await until('the trigger', async () => { const { items } = (await rig.api('GET', '/executions?code=mask_told&status=completed')).body; return items.length > 0 && items; }, 120);
    const { raw } = await rig.api('GET', `/executions/${by.id}`);
    check(!PARTS.test(raw), raw);
}));

claim('messages that wait show no secret in their name', async (rig) => {
    const { id } = await start(rig, 'mask_mails', 'zqxwzqyw@example.com');
    const { body, raw } = await rig.api('GET', `/outbox?execution=${id}`);
    check(!PARTS.test(raw), raw);
    equal(body.items.map((m) => m.name), ['***']);
});

claim('executions of a record show no secret in their key', async (rig) => {
    const { id } = await start(rig, 'mask_keeps');
    const { body, raw } = await rig.api('GET', '/records/masked/r1/executions');
    check(!PARTS.test(raw), raw);
    equal(body.items.find((i) => i.executionId === id).key, 'of ***');
});

claim('letters of messages that were given up and of executions that are parked tell no secret', (rig) => listening(rig, ['dead_letter.created'], async (told) => {
    equal((await rig.api('PUT', '/subscriptions/mask_gone', { url: 'http://127.0.0.1:9/', events: ['MaskSaid'] })).status, 201);
    const said = await start(rig, 'mask_says');
    const parked = await start(rig, 'mask_parks');
    const waiting = await until('it waits', async () => (await rig.api('GET', `/outbox?execution=${said.id}`)).body.items.find((m) => m.attempts > 0), 120);
    await rig.api('DELETE', '/subscriptions/mask_gone');
    await rig.api('POST', `/outbox/${waiting.id}/retry`);
    const events = [await told('dead_letter.created', 'mask_says')];
    await rig.server.stop();
    rig.sql(`UPDATE definition SET definition = '{"code":"mask_parks"}' WHERE code = 'mask_parks'`);
    await rig.start();
    await rig.api('POST', `/executions/${parked.id}/signal`, { type: 'go' });
    events.push(await told('dead_letter.created', 'mask_parks'));
    for (const e of events) {
        check(!PARTS.test(e.body), e.body);
        equal(e.json.payload.key, 'of ***');
    }
}));

claim('an execution with more secrets than a mask keeps hides every value, and is shown all the same', async (rig) => {
    const { id } = await rig.begin('mask_asks', { key: 'zqxw' });
    for (let i = 0; i < 6; i++) {
        const answer = await rig.api('POST', `/executions/${id}/signal`, { type: 'more', payload: { note: `zqxw${i}`.padEnd(60000, 'n') } });
        check(answer.status < 300, answer.raw);
    }
    for (const path of [`/executions/${id}`, `/executions/${id}/steps?events=true`, `/executions/${id}/context`, '/executions?code=mask_asks']) {
        const answer = await rig.api('GET', path);
        equal(answer.status, 200, answer.raw);
        check(!PARTS.test(answer.raw), answer.raw.slice(0, 500));
    }
    equal((await rig.api('GET', `/executions/${id}`)).body.key, '***');
    equal((await rig.api('POST', `/executions/${id}/cancel`)).status < 300, true);
});

await run(async (rig) => {
    for (const definition of [open, ...leaving]) await rig.publish(definition);
});
