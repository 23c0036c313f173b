// Triggers of type event on both stores: what has happened starts processes, once for each trigger, whatever is killed;
// a chain of triggers ends.
import { check, equal } from '../lib/claims.mjs';
import { checkProgram } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';

const eventually = (what, question) => until(what, question, 120);
let count = 0;

const publishes = (event, payload) => ({ type: 'event.publish', event, payload });
const started = async (rig, code) => (await rig.api('GET', `/executions?code=${code}&limit=100`)).body.items.reverse();
const shown = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;

/** A process that an event starts; what it was started with is its result. */
async function triggered(rig, trigger, more = {}) {
    const code = `triggered_${++count}`;
    await rig.publish({ code, triggers: [{ type: 'event', ...trigger }], steps: [{ code: 's', procedure: { type: 'compute.transform', data: { input: '=$.input', user: '=$.user' } } }], ...more });
    return code;
}

async function tell(rig, event, payload = {}) {
    const code = `tells_${++count}`;
    await rig.publish({ code, steps: [{ code: 's', procedure: publishes(event, payload) }] });
    return (await rig.api('POST', '/executions?wait=60s', { code })).body;
}

const idle = (rig) => eventually('nothing is left in the outbox', async () => (await rig.api('GET', '/outbox?status=pending')).body.items.length === 0);

claim('an event that a process publishes starts another, with what its trigger makes of it, as the user system', async (rig) => {
    const event = `Paid${++count}`;
    const code = await triggered(rig, { event, when: '$.event.payload.sum > 10', input: { order: '=$.event.payload.order', from: '=$.event.executionId', name: '=$.event.name', at: '=$.event.at' }, key: '="order-" + $.event.payload.order' });
    const x = await tell(rig, event, { order: 'A-1', sum: 11 });
    const [one] = await eventually('it has started', async () => { const all = await started(rig, code); return all.length > 0 && all; });
    const whole = await eventually('it ends', async () => { const now = await shown(rig, one.id); return now.status === 'completed' && now; });
    const { input, user } = whole.result;
    equal([input.order, input.from, input.name, whole.key], ['A-1', x.id, event, 'order-A-1']);
    check(Math.abs(Date.parse(input.at) - Date.now()) < 60000, input.at);
    equal([user.id, user.role], ['system', 'system']);
    await tell(rig, event, { order: 'A-2', sum: 10 });
    await idle(rig);
    equal((await started(rig, code)).length, 1, 'executions, when `when` is false');
});

claim('built-in events start processes: records that are edited by hand, executions that end', async (rig) => {
    const object = `deal${++count}`;
    const edited = await triggered(rig, { event: 'record.updated', when: `$.event.payload.object == "${object}"`, input: { data: '=$.event.payload.data', by: '=$.event.executionId' } });
    const completed = await triggered(rig, { event: 'execution.completed', when: `$.event.payload.result.input.data.sum == 2`, input: { result: '=$.event.payload.result.input' } });
    await rig.api('PUT', `/records/${object}/a`, { sum: 1 });
    await rig.api('PUT', `/records/${object}/a`, { sum: 2 });
    const [one] = await eventually('the edit starts one', async () => { const all = await started(rig, edited); return all.length > 0 && all; });
    const [two] = await eventually('its end starts another', async () => { const all = await started(rig, completed); return all.length > 0 && all; });
    await idle(rig);
    equal((await shown(rig, one.id)).result.input, { data: { sum: 2 }, by: null });
    equal((await shown(rig, two.id)).result.input.result, { data: { sum: 2 }, by: null });
    for (const code of [edited, completed]) {
        equal((await started(rig, code)).length, 1, code);
        equal((await rig.api('POST', `/scenarios/${code}/retire`)).status, 200);
    }
});

