// program.mjs - the programs under test, scratch folders, and other programs that are run to their end.
//
// Importing it makes the root of the tree the current folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '../..'));

/** The program that users have. */
export const pawl = resolve(process.env.PAWL ?? 'build/pawl');

/** The same with slow assertions, crash points and a clock that tests move. */
export const checkProgram = resolve(process.env.PAWL_CHECK ?? 'build/tests/pawl-check');

const folders = [];
process.on('exit', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder that goes with the process. */
export function makeFolder() {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-test-'));
    folders.push(folder);
    return folder;
}

/** Run a program to its end: {status, out}, what it printed on both outputs together. */
export function execute(program, args, options = {}) {
    return new Promise((done) => {
        const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
        let out = '';
        child.stdout.on('data', (text) => (out += text));
        child.stderr.on('data', (text) => (out += text));
        child.on('close', (status) => done({ status, out }));
    });
}
