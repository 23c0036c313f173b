// postgres.mjs - a PostgreSQL server of a test's own, in a temporary folder on a free port.
//
// It refuses to run as root: then it runs as the user postgres.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = '/usr/lib/postgresql';
const WAIT_S = '300';
const isRoot = process.geteuid() === 0;

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

/** Start the server on a port that is free; somebody may take it between the look and the start. */
async function startSomewhere(p) {
    for (let tries = 0; ; tries++) {
        p.port = PORTS.first + Math.floor(Math.random() * PORTS.count);
        if (!(await isFree(p.port))) {
            if (tries < PORT_TRIES) continue;
            throw new Error('no free port for PostgreSQL');
        }
        try {
            return p.resume();
        } catch (error) {
            const log = readFileSync(`${p.folder}/log`, 'utf8');
            if (tries >= PORT_TRIES || !/Address already in use/.test(log))
                throw new Error(`PostgreSQL does not start: ${error.stderr}${log}`);
        }
    }
}

export class Postgres {
    /** Make a server and start it; null where PostgreSQL is not installed. */
    static async open() {
        const versions = existsSync(ROOT) ? readdirSync(ROOT).sort() : [];
        const programs = versions
            .map((version) => join(ROOT, version, 'bin'))
            .filter((folder) => existsSync(join(folder, 'initdb')));
        if (programs.length === 0) return null;
        const p = new Postgres();
        p.programs = programs.at(-1);
        p.folder = mkdtempSync(join(tmpdir(), 'pawl-postgres-'));
        p.count = 0;
        if (isRoot) execFileSync('chown', ['postgres:', p.folder]);
        const options = ['-U', 'pawl', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
        p.run('initdb', '-D', `${p.folder}/data`, ...options);
        await startSomewhere(p);
        return p;
    }

    line(program, args) {
        const command = [join(this.programs, program), ...args];
        return isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    }

    run(program, ...args) {
        const [file, ...rest] = this.line(program, args);
        return execFileSync(file, rest, { cwd: this.folder, stdio: 'pipe' });
    }

    resume() {
        const options = `-p ${this.port} -k ${this.folder} -h 127.0.0.1 -F`;
        const log = `${this.folder}/log`;
        this.run('pg_ctl', '-D', `${this.folder}/data`, '-l', log, '-w', '-t', WAIT_S, '-s', '-o', options, 'start');
    }

    isRunning() {
        try {
            this.run('pg_ctl', '-D', `${this.folder}/data`, 'status');
            return true;
        } catch {
            return false;
        }
    }

    /** Stop it at once, as in a crash. */
    stop() {
        this.run('pg_ctl', '-D', `${this.folder}/data`, '-w', '-t', WAIT_S, '-s', '-m', 'immediate', 'stop');
    }

    /** The arguments of psql for a database. */
    place(database) {
        return ['-h', '127.0.0.1', '-p', `${this.port}`, '-U', 'pawl', '-q', '-X', database];
    }

    /** Run a statement in the newest database. */
    ask(sql, database = `kill${this.count}`) {
        return this.run('psql', '-c', sql, ...this.place(database));
    }

    /** Hold an advisory lock of the newest database; what is answered lets it go. */
    async hold(lock) {
        const [file, ...rest] = this.line('psql', this.place(`kill${this.count}`));
        const child = spawn(file, rest, { cwd: this.folder, stdio: ['pipe', 'pipe', 'inherit'] });
        const ended = new Promise((done) => child.once('close', done));
        child.stdin.write(`SELECT pg_advisory_lock(${lock});\n\\echo held\n`);
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
        const name = `kill${++this.count}`;
        this.ask(`CREATE DATABASE ${name}`, 'postgres');
        return `postgres://pawl@127.0.0.1:${this.port}/${name}`;
    }

    close() {
        try {
            this.stop();
        } catch {
            // It may have been stopped by a test.
        }
        rmSync(this.folder, { recursive: true, force: true });
    }
}
