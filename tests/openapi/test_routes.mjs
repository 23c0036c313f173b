// Server and docs/openapi.yaml agree: every route is in the document and nothing else is, every role
// may do what it says, every answer is one that it describes, and every answer that it describes is
// given. On both stores.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { Validator } from '@seriousme/openapi-schema-validator';
import { parse } from 'yaml';

import { claim, end, holds, Wrong } from '../lib/claims.mjs';
import { makeFolder } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { onStores } from '../lib/stores.mjs';
import { Caller } from './caller.mjs';
import { Doc } from './document.mjs';
import { walks } from './walk.mjs';

// --- the document against the sources ---

const text = readFileSync('docs/openapi.yaml', 'utf8');
const written = parse(text);
const doc = new Doc(written);

const rows = (path, pattern) => [...readFileSync(path, 'utf8').matchAll(pattern)];
const anonymous = (path) => path.replace(/\{\w+\*?\}/g, '{}');

function checkRoutes() {
    const table = JSON.parse(execFileSync('build/tests/route_table', { encoding: 'utf8' }));
    // The web UI's addresses are no part of the API.
    const pages = rows('src/api/serve/ui_pages.def', /^(?:PAGE\(|ROUTE\("GET", )"([^"]+)"/gm).map((m) => m[1]);
    const routes = table.filter(({ path }) => !pages.includes(path)).map(({ method, path }) => `${method} ${anonymous(path)}`);
    const documented = doc.operations.map((o) => `${o.method} ${anonymous(o.path)}`);
    holds(routes.length > 10, 'the table of routes is read');
    for (const route of routes) holds(documented.includes(route), `${route} is a route and not in the document`);
    for (const route of documented) holds(routes.includes(route), `${route} is in the document and no route`);
    for (const { method, path, query, takesKey } of table) {
        const operation = doc.operations.find((o) => o.method === method && anonymous(o.path) === anonymous(path));
        holds(!operation || takesKey === operation.parameters.some((p) => p.name === 'Idempotency-Key'), `${method} ${path}: the document says whether it takes an Idempotency-Key`);
        const described = operation?.parameters.filter((p) => p.in === 'query').map((p) => p.name);
        holds(path.startsWith('/api/') === false || String(described?.sort()) === String(query.sort()), `${method} ${path}: takes ${query}, and ${described} are described`);
    }
    holds(doc.byId.size === doc.operations.length, 'operation ids are unique');
    for (const o of doc.operations) {
        holds(Array.isArray(o.roles) && o.isOpen === (o.roles.length === 0), `${o.id}: x-roles says who may`);
        for (const name of [...o.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))
            holds(o.parameters.some((p) => p.in === 'path' && p.name === name), `${o.id}: {${name}} is described`);
    }
}

function checkCodes() {
    const codes = rows('src/base/err.def', /^ERR\(\w+, "(\w+)", (\d+)/gm).map(([, code, status]) => ({ code, status: Number(status) }));
    const known = codes.filter((c) => c.code !== 'none');
    const all = written.components.schemas.Problem.properties.code.enum;
    holds(known.length > 10, 'err.def is read');
    holds(isDeepStrictEqual([...all].sort(), [...new Set(known.map((c) => c.code))].sort()), `the codes of Problem are those of err.def: ${known.filter((c) => !all.includes(c.code)).map((c) => c.code)}`);
    const byStatus = new Map();
    for (const response of Object.values(written.components.responses).filter((r) => r.content['application/problem+json'])) {
        const { status, code } = response.content['application/problem+json'].schema.properties;
        byStatus.set(status.const, code.enum);
    }
    for (const { code, status } of known)
        holds(byStatus.get(status)?.includes(code), `${code} is a code of the response with status ${status}`);
    holds([...byStatus.values()].flat().length === known.length, 'no response has a code of another status');
    const statuses = rows('src/engine/status.def', /^STATUS\(\w+, "(\w+)"/gm).map((m) => m[1]);
    holds(isDeepStrictEqual(written.components.schemas.Status.enum, statuses), 'Status has the rows of status.def');
}

// Each example fits the schema beside it.
function checkExamples(thing, where) {
    if (typeof thing !== 'object' || thing === null) return;
    if (thing.schema && thing.example !== undefined)
        holds(doc.mistakes(thing.schema, thing.example) === '', `${where}: ${doc.mistakes(thing.schema, thing.example)}`);
    if (Array.isArray(thing.examples) && (thing.type || thing.anyOf))
        for (const example of thing.examples)
            holds(doc.mistakes({ ...thing, examples: undefined }, example) === '', `${where}: the example ${JSON.stringify(example)}`);
    for (const [name, part] of Object.entries(thing)) checkExamples(part, `${where}/${name}`);
}

// The mistakes that the converter refuses, each with the line it names.
const refused = [
    ['a: 1\n\tb: 2\n', 2], ['a: 1\na: 2\n', 2], ['a: &x 1\n', 1], ['a: *x\n', 1], ['a: !!str 1\n', 1], ['a: yes\n', 1],
    ['a: 0x1\n', 1], ['a: 1.2.3\n', 1], ['a:\n  b: 1\n   c: 2\n', 3], ['a: [1, 2\n', 1], ['a: "x\n', 1], ["a: 'x\n", 1], ['a:\nb: 1\n', 2],
    ['a: b: c\n', 1], ['200: x\n', 1], ['a: "\\x41"\n', 1], ['- a\nb: 1\n', 2], ['a: {b: 1, b: 2}\n', 1], ['a: [1] 2\n', 1], ['', 0], ['- - 1\n', 1], ['a: {b:1}\n', 1],
    ['a: |\nb: 1\n', 2], ['a: True\n', 1], ['a:\n    b: 1\n', 2], [`${'['.repeat(100)}\n`, 1], ['a: >\n  x\n    y\n', 3], ['a: ~\n', 1],
];

function convert(path) {
    return JSON.parse(execFileSync('build/gen/gen_openapi', ['--json', path], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 26 }));
}

async function checkConverter(folder) {
    const { writeFileSync } = await import('node:fs');
    const file = join(folder, 'x.yaml');
    holds(isDeepStrictEqual(convert('docs/openapi.yaml'), written), 'the converter reads what others read');
    const subset = [
        "a: 'it''s'\nb: \"x\\n\\u00e9\\\"\"\nc: [1, -2.5, true, null, x y, {k: v, 'q r': [ ]}]\n'200': # why\n  - a\n  - b: 1\n    c: |\n      two\n        lines\n\n      more\n    d: >-\n      folded\n      text\n\n      again\n",
        'a: b # comment\n# whole line\n\nc: {d: http://x/y,\n  e: 2}\nf: a#b\ng: ü\nh: |-\n  x\n',
    ];
    for (const yaml of subset) {
        writeFileSync(file, yaml);
        let got;
        try {
            got = convert(file);
        } catch (error) {
            got = `${error.stderr}`;
        }
        holds(isDeepStrictEqual(got, parse(yaml)), `converted: ${yaml}\n  ${JSON.stringify(got)}\n  ${JSON.stringify(parse(yaml))}`);
    }
    for (const [yaml, line] of refused) {
        let said = 'nothing';
        writeFileSync(file, yaml);
        try {
            convert(file);
        } catch (error) {
            said = `${error.stderr}`;
        }
        holds(said.startsWith(`${file}:${line}: `), `refused at line ${line}: ${JSON.stringify(yaml)}, said: ${said}`);
    }
}

// --- the server against the document ---

// The answers that are not met by walk.mjs, and why.
const UNMET = { 429: 'a caller who opens few streams', 500: 'a healthy server', 503: 'a server that is not overloaded' };
const UNMET_BY = { drainNode: { 202: 'the server would end' }, getMetrics: { 401: 'a client on this machine', 403: 'a client on this machine' } };

const nowhere = { path: 'nothing_here', id: '00000000-0000-7000-8000-000000000000', code: 'nothing_here', name: 'nothing_here', n: '1', object: 'nothing', recordId: 'nothing', messageId: '00000000-0000-7000-8000-000000000000', scheduleId: '00000000-0000-7000-8000-000000000000', itemId: 'nothing', token: 'nothing', type: 'nothing', letterId: '00000000-0000-7000-8000-000000000000', jobId: '00000000-0000-7000-8000-000000000000', namespace: 'nothing_here', taskId: 'nothing', holdId: 'nothing', dependsOn: 'nothing', userId: 'nothing', escalationId: 'nothing', defectId: 'nothing', deliverableId: 'nothing', shiftId: 'nothing', nodeId: 'nothing' };

/** Who there is: name, and token or null. */
async function makeRoles(api) {
    const all = [{ name: null, token: null }];
    for (const name of written.components.schemas.Role.enum) {
        const { json } = await api.call('createUser', { body: { name: `a ${name}`, role: name } }, 201);
        all.push({ name, token: json.token });
    }
    return all;
}

async function checkRoles(api, roles) {
    for (const operation of doc.operations)
        for (const { name, token } of roles) {
            const may = operation.isOpen || operation.roles.includes(name);
            await claim(`${operation.id} as ${name}`, async () => {
                const answer = await api.call(operation.id, { path: nowhere, token });
                const wanted = may ? 'not 401 or 403' : token === null ? '401' : '403';
                if (may ? [401, 403].includes(answer.status) : String(answer.status) !== wanted)
                    throw new Wrong(`status ${answer.status}, wanted ${wanted}`);
            });
        }
}

// What every operation answers in the same way.
async function checkCommon(api) {
    for (const operation of doc.operations) {
        const { id, method, path } = operation;
        const target = path.replace(/\{(\w+)\}/g, (_, name) => nowhere[name]);
        await claim(`${id}: a body that is too large`, () =>
            api.call(id, { path: nowhere, headers: { 'Content-Length': 20 << 20, Expect: '100-continue' } }, 413));
        api.close();
        if (method === 'GET') await claim(`${id}: HEAD`, () => api.call(id, { path: nowhere, isHead: true }));
        await claim(`${id}: a query that is no UTF-8`, () => api.call(id, { path: nowhere, rawQuery: '?x=%ff' }, 400));
        if (path.includes('{'))
            await claim(`${id}: a path that is no UTF-8`, async () => {
                const answer = await api.send(method, path.replace(/\{\w+\}/, '%ff').replace(/\{\w+\}/g, '1'));
                const wrong = answer.status === 400 ? doc.answerMistakes(operation, answer) : `status ${answer.status}`;
                if (wrong) throw new Wrong(wrong);
            });
        if (operation.body)
            await claim(`${id}: a body that is no JSON`, () => api.call(id, { path: nowhere, body: '{' }));
        await claim(`${id}: other methods`, () => checkMethods(api, target));
    }
}

async function checkMethods(api, target) {
    const fits = (path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(target);
    const has = [...new Set(doc.operations.filter((o) => fits(o.path)).map((o) => o.method))];
    const allow = [...has, ...(has.includes('GET') ? ['HEAD'] : [])].sort().join();
    for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE', 'get']) {
        if (has.includes(method)) continue;
        const answer = await api.send(method, target);
        const wrong = doc.responseMistakes(written.components.responses.MethodNotAllowed, answer);
        if (answer.status !== 405 || wrong) throw new Wrong(`${method}: ${answer.status} ${wrong} ${answer.raw}`);
        const said = answer.headers.allow.split(', ').sort().join();
        if (said !== allow) throw new Wrong(`${method}: Allow says ${said}, the document ${allow}`);
    }
}

function checkCoverage(api, name) {
    for (const { id, responses } of doc.operations)
        for (const status of Object.keys(responses))
            holds(UNMET[status] || UNMET_BY[id]?.[status] || api.seen.get(id)?.has(status), `${name}: ${id} never answered ${status}`);
}

async function checkServer(name, store) {
    const server = await startServer({ store });
    const api = new Caller(server.url, server.token, doc);
    const shown = await api.call('getDocument', { token: null }, 200);
    holds(isDeepStrictEqual(shown.json, written), `${name}: the server shows the document`);
    for (const walk of walks)
        await claim(`${name}: ${walk.name}`, () => walk(api, (ok, what) => holds(ok, `${name}: ${what}`)));
    holds(api.notKept.size === 0, `${name}: answers that were not kept under their key:\n${[...api.notKept].join('\n')}`);
    const roles = await makeRoles(api);
    await checkRoles(api, roles);
    await checkCommon(api);
    checkCoverage(api, name);
    api.close();
    holds((await server.stop()) === 0, `${name}: the server ends well`);
}

// ---

const { valid, errors } = await new Validator().validate(structuredClone(written));
holds(valid, `the document is OpenAPI 3.1: ${JSON.stringify(errors)?.slice(0, 500)}`);
checkRoutes();
checkCodes();
checkExamples(written, '');
await checkConverter(makeFolder());
await onStores(checkServer);
end();
