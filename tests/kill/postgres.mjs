// postgres.mjs - a PostgreSQL server of a test's own, in a temporary folder on a free port.
//
// It refuses to run as root: then it runs as the user postgres.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = '/usr/lib/postgresql';
const isRoot = process.geteuid() === 0;

function freePort() {
    return new Promise((resolve) => {
        const server = net.createServer().listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
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
        p.port = await freePort();
        p.count = 0;
        if (isRoot) execFileSync('chown', ['postgres:', p.folder]);
        p.run('initdb', '-D', `${p.folder}/data`, '-U', 'pawl', '-A', 'trust', '-E', 'UTF8', '--no-sync');
        p.resume();
        return p;
    }

    run(program, ...args) {
        const command = [join(this.programs, program), ...args];
        const line = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command;
        return execFileSync(line[0], line.slice(1), { cwd: this.folder, stdio: 'pipe' });
    }

    resume() {
        const options = `-p ${this.port} -k ${this.folder} -h 127.0.0.1 -F`;
        this.run('pg_ctl', '-D', `${this.folder}/data`, '-l', `${this.folder}/log`, '-w', '-s', '-o', options, 'start');
    }

    /** Stop it at once, as in a crash. */
    stop() {
        this.run('pg_ctl', '-D', `${this.folder}/data`, '-w', '-s', '-m', 'immediate', 'stop');
    }

    /** An empty database; its address. */
    fresh() {
        const name = `kill${++this.count}`;
        this.run('psql', '-h', '127.0.0.1', '-p', `${this.port}`, '-U', 'pawl', '-q', '-c', `CREATE DATABASE ${name}`, 'postgres');
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
