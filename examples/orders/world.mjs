// world.mjs - the server and both services in a folder of their own, on free ports of this machine.
import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const BUILD = process.env.BUILD ?? 'build';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ask again until `question` answers something true. */
export async function until(what, question, seconds = 120) {
    const end = Date.now() + seconds * 1000;
    for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
        const answer = await question();
        if (answer) return answer;
        if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
        await sleep(pause);
    }
}

/** A program that says where it listens. Once it has a port it keeps it, also when it was killed. */
class Program {
    constructor(file, args) {
        this.file = file;
        this.args = args;
        this.port = 0;
        this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    }

    async start(environment = {}) {
        this.log = '';
        const child = spawn(this.file, this.args(this.port), { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
        this.child = child;
        this.ended = new Promise((resolve) => child.on('close', (code) => {
            if (this.child === child) this.child = null;
            resolve(code);
        }));
        child.on('error', () => {});
        child.stderr.on('data', (text) => { this.log = (this.log + text).slice(-4000); });
        const port = await new Promise((resolve, reject) => {
            let text = '';
            child.stdout.on('data', (part) => {
                text += part;
                const found = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
                if (found) resolve(Number(found[1]));
            });
            this.ended.then((code) => reject(new Error(`${this.file} ended with ${code}: ${this.log}`)));
        });
        this.port = port;
    }

    get url() {
        return `http://127.0.0.1:${this.port}`;
    }

    async end(signal) {
        this.child?.kill(signal);
        return this.ended;
    }

    /** {status, body}; status 0: no answer came, nobody knows what happened. */
    ask(method, path, body, headers = {}) {
        return new Promise((resolve) => {
            const text = body === undefined ? '' : JSON.stringify(body);
            const request = http.request(`${this.url}${path}`, {
                method, agent: this.agent, headers: { 'content-length': Buffer.byteLength(text), ...headers },
            }, (answer) => {
                let got = '';
                answer.setEncoding('utf8');
                answer.on('data', (part) => { got += part; });
                answer.on('close', () => {
                    if (!answer.complete) return resolve({ status: 0 });
                    try {
                        resolve({ status: answer.statusCode, body: got === '' ? null : JSON.parse(got) });
                    } catch {
                        resolve({ status: answer.statusCode, body: got });
                    }
                });
            });
            request.on('error', () => resolve({ status: 0 }));
            request.end(text);
        });
    }
}

const SECRET = 'what only both know';

/** Whoever is told of orders: keeps each message once, by its id, in the order in which they came. */
class Receiver {
    constructor() {
        this.seen = new Set();
        this.states = new Map();
        this.problems = new Map();
        this.forged = 0;
        this.repeated = 0;
        this.refuses = () => false;
        this.server = http.createServer((request, response) => this.take(request, response));
    }

    async open() {
        await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
        this.url = `http://127.0.0.1:${this.server.address().port}/`;
    }

    async take(request, response) {
        let body = '';
        for await (const part of request) body += part;
        const wanted = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
        if (request.headers['pawl-signature'] !== wanted) this.forged++;
        const id = request.headers['pawl-delivery'];
        const mood = this.refuses();
        if (mood === 'before') return response.writeHead(503).end();
        if (this.seen.has(id)) this.repeated++;
        else this.note(request.headers['pawl-event'], JSON.parse(body).payload);
        this.seen.add(id);
        return mood === 'after' ? request.socket.destroy() : response.writeHead(204).end();
    }

    note(event, { order, status }) {
        const where = event === 'OrderStatusChanged' ? this.states : this.problems;
        where.set(order, [...(where.get(order) ?? []), status ?? event]);
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }
}

export class World {
    /** `store`: a postgres:// address, or null for SQLite. */
    constructor({ store = null, pawl = process.env.PAWL ?? `${BUILD}/pawl` } = {}) {
        this.folder = mkdtempSync(join(tmpdir(), 'pawl-orders-'));
        const file = (name) => join(this.folder, name);
        const service = (name) => new Program(`${BUILD}/orders/${name}`, (port) => ['--data', file(`${name}.db`), '--port', String(port)]);
        this.receiver = new Receiver();
        this.inventory = service('inventory');
        this.payment = service('payment');
        this.engine = new Program(pawl, (port) => ['serve', '--data', file('data'), '--listen', `127.0.0.1:${port}`, ...(store ? ['--store', store] : [])]);
    }

    async open() {
        await Promise.all([this.receiver.open(), this.inventory.start(), this.payment.start(), this.engine.start()]);
        await this.ready();
        const { items } = JSON.parse(readFileSync(join(HERE, 'order_saga.json'), 'utf8'));
        for (const item of items)
            if (item.kind === 'config') item.value = this[item.name.replace('_url', '')].url;
        await this.must('POST', '/import', { items });
        await this.must('PUT', '/subscriptions/orders', { url: this.receiver.url, events: ['OrderStatusChanged', 'OrderRefundFailed'], secret: SECRET });
        await this.inventory.ask('PUT', '/stock/bolt', { count: 1000000 });
    }

    async ready() {
        this.token = readFileSync(join(this.folder, 'data', 'admin.token'), 'utf8').trim();
        await until('the server is ready', async () => (await this.engine.ask('GET', '/readyz')).status === 200);
    }

    /** kill -9, and start again. */
    async kill(name) {
        await this[name].end('SIGKILL');
        await this[name].start();
        if (name === 'engine') await this.ready();
    }

    async close() {
        const code = await this.engine.end('SIGTERM');
        await Promise.all([this.inventory.end('SIGTERM'), this.payment.end('SIGTERM')]);
        this.receiver.close();
        for (const name of ['engine', 'inventory', 'payment']) this[name].agent.destroy();
        rmSync(this.folder, { recursive: true, force: true });
        return code;
    }

    api(method, path, body, headers = {}) {
        return this.engine.ask(method, `/api/v1${path}`, body, { authorization: `Bearer ${this.token}`, ...headers });
    }

    /** The same until there is an answer: the server may be being killed. */
    async must(method, path, body, headers) {
        return until(`${method} ${path}`, async () => {
            const answer = await this.api(method, path, body, headers);
            if (answer.status === 0 || answer.status === 503) return null;
            if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
            return answer.body;
        });
    }

    /** Make a service fail: {service, order, action, fault, times?, status?, ms?}. */
    async fault({ service, ...how }) {
        await until('the switch is set', async () => (await this[service].ask('PUT', '/switches', how)).status === 200);
    }

    /** Place an order; a repeated request places it once. The id of its execution. */
    async place(order, more = {}) {
        const input = { order_id: order, customer: 'Ada', cents: 4200, items: [{ sku: 'bolt', count: 2 }], ...more };
        return (await this.must('POST', '/executions', { code: 'order_saga', input }, { 'Idempotency-Key': order })).id;
    }

    show(id) {
        return this.must('GET', `/executions/${id}`);
    }

    ended(id, seconds) {
        return until(`execution ${id} ends`, async () => {
            const x = await this.show(id);
            return ['completed', 'failed', 'cancelled'].includes(x.status) ? x : null;
        }, seconds);
    }

    record(order) {
        return this.must('GET', `/records/order/${order}`);
    }

    /** What others were told of an order, once that is so many states. */
    told(order, count) {
        return until(`the states of ${order} are told`, () => {
            const states = this.receiver.states.get(order) ?? [];
            return states.length >= count ? states : null;
        });
    }

    /** Ask the own storage of a service. */
    sql(service, text) {
        const rows = execFileSync('sqlite3', ['-cmd', '.timeout 60000', '-json', join(this.folder, `${service}.db`), text], { encoding: 'utf8', maxBuffer: 1 << 26 });
        return rows.trim() === '' ? [] : JSON.parse(rows);
    }
}
