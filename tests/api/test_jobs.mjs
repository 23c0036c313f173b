// Jobs: external procedures, claimed and answered by workers, on both stores.
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { Client, refused } from '../lib/client.mjs';
import { claim, Rig, run } from '../lib/stores.mjs';
import { sleep, until as eventually } from '../lib/wait.mjs';
import { scrape } from './scrape.mjs';

let count = 0;

/** A process whose only step is an external procedure of a name of its own. */
async function publish(rig, more = {}, procedure = `work.t${++count}`) {
    const code = `jobs_${++count}`;
    await rig.publish({ code, steps: [{ code: 'do', procedure, input: { n: '$.input.n' }, ...more }] });
    return { code, type: procedure };
}

/** Wait until so many workers have asked for a job and wait for one. */
const workersWait = (rig, count) => eventually(`${count} workers wait`, async () =>
    (await scrape(rig)).series.get('pawl_workers_waiting') === count);

const claimJobs = (rig, types, more = {}) =>
    rig.api('POST', '/jobs/claim', { types, wait: '0s', worker: 'w1', ...more });

/** Claim exactly one job. */
async function claimOne(rig, type, more = {}) {
    const answer = await claimJobs(rig, [type], { wait: '10s', ...more });
    equal([answer.status, answer.body.items?.length], [200, 1], JSON.stringify(answer.body));
    return answer.body.items[0];
}

const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const ended = (rig, id, status = 'completed') =>
    eventually(`it is ${status}`, async () => {
        const x = await get(rig, id);
        return x.status === status ? x : null;
    }, 30);

claim('a worker claims a job, does it, and its output is that of the step', async (rig) => {
    const { code, type } = await publish(rig);
    const { id } = await rig.begin(code, { input: { n: 7 } });
    const job = await claimOne(rig, type, { lease: '60s' });
    equal(
        Object.keys(job),
        ['id', 'type', 'input', 'idempotencyKey', 'attempt', 'executionId', 'step', 'leaseToken', 'leaseUntil'],
    );
    equal(
        [job.type, job.input, job.idempotencyKey, job.attempt, job.executionId, job.step],
        [type, { n: 7 }, `${id}-do`, 1, id, 'do'],
    );
    check(/^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(job.id), 'its id is a UUIDv7');
    const left = Date.parse(job.leaseUntil) - Date.now();
    check(left > 30000 && left < 90000, `the lease has ${left} ms left`);
    equal((await claimJobs(rig, [type])).body.items, [], 'nobody else gets it');
    const done = await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: { ok: true } });
    equal([done.status, done.body], [200, { id: job.id, status: 'completed', executionId: id }]);
    const x = await ended(rig, id);
    equal(x.context.steps.do.output, { ok: true });
});

claim('an answer may be sent twice, another one may not', async (rig) => {
    const { code, type } = await publish(rig);
    await rig.begin(code, { input: { n: 1 } });
    const { id, leaseToken } = await claimOne(rig, type);
    const answers = [];
    for (let i = 0; i < 3; i++)
        answers.push((await rig.api('POST', `/jobs/${id}/complete`, { leaseToken, output: { a: 1, b: [2] } })).status);
    equal(answers, [200, 200, 200]);
    refused(await rig.api('POST', `/jobs/${id}/complete`, { leaseToken, output: 2 }), 409, 'conflict');
    refused(await rig.api('POST', `/jobs/${id}/fail`, { leaseToken, error: { code: 'x' } }), 409, 'conflict');
    refused(await rig.api('POST', `/jobs/${id}/heartbeat`, { leaseToken }), 409, 'conflict');
});

claim('the same answer may come twice at once', async (rig) => {
    const { code, type } = await publish(rig);
    for (let i = 0; i < 20; i++) await rig.begin(code, { input: { n: i } });
    const { items } = (await claimJobs(rig, [type], { max: 20 })).body;
    const clients = Array.from({ length: 40 }, () => rig.server.client());
    const statuses = await Promise.all(clients.map(async (client, i) => {
        const { id, leaseToken } = items[i >> 1];
        return (await client.ask('POST', `/api/v1/jobs/${id}/complete`, { leaseToken, output: id })).status;
    }));
    for (const client of clients) client.close();
    equal(statuses, statuses.map(() => 200));
});

