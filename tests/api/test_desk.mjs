// What operators see and do at a glance: how much there is to do, which objects have records, messages one by one
// and many at once, actions on a list of ids. On both stores.
import { check, equal } from '../lib/claims.mjs';
import { Client, refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const mail = (n) => ({ type: 'notification.email', to: `p${n}@example.com`, subject: `s${n}`, body: 'b' });
const ask = (more = {}) => ({ type: 'wait.signal', signalType: 'go', ...more });
const hold = { type: 'compute.fail', code: 'no_luck', message: 'bad luck' };

let count = 0;
const one = (procedure, more = {}) => ({ code: `desk_${++count}`, steps: [{ code: 'only', procedure }], ...more });
const mailsThen = (n, procedure, more = {}) => {
    const mails = Array.from({ length: n }, (_, i) => ({ code: `mail${i}`, procedure: mail(i) }));
    return { code: `desk_${++count}`, steps: [...mails, { code: 'last', procedure }], ...more };
};

async function begin(rig, definition, options = {}) {
    await rig.publish(definition);
    return rig.begin(definition.code, options);
}

async function person(rig, body) {
    const made = await rig.api('POST', '/users', body);
    equal(made.status, 201, made.raw);
    return { id: made.body.id, client: new Client(rig.server.url, made.body.token) };
}

const outbox = async (rig, id) => (await rig.api('GET', `/outbox?execution=${id}`)).body.items;
const sums = ({ matched, done, failed, skipped, more }) => [matched, done, failed, skipped, more];
const counts = async (rig) => (await rig.api('GET', '/counts')).body;

claim('what there is to do is counted: inbox, dead letters, messages, executions by what they wait for', async (rig) => {
    const me = (await rig.api('GET', '/me')).body;
    const before = await counts(rig);
    await begin(rig, one(ask({ assignee: me.id })));
    await begin(rig, one(ask()));
    await begin(rig, one(hold, { onError: 'hold' }));
    await begin(rig, mailsThen(2, ask()));
    const add = (a, key, n) => ({ ...a, [key]: (a[key] ?? 0) + n });
    const wanted = {
        inbox: before.inbox + 1, deadLetters: before.deadLetters + 1, outboxWaiting: before.outboxWaiting + 2,
        executions: { ...add(before.executions, 'held', 1), waiting: add(before.executions.waiting, 'signal', 3) },
    };
    await until('all of it is counted', async () => JSON.stringify(await counts(rig)) === JSON.stringify(wanted));
});

claim('somebody with an inbox and no more is told of that alone, and who has none is refused', async (rig) => {
    const member = await person(rig, { name: 'Mia', role: 'member' });
    const worker = await person(rig, { name: 'W', role: 'worker' });
    await begin(rig, one(ask({ assignee: member.id })));
    equal((await member.client.ask('GET', '/api/v1/counts')).body, { inbox: 1 });
    refused(await worker.client.ask('GET', '/api/v1/counts'), 403, 'forbidden');
    refused(await rig.api('GET', '/counts?of=me'), 400, 'bad_request');
    for (const p of [member, worker]) p.client.close();
});

claim('another organisation is counted for itself', async (rig) => {
    const org_id = '00000000-0000-7000-8000-0000000000aa';
    const boss = await person(rig, { name: 'Olga', role: 'admin', org_id });
    const their = async () => (await boss.client.ask('GET', '/api/v1/counts')).body;
    equal(await their(), { inbox: 0, deadLetters: 0, outboxWaiting: 0, executions: { running: 0, waiting: {}, held: 0 } });
    const held = mailsThen(1, hold, { onError: 'hold' });
    const waits = mailsThen(1, ask());
    for (const definition of [held, waits]) await rig.publish(definition);
    for (const definition of [held, waits])
        equal((await boss.client.ask('POST', '/api/v1/executions', { code: definition.code })).status, 201);
    await until('theirs are counted', async () => JSON.stringify(await their()) === JSON.stringify({ inbox: 0, deadLetters: 1, outboxWaiting: 2, executions: { running: 0, waiting: { signal: 1 }, held: 1 } }));
    await until('and not as ours', async () => {
        const { deadLetters, executions } = await counts(rig);
        const letters = await rig.all('/dlq', 500), signals = await rig.all('/executions?waiting=signal', 500), held = await rig.all('/executions?waiting=incident', 500);
        return deadLetters === letters.length && executions.waiting.signal === signals.length && executions.held === held.length;
    });
    boss.client.close();
});

claim('the objects of records are listed by name, with the number of their records, page by page', async (rig) => {
    for (const [object, n] of [['desk_b', 3], ['desk_a', 1], ['desk_c', 12]])
        for (let i = 0; i < n; i++) equal((await rig.api('PUT', `/records/${object}/r${i}`, { i })).status, 201);
    const mine = (items) => items.filter((o) => o.object.startsWith('desk_'));
    const wanted = [['desk_a', 1], ['desk_b', 3], ['desk_c', 12]].map(([object, n]) => ({ object, count: n, partial: false }));
    equal(mine(await rig.all('/records', 1)), wanted);
    equal(mine((await rig.api('GET', '/records')).body.items), wanted);
    await rig.api('DELETE', '/records/desk_a/r0');
    equal(mine((await rig.api('GET', '/records')).body.items), wanted.slice(1));
    refused(await rig.api('GET', '/records?limit=0'), 400, 'bad_request');
});

claim('one message is shown with what it says, without what is sensitive', async (rig) => {
    const definition = one({ type: 'notification.email', to: 'a@example.com', subject: 'Card {{ $.input.card }}', body: 'for {{ $.input.who }}' });
    definition.input = [{ name: 'card', type: 'string', sensitive: true }, { name: 'who', type: 'string' }];
    const { id } = await begin(rig, definition, { input: { card: '4242-4242', who: 'Ada' } });
    const [listed] = await until('it waits', async () => { const items = await outbox(rig, id); return items.length === 1 && items; });
    const shown = await rig.api('GET', `/outbox/${listed.id}`);
    equal(shown.status, 200, shown.raw);
    const { payload, ...rest } = shown.body;
    equal(rest, listed);
    equal(payload.to, ['a@example.com']);
    check(shown.raw.includes('for Ada') && !shown.raw.includes('4242-4242'), shown.raw);
    for (const wrong of [NOBODY, 'x']) refused(await rig.api('GET', `/outbox/${wrong}`), 404, 'not_found');
    const stranger = await person(rig, { name: 'S', role: 'admin', org_id: '00000000-0000-7000-8000-0000000000ab' });
    refused(await stranger.client.ask('GET', `/api/v1/outbox/${listed.id}`), 404, 'not_found');
    refused(await stranger.client.ask('POST', `/api/v1/outbox/${listed.id}/resolve`, { note: 'x' }), 404, 'not_found');
    equal((await stranger.client.ask('POST', '/api/v1/outbox/bulk', { action: 'resolve', note: 'x', ids: [listed.id] })).body.failed, 1);
    stranger.client.close();
    equal((await outbox(rig, id)).length, 1);
});

claim('a message is given up with a note, once, and nothing else goes with it', async (rig) => {
    const { id } = await begin(rig, one([mail(1), mail(2)]));
    const [two, first] = await until('both wait', async () => { const items = await outbox(rig, id); return items.length === 2 && items; });
    const resolve = (body, headers) => rig.api('POST', `/outbox/${first.id}/resolve`, body, headers);
    for (const body of [{}, { note: ' ' }, { note: 'x'.repeat(2001) }, { note: 1 }, { note: 'x', outcome: 'failed' }]) refused(await resolve(body), 422, 'invalid');
    equal((await outbox(rig, id)).length, 2);
    const key = { 'Idempotency-Key': `give-up-${rig.name}` };
    for (let i = 0; i < 2; i++) equal((await resolve({ note: 'she was called' }, key)).status, 202);
    equal((await outbox(rig, id)).map((m) => m.id), [two.id]);
    refused(await resolve({ note: 'again' }), 404, 'not_found');
    const noted = (await rig.all('/audit?action=outbox.resolve')).filter((a) => a.target === first.id);
    equal(noted.map((a) => a.details), [{ note: 'she was called' }]);
    await until('the counter goes on', async () => (await counts(rig)).outboxWaiting >= 1);
});

claim('a message behind one that is given up is delivered next, and one that was parked takes its dead letter along', async (rig) => {
    await rig.api('PUT', '/subscriptions/desk', { url: 'http://127.0.0.1:1/', events: ['Desk'] });
    const publish = (n) => ({ type: 'event.publish', event: 'Desk', payload: n });
    const { id } = await begin(rig, one([publish(1), publish(2)]));
    const [, first] = await until('the first was tried', async () => { const items = await outbox(rig, id); return items.length === 2 && items[1].attempts > 0 && items; });
    equal((await rig.api('POST', `/outbox/${first.id}/resolve`, { note: 'not needed' })).status, 202);
    const [second] = await until('the second is tried', async () => { const items = await outbox(rig, id); return items.length === 1 && items[0].attempts > 0 && items; });
    await rig.api('DELETE', '/subscriptions/desk');
    await rig.api('POST', `/outbox/${second.id}/retry`);
    const [parked] = await until('it is parked', async () => { const items = await outbox(rig, id); return items[0]?.status === 'parked' && items; });
    equal((await rig.api('POST', `/outbox/${second.id}/resolve`, { note: 'nobody listens' })).status, 202);
    const letter = (await rig.api('GET', `/dlq/${parked.deadLetterId}`)).body;
    equal([letter.status, letter.note], ['resolved', 'nobody listens']);
    equal(await outbox(rig, id), []);
});

claim('many messages are given up by a filter or by ids; a trial counts and changes nothing', async (rig) => {
    const { id } = await begin(rig, one([1, 2, 3, 4, 5].map(mail)));
    const all = await until('they wait', async () => { const items = await outbox(rig, id); return items.length === 5 && items; });
    const bulk = (body, headers) => rig.api('POST', '/outbox/bulk', body, headers);
    for (const [body, pointer] of [
        [{ action: 'resolve', filter: {} }, '/note'], [{ action: 'retry', filter: {}, note: 'x' }, '/note'], [{ action: 'drop', filter: {} }, '/action'],
        [{ action: 'retry' }, '/filter'], [{ action: 'retry', filter: {}, ids: [NOBODY] }, '/ids'], [{ action: 'retry', ids: Array(10001).fill(NOBODY) }, '/ids'],
        [{ action: 'retry', ids: ['x'] }, '/ids'], [{ action: 'retry', ids: [NOBODY, NOBODY] }, '/ids'], [{ action: 'retry', ids: NOBODY }, '/ids'],
        [{ action: 'retry', filter: { kind: 'letter' } }, '/filter/kind'], [{ action: 'retry', filter: { state: 'x' } }, '/filter/state'],
        [{ action: 'retry', filter: { execution: 'x' } }, '/filter/execution'], [{ action: 'retry', filter: { status: 'sent' } }, '/filter/status'],
    ]) equal(refused(await bulk(body), 422, 'invalid').errors[0].pointer, pointer, JSON.stringify(body));
    const ids = [all[0].id, NOBODY, all[1].id];
    const trial = await bulk({ action: 'resolve', note: 'x', ids, dryRun: true });
    equal(sums(trial.body), [3, 0, 1, 0, false]);
    equal((await outbox(rig, id)).length, 5);
    const key = { 'Idempotency-Key': `desk-many-${rig.name}` };
    const done = await bulk({ action: 'resolve', note: 'x', ids }, key);
    equal([sums(done.body), done.body.errors.map((e) => [e.id, e.code])], [[3, 2, 1, 0, false], [[NOBODY, 'not_found']]]);
    equal((await bulk({ action: 'resolve', note: 'x', ids }, key)).body, done.body, 'a repeat');
    equal(sums((await bulk({ action: 'retry', filter: { execution: id } })).body), [3, 3, 0, 0, false]);
    equal(sums((await bulk({ action: 'resolve', note: 'all', filter: { execution: id, kind: 'email', destination: 'email', status: 'pending' } })).body), [3, 3, 0, 0, false]);
    equal(await outbox(rig, id), []);
});

claim('executions are acted on by a list of ids, in parts that the client goes on with', async (rig) => {
    const definition = one(ask());
    await rig.publish(definition);
    const begun = [];
    for (let i = 0; i < 5; i++) begun.push((await rig.begin(definition.code)).id);
    const bulk = (body) => rig.api('POST', '/executions/bulk', { action: 'cancel', ...body });
    equal(sums((await bulk({ ids: [...begun, NOBODY], dryRun: true })).body), [6, 0, 1, 0, false]);
    const first = (await bulk({ ids: begun, limit: 2 })).body;
    equal(sums(first), [2, 2, 0, 0, true]);
    equal(sums((await bulk({ ids: begun, cursor: first.nextCursor })).body), [3, 3, 0, 0, false]);
    equal(sums((await bulk({ ids: begun })).body), [5, 0, 0, 5, false]);
    equal(sums((await bulk({ ids: [] })).body), [0, 0, 0, 0, false]);
    for (const cursor of ['x', '-1']) refused(await bulk({ ids: begun, cursor }), 400, 'bad_request');
    const missing = (await bulk({ ids: [NOBODY] })).body.errors;
    equal(missing.map((e) => [e.executionId, e.code]), [[NOBODY, 'not_found']]);
    equal((await rig.all('/audit?action=execution.bulk_cancel')).some((a) => a.details.ids === 5), true);
    const again = await rig.api('POST', '/executions/bulk', { action: 'again', ids: begun });
    equal(sums(again.body), [5, 5, 0, 0, false]);
    const gone = await rig.api('POST', '/executions/bulk', { action: 'delete', ids: begun, dryRun: true });
    equal(sums(gone.body), [5, 0, 0, 0, false]);
});

claim('dead letters are tried again or closed by a list of ids; one in doubt and one that is closed are skipped', async (rig) => {
    const definition = one(hold, { onError: 'hold' });
    await rig.publish(definition);
    const letters = [];
    for (let i = 0; i < 4; i++) {
        const { id } = await rig.begin(definition.code);
        letters.push((await until('it is given up', async () => (await rig.api('GET', `/dlq?execution=${id}`)).body.items[0])).id);
    }
    const bulk = (body) => rig.api('POST', '/dlq/bulk', body);
    equal(sums((await bulk({ action: 'resolve', note: 'by hand', ids: letters.slice(0, 2) })).body), [2, 2, 0, 0, false]);
    const closed = (await rig.api('GET', `/dlq/${letters[0]}`)).body;
    equal([closed.status, closed.note], ['resolved', 'by hand']);
    equal(sums((await bulk({ action: 'retry', ids: letters.slice(0, 3) })).body), [3, 1, 0, 2, false]);
    equal(sums((await bulk({ action: 'resolve', note: 'rest', filter: { code: definition.code }, dryRun: true })).body)[0] >= 1, true);
    refused(await bulk({ action: 'resolve', ids: letters }), 422, 'invalid');
});

await run(async () => {});
