// What waits for people: inboxes, answers, who may give them, and giving a wait to somebody else; on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const DECISION = [
    { name: 'approved', type: 'boolean', required: true, label: 'Approve?' },
    { name: 'comment', type: 'string', requiredWhen: 'payload.approved == false' },
];

const ask = (code, fields, rest = {}) => ({
    code, ...rest,
    steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'decision', ...fields } }],
});

let names = 0;
const fresh = (word) => `${word}${++names}`;

/** A user of this role with a client of their own: {id, email, api, inbox}. */
async function person(rig, fields) {
    const name = fresh('p');
    const made = await rig.api('POST', '/users', { name, email: `${name}@example.org`, role: 'member', ...fields });
    equal(made.status, 201, JSON.stringify(made.body));
    const { user = made.body, token } = made.body;
    const headers = { Authorization: `Bearer ${token}` };
    const api = (method, path, body, more = {}) => rig.api(method, path, body, { ...headers, ...more });
    const inbox = async () => {
        const page = await api('GET', '/inbox');
        equal(page.status, 200, JSON.stringify(page.body));
        return page.body.items;
    };
    return { id: user.id, name, email: `${name}@example.org`, api, inbox };
}

const status = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body.status;

claim('a wait is in the inbox of its assignee, by id, e-mail and group, and of nobody else', async (rig) => {
    const group = fresh('team');
    const byId = await person(rig), byMail = await person(rig), byGroup = await person(rig, { groups: [group] });
    const stranger = await person(rig);
    const code = fresh('listed_');
    await rig.publish(ask(code, { title: 'Approve {{ input.n }}?', assignee: '$.input.who', form: DECISION, timeout: '3d' }));
    const { id } = await rig.begin(code, { input: { n: 7, who: [byId.id, byMail.email.toUpperCase(), `group:${group}`] } });
    for (const who of [byId, byMail, byGroup]) {
        const [item, ...more] = await who.inbox();
        equal(more.length, 0, 'nothing else');
        equal([item.executionId, item.code, item.step, item.title, item.signalType], [id, code, 'ask', 'Approve 7?', 'decision']);
        equal(item.form, DECISION, 'form');
        equal(item.assignee, [byId.id, byMail.email, `group:${group}`], 'assignee');
        check(Date.parse(item.until) - Date.parse(item.since) === 3 * 86400e3, `until: ${item.since} ${item.until}`);
    }
    equal(await stranger.inbox(), [], 'the inbox of a stranger');
    equal((await rig.api('GET', '/inbox')).body.items.filter((i) => i.executionId === id), [], 'the inbox of an administrator');
});

claim('an answer ends the wait, `by` is who answered, and the inbox is empty', async (rig) => {
    const ann = await person(rig);
    const code = fresh('answered_');
    await rig.publish(ask(code, { assignee: ann.email, form: DECISION }));
    const { id } = await rig.begin(code);
    const [item] = await ann.inbox();
    const answer = await ann.api('POST', `/inbox/${item.id}`, { payload: { approved: true } });
    equal(answer.status, 202, JSON.stringify(answer.body));
    check(typeof answer.body.id === 'string', 'the id of the signal');
    const { status: ended, result } = (await rig.api('GET', `/executions/${id}`)).body;
    equal([ended, result.payload, result.by], ['completed', { approved: true }, { id: ann.id, name: ann.name }]);
    equal(await ann.inbox(), [], 'inbox');
});

claim('`?wait` answers with the step that took it', async (rig) => {
    const ann = await person(rig);
    const code = fresh('waited_');
    await rig.publish(ask(code, { assignee: ann.email }));
    await rig.begin(code);
    const [item] = await ann.inbox();
    const answer = await ann.api('POST', `/inbox/${item.id}?wait=5s`, { payload: 1 });
    equal([answer.status, answer.body.step.output.payload, answer.body.status], [200, 1, 'completed']);
});

