// test_audit.mjs - every change that people make is in the audit log, on both stores.
import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const waits = { code: 'waits', steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }] };
const short = { code: 'short', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: { x: 1 } } }] };
const correlated = {
    code: 'correlated',
    steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'paid', correlation: '$.input.order' } }],
};
const parent = { code: 'parent', steps: [{ code: 'c', procedure: { type: 'flow.start', code: 'short', input: {} } }] };

const audit = async (rig, query = '') => {
    const answer = await rig.api('GET', `/audit?limit=500${query}`);
    equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.items;
};

claim('each kind of change leaves a line: who, when, what, to what', async (rig) => {
    const me = (await rig.api('GET', '/me')).body;
    const began = await rig.begin('waits', { key: 'A-1' });
    const done = [['execution.start', began.id, { code: 'waits', version: 1, key: 'A-1' }]];
    const change = async (status, action, target, details, ...request) => {
        const answer = await rig.api(...request);
        equal(answer.status, status, JSON.stringify(answer.body));
        done.push([action, target, details]);
        return answer.body;
    };
    await change(202, 'execution.signal', began.id, { type: 'other' }, 'POST', `/executions/${began.id}/signal`, { type: 'other', payload: { secret: 1 } });
    await change(202, 'execution.signal', began.id, { type: 'other' }, 'POST', '/signals', { type: 'other', key: 'A-1' });
    await change(202, 'execution.cancel', began.id, null, 'POST', `/executions/${began.id}/cancel`);
    await change(204, 'execution.delete', began.id, null, 'DELETE', `/executions/${began.id}`);
    await change(201, 'config.put', 'audited', null, 'PUT', '/config/audited', { value: 1 });
    await change(201, 'record.put', 'thing/one', null, 'PUT', '/records/thing/one', { a: 1 });
    const later = await rig.begin('short');
    done.push(['execution.start', later.id, { code: 'short', version: 1 }]);
    // The start of what was deleted has gone with it.
    const wanted = done.slice(1).reverse();
    const lines = (await audit(rig)).slice(0, wanted.length);
    equal(lines.map((l) => [l.action, l.target, l.details]), wanted);
    for (const line of lines) {
        equal(line.user, { id: me.id, name: me.name });
        check(/^\d{4}-\d\d-\d\dT/.test(line.at) && line.id.length > 0, JSON.stringify(line));
    }
});

claim('what was refused or repeated leaves none', async (rig) => {
    const { id } = await rig.begin('waits', { key: 'A-2' });
    const send = () => rig.api('POST', `/executions/${id}/signal`, { type: 'other', id: 's-1' });
    equal([(await send()).status, (await send()).status], [202, 202]);
    refused(await rig.api('POST', '/executions', { code: 'waits', key: 'A-2' }), 409, 'key_busy');
    equal((await audit(rig, `&target=${id}`)).map((l) => l.action), ['execution.signal', 'execution.start']);
});

claim('a signal by correlation leaves one line, whether someone waits for it or not', async (rig) => {
    const { id } = await rig.begin('correlated', { input: { order: 'O-1' } });
    for (const correlation of ['O-1', 'O-2']) {
        const sent = await rig.api('POST', '/signals', { type: 'paid', correlation });
        equal([sent.status, sent.body.executionId], [202, correlation === 'O-1' ? id : null], JSON.stringify(sent.body));
    }
    equal((await audit(rig)).slice(0, 2).map((l) => [l.action, l.target, l.details]), [
        ['execution.signal', null, { type: 'paid', correlation: 'O-2' }],
        ['execution.signal', null, { type: 'paid', correlation: 'O-1' }],
    ]);
});

