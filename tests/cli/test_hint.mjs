// What `pawl start` says to type next is taken when it is typed.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';

const form = [
    { name: 'approved', type: 'boolean', required: true },
    { name: 'budget', type: 'integer', requiredWhen: 'payload.approved' },
    { name: 'day', type: 'date', requiredWhen: 'payload.?budget.orValue(0) > 0' },
    { name: 'kind', type: 'string', enum: ["it's", 'new'], requiredWhen: 'payload.approved' },
    { name: 'note', type: 'string' },
];
const asking = { code: 'asking', steps: [{ code: 'ask', procedure: { type: 'wait.signal', signalType: 'decision', form } }] };

claim('the command after a start has a payload that the form accepts, and names when a field is needed', async (rig) => {
    const env = { ...process.env, PAWL_URL: rig.server.url, PAWL_TOKEN: rig.server.token, PATH: `${dirname(pawl)}:${process.env.PATH}`, COLUMNS: '200' };
    const said = execFileSync(pawl, ['start', 'asking', '--key', 'hint-1'], { encoding: 'utf8', env });
    check(said.includes('budget (integer, required when payload.approved)'), said);
    const typed = /Send it with: \S+ (signal .*)/.exec(said)[1];
    execFileSync('bash', ['-c', `'${pawl}' ${typed}`], { encoding: 'utf8', env, stdio: 'pipe' });
    const [x] = (await rig.api('GET', '/executions?key=hint-1')).body.items;
    equal(x.status, 'completed', said);
}, 'SQLite');

// How long it waits is shown, and grows while the text is made: its end must be there whatever the moment.
claim('what a start says is whole at whatever moment it is said', (rig) => {
    const env = { ...process.env, PAWL_URL: rig.server.url, PAWL_TOKEN: rig.server.token };
    for (let i = 0; i < 40; i++) {
        const said = execFileSync(pawl, ['start', 'asking', '--key', `whole-${i}`], { encoding: 'utf8', env });
        check(said.endsWith(`"it'\\''s"}'\n`), said);
    }
}, 'SQLite');

await run((rig) => rig.publish(asking));
