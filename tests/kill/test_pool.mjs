// test_pool.mjs - PgBouncer between the nodes and PostgreSQL: sessions may be shared one after the
// other, and not transaction by transaction.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Skip, check, claim, end, equal } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { makeFolder } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';
import { needPostgres } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const PROGRAM = '/usr/sbin/pgbouncer';
const isRoot = process.geteuid() === 0;
const postgres = await Postgres.open();

function freePort() {
    return new Promise((done) => {
        const server = net.createServer().listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => done(port));
        });
    });
}

const answers = (port) => new Promise((done) => {
    const socket = net.connect(port, '127.0.0.1', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
});

/** A pool before the server of the tests. PgBouncer refuses to run as root. */
class Pool {
    async open(mode, size = 40) {
        if (!existsSync(PROGRAM)) throw new Skip('PgBouncer is not installed');
        const address = new URL(needPostgres(postgres).fresh().replace('postgres:', 'http:'));
        this.folder = mkdtempSync(join(tmpdir(), 'pawl-pool-'));
        this.port = await freePort();
        const file = join(this.folder, 'pgbouncer.ini');
        writeFileSync(join(this.folder, 'users'), '"pawl" ""\n');
        writeFileSync(file, `[databases]\n* = host=127.0.0.1 port=${address.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${this.port}\nunix_socket_dir =\nauth_type = trust\nauth_file = ${this.folder}/users\npool_mode = ${mode}\ndefault_pool_size = ${size}\nmax_client_conn = 200\n`);
        chmodSync(this.folder, 0o755);
        if (isRoot) execFileSync('chown', ['-R', 'postgres:', this.folder]);
        const [program, ...args] = [...(isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : []), PROGRAM, file];
        this.child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
        this.log = '';
        this.child.stderr.on('data', (text) => (this.log += text));
        process.on('exit', () => this.child.kill('SIGKILL'));
        await until('the pool listens', async () => {
            check(this.child.exitCode === null, this.log);
            return answers(this.port);
        });
        this.store = `postgres://pawl@127.0.0.1:${this.port}${address.pathname}`;
        return this;
    }

    close() {
        this.child.kill('SIGKILL');
        rmSync(this.folder, { recursive: true, force: true });
    }
}

const database = () => postgres.database;

for (const mode of ['transaction', 'statement'])
    await claim(`PostgreSQL: a pool that lends sessions for a ${mode} is refused at the start, with what to do`, async () => {
        const pool = await new Pool().open(mode);
        const node = new Server(join(makeFolder(), 'data'), { store: pool.store });
        check(!(await node.start()), 'it started');
        check(node.code === 1 && node.log.includes('pool_mode = session'), `${node.code} ${node.log}`);
        equal(postgres.ask("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace", database()).trim(), '0', 'tables');
        pool.close();
    });

await claim('PostgreSQL: through a pool that lends whole sessions two nodes work and hear each other', async () => {
    const pool = await new Pool().open('session');
    const folder = makeFolder();
    const a = await started(new Server(join(folder, 'a'), { store: pool.store }));
    const b = await started(new Server(join(folder, 'b'), { store: pool.store, beside: a }));
    const spread = () => postgres.ask('SELECT count(*) FROM shards GROUP BY epoch', database()).trim().split('\n').join();
    await until('shards are spread', () => spread() === '128,128');
    await a.publish({ code: 'waits', name: 'waits', steps: [{ code: 'w', procedure: { type: 'wait.signal', signalType: 'go' } }, { code: 's', procedure: { type: 'wait.timer', duration: '1ms' } }] });
    for (let i = 0; i < 20; i++) {
        const { body } = await a.asAdmin('POST', '/executions', { code: 'waits', key: `k${i}` });
        const ended = a.asAdmin('GET', `/executions/${body.id}?wait=20s`);
        equal((await b.asAdmin('POST', `/executions/${body.id}/signal`, { type: 'go' })).status, 202);
        await ended;
        await until('it has ended', async () => (await b.asAdmin('GET', `/executions/${body.id}`)).body.status === 'completed');
    }
    for (const node of [a, b]) equal(await node.stop(), 0, node.log);
    check(!/WARN|ERROR/.test(a.log + b.log), a.log + b.log);
    pool.close();
});

end();
