// The door: sign-in through a proxy, TLS, settings, and clients that are slow, large or many.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';

import { claim, end, equal, skip } from '../lib/claims.mjs';
import { refused, request } from '../lib/client.mjs';
import { execute, makeFolder, pawl } from '../lib/program.mjs';
import { Server } from '../lib/server.mjs';
import { until } from '../lib/wait.mjs';

const folder = makeFolder();
const env = { PATH: process.env.PATH };

const server = (...args) => new Server(makeFolder(), { args });

async function serving(s, use) {
    equal(await s.start(), true, s.log);
    try {
        await use(s);
    } finally {
        equal(await s.stop(), 0, s.log);
    }
}

/** What `pawl serve` says when it refuses to start. */
async function refusal(...args) {
    return execute(pawl, ['serve', '--data', join(folder, 'refused'), '--listen', '127.0.0.1:0', ...args], { env });
}

// --- sign-in through a proxy ---

const proxied = (trusted) => ['--auth-header', 'X-Forwarded-Email', '--trusted-proxy', trusted];

await claim('the header of a trusted proxy is believed', () =>
    serving(server(...proxied('10.0.0.0/8, 127.0.0.1/32')), async (s) => {
        const user = await s.user({ name: 'Ada', email: 'ada@example.org', role: 'operator' });
        const as = (email, token = null) =>
            s.api(token, 'GET', '/me', undefined, { 'X-Forwarded-Email': email });
        equal((await as('Ada@Example.ORG')).body.id, user.id);
        refused(await s.api(null, 'GET', '/users', undefined, { 'X-Forwarded-Email': 'ada@example.org' }),
            403, 'forbidden');
        const unknown = await as('eve@example.org');
        refused(unknown, 401, 'unauthorized');
        equal(unknown.body.detail, 'there is no active user with the e-mail eve@example.org');
        refused(await as(''), 401, 'unauthorized');
        refused(await as(['ada@example.org', 'root@example.org']), 401, 'unauthorized');
        // A token is what counts where there is one.
        refused(await as('ada@example.org', 'wrong'), 401, 'unauthorized');
        equal((await as('eve@example.org', user.token)).body.id, user.id);
        await s.asAdmin('PATCH', `/users/${user.id}`, { active: false });
        refused(await as('ada@example.org'), 401, 'unauthorized');
    }));

await claim('the same header from elsewhere is not', () =>
    serving(server(...proxied('10.0.0.0/8,2001:db8::/32')), async (s) => {
        await s.user({ name: 'Ada', email: 'ada@example.org' });
        const answer = await s.api(null, 'GET', '/me', undefined, { 'X-Forwarded-Email': 'ada@example.org' });
        refused(answer, 401, 'unauthorized');
        equal(answer.body.detail.includes('--trusted-proxy'), true);
    }));

await claim('without the setting the header means nothing', () =>
    serving(server(), async (s) => {
        await s.user({ name: 'Ada', email: 'ada@example.org' });
        refused(await s.api(null, 'GET', '/me', undefined, { 'X-Forwarded-Email': 'ada@example.org' }),
            401, 'unauthorized');
    }));

const hasIpv6 = Object.values(os.networkInterfaces()).flat().some((a) => a.address === '::1');
if (hasIpv6)
    await claim('a proxy may come by IPv6', async () => {
        for (const [trusted, status] of [['::1', 200], ['2001:db8::/32', 401]])
            await serving(server('--listen', '[::1]:0', ...proxied(trusted)), async (s) => {
                await s.user({ name: 'Ada', email: 'ada@example.org' });
                equal((await s.api(null, 'GET', '/me', undefined,
                    { 'X-Forwarded-Email': 'ada@example.org' })).status, status);
            });
    });
else skip('no IPv6');

await claim('half a proxy is refused', async () => {
    for (const args of [['--auth-header', 'X-User'], ['--trusted-proxy', '10.0.0.0/99'],
        ['--auth-header', 'X User', '--trusted-proxy', '10.0.0.0/8'],
        ['--auth-header', 'X-User', '--trusted-proxy', '10.0.0.0/99']]) {
        const { status, out } = await refusal(...args);
        equal([status, out.includes('pawl serve: --')], [2, true], out);
    }
});

