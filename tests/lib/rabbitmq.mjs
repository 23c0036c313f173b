// rabbitmq.mjs - RabbitMQ for tests: a node of its own, in a temporary folder on free ports.
//
// All scripts of a run of scripts/run-tests share one node, whose address it hands over in
// PAWL_TEST_RABBITMQ; each has virtual hosts of its own there. A script that runs alone starts a
// node, and so does one that stops or restarts it (RabbitMq.own). What belongs to the system's
// node is not touched: name, folders, cookie and the port mapper are the node's own.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import amqp from 'amqplib';

import { sleep, until } from './wait.mjs';

const PROGRAMS = '/usr/lib/rabbitmq/bin';
const USER = 'pawl', PASSWORD = 'p@ss/word';
const PORTS = { first: 12000, count: 8000 };
const START_TRIES = 5, START_MS = 300000;

function isFree(port) {
    return new Promise((resolve) => {
        const server = net.createServer();
        server.once('error', () => resolve(false));
        server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
}

async function freePort() {
    for (;;) {
        const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
        if (await isFree(port)) return port;
    }
}

const open = new Set(); // nodes of this process
process.on('exit', () => {
    for (const node of open) node.close();
});

export class RabbitMq {
    constructor() {
        this.address = null; // amqp://USER:PASSWORD@HOST:PORT, without a virtual host
        this.folder = null;
        this.count = 0;
    }

    /** The node that is shared, or one of this process; null where RabbitMQ is not installed. */
    static async open() {
        const shared = process.env.PAWL_TEST_RABBITMQ;
        if (!shared) return RabbitMq.own();
        return Object.assign(new RabbitMq(), JSON.parse(readFileSync(shared, 'utf8')));
    }

    /** A node that is nobody else's; null where RabbitMQ is not installed. */
    static async own() {
        if (!existsSync(join(PROGRAMS, 'rabbitmq-server'))) return null;
        // Whoever is told to end takes its node along.
        for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
        const r = new RabbitMq();
        r.folder = mkdtempSync(join(tmpdir(), 'pawl-rabbitmq-'));
        open.add(r);
        for (let tries = 1; ; tries++) {
            try {
                await r.prepare();
                await r.start();
                break;
            } catch (error) {
                r.kill();
                if (tries >= START_TRIES) throw error;
            }
        }
        const { address, port, tlsPort, certificate, env } = Object.assign(r, { address: `amqp://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${r.port}` });
        r.description = join(r.folder, 'node.json'); // for those who share it
        writeFileSync(r.description, JSON.stringify({ address, port, tlsPort, certificate, env }));
        return r;
    }

    /** Ports, and what the node reads when it starts. */
    async prepare() {
        [this.port, this.tlsPort, this.dist, this.mapper] = [await freePort(), await freePort(), await freePort(), await freePort()];
        this.home = join(this.folder, `node-${this.port}`);
        mkdirSync(this.home, { recursive: true });
        this.certificate = join(this.home, 'cert.pem');
        execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost',
            '-addext', 'subjectAltName=DNS:localhost', '-keyout', join(this.home, 'key.pem'), '-out', this.certificate], { stdio: 'pipe' });
        const line = (name, value) => `${name} = ${value}\n`;
        writeFileSync(
            join(this.home, 'rabbitmq.conf'),
            line('listeners.tcp.1', `127.0.0.1:${this.port}`) + line('default_user', USER) + line('default_pass', PASSWORD) +
                line('listeners.ssl.1', `127.0.0.1:${this.tlsPort}`) + line('ssl_options.certfile', this.certificate) +
                line('ssl_options.cacertfile', this.certificate) + line('ssl_options.keyfile', join(this.home, 'key.pem')) +
                line('log.console', 'false') + line('disk_free_limit.absolute', '1MB'),
        );
        writeFileSync(join(this.home, 'plugins'), '[].\n');
        this.env = {
            PATH: process.env.PATH,
            LANG: 'C.UTF-8',
            HOME: this.home,
            RABBITMQ_NODENAME: `rabbit-${this.port}@localhost`,
            RABBITMQ_MNESIA_BASE: join(this.home, 'mnesia'),
            RABBITMQ_LOG_BASE: join(this.home, 'log'),
            RABBITMQ_CONFIG_FILE: join(this.home, 'rabbitmq.conf'),
            RABBITMQ_CONF_ENV_FILE: '/dev/null',
            RABBITMQ_ENABLED_PLUGINS_FILE: join(this.home, 'plugins'),
            RABBITMQ_PID_FILE: join(this.home, 'pid'),
            RABBITMQ_DIST_PORT: `${this.dist}`,
            ERL_EPMD_PORT: `${this.mapper}`,
            ERL_EPMD_ADDRESS: '127.0.0.1',
            RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +S 2:2',
        };
        // A port mapper that is started by the node would outlive it.
        this.epmd = spawn('epmd', ['-address', '127.0.0.1', '-port', `${this.mapper}`], { stdio: 'ignore', env: this.env });
        await until('the port mapper listens', async () => !(await isFree(this.mapper)));
    }

    /** Start it, until clients can connect. */
    async start() {
        const child = spawn(join(PROGRAMS, 'rabbitmq-server'), { stdio: ['ignore', 'pipe', 'pipe'], env: this.env, detached: true });
        let said = '', ended = false;
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
        this.child = child;
        this.ended = new Promise((done) => child.on('close', done));
        child.on('close', () => (ended = true));
        for (const end = Date.now() + START_MS; Date.now() < end && !ended; await sleep(100)) {
            try {
                const connection = await amqp.connect(`amqp://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.port}`);
                await connection.close();
                return;
            } catch {
                // It is not there yet.
            }
        }
        throw new Error(`RabbitMQ does not start: ${said}`);
    }

    /** A command of rabbitmqctl; what it prints. Each takes a second or two. */
    control(...args) {
        return execFileSync(join(PROGRAMS, 'rabbitmqctl'), ['-q', '-n', this.env.RABBITMQ_NODENAME, ...args], {
            env: this.env,
            stdio: 'pipe',
        }).toString();
    }

    /** End it as a crash would. */
    async stop() {
        this.kill();
        await this.ended;
    }

    kill() {
        if (this.child?.pid) {
            try {
                process.kill(-this.child.pid, 'SIGKILL');
            } catch {
                // It has ended.
            }
        }
    }

    /** An empty virtual host; its address. */
    fresh() {
        const name = `test-${process.pid}-${++this.count}`;
        this.control('eval', `rabbit_vhost:add(<<"${name}">>, <<"pawl">>), ` +
            `rabbit_auth_backend_internal:set_permissions(<<"${USER}">>, <<"${name}">>, <<".*">>, <<".*">>, <<".*">>, <<"pawl">>).`);
        return `${this.address}/${name}`;
    }

    /** A connection of the test to a virtual host of this node, by its address. */
    connect(url = this.address) {
        return amqp.connect(url);
    }

    /** End the node and remove its folder, if it is this process's own: the end of the process does it as well. */
    close() {
        if (!open.delete(this)) return;
        this.kill();
        this.epmd?.kill('SIGKILL');
        rmSync(this.folder, { recursive: true, force: true });
    }
}