claim('a payload that does not fit the form is refused with pointers, whichever way it comes', async (rig) => {
    const ann = await person(rig);
    const code = fresh('form_');
    await rig.publish(ask(code, { assignee: ann.email, form: DECISION, correlation: code }));
    const { id } = await rig.begin(code, { key: code });
    const [item] = await ann.inbox();
    const payload = { approved: 'maybe', other: 1 };
    for (const [api, path, body] of [
        [ann.api, `/inbox/${item.id}`, { payload }],
        [rig.api.bind(rig), `/executions/${id}/signal`, { type: 'decision', payload }],
        [rig.api.bind(rig), '/signals', { type: 'decision', key: code, payload }],
        [rig.api.bind(rig), '/signals', { type: 'decision', correlation: code, payload }],
    ]) {
        const problem = refused(await api('POST', path, body), 422, 'invalid');
        equal(problem.errors.map((e) => e.pointer).sort(), ['/payload/approved', '/payload/other'], path);
    }
    const missing = refused(await ann.api('POST', `/inbox/${item.id}`, { payload: { approved: false } }), 422, 'invalid');
    equal(missing.errors.map((e) => e.pointer), ['/payload/comment'], 'requiredWhen');
    equal(await status(rig, id), 'waiting');
    equal((await ann.inbox()).length, 1, 'it is still there');
    equal((await rig.api('GET', `/executions/${id}`)).body.context.signals, [], 'no signal was kept');
});

claim('of several types the answer says which one, and one that is not among them is refused', async (rig) => {
    const ann = await person(rig);
    const code = fresh('types_');
    await rig.publish(ask(code, { signalType: ['yes', 'no'], assignee: ann.email }));
    const { id } = await rig.begin(code);
    const [item] = await ann.inbox();
    equal(item.signalType, ['yes', 'no']);
    equal(refused(await ann.api('POST', `/inbox/${item.id}`, {}), 422, 'invalid').errors[0].pointer, '/type');
    refused(await ann.api('POST', `/inbox/${item.id}`, { type: 'perhaps' }), 422, 'invalid');
    equal((await ann.api('POST', `/inbox/${item.id}`, { type: 'no' })).status, 202);
    equal((await rig.api('GET', `/executions/${id}`)).body.result.type, 'no');
});

claim('a member cannot answer what is not theirs, nor see an execution', async (rig) => {
    const ann = await person(rig), bob = await person(rig);
    const code = fresh('others_');
    await rig.publish(ask(code, { assignee: ann.email }));
    const { id } = await rig.begin(code);
    const [item] = await ann.inbox();
    refused(await bob.api('POST', `/inbox/${item.id}`, { payload: 1 }), 404, 'not_found');
    refused(await rig.api('POST', `/inbox/${item.id}`, { payload: 1 }), 404, 'not_found');
    for (const wrong of ['nothing', id, `${id}-`, `${id}-other`, `${id}-ask-2`, `${id}-ask-x`, `${id}-ask-1`])
        refused(await ann.api('POST', `/inbox/${wrong}`, { payload: 1 }), 404, 'not_found');
    for (const path of [`/executions/${id}`, `/executions/${id}/steps`, '/executions'])
        refused(await ann.api('GET', path), 403, 'forbidden');
    refused(await ann.api('POST', `/executions/${id}/signal`, { type: 'decision' }), 403, 'forbidden');
    equal(await status(rig, id), 'waiting');
    refused(await ann.api('POST', `/inbox/${item.id}`, { payload: 1, extra: 1 }), 422, 'invalid');
});

claim('who answers too late is told who was faster; a stranger is told nothing', async (rig) => {
    const group = fresh('team');
    const ann = await person(rig, { groups: [group] }), bob = await person(rig, { groups: [group] });
    const stranger = await person(rig);
    const code = fresh('late_');
    await rig.publish(ask(code, { assignee: `group:${group}` }));
    await rig.begin(code);
    const [item] = await bob.inbox();
    equal((await ann.api('POST', `/inbox/${item.id}`, { payload: 1 })).status, 202);
    const problem = refused(await bob.api('POST', `/inbox/${item.id}`, { payload: 2 }), 409, 'conflict');
    check(problem.detail.includes(ann.name), problem.detail);
    equal(problem.answeredBy, ann.name);
    check(!JSON.stringify(problem).includes(ann.id), 'not more than the name');
    refused(await stranger.api('POST', `/inbox/${item.id}`, { payload: 2 }), 404, 'not_found');
});

