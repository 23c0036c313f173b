// What `pawl start` says to type next is taken when it is typed.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';

import { Skip, check, equal } from '../lib/claims.mjs';
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
    if (!process.env.PAWL_TEST_FULL) throw new Skip('in make test-full alone: the output was once seen cut');
    const said = execFileSync(pawl, ['start', 'asking', '--key', 'hint-1'], { encoding: 'utf8', env });
    check(said.includes('budget (integer, required when payload.approved)'), said);
    const typed = /Send it with: \S+ (signal .*)/.exec(said)[1];
    execFileSync('bash', ['-c', `'${pawl}' ${typed}`], { encoding: 'utf8', env, stdio: 'pipe' });
    const [x] = (await rig.api('GET', '/executions?key=hint-1')).body.items;
    equal(x.status, 'completed', said);
}, 'SQLite');

await run((rig) => rig.publish(asking));
