// Machines over HTTP, on both stores: events that are taken, refused, kept; people, keys, metrics.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { scrape } from './scrape.mjs';

const machine = (code, states, more = {}) => ({ code, mode: 'state_machine', initial: Object.keys(states)[0], states, ...more });

const order = machine('order_life', {
    new: { on: { pay: { to: 'paid', do: [{ type: 'flow.call', procedure: 'till.charge' }] } } },
    paid: { on: { ship: { to: 'done' }, note: { do: [{ type: 'compute.set', values: { note: '$.signal.payload.text' } }] } } },
    done: { final: true },
}, { settings: { key: '$.input.number' } });

const signal = (rig, x, type, payload, query = '') => rig.api('POST', `/executions/${x.id}/signal${query}`, { type, payload });
const shown = async (rig, x) => (await rig.api('GET', `/executions/${x.id}`)).body;

async function job(rig) {
    return until('a worker has the job', async () => {
        const { body } = await rig.api('POST', '/jobs/claim', { types: ['till.charge'], wait: '0s', max: 1, worker: 'w' });
        return body.items[0];
    }, 60);
}
const complete = (rig, { id, leaseToken }, output = {}) => rig.api('POST', `/jobs/${id}/complete`, { leaseToken, output });

claim('an event without an open transition is 409 and leaves nothing; it is counted', async (rig) => {
    await rig.publish(order);
    const x = await rig.begin('order_life', { input: { number: 'N1' } });
    equal([x.kind, x.currentStep, x.waitingFor.signalType], ['machine', 'new', ['pay']]);
    check(x.actions.includes('signal:pay') && !x.actions.includes('signal:ship'), 'actions are the events possible now');
    check(refused(await signal(rig, x, 'ship'), 409, 'transition_not_allowed'), 'no transition is open');
    const after = await shown(rig, x);
    equal([after.rowVersion, after.context.signals], [x.rowVersion, []], 'nothing has changed');
    const { series } = await scrape(rig);
    check(series.get('pawl_transitions_not_allowed_total{machine="order_life"}') >= 1, 'it is counted');
});

claim('events during a transition are kept, and judged in order behind it', async (rig) => {
    await rig.publish(order);
    const x = await rig.begin('order_life', { input: { number: 'N2' } });
    const paid = await signal(rig, x, 'pay');
    equal([paid.status, 'judged' in paid.body], [202, false], 'an event that is taken');
    const busy = await until('the worker is asked', async () => {
        const body = await shown(rig, x);
        return body.waitingFor?.kind === 'job' && body;
    }, 60);
    equal([busy.currentStep, busy.waitingFor.step], ['new', 'new.pay']);
    const note = await signal(rig, x, 'note', { text: 'fragile' });
    equal([note.status, note.body.judged], [202, false], 'it is kept');
    const other = rig.server.client();
    const nonsense = other.ask('POST', `/api/v1/executions/${x.id}/signal?wait=60s`, { type: 'nonsense' });
    await until('it is there', async () => (await shown(rig, x)).context.signals.length === 3, 60);
    equal((await complete(rig, await job(rig))).status, 200);
    check(refused(await nonsense, 409, 'transition_not_allowed'), 'who waits hears that it was not allowed');
    other.close();
    const stands = await shown(rig, x);
    equal([stands.currentStep, stands.context.variables], ['paid', { note: 'fragile' }]);
    const taken = await signal(rig, x, 'note', { text: 'glass' }, '?wait=60s');
    equal([taken.status, taken.body.step.step, taken.body.step.output.transition], [200, 'paid', 'paid.note']);
    const rows = await rig.all(`/executions/${x.id}/steps?events=true`, 100);
    equal(rows.filter((r) => r.status === 'transition_not_allowed').map((r) => [r.step, r.output]), [['paid', { event: 'nonsense' }]], 'the history shows it');
});

