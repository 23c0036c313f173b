#!/usr/bin/env node
// mistakes.table: a mistake in a definition, and the lines that pawl validate must say about it, in
// order and whole. Each names the place; what is wrong with a step names the step; and somebody who
// has not read the documentation is told what to write instead.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { end, holds } from '../lib/claims.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';

const rows = JSON.parse(readFileSync('tests/newcomer/mistakes.table', 'utf8'));
const folder = makeFolder();

holds(rows.length >= 60, `there are ${rows.length} mistakes`);
for (const { mistake, file = 'x.json', text, says } of rows) {
    writeFileSync(join(folder, file), text);
    const { stderr } = spawnSync(pawl, ['validate', file], { cwd: folder, encoding: 'utf8' });
    const said = stderr.trim().split('\n');
    holds(JSON.stringify(said) === JSON.stringify(says.map((line) => `${file}:${line}`)),
        `${mistake}: wanted\n  ${says.join('\n  ')}\ngot\n  ${said.join('\n  ')}`);
    for (const line of said) {
        holds(/^x\.\w+:\d+:\d+:/.test(line), `${mistake}: no line and column in: ${line}`);
        holds(!/:\/steps\/\d+\/(?!code|id)/.test(line) || /: step \w+: /.test(line), `${mistake}: no step in: ${line}`);
    }
}
end();
