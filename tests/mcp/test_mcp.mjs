// Assistants: the Model Context Protocol over standard input and output, and over HTTP.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import readline from 'node:readline';

import { check, claim, end, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';
import { mistakes, schemaOf } from './shapes.mjs';

const started = new Set();
process.on('exit', () => started.forEach((child) => child.kill('SIGKILL')));

/** `pawl mcp`: a line in, a line out. */
class Stdio {
    constructor(server, token, args = []) {
        this.child = spawn(pawl, ['mcp', ...args], { env: { ...process.env, PAWL_URL: server.url, PAWL_TOKEN: token }, stdio: ['pipe', 'pipe', 'ignore'] });
        started.add(this.child);
        this.lines = [];
        readline.createInterface({ input: this.child.stdout }).on('line', (line) => this.lines.push(line));
        this.ended = new Promise((done) => this.child.on('close', (status) => {
            started.delete(this.child);
            done(status);
        }));
    }

    async send(text) {
        this.child.stdin.write(`${text}\n`);
        return JSON.parse(await until('an answer', () => this.lines.shift()));
    }

    /** One that is not answered: the answer of the next one is the first line. */
    async tell(text) {
        this.child.stdin.write(`${text}\n`);
        equal((await this.send('{"jsonrpc":"2.0","id":"next","method":"ping"}')).id, 'next');
    }

    async close() {
        this.child.stdin.end();
        equal(await this.ended, 0, 'exit status');
    }
}

/** POST /mcp of a server. */
class Http {
    constructor(server, token) {
        this.server = server;
        this.headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        this.client = server.client();
    }

    async send(text) {
        const answer = await this.client.ask('POST', '/mcp', text, this.headers);
        if (answer.status === 400) return { problem: answer.body };
        equal([answer.status, answer.headers['content-type']], [200, 'application/json'], answer.raw);
        return answer.body;
    }

    async tell(text) {
        const answer = await this.client.ask('POST', '/mcp', text, this.headers);
        equal([answer.status, answer.raw], [202, '']);
    }

    close() {
        this.client.close();
    }
}

let count = 0;

/** Ask, and hold the answer against the protocol's schema. */
async function ask(face, method, params) {
    const id = ++count % 2 ? count : `n${count}`;
    const answer = await face.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) }));
    equal(answer.id, id);
    const wrong = mistakes(method, answer);
    check(wrong === '', `${method}: ${wrong}`);
    return answer;
}

/** Call a tool: {isError, text, json}. */
async function call(face, name, args = {}) {
    const { result, error } = await ask(face, 'tools/call', { name, arguments: args });
    check(result, `${name}: ${JSON.stringify(error)}`);
    const [{ text }] = result.content;
    let json = null;
    try {
        json = JSON.parse(text);
    } catch {
        // It was cut.
    }
    return { isError: result.isError, text, json };
}

const definition = {
    code: 'visit',
    steps: [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }],
};
const CHANGES = ['save_draft', 'start_execution', 'signal_execution'];

