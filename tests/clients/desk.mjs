// desk.mjs - a server that only has jobs, and answers as a test says: lost, late, refused.
import http from 'node:http';

import { until } from '../lib/wait.mjs';

const POLL_MS = 300; // after which a claim is answered with nothing

export class Desk {
    constructor() {
        this.requests = []; // {path, key, body, at} in the order in which they came
        this.offered = []; // jobs for who asks
        this.rules = []; // {path, left, answer}: the first that fits is taken
        this.count = 0;
        this.polls = new Set();
        this.server = http.createServer((request, response) => this.take(request, response));
    }

    async open() {
        await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
        this.url = `http://127.0.0.1:${this.server.address().port}`;
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }

    /** Requests to a path that ends like this are answered so, `times` of them: {status, body, headers}, or 'lost'. */
    answer(path, answer, times = Infinity) {
        this.rules.push({ path, answer, left: times });
    }

    forget() {
        this.rules = [];
    }

    /** A job for whoever asks next; answers it. */
    offer(type, input) {
        const n = ++this.count;
        const job = {
            id: `job-${n}`, type, input, idempotencyKey: `key-${n}`, attempt: 1, executionId: `execution-${n}`, step: 'do',
            leaseToken: `token-${n}`, leaseUntil: '2020-01-01T00:00:00Z',
        };
        this.offered.push(job);
        for (const poll of [...this.polls]) poll();
        return job;
    }

    /** Requests about a job: its heartbeats, its answers. */
    about(job, what) {
        return this.requests.filter((r) => r.path === `/api/v1/jobs/${job.id}/${what}`);
    }

    /** The first request of a kind about a job, once there is one. */
    async heard(job, what) {
        return until(`${what} of ${job.id}`, () => this.about(job, what)[0]);
    }

    async take(request, response) {
        let text = '';
        for await (const chunk of request) text += chunk;
        const path = request.url;
        this.requests.push({ path, key: request.headers['idempotency-key'], token: request.headers.authorization, text, body: JSON.parse(text), at: Date.now() });
        const rule = this.rules.find((r) => path.endsWith(r.path) && r.left > 0);
        if (rule) {
            rule.left--;
            if (rule.answer === 'lost') return request.socket.destroy();
            return this.send(response, rule.answer);
        }
        if (!path.endsWith('/claim')) return this.send(response, { status: 200, body: {} });
        if (this.offered.length === 0) await this.wait();
        this.send(response, { status: 200, body: { items: this.offered.splice(0, JSON.parse(text).max) } });
    }

    wait() {
        return new Promise((done) => {
            const end = () => {
                this.polls.delete(end);
                clearTimeout(timer);
                done();
            };
            const timer = setTimeout(end, POLL_MS);
            this.polls.add(end);
        });
    }

    send(response, { status, body = {}, headers = {} }) {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(body));
    }
}
