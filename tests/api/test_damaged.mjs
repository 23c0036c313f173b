// Rows that were damaged behind the server's back: what is stored of one execution ends neither the
// server nor another execution; the damaged one is parked with a dead letter. On both stores.
import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const steps = (code) => [{ code, procedure: { type: 'wait.signal', signalType: 'go' } }];
const waiting = { code: 'waiting', steps: steps('ask') };
const looping = { code: 'looping', steps: [{ code: 'l', loop: { for: '=[1, 2]', steps: steps('each') } }] };

// Each a column and what stands in it then; `code`: of which process.
const damages = [
    ['waiting', 'cursor', '7'],
    ['waiting', 'cursor', '{"step":"ask","phase":"wait","attempt":1,"visit":1,"startedAt":1,"remindAt":1,"remindEvery":1}'],
    ['waiting', 'cursor', '{"step":"ask","phase":"job","awaited":"child:x"}'],
    ['waiting', 'cursor', '{"step":"ask","phase":"undo"}'],
    ['waiting', 'context', '{"signals":[7]}'],
    ['waiting', 'context', '{"compensated":[[]],"givenUp":[{}]}'],
    ['waiting', 'waiting_for', '[]'],
    ['looping', 'cursor', '{"step":"each","phase":"wait","types":"go","in":[{"step":"l","block":4000000000,"visit":1,"index":0}]}'],
    ['looping', 'cursor', '{"step":"each","phase":"wait","types":{"a":1},"in":[{"step":"l","block":0,"visit":1,"index":9}]}'],
    ['waiting', 'scenario_code', 'x'.repeat(300)],
    ['waiting', 'snapshot', 'x'.repeat(300)],
    ['waiting', 'former_snapshots', `${'x'.repeat(300)} y`],
    ['waiting', 'status', 'gone'],
    ['waiting', 'waiting_kind', 'x'],
    ['waiting', 'kind', 'x'],
    ['waiting', 'trace', 'x'.repeat(3000)],
    ['waiting', 'trigger_chain', `${'x/99 '.repeat(300)}/ x`],
    ['waiting', 'created_by', '[7]'],
    ...['created_at', 'started_at', 'updated_at', 'deadline_at', 'wake_at', 'seq', 'row_version', 'checkpoint_seq', 'scenario_version', 'crash_count', 'format']
        .flatMap((column) => (['crash_count', 'format'].includes(column) ? ['-1', '2147483647'] : ['-9223372036854775808', column === 'row_version' ? '4611686018427387904' : '9223372036854775807']).map((number) => ['waiting', column, number])),
];

async function damage(rig, [code, column, text]) {
    const { id } = await rig.begin(code);
    await rig.server.kill();
    rig.sql(`UPDATE execution SET ${column} = '${text}' WHERE row = (SELECT max(row) FROM execution)`);
    await rig.start();
    return id;
}

for (const row of damages)
    claim(`${row.join(' ').slice(0, 120)}: the server goes on, and so do others`, async (rig) => {
        const id = await damage(rig, row);
        const sent = await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
        check(sent.status !== 0 && rig.server.isRunning(), `the server lives: ${rig.server.log.slice(-500)}`);
        const healthy = await rig.begin('waiting');
        equal((await rig.api('POST', `/executions/${healthy.id}/signal?wait=20s`, { type: 'go' })).body.status, 'completed');
        for (const path of [`/executions/${id}`, `/executions/${id}/steps`, '/executions?limit=500', '/dlq'])
            check((await rig.api('GET', path)).status !== 0 && rig.server.isRunning(), `GET ${path}: ${rig.server.log.slice(-300)}`);
        if (sent.status >= 500)
            await until('it is parked', async () => (await rig.api('GET', '/dlq?limit=500')).body.items.some((letter) => letter.executionId === id), 30);
    });

claim('a webhook whose trigger is not in its process is refused', async (rig) => {
    await rig.publish({ code: 'hooked', triggers: [{ type: 'webhook', path: 'hurt' }, { type: 'action', object: 'card', label: 'Act' }], steps: [] });
    await rig.api('PUT', '/records/card/1', { a: 1 });
    await rig.server.kill();
    rig.sql("UPDATE triggers SET position = position + 50 WHERE code = 'hooked'");
    await rig.start();
    equal((await rig.server.call(null, 'POST', '/hooks/hurt', {})).status, 500);
    equal((await rig.api('POST', '/records/card/1/actions/hooked', {})).status, 500);
    equal((await rig.api('GET', '/records/card/1/actions')).status !== 0 && rig.server.isRunning(), true);
});

claim('a job whose type is damaged is nobody\'s, and others go on', async (rig) => {
    await rig.publish({ code: 'working', steps: [{ code: 'do', procedure: 'hurt.work' }] });
    for (let i = 0; i < 2; i++) await rig.begin('working');
    await rig.server.kill();
    rig.sql(`UPDATE jobs SET type = '${'x'.repeat(600)}' WHERE id = (SELECT min(CAST(id AS text)) FROM jobs)${rig.store ? '::uuid' : ''}`);
    await rig.start();
    await until('the other one is claimed', async () => (await rig.api('POST', '/jobs/claim', { types: ['hurt.work'], wait: '1s' })).body.items.length === 1);
    for (const path of ['/jobs', '/workers', '/stats']) check((await rig.api('GET', path)).status === 200, `GET ${path}: ${rig.server.log.slice(-300)}`);
});

claim('subscriptions and credentials whose rows are damaged are shown without what they say', async (rig) => {
    const made = [
        await rig.api('PUT', '/subscriptions/hurt', { url: 'http://127.0.0.1:9/', events: ['Never'] }),
        await rig.api('PUT', '/credentials/hurt', { type: 'basic', base_url: 'https://erp.example/', username: 'pawl', password: 'pass word' }),
    ];
    check(made.every((answer) => answer.status === 201), made.map((answer) => answer.raw).join());
    await rig.server.kill();
    rig.sql("UPDATE definition SET definition = '7' WHERE code = 'hurt'");
    await rig.start();
    for (const path of ['/subscriptions', '/subscriptions/hurt', '/credentials', '/credentials/hurt', '/export'])
        check((await rig.api('GET', path)).status !== 0 && rig.server.isRunning(), `GET ${path} ends the server: ${rig.server.log.slice(-300)}`);
});

await run(async (rig) => {
    await rig.publish(waiting);
    await rig.publish(looping);
});