claim('a long poll is answered as soon as there is a job, or with nothing when its time is up', async (rig) => {
    const { code, type } = await publish(rig);
    const began = Date.now();
    equal((await claimJobs(rig, [type], { wait: '300ms' })).body, { items: [] });
    check(Date.now() - began >= 290, 'it waited');
    const other = rig.server.client();
    const polled = other.ask('POST', '/api/v1/jobs/claim', { types: [type], wait: '60s', max: 1, worker: 'w2' });
    await workersWait(rig, 1);
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const { body } = await polled;
    other.close();
    equal(body.items.map((job) => job.executionId), [id]);
});

claim('what a worker says of its failure decides: business fails, transient is tried again with the same key', async (rig) => {
    const { code, type } = await publish(rig, { retry: { maxAttempts: 3, delay: '10ms' } });
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const first = await claimOne(rig, type);
    equal((await rig.api('POST', `/jobs/${first.id}/fail`, { leaseToken: first.leaseToken, error: { code: 'busy', message: 'later', class: 'transient' } })).status, 200);
    const second = await claimOne(rig, type);
    equal([second.attempt, second.idempotencyKey], [2, first.idempotencyKey]);
    check(second.id !== first.id && second.leaseToken !== first.leaseToken, 'another attempt is another job');
    equal((await rig.api('POST', `/jobs/${second.id}/fail`, { leaseToken: second.leaseToken, error: { code: 'declined', message: 'no', class: 'business', details: { why: 1 } } })).body.status, 'failed');
    const x = await ended(rig, id, 'failed');
    equal([x.error.code, x.error.class, x.error.details], ['declined', 'business', { why: 1 }]);
});

claim('a lease that runs out is an attempt of which nobody knows: the job goes to another, the first is told 409', async (rig) => {
    const { code, type } = await publish(rig, { retry: { maxAttempts: 2, delay: '10ms' } });
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const first = await claimOne(rig, type, { lease: '1s', worker: 'slow' });
    const second = await claimOne(rig, type, { wait: '30s', worker: 'quick' });
    equal([second.attempt, second.idempotencyKey], [2, first.idempotencyKey]);
    const rows = await rig.all(`/executions/${id}/steps`);
    equal(rows.map((r) => [r.status, r.error?.code, r.error?.class]), [['failed', 'timeout_lease', 'indeterminate']]);
    refused(await rig.api('POST', `/jobs/${first.id}/complete`, { leaseToken: first.leaseToken, output: 1 }), 409, 'conflict');
    refused(await rig.api('POST', `/jobs/${first.id}/heartbeat`, { leaseToken: first.leaseToken }), 409, 'conflict');
    equal((await rig.api('POST', `/jobs/${second.id}/complete`, { leaseToken: second.leaseToken, output: 2 })).status, 200);
    equal((await ended(rig, id)).context.steps.do.output, 2);
});

claim('the time of an attempt that a worker holds is up: nobody knows; of one that nobody has claimed: it did not happen', async (rig) => {
    const { code, type } = await publish(rig, { timeout: '1s', retry: { maxAttempts: 3, delay: '10ms' } });
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const held = await claimOne(rig, type, { lease: '5m' });
    await eventually('it ends', async () => (await rig.all(`/executions/${id}/steps`)).length >= 2, 30);
    const third = await claimOne(rig, type, { wait: '30s' });
    equal([third.attempt, third.idempotencyKey], [3, held.idempotencyKey]);
    const rows = await rig.all(`/executions/${id}/steps`);
    equal(rows.map((r) => [r.attempt, r.error?.code, r.error?.class]),
        [[1, 'timeout_step', 'indeterminate'], [2, 'timeout_step', 'transient']]);
    refused(await rig.api('POST', `/jobs/${held.id}/complete`, { leaseToken: held.leaseToken, output: 1 }), 409, 'conflict');
    equal((await rig.api('POST', `/jobs/${third.id}/complete`, { leaseToken: third.leaseToken, output: 3 })).status, 200);
    equal((await ended(rig, id)).context.steps.do.output, 3);
});

claim('time that is up while a worker holds the job asks what became of it, and not of one that nobody has claimed', async (rig) => {
    const { code, type } = await publish(rig, {
        timeout: '1s', retry: { maxAttempts: 2, delay: '10ms' },
        reconcile: { procedure: { type: 'compute.transform', data: { outcome: 'succeeded', output: 'found out' } }, every: '1s' },
    });
    const held = await rig.begin(code, { input: { n: 1 } });
    await claimOne(rig, type, { lease: '5m' });
    equal((await ended(rig, held.id)).context.steps.do.output, 'found out');
    const ready = await rig.begin(code, { input: { n: 2 } });
    equal((await ended(rig, ready.id, 'failed')).error.class, 'transient');
});