claim('of many who answer at once one wins', async (rig) => {
    const group = fresh('team');
    const people = await Promise.all(Array.from({ length: 6 }, () => person(rig, { groups: [group] })));
    const code = fresh('race_');
    await rig.publish(ask(code, { assignee: `group:${group}` }));
    const { id } = await rig.begin(code);
    const [item] = await people[0].inbox();
    const answers = await Promise.all(people.map((p) => p.api('POST', `/inbox/${item.id}`, { payload: p.name })));
    const winners = people.filter((_, i) => answers[i].status === 202);
    equal(winners.length, 1, JSON.stringify(answers.map((a) => a.status)));
    for (const a of answers.filter((x) => x.status !== 202)) equal([a.status, a.body.answeredBy], [409, winners[0].name]);
    equal((await rig.api('GET', `/executions/${id}`)).body.result.payload, winners[0].name);
});

claim('an answer that was sent before is answered as the first time', async (rig) => {
    const ann = await person(rig);
    const code = fresh('again_');
    await rig.publish(ask(code, { assignee: ann.email }));
    await rig.begin(code);
    const [item] = await ann.inbox();
    const key = { 'Idempotency-Key': fresh('key') };
    const first = await ann.api('POST', `/inbox/${item.id}`, { payload: 1 }, key);
    const second = await ann.api('POST', `/inbox/${item.id}`, { payload: 1 }, key);
    equal([second.status, second.body], [first.status, first.body]);
});

claim('an assignee whom no user has as e-mail is somebody as soon as such a user appears', async (rig) => {
    const name = fresh('later');
    const code = fresh('appears_');
    await rig.publish(ask(code, { assignee: `${name}@Example.org` }));
    const { id } = await rig.begin(code);
    const late = await person(rig, { name, email: `${name}@example.org` });
    const [item] = await late.inbox();
    equal(item.executionId, id);
    equal((await late.api('POST', `/inbox/${item.id}`, { payload: 1 })).status, 202);
});

