// A server that was started with --paused shows everything and moves nothing; on both stores.
import http from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until } from '../lib/wait.mjs';

const calls = [];
const service = http.createServer((request, answer) => {
    calls.push(request.url);
    answer.end('{}');
});
await new Promise((done) => service.listen(0, '127.0.0.1', done));
service.unref();

claim('what is due stands still until the server is started without the option', async (rig) => {
    const path = `/called-${rig.store ? 'postgres' : 'sqlite'}`;
    const called = () => calls.filter((url) => url === path).length;
    await rig.publish({ code: 'later', name: 'later', steps: [
        { code: 'sleep', procedure: { type: 'wait.delay', duration: '1s' } },
        { code: 'call', procedure: { type: 'integration.http', method: 'POST', url: `http://127.0.0.1:${service.address().port}${path}` } },
    ] });
    await rig.publish({ code: 'ticks', name: 'ticks', triggers: [{ type: 'schedule', cron: '* * * * * *' }],
        steps: [{ code: 's', procedure: { type: 'compute.transform', data: { a: 1 } } }] });
    const { id } = await rig.begin('later');
    equal(await rig.server.stop(), 0, rig.server.log);
    rig.server.args = ['--paused'];
    await rig.start();
    const ready = await rig.client.ask('GET', '/readyz');
    equal([ready.status, ready.body.status], [503, 'paused']);
    check(rig.server.welcome.includes('nothing moves'), rig.server.welcome);
    const before = (await rig.all('/executions')).length;
    await sleep(2500); // what must not happen may be looked for after a while
    equal([(await rig.api('GET', `/executions/${id}`)).body.currentStep, called(), (await rig.all('/executions')).length], ['sleep', 0, before]);
    for (const [method, to, body] of [['POST', '/executions', { code: 'later' }], ['POST', `/executions/${id}/cancel`, {}],
        ['POST', `/executions/${id}/signal`, { type: 'x' }], ['POST', '/jobs/claim', { types: ['a.b'], worker: 'w' }]]) {
        const answer = await rig.api(method, to, body);
        refused(answer, 503, 'overloaded');
        check(answer.body.detail.includes('--paused'), answer.body.detail);
    }
    equal(await rig.server.stop(), 0, rig.server.log);
    rig.server.args = [];
    await rig.start();
    await until('it goes on', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
    equal(called(), 1);
});

await run(() => {});
