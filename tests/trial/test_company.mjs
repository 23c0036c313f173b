#!/usr/bin/env node
// The processes of examples/company as people meet them: real HTTP, real mail, the clock moved by hand
// (which only the build with slow checks allows).
//
// A mail server takes the mails, a small service plays the payment service and the signing service, links are pressed
// as a browser does, and whoever scans mail only looks.
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { MailServer, decode } from '../api/mails.mjs';
import { check, claim, end, equal } from '../lib/claims.mjs';
import { checkProgram, pawl } from '../lib/program.mjs';
import { Rig } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const FILES = ['onboarding', 'discount', 'sales_order', 'contract'].map((name) => `examples/company/${name}.json`);
const DAY_S = 86400;

const rig = new Rig(null, checkProgram);
const clock = join(rig.folder, 'clock');
const post = new MailServer();
let offset = 0;

/** Let time pass for the server. */
function passTime(seconds) {
    offset += seconds;
    writeFileSync(clock, `${offset}`);
}

// --- services beside Pawl: what they were asked, and what they answer ---

const asked = [];
const service = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const json = body === '' ? null : JSON.parse(body);
    const call = { what: `${request.method} ${request.url}`, json, key: request.headers['idempotency-key'], secret: request.headers['x-api-key'] ?? request.headers.authorization };
    asked.push(call);
    const [status, answer] = answerOf(call);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});

function answerOf({ what, json }) {
    if (what === 'POST /charges') return json.cents > 100000 ? [402, { reason: 'no money' }] : [201, { id: `charge-${json.order}` }];
    if (what === 'POST /refunds') return [200, {}];
    if (what === 'POST /envelopes') return [201, { envelopeId: `env-${json.document}`, signingUrl: `https://sign.example/${json.document}` }];
    return [200, {}];
}

// --- what people and other programs do ---

/** A plain request without a token: {status, text, json}; a URLSearchParams is sent as a form. */
function ask(method, url, body, headers = {}) {
    const isForm = body instanceof URLSearchParams;
    const sent = body === undefined ? '' : isForm || typeof body === 'string' ? body.toString() : JSON.stringify(body);
    return new Promise((done, fail) => {
        const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
        const request = httpRequest(url, { method, headers: { ...(sent || isForm ? { 'Content-Type': type } : {}), 'Content-Length': Buffer.byteLength(sent), ...headers } }, (response) => {
            let text = '';
            response.setEncoding('utf8');
            response.on('data', (part) => (text += part));
            response.on('end', () => {
                let json = null;
                try {
                    json = JSON.parse(text);
                } catch {
                    // a page
                }
                done({ status: response.statusCode, text, json });
            });
        });
        request.on('error', fail);
        request.end(sent);
    });
}