claim('pages of an inbox go through all of it once, newest first', async (rig) => {
    const group = fresh('team');
    const ann = await person(rig, { groups: [group] });
    const code = fresh('pages_');
    await rig.publish(ask(code, { title: '{{ input.n }}', assignee: '$.input.who' }));
    for (let n = 0; n < 11; n++)
        await rig.begin(code, { input: { n, who: n % 2 ? `group:${group}` : [ann.email, `group:${group}`] } });
    const seen = [];
    let cursor = '';
    do {
        const page = (await ann.api('GET', `/inbox?limit=3${cursor && `&cursor=${cursor}`}`)).body;
        check(page.items.length <= 3, 'a page is not larger than its limit');
        seen.push(...page.items.map((i) => Number(i.title)));
        cursor = page.nextCursor;
    } while (cursor);
    equal(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    refused(await ann.api('GET', '/inbox?cursor=x'), 400, 'bad_request');
});

claim('another organisation has no such item, whatever its users are called', async (rig) => {
    const group = fresh('team');
    const org_id = '018f5f00-0000-7000-8000-0000000000aa';
    const there = await person(rig, { org_id, groups: [group] });
    const here = await person(rig, { groups: [group] });
    const code = fresh('orgs_');
    await rig.publish(ask(code, { assignee: `group:${group}` }));
    await rig.begin(code);
    const [item] = await here.inbox();
    equal(await there.inbox(), []);
    refused(await there.api('POST', `/inbox/${item.id}`, { payload: 1 }), 404, 'not_found');
});

claim('what was assigned survives kill -9, and so does an answer', async (rig) => {
    const ann = await person(rig);
    const code = fresh('killed_');
    await rig.publish(ask(code, { title: 'Still?', assignee: ann.email, form: DECISION }));
    const { id } = await rig.begin(code);
    await rig.restart();
    const [item] = await until('the directory is read', ann.inbox);
    equal([item.title, item.form], ['Still?', DECISION]);
    equal((await ann.api('POST', `/inbox/${item.id}`, { payload: { approved: true } })).status, 202);
    await rig.restart();
    equal(await ann.inbox(), []);
    equal(await status(rig, id), 'completed');
});

claim('a wait that times out or is cancelled is in no inbox', async (rig) => {
    const ann = await person(rig);
    const code = fresh('over_');
    await rig.publish(ask(code, { assignee: ann.email, timeout: '$.input.t', onTimeout: 'continue' }));
    const short = await rig.begin(code, { input: { t: '50ms' } });
    const [item] = [{ id: `${short.id}-ask` }];
    const long = await rig.begin(code, { input: { t: '1d' } });
    await until('the time is up', async () => (await status(rig, short.id)) === 'completed');
    equal((await ann.inbox()).map((i) => i.executionId), [long.id]);
    check(refused(await ann.api('POST', `/inbox/${item.id}`, {}), 409, 'conflict').detail.includes('time'), 'says why');
    equal((await rig.api('POST', `/executions/${long.id}/cancel`)).status, 202);
    equal(await ann.inbox(), []);
    refused(await ann.api('POST', `/inbox/${long.id}-ask`, {}), 409, 'conflict');
});

claim('an operator gives a wait to somebody else, in history and audit', async (rig) => {
    const ann = await person(rig), bob = await person(rig), op = await person(rig, { role: 'operator' });
    const code = fresh('assign_');
    await rig.publish(ask(code, { title: 'Yours', assignee: ann.email, form: DECISION }));
    const { id } = await rig.begin(code);
    const [item] = await ann.inbox();
    refused(await ann.api('POST', `/executions/${id}/assign`, { assignee: bob.email }), 403, 'forbidden');
    equal(refused(await op.api('POST', `/executions/${id}/assign`, { assignee: [] }), 422, 'invalid').errors[0].pointer, '/assignee');
    refused(await op.api('POST', `/executions/${id}/assign`, { assignee: bob.email, step: 'other' }), 409, 'conflict');
    const given = await op.api('POST', `/executions/${id}/assign`, { step: 'ask', assignee: bob.email });
    equal([given.status, given.body], [202, {}]);
    equal(await ann.inbox(), []);
    const [his] = await bob.inbox();
    equal([his.id, his.title, his.since, his.form], [item.id, 'Yours', item.since, DECISION]);
    equal((await rig.api('GET', `/executions/${id}`)).body.waitingFor.assignee, bob.email);
    refused(await ann.api('POST', `/inbox/${item.id}`, { payload: { approved: true } }), 404, 'not_found');
    const steps = (await rig.api('GET', `/executions/${id}/steps?events=true`)).body.items;
    const row = steps.find((s) => s.status === 'assigned');
    equal([row?.step, row?.output], ['ask', { assignee: bob.email }], JSON.stringify(steps));
    const audit = (await rig.api('GET', `/audit?action=execution.assign&target=${id}`)).body.items;
    equal(audit.map((a) => [a.userName ?? a.user?.name, a.details]), [[op.name, { step: 'ask', assignee: bob.email }]]);
    await rig.restart();
    equal((await until('the directory is read', bob.inbox)).length, 1);
    equal((await bob.api('POST', `/inbox/${item.id}`, { payload: { approved: true } })).status, 202);
    equal(await status(rig, id), 'completed');
});

claim('a wait without an assignee can be given to one', async (rig) => {
    const ann = await person(rig);
    const code = fresh('nobody_');
    await rig.publish(ask(code, {}));
    const { id } = await rig.begin(code);
    equal((await rig.api('POST', `/executions/${id}/assign`, { assignee: ann.id })).status, 202);
    const [item] = await ann.inbox();
    equal((await ann.api('POST', `/inbox/${item.id}`, { payload: 1 })).status, 202);
    refused(await rig.api('POST', `/executions/${id}/assign`, { assignee: ann.id }), 409, 'conflict');
});

claim('waits beside each other are items of their own, and assigning says which one', async (rig) => {
    const ann = await person(rig), bob = await person(rig);
    const code = fresh('beside_');
    const wait = (step) => [{ code: step, procedure: { type: 'wait.signal', signalType: 'decision', assignee: ann.email, title: step } }];
    await rig.publish({ code, steps: [{ code: 'both', parallel: { branches: [wait('one'), wait('two')] } }] });
    const { id } = await rig.begin(code);
    equal((await ann.inbox()).map((i) => i.title).sort(), ['one', 'two']);
    refused(await rig.api('POST', `/executions/${id}/assign`, { assignee: bob.email }), 409, 'conflict');
    equal((await rig.api('POST', `/executions/${id}/assign`, { step: 'two', assignee: bob.email })).status, 202);
    const [two] = await bob.inbox(), [one] = await ann.inbox();
    equal((await bob.api('POST', `/inbox/${two.id}`, { payload: 2 })).status, 202);
    const { context } = (await rig.api('GET', `/executions/${id}`)).body;
    equal([context.steps.two.payload, context.steps.one], [2, undefined], 'the answer went to the wait that it was for');
    equal((await ann.api('POST', `/inbox/${one.id}`, { payload: 1 })).status, 202);
    equal(await status(rig, id), 'completed');
});

claim('a stale approval of round one does not satisfy round two', async (rig) => {
    const ann = await person(rig);
    const code = fresh('rounds_');
    await rig.publish({
        code, steps: [
            { code: 'ask', procedure: { type: 'wait.signal', signalType: 'decision', accept: 'new', assignee: ann.email } },
            { code: 'more', procedure: { type: 'wait.signal', signalType: 'change' }, goto: 'ask' },
        ],
    });
    const { id } = await rig.begin(code);
    const [first] = await ann.inbox();
    equal((await ann.api('POST', `/inbox/${first.id}`, { payload: 1 })).status, 202);
    refused(await ann.api('POST', `/inbox/${first.id}`, { payload: 'stale' }), 409, 'conflict');
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'decision', payload: 'early' })).status, 202);
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'change' })).status, 202);
    refused(await ann.api('POST', `/inbox/${first.id}`, { payload: 'stale' }), 409, 'conflict');
    const [second] = await ann.inbox();
    equal(second.id, `${first.id}-2`);
    equal((await rig.api('GET', `/executions/${id}`)).body.currentStep, 'ask', 'it waits for a new one');
});