claim('what tells of an execution names its process, so that a trigger can choose', async (rig) => {
    const work = `told_${++count}`;
    const step = { code: 'a', procedure: { type: 'compute.fail', code: 'no_stock', message: 'none' }, when: '$.input.fails' };
    await rig.publish({ code: work, onError: 'fail_fast', input: [{ name: 'fails', type: 'boolean' }], steps: [step] });
    await rig.publish({ code: `${work}_held`, onError: 'hold', input: [{ name: 'fails', type: 'boolean' }], steps: [step] });
    const chosen = (event, code) => triggered(rig, { event, when: `$.event.payload.code == "${code}"`, input: { payload: '=$.event.payload' } });
    const listeners = [
        await chosen('execution.completed', work), await chosen('execution.failed', work),
        await chosen('execution.held', `${work}_held`), await chosen('dead_letter.created', `${work}_held`),
    ];
    await rig.begin(work, { input: { fails: false }, key: 'A-1' });
    await rig.begin(work, { input: { fails: true } });
    await rig.begin(`${work}_held`, { input: { fails: true }, key: 'A-3' });
    const told = [];
    for (const code of listeners) {
        const [one] = await eventually(`${code} has started`, async () => { const all = await started(rig, code); return all.length > 0 && all; });
        const { payload } = (await shown(rig, one.id)).result.input;
        told.push([payload.key, payload.status]);
    }
    equal(told, [['A-1', 'completed'], [null, 'failed'], ['A-3', undefined], ['A-3', undefined]]);
    for (const code of listeners) await rig.api('POST', `/scenarios/${code}/retire`);
});

claim('two processes that trigger each other, and one that triggers itself, come to an end', async (rig) => {
    const [ping, pong, self] = [`ping_${++count}`, `pong_${count}`, `self_${count}`];
    await rig.publish({ code: ping, triggers: [{ type: 'event', event: `Pong${count}` }], steps: [{ code: 's', procedure: publishes(`Ping${count}`, {}) }] });
    /* Through a child, which is of the same chain. */
    await rig.publish({ code: `child_${count}`, steps: [{ code: 's', procedure: publishes(`Pong${count}`, {}) }] });
    await rig.publish({ code: pong, triggers: [{ type: 'event', event: `Ping${count}` }], steps: [{ code: 's', procedure: { type: 'flow.start', wait: true, code: `child_${count}` } }] });
    await rig.publish({ code: self, triggers: [{ type: 'event', event: `Self${count}` }], steps: [{ code: 's', procedure: publishes(`Self${count}`, {}) }] });
    await rig.begin(ping);
    await rig.begin(self);
    const ended = async (code, number) => {
        const all = await started(rig, code);
        return all.length >= number && all.every((x) => x.status === 'completed');
    };
    await eventually('ping, pong, ping', () => ended(ping, 2));
    await eventually('self, self', () => ended(self, 2));
    await idle(rig);
    equal([(await started(rig, ping)).length, (await started(rig, pong)).length, (await started(rig, self)).length], [2, 1, 2]);
    /* Each origin is a chain of its own. */
    await rig.begin(self);
    await eventually('again', () => ended(self, 4));
    await idle(rig);
    equal((await started(rig, self)).length, 4);
});

claim('what cannot be evaluated or started is a dead letter, which can be tried again', async (rig) => {
    const event = `Bad${++count}`;
    const code = await triggered(rig, { event, input: { sum: '=$.event.payload.sum + 1' } });
    await tell(rig, event, { sum: 'text' });
    const letter = await eventually('it is given up', async () => (await rig.api('GET', '/dlq?kind=outbox&status=open')).body.items.find((l) => l.payload.name === event));
    equal([letter.payload.kind, letter.payload.destination], ['trigger', `trigger:${code}/0`]);
    check(letter.cause.message.includes('triggers[0].input'), JSON.stringify(letter.cause));
    equal((await started(rig, code)).length, 0);
    /* The next version takes it. */
    await rig.publish({ code, triggers: [{ type: 'event', event, input: { sum: '=$.event.payload.sum' } }], steps: [{ code: 's', procedure: { type: 'compute.transform', data: { sum: '=$.input.sum' } } }] });
    equal((await rig.api('POST', `/dlq/${letter.id}/retry`)).status, 202);
    const [one] = await eventually('it starts after all', async () => { const all = await started(rig, code); return all.length > 0 && all; });
    const whole = await eventually('it ends', async () => { const now = await shown(rig, one.id); return now.status === 'completed' && now; });
    equal([whole.result.sum, whole.version], ['text', 2]);
    await idle(rig);
    equal((await started(rig, code)).length, 1);
});