claim('conditions choose starts as they choose the rest', async (rig) => {
    const made = (await rig.api('POST', '/users', { name: 'Olga', role: 'operator', org_id: '0192c0de-0000-7000-8000-00000000000a' })).body;
    const asOlga = { authorization: `Bearer ${made.token}` };
    const begun = await rig.api('POST', '/executions', { code: 'short' }, asOlga);
    equal(begun.status, 201);
    const starts = await audit(rig, '&action=execution.start');
    check(starts.length > 2 && starts.every((l) => l.action === 'execution.start'), 'by action');
    equal((await audit(rig, '&user=Olga')).map((l) => [l.action, l.target]), [['execution.start', begun.body.id]], 'by user');
    equal((await audit(rig, `&target=${begun.body.id}`)).length, 1, 'by target');
    equal((await audit(rig, `&object=${begun.body.id}`)).length, 1, 'by object, which is the same');
    equal(await audit(rig, `&target=${begun.body.id}&action=execution.cancel`), [], 'by both');
    equal(await audit(rig, `&target=${begun.body.id}&to=2020-01-01`), [], 'to');
    equal((await audit(rig, `&target=${begun.body.id}&from=2020-01-01`)).length, 1, 'from');
    equal(await audit(rig, `&target=${begun.body.id}&from=${encodeURIComponent(new Date(Date.now() + 3600000).toISOString())}`), [], 'from later');
    // An administrator of that organisation sees what is its own.
    const boss = (await rig.api('POST', '/users', { name: 'Boss', role: 'admin', org_id: made.org_id })).body;
    const own = await rig.api('GET', '/audit?action=execution.start', undefined, { authorization: `Bearer ${boss.token}` });
    equal(own.body.items.map((l) => l.target), [begun.body.id]);
});

claim('what a process starts is not a change of anyone', async (rig) => {
    const { id } = await rig.begin('parent');
    const starts = await audit(rig, '&action=execution.start');
    equal(starts[0].target, id);
    equal(starts.filter((l) => l.details.code === 'short' && l.at >= starts[0].at).length, 0);
});

claim('all lines come once and in order, however small the pages are', async (rig) => {
    const whole = await audit(rig);
    check(whole.some((l) => l.action === 'execution.start') && whole.some((l) => l.action !== 'execution.start'), 'both kinds');
    for (const limit of [1, 2, 7]) {
        const items = await rig.all('/audit', limit);
        equal(items.map((l) => l.id), whole.map((l) => l.id), `pages of ${limit}`);
    }
    equal(whole.map((l) => l.at), whole.map((l) => l.at).sort().reverse(), 'newest first');
    refused(await rig.api('GET', '/audit?cursor=1.2'), 400, 'bad_request');
});

claim('a line far behind many others is found', async (rig) => {
    const first = (await audit(rig, '&user=Olga'))[0];
    for (let i = 0; i < 1100; i += 50)
        await Promise.all(Array.from({ length: 50 }, () => rig.begin('short')));
    equal((await rig.all('/audit?user=Olga', 50)).map((l) => l.id), [first.id]);
    equal((await rig.all('/audit?action=execution.start', 500)).filter((l) => l.user.name === 'Olga').length, 1);
    const everything = (await rig.all('/audit', 500)).map((l) => l.id);
    check(everything.length > 1100 && new Set(everything).size === everything.length, 'each once');
    check(everything.includes(first.id), 'among all');
});

claim('lines are deleted when they are older than they are kept for, and not before', async (rig) => {
    for (let i = 0; i < 700; i += 50)
        await Promise.all(Array.from({ length: 50 }, (_, k) => rig.api('PUT', `/config/old${i + k}`, { value: 1 })));
    const old = (await rig.all('/audit?action=config.put', 500)).length;
    check(old >= 700, `${old} lines`);
    await rig.restart({ PAWL_KEEP_AUDIT: '1h' });
    equal((await rig.api('PUT', '/config/new', { value: 1 })).status, 201);
    equal((await rig.all('/audit?action=config.put', 500)).length, old + 1, 'they are young');
    await rig.restart({ PAWL_KEEP_AUDIT: '1ms' });
    await until('they are gone', async () => (await rig.all('/audit?action=config.put', 500)).length === 0);
    equal((await rig.api('PUT', '/config/later', { value: 1 })).status, 201);
    await until('what came later goes soon, too', async () => (await rig.all('/audit?action=config.put', 500)).length === 0, 30);
    equal((await rig.api('GET', '/config/new')).body.value, 1, 'what was done stays');
    await rig.restart();
});

await run(async (rig) => {
    for (const definition of [waits, short, parent, correlated]) await rig.publish(definition);
});
