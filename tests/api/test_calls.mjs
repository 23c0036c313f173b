// integration.http against real services on this machine, on both stores: what leaves, what an answer means, what a
// kill leaves behind.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { checkProgram } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until as eventually } from '../lib/wait.mjs';

const nested = (levels) => '['.repeat(levels) + ']'.repeat(levels);
const JSON_TYPE = { 'content-type': 'application/json' };

/** Bodies that cannot be kept. */
const oddBodies = {
    binary: { body: Buffer.from([0x25, 0xff, 0x00, 0xfe]), headers: { 'content-type': 'application/pdf' } },
    latin: { body: Buffer.from('Ung\xfcltig', 'latin1'), headers: { 'content-type': 'text/html; charset=iso-8859-1' } },
    zero: { body: 'a\0b', headers: { 'content-type': 'text/plain' } },
    escaped: { body: '{"a": "\\u0000"}', headers: JSON_TYPE },
    broken: { body: '{"a": ', headers: JSON_TYPE },
    deep: { body: nested(250), headers: JSON_TYPE },
    deeper: { body: nested(300), headers: JSON_TYPE },
    large: { body: 'x'.repeat((1 << 20) + 1) },
    growing: { body: '"'.repeat(1 << 20), headers: { 'content-type': 'text/plain' } }, // twice as long as JSON
    cut: { body: 'a part', headers: { 'content-type': 'text/plain' }, cut: true }, // of a refusal
    packed: { body: 'this is not gzip', headers: { 'content-encoding': 'gzip' } },
};

/** A service that remembers what it was asked and answers as the path says. */
class Service {
    constructor() {
        this.requests = [];
        this.held = [];
        this.connections = 0;
        this.server = createServer((request, response) => this.take(request, response));
        this.server.on('connection', () => this.connections++);
    }

    async open() {
        await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
        this.url = `http://127.0.0.1:${this.server.address().port}`;
    }

    close() {
        for (const response of this.held) response.destroy();
        this.server.closeAllConnections();
        this.server.close();
    }

    async take(request, response) {
        let body = '';
        for await (const part of request) body += part;
        const url = new URL(request.url, 'http://x');
        this.requests.push({ at: Date.now(), method: request.method, path: url.pathname, query: url.search, headers: request.headers, body });
        const json = (status, value, headers = {}) => {
            response.writeHead(status, { 'content-type': 'application/json', ...headers });
            response.end(JSON.stringify(value));
        };
        const [, word, rest] = url.pathname.split('/');
        if (word === 'echo') return json(200, { method: request.method, query: url.search, body, headers: request.headers });
        if (word === 'status') return json(Number(rest), { error: { code: 'said', message: `as asked: ${rest}` } });
        if (word === 'text') return response.end('plain text');
        if (word === 'binary') return response.end(Buffer.from([0xff, 0x00, 0xfe]));
        if (word === 'large') return response.end('x'.repeat(Number(rest)));
        if (word === 'odd') {
            const odd = oddBodies[rest], status = Number(url.searchParams.get('status'));
            const tries = this.requests.filter((r) => r.path + r.query === url.pathname + url.search).length;
            if (tries > 1 && status >= 400) return json(200, { tries });
            response.writeHead(status, odd.headers ?? {});
            response.write(odd.body);
            return odd.cut ? setTimeout(() => request.socket.destroy(), 20) : response.end();
        }
        if (word === 'redirect') return response.writeHead(302, { location: '/echo' }).end();
        if (word === 'elsewhere') return response.writeHead(302, { location: 'http://127.0.0.2:1/' }).end();
        if (word === 'reset') return request.socket.destroy();
        if (word === 'hold') return this.held.push(response);
        if (word === 'later') {
            const first = this.of(url.pathname).length === 1;
            return first ? json(429, {}, { 'retry-after': rest }) : json(200, {});
        }
        if (word === 'flaky') {
            const tries = this.requests.filter((r) => r.path === url.pathname).length;
            return tries < 3 ? json(503, {}) : json(200, { tries });
        }
        return json(404, {});
    }