claim('a heartbeat lets the lease last as long again', async (rig) => {
    const { code, type } = await publish(rig);
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const job = await claimOne(rig, type, { lease: '2s' });
    let until = job.leaseUntil;
    while (Date.now() < Date.parse(job.leaseUntil)) {
        await sleep(500);
        const beat = await rig.api('POST', `/jobs/${job.id}/heartbeat`, { leaseToken: job.leaseToken });
        equal(beat.status, 200, JSON.stringify(beat.body));
        check(beat.body.leaseUntil > until, 'the lease ends later');
        until = beat.body.leaseUntil;
    }
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken })).status, 200);
    equal((await ended(rig, id)).context.steps.do.output, null);
});

claim('a wrong token is 409, an unknown job 404, a body that says nothing 422', async (rig) => {
    const { code, type } = await publish(rig);
    await rig.begin(code, { input: { n: 1 } });
    const job = await claimOne(rig, type);
    refused(await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: 'x', output: 1 }), 409, 'conflict');
    refused(await rig.api('POST', `/jobs/${job.executionId}/complete`, { leaseToken: 'x' }), 404, 'not_found');
    refused(await rig.api('POST', '/jobs/nothing/heartbeat', { leaseToken: 'x' }), 404, 'not_found');
    for (const [what, body] of [
        ['complete', { output: 1 }],
        ['fail', { leaseToken: job.leaseToken }],
        ['fail', { leaseToken: job.leaseToken, error: {} }],
        ['fail', { leaseToken: job.leaseToken, error: { code: 'x', class: 'unheard' } }],
        ['heartbeat', {}],
    ])
        refused(await rig.api('POST', `/jobs/${job.id}/${what}`, body), 422, 'invalid');
    for (const body of [
        {}, { types: [] }, { types: 'a.b' }, { types: ['nodot'] }, { types: ['*'] }, { types: ['.*'] }, { types: ['it*'] }, { types: ['it.*.x'] }, { types: ['it.*.*'] }, { types: [1] }, { types: ['a.b'], max: 0 },
        { types: ['a.b'], max: 101 }, { types: ['a.b'], wait: '6m' }, { types: ['a.b'], lease: '10ms' },
        { types: ['a.b'], colour: 1 },
    ])
        refused(await rig.api('POST', '/jobs/claim', body), 422, 'invalid');
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken })).status, 200);
});

claim('types take turns: the backlog of one does not hide another', async (rig) => {
    const many = await publish(rig);
    const few = await publish(rig);
    for (let i = 0; i < 20; i++) await rig.begin(many.code, { input: { n: i } });
    for (let i = 0; i < 2; i++) await rig.begin(few.code, { input: { n: i } });
    const { items } = (await claimJobs(rig, [many.type, few.type], { max: 6 })).body;
    equal(items.length, 6);
    equal(items.filter((job) => job.type === few.type).length, 2);
    equal(items.filter((job) => job.type === many.type).map((job) => job.input.n), [0, 1, 2, 3]);
    const rest = (await claimJobs(rig, [few.type, many.type], { max: 100 })).body.items;
    equal(rest.length, 16);
});

claim('cancelling ends the lease at once, and what the worker may have done is undone', async (rig) => {
    const { code, type } = await publish(rig, { rollback: { type: 'compute.transform', data: 'undone' } });
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const job = await claimOne(rig, type);
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202);
    await ended(rig, id, 'cancelled');
    refused(await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 1 }), 409, 'conflict');
    const rows = await rig.all(`/executions/${id}/steps`);
    equal(rows.map((r) => [r.kind, r.status]), [['forward', 'failed'], ['rollback', 'compensated']]);
    equal((await claimJobs(rig, [type])).body.items, []);
});

claim('leases and jobs survive a kill: the worker that holds one completes it afterwards', async (rig) => {
    const { code, type } = await publish(rig);
    const held = await rig.begin(code, { input: { n: 1 } });
    const job = await claimOne(rig, type);
    const ready = await rig.begin(code, { input: { n: 2 } });
    await rig.restart();
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 'a' })).status, 200);
    const other = await claimOne(rig, type);
    equal(other.executionId, ready.id);
    equal((await rig.api('POST', `/jobs/${other.id}/complete`, { leaseToken: other.leaseToken, output: 'b' })).status, 200);
    equal((await ended(rig, held.id)).context.steps.do.output, 'a');
    equal((await ended(rig, ready.id)).context.steps.do.output, 'b');
});