const textOf = (mail) => {
    const parts = mail.headers['content-type']?.includes('multipart') ? mail.body.split(/--[^\r\n]+\r\n/).slice(1) : [`\r\n\r\n${mail.body}`];
    return parts.map((part) => decode(part.slice(part.indexOf('\r\n\r\n') + 4).replace(/\r\n--.*$/s, ''))).join('\n');
};
const mailsTo = (to, subject) => post.mails.filter((m) => m.to.includes(to) && m.subject?.includes(subject));
const mailTo = (to, subject, n = 0) => until(`a mail to ${to}: ${subject}`, () => mailsTo(to, subject)[n] ?? null);
const linkIn = (mail) => /http:\S+\/callbacks\/[^\s"<]+/.exec(textOf(mail))[0];

const state = async (id) => (await rig.api('GET', `/executions/${id}`)).body;
const standsAt = (id, step) => until(`${step} waits`, async () => {
    const x = await state(id);
    if (x.completedAt) throw new Error(`it ended: ${JSON.stringify(x.error)}`);
    return x.currentStep === step && x.status === 'waiting' && x;
});
const ended = (id) => until('it ends', async () => {
    const x = await state(id);
    return x.completedAt && x;
});
const record = async (object, id) => (await rig.api('GET', `/records/${object}/${encodeURIComponent(id)}`)).body;

/** A person with an inbox: asks with a token of the own. */
async function person(name, more) {
    const answer = await rig.api('POST', '/users', { name, role: 'member', ...more });
    equal(answer.status, 201, JSON.stringify(answer.body));
    return { authorization: `Bearer ${answer.body.token}` };
}
const inboxOf = (who, title) => until(`"${title}" is in the inbox`, async () => {
    const { body } = await rig.api('GET', '/inbox', undefined, who);
    return body.items.find((item) => item.title.includes(title)) ?? null;
});
const answer = async (who, item, payload) => equal((await rig.api('POST', `/inbox/${item.id}`, { payload }, who)).status, 202);

/** Who scans mail follows every link, and nothing happens. */
async function scan(id, link) {
    const before = (await state(id)).rowVersion;
    for (const method of ['GET', 'HEAD', 'GET']) equal((await ask(method, link)).status, 200, link);
    equal((await state(id)).rowVersion, before, 'a link that is only looked at changes nothing');
}

/** An event of a service that signs what it sends. */
const hook = (path, payload, secret, header, encoding) => {
    const text = JSON.stringify(payload);
    return ask('POST', `${rig.server.url}/hooks/${path}`, text, { [header]: createHmac('sha256', secret).update(text).digest(encoding) });
};

// --- the day ---

await post.open('plain');
await new Promise((done) => service.listen(0, '127.0.0.1', done));
passTime(0);
await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${post.port}`, PAWL_MAIL_FROM: 'office@example.com', PAWL_CLOCK_FILE: clock });

await claim('all of it is published with one command, and the secrets are filled in', async () => {
    const { status, stdout, stderr } = spawnSync(pawl, ['apply', ...FILES], {
        encoding: 'utf8', env: { ...process.env, PAWL_URL: rig.server.url, PAWL_DATA: rig.server.data },
    });
    equal(status, 0, stderr);
    check(stdout.includes('contract: published version 1'), stdout);
    check(stderr.includes('pawl credential set shop'), 'what is to be filled in is told');
    const base_url = `http://127.0.0.1:${service.address().port}`;
    for (const [code, body] of [
        ['shop', { type: 'hmac', secret: 'shop secret' }],
        ['carrier', { type: 'hmac', secret: 'carrier secret' }],
        ['payments', { type: 'api_key', base_url, header_name: 'X-Api-Key', header_value: 'payment key' }],
        ['esign', { type: 'api_key', base_url, header_name: 'Authorization', header_value: 'Bearer signing key' }],
        ['esign_events', { type: 'hmac', secret: 'signing secret' }],
    ]) {
        const answer = await rig.api('PUT', `/credentials/${code}`, body);
        check([200, 201].includes(answer.status), JSON.stringify(answer.body));
    }
});

await claim('a client confirms the address by the link in a mail, a colleague connects the CRM from the inbox', async () => {
    const colleague = await person('Iris', { groups: ['integrations'] });
    const stranger = await person('Stan', {});
    await rig.api('PUT', '/records/lead/L-1', { name: 'Ada Ltd', email: 'ada@example.com', status: 'won' });
    const buttons = (await rig.api('GET', '/records/lead/L-1/actions')).body;
    check(JSON.stringify(buttons).includes('Open an account'), JSON.stringify(buttons));
    const started = await rig.api('POST', '/records/lead/L-1/actions/onboarding', { input: { integrations: ['crm'] } });
    equal(started.status, 201, JSON.stringify(started.body));
    const { id } = started.body;
    await standsAt(id, 'confirmation');
    equal((await record('client', 'ada@example.com')).status, 'unconfirmed');
    const first = linkIn(await mailTo('ada@example.com', 'confirm'));
    await scan(id, first);
    passTime(DAY_S + 60);
    const second = linkIn(await mailTo('ada@example.com', 'confirm', 1));
    check((await ask('GET', second)).text.includes('ada@example.com'), 'the page asks about the address');
    check([200, 303].includes((await ask('POST', second, new URLSearchParams({}))).status), 'the button is pressed');
    await standsAt(id, 'connected');
    equal((await record('client', 'ada@example.com')).status, 'active');
    for (const link of [first, second]) equal((await ask('POST', link, new URLSearchParams({}))).status, 404, 'a link that is spent');
    const item = await inboxOf(colleague, 'Connect crm for Ada Ltd');
    equal((await rig.api('GET', '/inbox', undefined, stranger)).body.items, []);
    equal((await rig.api('POST', `/inbox/${item.id}`, { payload: { connected: true } }, stranger)).status, 404);
    equal((await rig.api('GET', `/executions/${id}`, undefined, stranger)).status, 403);
    await answer(colleague, item, { connected: true });
    const x = await ended(id);
    equal([x.status, x.result], ['completed', { client: 'ada@example.com', connected: ['crm'], missing: [] }]);
    check(textOf(await mailTo('ada@example.com', 'Welcome')).includes('Connected: crm'), 'the client is welcomed');
});

