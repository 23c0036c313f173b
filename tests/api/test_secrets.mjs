// Calls with credentials against real services on this machine, on both stores: what leaves, where to, and that no
// secret stays behind: not in what is stored, shown or logged, also when the service repeats it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until as eventually } from '../lib/wait.mjs';

const secrets = {
    key: 'sk-live/4711+very secret', password: 'pa:ss "word" ü', client: 'client&secret=1', bot: '99:bot-token_x', pin: '73918264',
};

/** A service that remembers what it was asked, repeats it as it was told, and gives out tokens. */
class Service {
    constructor() {
        this.requests = [];
        this.tokens = [];
        this.server = createServer((request, response) => this.take(request, response));
    }

    async open() {
        await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
        this.url = `http://127.0.0.1:${this.server.address().port}`;
    }

    async take(request, response) {
        let body = '';
        for await (const part of request) body += part;
        const url = new URL(request.url, 'http://x');
        const { headers } = request;
        this.requests.push({ method: request.method, path: url.pathname, query: url.search, headers, body });
        const json = (status, value, more = {}) => {
            response.writeHead(status, { 'content-type': 'application/json', ...more });
            response.end(JSON.stringify(value));
        };
        const word = url.pathname.split('/')[2];
        if (url.pathname === '/token') {
            const token = `token-${this.tokens.length}-${'abcdefgh'}`;
            this.tokens.push({ token, headers, body });
            if (this.isDown) return json(503, {});
            if (this.isLocked) return json(400, { error: 'invalid_client' });
            await sleep(50);
            return json(200, { access_token: token, token_type: 'Bearer', expires_in: 3600 });
        }
        if (word === 'echo')
            return json(200, { url: request.url, headers, body, encoded: encodeURIComponent(body), base64: Buffer.from(body).toString('base64') }, { 'x-echo': encodeURIComponent(headers.authorization ?? headers['x-api-key'] ?? '') });
        if (word === 'text') return response.end(`you said ${headers.authorization} and ${body}, or ${Buffer.from(`user: ${body}`).toString('base64')}`);
        if (word === 'number') return json(200, { pin: Number(secrets.pin), list: [secrets.pin] });
        if (word === 'fail') return json(422, { error: { code: 'no', message: `bad key ${headers['x-api-key']}` } });
        if (word === 'redirect') return response.writeHead(302, { location: '/v1/echo/after' }).end();
        if (word === 'leak') return response.writeHead(302, { location: `/v1/echo/after?key=${encodeURIComponent(headers['x-api-key'])}` }).end();
        if (word === 'guarded') {
            const last = this.tokens.at(-1)?.token;
            return headers.authorization === `Bearer ${last}` && !this.isExpired ? json(200, { ok: true }) : ((this.isExpired = false), json(401, {}));
        }
        return json(404, {});
    }

    of(path) {
        return this.requests.filter((r) => r.path === path);
    }
}

const service = new Service();
const other = new Service();
await service.open();
await other.open();

const once = { retry: { maxAttempts: 1 } };
let count = 0;

async function execute(rig, command, more = once, input = {}) {
    const code = `secrets_${++count}`;
    await rig.publish({ code, steps: [{ code: 'ask', procedure: command, ...more }] });
    const answer = await rig.api('POST', '/executions?wait=60s', { code, input });
    check(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
}

const http = (more) => ({ type: 'integration.http', ...more });
const output = (x) => {
    equal(x.status, 'completed', JSON.stringify(x));
    return x.context.steps.ask.output;
};

const dump = (rig) => execFileSync('pg_dump', ['--data-only', rig.store], { encoding: 'utf8', maxBuffer: 1 << 28 });

/** Every form of a secret that could have been left behind. */
const forms = (secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -2), Buffer.from(secret).toString('hex')];

function hasNone(text, what) {
    for (const secret of [...Object.values(secrets), 'abcdefgh'])
        for (const form of forms(secret)) check(!text.includes(form), `${form} in ${what}`);
}

