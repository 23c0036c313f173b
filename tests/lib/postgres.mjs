// postgres.mjs - PostgreSQL for tests, in a temporary folder on a free port.
//
// All scripts of a run of scripts/run-tests share one server, whose address it hands over in
// PAWL_TEST_POSTGRES; each has databases of its own there. A script that runs alone starts a
// server, and so does one that stops, stops answering or restarts it (Postgres.own).
//
// PostgreSQL refuses to run as root: then it runs as the user postgres.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = '/usr/lib/postgresql';
const WAIT_S = '300';
const USER = 'pawl';
const OUTPUT_MAX = 1 << 30;
const isRoot = process.geteuid() === 0;

// No test is about a machine that loses its power, so that nothing is synced.
const OPTIONS = '-F -c max_connections=400';

// Ports below those that the system gives away: while the server is stopped, no connection of
// anybody gets its port, so that it can start again.
const PORTS = { first: 20000, count: 10000 };
const PORT_TRIES = 200;

function isFree(port) {
    return new Promise((resolve) => {
        const server = net.createServer();
        server.once('error', () => resolve(false));
        server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
}

/** The folder of the newest programs, or null. */
function findPrograms() {
    const versions = existsSync(ROOT) ? readdirSync(ROOT).sort() : [];
    const folders = versions.map((version) => join(ROOT, version, 'bin'));
    return folders.filter((folder) => existsSync(join(folder, 'initdb'))).at(-1) ?? null;
}

const open = new Set(); // servers of this process
process.on('exit', () => {
    for (const server of open) server.close();
});

export class Postgres {
    constructor(programs, address) {
        this.programs = programs;
        this.address = address; // without a database
        this.folder = null;
        this.database = null; // the newest
        this.count = 0;
    }

    /** The server that is shared, or one of this process; null where PostgreSQL is not installed. */
    static async open() {
        const programs = findPrograms();
        const shared = process.env.PAWL_TEST_POSTGRES;
        return programs && shared ? new Postgres(programs, shared) : Postgres.own();
    }

    /** A server that is nobody else's; null where PostgreSQL is not installed. */
    static async own() {
        const programs = findPrograms();
        if (!programs) return null;
        const p = new Postgres(programs, null);
        p.folder = mkdtempSync(join(tmpdir(), 'pawl-postgres-'));
        open.add(p);
        if (isRoot) execFileSync('chown', ['postgres:', p.folder]);
        p.run('initdb', '-D', `${p.folder}/data`, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
        await p.startSomewhere();
        p.address = `postgres://${USER}@127.0.0.1:${p.port}`;
        return p;
    }

    /** A standby of this server, that follows it: `promote()` makes it the one that takes writes. */
    async standby() {
        const p = new Postgres(this.programs, null);
        p.folder = mkdtempSync(join(tmpdir(), 'pawl-postgres-'));
        open.add(p);
        if (isRoot) execFileSync('chown', ['postgres:', p.folder]);
        p.run('pg_basebackup', '-D', `${p.folder}/data`, '-d', `${this.address}/postgres?application_name=standby`, '-R', '-c', 'fast', '--no-sync');
        await p.startSomewhere();
        p.address = `postgres://${USER}@127.0.0.1:${p.port}`;
        return p;
    }

    promote() {
        this.control('promote');
    }

    /** Start it on a port that is free; somebody may take it between the look and the start. */
    async startSomewhere() {
        for (let tries = 0; ; tries++) {
            this.port = PORTS.first + Math.floor(Math.random() * PORTS.count);
            if (!(await isFree(this.port))) {
                if (tries < PORT_TRIES) continue;
                throw new Error('no free port for PostgreSQL');
            }
            try {
                return this.resume();
            } catch (error) {
                const log = readFileSync(`${this.folder}/log`, 'utf8');
                if (tries >= PORT_TRIES || !/Address already in use/.test(log))
                    throw new Error(`PostgreSQL does not start: ${error.stderr}${log}`);
            }
        }
    }

    line(program, args) {
        const command = [join(this.programs, program), ...args];
        return isRoot && this.folder ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    }

    run(program, ...args) {
        const [file, ...rest] = this.line(program, args);
        return execFileSync(file, rest, { cwd: this.folder ?? tmpdir(), stdio: 'pipe', maxBuffer: OUTPUT_MAX });
    }

    control(...args) {
        return this.run('pg_ctl', '-D', `${this.folder}/data`, '-w', '-t', WAIT_S, '-s', ...args);
    }

    resume() {
        this.control('-l', `${this.folder}/log`, '-o', `-p ${this.port} -k ${this.folder} -h 127.0.0.1 ${OPTIONS}`, 'start');
    }

    isRunning() {
        try {
            this.control('status');
            return true;
        } catch {
            return false;
        }
    }

    /** Stop it at once, as in a crash. */
    stop() {
        this.control('-m', 'immediate', 'stop');
    }

    /** Run a statement in the newest database; answers what psql prints: the values alone. */
    ask(sql, database = this.database) {
        return this.run('psql', '-q', '-X', '-At', '-c', sql, `${this.address}/${database}`).toString();
    }

    /** Hold an advisory lock of the newest database; what is answered lets it go. */
    hold(lock) {
        return this.holdWhat(`SELECT pg_advisory_lock(${lock})`);
    }

    /** Hold what a statement in a transaction locks in the newest database; what is answered lets it go. */
    async holdWhat(statement, database = this.database) {
        const [file, ...rest] = this.line('psql', ['-q', '-X', `${this.address}/${database}`]);
        const child = spawn(file, rest, { cwd: tmpdir(), stdio: ['pipe', 'pipe', 'inherit'] });
        const ended = new Promise((done) => child.once('close', done));
        child.stdin.write(`BEGIN;\n${statement};\n\\echo held\n`);
        await new Promise((done, fail) => {
            child.stdout.on('data', (text) => `${text}`.includes('held') && done());
            ended.then(() => fail(new Error('psql ended')));
        });
        return () => {
            child.stdin.end();
            return ended;
        };
    }

    /** Let none of its processes run; or let them. */
    signalAll(signal) {
        const [main] = readFileSync(`${this.folder}/data/postmaster.pid`, 'utf8').split('\n');
        const children = execFileSync('pgrep', ['-P', main], { encoding: 'utf8' }).trim().split('\n');
        for (const pid of [main, ...children]) process.kill(Number(pid), signal);
    }

    /** An empty database; its address. */
    fresh() {
        this.database = `test_${process.pid}_${++this.count}`;
        this.ask(`CREATE DATABASE ${this.database}`, 'postgres');
        return `${this.address}/${this.database}`;
    }

    /** Stop the server and remove its folder, if it is this process's own: the end of the process does it as well. */
    close() {
        if (!open.delete(this)) return;
        try {
            this.stop();
        } catch {
            // It may have been stopped by a test.
        }
        rmSync(this.folder, { recursive: true, force: true });
    }
}