await claim('strangers are told apart by the address that a proxy adds last, on whichever line, also without sign-in', () =>
    serving(server('--trusted-proxy', '127.0.0.1', '--hook-rate', '1'), async (s) => {
        const ask = (path, lines) => request(`${s.url}${path}`, { method: 'POST', headers: { 'X-Forwarded-For': lines } });
        for (const path of ['/callbacks/x/yes', '/hooks/x']) {
            const statuses = [];
            // Whoever calls writes what it likes into its own line; the proxy's line is behind it.
            for (let i = 0; i < 12; i++) statuses.push((await ask(path, [`198.51.100.${i}`, '203.0.113.7'])).status);
            equal(statuses.filter((status) => status === 429).length >= 4, true, `${path}: ${statuses}`);
            equal((await ask(path, ['203.0.113.7', '203.0.113.8'])).status, 404, `${path}: somebody else`);
        }
    }));

await claim('a name that begins like a loopback address is none', async () => {
    const { status, out } = await refusal('--listen', '127.example.org:0');
    equal([status, out.includes('--allow-plain-http')], [2, true], out);
});

// --- TLS ---

async function certificate(name, days = 30) {
    const cert = join(folder, `${name}.pem`), key = join(folder, `${name}.key`);
    const made = await execute('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
        '-nodes', '-keyout', key, '-out', cert, '-days', String(days), '-subj', '/CN=localhost',
        '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']);
    equal(made.status, 0, made.out);
    return { cert, key };
}

const one = await certificate('one'), other = await certificate('other');
const withTls = ({ cert, key }) => ['--tls-cert', cert, '--tls-key', key];