claim('while an execution is paused its wait can be answered, and the answer counts when it goes on', async (rig) => {
    const ann = await person(rig);
    const code = fresh('paused_');
    await rig.publish(ask(code, { assignee: ann.email }));
    const { id } = await rig.begin(code);
    equal((await rig.api('POST', `/executions/${id}/pause`)).status, 202);
    const [item] = await ann.inbox();
    equal((await ann.api('POST', `/inbox/${item.id}`, { payload: 1 })).status, 202);
    equal(await ann.inbox(), []);
    equal((await rig.api('POST', `/executions/${id}/resume`)).status, 202);
    equal(await status(rig, id), 'completed');
});

claim('what is sensitive is hidden in titles', async (rig) => {
    const ann = await person(rig);
    const code = fresh('hidden_');
    await rig.publish(ask(code, { title: 'Pay to {{ input.card }}', assignee: ann.email },
        { input: [{ name: 'card', type: 'string', sensitive: true }] }));
    await rig.begin(code, { input: { card: '4111-1111' } });
    equal((await ann.inbox())[0].title, 'Pay to ***');
});

claim('who is asked sees the facts, what follows, who has started it and who has answered before', async (rig) => {
    const ann = await person(rig), bob = await person(rig);
    const code = fresh('facts_');
    const wait = (name, fields) => ({ code: name, name: `Step ${name}`, procedure: { type: 'wait.signal', signalType: 'decision', ...fields } });
    await rig.publish({
        code, name: 'Approval of orders', onError: 'hold',
        input: [{ name: 'sum', type: 'number' }, { name: 'card', type: 'string', sensitive: true }],
        steps: [
            wait('first', { assignee: ann.email, timeout: '1h' }),
            wait('second', {
                assignee: bob.email, title: 'Ship it?', timeout: '2h', onTimeout: { to: 'late' },
                show: [{ label: 'Sum', value: '$.input.sum' }, { label: 'Card', value: 'card {{ input.card }}' }, { label: 'Lines', value: { n: [1, 2] } }],
                then: [{ label: 'Yes', text: 'It leaves for {{ input.sum }} euro.' }],
            }),
            { code: 'late', name: 'Tell the boss', procedure: { type: 'log', message: 'late' } },
        ],
    });
    const { id } = await rig.begin(code, { input: { sum: 12.5, card: '4111-1111' } });
    const [early] = await ann.inbox();
    equal([early.name, early.show, early.then, early.timeUp, early.answeredBefore], ['Approval of orders', null, null, { action: 'hold' }, []]);
    equal((await ann.api('POST', `/inbox/${early.id}`, { payload: 1 })).status, 202);
    const [item] = await bob.inbox();
    equal(item.show, [{ label: 'Sum', value: 12.5 }, { label: 'Card', value: 'card ***' }, { label: 'Lines', value: { n: [1, 2] } }]);
    equal(item.then, [{ label: 'Yes', text: 'It leaves for 12.5 euro.' }]);
    equal(item.timeUp, { action: 'goto', to: 'late', name: 'Tell the boss' });
    equal(item.startedBy, (({ id: user, name }) => ({ id: user, name }))((await rig.api('GET', '/me')).body), 'who has started it');
    equal(item.answeredBefore.map((one) => [one.by, one.step]), [[{ id: ann.id, name: ann.name }, 'first']]);
    check(Date.parse(item.answeredBefore[0].answeredAt) > 0, 'when');
    equal((await ann.api('GET', '/inbox?answered=true')).body.items.map((one) => [one.executionId, one.step, one.type, one.payload, one.name]), [[id, 'first', 'decision', 1, 'Approval of orders']]);
    equal((await bob.api('GET', '/inbox?answered=true')).body.items, [], 'who has not answered yet');
    refused(await bob.api('GET', '/inbox?answered=maybe'), 400, 'bad_request');
});