claim('each type goes with the call in its own way', async (rig) => {
    output(await execute(rig, http({ credential: 'key', path: '/echo/key' })));
    equal(service.of('/v1/echo/key').at(-1).headers['x-api-key'], secrets.key);
    output(await execute(rig, http({ credential: 'plain', path: 'echo/plain', method: 'POST', body: { a: 1 } })));
    equal(service.of('/v1/echo/plain').at(-1).headers.authorization, `Basic ${Buffer.from(`pawl:${secrets.password}`).toString('base64')}`);
    output(await execute(rig, http({ credential: 'oauth', url: `${service.url}/v1/echo/oauth`, query: { a: 'b c' } })));
    const call = service.of('/v1/echo/oauth').at(-1);
    equal([call.headers.authorization, call.query], [`Bearer ${service.tokens.at(-1).token}`, '?a=b%20c']);
    const { headers, body } = service.tokens.at(-1);
    equal(headers.authorization, `Basic ${Buffer.from(`pawl:${encodeURIComponent(secrets.client)}`).toString('base64')}`);
    equal(body, 'grant_type=client_credentials&scope=a+b');
});

claim('secrets stand where they are written, and only there', async (rig) => {
    const forged = '{{secrets.bot.token}}';
    const x = await execute(rig, http({
        method: 'POST', url: `${service.url}/v1/bot{{ $.secrets.bot.token }}/send`, query: { key: '$.secrets.bot.token' },
        headers: { 'X-One': 'Token {{ $.secrets.bot.token }}', 'X-User': '$.input.text' },
        body: { list: ['$.input.text', '=$.secrets.bot.token + "/" + $.secrets.bot.pin'] },
    }), { ...once, input: { text: '$.input.text' } }, { text: forged });
    equal(x.error?.code ?? x.status, 'external_status');
    const sent = service.requests.at(-1);
    equal([sent.path, sent.query], [`/v1/bot${secrets.bot}/send`, `?key=${encodeURIComponent(secrets.bot)}`]);
    equal([sent.headers['x-one'], sent.headers['x-user']], [`Token ${secrets.bot}`, forged]);
    equal(JSON.parse(sent.body).list, [forged, `${secrets.bot}/${secrets.pin}`]);
    const stored = rig.store ? dump(rig) : ['pawl.db', 'pawl.db-wal'].map((name) => readFileSync(join(rig.server.data, name), 'latin1')).join('');
    for (const part of ['Token {{secrets.bot.token}}', '"at":["headers","X-One"],"from":6', '"name":"bot.pin"']) check(stored.includes(part), `${part} is not stored`);
});

claim('nothing is sent outside the base_url of a credential', async (rig) => {
    const before = service.requests.length;
    for (const url of [`${other.url}/v1/echo/x`, `${service.url}/v2/echo/x`, `${service.url}/v1/../v2`, `${service.url}/v1/%2e%2e/v2`, `${service.url}/v1x`])
        for (const command of [{ credential: 'key', url }, { credential: 'oauth', url }, { url, headers: { 'X-Own': '$.secrets.bot.token' } }]) {
            const x = await execute(rig, http(command));
            equal([x.error?.code, x.error?.class], ['permission_credential', 'business'], url);
        }
    equal([other.requests.length, service.requests.length], [0, before]);
});

claim('a redirect never carries a secret', async (rig) => {
    const at = service.of('/v1/echo/after').length;
    output(await execute(rig, http({ credential: 'key', path: '/redirect', headers: { 'X-Bot': '$.secrets.bot.token', 'X-Plain': 'yes' } })));
    const { headers } = service.of('/v1/echo/after').at(-1);
    equal([headers['x-api-key'], headers['x-bot'], headers['x-plain']], [undefined, undefined, 'yes']);
    equal((await execute(rig, http({ credential: 'key', path: '/leak' }))).error.code, 'external_status');
    equal((await execute(rig, http({ url: `${service.url}/v1/redirect?x={{ $.secrets.bot.token }}` }))).error.code, 'external_status');
    equal(service.of('/v1/echo/after').length, at + 1);
});

