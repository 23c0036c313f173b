// What an answer over HTTP means to the step that asked, on both stores: what is read of its body, and which class a
// failure has.
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';

let reply = null; // what the service answers next: [status, headers, body]
let asked = 0;
const server = createServer((request, response) => {
    asked++;
    request.resume();
    request.on('end', () => {
        const answer = typeof reply === 'function' ? reply() : reply;
        if (answer === null) return request.socket.destroy();
        const [status, headers, body] = answer;
        response.writeHead(status, headers);
        response.end(body);
    });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const json = { 'content-type': 'application/json' };
let count = 0;

/** What becomes of a step that asks the service once, which answers so. */
async function ask(rig, answer, command = {}, step = { retry: { maxAttempts: 1 } }) {
    const code = `answers_${++count}`;
    reply = answer;
    asked = 0;
    await rig.publish({ code, onError: 'fail_fast', steps: [{ code: 'ask', procedure: { type: 'integration.http', url, ...command }, ...step }] });
    const x = await rig.api('POST', '/executions?wait=20s', { code });
    check(x.status < 300, JSON.stringify(x.body));
    return x.body;
}

const outcome = (x) => (x.status === 'completed' ? 'completed' : [x.error.code, x.error.class]);

claim('a body is read as JSON where its type says so, or nothing', async (rig) => {
    equal((await ask(rig, [200, json, '{"a":[1]}'])).result.body, { a: [1] });
    equal((await ask(rig, [200, {}, '{"a":[1]}'])).result.body, { a: [1] });
    equal((await ask(rig, [200, {}, 'plain'])).result.body, 'plain');
    equal((await ask(rig, [200, { 'content-type': 'text/plain' }, '{"a":1}'])).result.body, '{"a":1}');
    equal((await ask(rig, [200, json, '{"a":'])).result.body, null, 'its type says JSON, and it is none');
});

claim('a body with U+0000 or half a surrogate pair is not kept, and the status decides', async (rig) => {
    for (const body of ['{"a":"\\u0000"}', '{"\\u0000":1}', '"\\ud800"'])
        for (const headers of [json, {}]) {
            const { status_code: status, body: kept, size } = (await ask(rig, [200, headers, body])).result;
            equal([status, kept, size], [200, null, body.length], body);
        }
});

claim('a written class makes a failure of a status that is expected by default alone', async (rig) => {
    equal(outcome(await ask(rig, [202, json, '{}'], { method: 'POST', classes: { 202: 'indeterminate' } })), ['external_status', 'indeterminate']);
    equal(outcome(await ask(rig, [200, json, '{}'], { classes: { '2xx': 'business' } })), ['external_status', 'business']);
    equal(outcome(await ask(rig, [202, json, '{}'], { expect: [202], classes: { 202: 'indeterminate' } })), 'completed');
});

claim('a service says the class of its failure, with whatever status', async (rig) => {
    const said = (cls) => JSON.stringify({ error: { code: 'said', class: cls, message: 'no' } });
    equal(outcome(await ask(rig, [400, json, said('transient')])), ['external_status', 'transient']);
    equal(outcome(await ask(rig, [200, json, said('business')])), ['external_status', 'business']);
    equal(outcome(await ask(rig, [200, json, said('indeterminate')], { method: 'POST' })), ['external_status', 'indeterminate']);
    equal(outcome(await ask(rig, [200, json, said('indeterminate')], { expect: ['2xx'] })), 'completed');
    equal(outcome(await ask(rig, [200, json, said('mild')])), 'completed');
    equal(outcome(await ask(rig, [200, json, '{"error":{"code":"said"}}'])), 'completed');
});

claim('202 to a GET is success, also where the step reconciles', async (rig) => {
    const reconcile = { procedure: { type: 'compute.transform', data: { outcome: 'failed' } }, every: '1s', max: 1 };
    const step = { retry: { maxAttempts: 1 }, reconcile };
    equal(outcome(await ask(rig, [202, json, '{}'], { method: 'GET' }, step)), 'completed');
    check(outcome(await ask(rig, [202, json, '{}'], { method: 'POST' }, step)) !== 'completed', 'a POST is asked about');
});

claim('a request that may have arrived leaves once, also when a connection that was kept breaks', async (rig) => {
    for (const [method, body] of [['POST', { n: 1 }], ['POST', null], ['DELETE', null], ['PUT', 'text']]) {
        const code = `answers_${++count}`;
        const procedure = { type: 'integration.http', url, method, body };
        reply = () => (asked === 1 ? [200, json, '{}'] : null);
        asked = 0;
        await rig.publish({ code, onError: 'fail_fast', steps: [{ code: 'first', procedure }, { code: 'second', procedure, retry: { maxAttempts: 1 } }] });
        const x = (await rig.api('POST', '/executions?wait=20s', { code })).body;
        equal([x.error?.step, x.error?.code, x.error?.class], ['second', 'external_no_answer', 'indeterminate'], method);
        equal(asked, 2, `${method}: requests that arrived`);
    }
});

claim('nothing is asked for again before it is known what became of it', async (rig) => {
    const code = `answers_${++count}`;
    const procedure = { type: 'integration.http', url, method: 'POST' };
    const reconcile = { procedure: { type: 'compute.transform', data: { outcome: 'succeeded', output: 'paid' } }, every: '1s', max: 1 };
    reply = () => (asked === 1 ? [200, json, '{}'] : null);
    asked = 0;
    await rig.publish({ code, steps: [{ code: 'first', procedure }, { code: 'pay', procedure, reconcile }] });
    equal((await rig.api('POST', '/executions?wait=20s', { code })).body.result, 'paid');
    equal(asked, 2, 'requests that arrived');
});

claim('Retry-After may be a date', async (rig) => {
    const at = Date.now();
    const later = new Date(at + 4000).toUTCString();
    const x = await ask(rig, () => (asked === 1 ? [503, { ...json, 'retry-after': later }, '{}'] : [200, json, '{}']), {}, { retry: { maxAttempts: 2, delay: '10ms' } });
    equal(outcome(x), 'completed');
    check(Date.now() >= Date.parse(later), 'the second attempt left after the date');
});

await run(() => {});