claim('somebody who hangs up while it waits is given no job', async (rig) => {
    const { code, type } = await publish(rig);
    const gone = rig.server.client();
    gone.ask('POST', '/api/v1/jobs/claim', { types: [type], wait: '60s', worker: 'gone' });
    await workersWait(rig, 1);
    const open = rig.server.socketCount();
    gone.close();
    await eventually('its connection is closed', () => rig.server.socketCount() < open);
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const job = await claimOne(rig, type);
    equal([job.executionId, job.attempt], [id, 1]);
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken })).status, 200);
});

claim('a token of the role worker takes and answers jobs, and may do nothing else', async (rig) => {
    const user = await rig.api('POST', '/users', { name: `worker ${++count}`, role: 'worker' });
    equal(user.status, 201, JSON.stringify(user.body));
    const headers = { authorization: `Bearer ${user.body.token}` };
    const { code, type } = await publish(rig);
    await rig.begin(code, { input: { n: 1 } });
    const claimed = await rig.api('POST', '/jobs/claim', { types: [type], wait: '10s' }, headers);
    equal([claimed.status, claimed.body.items.length], [200, 1]);
    const [job] = claimed.body.items;
    equal((await rig.api('POST', `/jobs/${job.id}/complete`, { leaseToken: job.leaseToken }, headers)).status, 200);
    refused(await rig.api('GET', '/executions', undefined, headers), 403, 'forbidden');
    refused(await rig.api('POST', '/executions', { code }, headers), 403, 'forbidden');
});

claim('jobs belong to the organisation of their execution', async (rig) => {
    const { code, type } = await publish(rig);
    await rig.begin(code, { input: { n: 1 } });
    const job = await claimOne(rig, type);
    const user = await rig.api('POST', '/users', { name: `other ${++count}`, role: 'worker', org_id: '00000000-0000-7000-8000-00000000000a' });
    const headers = { authorization: `Bearer ${user.body.token}` };
    await rig.begin(code, { input: { n: 2 } });
    equal((await rig.api('POST', '/jobs/claim', { types: [type], wait: '0s' }, headers)).body.items, []);
    for (const what of ['complete', 'heartbeat'])
        refused(await rig.api('POST', `/jobs/${job.id}/${what}`, { leaseToken: job.leaseToken }, headers), 404, 'not_found');
});

claim('a page of jobs from which access takes some is filled up from those behind', async (rig) => {
    const viewer = await rig.api('POST', '/users', { name: `viewer ${++count}`, role: 'viewer' });
    const headers = { authorization: `Bearer ${viewer.body.token}` };
    const type = `work.t${++count}`, hidden = `jobs_${++count}`, seen = `jobs_${++count}`;
    const steps = [{ code: 'do', procedure: type }];
    await rig.publish({ code: hidden, access: { view: ['role:admin'] }, steps });
    await rig.publish({ code: seen, steps });
    for (let i = 0; i < 5; i++) await rig.begin(hidden);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await rig.begin(seen)).id);
    const page = async (cursor) => (await rig.api('GET', `/jobs?type=${type}&limit=2${cursor ? `&cursor=${cursor}` : ''}`, undefined, headers)).body;
    const first = await page();
    equal(first.items.map((job) => job.executionId), ids.slice(0, 2), JSON.stringify(first));
    const second = await page(first.nextCursor);
    equal([second.items.map((job) => job.executionId), second.nextCursor], [ids.slice(2), null]);
    check(/^j[0-9a-f]+$/.test(first.nextCursor), first.nextCursor);
    for (const cursor of ['1', 'j', 'j0', 'jX', 'jffffffffffffffff']) refused(await rig.api('GET', `/jobs?cursor=${cursor}`, undefined, headers), 400, 'bad_request');
});

