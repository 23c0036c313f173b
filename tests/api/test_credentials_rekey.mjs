// Rotating the master key on both stores: all or nothing, whenever the server is killed.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { checkProgram } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';

const key = (rig) => readFileSync(join(rig.server.data, 'master.key'), 'utf8');
const codes = ['one', 'two', 'three'];

/** All credentials can be opened with the key in the file: the server starts and does not complain. */
async function isWhole(rig) {
    equal((await rig.all('/credentials')).filter((item) => item.filled).map((item) => item.code).sort(), [...codes].sort());
    check(!rig.server.log.includes('cannot be opened'), rig.server.log);
}

claim('rotation seals everything anew and replaces the file', async (rig) => {
    const before = key(rig);
    const done = await rig.api('POST', '/credentials/rekey');
    equal([done.status, done.body.credentials], [200, 3], JSON.stringify(done.body));
    check(key(rig) !== before, 'the file is the same');
    equal(readdirSync(rig.server.data).filter((name) => name.startsWith('master.key')), ['master.key']);
    await rig.restart();
    await isWhole(rig);
    const lines = (await rig.api('GET', '/audit?action=credential.rekey')).body.items;
    equal([lines.length, lines[0].details.credentials, lines[0].target], [1, 3, done.body.keyId]);
});

for (const [point, isNew] of [['rekey.prepared', false], ['writer.begun', false], ['writer.before_commit', false], ['writer.committed', true], ['rekey.adopting', true]])
    claim(`killed at ${point} it is all of it or nothing`, async (rig) => {
        const before = key(rig);
        await rig.server.stop();
        rig.server.program = checkProgram;
        await rig.start({ PAWL_CRASH_AT: `${point}:1` });
        const end = await rig.api('POST', '/credentials/rekey').catch(() => null);
        check(end === null || end.status !== 200, `acknowledged: ${JSON.stringify(end?.body)}`);
        await rig.server.ended;
        equal(rig.server.signal, 'SIGKILL');
        await rig.start();
        equal(key(rig) !== before, isNew, 'another key');
        await isWhole(rig);
        equal((await rig.api('POST', '/credentials/rekey')).body.credentials, 3);
        await rig.restart();
        await isWhole(rig);
    });

await run(async (rig) => {
    for (const code of codes)
        equal((await rig.api('PUT', `/credentials/${code}`, { type: 'api_key', base_url: 'https://erp.example', header_name: 'X-Key', header_value: `secret of ${code}` })).status, 201);
});