claim('drafts and retired processes do not fire, and a new version takes over at once', async (rig) => {
    const event = `Life${++count}`, code = `life_${count}`;
    const version = (number, of) => ({ code, triggers: [{ type: 'event', event: of }], steps: [{ code: 's', procedure: { type: 'compute.transform', data: { number } } }] });
    equal((await rig.api('PUT', `/scenarios/${code}/draft`, version(0, event))).status, 200);
    await tell(rig, event);
    await idle(rig);
    equal((await rig.api('GET', `/executions?code=${code}`)).body.items.length, 0, 'of a draft');
    await rig.publish(version(1, event));
    await tell(rig, event);
    await eventually('the first version', async () => (await started(rig, code)).length === 1);
    await rig.publish(version(2, `${event}.other`));
    await tell(rig, event);
    await tell(rig, `${event}.other`);
    await eventually('the second version', async () => (await started(rig, code)).length === 2);
    equal((await rig.api('POST', `/scenarios/${code}/retire`)).status, 200);
    await tell(rig, `${event}.other`);
    await idle(rig);
    equal((await started(rig, code)).map((x) => x.version), [1, 2]);
    equal((await rig.api('POST', `/scenarios/${code}/unretire`)).status, 200);
    await tell(rig, `${event}.other`);
    await eventually('it is back', async () => (await started(rig, code)).length === 3);
});

for (const settings of [{}, { onKeyConflict: 'reject' }, { onKeyConflict: 'join' }])
    claim(`while an execution has the key, an event with the same key starts nothing more and tells it nothing: ${settings.onKeyConflict ?? 'by default'}`, async (rig) => {
        const event = `Keyed${++count}`;
        const code = await triggered(rig, { event, key: '=$.event.payload.key', input: { n: '=$.event.payload.n' } }, {
            settings, steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }],
        });
        const keys = async () => (await started(rig, code)).map((x) => x.key).sort();
        for (const [n, key] of ['a', 'a', 'b'].entries()) {
            await tell(rig, event, { key, n });
            await idle(rig);
        }
        equal(await keys(), ['a', 'b']);
        equal((await rig.api('GET', '/dlq?kind=outbox&status=open')).body.items.filter((l) => l.payload.name === event).length, 0);
        const { id } = (await started(rig, code)).find((x) => x.key === 'a');
        const { status, input } = await shown(rig, id);
        equal([status, input], ['waiting', { n: 0 }]);
        equal((await rig.api('POST', `/executions/${id}/signal?wait=60s`, { type: 'go' })).status, 200);
        await eventually('it has ended', async () => (await shown(rig, id)).status === 'completed');
        await tell(rig, event, { key: 'a', n: 3 });
        await eventually('the key is free again', async () => (await keys()).length === 3);
    });

for (const point of ['node.before_submit', 'writer.begun', 'writer.before_commit', 'writer.committed', 'node.batch_done', 'node.after_answers'])
    claim(`killed at ${point}, again and again, each event starts one execution for each trigger`, async (rig) => {
        const event = `Kill${++count}`;
        const one = await triggered(rig, { event, input: { n: '=$.event.payload.n' } });
        const two = await triggered(rig, { event, input: { n: '=$.event.payload.n' } });
        const code = `killer_${++count}`;
        await rig.publish({ code, input: [{ name: 'n', type: 'number' }], steps: [{ code: 's', procedure: { type: 'event.publish', event, payload: { n: '=$.input.n' } } }] });
        await rig.server.stop();
        const { program } = rig.server;
        rig.server.program = checkProgram;
        let told = 0;
        for (let round = 1; round <= 4; round++) {
            if (!(await rig.server.start({ PAWL_CRASH_AT: `${point}:${round + 1}` }))) continue;
            rig.client?.close();
            rig.client = rig.server.client();
            for (let i = 0; i < 3 && rig.server.isRunning(); i++)
                await rig.api('POST', '/executions', { code, key: `k${++told}`, input: { n: told } }).catch(() => null);
            await Promise.race([rig.server.ended, sleep(300)]);
            await rig.server.kill();
        }
        rig.server.program = program;
        await rig.start();
        const done = async () => (await started(rig, code)).filter((x) => x.status === 'completed').length;
        await eventually('all have told', async () => (await started(rig, code)).length === await done());
        await idle(rig);
        const expected = (await started(rig, code)).map((x) => x.key.slice(1) * 1).sort((a, b) => a - b);
        check(expected.length > 0, 'none was started');
        for (const t of [one, two]) {
            const numbers = [];
            for (const { id } of await started(rig, t)) numbers.push((await shown(rig, id)).input.n);
            equal(numbers.sort((a, b) => a - b), expected, t);
        }
    });

await run(async () => {});