await claim('a director approves a large discount by the link in the mail', async () => {
    const { id } = await rig.begin('discount', { input: { deal: 'D-1', amount: 250000, percent: 12, asked_by: 'sam@example.com' } });
    await standsAt(id, 'ask');
    const link = linkIn(await mailTo('director@example.com', '12 % discount for D-1'));
    equal(mailsTo('manager@example.com', 'D-1'), [], 'no manager is asked');
    await scan(id, link);
    const no = await ask('POST', link, new URLSearchParams({ approved: 'false', comment: '' }));
    equal(no.status, 422, 'a no needs a comment');
    equal((await state(id)).status, 'waiting');
    check([200, 303].includes((await ask('POST', link, new URLSearchParams({ approved: 'true', comment: 'fine' }))).status), 'yes');
    const x = await ended(id);
    equal([x.status, x.result], ['completed', { approved: true, by: 'director@example.com', comment: 'fine' }]);
    equal((await record('deal', 'D-1')).discount, 12);
    await mailTo('sam@example.com', 'D-1 is granted');
    equal((await ask('POST', link, new URLSearchParams({ approved: 'false', comment: 'no' }))).status, 404, 'a second answer is too late');
});

await claim('nobody answers for a day: it goes one level up, the first link is dead, and the director refuses from the inbox', async () => {
    const director = await person('Dora', { email: 'director@example.com' });
    const { id } = await rig.begin('discount', { input: { deal: 'D-2', amount: 40000, percent: 30, asked_by: 'sam@example.com' } });
    await standsAt(id, 'ask');
    const stale = linkIn(await mailTo('manager@example.com', '30 % discount for D-2'));
    passTime(DAY_S + 60);
    await standsAt(id, 'ask_above');
    await mailTo('director@example.com', '30 % discount for D-2');
    equal((await ask('POST', stale, new URLSearchParams({ approved: 'true' }))).status, 404, 'the answer of round one does not count in round two');
    await answer(director, await inboxOf(director, 'D-2'), { approved: false, comment: 'too much' });
    const x = await ended(id);
    equal([x.status, x.result], ['completed', { approved: false, by: 'Dora', comment: 'too much' }]);
    check(textOf(await mailTo('sam@example.com', 'D-2 is refused')).includes('too much'), 'who asked is told why');
});

const shopOrder = (orderId, more = {}) => ({ orderId, customer: { email: 'ada@example.com' }, totalCents: 4200, lines: [{ sku: 'bolt', quantity: 2 }], ...more });
const order = (payload, secret = 'shop secret') => hook('shop/orders', payload, secret, 'X-Shop-Signature', 'hex');

await claim('the shop posts an order; it is paid, picked up and told of; a redelivery changes nothing', async () => {
    await rig.api('PUT', '/records/stock/bolt', { left: 5 });
    equal((await order(shopOrder('O-1'), 'a guess')).status, 401, 'a wrong signature');
    const taken = await order(shopOrder('O-1'));
    equal(taken.status, 202, taken.text);
    const { id } = taken.json;
    await standsAt(id, 'pickup');
    equal((await order(shopOrder('O-1'))).json.id, id, 'the same order again');
    equal((await record('stock', 'bolt')).left, 3);
    const charges = asked.filter((call) => call.what === 'POST /charges');
    equal(charges.map((call) => [call.json.order, call.secret, call.key]), [['O-1', 'payment key', `${id}-charge`]]);
    equal((await hook('carrier/pickups', { reference: 'O-1', trackingNumber: 'P-9' }, 'carrier secret', 'X-Carrier-Signature', 'hex')).status, 202);
    const x = await ended(id);
    equal([x.status, x.result, x.user.name], ['completed', { order: 'O-1', charge: 'charge-O-1', parcel: 'P-9' }, 'system']);
    check(textOf(await mailTo('ada@example.com', 'Order O-1')).includes('P-9'), 'the customer is told');
});