    of(path) {
        return this.requests.filter((r) => r.path === path);
    }
}

const service = new Service();
await service.open();

const http = (path, more = {}) => ({ type: 'integration.http', url: `${service.url}${path}`, ...more });
const once = { retry: { maxAttempts: 1 } };
let count = 0;

/** Publish a process of these steps and run it to its end. */
async function execute(rig, steps, input = {}) {
    const code = `calls_${++count}`;
    await rig.publish({ code, input: [{ name: 'n', type: 'integer', default: 7 }], steps });
    const answer = await rig.api('POST', '/executions?wait=60s', { code, input });
    check(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
}

const call = (rig, command, more = once) => execute(rig, [{ code: 'ask', procedure: command, ...more }]);

claim('a request leaves as it was written, and its answer is the result', async (rig) => {
    const x = await call(rig, http('/echo/a', {
        method: 'POST', query: { 'a b': ['x', 'y&'] }, headers: { 'X-Own': 'yes' }, body: { n: '$.input.n' },
    }));
    equal(x.status, 'completed', JSON.stringify(x));
    const { status_code: status, headers, body } = x.context.steps.ask.output;
    equal([status, headers['content-type'], body.method, body.query, body.body], [200, 'application/json', 'POST', '?a%20b=x&a%20b=y%26', '{"n":7}']);
    equal([body.headers['x-own'], body.headers['content-type'], body.headers['idempotency-key']], ['yes', 'application/json', `${x.id}-ask`]);
});

claim('a URL that the query makes too long fails the step, live, in a dry-run and in a test', async (rig) => {
    const code = `calls_${++count}`;
    const definition = { code, input: [{ name: 'text', type: 'string' }], steps: [{ code: 'ask', procedure: http('/echo', { query: { q: '$.input.text' } }) }] };
    const input = { text: 'щ'.repeat(1500) }; // 6 bytes each when encoded
    await rig.publish(definition);
    const live = await rig.api('POST', '/executions?wait=60s', { code, input });
    equal([live.status, live.body.error.code], [201, 'validation_url'], JSON.stringify(live.body));
    const dry = await rig.api('POST', `/scenarios/${code}/dry-run`, { input });
    equal([dry.status, dry.body.error.code], [200, 'validation_url'], JSON.stringify(dry.body));
    const tested = await rig.api('POST', '/test', { definitions: [definition], tests: [{ name: 'long', scenario: code, input, expect: { status: 'failed', error: { code: 'validation_url' } } }] });
    equal([tested.status, tested.body.passed], [200, 1], JSON.stringify(tested.body));
});

claim('a value adds nothing to a URL but itself, live and in a dry-run', async (rig) => {
    const code = `calls_${++count}`;
    const input = { id: '7/items?all=1&x#y', base: `${service.url}/echo` };
    const ask = { type: 'integration.http', url: '{{ input.base }}/{{ input.id }}/end?q={{ input.id }}' };
    const fallback = { type: 'integration.http', method: 'DELETE', url: `${service.url}/echo/{{ input.id }}` };
    await rig.publish({
        code, input: [{ name: 'id', type: 'string' }, { name: 'base', type: 'string' }],
        steps: [
            { code: 'ask', procedure: ask, rollback: fallback },
            { code: 'raw', procedure: { type: 'integration.http', url: '{{ input.base }}/{{ url.raw(input.id) }}' } },
            { code: 'stop', procedure: { type: 'compute.fail', code: 'no', message: 'no' } },
        ],
    });
    const encoded = '7%2Fitems%3Fall%3D1%26x%23y', before = service.requests.length;
    const x = (await rig.api('POST', '/executions?wait=60s', { code, input })).body;
    equal([x.status, x.error?.code], ['failed', 'no'], JSON.stringify(x));
    equal(service.requests.slice(before).map((r) => [r.method, r.path, r.query]), [
        ['GET', `/echo/${encoded}/end`, `?q=${encoded}`], ['GET', '/echo/7/items', '?all=1&x'], ['DELETE', `/echo/${encoded}`, ''],
    ]);
    const dry = await rig.api('POST', `/scenarios/${code}/dry-run`, { input });
    check(JSON.stringify(dry.body).includes(`${service.url}/echo/${encoded}/end?q=${encoded}`), JSON.stringify(dry.body));
    for (const id of ['.', '..']) {
        const led = (await rig.api('POST', '/executions?wait=60s', { code, input: { ...input, id } })).body;
        equal([led.status, led.error?.code], ['failed', 'validation_url'], JSON.stringify(led.error));
    }
});

claim('a version that was published before values were encoded goes on without', async (rig) => {
    const code = `calls_${++count}`, procedure = `old_${count}`;
    const steps = (message) => [
        { code: 'ask', procedure: { type: 'integration.http', url: `${service.url}/echo/{{ input.id }}` } },
        { code: 'again', procedure, input: { id: '$.input.id' } }, { code: 'say', procedure: { type: 'log', message } },
    ];
    const input = [{ name: 'id', type: 'string' }];
    await rig.api('PUT', `/procedures/${procedure}/draft`, { code: procedure, input, commands: [{ type: 'integration.http', url: `${service.url}/echo/p/{{ input.id }}` }] });
    equal((await rig.api('POST', `/procedures/${procedure}/publish`)).status, 200);
    await rig.publish({ code, input, steps: steps('old') });
    rig.sql(`UPDATE definition SET facts = NULL WHERE code IN ('${code}', '${procedure}')`);
    await rig.restart();
    const paths = async () => {
        const before = service.requests.length;
        const x = (await rig.api('POST', '/executions?wait=60s', { code, input: { id: 'a/b' } })).body;
        equal(x.status, 'completed', JSON.stringify(x.error));
        return service.requests.slice(before).map((r) => r.path);
    };
    equal(await paths(), ['/echo/a/b', '/echo/p/a/b']);
    await rig.publish({ code, input, steps: steps('new') });
    equal(await paths(), ['/echo/a%2Fb', '/echo/p/a/b']);
});

claim('a text is sent and received as a text', async (rig) => {
    const x = await call(rig, [http('/echo/t', { method: 'PUT', body: 'hello', as: 'sent' }), http('/text', { result: ['$.response.body', '$.sent.body.body'] })]);
    equal(x.context.steps.ask.output, ['plain text', 'hello']);
});

claim('a call has nothing of the one before it on the same connection', async (rig) => {
    const before = service.requests.length;
    const ask = (method, more = {}) => http(`/echo/${method}`, { method, ...more });
    const x = await call(rig, [ask('POST', { body: { a: 1 }, headers: { 'X-One': '1' } }), ask('GET'), ask('HEAD'), ask('PUT', { body: 'text' }), ask('DELETE'), ask('GET')]);
    equal(x.status, 'completed', JSON.stringify(x.error));
    const sent = service.requests.slice(before);
    equal(sent.map((r) => [r.method, r.body, r.headers['content-type'] ?? null, r.headers['x-one'] ?? null]), [
        ['POST', '{"a":1}', 'application/json', '1'], ['GET', '', null, null], ['HEAD', '', null, null],
        ['PUT', 'text', 'text/plain; charset=utf-8', null], ['DELETE', '', null, null], ['GET', '', null, null],
    ]);
});

claim('another status fails with the words of the service', async (rig) => {
    const refused = await call(rig, http('/status/422'));
    equal([refused.error.code, refused.error.class], ['external_status', 'business']);
    check(refused.error.message.includes('as asked: 422'), refused.error.message);
});

claim('a success whose body cannot be kept is one, with a warning', async (rig) => {
    for (const [name, { body, headers = {} }] of Object.entries(oddBodies).filter(([, { cut }]) => !cut)) {
        const x = await call(rig, [
            http(`/odd/${name}`, { method: 'POST', query: { status: 201 }, as: 'sent' }),
            { type: 'compute.transform', data: { sent: '$.sent', warnings: '$.warnings' } },
        ]);
        equal(x.status, 'completed', `${name}: ${JSON.stringify(x.error)}`);
        const { sent, warnings } = x.context.steps.ask.output;
        const isLarge = body.length > 1 << 20;
        equal([sent.status_code, sent.body, sent.contentType], [201, null, headers['content-type'] ?? null], name);
        check(name === 'packed' ? sent.size >= 0 : sent.size >= Math.min(body.length, 1 << 20), `${name}: ${sent.size}`);
        equal(warnings.map((w) => w.code), [isLarge ? 'limit_answer_size' : 'external_bad_body'], name);
    }
});

claim('a refusal keeps its class, whatever its body is', async (rig) => {
    for (const name of Object.keys(oddBodies)) {
        const run = `${name}?status=503&rig=${rig.name}`;
        const again = await call(rig, http(`/odd/${run}`, { method: 'POST' }), { retry: { maxAttempts: 3, delay: '10ms' } });
        equal([again.status, again.context.steps.ask?.output?.body], ['completed', { tries: 2 }], `${name}: ${JSON.stringify(again.error)}`);
        const final = await call(rig, http(`/odd/${name}?status=422&rig=${rig.name}`, { method: 'POST' }));
        equal([final.error.code, final.error.class, /answered 422/.test(final.error.message)], ['external_status', 'business', true], name);
    }
    const undone = await execute(rig, [
        { code: 'pay', procedure: http('/echo', { method: 'POST' }), rollback: http(`/odd/latin?status=502&rig=${rig.name}`, { method: 'POST', retry: { delay: '10ms' } }) },
        { code: 'stop', procedure: { type: 'compute.fail', code: 'no', message: 'no' } },
    ]);
    equal(undone.error.compensation, { compensated: ['pay'], failed: [] }, 'a rollback is tried again');
});

claim('what cannot be reached is transient, what was sent and not answered is not known', async (rig) => {
    const nobody = await call(rig, { type: 'integration.http', url: 'http://127.0.0.1:1/' });
    equal([nobody.error.code, nobody.error.class], ['external_unreachable', 'transient']);
    const reset = await call(rig, http('/reset', { method: 'POST', body: {} }));
    equal([reset.error.code, reset.error.class], ['external_no_answer', 'indeterminate']);
    const slow = await call(rig, http('/hold/1', { timeout: '200ms' }));
    equal([slow.error.code, slow.error.class], ['timeout_call', 'indeterminate']);
});

claim('a transient answer is tried again with the same key', async (rig) => {
    const path = `/flaky/${rig.name}`;
    const x = await call(rig, http(path, { method: 'POST', body: {} }), { retry: { maxAttempts: 5, delay: '10ms' } });
    equal([x.status, x.context.steps.ask.output.body.tries], ['completed', 3]);
    equal(new Set(service.of(path).map((r) => r.headers['idempotency-key'])).size, 1);
});

claim('connections are kept: calls one after the other share one', async (rig) => {
    const other = new Service();
    await other.open();
    const x = await execute(rig, [{ code: 'many', loop: { for: '=[1, 2, 3, 4, 5, 6, 7, 8]', as: 'n', steps: [{ code: 'ask', procedure: { type: 'integration.http', url: `${other.url}/echo` } }] } }]);
    equal([x.status, other.requests.length, other.connections], ['completed', 8, 1]);
    other.close();
});

claim('a service that says Retry-After is left alone for so long, whatever maxDelay says', async (rig) => {
    const gap = async (retry) => {
        const path = `/later/2/${rig.name}-${++count}`;
        const x = await call(rig, http(path), { retry: { maxAttempts: 2, delay: '10ms', ...retry } });
        equal(x.status, 'completed', JSON.stringify(x.error));
        const [first, second] = service.of(path);
        return second.at - first.at;
    };
    const long = await gap({});
    check(long >= 1990, `${long} ms`);
    const longer = await gap({ maxDelay: '50ms' });
    check(longer >= 1990, `${longer} ms`);
});

claim('each attempt has its own deadline', async (rig) => {
    const path = `/hold/deadline-${rig.name}`;
    const x = await call(rig, http(path, { timeout: '300ms' }), { retry: { maxAttempts: 3, delay: '10ms' } });
    equal([x.status, x.error.code, service.of(path).length], ['failed', 'timeout_call', 3]);
    const times = service.of(path).map((r) => r.at);
    check(times[1] - times[0] >= 290 && times[2] - times[1] >= 290, JSON.stringify(times));
});

claim('certificates are verified, and HTTP/2 is spoken where it is offered', async (rig) => {
    const key = join(rig.folder, 'key.pem');
    const cert = join(rig.folder, 'cert.pem');
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: 'ignore' });
    const seen = [];
    const offers = (options) => new Promise((resolve) => {
        const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert), ...options }, (request, response) => {
            seen.push(request.httpVersion);
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end('{"ok":true}');
        });
        server.listen(0, '127.0.0.1', () => resolve(server));
    });
    const server = await offers({ allowHTTP1: true });
    const secure = { type: 'integration.http', url: `https://127.0.0.1:${server.address().port}/`, timeout: '5s' };
    const refused = await call(rig, secure);
    equal([refused.error.code, refused.error.class, seen.length], ['external_certificate', 'transient', 0]);
    await rig.restart({ SSL_CERT_FILE: cert });
    const x = await call(rig, secure);
    equal([x.status, x.context.steps.ask.output?.body, seen], ['completed', { ok: true }, ['2.0']], JSON.stringify(x.error));
    const wrongName = await call(rig, { ...secure, url: secure.url.replace('127.0.0.1', 'localhost') });
    equal([wrongName.error.code, seen.length], ['external_certificate', 1]);
    server.close();
});

