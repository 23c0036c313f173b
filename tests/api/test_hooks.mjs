// Webhooks: what other systems send to /hooks starts or signals executions, on both stores.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';

import { check, equal } from '../lib/claims.mjs';
import { forAll, refused, request } from '../lib/client.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const secret = 'whsec_8f2a';
const show = (data) => [{ code: 'show', procedure: { type: 'compute.transform', data } }];

const definitions = [
    {
        code: 'order',
        input: [{ name: 'order', type: 'integer', required: true }, { name: 'note', type: 'string' }],
        triggers: [
            {
                type: 'webhook', path: 'shop/orders', id: '$.webhook.payload.delivery',
                when: 'webhook.payload.status != "open"', key: '{{ webhook.payload.order }}',
                input: { order: '$.webhook.payload.order' },
            },
            { type: 'webhook', path: 'shop/orders', method: 'PUT', input: { order: 1, note: '$.webhook.query.note' } },
        ],
        steps: [{ code: 'wait', procedure: { type: 'wait.signal', signalType: 'go' } }],
    },
    {
        code: 'echo',
        triggers: [
            { type: 'webhook', path: 'echo' },
            { type: 'webhook', path: 'echo', method: 'GET' },
            { type: 'webhook', path: 'deliveries', id: '$.webhook.headers["x-delivery"]' },
        ],
        steps: show({ seen: '$.webhook', user: '$.user' }),
    },
    {
        code: 'signed_hex',
        triggers: [{ type: 'webhook', path: 'signed/hex', verify: { credential: 'shop', header: 'X-Hub-Signature-256' } }],
        steps: show({ ok: true }),
    },
    {
        code: 'signed_base64',
        triggers: [{ type: 'webhook', path: 'signed/base64', verify: { credential: 'shop', header: 'x-sig', encoding: 'base64' } }],
        steps: show({ ok: true }),
    },
    {
        code: 'contract',
        triggers: [{
            type: 'webhook', path: 'sign', id: '$.webhook.payload.?event.orValue("none")',
            signal: { type: 'signed', correlation: '$.webhook.payload.envelope' },
        }],
        steps: [
            { code: 'ask', procedure: { type: 'wait.signal', signalType: 'signed', correlation: '$.input.envelope' } },
            ...show({ by: '$.steps.ask.by', payload: '$.steps.ask.payload' }),
        ],
    },
    {
        code: 'abroad', triggers: [{ type: 'webhook', path: 'abroad', org_id: '0197a000-0000-7000-8000-000000000009' }],
        steps: show({}),
    },
];

let made = 0;
const fresh = () => ++made * 2 + Date.now() * 1000;
const json = { 'content-type': 'application/json', authorization: '' };
const hook = (rig, path, body, headers = {}, method = 'POST') =>
    rig.client.ask(method, `/hooks/${path}`, typeof body === 'string' ? Buffer.from(body) : body, { ...json, ...headers });
const get = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;
const count = async (rig, code) => (await rig.all(`/executions?code=${code}`, 200)).length;
const accepted = (answer) => {
    equal(answer.status, 202, JSON.stringify(answer.body));
    equal(Object.keys(answer.body), ['id']);
    return answer.body.id;
};

const deliveries = (rig, path, limit = 500) => rig.all(`/hooks/${encodeURIComponent(path)}/deliveries`, limit);

// --- starting ---

claim('a request starts the process with what the trigger makes of it', async (rig) => {
    const order = fresh();
    const x = await get(rig, accepted(await hook(rig, 'shop/orders', { order, delivery: `d${order}`, status: 'paid' })));
    equal([x.code, x.input, x.key, x.status], ['order', { order }, String(order), 'waiting']);
    equal(x.user, { id: 'system', name: 'system', email: '', role: 'system' });
    equal(x.context.webhook.payload, { order, delivery: `d${order}`, status: 'paid' });
    equal([x.context.webhook.method, x.context.webhook.path], ['POST', 'shop/orders']);
});

