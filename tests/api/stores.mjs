// stores.mjs - claims against real servers, one after the other on SQLite and on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Postgres } from '../kill/postgres.mjs';
import { Server } from '../kill/server.mjs';

export const pawl = resolve(process.env.PAWL ?? 'build/pawl');

class Wrong extends Error {}

export function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual);
    const w = JSON.stringify(wanted);
    if (a !== w) throw new Wrong(`${what}: ${a}, wanted ${w}`);
}

export function check(ok, what) {
    if (!ok) throw new Wrong(what);
}

/** The answer is a problem with this status and code; answers it. */
export function refused(answer, status, code) {
    equal([answer.status, answer.body?.code], [status, code], `status of ${JSON.stringify(answer.body)}`);
    equal(answer.headers['content-type'], 'application/problem+json');
    return answer.body;
}

const claims = [];
export const claim = (name, run, only = null) => claims.push({ name, run, only });

/** A server in a folder of its own, with short words for what tests ask of it. */
export class Rig {
    constructor(folder, store, program = pawl) {
        this.folder = folder;
        this.store = store;
        this.server = new Server(join(folder, 'data'), store, program);
    }

    async start(environment = {}) {
        if (!(await this.server.start(environment))) throw new Error(`no server: ${this.server.log}`);
        this.client?.close();
        this.client = this.server.client();
    }

    async restart(environment = {}) {
        await this.server.kill();
        await this.start(environment);
    }

    api(method, path, body, headers) {
        return this.client.ask(method, `/api/v1${path}`, body, headers);
    }

    async publish(definition) {
        const saved = await this.api('PUT', `/scenarios/${definition.code}/draft`, definition);
        equal(saved.status, 200, JSON.stringify(saved.body));
        const answer = await this.api('POST', `/scenarios/${definition.code}/publish`);
        equal(answer.status, 200, JSON.stringify(answer.body));
    }

    async begin(code, options = {}) {
        const answer = await this.api('POST', '/executions', { code, ...options });
        equal(answer.status, 201, JSON.stringify(answer.body));
        return answer.body;
    }

    /** All items of a list, page by page. */
    async all(path, limit = 7) {
        const items = [];
        let cursor = null;
        do {
            const at = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
            const page = await this.api('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${at}`);
            equal(page.status, 200, JSON.stringify(page.body));
            check(page.body.items.length <= limit, 'a page is not larger than its limit');
            items.push(...page.body.items);
            cursor = page.body.nextCursor;
        } while (cursor);
        return items;
    }

    async close() {
        this.client?.close();
        const code = await this.server.stop();
        rmSync(this.folder, { recursive: true, force: true });
        equal(code, 0, 'exit status');
    }
}

/** Run the claims on both stores, each store with one server; `program` is another one than that of users. */
export async function run(prepare, program = pawl) {
    const postgres = await Postgres.open();
    let passed = 0;
    let failed = 0;
    const stores = [['SQLite', null], ...(postgres ? [['PostgreSQL', postgres.fresh()]] : [])];
    for (const [name, url] of stores) {
        const rig = new Rig(mkdtempSync(join(tmpdir(), 'pawl-rig-')), url, program);
        rig.name = name;
        rig.postgres = postgres;
        await rig.start();
        await prepare(rig);
        for (const { name: text, run: test, only } of claims) {
            if (only && only !== name) continue;
            try {
                const began = Date.now();
                await test(rig);
                passed++;
                if (process.env.TIMES) console.log(`${Date.now() - began} ms ${name}: ${text}`);
            } catch (error) {
                failed++;
                console.log(`FAILED ${name}: ${text}\n  ${error instanceof Wrong ? error.message : error.stack}`);
            }
        }
        await rig.close();
    }
    postgres?.close();
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed === 0 ? 0 : 1);
}
