// The example of each client's README, built as it says and run against a server.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { claim, end, equal, Skip } from '../lib/claims.mjs';
import { makeFolder } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { blocks } from '../docs/session.mjs';
import { buildWorker, names } from '../../clients/demo/languages.mjs';

const server = await startServer();
await server.publish({
    code: 'parcel', steps: [{ code: 'pack', procedure: 'shop.pack', input: { order: '$.input.order' }, retry: { maxAttempts: 1 } }],
    result: { box: '$.steps.pack.box', key: '$.steps.pack.key' },
});
const { token } = await server.user({ name: 'packer', role: 'worker', namespaces: ['shop'] });
const run = async (order) => (await server.asAdmin('POST', '/executions?wait=60s', { code: 'parcel', input: { order } })).body;

// One after the other: they ask for the same jobs.
for (const name of names) {
    await claim(`the example of clients/${name}/README.md does what it says`, async () => {
        const example = blocks(`clients/${name}/README.md`).find((block) => / file=worker\./.test(block.info));
        const source = join(makeFolder(), 'example');
        writeFileSync(source, `${example.lines.join('\n')}\n`);
        const { command, missing } = await buildWorker(name, source);
        if (missing) throw new Skip(`there is no ${missing}`);
        const worker = spawn(command[0], command.slice(1), { env: { ...process.env, PAWL_URL: server.url, PAWL_TOKEN: token }, stdio: 'inherit' });
        try {
            const x = await run(17);
            equal([x.status, x.result], ['completed', { box: 7, key: `${x.id}-pack` }]);
            const failed = await run(-1);
            equal([failed.status, failed.error.code, failed.error.class], ['failed', 'no_such_order', 'business']);
        } finally {
            worker.kill('SIGKILL');
        }
    });
}
await server.stop();
end();
