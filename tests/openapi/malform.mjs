// malform.mjs - requests that are wrong, made from the document.
//
// A case is {kind, method, target, headers, body, operation, isRefused}. isRefused: the document says
// that it cannot be done, so it must be refused and change nothing. Others may be answered well and
// are made only for operations that change nothing.

const long = (n, text = 'x') => text.repeat(n);
const nested = (n, open, close) => open.repeat(n) + close.repeat(n);

// Texts of JSON, wrong in most places; some are not even JSON.
const values = [
    'null', 'true', 'false', '0', '-0', '-1', '1', '1.5', '1e3', '1e-400', '1e400', '-1e400', '9007199254740993',
    '9223372036854775807', '9223372036854775808', '-9223372036854775809', '123456789012345678901234567890',
    '""', '" "', '"x"', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\u202e"', '"\\uFEFF"',
    '"1h"', '"-1s"', '"2026-13-45"', '"${7*7}"', '"{{ 1 / 0 }}"', '"=1 +"', '"$.input"', '"\' OR 1=1 --"', '"../../etc/passwd"', '"%s%n"',
    '[]', '[[]]', '{}', '{"":""}', '{"__proto__":{"x":1}}', '{"a":{"b":[1,{"c":null}]}}', '{"a":1,"a":2}',
    `"${long(300)}"`, `"${long(20000, 'ä')}"`, `[${long(3000, '0,')}0]`,
    nested(50, '[', ']'), nested(2000, '[', ']'), nested(600, '{"a":', '}').replace('}', '1}'), long(3000, '['),
    // No JSON at all.
    '', 'nul', 'NaN', 'Infinity', '01', '+1', '.5', '1.', '1e', '0x10', "'x'", '"x', '"\t"', '"\\x41"', '"\\u12"', '[1,]', '{"a":1,}', '{a:1}', '//x\n1', '1 2', '\u00a01',
];

// Bytes that are no UTF-8, and some that are but should not be.
const rawBytes = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3], [0xe2, 0x82], [0x80], [0x00]].map((b) => Buffer.from(b));

const words = [
    '', '0', '-1', '1e3', '1.0', '+1', '01', '501', '99999999999999999999', 'null', 'true', 'NaN', 'x', 'X', 'draft', 'ä', '%00', '%ff', '%c0%af', '%ed%a0%80',
    '%', '%z', '%2', '%2f', '%2F..%2F', '..', '.', '%2e%2e', '%252f', '%0d%0aX-Injected:%201', '%09', '%20', '+', '*', '(', '%27%20OR%201=1', '%22', '%5c', ';', ';a=b', '&', '=',
    '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '{00000000-0000-7000-8000-000000000000}', '00000000000070008000000000000000',
    '0000000-0000-7000-8000-0000000000000', '-1s', '1x', '10s10', '1h1h', '99999999999d', '1000000h', '0.5s', '10%20s', '2026-02-30', '2026-01-01T25:00:00Z', '9999-12-31T23:59:59Z', '0000-00-00',
    'eyJhIjoxfQ', 'AAAA', long(1000), long(1000, '%41'), long(100, '%F0%9F%98%80'), '__proto__', 'constructor', '$where', '{{1}}', '<script>',
];

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'PROPFIND', 'X', long(200, 'M')];

const headerCases = [
    ['Authorization', ''], ['Authorization', 'Bearer'], ['Authorization', 'Bearer x'], ['Authorization', `Bearer ${long(64, '0')}`], ['Authorization', 'Basic YTpi'],
    ['Authorization', `Bearer ${long(3000, 'a')}`], ['Authorization', 'Bearer \xff\xfe'],
];

const junkHeaders = [
    ['Idempotency-Key', long(256)], ['If-Match', 'x'], ['If-Match', '""'], ['If-Match', '"-1"'], ['If-Match', '"1'], ['If-Match', '"99999999999999999999"'], ['If-Match', '*'],
    ['Idempotency-Key', '\xff\xfe'], ['Idempotency-Key', 'a\x01b'], ['Content-Type', 'text/html'], ['Content-Type', 'application/json; charset=utf-16'], ['Content-Type', ''], ['Content-Type', 'multipart/form-data; boundary=x'],
    ['Content-Type', 'application/x-www-form-urlencoded'], ['Content-Encoding', 'gzip'], ['Accept', 'image/png'], ['Accept-Encoding', 'gzip'], ['Range', 'bytes=0-1'], ['If-None-Match', 'x'], ['Expect', 'the unexpected'],
    ['Host', ''], ['Host', 'a b'], ['Upgrade', 'h2c'], ['Cookie', long(20, 'a=b;')], ['X', long(3000)], ['Origin', 'null'], ['Last-Event-ID', '\xff'], ['Last-Event-ID', '-1'], ['Last-Event-ID', 'x'],
    ['X-Forwarded-Email', 'admin@example.org'], ['X-Http-Method-Override', 'DELETE'],
];

