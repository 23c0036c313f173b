// notification.email through a real mail server (aiosmtpd), notification.sms and push through gateways, on both stores:
// each mail is taken once per Message-ID, also with STARTTLS, TLS and a password, and when the server is away for a while.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { check, equal } from '../lib/claims.mjs';
import { makeFolder } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';
import { sleep, until as eventually } from '../lib/wait.mjs';
import { MailServer, decode, words } from './mails.mjs';
import { Receiver } from './receiver.mjs';

const folder = makeFolder();
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-keyout', key, '-out', cert,
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let count = 0;
async function execute(rig, commands, options = {}) {
    const code = `mail_${++count}`;
    await rig.publish({ code, steps: commands.map((procedure, i) => ({ code: `s${i}`, procedure })) });
    const answer = await rig.api('POST', '/executions?wait=60s', { code, ...options });
    equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
}

const mail = (to, more = {}) => ({ type: 'notification.email', to, subject: 'Hello', body: 'text', ...more });
const outbox = async (rig, query = '') => (await rig.api('GET', `/outbox${query}`)).body.items;
const empty = (rig) => eventually('nothing is left', async () => (await outbox(rig)).length === 0);

async function withServer(rig, args, url, work) {
    const server = new MailServer();
    await server.open(...args);
    try {
        await rig.server.stop();
        await rig.start({ PAWL_SMTP: url(server), PAWL_MAIL_FROM: 'Лавка <shop@example.com>', SSL_CERT_FILE: cert });
        await work(server);
    } finally {
        await server.kill();
    }
}

claim('a mail has its texts, its addresses and the id of the message as Message-ID', (rig) => withServer(rig, ['plain'], (s) => `smtp://127.0.0.1:${s.port}`, async (server) => {
    await rig.api('PUT', '/templates/paid', { subject: 'Заказ {{ data.id }} оплачен, и это очень длинная тема, чтобы её пришлось разбить', body: 'Dear {{ data.name }}', html: '<p>Dear {{ data.name }}</p>' });
    const x = await execute(rig, [
        mail(['a@example.com', 'Bob "B" Bär <b@example.com>'], { cc: 'c@example.com', bcc: 'd@example.com', replyTo: 'r@example.com', subject: 'plain', body: `line\n.\n${'ü'.repeat(5000)}` }),
        mail('a@example.com', { subject: undefined, body: undefined, template: 'paid', data: { id: '=7', name: '<Ann>' } }),
    ]);
    equal(x.status, 'completed', JSON.stringify(x.error));
    await empty(rig);
    equal(server.mails.length, 2);
    const [one, two] = server.mails;
    equal([one.from, one.to], ['shop@example.com', ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']]);
    equal(one.headers['message-id'], `<${x.context.steps.s0.messageId}@example.com>`);
    equal([one.headers.subject, one.headers.cc, one.headers['reply-to'], one.headers.bcc], ['plain', 'c@example.com', 'r@example.com', undefined]);
    equal(words(one.headers.from), 'Лавка');
    equal(words(one.headers.to), 'Bob "B" Bär');
    equal(decode(one.body), `line\n.\n${'ü'.repeat(5000)}`);
    check(Math.abs(Date.parse(one.headers.date) - Date.now()) < 600000, one.headers.date);
    equal(words(two.headers.subject), 'Заказ 7 оплачен, и это очень длинная тема, чтобы её пришлось разбить');
    check(two.text.split('\r\n').every((line) => line.length <= 100), 'no line is long');
    const boundary = /boundary="([^"]*)"/.exec(two.headers['content-type'])[1];
    const parts = two.body.split(`--${boundary}`).slice(1, 3).map((p) => decode(p.slice(p.indexOf('\r\n\r\n') + 4)));
    equal(parts, ['Dear <Ann>', '<p>Dear &lt;Ann&gt;</p>']);
}));