await claim('an order that is not paid gives the goods back, one that nobody picks up the money, too', async () => {
    const { json: { id: poor } } = await order(shopOrder('O-2', { totalCents: 200000 }));
    equal((await ended(poor)).error.code, 'external_status');
    equal((await record('stock', 'bolt')).left, 3);
    const { json: { id: left } } = await order(shopOrder('O-3'));
    await standsAt(left, 'pickup');
    passTime(2 * DAY_S + 60);
    const x = await ended(left);
    equal([x.status, x.error.code], ['failed', 'timeout_signal']);
    equal((await record('stock', 'bolt')).left, 3);
    equal(asked.filter((call) => call.what === 'POST /refunds').map((call) => call.json.order), ['O-3']);
    equal((await order('{"not an order": true}')).status === 202, false, 'a payload that does not fit harms nothing');
});

/** What the signing service says in its own words. */
const envelopeEvent = (contract, event, n, more = {}) => hook('esign/events', {
    event, eventId: `ev-${contract}-${n}`, generatedDateTime: '2026-12-01T10:00:00Z', data: { envelopeId: `env-${contract}`, ...more },
}, 'signing secret', 'X-Signature-1', 'base64');
const parties = [{ name: 'Ada', email: 'ada@example.com' }, { name: 'Bob', email: 'bob@example.com' }];
const inDays = (days) => new Date(Date.now() + (offset + days * DAY_S) * 1000).toISOString().replace(/\.\d+/, '');

await claim('the signing service finds its execution by the envelope; reminders come for weeks; the contract starts on its day', async () => {
    const { id } = await rig.begin('contract', { input: { contract: 'C-1', starts: inDays(30), parties } });
    await standsAt(id, 'signatures');
    equal(asked.filter((call) => call.what === 'POST /envelopes').map((call) => [call.json.document, call.secret]), [['C-1', 'Bearer signing key']]);
    for (let n = 0; n < 3; n++) {
        passTime(3 * DAY_S + 60);
        const mail = await mailTo('bob@example.com', 'C-1 waits', n);
        check(mail.to.includes('ada@example.com') && textOf(mail).includes(`reminder ${n + 1}`) && textOf(mail).includes('https://sign.example/C-1'), textOf(mail));
    }
    equal((await envelopeEvent('C-1', 'recipient-viewed', 1)).json, { id: null }, 'what is only news starts nothing');
    equal((await envelopeEvent('C-9', 'envelope-completed', 1)).status, 202, 'an envelope that nobody knows');
    equal((await state(id)).currentStep, 'signatures');
    equal((await envelopeEvent('C-1', 'envelope-completed', 2)).status, 202);
    const x = await standsAt(id, 'first_day');
    equal([x.waitingFor.kind, (await record('contract', 'C-1')).status], ['timer', 'signed']);
    equal((await envelopeEvent('C-1', 'envelope-completed', 2)).status, 202, 'sent twice');
    await rig.server.kill();
    await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${post.port}`, PAWL_MAIL_FROM: 'office@example.com', PAWL_CLOCK_FILE: clock });
    passTime(31 * DAY_S);
    const end = await ended(id);
    equal([end.status, end.result], ['completed', { contract: 'C-1', envelope: 'env-C-1', signedAt: '2026-12-01T10:00:00Z' }]);
    equal((await record('contract', 'C-1')).status, 'active');
    await mailTo('bob@example.com', 'C-1 is active');
});

await claim('who declines withdraws the contract: the envelope is voided, all are told', async () => {
    const { id } = await rig.begin('contract', { input: { contract: 'C-2', starts: inDays(30), parties } });
    await standsAt(id, 'signatures');
    equal((await envelopeEvent('C-2', 'envelope-declined', 1, { declinedReason: 'too long' })).status, 202);
    const x = await ended(id);
    equal([x.status, x.error.code, x.error.message], ['failed', 'declined', 'declined: too long']);
    equal([(await record('contract', 'C-2')).status, asked.filter((call) => call.what === 'PUT /envelopes/env-C-2').length], ['withdrawn', 1]);
    await mailTo('ada@example.com', 'C-2 is withdrawn');
});

await claim('links and secrets are shown nowhere', async () => {
    const all = await rig.all('/executions', 100);
    for (const { id } of all) {
        const text = JSON.stringify([await state(id), (await rig.api('GET', `/executions/${id}/steps?limit=500`)).body]);
        check(!/callbacks\/[^*"/]{8}|payment key|signing key/.test(text), text.match(/.{40}(callbacks\/[^*"/]{8}|payment key|signing key)/)?.[0]);
    }
});

await post.kill();
service.closeAllConnections();
service.close();
await rig.close();
end();