/** Makes cases for the operations of a document. `known`: values of path parameters that exist. */
export class Malformer {
    constructor(doc, random, known) {
        this.doc = doc;
        this.random = random;
        this.known = known;
        this.makers = [this.fieldCase, this.fieldCase, this.fieldCase, this.textCase, this.textCase, this.pathCase, this.queryCase, this.queryCase, this.methodCase, this.tokenCase, this.headerCase];
    }

    /** The next case; null when the dice made one that may not be sent. */
    next() {
        const operation = this.random.pick(this.doc.operations);
        const made = this.random.pick(this.makers).call(this, operation);
        if (!made || (!made.isRefused && !operation.isSafe)) return null;
        return { operation, method: operation.method, target: this.target(operation), headers: [], body: null, ...made };
    }

    target(operation, replace = {}) {
        return operation.path.replace(/\{(\w+)\}/g, (_, name) => replace[name] ?? this.known[name] ?? '1');
    }

    /** A body that the document would take, as a value. */
    goodBody(operation) {
        const [content] = Object.values(operation.body?.content ?? {});
        return structuredClone(content?.example ?? {});
    }

    // Whether the document refuses this text as a body.
    isWrongBody(operation, bytes) {
        let text, value;
        try {
            text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
            value = text === '' && !operation.body.required ? {} : JSON.parse(text);
        } catch {
            return true;
        }
        // What JSON.parse takes and the document's own rules do not: see docs/decisions/0010.
        if (/\\u0000|\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])/.test(text)) return true;
        const [content] = Object.values(operation.body.content);
        return this.doc.mistakes(content.schema, value) !== '';
    }

    bodyCase(operation, kind, bytes) {
        return { kind, body: bytes, isRefused: this.isWrongBody(operation, bytes) };
    }

    // One place of a good body is replaced, left out or added.
    fieldCase(operation) {
        if (!operation.body) return null;
        const { random } = this;
        const body = this.goodBody(operation);
        const places = [];
        const collect = (value, path) => {
            places.push(path);
            if (typeof value === 'object' && value !== null)
                for (const name of Object.keys(value)) collect(value[name], [...path, name]);
        };
        collect(body, []);
        const schema = this.doc.bodySchema(operation);
        for (const name of Object.keys(schema.properties ?? {})) places.push([name], [name]);
        const place = random.pick(places);
        const dice = random.below(10);
        const hole = '@hole@';
        let name = place.at(-1);
        if (dice === 0 && place.length > 0) name = random.pick([`${name}x`, name.toUpperCase(), '', '__proto__', 'constructor', long(5000), `${name}\u0000`, `${name} `, 'тип']);
        if (dice === 1 && place.length > 0) {
            const holder = place.slice(0, -1).reduce((at, part) => at?.[part], body);
            if (holder && typeof holder === 'object') delete holder[name];
            return this.bodyCase(operation, 'a field is missing', Buffer.from(JSON.stringify(body)));
        }
        if (place.length === 0) return this.bodyCase(operation, 'another value', Buffer.from(random.pick(values)));
        const holder = place.slice(0, -1).reduce((at, part) => at?.[part], body);
        if (!holder || typeof holder !== 'object') return null;
        Object.defineProperty(holder, name, { value: hole, enumerable: true, configurable: true });
        const value = random.pick(values);
        return this.bodyCase(operation, 'a field of another value', Buffer.from(JSON.stringify(body).replace(`"${hole}"`, () => value)));
    }

    // The text of a good body is damaged.
    textCase(operation) {
        if (!operation.body) return null;
        const { random } = this;
        const good = Buffer.from(JSON.stringify(this.goodBody(operation)));
        const at = random.below(good.length + 1);
        const put = (bytes) => Buffer.concat([good.subarray(0, at), bytes, good.subarray(at)]);
        switch (random.below(9)) {
            case 0:
                return this.bodyCase(operation, 'truncated', good.subarray(0, at));
            case 1:
            case 2:
                return this.bodyCase(operation, 'bad bytes', put(random.pick(rawBytes)));
            case 3: {
                const flipped = Buffer.from(good);
                if (flipped.length > 0) flipped[at % flipped.length] ^= 1 << random.below(8);
                return this.bodyCase(operation, 'a bit flipped', flipped);
            }
            case 4:
                return this.bodyCase(operation, 'a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), good]));
            case 5:
                return this.bodyCase(operation, 'UTF-16', Buffer.from(good.toString(), 'utf16le'));
            case 6:
                return this.bodyCase(operation, 'something behind it', Buffer.concat([good, Buffer.from(random.pick(['}', ',', '{}', '\0', 'x', '[]']))]));
            case 7: {
                const name = Object.keys(JSON.parse(good))[0] ?? 'a';
                const twice = `{${JSON.stringify(name)}:1,${good.toString().slice(1, -1)}}`.replace(',}', `,${JSON.stringify(name)}:2}`);
                return { kind: 'a key twice', body: Buffer.from(twice), isRefused: true };
            }
            default:
                return this.bodyCase(operation, 'anything', Buffer.from(random.pick(values)));
        }
    }

    // A path that leads nowhere, with a body that would be taken.
    pathCase(operation) {
        const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
        const { random } = this;
        const body = operation.body ? Buffer.from(JSON.stringify(this.goodBody(operation))) : null;
        if (names.length === 0 || random.below(4) === 0) {
            const target = this.target(operation);
            const tricks = [`${target}/`, `/${target}`, `${target}%00`, `${target}%00x`, `${target}%2f`, `${target}/..`, `${target}/.`, target.replaceAll('/', '//'), target.replaceAll('/', '%2f'),
                target.toUpperCase(), `${target}%20`, `${target};x`, target.replace('/api/v1', '/api/v1/..'), target.replace('/api', '/API'), `http://localhost${target}%ff`, `${target}\\`, target.slice(1) || 'x'];
            // Where the last part may be anything, what is added to it is another thing, not nothing.
            const last = operation.parameters.find((p) => p.in === 'path' && operation.path.endsWith(`{${p.name}}`));
            const isFree = last && this.doc.mistakes(last.schema, 'a b;\\%/') === '';
            const useful = tricks.filter((trick) => trick !== target && !(isFree && trick.startsWith(target) && !/%00|\/$|\/\.+$/.test(trick)));
            return { kind: 'a path trick', target: random.pick(useful), body, isRefused: true, isElsewhere: true };
        }
        const name = random.pick(names);
        const parameter = operation.parameters.find((p) => p.in === 'path' && p.name === name);
        const word = random.pick(words);
        const isWrong = decoded(word) === null || this.doc.mistakes(parameter.schema, decoded(word)) !== '';
        return { kind: 'a bad path parameter', target: this.target(operation, { [name]: word }), body, isRefused: isWrong && !/^[0-9A-Fa-f]{8}-/.test(word), isElsewhere: true };
    }

    // A query that the document refuses, with a body that would be taken.
    queryCase(operation) {
        const parameters = operation.parameters.filter((p) => p.in === 'query');
        if (parameters.length === 0) return null;
        const { random } = this;
        const word = random.pick(words);
        const parameter = random.pick(parameters);
        const twice = random.below(8) === 0 ? `&${parameter.name}=${random.pick(words)}` : '';
        return this.queryOf(operation, parameter, word, twice);
    }

    queryOf(operation, { name, schema, allowEmptyValue }, word, twice = '') {
        const { type } = this.doc.schema(schema);
        const isValue = (type === 'integer' && /^\d+$/.test(word)) || (type === 'boolean' && /^(true|false)$/.test(word));
        const value = isValue ? JSON.parse(word.replace(/^0+(?=\d)/, '')) : decoded(word);
        const isRefused = value === null || (!(allowEmptyValue && value === '') && this.doc.mistakes(schema, value) !== '');
        const body = operation.body ? Buffer.from(JSON.stringify(this.goodBody(operation))) : null;
        const isPlain = !/[&;=]/.test(word) && twice === '';
        return { kind: 'a bad query', target: `${this.target(operation)}?${name}=${word}${twice}`, body, isRefused: isRefused && isPlain };
    }

    /** Every query parameter of the document without its value, which is refused unless the document says `allowEmptyValue`. */
    *emptyQueries() {
        for (const operation of this.doc.operations)
            for (const parameter of operation.parameters.filter((p) => p.in === 'query')) {
                const made = this.queryOf(operation, parameter, '');
                if (made.isRefused || operation.isSafe) yield { operation, method: operation.method, headers: [], ...made, kind: 'an empty query parameter' };
            }
    }

    /** Every field of every body as null, where the document does not allow it. */
    *nullFields() {
        for (const operation of this.doc.operations.filter((o) => o.body))
            for (const name of Object.keys(this.doc.bodySchema(operation).properties ?? {})) {
                const made = this.bodyCase(operation, 'a field that is null', Buffer.from(JSON.stringify({ ...this.goodBody(operation), [name]: null })));
                if (made?.isRefused) yield { operation, method: operation.method, target: this.target(operation), headers: [], ...made };
            }
    }

    methodCase(operation) {
        const has = this.doc.operations.filter((o) => o.path === operation.path).map((o) => o.method);
        const method = this.random.pick(methods);
        if (has.includes(method) || method === 'HEAD') return null;
        const body = operation.body ? Buffer.from(JSON.stringify(this.goodBody(operation))) : null;
        return { kind: 'a wrong method', method, body, isRefused: true, isElsewhere: true };
    }

    tokenCase(operation) {
        if (operation.isOpen) return null;
        const body = operation.body ? Buffer.from(JSON.stringify(this.goodBody(operation))) : null;
        return { kind: 'a bad token', headers: [this.random.pick(headerCases)], body, isRefused: true };
    }

    // Headers that do not belong there, with a body that is refused where the operation changes things.
    headerCase(operation) {
        const { random } = this;
        const made = operation.isSafe ? { body: null, isRefused: false } : this.fieldCase(operation);
        return made && { ...made, kind: 'odd headers', headers: [random.pick(junkHeaders)] };
    }
}