claim('a mail that cannot be made fails its step and says why', async (rig) => {
    for (const [command, code] of [[mail('nobody'), 'validation_address'], [mail('a@example.com\r\nBcc: x@example.com'), 'validation_address'],
        [mail('a@example.com', { template: '{{ execution.code }}' }), 'not_found_template'], [{ type: 'notification.email', to: 'a@example.com', body: 'b' }, 'validation_subject']]) {
        const code_ = `mail_${++count}`;
        await rig.publish({ code: code_, onError: 'fail_fast', steps: [{ code: 's', procedure: command }] });
        const x = (await rig.api('POST', '/executions?wait=60s', { code: code_ })).body;
        equal([x.status, x.error?.code], ['failed', code], JSON.stringify(x));
    }
    equal((await outbox(rig)).length, 0);
});

claim('a mail that is refused for good becomes a dead letter at once, one for later is tried again, and others go on', (rig) => withServer(rig, ['plain'], (s) => `smtp://127.0.0.1:${s.port}`, async (server) => {
    const x = await execute(rig, [mail('refused@example.com'), mail('later@example.com'), mail('fine@example.com')]);
    await eventually('the others come', () => server.mails.length === 2);
    equal(server.mails.map((m) => m.to[0]), ['later@example.com', 'fine@example.com']);
    const [letter] = (await rig.api('GET', `/dlq?kind=outbox&execution=${x.id}`)).body.items;
    equal([letter.cause.code, letter.attempts, letter.payload.name], ['external_refused', 1, 'refused@example.com']);
    check(letter.cause.message.includes('550'), letter.cause.message);
    equal((await rig.api('POST', `/dlq/${letter.id}/resolve`, { note: 'wrong address' })).status, 200);
    await empty(rig);
}));

for (const [mode, scheme] of [['starttls', 'smtp'], ['tls', 'smtps']])
    claim(`a mail goes through ${mode} with a password`, (rig) => withServer(rig, [mode, cert, key, 'ann:s3cret'], (s) => `${scheme}://ann:s3cret@localhost:${s.port}`, async (server) => {
        await execute(rig, [mail('a@example.com')]);
        await empty(rig);
        equal(server.mails.map((m) => [m.to, m.tls, m.user]), [[['a@example.com'], true, 'ann']]);
    }));