claim('the method is part of the path, and the query is seen', async (rig) => {
    const x = await get(rig, accepted(await hook(rig, 'shop/orders?note=a%20b+c', {}, {}, 'PUT')));
    equal(x.input, { order: 1, note: 'a b c' });
    refused(await hook(rig, 'shop/orders', {}, {}, 'PATCH'), 404, 'not_found');
    refused(await hook(rig, 'shop', {}), 404, 'not_found');
    refused(await hook(rig, 'shop/orders/1', {}), 404, 'not_found');
    refused(await hook(rig, 'x'.repeat(1000), {}), 404, 'not_found');
});

claim('the execution sees the request, and not what lets somebody in', async (rig) => {
    const x = await get(rig, accepted(await hook(rig, 'echo?a=1&a=2&b=x', '{"n":1.5}', {
        'X-Own': 'Yes', authorization: 'Bearer secret-of-the-sender', cookie: 'a=secret-cookie',
        'X-Gitlab-Token': 'secret-1', 'X-Telegram-Bot-Api-Secret-Token': 'secret-2', 'X-Api-Key': 'secret-3',
        'X-ApiKey': 'secret-4', 'X-Password': 'secret-5', 'X-Client-Secret': 'secret-6', 'X-Amz-Security-Token': 'secret-7',
        'Idempotency-Key': 'i-1', 'X-Hub-Signature-256': 'sha256=0',
    })));
    const { seen, user } = x.result;
    equal([seen.payload, seen.query, seen.method, seen.path], [{ n: 1.5 }, { a: ['1', '2'], b: 'x' }, 'POST', 'echo']);
    equal([seen.headers['x-own'], seen.headers['idempotency-key'], seen.headers['x-hub-signature-256']], ['Yes', 'i-1', 'sha256=0']);
    equal(user.id, 'system');
    check(!JSON.stringify(x).includes('secret'), 'what lets somebody in is not kept');
    const get2 = await get(rig, accepted(await hook(rig, 'echo?q=1', undefined, {}, 'GET')));
    equal([get2.result.seen.payload, get2.result.seen.query], [null, { q: '1' }]);
    /* Started again it sees the same request; so does the view of a step. */
    const again = await rig.api('POST', `/executions/${x.id}/again`);
    equal([again.status, again.body.result.seen], [201, seen]);
    const step = (await rig.api('GET', `/executions/${x.id}/steps`)).body.items[0];
    equal((await rig.api('GET', `/executions/${x.id}/context?at=${step.id}`)).body.webhook.payload, { n: 1.5 });
});

claim('the header that a proxy names the user in is not kept', async (rig) => {
    await rig.restart({ PAWL_AUTH_HEADER: 'X-Mail-Of-User', PAWL_TRUSTED_PROXY: '127.0.0.1/32' });
    const x = await get(rig, accepted(await hook(rig, 'echo', '{"n":1}', { 'X-Mail-Of-User': 'ann@example.com', 'X-Own': 'Yes' })));
    equal([x.result.seen.headers['x-own'], x.result.seen.headers['x-mail-of-user']], ['Yes', undefined]);
    await rig.restart();
});

claim('a start by hand may give a webhook', async (rig) => {
    const x = await rig.begin('echo', { webhook: { payload: { test: 1 } } });
    equal((await get(rig, x.id)).result.seen, { payload: { test: 1 } });
    const wrong = await rig.api('POST', '/executions', { code: 'echo', webhook: { body: 1 } });
    equal(refused(wrong, 422, 'invalid').errors[0].pointer, '/webhook');
    refused(await rig.api('POST', '/executions', { code: 'echo', webhook: { headers: 1 } }), 422, 'invalid');
});

claim('a dry run begins from the trigger', async (rig) => {
    const dry = (payload) => rig.api('POST', '/scenarios/order/dry-run', { webhook: { payload } });
    const tried = await dry({ order: 77, delivery: 'x', status: 'paid' });
    equal(tried.status, 200, JSON.stringify(tried.body));
    equal([tried.body.status, tried.body.context.input], ['waiting', { order: 77 }]);
    const idle = refused(await dry({ order: 77, delivery: 'x', status: 'open' }), 422, 'invalid');
    check(idle.detail.includes('when is false'), idle.detail);
});