claim('POST /signals reaches a machine by its business key', async (rig) => {
    await rig.publish(order);
    const x = await rig.begin('order_life', { input: { number: 'N3' } });
    check(refused(await rig.api('POST', '/signals', { type: 'ship', key: 'N3' }), 409, 'transition_not_allowed'), 'not allowed');
    const sent = await rig.api('POST', '/signals', { type: 'pay', key: 'N3' });
    equal([sent.status, sent.body.executionId], [202, x.id]);
    equal((await complete(rig, await job(rig))).status, 200);
    await until('it is paid', async () => (await shown(rig, x)).currentStep === 'paid', 60);
    equal((await rig.api('POST', '/signals', { type: 'ship', key: 'N3' })).status, 202);
    equal((await shown(rig, x)).result, { state: 'done' });
});

claim('a state that asks people is in the inbox, and each event is a choice', async (rig) => {
    await rig.publish(machine('paper_life', {
        review: { wait: { title: 'Right?', assignee: 'group:lawyers' }, on: { approve: { to: 'good', when: 'signal.payload.sure == true' }, reject: { to: 'bad' } } },
        good: { final: true }, bad: { final: true },
    }));
    const x = await rig.begin('paper_life', { input: {} });
    equal(x.waitingFor.signalType, ['approve', 'reject']);
    check(refused(await signal(rig, x, 'approve', { sure: false }), 409, 'transition_not_allowed'), 'the guard decides');
    equal((await signal(rig, x, 'reject', {})).status, 202);
    equal((await shown(rig, x)).result, { state: 'bad' });
});

claim('who is asked answers from the inbox: with an event of the state, and one that is open', async (rig) => {
    await rig.publish(machine('inbox_life', {
        review: { wait: { title: 'Right?', assignee: 'group:machinists' }, on: { approve: { to: 'good', when: 'signal.payload.sure == true' }, reject: { to: 'good' } } },
        good: { final: true },
    }));
    const x = await rig.begin('inbox_life', { input: {} });
    const made = await rig.api('POST', '/users', { name: 'mac', email: 'mac@example.org', role: 'member', groups: ['machinists'] });
    equal(made.status, 201, made.raw);
    const headers = { Authorization: `Bearer ${made.body.token}` };
    const item = (await rig.api('GET', '/inbox', undefined, headers)).body.items.find((i) => i.executionId === x.id);
    equal([item.title, item.signalType], ['Right?', ['approve', 'reject']]);
    const answer = (type, payload) => rig.api('POST', `/inbox/${item.id}`, { type, payload }, headers);
    check(refused(await answer('approve', {}), 409, 'transition_not_allowed'), 'the guard decides');
    check(refused(await answer('burn', {}), 422, 'invalid'), 'no event of the state');
    equal((await answer('approve', { sure: true })).status, 202);
    const ended = await shown(rig, x);
    equal([ended.result, ended.context.steps.review.by.name], [{ state: 'good' }, 'mac']);
});

claim('held: events are 409, an operator lets it go on', async (rig) => {
    await rig.publish(machine('stuck_life', {
        a: { on: { go: { to: 'b', do: [{ type: 'compute.fail', code: 'no', message: 'm', when: '!has(input.ok)' }] } } }, b: { final: true },
    }));
    const x = await rig.begin('stuck_life', { input: {} });
    equal((await signal(rig, x, 'go')).status, 202);
    const held = await shown(rig, x);
    equal([held.currentStep, held.waitingFor.kind, held.actions.includes('signal')], ['a', 'incident', false]);
    check(refused(await signal(rig, x, 'go'), 409, 'held'), 'no event is taken');
    equal((await rig.api('POST', `/executions/${x.id}/retry`, { input: { ok: true } })).status, 202);
    await until('it goes on', async () => (await shown(rig, x)).status === 'completed', 60);
});

claim('a dry-run shows the way through the states', async (rig) => {
    await rig.publish(machine('dry_life', { a: { on: { go: { to: 'b' } } }, b: { after: { '7d': { to: 'c' } } }, c: { final: true } }));
    const { status, body } = await rig.api('POST', '/machines/dry_life/dry-run', { input: {}, mocks: { signals: [{ type: 'go' }] } });
    equal([status, body.status ?? body.execution?.status], [200, 'completed']);
});

await run(async () => {});