claim('one request fetches the token for all, a refused one is fetched anew once', async (rig) => {
    equal((await rig.api('PUT', '/credentials/oauth', oauth())).status, 200);
    const before = service.tokens.length;
    const code = `secrets_${++count}`;
    await rig.publish({ code, steps: [{ code: 'ask', procedure: http({ credential: 'oauth', path: '/guarded' }), ...once }] });
    const all = await Promise.all(Array.from({ length: 20 }, () => rig.api('POST', '/executions?wait=60s', { code })));
    equal(all.filter((x) => x.body.status === 'completed').length, 20, JSON.stringify(all[0].body));
    equal(service.tokens.length, before + 1, 'tokens');
    service.isExpired = true;
    equal((await rig.api('POST', '/executions?wait=60s', { code })).body.status, 'completed');
    equal(service.tokens.length, before + 2, 'tokens after a refusal');
    equal((await rig.api('POST', '/executions?wait=60s', { code })).body.status, 'completed');
    equal(service.tokens.length, before + 2, 'tokens');
});

claim('no token is an error with a class: refused is business, away is transient', async (rig) => {
    equal((await rig.api('PUT', '/credentials/oauth', oauth())).status, 200);
    service.isLocked = true;
    const locked = await execute(rig, http({ credential: 'oauth', path: '/guarded' }));
    equal([locked.error.code, locked.error.class], ['external_token', 'business']);
    check(locked.error.message.includes('invalid_client'), locked.error.message);
    service.isLocked = false;
    service.isDown = true;
    const down = await execute(rig, http({ credential: 'oauth', path: '/guarded' }));
    equal([down.error.code, down.error.class], ['external_token', 'transient']);
    service.isDown = false;
    output(await execute(rig, http({ credential: 'oauth', path: '/guarded' })));
});

claim('what a service repeats is hidden before it is stored', async (rig) => {
    const seen = [
        await execute(rig, http({ credential: 'key', path: '/echo/1', method: 'POST', body: '$.secrets.bot.token' })),
        await execute(rig, http({ credential: 'plain', path: '/echo/2', method: 'POST', body: '$.secrets.bot.token' })),
        await execute(rig, http({ credential: 'plain', path: '/text', method: 'POST', body: 'x {{ $.secrets.bot.token }} y' })),
        await execute(rig, http({ credential: 'oauth', path: '/echo/3', headers: { 'X-Pin': '$.secrets.bot.pin' } })),
        await execute(rig, http({ path: '/number', credential: 'bot', headers: { 'X-Pin': '$.secrets.bot.pin' } })),
        await execute(rig, http({ credential: 'key', path: '/fail' })),
    ];
    for (const x of seen) {
        hasNone(JSON.stringify(x), 'an execution');
        hasNone(JSON.stringify((await rig.api('GET', `/executions/${x.id}/steps?events=true`)).body), 'its history');
    }
    equal(seen[4].context.steps.ask.output.body, { pin: '***', list: ['***'] });
    check(seen[5].error.message.includes('bad key ***'), seen[5].error.message);
});

claim('a call that waits shows no secret, and is made again after a kill with the secret', async (rig) => {
    const code = `secrets_${++count}`;
    await rig.publish({ code, steps: [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }, { code: 'ask', procedure: http({ credential: 'key', path: '/echo/killed' }), ...once }] });
    const { id } = await rig.begin(code);
    await rig.restart();
    equal((await rig.api('POST', `/executions/${id}/signal`, { type: 'go' })).status, 202);
    await eventually('the call is made', () => service.of('/v1/echo/killed').length > 0);
    equal(service.of('/v1/echo/killed').at(-1).headers['x-api-key'], secrets.key);
});