claim('forms and texts are read by their content type', async (rig) => {
    const seen = async (body, type) =>
        (await get(rig, accepted(await hook(rig, 'echo', body, { 'content-type': type })))).result.seen.payload;
    equal(await seen('a=1&b=x+y&b=%D0%B4&c=', 'application/x-www-form-urlencoded; charset=utf-8'), { a: '1', b: ['x y', 'д'], c: '' });
    equal(await seen('plain', 'text/plain'), 'plain');
    equal(await seen('[1]', 'application/vnd.api+json'), [1]);
    equal(await seen('', 'application/json'), null);
});

claim('what is not what its type says changes nothing', async (rig) => {
    const before = await count(rig, 'echo');
    const bad = async (body, type) => refused(await hook(rig, 'echo', body, { 'content-type': type }), 400, 'bad_request');
    await bad('{"a":', 'application/json');
    await bad('{"a":1,"a":2}', 'application/json');
    await bad('a=1', 'application/json');
    await bad('a=%zz', 'application/x-www-form-urlencoded');
    await bad('a=%ff', 'application/x-www-form-urlencoded');
    await bad(Buffer.from([0xff, 0xfe]), 'text/plain');
    await bad('['.repeat(100000), 'application/json');
    for (const text of ['{"a":"\\u0000"}', '"\\ud800"']) refused(await hook(rig, 'echo', text, { 'content-type': 'application/json' }), 422, 'invalid');
    equal((await hook(rig, 'echo', `"${'x'.repeat(1 << 20)}"`)).status, 413);
    equal((await hook(rig, 'echo', `"${'x'.repeat((1 << 20) - 3)}"`)).status, 413);
    equal(await count(rig, 'echo'), before);
});

claim('what the process does not take is refused; who sent it is told no more than that, operators why', async (rig) => {
    const before = await count(rig, 'order');
    const said = [];
    for (const body of [{ order: 'x', delivery: `bad${fresh()}`, status: 'paid' }, { order: 1 }, [1]])
        said.push(refused(await hook(rig, 'shop/orders', body), 422, 'invalid'));
    equal(said.map((problem) => [problem.detail, problem.errors]), said.map(() => ['the webhook does not take this', []]));
    equal(await count(rig, 'order'), before);
    const [list, lacks, wrong] = await deliveries(rig, 'shop/orders');
    check(wrong.why.includes('/input/order'), wrong.why);
    check(lacks.why.startsWith('triggers[0].id: '), lacks.why);
    equal([list.payload, list.status, list.outcome, list.error, list.method, list.code], [[1], 422, 'refused', 'invalid', 'POST', 'order']);
    equal([lacks.payload, lacks.requestId], [{ order: 1 }, said[1].requestId]);
    const unread = refused(await hook(rig, 'echo', '{"a":', { 'content-type': 'application/json' }), 400, 'bad_request');
    equal(unread.detail, 'the request cannot be read');
    equal((await deliveries(rig, 'echo'))[0].payload, '{"a":');
    const nowhere = refused(await hook(rig, 'no/where', {}), 404, 'not_found');
    equal([nowhere.detail, nowhere.errors], ['there is no such webhook', []]);
    refused(await rig.api('GET', '/hooks/no%2Fwhere/deliveries'), 404, 'not_found');
});

claim('the last deliveries of each webhook say what became of them', async (rig) => {
    const order = fresh();
    const body = { order, delivery: `d${order}`, status: 'paid' };
    const id = accepted(await hook(rig, 'shop/orders', body));
    equal(accepted(await hook(rig, 'shop/orders', body)), id);
    const busy = refused(await hook(rig, 'shop/orders', { ...body, delivery: `e${order}` }), 409, 'conflict');
    equal(busy.executionId, undefined, 'a stranger is not told who has the key');
    accepted(await hook(rig, 'shop/orders', { ...body, delivery: `f${order}`, status: 'open' }));
    const last = (await deliveries(rig, 'shop/orders')).slice(0, 4);
    equal(last.map((d) => [d.outcome, d.status, d.error, d.id]), [['ignored', 202, null, null], ['refused', 409, 'key_busy', null], ['repeated', 202, null, id], ['started', 202, null, id]]);
    equal([last[3].executionId, last[3].address, last[3].payload.order], [id, '127.0.0.1', order]);
});