await claim('TLS serves what plain HTTP does', () =>
    serving(server(...withTls(one)), async (s) => {
        s.ca = readFileSync(one.cert);
        equal(s.url.startsWith('https://127.0.0.1:'), true, s.url);
        equal(s.welcome.includes(`sign in  ${s.url}/ `), true, 'the address to sign in');
        equal((await s.call(null, 'GET', '/healthz')).body, { status: 'ok' });
        equal((await s.asAdmin('GET', '/me')).headers['strict-transport-security'], 'max-age=31536000');
        await s.publish({ code: 'hello', steps: [{ code: 'a', procedure: { type: 'compute.transform', data: { x: 1 } } }] });
        await s.publish({ code: 'waits', steps: [{ code: 'a', procedure: { type: 'wait.signal', signalType: 'go' } }] });
        const ends = await Promise.all(Array.from({ length: 20 }, () =>
            s.asAdmin('POST', '/executions?wait=60s', { code: 'hello' })));
        equal(ends.every((e) => e.status === 201 && e.body.status === 'completed'), true);
        const later = s.asAdmin('POST', '/executions?wait=60s', { code: 'waits', key: 'k' });
        const { items: [{ id }] } = await until('it waits', async () => {
            const { body } = await s.asAdmin('GET', '/executions?key=k&status=waiting');
            return body.items.length > 0 ? body : null;
        });
        equal((await s.asAdmin('POST', `/executions/${id}/signal`, { type: 'go' })).status, 202);
        equal((await later).body.status, 'completed', 'a request that was kept');
        const large = await s.asAdmin('PUT', '/scenarios/large/draft', { code: 'large', x: 'x'.repeat(1500000) });
        equal(large.status, 200);
        equal((await s.asAdmin('GET', '/scenarios/large')).raw.length > 1500000, true, 'a large answer');
        // The command line, too.
        const cli = (...args) => execute(pawl, args, { env: { ...env, PAWL_URL: s.url, PAWL_TOKEN: s.token } });
        const trusted = await cli('ls', '--ca', one.cert);
        equal([trusted.status, trusted.out.includes('completed')], [0, true], trusted.out);
        const distrusted = await cli('ls');
        equal([distrusted.status, distrusted.out.includes('--ca')], [1, true], distrusted.out);
        // Plain HTTP at this port is no way in.
        const plain = new Promise((done) => {
            const socket = net.connect(new URL(s.url).port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\n\r\n'));
            let text = '';
            socket.on('data', (part) => (text += part));
            socket.on('error', () => done(text));
            socket.on('close', () => done(text));
        });
        equal((await plain).includes('200'), false);
    }));

await claim('TLS may listen beyond this machine', () =>
    serving(server('--listen', '0.0.0.0:0', ...withTls(one)), async (s) => {
        equal(s.url.startsWith('https://0.0.0.0:'), true, s.url);
    }));

await claim('what is wrong with a certificate is told at the start', async () => {
    const junk = join(folder, 'junk.pem'), locked = join(folder, 'locked.key');
    writeFileSync(junk, 'nonsense\n');
    await execute('openssl', ['ec', '-in', one.key, '-aes128', '-passout', 'pass:x', '-out', locked]);
    for (const [cert, key, words] of [
        [one.cert, other.key, 'is not that of the certificate'],
        [junk, one.key, 'no certificate'],
        [one.cert, junk, 'no private key'],
        [one.cert, locked, 'has a password'],
        [join(folder, 'nothing'), one.key, 'cannot read'],
    ]) {
        const { status, out } = await refusal('--tls-cert', cert, '--tls-key', key);
        equal([status, out.includes(words)], [2, true], out);
    }
    const half = await refusal('--tls-cert', one.cert);
    equal([half.status, half.out.includes('go together')], [2, true], half.out);
});

/** The bytes of the certificate that a new connection is shown. */
const shown = (s) => new Promise((done, fail) => {
    const socket = tls.connect({ port: Number(new URL(s.url).port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
        done(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
    });
    socket.on('error', fail);
});

await claim('a hang-up reads the certificate and the log level again and ends nothing', async () => {
    const now = { cert: join(folder, 'now.pem'), key: join(folder, 'now.key') }, config = join(folder, 'log.json');
    const use = ({ cert, key }) => [copyFileSync(cert, now.cert), copyFileSync(key, now.key)];
    const hangUp = (s) => process.kill(s.child.pid, 'SIGHUP');
    use(one);
    writeFileSync(config, '{"log-level": "info"}');
    await serving(server(...withTls(now), '--config', config), async (s) => {
        s.ca = [readFileSync(one.cert), readFileSync(other.cert)];
        const before = await shown(s);
        use(other);
        hangUp(s);
        await until('another certificate is shown', async () => (await shown(s)) !== before);
        const after = await shown(s);
        equal((await s.call(null, 'GET', '/healthz')).status, 200);
        copyFileSync(one.key, now.key); // a key that is not the certificate's
        hangUp(s);
        await until('it says what is wrong', () => s.log.includes('is not that of the certificate'));
        equal([await shown(s), s.child !== null], [after, true], 'the last good one stays');
        writeFileSync(config, '{"log-level": "loud"}');
        hangUp(s);
        await until('it says what is wrong', () => s.log.includes('log-level is debug'));
        use(one);
        writeFileSync(config, '{"log-level": "warn"}');
        hangUp(s);
        await until('the first is shown again', async () => (await shown(s)) === before);
    });
    await serving(server(), async (s) => {
        const began = await until('the start is in the log', () => s.log.split('\n').find((line) => line.includes('the server has started')));
        equal([JSON.parse(began).url, JSON.parse(began).level], [s.url, 'info']);
        for (let i = 0; i < 3; i++) hangUp(s);
        await until('plain HTTP has settings too', () => s.log.includes('were read again'));
        equal((await s.call(null, 'GET', '/healthz')).status, 200);
    });
});

await claim('the doctor sees a certificate that ends soon', async () => {
    for (const [days, level, words] of [[1, 'warning', 'ends within'], [13, 'warning', 'ends within'], [30, 'ok', 'days more']]) {
        const made = await certificate(`for-${days}`, days);
        await serving(server(...withTls(made)), async (s) => {
            const { out } = await execute(pawl, ['doctor', '--json'], { env: { ...env, PAWL_URL: s.url, PAWL_CA: made.cert, PAWL_DATA: s.data } });
            const check = JSON.parse(out).checks.find((c) => c.name === 'certificate');
            equal([check?.level, check?.message.includes(words)], [level, true], out);
        });
    }
});

await claim('plain HTTP beyond this machine needs a word', async () => {
    const refused = await refusal('--listen', '0.0.0.0:0');
    equal([refused.status, refused.out.includes('--allow-plain-http')], [2, true], refused.out);
    await serving(server('--listen', '0.0.0.0:0', '--allow-plain-http'), async (s) => {
        s.url = s.url.replace('0.0.0.0', '127.0.0.1');
        equal((await s.call(null, 'GET', '/healthz')).status, 200);
    });
});

// --- settings ---

await claim('options win over variables, variables over the file', async () => {
    const config = join(folder, 'config.json');
    writeFileSync(config, JSON.stringify({
        data: 'from-file', listen: '127.0.0.1:1', 'allow-plain-http': true, 'max-connections': 9,
        'client-timeout': '5s', store: 'postgres://me:secret@db/pawl',
    }));
    const { status, out } = await execute(pawl,
        ['serve', '--print-config', '--json', '--config', config, '--data', 'from-option'],
        { env: { ...env, PAWL_LISTEN: '127.0.0.1:2', PAWL_DATA: 'from-variable' } });
    equal(status, 0, out);
    const settings = JSON.parse(out);
    equal([settings.data, settings.listen, settings['max-connections'], settings['tls-cert']], [
        { value: 'from-option', source: 'option' }, { value: '127.0.0.1:2', source: 'PAWL_LISTEN' },
        { value: '9', source: config }, { value: null, source: 'default' },
    ]);
    equal([settings.store.value, settings['allow-plain-http'].value], ['postgres://me:***@db/pawl', 'true']);
    const variable = await execute(pawl, ['serve', '--print-config'], { env: { ...env, PAWL_CONFIG: config } });
    equal([variable.status, variable.out.includes('secret')], [0, false]);
});

await claim('what is wrong with settings is told', async () => {
    const config = join(folder, 'wrong.json');
    for (const [text, words] of [
        ['{"lisen": "x"}', 'did you mean "listen"?'],
        ['{"max-connections": "many"}', '"max-connections" must be a number'],
        ['{"allow-plain-http": "yes"}', 'must be true or false'],
        ['{"data": 7}', '"data" must be a text'],
        ['[]', 'must hold a JSON object'],
        ['{', 'wrong.json:1:'],
    ]) {
        writeFileSync(config, text);
        const { status, out } = await refusal('--config', config);
        equal([status, out.includes(words)], [2, true], out);
    }
    for (const [args, words] of [
        [['--max-connections', 'x'], 'must be a number'],
        [['--client-timeout', 'soon'], 'must be a duration'],
        [['--public-url', 'pawl.example.org'], 'begins with https://'],
        [['--lisen', 'x'], 'did you mean --listen?'],
        [['nonsense'], 'is not an option'],
    ]) {
        const { status, out } = await refusal(...args);
        equal([status, out.includes(words)], [2, true], out);
    }
});

await claim('the address to sign in is the public one', () =>
    serving(server('--public-url', 'https://pawl.example.org'), async (s) => {
        equal(s.welcome.includes('sign in  https://pawl.example.org/ '), true, s.welcome);
    }));

await claim('the token of the administrator is shown on a terminal, at the first start, and nowhere else', async () => {
    const data = join(folder, 'welcome');
    const start = (command, held = data) => execute('bash', ['-c', `${command} & pid=$!; for i in $(seq 500); do grep -q 'data  ' out && break; sleep 0.02; done; kill -TERM $(cat ${held}/pawl.lock); wait $pid; cat out; rm out`], { env, cwd: folder });
    const serve = `${pawl} serve --data ${data} --listen 127.0.0.1:0`;
    const token = () => readFileSync(join(data, 'admin.token'), 'utf8').trim();
    const first = await start(`script -qfec '${serve}' out >/dev/null`);
    equal([first.out.includes('sign in'), first.out.includes(`/#token=${token()}`)], [true, true], first.out);
    const second = await start(`script -qfec '${serve}' out >/dev/null`);
    equal([second.out.includes('sign in'), second.out.includes(token())], [true, false], second.out);
    // Where a journal listens, not even then.
    const piped = await start(`${serve.replace(data, `${data}2`)} >out 2>&1`, `${data}2`);
    equal([piped.out.includes('sign in'), piped.out.includes('pawl_')], [true, false], piped.out);
});

// --- clients that are slow, large or many ---

/** A raw connection: {text, closed}. */
function connect(s, write) {
    const state = { text: '', closed: false };
    state.socket = net.connect(new URL(s.url).port, '127.0.0.1', () => write?.(state.socket));
    state.socket.on('data', (part) => (state.text += part));
    state.socket.on('error', () => {});
    state.socket.on('close', () => (state.closed = true));
    return state;
}

await claim('a client that drips its bytes is cut, and others are served meanwhile', () =>
    serving(server('--client-timeout', '1s'), async (s) => {
        const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ' + 'x'.repeat(1000);
        let at = 0;
        const slow = connect(s);
        const drip = setInterval(() => slow.socket.writable && slow.socket.write(request[at++ % request.length]), 20);
        const body = connect(s, (socket) => socket.write(
            `POST /api/v1/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.token}\r\nContent-Length: 100\r\n\r\n{`));
        const idle = connect(s);
        for (let i = 0; i < 20; i++) equal((await s.call(null, 'GET', '/healthz')).status, 200);
        await until('the slow ones are cut', () => slow.closed && body.closed && idle.closed);
        clearInterval(drip);
        equal([slow.text, body.text.includes('200')], ['', false]);
        equal((await s.call(null, 'GET', '/healthz')).status, 200);
    }));

await claim('headers of 32 KiB are read, of 90 KB refused', () =>
    serving(server(), async (s) => {
        equal((await s.call(null, 'GET', '/healthz', undefined, { 'X-Large': 'x'.repeat(32000) })).status, 200);
        equal((await s.asAdmin('GET', '/me', undefined, { Cookie: `sso=${'x'.repeat(31000)}` })).status, 200);
        equal((await s.call(null, 'GET', '/healthz', undefined, { 'X-Large': 'x'.repeat(90000) })).status, 431);
        refused(await s.call(null, 'GET', '/healthz', undefined, { 'X-Large': 'x'.repeat(90000) }), 431, 'headers_too_large');
        refused(await s.call(null, 'GET', `/healthz?${'x'.repeat(90000)}`), 414, 'uri_too_long');
        const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`X-${i}`, 'x'.repeat(90)]));
        equal((await s.call(null, 'GET', '/healthz', undefined, many)).status, 431);
        equal((await s.call(null, 'GET', `/healthz?${'x'.repeat(90000)}`)).status, 414);
        equal((await s.call(null, 'GET', '/healthz')).status, 200);
    }));