claim('redirects are followed within the same origin only', async (rig) => {
    equal((await call(rig, http('/redirect'))).context.steps.ask.output.body.method, 'GET');
    const away = await call(rig, http('/elsewhere'));
    equal([away.error.code, away.error.details.status_code], ['external_status', 302]);
    const post = await call(rig, http('/redirect', { method: 'POST', body: {} }));
    equal(post.error.code, 'external_status');
});

claim('link-local addresses are denied before anything is sent', async (rig) => {
    for (const host of ['169.254.169.254', '[fe80::1]', '0.0.0.0']) {
        const x = await call(rig, { type: 'integration.http', url: `http://${host}/latest/meta-data` });
        equal([x.error.code, x.error.class], ['permission_address', 'business'], host);
    }
});

claim('a call of a branch that was stopped is undone as what its answer says', async (rig) => {
    for (const declined of [false, true]) {
        const code = `calls_${++count}`, path = `/hold/${code}`;
        await rig.publish({
            code,
            steps: [{ code: 'both', parallel: { branches: [
                [{ code: 'pay', procedure: http(path, { method: 'POST', timeout: '60s' }), rollback: http('/echo/{{ $.steps.pay.output.body.id }}', { method: 'DELETE' }) }],
                [{ code: 'go', procedure: { type: 'wait.signal', signalType: 'go' } }, { code: 'no', procedure: { type: 'compute.fail', code: 'no', message: 'no' } }],
            ] } }],
        });
        const { id } = await rig.begin(code);
        await eventually('the call arrives', () => service.of(path).length === 1);
        equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go', payload: {} })).status, 202);
        await eventually('it waits for the answer', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'compensating');
        service.held.pop().writeHead(declined ? 422 : 201, JSON_TYPE).end(`{"id":"charge-${code}"}`);
        const x = await eventually('it has failed', async () => {
            const now = (await rig.api('GET', `/executions/${id}`)).body;
            return now.status === 'failed' ? now : null;
        });
        equal(x.error.compensation, { compensated: declined ? [] : ['pay'], failed: [] }, JSON.stringify(x.error));
        equal(service.of(`/echo/charge-${code}`).map((r) => r.method), declined ? [] : ['DELETE']);
    }
});