claim('what one has answered is listed page by page, and goes with its execution', async (rig) => {
    const ann = await person(rig);
    const code = fresh('done_');
    await rig.publish(ask(code, { assignee: ann.email, title: 'Number {{ input.n }}', form: [{ name: 'pin', type: 'string', sensitive: true }] }));
    const ids = [];
    for (let n = 0; n < 3; n++) {
        ids.push((await rig.begin(code, { input: { n } })).id);
        const [item] = await ann.inbox();
        equal((await ann.api('POST', `/inbox/${item.id}?wait=5s`, { payload: { pin: `secret-${n}` } })).status, 200);
    }
    const titles = [];
    let cursor = '';
    do {
        const page = (await ann.api('GET', `/inbox?answered=true&limit=2${cursor ? `&cursor=${cursor}` : ''}`)).body;
        check(page.items.length > 0 && page.items.length <= 2, 'a page');
        titles.push(...page.items.map((item) => item.title));
        for (const item of page.items) equal(item.payload, { pin: '***' }, 'what is sensitive');
        cursor = page.nextCursor;
    } while (cursor);
    equal(titles, ['Number 2', 'Number 1', 'Number 0']);
    equal((await rig.api('DELETE', `/executions/${ids[1]}`)).status, 204);
    equal((await ann.api('GET', '/inbox?answered=true')).body.items.map((item) => item.title), ['Number 2', 'Number 0']);
});

