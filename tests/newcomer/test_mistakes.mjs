#!/usr/bin/env node
// mistakes.table: a mistake in a definition, and the lines that pawl validate must say about it, in
// order and whole. Each names the place; what is wrong with a step names the step; and somebody who
// has not read the documentation is told what to write instead.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const pawl = resolve(process.env.PAWL ?? join(here, '../../build/pawl'));
const rows = JSON.parse(readFileSync(join(here, 'mistakes.table'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'pawl-mistakes-'));
let passed = 0;
let failed = 0;

function claim(ok, text) {
    if (ok) passed++;
    else {
        failed++;
        console.log(`FAILED ${text}`);
    }
}

claim(rows.length >= 60, `there are ${rows.length} mistakes`);
for (const { mistake, file = 'x.json', text, says } of rows) {
    writeFileSync(join(folder, file), text);
    const { stderr } = spawnSync(pawl, ['validate', file], { cwd: folder, encoding: 'utf8' });
    const said = stderr.trim().split('\n');
    claim(JSON.stringify(said) === JSON.stringify(says.map((line) => `${file}:${line}`)),
        `${mistake}: wanted\n  ${says.join('\n  ')}\ngot\n  ${said.join('\n  ')}`);
    for (const line of said) {
        claim(/^x\.\w+:\d+:\d+:/.test(line), `${mistake}: no line and column in: ${line}`);
        claim(!/:\/steps\/\d+\/(?!code|id)/.test(line) || /: step \w+: /.test(line), `${mistake}: no step in: ${line}`);
    }
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