claim('deliveries hide what lets somebody in, what is sensitive, and what nobody has signed', async (rig) => {
    accepted(await hook(rig, 'echo?api_key=k1&x=1', { token: 't1', deep: [{ password: 'p1', y: 2 }] }, { 'X-Api-Key': 'h1', 'X-Shop': 's' }));
    const [seen] = await deliveries(rig, 'echo');
    equal([seen.payload, seen.query], [{ token: '***', deep: [{ password: '***', y: 2 }] }, { api_key: '***', x: '1' }]);
    equal([seen.headers['x-shop'], seen.headers['x-api-key']], ['s', undefined]);
    await rig.publish({ code: 'hook_secret', input: [{ name: 'card', type: 'string', sensitive: true, required: true }, { name: 'n', type: 'integer', required: true }],
        triggers: [{ type: 'webhook', path: 'secret', input: { card: '$.webhook.payload.card', n: '$.webhook.payload.n' } }], steps: [{ code: 'a', procedure: { type: 'log', message: 'x' } }] });
    refused(await hook(rig, 'secret', { card: '4111-2222', n: 'x' }), 422, 'invalid');
    const all = await rig.api('GET', '/hooks/secret/deliveries');
    check(!all.raw.includes('4111'), all.raw);
    equal(all.body.items[0].payload, '***');
    refused(await hook(rig, 'signed/hex', { who: 'stranger' }, { 'X-Hub-Signature-256': 'sha256=00' }), 401, 'unauthorized');
    const [unproven] = await deliveries(rig, 'signed/hex');
    equal([unproven.status, unproven.payload, unproven.headers, unproven.bodyBytes], [401, null, null, 18]);
});

claim('deliveries are bounded: a hundred of one webhook, apart from those that nobody has signed', async (rig) => {
    accepted(await hook(rig, 'signed/hex', '{}', { 'X-Hub-Signature-256': sign('{}', 'hex') }));
    for (let n = 0; n < 130; n++) await hook(rig, 'echo', { n });
    for (let n = 0; n < 30; n++) await hook(rig, 'signed/hex', { n });
    const echo = await deliveries(rig, 'echo', 7);
    equal(echo.map((d) => d.payload.n), Array.from({ length: 100 }, (_, i) => 129 - i));
    const mixed = await deliveries(rig, 'signed/hex');
    equal([mixed.filter((d) => d.status === 401).length, mixed.some((d) => d.status === 202)], [20, true]);
    accepted(await hook(rig, 'echo', { text: 'x'.repeat(20000) }));
    equal([(await deliveries(rig, 'echo'))[0].payload, (await deliveries(rig, 'echo'))[0].bodyBytes], [null, 20011]);
    refused(await rig.api('GET', '/hooks/echo/deliveries?cursor=x'), 400, 'bad_request');
});

claim('the webhooks that there are, for who may see their process', async (rig) => {
    const all = await rig.all('/hooks', 2);
    const of = (path) => all.find((h) => h.path === path);
    equal([of('shop/orders').code, of('shop/orders').method, of('shop/orders').verified, of('shop/orders').retired], ['order', 'POST', false, false]);
    equal([of('signed/hex').verified, of('abroad')], [true, undefined]);
    refused(await rig.api('GET', '/hooks/abroad/deliveries'), 404, 'not_found');
    const { body: viewer } = await rig.api('POST', '/users', { name: `viewer ${fresh()}`, role: 'viewer' });
    const token = { authorization: `Bearer ${viewer.token}` };
    equal((await rig.api('GET', '/hooks', undefined, token)).status, 200);
    refused(await rig.api('GET', '/hooks/echo/deliveries', undefined, token), 403, 'forbidden');
});

claim('when it does not fire nothing happens', async (rig) => {
    const before = await count(rig, 'order');
    equal(accepted(await hook(rig, 'shop/orders', { order: 5, delivery: 'open', status: 'open' })), null);
    equal(await count(rig, 'order'), before);
});

claim('a busy key is told; a retired process starts nothing', async (rig) => {
    const order = fresh();
    accepted(await hook(rig, 'shop/orders', { order, delivery: `k${order}`, status: 'paid' }));
    refused(await hook(rig, 'shop/orders', { order, delivery: `l${order}`, status: 'paid' }), 409, 'conflict');
    equal((await rig.api('POST', '/scenarios/echo/retire')).status, 200);
    refused(await hook(rig, 'echo', {}), 409, 'conflict');
    equal((await deliveries(rig, 'echo'))[0].error, 'retired');
    equal((await rig.api('POST', '/scenarios/echo/unretire')).status, 200);
    accepted(await hook(rig, 'echo', {}));
});