await claim('every answer has the headers that protect browsers', () =>
    serving(server(), async (s) => {
        for (const answer of [
            await s.call(null, 'GET', '/healthz'), await s.call(null, 'GET', '/api/v1/me'), await s.call(null, 'GET', '/nothing'),
            await s.asAdmin('GET', '/me'), await s.asAdmin('GET', '/events'), await s.asAdmin('DELETE', '/me'), await s.asAdmin('POST', '/executions', '{'),
        ])
            equal(['x-content-type-options', 'referrer-policy', 'x-frame-options', 'cache-control', 'strict-transport-security'].map((name) => answer.headers[name]),
                ['nosniff', 'no-referrer', 'DENY', 'no-store', undefined], `status ${answer.status}`);
    }));

const upload = (s, token, method, path, length) => (socket) => socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}Content-Length: ${length}\r\n\r\n`);

await claim('who is not known, or may not, is told so before the body', () =>
    serving(server(), async (s) => {
        const member = (await s.user({ name: 'M', role: 'member' })).token;
        for (const [token, path, status] of [
            [null, '/api/v1/executions', 401], ['wrong', '/api/v1/executions', 401], [null, '/nothing', 401],
            [member, '/api/v1/import', 403], [member, '/nothing', 404],
        ]) {
            const early = connect(s, upload(s, token, 'POST', path, 1000000));
            await until(`${path} is answered`, () => early.closed);
            equal(early.text.startsWith(`HTTP/1.1 ${status} `), true, early.text);
            equal(early.text.includes('application/problem+json'), true, early.text);
        }
        // A client that sends its whole body first still hears the answer.
        const late = await s.call(null, 'POST', '/api/v1/executions', 'x'.repeat(900000));
        refused(late, 401, 'unauthorized');
    }));

const residentKb = (s) => s.memoryMb() * 1024;

await claim('unfinished uploads take no memory but that of the row they belong to', () =>
    serving(server(), async (s) => {
        const member = (await s.user({ name: 'M', role: 'member' })).token;
        const before = residentKb(s);
        // The path looks like that of a bundle; who asks may write no records at all.
        const crowd = Array.from({ length: 100 }, () => connect(s, (socket) => {
            upload(s, member, 'PUT', '/api/v1/records/x/import', 16 << 20)(socket);
            socket.write('x'.repeat(7 << 20));
        }));
        // A client that goes on sending for longer than the server lingers is cut, and may miss the answer.
        const isAnswered = (c) => c.text.startsWith('HTTP/1.1 403 ');
        await until('all were answered', () => crowd.every((c) => isAnswered(c) || c.closed));
        equal(crowd.some(isAnswered), true, 'somebody has read the answer');
        // Who may write records is stopped at the size of a record.
        const large = connect(s, (socket) => {
            upload(s, s.token, 'PUT', '/api/v1/records/x/import', 16 << 20)(socket);
            socket.write('x'.repeat(16 << 20));
        });
        await until('it is answered', () => large.text.startsWith('HTTP/1.1 413 ') || large.closed);
        const grown = residentKb(s) - before;
        equal(grown < 60000, true, `grown by ${grown} KiB`);
        for (const c of [...crowd, large]) c.socket.destroy();
    }));

await claim('TLS 1.2 and 1.3 are spoken, and nothing older', () =>
    serving(server(...withTls(one)), async (s) => {
        const speak = (minVersion, maxVersion) => new Promise((done) => {
            const socket = tls.connect({
                host: '127.0.0.1', port: new URL(s.url).port, rejectUnauthorized: false, minVersion, maxVersion, ciphers: 'ALL:@SECLEVEL=0',
            }, () => {
                done(socket.getProtocol());
                socket.destroy();
            });
            socket.on('error', () => done('refused'));
        });
        equal([await speak('TLSv1.3', 'TLSv1.3'), await speak('TLSv1.2', 'TLSv1.2')], ['TLSv1.3', 'TLSv1.2']);
        equal([await speak('TLSv1', 'TLSv1'), await speak('TLSv1.1', 'TLSv1.1')], ['refused', 'refused']);
    }));

await claim('a user has a thousand streams, and others still have theirs', () =>
    serving(server(), async (s) => {
        const greedy = (await s.user({ name: 'G' })).token, other = (await s.user({ name: 'O' })).token;
        const get = (token) => (socket) => socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
        const streams = Array.from({ length: 1000 }, () => connect(s, get(greedy)));
        await until('all are open', () => streams.every((c) => c.text.startsWith('HTTP/1.1 200 ')));
        const answer = await s.api(greedy, 'GET', '/events');
        refused(answer, 429, 'too_many_requests');
        equal(answer.headers['retry-after'], '1');
        equal((await s.api(other, 'GET', '/events')).status, 200);
        for (const c of streams) c.socket.destroy();
        await until('there is room again', async () => (await s.api(greedy, 'GET', '/events')).status === 200);
    }));

await claim('figures are open to this machine, and not to whom a proxy on it lets through', () =>
    serving(server(), async (s) => {
        const get = (headers, token = null) => s.call(token, 'GET', '/metrics', undefined, headers);
        equal((await get({})).status, 200);
        for (const header of ['Forwarded', 'X-Forwarded-For', 'x-forwarded-proto', 'X-Forwarded-Host'])
            refused(await get({ [header]: 'for=192.0.2.7' }), 401, 'unauthorized');
        equal((await get({ 'X-Forwarded-For': '192.0.2.7' }, s.token)).status, 200);
    }));

await claim('who is turned away while the server stops is told why and when to come back', async () => {
    const s = server();
    equal(await s.start(), true, s.log);
    await s.publish({ code: 'ask', steps: [{ code: 'a', procedure: { type: 'wait.signal', signalType: 'go' } }] });
    const body = '{"code":"ask"}';
    const start = (path) => (socket) => socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const waiting = Array.from({ length: 50 }, () => connect(s, start('/api/v1/executions?wait=600s')));
    await until('all wait', async () => (await s.list('/executions')).length === 50);
    // Each asks again and again on its connection until that ends.
    const busy = Array.from({ length: 50 }, () => {
        const state = connect(s, start('/api/v1/executions'));
        state.socket.on('data', () => {
            for (let i = 0; i < 4 && state.socket.writable; i++) start('/api/v1/executions')(state.socket);
        });
        return state;
    });
    await until('all are at work', () => busy.every((c) => c.text.includes('201 Created')));
    equal(await s.stop(), 0, s.log);
    await until('all connections have ended', () => [...waiting, ...busy].every((c) => c.closed));
    let turnedAway = 0;
    for (const { text } of [...waiting, ...busy])
        for (const answer of text.split(/(?=HTTP\/1\.1 )/).filter((part) => part.startsWith('HTTP/1.1 503'))) {
            turnedAway++;
            equal([answer.includes('Retry-After: 1'), answer.includes('application/problem+json'), answer.includes('"code":"overloaded"')],
                [true, true, true], answer);
        }
    equal(turnedAway > 0, true, `${turnedAway} were turned away`);
});

await claim('more connections than allowed wait or are closed, and nobody else suffers', () =>
    serving(server('--max-connections', '10'), async (s) => {
        equal((await s.call(null, 'GET', '/healthz')).status, 200);
        const crowd = Array.from({ length: 40 }, () => connect(s));
        // The connection that was there before is served all the time.
        for (let i = 0; i < 10; i++) equal((await s.call(null, 'GET', '/healthz')).status, 200);
        crowd.forEach((c) => c.socket.destroy());
        const next = connect(s, (socket) => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'));
        await until('a new one is served again', () => next.text.startsWith('HTTP/1.1 200'));
        next.socket.destroy();
    }));

end();