/** What holds for both faces; `reader` may not change anything, `writer` may. */
async function tryFace(name, server, reader, writer, execution) {
    const say = (text) => `${name}: ${text}`;

    await claim(say('a session begins with a version that both speak'), async () => {
        const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
        for (const [asked, wanted] of [['2025-06-18', '2025-06-18'], ['2024-11-05', '2024-11-05'], ['2031-01-01', '2025-06-18']]) {
            const { result } = await ask(reader, 'initialize', { ...hello, protocolVersion: asked });
            equal([result.protocolVersion, result.serverInfo.name], [wanted, 'pawl']);
        }
        await reader.tell('{"jsonrpc":"2.0","method":"notifications/initialized"}');
        equal((await ask(reader, 'ping')).result, {});
    });

    await claim(say('tools that change something are there when they are allowed'), async () => {
        const list = async (face) => (await ask(face, 'tools/list')).result.tools;
        const [few, all] = [await list(reader), await list(writer)];
        check(few.length > 10 && few.every((tool) => tool.annotations.readOnlyHint), JSON.stringify(few));
        equal(all.filter((tool) => !tool.annotations.readOnlyHint).map((tool) => tool.name), CHANGES);
        for (const tool of all) schemaOf(tool.inputSchema);
        for (const tool of CHANGES) {
            const { error } = await ask(reader, 'tools/call', { name: tool, arguments: {} });
            equal(error.code, -32602);
            check(error.message.includes('changes something'), error.message);
        }
    });

    await claim(say('every tool that reads answers as the API does'), async () => {
        const { body: direct } = await server.asAdmin('GET', `/executions/${execution}`);
        const shown = await call(reader, 'explain_execution', { id: execution });
        equal([shown.isError, shown.json], [false, direct]);
        equal(shown.json.waitingFor.kind, 'signal');
        equal((await call(reader, 'list_executions', { q: 'vis', limit: 1 })).json.items.map((x) => x.code), ['visit']);
        equal((await call(reader, 'list_executions', { key: 'a b&status=failed' })).json.items, []);
        equal((await call(reader, 'execution_steps', { id: execution, limit: 5 })).isError, false);
        equal((await call(reader, 'summarize_executions', { by: 'status' })).isError, false);
        check((await call(reader, 'list_processes')).json.items.some((p) => p.code === 'visit'), 'the process is listed');
        equal((await call(reader, 'list_versions', { kind: 'scenario', code: 'visit' })).json.items.length, 1);
        equal((await call(reader, 'show_definition', { kind: 'scenario', code: 'visit', version: 1 })).json.definition, definition);
        for (const tool of ['list_dead_letters', 'list_jobs']) equal((await call(reader, tool)).json.items, []);
    });

    await claim(say('a definition is checked, tried and tested without a trace'), async () => {
        const wrong = await call(reader, 'validate_definition', { kind: 'scenario', definition: { code: 'x', steps: [{ code: 'a', procedure: { type: 'nothing' } }] } });
        equal([wrong.isError, wrong.json.valid], [false, false]);
        equal((await call(reader, 'evaluate', { expression: 'input.n * 2', context: { input: { n: 21 } } })).json.value, 42);
        const run = await call(reader, 'dry_run', { kind: 'scenario', code: 'visit', input: {}, mocks: { signals: { go: {} } } });
        equal(run.isError, false, run.text);
        const tested = await call(reader, 'run_tests', { tests: [{ name: 'goes', scenario: 'visit', signals: [], expect: { status: 'waiting' } }] });
        equal([tested.isError, tested.json?.passed, tested.json?.failed], [false, 1, 0], tested.text);
        equal((await server.asAdmin('GET', '/executions/summary?by=status')).body.items.reduce((sum, x) => sum + x.count, 0), 1, 'executions');
    });

    await claim(say('what the API refuses is the error of the tool, and nothing of an argument is more than one'), async () => {
        for (const id of ['../users', 'x/../../users', '%2e%2e', '..', execution.slice(0, 8), `${execution}?x=1`, `${execution}/steps`]) {
            const { isError, json } = await call(reader, 'explain_execution', { id });
            equal([isError, json.status], [true, 404], id);
        }
        equal((await call(reader, 'list_executions', { limit: 501 })).json.status, 400);
        equal((await call(reader, 'list_executions', { status: 'x&code=visit' })).isError, true);
    });

    await claim(say('what is wrong with a message is said, and the next one is answered'), async () => {
        const refused = async (text, code, id = null) => {
            const answer = await reader.send(text);
            if (answer.problem) {
                // Over HTTP what is no message at all is a problem, as everywhere.
                check([-32700, -32600].includes(code), text.slice(0, 100));
                equal(answer.problem.code, code === -32700 ? 'bad_json' : 'bad_request', text.slice(0, 100));
                return answer.problem.detail;
            }
            equal([answer.error?.code, answer.id, mistakes('', answer)], [code, id, ''], text.slice(0, 100));
            return answer.error.message;
        };
        const message = (more) => JSON.stringify({ jsonrpc: '2.0', id: 7, ...more });
        await refused('{', -32700);
        await refused('nothing', -32700);
        await refused('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700);
        await refused(`${'['.repeat(100000)}`, -32700);
        await refused(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`, -32700);
        check((await refused('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600)).includes('batches'), 'a batch is called one');
        for (const text of ['7', 'null', '"x"', '{}', '{"jsonrpc":"1.0","id":7,"method":"ping"}']) await refused(text, -32600);
        for (const id of ['null', '1.5', 'true', '{}', '[1]']) await refused(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, -32600);
        await refused(message({ method: 7 }), -32600, 7);
        await refused(message({}), -32600, 7);
        await refused(message({ method: 'prompts/list' }), -32601, 7);
        await refused(message({ method: 'ping', params: [] }), -32602, 7);
        for (const params of [{}, { name: 7 }, { name: 'nothing' }, { name: 'explain_execution' }, { name: 'explain_execution', arguments: [] },
            { name: 'explain_execution', arguments: { id: 7 } }, { name: 'explain_execution', arguments: { id: '' } },
            { name: 'explain_execution', arguments: { id: 'x', more: 1 } }, { name: 'dry_run', arguments: { kind: 'user', code: 'x', input: {} } },
            { name: 'list_processes', arguments: { limit: '5' } }])
            await refused(message({ method: 'tools/call', params }), -32602, 7);
        await refused(message({ method: 'resources/read', params: { uri: 'file:///etc/passwd' } }), -32002, 7);
        await refused(message({ method: 'resources/read', params: { uri: 'pawl://docs/../reference' } }), -32002, 7);
        await refused(message({ method: 'x'.repeat(100000) }), -32601, 7);
        for (const text of ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":"start_execution"}}', '{"jsonrpc":"2.0","id":3,"result":{}}', '{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}'])
            await reader.tell(text);
    });

    await claim(say('pages and the catalog are resources'), async () => {
        const { result } = await ask(reader, 'resources/list');
        const read = async (uri) => (await ask(reader, 'resources/read', { uri })).result.contents[0];
        check(result.resources.length > 10, JSON.stringify(result));
        for (const { uri, mimeType } of result.resources) {
            const page = await read(uri);
            equal([page.uri, page.mimeType], [uri, mimeType]);
            const name = uri.match(/^pawl:\/\/docs\/(.*)$/)?.[1];
            if (name) check(page.text === readFileSync(`docs/${name}.md`, 'utf8'), `${uri} is the page of the tree`);
        }
        equal(JSON.parse((await read('pawl://catalog')).text), (await server.asAdmin('GET', '/catalog')).body);
        equal((await ask(reader, 'resources/templates/list')).result.resourceTemplates, []);
    });

    await claim(say('a long answer is cut, and said to be'), async () => {
        const { isError, text } = await call(reader, 'evaluate', { expression: "'ä'.join(lists.range(200000).map(i, 'ü'))" });
        if (isError) return check(text.length < 10000, 'it was refused in short');
        check(Buffer.byteLength(text) < 300 << 10 && text.includes('(cut: '), `${text.length}`);
        return null;
    });
}

const server = await startServer();
await server.publish(definition);
const { body: begun } = await server.asAdmin('POST', '/executions', { code: 'visit', key: 'v1', input: {} });
const viewer = await server.user({ name: 'viewer', role: 'viewer' });
const worker = await server.user({ name: 'worker', role: 'worker' });

const allowing = await startServer({ args: ['--mcp-allow-changes'] });
const faces = [
    ['stdio', new Stdio(server, server.token), new Stdio(server, server.token, ['--allow-changes'])],
    ['HTTP', new Http(server, server.token), new Http(allowing, allowing.token)],
];
for (const [name, reader, writer] of faces) await tryFace(name, server, reader, writer, begun.id);

await claim('stdio: a line that is too long is refused, and the next one read', async () => {
    const answer = await faces[0][1].send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(3 << 20)}"}}`);
    equal([answer.error.code, answer.id], [-32600, null]);
    equal((await ask(faces[0][1], 'ping')).result, {});
});

await claim('HTTP: no token is 401, GET is 405, a version that nobody speaks is 400, a long body is 413', async () => {
    const { client, headers } = faces[1][1];
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    equal((await client.ask('POST', '/mcp', ping, { authorization: '' })).status, 401);
    const got = await client.ask('GET', '/mcp', undefined, headers);
    equal([got.status, got.headers.allow], [405, 'POST']);
    equal((await client.ask('POST', '/mcp', ping, { ...headers, 'mcp-protocol-version': '1999-01-01' })).status, 400);
    equal((await client.ask('POST', '/mcp', ping, { ...headers, 'mcp-protocol-version': '2025-06-18' })).status, 200);
    equal((await client.ask('POST', '/mcp', `"${'x'.repeat(3 << 20)}"`, headers)).status, 413);
});

await claim('the rights of the token hold, over both', async () => {
    for (const [user, tool, args, wanted] of [
        [viewer, 'list_executions', {}, false], [viewer, 'start_execution', { code: 'visit', input: {} }, true],
        [viewer, 'save_draft', { kind: 'scenario', code: 'visit', definition }, true], [viewer, 'signal_execution', { id: begun.id, type: 'go' }, true],
        [worker, 'list_executions', {}, true], [worker, 'list_processes', {}, true],
    ]) {
        const stdio = new Stdio(server, user.token, ['--allow-changes']);
        const { isError, json } = await call(stdio, tool, args);
        equal([isError, isError ? json.status : 200], [wanted, wanted ? 403 : 200], `${user.name} ${tool}`);
        await stdio.close();
    }
    const other = await allowing.user({ name: 'viewer', role: 'viewer' });
    const http = new Http(allowing, other.token);
    equal((await call(http, 'start_execution', { code: 'visit', input: {} })).json.status, 403);
    equal((await call(http, 'list_executions')).isError, false);
    http.close();
});

await claim('with changes allowed an assistant saves a draft, starts and signals, over both', async () => {
    for (const [[, , face], where] of [[faces[0], server], [faces[1], allowing]]) {
        const draft = { code: 'written', steps: [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }] };
        const saved = await call(face, 'save_draft', { kind: 'scenario', code: 'written', definition: draft });
        equal([saved.isError, saved.json.valid], [false, true], saved.text);
        equal((await call(face, 'dry_run', { kind: 'scenario', code: 'written', version: 'draft', input: {}, mocks: { signals: { go: {} } } })).isError, false);
        await where.publish(draft);
        const { json } = await call(face, 'start_execution', { code: 'written', input: {}, key: 'w1' });
        equal((await call(face, 'start_execution', { code: 'written', input: {}, key: 'w1' })).json.code, 'key_busy');
        equal((await call(face, 'signal_execution', { id: json.id, type: 'go', payload: { n: 1 } })).isError, false);
        await until('it has ended', async () => (await call(face, 'explain_execution', { id: json.id })).json.status === 'completed');
    }
});

await claim('a server that is away is an error of the tool, and the assistant goes on', async () => {
    const [, stdio] = faces[0];
    await server.stop();
    const { isError, text } = await call(stdio, 'list_executions');
    equal([isError, text], [true, 'the server did not answer']);
    equal((await ask(stdio, 'ping')).result, {});
    await stdio.close();
});
await faces[0][2].close();
faces[1][1].close();
faces[1][2].close();
await allowing.stop();
end();