claim('an execution says for which call it waits, and cancelling waits for its answer', async (rig) => {
    const path = `/hold/${rig.name}`;
    const code = `calls_${++count}`;
    await rig.publish({ code, steps: [{ code: 'ask', procedure: http(path, { method: 'POST', timeout: '30s' }), rollback: http('/echo/undo', { method: 'DELETE' }) }] });
    const { id } = await rig.begin(code);
    await eventually('the call arrives', () => service.of(path).length === 1);
    const waiting = (await rig.api('GET', `/executions/${id}`)).body;
    equal([waiting.status, waiting.waitingFor.kind, waiting.waitingFor.method, waiting.waitingFor.url], ['waiting', 'call', 'POST', `${service.url}${path}`]);
    equal((await rig.api('POST', `/executions/${id}/cancel`, { reason: 'enough' })).status, 202);
    equal((await rig.api('GET', `/executions/${id}`)).body.status, 'compensating');
    service.held.pop().writeHead(201, { 'content-type': 'application/json' }).end('{"id":1}');
    const x = await eventually('it is cancelled', async () => {
        const now = (await rig.api('GET', `/executions/${id}`)).body;
        return now.status === 'cancelled' ? now : null;
    });
    equal(x.status, 'cancelled');
    const rows = await rig.all(`/executions/${id}/steps`);
    equal(rows.map((r) => [r.kind, r.status]), [['forward', 'completed'], ['rollback', 'compensated']]);
});