claim('a password never leaves without TLS, nor to a server that cannot be verified', (rig) => withServer(rig, ['plain'], (s) => `smtp://ann:s3cret@127.0.0.1:${s.port}`, async (server) => {
    const x = await execute(rig, [mail('a@example.com')]);
    const waiting = await eventually('it was tried', async () => (await outbox(rig, `?execution=${x.id}`)).find((m) => m.attempts > 0));
    equal([waiting.error.code, server.mails.length], ['external_mail', 0]);
    check(!JSON.stringify(waiting).includes('s3cret'), 'the password is not shown');
    await rig.server.stop();
    await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${server.port}`, PAWL_MAIL_FROM: 'shop@example.com' });
    await empty(rig);
    equal(server.mails.length, 1);
}));

claim('server and engine are killed, and every mail is taken, each Message-ID with one text', (rig) => withServer(rig, ['plain'], (s) => `smtp://127.0.0.1:${s.port}`, async (server) => {
    const code = `mail_${++count}`;
    await rig.publish({ code, steps: [1, 2, 3].map((n) => ({ code: `s${n}`, procedure: mail('=input.to', { subject: `${n}` }) })) });
    const begun = [];
    for (let round = 0; round < 4; round++) {
        const some = Array.from({ length: 15 }, async (_, i) => {
            const to = `m${round}-${i}@example.com`;
            const answer = await rig.api('POST', '/executions', { code, input: { to } }).catch(() => null);
            if (answer?.status === 201) begun.push(to);
        });
        await sleep(10 + 60 * round);
        if (round % 2 === 0) {
            await rig.server.kill();
            await Promise.all(some);
            await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${server.port}`, PAWL_MAIL_FROM: 'shop@example.com' });
        } else {
            await server.kill();
            await Promise.all(some);
            await server.open('plain');
        }
    }
    check(begun.length > 20, `${begun.length} were acknowledged`);
    await empty(rig);
    const firsts = new Map(), texts = new Map();
    for (const m of server.mails) {
        const id = m.headers['message-id'];
        if (!texts.has(id)) firsts.set(m.to[0], [...(firsts.get(m.to[0]) ?? []), m.headers.subject]);
        // What was changed between two attempts is who sends it: the server was started with another name.
        else equal(m.body, texts.get(id), 'the text of a mail that came twice');
        texts.set(id, m.body);
    }
    for (const to of begun) equal(firsts.get(to), ['1', '2', '3'], `mails to ${to}`);
}));

claim('text messages and push notifications are posted to their gateways, once per id', async (rig) => {
    const gateway = new Receiver();
    await gateway.open();
    let failures = 1;
    gateway.answer = () => (failures-- > 0 ? 500 : 200);
    await rig.server.stop();
    await rig.start({ PAWL_SMS_GATEWAY: `${gateway.url}/sms`, PAWL_PUSH_GATEWAY: `${gateway.url}/push` });
    const x = await execute(rig, [{ type: 'notification.sms', to: '+49 170', body: 'paid' }, { type: 'notification.push', to: 'device', title: 't', body: 'b' }]);
    await empty(rig);
    equal(gateway.deliveries.length, 3);
    const [sms] = gateway.deliveries.filter((d) => d.path === '/sms'), [push] = gateway.deliveries.filter((d) => d.path === '/push');
    equal([sms.json.to, sms.json.body, sms.json.executionId], ['+49 170', 'paid', x.id]);
    equal([sms.json.id, sms.headers['idempotency-key']], [x.context.steps.s0.messageId, x.context.steps.s0.messageId]);
    equal([push.json.to, push.json.title, push.json.body], ['device', 't', 'b']);
    gateway.close();
});

claim('a template that is not there is a finding of whoever names it, and an import without it changes nothing', async (rig) => {
    const definition = { code: `mail_${++count}`, steps: [{ code: 's', procedure: mail('a@example.com', { template: 'misspelt' }) }] };
    const found = (r, status) => equal([r.status, (r.body.errors ?? r.body.findings)?.map((f) => [f.pointer.replace(/^\/items\/0|^\/scenario|^\/definition/, ''), f.code, f.severity])],
        [status, [['/steps/0/procedure/template', 'unknown_template', 'error']]], JSON.stringify(r.body));
    found(await rig.api('POST', '/validate', { definition }), 200);
    equal((await rig.api('PUT', `/scenarios/${definition.code}/draft`, definition)).status < 300, true);
    found(await rig.api('POST', `/scenarios/${definition.code}/publish`, {}), 422);
    found(await rig.api('POST', '/import', { items: [{ kind: 'scenario', ...definition }] }), 422);
    const both = { items: [{ kind: 'scenario', ...definition }, { kind: 'template', code: 'misspelt', subject: 's', body: 'b' }] };
    equal((await rig.api('POST', '/import', both)).status, 200);
});

claim('a template that is missing or broken when the mail is made holds the step, and a retry sends it', async (rig) => {
    const code = `mail_${++count}`;
    await rig.publish({ code, input: [{ name: 'template', type: 'string', required: true }], steps: [
        { code: 'pay', procedure: { type: 'log', message: 'paid' }, rollback: { type: 'log', message: 'given back' } },
        { code: 's', procedure: mail('a@example.com', { subject: undefined, body: undefined, template: '$.input.template' }) }] });
    equal((await rig.api('PUT', '/templates/broken', { subject: '{{ data.nothing }}', body: 'b' })).status < 300, true);
    for (const [template, error] of [['absent', 'not_found_template'], ['broken', 'expression_template']]) {
        const { id } = (await rig.api('POST', '/executions', { code, input: { template } })).body;
        const x = await eventually('it is held', async () => {
            const { body } = await rig.api('GET', `/executions/${id}`);
            return body.waitingFor?.kind === 'incident' && body;
        });
        equal(x.waitingFor.error?.code ?? x.error?.code, error, JSON.stringify(x));
        equal((await rig.api('PUT', `/templates/${template}`, { subject: 's', body: 'b' })).status < 300, true);
        equal((await rig.api('POST', `/executions/${id}/retry`, {})).status, 202);
        await eventually('it is sent', async () => (await rig.api('GET', `/executions/${id}`)).body.status === 'completed');
    }
});

await run(async () => {});
