// test_traces.mjs - a trace per execution, a span per attempt, over OTLP to a real receiver; traceparent in and out.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Collector } from './collector.mjs';
import { scrape } from './scrape.mjs';

const collector = new Collector();
await collector.open();

/** A service that remembers the traceparent of each request; `/flaky/N` fails once. */
const asked = [];
const service = createServer((request, response) => {
    const tries = asked.filter((r) => r.path === request.url).length;
    asked.push({ path: request.url, traceparent: request.headers.traceparent, tracestate: request.headers.tracestate });
    response.writeHead(request.url.startsWith('/flaky/') && tries === 0 ? 503 : 200, { 'content-type': 'application/json' });
    response.end('{}');
});
await new Promise((resolve) => service.listen(0, '127.0.0.1', resolve));
service.unref();
collector.server.unref();
const host = `http://127.0.0.1:${service.address().port}`;

const http = (url) => ({ type: 'integration.http', method: 'POST', url });
const wait = (code) => ({ code, procedure: { type: 'wait.signal', signalType: 'go' } });
const definitions = [
    { code: 'kid', steps: [{ code: 'pay', procedure: http(`${host}/kid`) }] },
    { code: 'worked', steps: [{ code: 'work', procedure: 'traced_workers.do' }] },
    {
        code: 'traced',
        input: [{ name: 'n', type: 'string', required: true }, { name: 'card', type: 'string', sensitive: true, default: '0000-0000' }],
        steps: [
            { code: 'reserve', retry: { maxAttempts: 3, delay: '1ms' }, procedure: http(`${host}/flaky/{{$.input.n}}`) },
            wait('w'),
            { code: 'left_out', when: 'false', procedure: http(`${host}/never`) },
            { code: 'sub', procedure: { type: 'flow.start', code: 'kid', wait: true } },
            { code: 'broken', onError: 'continue', procedure: { type: 'compute.fail', code: 'declined', message: 'card {{$.input.card}}' } },
        ],
    },
    {
        code: 'retried', onError: 'fail_fast', input: [{ name: 'n', type: 'string', required: true }, { name: 'ok', type: 'boolean', default: false }],
        steps: [{ code: 'pay', procedure: [{ type: 'compute.fail', when: '!$.input.ok', code: 'no', message: 'no' }] }],
    },
    { code: 'undone', steps: [
        { code: 'a', procedure: { type: 'compute.transform', data: {} }, rollback: http(`${host}/undo`) },
        { code: 'b', procedure: { type: 'compute.fail', code: 'no', message: 'no' } },
    ] },
];

const ended = (rig, id) => until(`${id} has ended`, async () => {
    const { body } = await rig.api('GET', `/executions/${id}`);
    return body.completedAt && body;
});
const whole = (id) => until(`the span of ${id} has come`, () => collector.of(id).some((s) => !('saga.step' in s.attributes)) && collector.of(id));
const fields = (span, ...names) => names.map((name) => span.attributes[name]);
const step = (spans, code) => spans.filter((s) => s.attributes['saga.step'] === code);
let number = 0;
const next = () => `${process.pid}-${++number}`;

claim('an attempt of a step is a span within that of its execution', async (rig) => {
    const n = next();
    const { id } = await rig.begin('traced', { input: { n }, key: `order-${n}` });
    await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
    await ended(rig, id);
    const spans = await whole(id), root = spans.find((s) => !('saga.step' in s.attributes));
    equal(root.traceId, id.replaceAll('-', ''), 'a trace of its own has the id of the execution');
    equal(['parentSpanId' in root, root.name, root.status], [false, 'traced', { code: 1 }]);
    equal(fields(root, 'order.id', 'saga.scenario', 'saga.outcome'), [`order-${n}`, 'traced', 'completed']);
    equal(new Set(spans.map((s) => s.spanId)).size, spans.length, 'ids of spans are unique');
    for (const span of spans) {
        equal(span.traceId, root.traceId);
        if (span !== root) equal(span.parentSpanId, root.spanId);
        equal(span.attributes['order.id'], `order-${n}`);
        check(span.start >= root.start && span.end <= root.end, 'a step is within its execution');
    }
    equal(spans.filter((s) => s !== root).map((s) => fields(s, 'saga.step', 'retry.attempt', 'saga.outcome')).sort(), [
        ['broken', 1, 'failed'], ['reserve', 1, 'failed'], ['reserve', 2, 'completed'], ['sub', 1, 'completed'], ['w', 1, 'completed'],
    ]);
    equal(step(spans, 'reserve').map((s) => s.attributes['dep.name']), [host, host]);
    equal(step(spans, 'broken')[0].status, { code: 2, message: 'card ***' });
    equal(collector.resource['service.name'], 'pawl');
    equal(collector.wrong, []);
});

