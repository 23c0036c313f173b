// An execution runs to its end with the procedures and functions that it began with, over HTTP,
// over kill -9 and on both stores; what begins later begins with what is published then.

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';

const number = [{ name: 'n', type: 'number' }];
const ok = (answer) => check(answer.status < 300, JSON.stringify(answer.body));

// inner is called by outer, base by rate: what a scenario reaches without naming it.
const inner = (text) => ({
    code: 'inner',
    input: [{ ...number[0], required: true }],
    commands: [{ type: 'compute.transform', data: { text, rated: '=fn.rate($.input.n)' } }],
});
const outer = {
    code: 'outer',
    input: [{ ...number[0], required: true }],
    commands: [{ type: 'flow.call', procedure: 'inner', input: { n: '$.input.n' }, as: 'got' }],
    result: '$.got',
};
const job = {
    code: 'job',
    steps: [
        { code: 'hold', procedure: { type: 'wait.signal', signalType: 'go' } },
        { code: 'work', procedure: 'outer', input: { n: '$.input.n' } },
    ],
    result: '$.steps.work.output',
};
const old = (n) => ({ text: 'one', rated: (n + 1) * 2 });
const fresh = (n) => ({ text: 'two', rated: (n + 100) * 2 });

async function publishProcedure(rig, definition) {
    ok(await rig.api('PUT', `/procedures/${definition.code}/draft`, definition));
    ok(await rig.api('POST', `/procedures/${definition.code}/publish`));
}

const saveFunction = async (rig, name, body) => ok(await rig.api('PUT', `/functions/${name}`, { params: number, body }));

async function finish(rig, id) {
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go' })).status, 202, 'signal');
    const end = await rig.api('GET', `/executions/${id}`);
    equal(end.body.status, 'completed', JSON.stringify(end.body));
    return end.body.result;
}

const ask = (rig, sql) => rig.sql(sql).map((line) => line.split('|'));
const pins = (rig, id) => ask(rig, `SELECT kind, code, version FROM scenario_run_snapshots
    WHERE execution_id = '${id}' ORDER BY kind, code`);
const snapshots = (rig) => Number(ask(rig, 'SELECT count(*) FROM snapshot')[0][0]);

const begun = {};

claim('what is reached is pinned, calls of calls included, and nothing else', async (rig) => {
    begun.first = (await rig.begin('job', { input: { n: 1 } })).id;
    equal(pins(rig, begun.first), [
        ['function', 'base', '1'], ['function', 'rate', '1'],
        ['procedure', 'inner', '1'], ['procedure', 'outer', '1'],
    ]);
    equal(ask(rig, `SELECT DISTINCT scenario_code, scenario_version FROM scenario_run_snapshots
        WHERE execution_id = '${begun.first}'`), [['job', '1']]);
});

claim('executions with equal pins share one snapshot', async (rig) => {
    const before = snapshots(rig);
    begun.second = (await rig.begin('job', { input: { n: 2 } })).id;
    begun.third = (await rig.begin('job', { input: { n: 3 } })).id;
    equal(snapshots(rig), before);
    equal(pins(rig, begun.second), pins(rig, begun.first));
});

claim('a program that names nothing elsewhere pins nothing', async (rig) => {
    const before = snapshots(rig);
    const { id } = await rig.begin('plain');
    equal(pins(rig, id), []);
    equal([ask(rig, `SELECT count(*) FROM execution WHERE id = '${id}' AND snapshot IS NULL`), snapshots(rig)],
        [[['1']], before]);
});

claim('what is published later is for those who start later, in memory and after kill -9', async (rig) => {
    await publishProcedure(rig, inner('two'));
    await saveFunction(rig, 'base', 'n + 100');
    begun.later = (await rig.begin('job', { input: { n: 1 } })).id;
    equal(pins(rig, begun.later), [
        ['function', 'base', '2'], ['function', 'rate', '1'],
        ['procedure', 'inner', '2'], ['procedure', 'outer', '1'],
    ]);
    equal(await finish(rig, begun.first), old(1), 'from memory');
    await rig.restart();
    equal(await finish(rig, begun.second), old(2), 'from the store');
    equal(await finish(rig, begun.later), fresh(1));
    const now = (await rig.begin('job', { input: { n: 5 } })).id;
    equal(await finish(rig, now), fresh(5));
});

