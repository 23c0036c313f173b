// client.mjs - one keep-alive connection to the API.
import http from 'node:http';

// No request of these tests may take so long: a server that hangs is a failure, with a name.
const ANSWER_MS = 180000;

export class Client {
    constructor(url, token) {
        this.url = new URL(url);
        this.token = token;
        this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    }

    /**
     * Answers {status, headers, body}; status 0 means that no whole answer came, so that
     * nobody knows whether it happened.
     */
    ask(method, path, body, headers = {}) {
        return new Promise((resolve, reject) => {
            const text = body === undefined ? '' : Buffer.isBuffer(body) ? body : JSON.stringify(body);
            const request = http.request(
                {
                    agent: this.agent,
                    host: this.url.hostname,
                    port: this.url.port,
                    method,
                    path,
                    headers: {
                        authorization: `Bearer ${this.token}`,
                        'content-length': Buffer.byteLength(text),
                        ...headers,
                    },
                },
                (response) => {
                    let answer = '';
                    response.setEncoding('utf8');
                    response.on('data', (part) => (answer += part));
                    response.on('error', () => resolve({ status: 0 }));
                    response.on('close', () => {
                        if (!response.complete) return resolve({ status: 0 });
                        let value = null;
                        try {
                            value = answer === '' ? null : JSON.parse(answer);
                        } catch {
                            value = { unreadable: answer };
                        }
                        resolve({ status: response.statusCode, headers: response.headers, body: value });
                    });
                },
            );
            request.on('error', () => resolve({ status: 0 }));
            request.setTimeout(ANSWER_MS, () => {
                reject(new Error(`no answer within ${ANSWER_MS / 1000} s: ${method} ${path}`));
                request.destroy();
            });
            request.end(text);
        });
    }

    close() {
        this.agent.destroy();
    }
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