claim('a call is told of the span of its attempt, and children go on with the trace', async (rig) => {
    const n = next(), kids = asked.length;
    const { id } = await rig.begin('traced', { input: { n } });
    await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
    await ended(rig, id);
    const spans = await whole(id);
    const told = asked.filter((r) => r.path === `/flaky/${n}`).map((r) => r.traceparent);
    equal(told, step(spans, 'reserve').map((s) => `00-${s.traceId}-${s.spanId}-01`));
    const kid = asked.slice(kids).find((r) => r.path === '/kid').traceparent.split('-');
    equal(kid[1], spans[0].traceId, 'the trace of the child');
    const root = await until('the span of the child', () => collector.spans.find((s) => s.traceId === kid[1] && s.name === 'kid'));
    equal(root.parentSpanId, step(spans, 'sub')[0].spanId, 'the child is within the step that started it');
    const pay = collector.spans.find((s) => s.spanId === kid[2]);
    equal([pay.name, pay.parentSpanId], ['pay', root.spanId]);
});

claim('a traceparent is taken over at the start, and survives a kill', async (rig) => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736', n = next();
    const answer = await rig.api('POST', '/executions', { code: 'traced', input: { n } }, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    const { id } = answer.body;
    await until('the first step is done', () => asked.filter((r) => r.path === `/flaky/${n}`).length === 2);
    await rig.restart({ PAWL_OTLP: collector.url });
    await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
    await ended(rig, id);
    const spans = await whole(id), root = spans.find((s) => !('saga.step' in s.attributes));
    equal([root.traceId, root.parentSpanId], [trace, '00f067aa0ba902b7']);
    const sub = step(spans, 'sub')[0];
    equal([sub.traceId, sub.parentSpanId], [trace, root.spanId]);
    for (const { traceparent } of asked.filter((r) => r.path === `/flaky/${n}`)) equal(traceparent.split('-')[1], trace);
});

claim('a tracestate goes with its trace: into calls, into children, and over a kill', async (rig) => {
    const n = next(), from = asked.length, state = 'rojo=00f067aa0ba902b7,congo@t=t61rcWkgMzE';
    const { body: { id } } = await rig.api('POST', '/executions', { code: 'traced', input: { n } },
        { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4741-00f067aa0ba902b7-01', tracestate: state.replace(',', ' , ,\t') });
    await until('the first step is done', async () => (await rig.api('GET', `/executions/${id}`)).body.waitingFor?.kind === 'signal');
    await rig.restart({ PAWL_OTLP: collector.url });
    await rig.api('POST', `/executions/${id}/signal`, { type: 'go' });
    await ended(rig, id);
    const told = asked.slice(from);
    equal(told.map((r) => r.path), [`/flaky/${n}`, `/flaky/${n}`, '/kid']);
    for (const r of told) equal([r.traceparent.split('-')[1], r.tracestate], ['4bf92f3577b34da6a3ce929d0e0e4741', state]);
});

claim('a tracestate without a traceparent, or one that is none, is ignored; of a long one the first members are passed on', async (rig) => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4742-00f067aa0ba902b7-00';
    const start = async (headers) => {
        const before = asked.length;
        equal((await rig.api('POST', '/executions?wait=60s', { code: 'kid' }, headers)).body.status, 'completed');
        return asked[before].tracestate;
    };
    equal(await start({ traceparent, tracestate: 'a=1' }), 'a=1');
    equal(await start({ tracestate: 'a=1' }), undefined);
    equal(await start({ traceparent: 'x', tracestate: 'a=1' }), undefined);
    for (const tracestate of ['a', 'A=1', 'a=', '=1', 'a=1=2', 'a=1,b']) equal(await start({ traceparent, tracestate }), undefined, tracestate);
    const member = (i) => `k${i}=${'v'.repeat(60)}`, all = [...Array(20).keys()].map(member);
    equal(await start({ traceparent, tracestate: all.join(',') }), all.slice(0, 8).join(','));
    const many = [...Array(40).keys()].map((i) => `k${i}=1`);
    equal(await start({ traceparent, tracestate: many.join(',') }), many.slice(0, 32).join(','));
});

claim('an execution that failed and is tried again sends its span once; what went on is a span within it', async (rig) => {
    const n = next(), { body: { id } } = await rig.api('POST', '/executions?wait=60s', { code: 'retried', input: { n } });
    const roots = () => collector.of(id).filter((s) => !('saga.step' in s.attributes));
    const again = async (count, outcome) => {
        equal((await rig.api('POST', `/executions/${id}/retry`, { input: { n, ok: outcome === 'completed' } })).status, 202);
        await until(`end ${count} is told`, () => roots().length === count);
        equal(roots().at(-1).attributes['saga.outcome'], outcome);
    };
    await until('the end is told', () => roots().length === 1);
    await again(2, 'failed');
    await rig.restart({ PAWL_OTLP: collector.url });
    await again(3, 'completed');
    const spans = collector.of(id), [root, ...later] = roots();
    equal(new Set(spans.map((s) => s.spanId)).size, spans.length, 'ids of spans are unique');
    equal(['parentSpanId' in root, root.attributes['saga.outcome']], [false, 'failed']);
    equal(later.map((s) => [s.parentSpanId, s.name, s.start >= root.end]), Array(2).fill([root.spanId, 'retried', true]));
    equal(step(spans, 'pay').map((s) => s.parentSpanId), [root, ...later].map((s) => s.spanId), 'attempts are within the span of their time');
});

claim('what nobody wants to see is passed on and not sent; what is no traceparent is ignored', async (rig) => {
    const start = async (traceparent) => {
        const before = asked.length;
        const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'kid' }, { traceparent });
        equal(body.status, 'completed');
        return [body.id, asked[before].traceparent];
    };
    const [quiet, told] = await start('00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-00');
    check(/^00-4bf92f3577b34da6a3ce929d0e0e4737-[0-9a-f]{16}-00$/.test(told), told);
    for (const bad of ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', 'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'x']) {
        const [id, header] = await start(bad);
        equal(header.split('-')[1], id.replaceAll('-', ''), bad);
    }
    const [own, header] = await start('00-XYZ');
    equal(header.split('-')[1], own.replaceAll('-', ''));
    await whole(own);
    equal(collector.of(quiet), []);
});