claim('an answer is held against what is within the fields of a form, and against their bounds', async (rig) => {
    const ann = await person(rig);
    const code = fresh('within_');
    await rig.publish(ask(code, { assignee: ann.email, form: [
        { name: 'parcel', type: 'object', required: true, fields: [
            { name: 'code', type: 'string', required: true, pattern: '^P[0-9]+$' }, { name: 'pin', type: 'string', sensitive: true }, { name: 'kg', type: 'number', max: 30 }] },
        { name: 'rooms', type: 'array', maxLength: 2, items: { type: 'integer', min: 1 } },
    ] }, { input: [{ name: 'to', type: 'object', fields: [{ name: 'zip', type: 'string', maxLength: 5 }] }] }));
    refused(await rig.api('POST', '/executions', { code, input: { to: { zip: '123456', more: 1 } } }), 422, 'invalid').errors
        .forEach((e) => check(['/input/to/zip', '/input/to/more'].includes(e.pointer), e.pointer));
    const { id } = await rig.begin(code, { input: { to: { zip: '12345' } } });
    const [item] = await ann.inbox();
    const problem = refused(await ann.api('POST', `/inbox/${item.id}`, { payload: { parcel: { code: 'x', kg: 31 }, rooms: [1, 0, 2] } }), 422, 'invalid');
    equal(problem.errors.map((e) => e.pointer).sort(), ['/payload/parcel/code', '/payload/parcel/kg', '/payload/rooms', '/payload/rooms/1']);
    equal((await ann.api('POST', `/inbox/${item.id}?wait=5s`, { payload: { parcel: { code: 'P7', pin: 'open sesame', kg: 3 }, rooms: [4] } })).status, 200);
    const done = (await rig.api('GET', `/executions/${id}`)).body;
    equal([done.status, done.result.payload.parcel], ['completed', { code: 'P7', pin: '***', kg: 3 }]);
});

claim('facts that are too large, or cannot be evaluated, hold the execution before anybody is asked', async (rig) => {
    const ann = await person(rig);
    for (const [value, error] of [['=$.input.big + $.input.big', 'limit_show'], ['$.input.nothing', 'expression_error']]) {
        const code = fresh('large_');
        await rig.publish(ask(code, { assignee: ann.email, show: [{ label: 'Fact', value }] }));
        const { id } = await rig.begin(code, { input: { big: 'x'.repeat(40000) } });
        const held = (await rig.api('GET', `/executions/${id}`)).body;
        equal([held.waitingFor.kind, held.waitingFor.error?.code ?? held.error?.code], ['incident', error]);
    }
    equal(await ann.inbox(), []);
});

claim('an assignee that is none fails the step, and says so', async (rig) => {
    const code = fresh('bad_');
    await rig.publish({ ...ask(code, { assignee: '$.input.who' }), onError: 'fail_fast' });
    for (const who of [null, 5, [], ['']]) {
        const { id } = await rig.begin(code, { input: { who } });
        const { error } = (await rig.api('GET', `/executions/${id}`)).body;
        equal(error?.code, 'validation_assignee', JSON.stringify(who));
    }
});

claim('the `access` of a definition keeps operators out, not who is assigned', async (rig) => {
    const ann = await person(rig), op = await person(rig, { role: 'operator' });
    const code = fresh('access_');
    await rig.publish(ask(code, { assignee: ann.email }, { access: { view: ['group:chosen'], operate: ['group:chosen'] } }));
    const { id } = await rig.begin(code);
    refused(await op.api('POST', `/executions/${id}/assign`, { assignee: op.email }), 404, 'not_found');
    const [item] = await ann.inbox();
    equal((await ann.api('POST', `/inbox/${item.id}`, { payload: 1 })).status, 202);
});

await run(async () => {});