claim('what was loaded with its pins does not lead new ones, nor the other way round', async (rig) => {
    await rig.restart();
    const now = (await rig.begin('job', { input: { n: 4 } })).id;
    equal(await finish(rig, begun.third), old(3));
    equal(await finish(rig, now), fresh(4));
});

claim('a revert and a new draft leave alone what runs', async (rig) => {
    const { id } = await rig.begin('job', { input: { n: 6 } });
    ok(await rig.api('POST', '/procedures/inner/revert'));
    ok(await rig.api('PUT', '/procedures/inner/draft', inner('draft')));
    ok(await rig.api('DELETE', '/procedures/inner/draft'));
    await rig.restart();
    equal(await finish(rig, id), fresh(6));
    const now = (await rig.begin('job', { input: { n: 6 } })).id;
    equal((await finish(rig, now)).text, 'one');
});

claim('a child pins for itself when it begins', async (rig) => {
    const { id } = await rig.begin('parent');
    const children = ask(rig, `SELECT id FROM execution WHERE parent_id = '${id}'`);
    equal(children.length, 1);
    equal(pins(rig, id), []);
    const pinned = pins(rig, children[0][0]);
    await publishProcedure(rig, inner('three'));
    await rig.restart();
    equal((await finish(rig, children[0][0])).text, 'one');
    equal(pins(rig, children[0][0]), pinned);
});

claim('a function that was deleted works on where it is pinned', async (rig) => {
    const usesIt = {
        code: 'uses_it',
        steps: [
            { code: 'hold', procedure: { type: 'wait.signal', signalType: 'go' } },
            { code: 'work', procedure: { type: 'compute.transform', data: '=fn.lone(1)' } },
        ],
    };
    await saveFunction(rig, 'lone', 'n + 1');
    await rig.publish(usesIt);
    const { id } = await rig.begin('uses_it');
    usesIt.steps[1].procedure.data = 'nothing';
    await rig.publish(usesIt);
    await saveFunction(rig, 'lone', 'n + 2');
    equal((await rig.api('DELETE', '/functions/lone')).status, 204);
    await rig.restart();
    equal(await finish(rig, id), 2);
});

claim('what was done is rolled back by the version that did it, with what that had pinned', async (rig) => {
    const undo = (text) => ({
        code: 'undo_it',
        input: [{ name: 'id', type: 'string', required: true }],
        commands: [{ type: 'record.create', object: 'undone', id: '$.input.id', data: { by: text } }],
    });
    const wait = { code: 'hold', procedure: { type: 'wait.signal', signalType: 'go' } };
    const work = { code: 'work', procedure: { type: 'log', message: 'done' }, rollback: { procedure: 'undo_it', input: { id: '=execution.id' } } };
    await publishProcedure(rig, undo('one'));
    await rig.publish({ code: 'moved', steps: [work, wait] });
    const { id } = await rig.begin('moved');
    await publishProcedure(rig, undo('two'));
    await rig.publish({ code: 'moved', steps: [wait] });
    equal((await rig.api('POST', `/executions/${id}/migrate`, { version: 2 })).status, 202, 'migrate');
    equal(ask(rig, `SELECT count(*) FROM execution WHERE id = '${id}' AND former_snapshots IS NOT NULL`), [['1']], 'in use');
    await rig.restart();
    equal((await rig.api('POST', `/executions/${id}/cancel`, {})).status, 202, 'cancel');
    const end = (await rig.api('GET', `/executions/${id}`)).body;
    equal([end.status, end.version, end.error.compensation], ['cancelled', 2, { compensated: ['work'], failed: [] }]);
    equal((await rig.api('GET', `/records/undone/${id}`)).body.by, 'one');
});

await run(async (rig) => {
    await saveFunction(rig, 'base', 'n + 1');
    await saveFunction(rig, 'rate', 'fn.base(n) * 2');
    await saveFunction(rig, 'unused', 'n');
    await publishProcedure(rig, inner('one'));
    await publishProcedure(rig, outer);
    await publishProcedure(rig, { ...outer, code: 'idle' });
    await rig.publish(job);
    await rig.publish({ code: 'plain', steps: [{ code: 'hold', procedure: { type: 'wait.signal', signalType: 'go' } }] });
    await rig.publish({ code: 'parent', steps: [{ code: 'child', procedure: { type: 'flow.start', code: 'job', input: { n: 1 }, wait: true } }] });
});
