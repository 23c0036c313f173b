// server.mjs - a server of a test's own: started, asked, killed, started again on the same folder.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';

import { equal } from './claims.mjs';
import { Client, request } from './client.mjs';
import { makeFolder, pawl } from './program.mjs';
import { until } from './wait.mjs';

const LOG_MAX = 1000000;

const running = new Set();
process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
});

export class Server {
    /**
     * `store` is a postgres:// address, or null for SQLite in the folder; `args` are further
     * arguments of `pawl serve`, `env` variables for every start. `beside` is another node of the
     * same installation, whose key and token this one gets.
     */
    constructor(data, { store = null, program = pawl, args = [], env = {}, beside = null } = {}) {
        if (beside) {
            mkdirSync(data, { recursive: true });
            for (const file of ['master.key', 'admin.token']) copyFileSync(join(beside.data, file), join(data, file));
        }
        this.data = data;
        this.store = store;
        this.program = program;
        this.args = args;
        this.env = env;
        this.agent = new http.Agent({ keepAlive: true });
        this.ca = undefined;
        this.child = null;
        this.log = '';
    }

    /** Start it, until it is ready. False when it ended before; then `code`, `signal` and `log` say how. */
    async start(environment = {}) {
        const listen = this.args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
        const store = this.store ? ['--store', this.store] : [];
        const child = spawn(this.program, ['serve', '--data', this.data, ...listen, ...store, ...this.args], {
            stdio: ['ignore', 'pipe', 'pipe'],
            env: { ...process.env, ...this.env, ...environment },
        });
        running.add(child);
        this.child = child;
        this.log = this.welcome = '';
        this.code = this.signal = null;
        child.stdout.on('data', (text) => (this.welcome += text));
        child.stderr.on('data', (text) => (this.log = (this.log + text).slice(-LOG_MAX)));
        this.ended = new Promise((done) => {
            child.on('close', (code, signal) => {
                running.delete(child);
                Object.assign(this, { code, signal });
                if (this.child === child) this.child = null;
                done(code);
            });
        });
        await until('the server says where it listens', () => !this.child || /data {2}.*\n/.test(this.welcome));
        if (!this.child) return false;
        this.url = this.welcome.match(/listens on (\S+)/)[1];
        this.token = readFileSync(join(this.data, 'admin.token'), 'utf8').trim();
        await until('the server is ready', async () => !this.child || this.url.startsWith('https:') || (await this.isReady()));
        return this.child !== null;
    }

    async isReady() {
        const client = this.client();
        const { status, body } = await client.ask('GET', '/readyz');
        client.close();
        return status === 200 || body?.status === 'paused';
    }

    isRunning() {
        return this.child !== null;
    }

    /** A connection of its own, by the administrator. */
    client() {
        return new Client(this.url, this.token);
    }

    async kill() {
        this.child?.kill('SIGKILL');
        await this.ended;
    }

    /** End it as an operator does. Answers the exit status. */
    async stop() {
        this.agent.destroy();
        this.child?.kill('SIGTERM');
        return this.ended;
    }

    /** With `token` null there is no Authorization header. */
    call(token, method, path, body, headers = {}) {
        const who = token === null ? {} : { authorization: `Bearer ${token}` };
        const agent = this.url.startsWith('https:') ? undefined : this.agent;
        return request(this.url + path, { method, body, headers: { ...who, ...headers }, agent, ca: this.ca });
    }

    /** A call below /api/v1 by whom the token belongs to. */
    api(token, method, path, body, headers) {
        return this.call(token, method, `/api/v1${path}`, body, headers);
    }

    /** A call by the administrator. */
    asAdmin(method, path, body, headers) {
        return this.api(this.token, method, path, body, headers);
    }

    /** All items of a list that an administrator sees, page by page. */
    async list(path) {
        const items = [];
        for (let cursor = ''; cursor !== null;) {
            const page = await this.asAdmin('GET', `${path}?limit=500${cursor && `&cursor=${cursor}`}`);
            items.push(...page.body.items);
            cursor = page.body.nextCursor;
        }
        return items;
    }

    /** Make a user; answers it, with its token. */
    async user(fields) {
        const answer = await this.asAdmin('POST', '/users', { name: 'Someone', role: 'viewer', ...fields });
        equal(answer.status, 201, answer.raw);
        return answer.body;
    }

    /** Save a definition and publish it; answers its version. */
    async publish(definition) {
        const path = `/${definition.nodes ? 'schemas' : definition.states ? 'machines' : 'scenarios'}/${definition.code}`;
        const saved = await this.asAdmin('PUT', `${path}/draft`, definition);
        equal([saved.status, saved.body.valid], [200, true], saved.raw);
        const answer = await this.asAdmin('POST', `${path}/publish`);
        equal(answer.status, 200, answer.raw);
        return answer.body.version;
    }

    /** How many sockets it has open. */
    socketCount() {
        const folder = `/proc/${this.child.pid}/fd`;
        return readdirSync(folder).filter((fd) => {
            try {
                return readlinkSync(`${folder}/${fd}`).startsWith('socket:');
            } catch {
                return false; // It was closed meanwhile.
            }
        }).length;
    }

    /** A figure of /proc/PID/status in MB: 'VmRSS' now, 'VmHWM' the most so far. */
    memoryMb(name = 'VmRSS') {
        const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
        return Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) / 1024;
    }
}

/** Start it, or fail with what it said. */
export async function started(server, environment) {
    if (!(await server.start(environment))) throw new Error(`the server did not start: ${server.code ?? server.signal} ${server.log}`);
    return server;
}

/** A server in a folder of its own, which has been started. */
export const startServer = (options) => started(new Server(makeFolder(), options));
