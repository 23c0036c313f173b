// test_russian.mjs - claims about scripts/check-russian: no message of the server is without its Russian.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'pawl-russian-'));
let passed = 0, failed = 0;

const check = (root) => spawnSync('scripts/check-russian', [root], { encoding: 'utf8' });

function claim(name, work) {
    try {
        work();
        passed++;
    } catch (error) {
        failed++;
        console.log(`failed: ${name}: ${error.message}`);
    }
}

claim('test_russian__every_message_has_its_row', () => {
    const done = check('.');
    if (done.status !== 0) throw new Error(done.stdout);
});

claim('test_russian__a_message_without_a_row_is_found', () => {
    for (const path of ['src', 'scripts/check-russian.json']) cpSync(path, join(folder, path), { recursive: true });
    if (check(folder).status !== 0) throw new Error('the copy differs');
    appendFileSync(join(folder, 'src/define/step.c'),
        '\nvoid step_new(struct compiler *c)\n{\n    compile_error(c, FINDING_BAD_VALUE, "the lorry \'%.*s\' is "\n                  "late by %zu days", 1, "x", (size_t)2);\n}\n');
    const done = check(folder);
    if (done.status !== 1) throw new Error('it was not found');
    if (!done.stdout.includes("no Russian for \"the lorry '%s' is late by %d days\"")) throw new Error(done.stdout);
});

rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
