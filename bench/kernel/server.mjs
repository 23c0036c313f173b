// server.mjs - a server of the release build on a folder of its own, and what it costs.
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

export const PAWL = 'build/pawl';
export const OUT = 'build/bench';
const children = new Set();

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

process.on('exit', () => { for (const c of children) c.kill('SIGKILL'); });
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => process.exit(1));

/** An empty folder on the disk that holds the build. */
export const makeFolder = () => fs.mkdtempSync(path.join(OUT, 'data-'));
export const removeFolder = folder => fs.rmSync(folder, { recursive: true, force: true });

/** Run a program to its end; what it printed. */
export function run(program, args) {
    return new Promise((resolve, reject) => {
        const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        children.add(child);
        child.stdout.on('data', d => { text += d; });
        child.on('error', reject);
        child.on('exit', code => {
            children.delete(child);
            if (code === 0) resolve(text);
            else reject(new Error(`${path.basename(program)} ended with status ${code}`));
        });
    });
}

/** With PAWL_BENCH_POSTGRES=postgres://.../ every folder has a database of its own on that server. */
function storeOf(folder) {
    const server = process.env.PAWL_BENCH_POSTGRES;
    if (!server) return [];
    const name = path.basename(folder).toLowerCase().replace(/[^a-z0-9]/g, '_');
    const has = execFileSync('psql', ['-Atc', `SELECT 1 FROM pg_database WHERE datname = '${name}'`, `${server}postgres`]);
    if (String(has).trim() !== '1') execFileSync('psql', ['-qc', `CREATE DATABASE ${name}`, `${server}postgres`]);
    return ['--store', `${server}${name}`];
}

export class Server {
    /** Start it and wait until it is ready; readyMs says how long that took. */
    static async start(folder) {
        const s = new Server();
        s.folder = folder;
        const store = storeOf(folder);
        const began = process.hrtime.bigint();
        s.child = spawn(PAWL, ['serve', '--data', folder, '--listen', '127.0.0.1:0', ...store],
            { stdio: ['ignore', 'pipe', 'ignore'] });
        children.add(s.child);
        s.ended = new Promise(resolve => s.child.on('exit', code => {
            children.delete(s.child);
            resolve(code);
        }));
        s.port = await new Promise((resolve, reject) => {
            let text = '';
            s.child.stdout.on('data', d => {
                text += d;
                const found = /listens on http:\/\/[^:]*:(\d+)/.exec(text);
                if (found) resolve(found[1]);
            });
            s.ended.then(code => reject(new Error(`pawl serve ended with status ${code}`)));
        });
        s.agent = new http.Agent({ keepAlive: true });
        while ((await s.ask('GET', '/readyz')).status !== 200) await sleep(1);
        s.readyMs = Number(process.hrtime.bigint() - began) / 1e6;
        s.token = fs.readFileSync(path.join(folder, 'admin.token'), 'utf8').trim();
        return s;
    }

    async stop(signal = 'SIGTERM') {
        this.agent.destroy();
        this.child.kill(signal);
        await this.ended;
    }

    ask(method, where, body) {
        const text = body === undefined ? '' : JSON.stringify(body);
        const headers = { 'Content-Length': Buffer.byteLength(text) };
        if (this.token) headers.Authorization = `Bearer ${this.token}`;
        return new Promise((resolve, reject) => {
            const r = http.request({ host: '127.0.0.1', port: this.port, agent: this.agent,
                method, path: where, headers }, answer => {
                let got = '';
                answer.setEncoding('utf8');
                answer.on('data', d => { got += d; });
                answer.on('end', () => resolve({ status: answer.statusCode, text: got }));
            });
            r.on('error', reject);
            r.end(text);
        });
    }

    /** A call of the API that must succeed. */
    async call(method, where, body) {
        const { status, text } = await this.ask(method, `/api/v1${where}`, body);
        if (status >= 300) throw new Error(`${method} ${where}: ${status} ${text}`);
        return JSON.parse(text);
    }

    async publish(definition) {
        await this.call('PUT', `/scenarios/${definition.code}/draft`, definition);
        await this.call('POST', `/scenarios/${definition.code}/publish`, {});
    }

    /** Let bench_http send; options as it names them. */
    async load(options) {
        const args = ['--port', this.port, '--token', this.token];
        for (const [name, value] of Object.entries(options)) args.push(`--${name}`, String(value));
        const result = JSON.parse(await run(`${OUT}/bench_http`, args));
        if (result.refused || result.broken)
            console.log(`    ! ${result.refused} refused (HTTP ${result.refusedStatus}), ` +
                        `${result.broken} connections lost`);
        return result;
    }

    /** The same, with the CPU time the server needed for each request. */
    async loadWithCpu(options) {
        const before = this.cpuUs();
        const result = await this.load(options);
        result.cpuUs = (this.cpuUs() - before) / result.sent;
        return result;
    }

    /** CPU time of all threads until now. */
    cpuUs() {
        const proc = `/proc/${this.child.pid}`;
        let ns = 0;
        for (const task of fs.readdirSync(`${proc}/task`))
            ns += Number(fs.readFileSync(`${proc}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
        return ns / 1000;
    }

    /** What it has written until now, to files and sockets. */
    writtenKb() {
        const io = fs.readFileSync(`/proc/${this.child.pid}/io`, 'utf8');
        return Number(/wchar:\s+(\d+)/.exec(io)[1]) / 1024;
    }

    rssMb() {
        const status = fs.readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
        return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
    }

    /** Every execution that a list with this filter holds. */
    async list(filter) {
        const items = [];
        for (let cursor = ''; cursor !== null;) {
            const page = await this.call('GET',
                `/executions?limit=500&${filter}${cursor && `&cursor=${cursor}`}`);
            items.push(...page.items);
            cursor = page.nextCursor ?? null;
        }
        return items;
    }
}

/** Run `use` with a server on an empty folder. */
export async function withServer(use) {
    const folder = makeFolder();
    const server = await Server.start(folder);
    try {
        return await use(server);
    } finally {
        await server.stop('SIGKILL');
        removeFolder(folder);
    }
}

/** What SQLite alone writes, in executions a second: the newest one of `folder`, again and again. */
export async function ceiling(folder, batch, ms) {
    const to = makeFolder();
    try {
        return Number(await run(`${OUT}/bench_sqlite`,
            [`${folder}/pawl.db`, to, String(batch), String(ms)]));
    } finally {
        removeFolder(to);
    }
}

/** The size of the program without symbols, in MB. */
export function strippedMb() {
    const copy = `${OUT}/pawl-stripped`;
    execFileSync('strip', ['-o', copy, PAWL]);
    const size = fs.statSync(copy).size;
    fs.rmSync(copy);
    return size / 1e6;
}