function decoded(word) {
    try {
        return decodeURIComponent(word.replaceAll('+', ' '));
    } catch {
        return null;
    }
}

// Bytes that are hardly HTTP; each is sent on a connection of its own. {id} and {token} are filled in.
const start = (rest) => `POST /api/v1/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n${rest}`;
export const brokenRequests = [
    '\r\n', 'GET\r\n\r\n', 'GET /healthz\r\n\r\n', 'GET /healthz HTTP/0.9\r\n\r\n', 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n', 'GET  /healthz  HTTP/1.1\r\nHost: x\r\n\r\n', 'GET /healthz HTTP/1.1\nHost: x\n\n',
    'GET /healthz HTTP/1.1\r\n\r\n', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 'GET /healthz HTTP/1.1\r\nNo colon\r\n\r\n', 'GET /healthz HTTP/1.1\r\n: x\r\n\r\n', 'GET /healthz HTTP/1.1\r\n folded: x\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: x\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 'GET \0 HTTP/1.1\r\nHost: x\r\n\r\n', 'GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', `GET /${long(20000)} HTTP/1.1\r\nHost: x\r\n\r\n`, `GET /healthz HTTP/1.1\r\nX: ${long(20000)}\r\n\r\n`, `GET /healthz HTTP/1.1\r\n${long(2000, 'A: b\r\n')}\r\n`, `${long(20000)} /healthz HTTP/1.1\r\n\r\n`,
    `GET /api/v1/executions?${long(15900, 'a')} HTTP/1.1\r\nHost: x\r\n\r\n`, `GET /api/v1/executions?${long(5000, 'a&')} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n\r\n`,
    // What would start an execution if it were read carelessly.
    start('Content-Length: -1\r\n\r\n{"code":"greeting"}'), start('Content-Length: x\r\n\r\n{"code":"greeting"}'), start('Content-Length: 19, 19\r\n\r\n{"code":"greeting"}'), start('Content-Length: 99999999999999999999\r\n\r\n{"code":"greeting"}'),
    start('Content-Length: 0x13\r\n\r\n{"code":"greeting"}'), start('Content-Length: +19\r\n\r\n{"code":"greeting"}'), start('Content-Length: 19\r\nContent-Length: 5\r\n\r\n{"code":"greeting"}'), start('Content-Length: 5\r\nContent-Length: 19\r\n\r\n{"code":"greeting"}'),
    start('Content-Length: 19\r\nTransfer-Encoding: chunked\r\n\r\n{"code":"greeting"}'), start('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n13\r\n{"code":"greeting"}\r\n0\r\n\r\n'),
    start('Transfer-Encoding: chunked\r\n\r\nxyz\r\n'), start('Transfer-Encoding: chunked\r\n\r\n-1\r\n{}'), start('Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}'), start('Transfer-Encoding: chunked\r\n\r\n13\r\n{"code":"greeting"}XX0\r\n\r\n'),
    start('Transfer-Encoding: gzip\r\n\r\n13\r\n{"code":"greeting"}\r\n0\r\n\r\n'), start('Transfer-Encoding: identity\r\nContent-Length: 19\r\n\r\n{"code":"greeting"}'), start('Content-Length : 19\r\n\r\n{"code":"greeting"}'),
    start('Content-Length: 19\r\n\r\n{"code":'), start('Content-Length: 40\r\n\r\n{"code":"greeting"}'), start('Transfer-Encoding: chunked\r\n\r\n13\r\n{"code":"gree'),
    'POST /api/v1/executions/{id}/cancel%00 HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{}', 'POST /api/v1/executions/{id}/cancel%00/x HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{}',
    'POST /api/v1/executions/{id}/cancel HTTP/1.1\r\nAuthorization: Bearer {token}x\r\nAuthorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{}',
];