claim('a credential that a definition names must exist, stay, and be one that is sent', async (rig) => {
    const findings = async (command) => {
        const definition = { code: 'checked', steps: [{ code: 'ask', procedure: http(command) }] };
        return (await rig.api('POST', '/validate', { kind: 'scenario', definition })).body.errors.map((e) => [e.pointer.replace('/steps/0/procedure', ''), e.code]);
    };
    equal(await findings({ credential: 'key', path: '/x' }), []);
    equal(await findings({ credential: 'nothing', path: '/x' }), [['/credential', 'unknown_credential']]);
    equal(await findings({ credential: 'hooks', path: '/x' }), [['/credential', 'bad_value']]);
    equal(await findings({ credential: '$.input.x', path: '/x' }), [['/credential', 'bad_value']]);
    equal(await findings({ path: '/x' }), [['', 'missing_field']]);
    equal(await findings({ credential: 'key' }), [['/url', 'missing_field']]);
    equal(await findings({ credential: 'key', path: '/x', url: 'https://x.example' }), [['', 'one_of']]);
    equal(await findings({ url: 'https://x.example', body: '$.secrets.key.x' }), [['/body', 'bad_value']]);
    equal(await findings({ url: 'https://x.example', body: { a: ['$.secrets.bot.other'] } }), [['/body', 'unknown_credential']]);
    equal((await findings({ url: 'https://x.example', body: '=$.secrets[$.input.x]' })).map((f) => f[1]), ['bad_value']);
    const elsewhere = { code: 'checked', steps: [{ code: 'a', procedure: { type: 'log', message: '{{ $.secrets.bot.token }}' } }] };
    const [finding] = (await rig.api('POST', '/validate', { kind: 'scenario', definition: elsewhere })).body.errors;
    check(finding.hint.includes('integration.http'), JSON.stringify(finding));
    refused(await rig.api('DELETE', '/credentials/key'), 409, 'conflict');
    refused(await rig.api('DELETE', '/credentials/bot'), 409, 'conflict');
    const draft = { code: 'missing', steps: [{ code: 'a', procedure: http({ credential: 'nothing', path: '/' }) }] };
    equal((await rig.api('PUT', '/scenarios/missing/draft', draft)).body.valid, false);
    refused(await rig.api('POST', '/scenarios/missing/publish'), 422, 'invalid');
});

claim('the use of a credential is audited', async (rig) => {
    const { items } = (await rig.api('GET', '/audit?action=credential.use&limit=500')).body;
    equal([...new Set(items.map((line) => line.target))].sort(), ['bot', 'key', 'oauth', 'plain']);
    check(items.every((line) => /^[0-9a-f-]{36}$/.test(line.details.executionId)), JSON.stringify(items[0]));
});

claim('a stub without its secret fails clearly', async (rig) => {
    await rig.api('POST', '/import', { items: [{ kind: 'credential', code: 'stub', type: 'api_key', base_url: `${service.url}/v1`, header_name: 'X-Api-Key' }] });
    const x = await execute(rig, http({ credential: 'stub', path: '/echo/stub' }));
    equal(x.error.code, 'not_found_credential');
    check(x.error.message.includes('pawl credential set stub'), x.error.message);
    equal(service.of('/v1/echo/stub').length, 0);
});

claim('a dry-run needs no secret', async (rig) => {
    const mocks = { http: [{ url: `${service.url}/v1/orders/7`, response: { body: { ok: true } } }] };
    await rig.publish({ code: 'dry', steps: [{ code: 'ask', procedure: http({ credential: 'stub', path: '/orders/7', headers: { 'X-Bot': '$.secrets.bot.token' } }) }] });
    const before = service.requests.length;
    const trial = await rig.api('POST', '/scenarios/dry/dry-run', { mocks });
    equal([trial.status, trial.body.status], [200, 'completed'], JSON.stringify(trial.body));
    equal(service.requests.length, before);
    hasNone(JSON.stringify(trial.body), 'a dry-run');
});

claim('nothing that is kept holds a secret: database, log of the database, file of calls, log of the server', async (rig) => {
    const x = rig.server.data;
    hasNone(rig.server.log, 'the log');
    for (const name of readdirSync(x)) if (name !== 'master.key') hasNone(readFileSync(join(x, name)), name);
    if (!rig.store) return check(existsSync(join(x, 'calls')), 'there is a file of calls');
    hasNone(dump(rig), 'PostgreSQL');
});

const oauth = () => ({ type: 'oauth2_client', base_url: `${service.url}/v1`, token_url: `${service.url}/token`, client_id: 'pawl', client_secret: secrets.client, scope: 'a b' });

await run(async (rig) => {
    const base_url = `${service.url}/v1`;
    const all = {
        key: { type: 'api_key', base_url, header_name: 'X-Api-Key', header_value: secrets.key },
        plain: { type: 'basic', base_url: `${base_url}/`, username: 'pawl', password: secrets.password },
        oauth: oauth(),
        bot: { type: 'secret', base_url, values: { token: secrets.bot, pin: secrets.pin } },
        hooks: { type: 'hmac', secret: 'whsec_1234' },
    };
    for (const [code, body] of Object.entries(all)) equal((await rig.api('PUT', `/credentials/${code}`, body)).status, 201, code);
});
