// rig.mjs - a server of a test's own, requests to it, and claims about the answers.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const pawl = resolve(process.env.PAWL ?? 'build/pawl');

export class Wrong extends Error {}

export function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual), w = JSON.stringify(wanted);
    if (a !== w) throw new Wrong(`${what}: ${a}, wanted ${w}`);
}

export function isProblem(answer, status, code) {
    equal(answer.status, status, `status of ${answer.raw}`);
    equal(answer.headers['content-type'], 'application/problem+json', 'content type');
    equal(answer.json.code, code, 'code');
}

/** Ask again until `question` answers something true; fails after `seconds`: on no machine by chance. */
export async function until(what, question, seconds = 180) {
    const end = Date.now() + seconds * 1000;
    for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
        const answer = await question();
        if (answer) return answer;
        if (Date.now() > end) throw new Wrong(`not within ${seconds} s: ${what}`);
        await new Promise((done) => setTimeout(done, pause));
    }
}

/** Run a program to its end: {status, out}. */
export function run(program, args, options = {}) {
    return new Promise((done) => {
        const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
        let out = '';
        child.stdout.on('data', (text) => (out += text));
        child.stderr.on('data', (text) => (out += text));
        child.on('close', (status) => done({ status, out }));
    });
}

export const makeFolder = () => mkdtempSync(join(tmpdir(), 'pawl-test-'));
export const dropFolder = (folder) => rmSync(folder, { recursive: true, force: true });

export class Server {
    constructor(data, args = [], env = {}) {
        this.data = data;
        this.args = args;
        this.env = env;
        this.agent = new http.Agent({ keepAlive: true });
        this.ca = undefined;
    }

    /** Start it; false when it ended before it listened, with `log` and `code`. */
    async start() {
        const listen = this.args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
        const args = ['serve', '--data', this.data, ...listen, ...this.args];
        this.child = spawn(pawl, args, {
            stdio: ['ignore', 'pipe', 'pipe'],
            env: { ...process.env, ...this.env },
        });
        let text = '';
        this.log = '';
        this.child.stderr.on('data', (part) => (this.log += part));
        this.ended = new Promise((done) => this.child.on('close', (code) => done((this.code = code))));
        this.child.stdout.on('data', (part) => (text += part));
        this.code = undefined;
        await until('the server listens', () => this.code !== undefined || text.includes('data  '));
        if (this.code !== undefined) return false;
        this.welcome = text;
        this.base = text.match(/listens on (\S+)/)[1];
        this.admin = readFileSync(join(this.data, 'admin.token'), 'utf8').trim();
        return true;
    }

    async kill() {
        this.child.kill('SIGKILL');
        await this.ended;
    }

    async stop() {
        this.agent.destroy();
        this.child.kill('SIGTERM');
        return this.ended;
    }

    /** With `token` null there is no Authorization header. */
    call(token, method, path, body, headers = {}) {
        const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
        const url = new URL(this.base + path);
        const client = url.protocol === 'https:' ? https : http;
        return new Promise((done, fail) => {
            const request = client.request(url, {
                method,
                agent: url.protocol === 'https:' ? undefined : this.agent,
                ca: this.ca,
                headers: {
                    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
                    ...(text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) }),
                    ...headers,
                },
            }, (answer) => {
                const parts = [];
                // What goes on for ever is enough when it has begun.
                if (answer.headers['content-type']?.startsWith('text/event-stream')) {
                    request.destroy();
                    done({ status: answer.statusCode, headers: answer.headers, raw: '', json: null });
                    return;
                }
                answer.on('data', (part) => parts.push(part));
                answer.on('error', fail);
                answer.on('end', () => {
                    const raw = Buffer.concat(parts).toString();
                    let json = null;
                    try {
                        json = JSON.parse(raw);
                    } catch { /* not JSON */ }
                    done({ status: answer.statusCode, headers: answer.headers, raw, json });
                });
            });
            // A kept connection may have been closed while nobody looked; asking again changes nothing.
            request.on('error', (error) => {
                if (method !== 'GET' || !request.reusedSocket) return fail(error);
                this.call(token, method, path, body, headers).then(done, fail);
            });
            request.end(text);
        });
    }

    /** A figure of /proc/PID/status in MB: 'VmRSS' now, 'VmHWM' the most so far. */
    memoryMb(name = 'VmRSS') {
        const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
        return Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) / 1024;
    }

    /** A call below /api/v1 by whom the token belongs to. */
    api(token, method, path, body, headers) {
        return this.call(token, method, `/api/v1${path}`, body, headers);
    }

    /** A call by the administrator. */
    asAdmin(method, path, body, headers) {
        return this.api(this.admin, method, path, body, headers);
    }

    /** All items of a list that an administrator sees, page by page. */
    async list(path) {
        const items = [];
        for (let cursor = ''; cursor !== null;) {
            const page = await this.asAdmin('GET', `${path}?limit=500${cursor && `&cursor=${cursor}`}`);
            items.push(...page.json.items);
            cursor = page.json.nextCursor;
        }
        return items;
    }

    /** Make a user; answers it, with its token. */
    async user(fields) {
        const answer = await this.asAdmin('POST', '/users', { name: 'Someone', role: 'viewer', ...fields });
        equal(answer.status, 201, answer.raw);
        return answer.json;
    }

    async publish(definition) {
        const path = `/scenarios/${definition.code}`;
        equal((await this.asAdmin('PUT', `${path}/draft`, definition)).json.valid, true);
        const answer = await this.asAdmin('POST', `${path}/publish`);
        equal(answer.status, 200, answer.raw);
    }
}

/** Run claims one after the other and tell the result; ends the process. */
export class Claims {
    constructor() {
        this.passed = this.failed = this.skipped = 0;
    }

    async claim(name, check) {
        try {
            await check();
            this.passed++;
        } catch (error) {
            this.failed++;
            console.log(`failed: ${name}\n  ${error instanceof Wrong ? error.message : error.stack}`);
        }
    }

    skip(why) {
        this.skipped++;
        console.log(`skipped: ${why}`);
    }

    end() {
        const skipped = this.skipped > 0 ? `, ${this.skipped} skipped` : '';
        console.log(`${this.passed} passed, ${this.failed} failed${skipped}`);
        process.exit(this.failed === 0 ? 0 : 1);
    }
}
