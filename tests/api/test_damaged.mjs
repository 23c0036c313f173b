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
];

async function damage(rig, [code, column, text]) {
    const { id } = await rig.begin(code);
    await rig.server.kill();
    rig.sql(`UPDATE execution SET ${column} = '${text}' WHERE row = (SELECT max(row) FROM execution)`);
    await rig.start();
    return id;
}

for (const row of damages)
    claim(`${row.join(' ')}: the server goes on, and so do others`, async (rig) => {
        const id = await damage(rig, row);
        const sent = await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
        check(sent.status !== 0 && rig.server.isRunning(), `the server lives: ${rig.server.log.slice(-500)}`);
        const healthy = await rig.begin('waiting');
        equal((await rig.api('POST', `/executions/${healthy.id}/signal?wait=20s`, { type: 'go' })).body.status, 'completed');
        for (const path of [`/executions/${id}`, `/executions/${id}/steps`, '/executions?limit=500', '/dlq'])
            check((await rig.api('GET', path)).status !== 0 && rig.server.isRunning(), `GET ${path}`);
        if (sent.status >= 500)
            await until('it is parked', async () => (await rig.api('GET', '/dlq?limit=500')).body.items.some((letter) => letter.executionId === id), 30);
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
