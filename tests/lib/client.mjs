// client.mjs - requests to the API, and claims about its answers.
import http from 'node:http';
import https from 'node:https';

import { check, equal } from './claims.mjs';

// No request of these tests may take so long: a server that hangs is a failure, with a name.
const ANSWER_MS = 180000;

/**
 * Send a request: {status, headers, raw, body}, `body` being the JSON of the answer, or null.
 * A body that is no text is sent as JSON. Fails when no whole answer comes. Of a stream of
 * events only the beginning is waited for.
 *
 * Not fetch: it hides methods, headers and how a connection ends.
 */
export function request(url, { method = 'GET', body, headers = {}, agent, ca } = {}) {
    const isBytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const bytes = isBytes ? body : JSON.stringify(body);
    const { protocol } = new URL(url);
    const length = bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) };
    return new Promise((done, fail) => {
        const sent = (protocol === 'https:' ? https : http).request(url, { method, agent, ca, headers: { ...length, ...headers } });
        sent.on('response', (answer) => {
            const { statusCode: status, headers: said } = answer;
            if (said['content-type']?.startsWith('text/event-stream')) {
                sent.destroy();
                return done({ status, headers: said, raw: '', body: null });
            }
            const parts = [];
            answer.on('data', (part) => parts.push(part));
            answer.on('error', fail);
            answer.on('close', () => {
                if (!answer.complete) return fail(new Error(`half an answer: ${method} ${url}`));
                const raw = Buffer.concat(parts).toString();
                done({ status, headers: said, raw, body: readJson(raw) });
            });
        });
        // A connection that was kept may have been closed while nobody looked; asking again changes nothing.
        sent.on('error', (error) => {
            if (method !== 'GET' || !sent.reusedSocket) return fail(error);
            request(url, { method, body, headers, agent, ca }).then(done, fail);
        });
        sent.setTimeout(ANSWER_MS, () => {
            fail(Object.assign(new Error(`no answer within ${ANSWER_MS / 1000} s: ${method} ${url}`), { isLate: true }));
            sent.destroy();
        });
        sent.end(bytes);
    });
}

function readJson(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

/** One connection to a server, which is kept, and somebody who asks. */
export class Client {
    constructor(url, token) {
        this.url = url;
        this.token = token;
        this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    }

    /** As request(); status 0 means that no whole answer came, so that nobody knows whether it happened. */
    async ask(method, path, body, headers = {}) {
        try {
            const all = { authorization: `Bearer ${this.token}`, ...headers };
            return await request(new URL(path, this.url), { method, body, headers: all, agent: this.agent });
        } catch (error) {
            if (error.isLate) throw error;
            return { status: 0 };
        }
    }

    close() {
        this.agent.destroy();
    }
}

/** The answer is a problem with this status and code, and a detail that has `part`; answers its body. */
export function refused(answer, status, code, part = '') {
    const { body } = answer;
    equal([answer.status, body?.code], [status, code], `status and code of ${answer.raw}`);
    equal(answer.headers['content-type'], 'application/problem+json', 'content type');
    equal(body.status, status, 'status in the body');
    for (const name of ['type', 'title', 'detail', 'requestId']) equal(typeof body[name], 'string', name);
    check(Array.isArray(body.errors), `errors of ${answer.raw}`);
    check(body.detail.includes(part), `${answer.raw} lacks: ${part}`);
    return body;
}

/**
 * A time of the API in microseconds. As texts they do not compare: one that is on the
 * millisecond has three digits, and the one right after it six.
 */
export function microseconds(text) {
    const [, seconds, digits = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(text);
    return Date.parse(`${seconds}Z`) * 1000 + Number(digits.padEnd(6, '0').slice(0, 6));
}

/** Run `work` for every item, `width` at a time, each with a connection of its own. */
export async function forAll(server, items, work, width = 12) {
    const queue = [...items];
    const run = async () => {
        const client = server.client();
        for (let item; (item = queue.pop()) !== undefined; ) await work(client, item);
        client.close();
    };
    await Promise.all(Array.from({ length: Math.min(width, queue.length) }, run));
}