claim('a call that was under way when the server was killed is tried again at once, with the same key', async (rig) => {
    const path = `/hold/killed-${rig.name}`;
    const code = `calls_${++count}`;
    await rig.publish({ code, steps: [{ code: 'ask', procedure: http(path, { method: 'POST', timeout: '60s' }), retry: { maxAttempts: 3, delay: '10ms' } }] });
    const { id } = await rig.begin(code);
    await eventually('the call arrives', () => service.of(path).length === 1);
    const began = Date.now();
    await rig.restart();
    await eventually('the call arrives again', () => service.of(path).length === 2, 20);
    check(Date.now() - began < 20000, 'it does not wait for the deadline of the attempt');
    service.held.pop().end('done');
    const x = await eventually('it is completed', async () => {
        const now = (await rig.api('GET', `/executions/${id}`)).body;
        return now.status === 'completed' ? now : null;
    });
    equal(x.context.steps.ask.output.body, 'done');
    equal(service.of(path).map((r) => r.headers['idempotency-key']), [`${id}-ask`, `${id}-ask`]);
});

// Where a server may die between the commit of an attempt and the call: before the commit, between both, and after the
// answer, while the next attempt is not durable yet.
claim('an attempt that was durable when the server was killed does not wait for its deadline, called or not', async (rig) => {
    const release = rig.server.program;
    for (const [point, calls] of [['node.batch_done:1', 2], ['writer.committed:1', 2], ['writer.committed:2', 3], ['writer.begun:2', 3]]) {
        const path = `/echo/${point}/${rig.name}`;
        const code = `calls_${++count}`;
        const step = (at) => ({ code: at, procedure: http(path, { method: 'POST', timeout: '120s' }), retry: { maxAttempts: 3, delay: '10ms' } });
        await rig.publish({ code, steps: [step('one'), step('two')] });
        await rig.server.stop();
        rig.server.program = checkProgram;
        await rig.start({ PAWL_CRASH_AT: point });
        rig.server.program = release;
        await rig.api('POST', '/executions', { code }, { 'Idempotency-Key': point }).catch(() => null);
        await eventually('it is killed', () => !rig.server.isRunning(), 30);
        await rig.start();
        const { id } = (await rig.api('POST', '/executions', { code }, { 'Idempotency-Key': point })).body;
        await eventually(`${point}: it is completed`, async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed', 20);
        check(service.of(path).length <= calls, `${point}: ${service.of(path).length} calls`);
        equal(new Set(service.of(path).map((r) => r.headers['idempotency-key'])).size, 2, point);
    }
});

claim('one slow host does not keep calls to others waiting, and its own wait for room', async (rig) => {
    await rig.restart({ PAWL_CALLS_PER_HOST: '4' });
    const path = `/hold/many-${rig.name}`;
    const other = new Service();
    await other.open();
    const code = `calls_${++count}`;
    await rig.publish({ code, steps: [{ code: 'ask', procedure: http(path, { timeout: '60s' }) }] });
    const begun = [];
    for (let i = 0; i < 12; i++) begun.push((await rig.begin(code)).id);
    await eventually('as many as may be have left', () => service.of(path).length === 4);
    const queued = (await Promise.all(begun.map((id) => rig.api('GET', `/executions/${id}`)))).filter((a) => a.body.waitingFor.queued);
    equal(queued.length, 8);
    const x = await execute(rig, [{ code: 'ask', procedure: { type: 'integration.http', url: `${other.url}/echo` } }]);
    equal(x.status, 'completed');
    const answering = setInterval(() => service.held.splice(0).forEach((r) => r.end('ok')), 20);
    for (const id of begun)
        await eventually('all are done', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
    clearInterval(answering);
    equal(service.of(path).length, 12);
    other.close();
});

claim('executions that waited for room when the server was killed go on at once', async (rig) => {
    await rig.restart({ PAWL_CALLS_PER_HOST: '4' });
    const path = `/hold/queued-${rig.name}`;
    const code = `calls_${++count}`;
    await rig.publish({ code, steps: [{ code: 'ask', procedure: http(path, { timeout: '60s' }), retry: { maxAttempts: 3, delay: '10ms' } }] });
    const begun = [];
    for (let i = 0; i < 12; i++) begun.push((await rig.begin(code)).id);
    await eventually('as many as may be have left', () => service.of(path).length === 4);
    await rig.restart({ PAWL_CALLS_PER_HOST: '4' });
    const answering = setInterval(() => service.held.splice(0).forEach((r) => r.end('ok')), 20);
    for (const id of begun)
        await eventually('all are done', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed', 15);
    clearInterval(answering);
    equal(service.of(path).length, 16, 'calls: those that were under way are made twice');
});

claim('an answer that comes after a branch beside it has failed is there for the retry, and nobody is called again', async (rig) => {
    for (const onError of ['hold', 'fail_fast']) {
        const code = `calls_${++count}`, path = `/hold/${code}_${rig.name}`;
        await rig.publish({ code, onError, steps: [{ code: 'both', parallel: { branches: [
            [{ code: 'pay', procedure: http(path, { method: 'POST', timeout: '60s' }), ...once }],
            [{ code: 'go', procedure: { type: 'wait.signal', signalType: 'go' } },
                { code: 'check', procedure: [{ type: 'compute.fail', when: 'execution.visit == 1', code: 'no', message: 'm' }, { type: 'log', message: 'fine' }], ...once }],
        ] } }] });
        const { id } = (await rig.api('POST', '/executions', { code })).body;
        const get = async () => (await rig.api('GET', `/executions/${id}`)).body;
        await eventually('it calls', () => service.of(path).length === 1);
        equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go' })).status, 202);
        const failed = await eventually('the other branch has failed', async () => {
            const is = await get();
            return (is.status === 'failed' || is.waitingFor?.kind === 'incident') && is;
        });
        service.held.splice(0).forEach((response) => response.writeHead(201, { 'content-type': 'application/json' }).end('{"paid":7}'));
        await eventually('the answer is recorded', async () => (await get()).updatedAt !== failed.updatedAt);
        await rig.restart();
        equal((await rig.api('POST', `/executions/${id}/retry`, {})).status, 202);
        const x = await eventually('it is completed', async () => {
            const is = await get();
            return is.status === 'completed' && is;
        });
        equal([onError, service.of(path).length], [onError, 1], 'calls');
        equal(x.context.steps.pay.output.body, { paid: 7 }, JSON.stringify(x.context.steps.pay));
    }
});

await run(async () => {});