claim('the endpoint of a worker is told of the attempt, too', async (rig) => {
    equal((await rig.api('PUT', '/workers/traced_workers', { url: `${host}/endpoint` })).status, 201);
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'worked' });
    equal(body.status, 'completed');
    const work = step(await whole(body.id), 'work')[0];
    equal(asked.findLast((r) => r.path === '/endpoint').traceparent, `00-${work.traceId}-${work.spanId}-01`);
});

claim('a rollback has spans of its own, and its calls are told of them', async (rig) => {
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'undone' });
    equal(body.status, 'failed');
    const spans = await whole(body.id), undo = spans.find((s) => s.attributes['saga.kind'] === 'rollback');
    equal(fields(undo, 'saga.step', 'dep.name'), ['a', host]);
    equal(asked.findLast((r) => r.path === '/undo').traceparent, `00-${undo.traceId}-${undo.spanId}-01`);
    const root = spans.find((s) => !('saga.step' in s.attributes));
    equal([root.status.code, root.attributes['error.type']], [2, 'no']);
});

claim('a collector that is busy gets spans later, each once; one that refuses them does not', async (rig) => {
    const count = async (name) => (await scrape(rig)).series.get(name);
    const exported = await count('pawl_spans_exported_total'), dropped = await count('pawl_spans_dropped_total');
    await until('all is sent', async () => (await count('pawl_spans_exported_total')) === exported);
    collector.refuses = [503];
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'kid' });
    equal((await whole(body.id)).length, 2);
    collector.refuses = [400];
    const refused = (await rig.api('POST', '/executions?wait=60s', { code: 'kid' })).body.id;
    await until('they are dropped', async () => (await count('pawl_spans_dropped_total')) === dropped + 2);
    equal(collector.of(refused), []);
    equal(collector.wrong, []);
});

claim('while the collector is away executions go on, and what it missed is bounded and sent when it is back', async (rig) => {
    await collector.close();
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'kid' });
    equal(body.status, 'completed');
    await until('the log says so', () => rig.server.log.includes('the collector does not take spans'));
    await collector.open();
    collector.server.unref();
    await whole(body.id);
});

claim('spans that are left are sent when the server stops', async (rig) => {
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'kid' });
    equal(await rig.server.stop(), 0);
    equal(collector.of(body.id).length, 2);
    await rig.start({ PAWL_OTLP: collector.url });
});

claim('lines of the log about executions name their trace', async (rig) => {
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'undone' }, { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4799-00f067aa0ba902b7-01' });
    const line = await until('a line', () => rig.server.log.split('\n').find((l) => l.includes(body.id)));
    const { msg, traceId } = JSON.parse(line);
    equal([msg, traceId], ['an execution failed', '4bf92f3577b34da6a3ce929d0e0e4799']);
});

claim('without a collector calls still have a traceparent', async (rig) => {
    await rig.restart();
    const before = asked.length;
    const { body } = await rig.api('POST', '/executions?wait=60s', { code: 'kid' });
    equal(asked[before].traceparent.split('-')[1], body.id.replaceAll('-', ''));
});

claim('an address that is none is refused at the start', () => {
    const { status, stderr } = spawnSync(pawl, ['serve', '--otlp', 'localhost:4318'], { encoding: 'utf8' });
    equal(status, 2);
    check(stderr.includes('--otlp takes the address of a collector'), stderr);
}, 'SQLite');

await run(async (rig) => {
    await rig.restart({ PAWL_OTLP: collector.url });
    for (const definition of definitions) await rig.publish(definition);
});