claim('it belongs to the organisation of the trigger', async (rig) => {
    const id = accepted(await hook(rig, 'abroad', {}));
    refused(await rig.api('GET', `/executions/${id}`), 404, 'not_found');
});

// --- redelivery ---

claim('a thousand redeliveries are one execution', async (rig) => {
    const id = `many${fresh()}`;
    const before = await count(rig, 'echo');
    const ids = new Set();
    await rig.restart({ PAWL_HOOK_RATE: '0' });
    await forAll(rig.server, Array.from({ length: 1000 }, (_, i) => i), async (client, i) => {
        ids.add(accepted(await client.ask('POST', '/hooks/deliveries', { i }, { ...json, 'x-delivery': id })));
    });
    equal(ids.size, 1);
    equal(await count(rig, 'echo'), before + 1);
});

claim('a redelivery after kill -9 gets the same answer', async (rig) => {
    for (let i = 0; i < 5; i++) {
        const delivery = `kill${fresh()}`;
        const before = await count(rig, 'echo');
        const sent = hook(rig, 'deliveries', {}, { 'x-delivery': delivery }).catch(() => ({ status: 0 }));
        if (i % 2 === 0) await sent;
        await rig.restart();
        const first = await sent;
        const again = accepted(await hook(rig, 'deliveries', {}, { 'x-delivery': delivery }));
        if (first.status === 202) equal(again, first.body.id);
        equal(accepted(await hook(rig, 'deliveries', { other: 1 }, { 'x-delivery': delivery })), again);
        equal(await count(rig, 'echo'), before + 1);
    }
});

// --- signatures ---

const sign = (body, encoding) => createHmac('sha256', secret).update(body).digest(encoding);

// What each service sends: headers for a body that it signs at a time (in seconds).
const mac = (key, text) => createHmac('sha256', key).update(text).digest('hex');
const services = {
    github: { timed: false, headers: (key, body) => ({ 'X-Hub-Signature-256': `sha256=${mac(key, body)}` }) },
    gitlab: { timed: false, ofBody: false, headers: (key) => ({ 'X-Gitlab-Token': key }) },
    stripe: { timed: true, headers: (key, body, at) => ({ 'Stripe-Signature': `t=${at},v0=abc,v1=${mac('old', `${at}.${body}`)},v1=${mac(key, `${at}.${body}`)}` }) },
    slack: { timed: true, headers: (key, body, at) => ({ 'X-Slack-Request-Timestamp': String(at), 'X-Slack-Signature': `v0=${mac(key, `v0:${at}:${body}`)}` }) },
};

