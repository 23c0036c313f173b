// server.mjs - a server of a test's own: started, killed, started again on the same folder.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from './client.mjs';

export const checkProgram = process.env.PAWL_CHECK ?? 'build/tests/pawl-check';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ask again until `question` answers something true; fails after `seconds`: on no machine by chance. */
export async function until(what, question, seconds = 180) {
    const end = Date.now() + seconds * 1000;
    for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
        const answer = await question();
        if (answer) return answer;
        if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
        await sleep(pause);
    }
}

export class Server {
    /** `store` is a postgres:// address, or null for SQLite in the folder. */
    constructor(data, store = null, program = checkProgram) {
        this.data = data;
        this.store = store;
        this.program = program;
        this.child = null;
        this.log = '';
    }

    /** Start it. Answers false when it ended before it was ready; then `code` and `signal` say how. */
    async start(environment = {}) {
        const args = ['serve', '--data', this.data, '--listen', '127.0.0.1:0'];
        if (this.store) args.push('--store', this.store);
        const child = spawn(this.program, args, {
            env: { ...process.env, ...environment },
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        let output = '';
        this.child = child;
        this.log = '';
        this.code = this.signal = null;
        child.stdout.on('data', (text) => (output += text));
        child.stderr.on('data', (text) => (this.log = (this.log + text).slice(-4000)));
        this.ended = new Promise((resolve) => {
            child.on('close', (code, signal) => {
                this.code = code;
                this.signal = signal;
                if (this.child === child) this.child = null;
                resolve();
            });
        });
        await until('the server says where it listens', () => {
            return !this.child || /listens on (http:\S+)\n/.test(output);
        });
        const found = /listens on (http:\S+)\n/.exec(output);
        if (!found) return false;
        this.url = found[1];
        this.token = readFileSync(join(this.data, 'admin.token'), 'utf8').trim();
        const client = this.client();
        await until('the server is ready', async () => {
            if (!this.child) return true;
            return (await client.ask('GET', '/readyz')).status === 200;
        });
        client.close();
        return this.child !== null;
    }

    isRunning() {
        return this.child !== null;
    }

    client() {
        return new Client(this.url, this.token);
    }

    async kill() {
        this.child?.kill('SIGKILL');
        await this.ended;
    }

    /** End it as an operator does. Answers the exit status. */
    async stop() {
        this.child?.kill('SIGTERM');
        await this.ended;
        return this.code;
    }
}
