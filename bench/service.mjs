// service.mjs - the service that calls and messages reach, in a process of its own.
import { spawn } from 'node:child_process';
import http from 'node:http';

import { OUT } from './kernel/server.mjs';

export class Service {
    static async start(slowMs = 0) {
        const s = new Service();
        s.child = spawn(`${OUT}/bench_service`, ['--slow-ms', String(slowMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
        process.on('exit', () => s.child.kill('SIGKILL'));
        s.port = await new Promise((resolve) => s.child.stdout.once('data', (text) => resolve(String(text).trim())));
        return s;
    }

    url(path) {
        return `http://127.0.0.1:${this.port}${path}`;
    }

    count() {
        return new Promise((resolve, reject) => http.get(this.url('/count'), { agent: false }, (answer) => {
            let text = '';
            answer.on('data', (part) => { text += part; });
            answer.on('end', () => resolve(JSON.parse(text)));
        }).on('error', reject));
    }

    stop() {
        this.child.kill();
    }
}

/** Calls a second that libcurl makes by itself, with as many in flight. */
export const curlAlone = async (run, service, inFlight) =>
    JSON.parse(await run(`${OUT}/bench_curl`, [service.port, String(inFlight), '2'])).perSecond;