claim('requests of known services are verified as these sign them', async (rig) => {
    // The examples of their manuals.
    equal(services.github.headers("It's a Secret to Everybody", 'Hello, World!')['X-Hub-Signature-256'], 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17');
    equal(services.slack.headers('8f742231b10e8888abcd99yyyzzz85a5', 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c', 1531420618)['X-Slack-Signature'],
        'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503');
    const now = Math.floor(Date.now() / 1000), body = '{ "a" : 1 }';
    for (const [scheme, { timed, ofBody = true, headers }] of Object.entries(services)) {
        await rig.publish({ code: `by_${scheme}`, triggers: [{ type: 'webhook', path: `by/${scheme}`, verify: { credential: 'shop', scheme } }], steps: show('=webhook.payload') });
        accepted(await hook(rig, `by/${scheme}`, body, headers(secret, body, now)));
        if (timed) accepted(await hook(rig, `by/${scheme}`, body, headers(secret, body, now - 200)));
        const wrong = [{}, headers('another', body, now), ...(ofBody ? [headers(secret, '{"a":1}', now)] : [])];
        if (timed) wrong.push(headers(secret, body, now - 400), headers(secret, body, now + 400), headers(secret, body, `${now}x`), headers(secret, body, ''));
        const right = headers(secret, body, now);
        for (const name of Object.keys(right)) wrong.push({ ...right, [name]: '' }, { ...right, [name]: right[name].slice(0, -1) });
        const before = await count(rig, `by_${scheme}`);
        for (const given of wrong) refused(await hook(rig, `by/${scheme}`, body, given), 401, 'unauthorized');
        equal(await count(rig, `by_${scheme}`), before, `${scheme}: nothing was started`);
    }
    const stale = services.slack.headers(secret, body, now);
    refused(await hook(rig, 'by/slack', body, { ...stale, 'X-Slack-Request-Timestamp': String(now - 1) }), 401, 'unauthorized');
});

claim('a signed request is taken, any other is not', async (rig) => {
    const body = '{ "a" : 1 }';
    const hex = (header) => hook(rig, 'signed/hex', body, { 'X-Hub-Signature-256': header });
    accepted(await hex(`sha256=${sign(body, 'hex')}`));
    accepted(await hex(sign(body, 'hex')));
    accepted(await hex(sign(body, 'hex').toUpperCase()));
    const before = await count(rig, 'signed_hex');
    for (const wrong of ['', 'sha256=', 'x', sign('{"a":1}', 'hex'), sign(body, 'base64'), `${sign(body, 'hex')}0`, sign(body, 'hex').slice(1)])
        refused(await hex(wrong), 401, 'unauthorized');
    refused(await hook(rig, 'signed/hex', body), 401, 'unauthorized');
    refused(await hook(rig, 'signed/hex', 'not json'), 401, 'unauthorized');
    equal(await count(rig, 'signed_hex'), before);
    accepted(await hook(rig, 'signed/base64', body, { 'x-sig': sign(body, 'base64') }));
    refused(await hook(rig, 'signed/base64', body, { 'x-sig': sign(body, 'hex') }), 401, 'unauthorized');
    refused(await hook(rig, 'signed/hex', 'x', { 'X-Hub-Signature-256': sign('x', 'hex') }), 400, 'bad_request');
});

claim('without its credential nobody is believed, and it cannot be published', async (rig) => {
    const unknown = { ...definitions[2], code: 'unsigned', triggers: [{ ...definitions[2].triggers[0], path: 'unsigned', verify: { credential: 'nobody', header: 'x' } }] };
    await rig.api('PUT', '/scenarios/unsigned/draft', unknown);
    const answer = refused(await rig.api('POST', '/scenarios/unsigned/publish'), 422, 'invalid');
    equal([answer.errors[0].pointer, answer.errors[0].code], ['/triggers/0/verify/credential', 'unknown_credential']);
});

// --- signals ---

claim('a service posts its own payload and finds its execution', async (rig) => {
    const envelope = `e-${fresh()}`;
    const x = await rig.begin('contract', { input: { envelope } });
    const id = accepted(await hook(rig, 'sign', { envelope, event: `ev-${envelope}`, how: 'ink' }));
    const after = await get(rig, x.id);
    equal([after.status, after.result.payload.how, after.result.by], ['completed', 'ink', { id: 'system', name: 'system' }]);
    equal(accepted(await hook(rig, 'sign', { envelope, event: `ev-${envelope}`, how: 'ink' })), id);
});

claim('a signal before its wait is kept, once', async (rig) => {
    const envelope = `k-${fresh()}`;
    const id = accepted(await hook(rig, 'sign', { envelope, event: `ev-${envelope}` }));
    await rig.restart();
    equal(accepted(await hook(rig, 'sign', { envelope, event: `ev-${envelope}` })), id);
    equal((await get(rig, (await rig.begin('contract', { input: { envelope } })).id)).status, 'completed');
    equal((await get(rig, (await rig.begin('contract', { input: { envelope } })).id)).status, 'waiting');
});

claim('a retired process still hears', async (rig) => {
    const envelope = `r-${fresh()}`;
    const x = await rig.begin('contract', { input: { envelope } });
    equal((await rig.api('POST', '/scenarios/contract/retire')).status, 200);
    accepted(await hook(rig, 'sign', { envelope, event: `ev-${envelope}` }));
    equal((await get(rig, x.id)).status, 'completed');
    equal((await rig.api('POST', '/scenarios/contract/unretire')).status, 200);
});

// --- definitions ---

claim('a path belongs to one published process', async (rig) => {
    const other = { code: 'thief', triggers: [{ type: 'webhook', path: 'echo' }], steps: show({}) };
    await rig.api('PUT', '/scenarios/thief/draft', other);
    const answer = refused(await rig.api('POST', '/scenarios/thief/publish'), 409, 'conflict');
    check(answer.detail.includes("belongs to the process 'echo'"), answer.detail);
    const bundle = (await rig.api('GET', '/export')).body;
    check(JSON.stringify(bundle).includes('shop/orders'), 'an export has the triggers');
});

claim('strangers leave nothing in the store, whatever they are refused', async (rig) => {
    const rows = () => Number(rig.sql('SELECT count(*) FROM http_idempotency')[0]);
    const before = rows();
    const stranger = (method, path, body) => request(`${rig.server.url}${path}`, { method, body, headers: { 'Idempotency-Key': 'k'.repeat(40) } });
    for (const path of ['/hooks/nowhere', `/hooks/${'x'.repeat(20000)}`, '/hooks/%ff', '/callbacks/nothing/yes'])
        for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'GET'])
            check([400, 404, 405, 401].includes((await stranger(method, path)).status), `${method} ${path}`);
    equal((await stranger('POST', '/api/v1/session', { token: 'x' })).status, 401);
    equal(rows(), before, 'rows of strangers');
    const [missing, key] = ['/executions/00000000-0000-7000-8000-000000000000', { 'Idempotency-Key': 'read' }];
    for (const method of ['GET', 'HEAD']) equal((await rig.api(method, missing, undefined, key)).status, 404);
    refused(await rig.api('POST', `/executions/${'x'.repeat(5000)}/cancel`, {}, key), 404, 'not_found');
    equal(rows(), before, 'rows of who only reads');
    refused(await rig.api('POST', `${missing}/cancel`, {}, key), 404, 'not_found');
    equal(rows(), before + 1, 'rows of users');
});