claim('hundreds wait side by side, and each job goes to exactly one of them', async (rig) => {
    const { code, type } = await publish(rig);
    const clients = Array.from({ length: 200 }, () => rig.server.client());
    const polls = clients.map((client, i) =>
        client.ask('POST', '/api/v1/jobs/claim', { types: [type], wait: '60s', max: 1, worker: `w${i}` }));
    await workersWait(rig, 200);
    const begun = [];
    for (let i = 0; i < 200; i++) begun.push((await rig.begin(code, { input: { n: i } })).id);
    const jobs = (await Promise.all(polls)).flatMap(({ body }) => body.items);
    equal(jobs.map((job) => job.executionId).sort(), begun.sort());
    await Promise.all(jobs.map((job, i) => clients[i].ask('POST', `/api/v1/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: i })));
    for (const id of begun) await ended(rig, id);
    for (const client of clients) client.close();
});

claim('a worker of another node gets the job within the time of waking up', async (rig) => {
    const other = new Rig(rig.store, rig.server.program, rig.server);
    await other.start();
    const { code, type } = await publish(rig);
    const polled = other.client.ask('POST', '/api/v1/jobs/claim', { types: [type], wait: '30s', worker: 'far' });
    await workersWait(other, 1);
    const began = Date.now();
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const { body } = await polled;
    const took = Date.now() - began;
    equal(body.items?.map((job) => job.executionId), [id], JSON.stringify(body));
    check(took < 5000, `it took ${took} ms`);
    const [job] = body.items;
    const done = await other.client.ask('POST', `/api/v1/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 'far' });
    equal(done.status, 200, JSON.stringify(done.body));
    equal((await ended(rig, id)).context.steps.do.output, 'far');
    await other.close();
}, 'PostgreSQL');

/** An endpoint that does jobs: what it was asked, and how it answers by the input. */
class Endpoint {
    constructor() {
        this.asked = [];
        this.server = createServer(async (request, response) => {
            let text = '';
            for await (const part of request) text += part;
            const job = JSON.parse(text);
            this.asked.push({ method: request.method, key: request.headers['idempotency-key'], job });
            const answer = (status, body) =>
                response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
            if (job.input.n === 'refuse') answer(200, { error: { code: 'declined', message: 'no', class: 'business' } });
            else if (job.input.n === 'flaky' && job.attempt < 2) answer(503, {});
            else if (job.input.n === 'odd' || (job.input.n === 'odd refusal' && job.attempt < 2))
                response.writeHead(job.input.n === 'odd' ? 201 : 502, { 'content-type': 'text/html' }).end(Buffer.from([0x55, 0xfc, 0x00]));
            else if (job.input.n === 'status') answer(422, { error: { code: 'bad_thing' } });
            else if (job.input.n !== 'hold' || job.attempt > 1) answer(200, { done: job.input.n });
        });
    }

    async open() {
        await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
        this.url = `http://127.0.0.1:${this.server.address().port}/work`;
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }
}

claim('an endpoint that is registered is called with the jobs of its namespace', async (rig) => {
    const endpoint = new Endpoint();
    await endpoint.open();
    const name = `ns${++count}`;
    const { code } = await publish(rig, { retry: { maxAttempts: 3, delay: '10ms' } }, `${name}.work`);
    const before = await rig.begin(code, { input: { n: 'early' } });
    const put = await rig.api('PUT', `/workers/${name}`, { url: endpoint.url });
    equal([put.status, put.body.namespace, put.body.url, put.body.credential], [201, name, endpoint.url, null]);
    equal((await ended(rig, before.id)).context.steps.do.output, { done: 'early' }, 'what was there before is done, too');
    const x = await rig.begin(code, { input: { n: 'late' } });
    equal((await ended(rig, x.id)).context.steps.do.output, { done: 'late' });
    const [, asked] = endpoint.asked;
    equal([asked.method, asked.key, asked.job.idempotencyKey, asked.job.executionId, asked.job.step, asked.job.attempt, asked.job.input],
        ['POST', `${x.id}-do`, `${x.id}-do`, x.id, 'do', 1, { n: 'late' }]);
    const refusing = await ended(rig, (await rig.begin(code, { input: { n: 'refuse' } })).id, 'failed');
    equal([refusing.error.code, refusing.error.class], ['declined', 'business']);
    const status = await ended(rig, (await rig.begin(code, { input: { n: 'status' } })).id, 'failed');
    equal([status.error.code, status.error.class], ['bad_thing', 'business']);
    const flaky = await ended(rig, (await rig.begin(code, { input: { n: 'flaky' } })).id);
    equal(flaky.context.steps.do.output, { done: 'flaky' });
    const odd = await ended(rig, (await rig.begin(code, { input: { n: 'odd' } })).id);
    equal(odd.context.steps.do.output, null, 'a success whose body is no text');
    const oddRefusal = await ended(rig, (await rig.begin(code, { input: { n: 'odd refusal' } })).id);
    equal(oddRefusal.context.steps.do.output, { done: 'odd refusal' }, 'a refusal whose body is no text');
    const many = [];
    for (let i = 0; i < 100; i++) many.push((await rig.begin(code, { input: { n: i } })).id);
    for (const id of many) await ended(rig, id);
    const held = await rig.begin(code, { input: { n: 'hold' } });
    await eventually('it is called', () => endpoint.asked.some(({ job }) => job.input.n === 'hold'));
    await rig.restart();
    equal((await ended(rig, held.id)).context.steps.do.output, { done: 'hold' }, 'a kill in the middle is another attempt');
    equal((await rig.api('GET', '/workers')).body.items.filter((w) => w.namespace === name).length, 1);
    for (const more of ['paged_b', 'paged.a', 'Paged-c']) equal((await rig.api('PUT', `/workers/${more}`, { url: endpoint.url })).status, 201);
    equal((await rig.all('/workers', 1)).map((w) => w.namespace), (await rig.all('/workers', 500)).map((w) => w.namespace), 'page by page');
    equal((await rig.all('/workers', 2)).filter((w) => /^paged/i.test(w.namespace)).length, 3);
    for (const more of ['paged_b', 'paged.a', 'Paged-c']) await rig.api('DELETE', `/workers/${more}`);
    equal((await rig.api('DELETE', `/workers/${name}`)).status, 204);
    refused(await rig.api('DELETE', `/workers/${name}`), 404, 'not_found');
    refused(await rig.api('GET', `/workers/${name}`), 404, 'not_found');
    refused(await rig.api('PUT', `/workers/${name}`, { url: 'nowhere' }), 422, 'invalid');
    endpoint.close();
});

claim('an endpoint with several types takes no more calls at once than one host may have', async (rig) => {
    let now = 0, most = 0, all = 0;
    const server = createServer(async (request, response) => {
        request.resume();
        most = Math.max(most, ++now);
        all++;
        await new Promise((resolve) => setTimeout(resolve, 50));
        now--;
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const name = `ns${++count}`, begun = [];
    for (const type of ['a', 'b', 'c']) {
        const { code } = await publish(rig, {}, `${name}.${type}`);
        for (let i = 0; i < 8; i++) begun.push((await rig.begin(code, { input: { n: i } })).id);
    }
    await rig.restart({ PAWL_CALLS_PER_HOST: '4' });
    await rig.api('PUT', `/workers/${name}`, { url: `http://127.0.0.1:${server.address().port}/work` });
    for (const id of begun) await ended(rig, id);
    equal([all, most], [24, 4], 'calls, and how many at once');
    await rig.api('DELETE', `/workers/${name}`);
    server.closeAllConnections();
    server.close();
    await rig.restart();
});

claim('an execution that waits for a job says whether a worker has asked, or has it', async (rig) => {
    const { code, type } = await publish(rig);
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const waiting = (await get(rig, id)).waitingFor;
    equal([waiting.kind, waiting.procedure, waiting.reason], ['job', type, 'none has asked for it']);
    const job = await claimOne(rig, type, { worker: 'anna' });
    const taken = (await get(rig, id)).waitingFor;
    equal([taken.reason, taken.jobId, taken.leaseUntil], ['one has it: anna', job.id, job.leaseUntil]);
    const listed = (await rig.api('GET', `/jobs?type=${type}`)).body.items;
    equal(listed.map((j) => [j.id, j.status, j.worker, j.executionId]), [[job.id, 'leased', 'anna', id]]);
    const other = await rig.begin(code, { input: { n: 2 } });
    check(/^one last asked for it at 20/.test((await get(rig, other.id)).waitingFor.reason), 'it says when');
    equal((await rig.all(`/jobs?type=${type}`, 1)).map((j) => j.status), ['leased', 'ready']);
    equal((await rig.api('GET', `/jobs?type=${type}&status=ready`)).body.items.length, 1);
    refused(await rig.api('GET', '/jobs?status=done'), 400, 'bad_request');
    refused(await rig.api('GET', '/jobs?cursor=x'), 400, 'bad_request');
});

claim('a pattern stands for every type that begins like it, and for jobs that come while it waits', async (rig) => {
    const space = `pat${++count}${rig.name.toLowerCase()}`;
    const made = [];
    for (const type of [`${space}.a`, `${space}.b`, `${space}.deep.c`, `${space}x.d`]) made.push(await publish(rig, {}, type));
    for (const { code } of made) await rig.begin(code, { input: { n: 1 } });
    equal((await claimJobs(rig, [`${space}.deep.*`])).body.items.map((j) => j.type), [`${space}.deep.c`]);
    const both = (await claimJobs(rig, [`${space}.*`, `${space}.a`])).body.items;
    equal(both.map((j) => j.type).sort(), [`${space}.a`, `${space}.b`], 'each once');
    equal((await claimJobs(rig, [`${space}.*`])).body.items, []);
    const waits = claimJobs(rig, [`${space}.*`], { wait: '60s', worker: 'by pattern' });
    const other = rig.server.client();
    const { body } = await other.ask('POST', '/api/v1/executions', { code: made[1].code, input: { n: 2 } });
    equal((await waits).body.items.map((j) => j.executionId), [body.id]);
    other.close();
    await publish(rig, {}, `${space}.never`).then(({ code }) => rig.begin(code, { input: { n: 3 } })).then(async ({ id }) =>
        check(/^one last asked for it at 20/.test((await get(rig, id)).waitingFor.reason), 'a pattern counts as asking'));
});

claim('the types of a pattern take turns', async (rig) => {
    const space = `turn${++count}${rig.name.toLowerCase()}`;
    const [a, b] = [await publish(rig, {}, `${space}.a`), await publish(rig, {}, `${space}.b`)];
    for (let i = 0; i < 5; i++) await rig.begin(a.code, { input: { n: i } });
    await rig.begin(b.code, { input: { n: 9 } });
    const got = (await claimJobs(rig, [`${space}.*`], { max: 2 })).body.items.map((j) => j.type).sort();
    equal(got, [a.type, b.type]);
});

claim('what a worker says of its progress is given to the next who gets the step', async (rig) => {
    const { code, type } = await publish(rig, { retry: { maxAttempts: 3, delay: '1ms' } });
    await rig.begin(code, { input: { n: 1 } });
    const first = await claimOne(rig, type, { lease: '60s' });
    equal(first.progress, undefined);
    const beat = (more) => rig.api('POST', `/jobs/${first.id}/heartbeat`, { leaseToken: first.leaseToken, ...more });
    equal((await beat({ progress: { page: 3, 'имя': 'Ä' } })).status, 200);
    equal((await beat({})).status, 200, 'one without leaves what was said');
    refused(await beat({ progress: 'x'.repeat(65536) }), 422, 'invalid');
    refused(await rig.api('POST', `/jobs/${first.id}/heartbeat`, { leaseToken: 'x', progress: 1 }), 409, 'conflict');
    await rig.api('POST', `/jobs/${first.id}/fail`, { leaseToken: first.leaseToken, error: { code: 'down', message: 'm', class: 'transient' } });
    const second = await claimOne(rig, type);
    equal([second.attempt, second.progress], [2, { page: 3, 'имя': 'Ä' }]);
    await rig.api('POST', `/jobs/${second.id}/heartbeat`, { leaseToken: second.leaseToken, progress: 7 });
    await rig.api('POST', `/jobs/${second.id}/fail`, { leaseToken: second.leaseToken, error: { code: 'down', message: 'm', class: 'transient' } });
    const third = await claimOne(rig, type);
    equal([third.attempt, third.progress], [3, 7]);
    await rig.begin(code, { input: { n: 2 } });
    equal((await claimOne(rig, type)).progress, undefined, 'another execution begins anew');
});

/** A user of the role worker: {id, ask, close}. */
async function hire(rig, more = {}) {
    const made = await rig.api('POST', '/users', { name: `worker ${++count}`, role: 'worker', ...more });
    equal(made.status, 201, made.raw);
    const client = new Client(rig.client.url, made.body.token);
    return { ...made.body, ask: (path, body) => client.ask('POST', `/api/v1${path}`, body), close: () => client.close() };
}

claim('a worker with namespaces claims, keeps and answers jobs of these alone', async (rig) => {
    const space = `ns${++count}${rig.name.toLowerCase()}`;
    const [mine, other] = [await publish(rig, {}, `${space}.pay`), await publish(rig, {}, `${space}x.pay`)];
    const deep = await publish(rig, {}, `${space}.card.pay`);
    for (const { code } of [mine, other, deep]) await rig.begin(code, { input: { n: 1 } });
    const worker = await hire(rig, { namespaces: [space] });
    equal([worker.namespaces, (await rig.api('GET', `/users/${worker.id}`)).body.namespaces], [[space], [space]]);
    for (const type of [other.type, `${space}x.*`, 'work.*']) refused(await worker.ask('/jobs/claim', { types: [mine.type, type], wait: '0s' }), 403, 'forbidden', type);
    const got = (await worker.ask('/jobs/claim', { types: [`${space}.*`], wait: '5s' })).body.items;
    equal(got.map((job) => job.type).sort(), [deep.type, mine.type].sort());
    const foreign = await claimOne(rig, other.type, { lease: '60s' });
    const answer = { leaseToken: foreign.leaseToken };
    refused(await worker.ask(`/jobs/${foreign.id}/heartbeat`, answer), 404, 'not_found');
    refused(await worker.ask(`/jobs/${foreign.id}/complete`, { ...answer, output: 1 }), 404, 'not_found');
    refused(await worker.ask(`/jobs/${foreign.id}/fail`, { ...answer, error: { code: 'x', message: 'm', class: 'business' } }), 404, 'not_found');
    for (const job of got) {
        equal((await worker.ask(`/jobs/${job.id}/heartbeat`, { leaseToken: job.leaseToken })).status, 200);
        equal((await worker.ask(`/jobs/${job.id}/complete`, { leaseToken: job.leaseToken, output: 1 })).status, 200);
    }
    const open = await rig.api('PATCH', `/users/${worker.id}`, { namespaces: [] });
    equal([open.status, open.body.namespaces], [200, []]);
    equal((await worker.ask('/jobs/claim', { types: [other.type], wait: '0s' })).status, 200, 'without any it may do all');
    for (const namespaces of ['bank', ['a b'], ['bank.'], [''], [7], ['bank.*']]) refused(await rig.api('PATCH', `/users/${worker.id}`, { namespaces }), 422, 'invalid');
    worker.close();
});

claim('who may not do a job any more while it waits for one gets none', async (rig) => {
    const [narrowed, revoked] = [await publish(rig), await publish(rig)];
    const [ann, bob] = [await hire(rig), await hire(rig)];
    const waiting = [ann.ask('/jobs/claim', { types: [narrowed.type], wait: '30s' }), bob.ask('/jobs/claim', { types: [revoked.type], wait: '30s' })];
    await workersWait(rig, 2);
    equal((await rig.api('PATCH', `/users/${ann.id}`, { namespaces: ['bank'] })).status, 200);
    equal((await rig.api('DELETE', `/tokens/${bob.tokenId}`)).status, 204);
    for (const { code } of [narrowed, revoked]) await rig.begin(code, { input: { n: 1 } });
    for (const answer of await Promise.all(waiting)) equal([answer.status, answer.body.items], [200, []]);
    for (const { type } of [narrowed, revoked]) await claimOne(rig, type);
    ann.close();
    bob.close();
});

claim('a job that is given back goes to whoever waits for it, as the same attempt; a list shows progress', async (rig) => {
    const { code, type } = await publish(rig);
    const { id } = await rig.begin(code, { input: { n: 1 } });
    const first = await claimOne(rig, type);
    const back = { leaseToken: first.leaseToken };
    await rig.api('POST', `/jobs/${first.id}/heartbeat`, { ...back, progress: { page: 2 } });
    const listed = async () => (await rig.all(`/jobs?type=${type}`)).map((job) => [job.status, job.worker, job.attempt, job.progress]);
    equal(await listed(), [['leased', 'w1', 1, { page: 2 }]]);
    refused(await rig.api('POST', `/jobs/${first.id}/return`, { leaseToken: 'x' }), 409, 'conflict');
    const waiting = rig.server.client();
    const second = waiting.ask('POST', '/api/v1/jobs/claim', { types: [type], wait: '60s', worker: 'w2' });
    await workersWait(rig, 1);
    equal((await rig.api('POST', `/jobs/${first.id}/return`, back)).body, { id: first.id, status: 'ready' });
    const [job] = (await second).body.items;
    waiting.close();
    equal([job.id, job.attempt, job.executionId, job.progress], [first.id, 1, id, { page: 2 }]);
    for (const what of ['complete', 'heartbeat', 'return']) refused(await rig.api('POST', `/jobs/${first.id}/${what}`, back), 409, 'conflict');
    await rig.api('POST', `/jobs/${job.id}/return`, { leaseToken: job.leaseToken });
    equal(await listed(), [['ready', null, 1, { page: 2 }]]);
    const last = await claimOne(rig, type);
    equal((await rig.api('POST', `/jobs/${last.id}/complete`, { leaseToken: last.leaseToken, output: 5 })).status, 200);
    equal((await ended(rig, id)).context.steps.do.output, 5);
});

await run(async () => {});