claim('the rate of one address has a bound', async (rig) => {
    await rig.restart({ PAWL_HOOK_RATE: '10' });
    const answers = [], limited = [];
    // A slow machine gets more through, since the bound is one of time.
    while (limited.length < 20 && answers.length < 2000) {
        const answer = await hook(rig, 'nowhere', {});
        answers.push(answer);
        if (answer.status === 429) limited.push(answer);
    }
    check(limited.length >= 20, `${limited.length} of ${answers.length} were limited`);
    refused(limited[0], 429, 'too_many_requests');
    equal(limited[0].headers['retry-after'], '1');
    check(answers.slice(0, 50).every((a) => a.status === 404), 'the burst passes');
    accepted(await hook(rig, 'echo', {}));
    // Paths that nobody has are counted together, however they are written; a webhook has its own count.
    for (const path of [(i) => `else${i}`, (i) => `no%77here${i}`, (i) => `x${i}${'y'.repeat(5000)}`, (i) => `%ff${i}`]) {
        let status = 0;
        for (let i = 0; status !== 429 && i < 2000; i++) status = (await hook(rig, path(i), {})).status;
        equal(status, 429, path('N'));
    }
    accepted(await hook(rig, 'ech%6f', {}));
    await rig.restart();
});

claim('strangers who send bodies slowly hold up nobody else', async (rig) => {
    const { port } = new URL(rig.server.url);
    const sockets = [];
    const head = (path) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n`;
    const send = (path) => new Promise((done) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(head(path) + 'x'.repeat(1048575), done));
        socket.on('error', done);
        socket.resume();
        sockets.push(socket);
    });
    await Promise.all(Array.from({ length: 300 }, (_, i) => send(`/hooks/nowhere${i}`)));
    equal((await rig.api('POST', '/executions', { code: 'echo' })).status, 201, 'who is known');
    accepted(await hook(rig, 'echo', { text: 'x'.repeat(100000) }));
    for (const socket of sockets) socket.destroy();
    await until('there is memory again', async () => (await hook(rig, 'nowhere', {})).status === 404);
});

await run(async (rig) => {
    equal((await rig.api('PUT', '/credentials/shop', { type: 'hmac', secret })).status, 201);
    for (const definition of definitions) await rig.publish(definition);
});
