// Links that answer waits: who has one may answer once, whoever only looks changes nothing, and nobody is shown one; on both stores.
import { createHash } from 'node:crypto';
import http from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';
import { Receiver } from './receiver.mjs';

const receiver = new Receiver();
await receiver.open();
receiver.answer = () => 200;

let names = 0;
const fresh = (word) => `${word}${++names}`;
const TOKEN = /pawlcb_[A-Za-z0-9_-]{75}/;

/** A step that tells a service the link, as it is written in the definition. */
const tell = (code, to, link = '$.execution.callbackUrl') => ({
    code, procedure: { type: 'integration.http', method: 'POST', url: `${receiver.url}/${to}`, body: { link } },
});
const wait = (code, fields = {}) => ({ code, procedure: { type: 'wait.signal', signalType: 'decision', public: true, ...fields } });
const FORM = [
    { name: 'approved', type: 'boolean', required: true, label: 'Approve <it>?' },
    { name: 'amount', type: 'integer', label: 'Amount', description: 'In euros' },
    { name: 'reason', type: 'string', requiredWhen: 'payload.approved == false' },
    { name: 'kind', type: 'string', enum: ['new', 'old'] },
    { name: 'day', type: 'date' },
    { name: 'at', type: 'datetime' },
];

/** The links that were told under a name, in their order. */
const links = (name) => receiver.deliveries.filter((d) => d.path === `/${name}`).map((d) => d.json.link);
const linkOf = async (name, n = 0) => (await until(`link ${name}`, () => links(name)[n] ?? null));

/** A plain request: {status, headers, text}; a map is sent as a form. */
function ask(method, url, body, headers = {}) {
    const isForm = body instanceof URLSearchParams;
    const sent = body === undefined ? '' : isForm ? body.toString() : typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((done, fail) => {
        const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
        const request = http.request(url, { method, headers: { ...(sent || isForm ? { 'Content-Type': type } : {}), 'Content-Length': Buffer.byteLength(sent), ...headers } }, (response) => {
            let text = '';
            response.setEncoding('utf8');
            response.on('data', (part) => (text += part));
            response.on('end', () => done({ status: response.statusCode, headers: response.headers, text }));
        });
        request.on('error', fail);
        request.end(sent);
    });
}

const view = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;

/** An execution that tells its link and then waits: {id, link}. */
async function begun(rig, fields = {}, rest = {}) {
    const code = fresh('cb_');
    await rig.publish({ code, ...rest, steps: [tell('tell', code), wait('ask', fields)] });
    const { id } = await rig.begin(code, rest.start ?? {});
    return { id, link: await linkOf(code), code };
}

/** The same, and it waits by now. */
async function waiting(rig, fields = {}, rest = {}) {
    const one = await begun(rig, fields, rest);
    await until('it waits', async () => (await view(rig, one.id)).currentStep === 'ask');
    return one;
}

claim('a link is unguessable, leads to this server, and each execution has its own', async (rig) => {
    const [a, b] = [await waiting(rig), await waiting(rig)];
    check(a.link.startsWith(`${rig.server.url}/callbacks/`), a.link);
    check(TOKEN.test(a.link) && a.link !== b.link, 'tokens of 256 bits and more');
    const forged = a.link.slice(0, -1) + (a.link.endsWith('A') ? 'B' : 'A');
    const other = a.link.replace(/.{20}$/, b.link.slice(-20));
    for (const link of [forged, other, `${a.link}A`, `${rig.server.url}/callbacks/nothing`])
        for (const method of ['GET', 'POST']) equal((await ask(method, `${link}/decision`, method === 'POST' ? {} : undefined)).status, 404, link);
    equal((await view(rig, a.id)).status, 'waiting');
});

claim('GET and HEAD show the form and never act, however often a scanner follows the link', async (rig) => {
    const { id, link } = await waiting(rig, { title: 'Sign & go <b>?', form: FORM });
    const before = (await view(rig, id)).rowVersion;
    for (let i = 0; i < 5; i++)
        for (const method of ['GET', 'HEAD']) equal((await ask(method, `${link}/decision`)).status, 200);
    equal((await view(rig, id)).rowVersion, before, 'nothing has changed');
    const { headers, text } = await ask('GET', `${link}/decision`);
    equal(headers['content-type'], 'text/html; charset=utf-8');
    check(/default-src 'none'/.test(headers['content-security-policy']) && !/unsafe|script-src/.test(headers['content-security-policy']), headers['content-security-policy']);
    equal([headers['cache-control'], headers['referrer-policy'], headers['x-frame-options']], ['no-store', 'no-referrer', 'DENY']);
    const style = createHash('sha256').update(/<style>([^]*)<\/style>/.exec(text)[1]).digest('base64');
    check(headers['content-security-policy'].includes(`style-src 'sha256-${style}';`), 'the policy names the one style');
    check(!/<script|onclick|<b>/.test(text), 'no script, and what was put in is escaped');
    check(text.includes('<h1>Sign &amp; go &lt;b&gt;?</h1>') && text.includes('Approve &lt;it&gt;?'), text);
    for (const { name } of FORM.slice(1)) check(text.includes(`<label for="f-${name}">`) && text.includes(`id="f-${name}"`), `label of ${name}`);
    check(text.includes('<legend>Approve') && text.includes('type="radio"') && !text.includes('checked'), 'nothing is chosen before');
    const labelOf = (name) => new RegExp(`<label for="f-${name}">([^<]*)<`).exec(text)[1];
    equal([labelOf('amount'), labelOf('reason')], ['Amount (optional)', 'reason (needed with some answers)']);
    check(/<textarea rows="2" name="reason"/.test(text), 'free text has lines');
    check(text.includes('name="viewport"') && text.includes('<html lang="en">'), 'for small screens, in a language');
    check(!text.includes('pawlcb_'), 'the page does not repeat the token');
});

claim('the form of the page answers, and its texts become what the fields want', async (rig) => {
    const { id, link } = await waiting(rig, { form: FORM });
    const sent = new URLSearchParams({ approved: 'true', amount: ' 42 ', reason: 'a+b & "ü"\r\nsecond line', kind: 'old', day: '2026-03-01', at: '2026-03-01T10:30' });
    const answer = await ask('POST', `${link}/decision`, sent);
    equal(answer.status, 200, answer.text);
    check(answer.text.includes('Thank you'), answer.text);
    const { status, result } = await view(rig, id);
    equal(status, 'completed');
    equal(result.payload, { approved: true, amount: 42, reason: 'a+b & "ü"\nsecond line', kind: 'old', day: '2026-03-01', at: '2026-03-01T10:30:00Z' });
    equal(result.by, { callback: true });
});

claim('what does not fit is told beside its field, with what was filled in, and nothing has changed', async (rig) => {
    const { id, link } = await waiting(rig, { form: FORM });
    const wrong = await ask('POST', `${link}/decision`, new URLSearchParams({ approved: 'maybe', amount: '"><script>', kind: 'other', reason: 'kept' }));
    equal(wrong.status, 422);
    for (const name of ['approved', 'amount', 'kind']) check(wrong.text.includes(`id="e-${name}"`), `error of ${name}`);
    check(/<textarea[^>]*name="reason"[^>]*>\nkept</.test(wrong.text) && !wrong.text.includes('<script'), wrong.text);
    const missing = await ask('POST', `${link}/decision`, new URLSearchParams({ approved: 'false' }));
    equal(missing.status, 422);
    check(missing.text.includes('id="e-reason"') && missing.text.includes('This is needed.'), missing.text);
    equal((await ask('POST', `${link}/decision`, new URLSearchParams({ approved: 'true', extra: '1' }))).status, 422);
    for (const body of ['%ff=1', 'a=%zz']) {
        const bad = await ask('POST', `${link}/decision`, body, { 'Content-Type': 'application/x-www-form-urlencoded' });
        equal(bad.status, 400, body);
    }
    const execution = await view(rig, id);
    equal([execution.status, execution.context.signals], ['waiting', []]);
});

claim('a program answers with JSON, which is the payload, and is told 202, 400 and 422 with pointers', async (rig) => {
    const { id, link } = await waiting(rig, { form: FORM });
    const bad = await ask('POST', `${link}/decision`, { approved: 1 });
    equal([bad.status, JSON.parse(bad.text).errors.map((e) => e.pointer)], [422, ['/payload/approved']]);
    const broken = await ask('POST', `${link}/decision`, '{"approved":');
    equal([broken.status, JSON.parse(broken.text).code], [400, 'bad_json']);
    equal((await ask('POST', `${link}/decision`, '"\\u0000"')).status, 422);
    equal((await ask('POST', `${link}/decision`, `"${'x'.repeat(1 << 20)}"`)).status, 413);
    equal((await view(rig, id)).status, 'waiting');
    const answer = await ask('POST', `${link}/decision`, { approved: true });
    equal([answer.status, typeof JSON.parse(answer.text).id], [202, 'string']);
    equal((await view(rig, id)).result.payload, { approved: true });
});

claim('a second answer is told so politely, in the words of an unknown link', async (rig) => {
    const { id, link } = await waiting(rig);
    equal((await ask('POST', `${link}/decision`, new URLSearchParams())).status, 200);
    const second = await ask('POST', `${link}/decision`, new URLSearchParams());
    const unknown = await ask('POST', `${rig.server.url}/callbacks/pawlcb_${'A'.repeat(75)}/decision`, new URLSearchParams());
    equal([second.status, second.text], [404, unknown.text]);
    check(second.text.includes('answered already'), second.text);
    equal((await ask('GET', `${link}/decision`)).status, 404);
    const program = await ask('POST', `${link}/decision`, {});
    equal([program.status, JSON.parse(program.text).code], [404, 'not_found']);
    equal((await view(rig, id)).context.signals.length, 1, 'one answer');
});

claim('of many answers at once one counts', async (rig) => {
    const { id, link } = await waiting(rig);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => ask('POST', `${link}/decision`, { n })));
    equal(answers.map((a) => a.status).sort(), [202, 404, 404, 404, 404, 404, 404, 404]);
    equal((await view(rig, id)).context.signals.length, 1);
});

claim('a link is dead when the time of the wait is up, and when the execution is cancelled', async (rig) => {
    const late = await begun(rig, { timeout: '300ms', onTimeout: 'continue' });
    await until('the time is up', async () => (await view(rig, late.id)).status === 'completed');
    const gone = await waiting(rig);
    await rig.api('POST', `/executions/${gone.id}/cancel`);
    for (const { link } of [late, gone])
        for (const method of ['GET', 'POST']) equal((await ask(method, `${link}/decision`, method === 'POST' ? {} : undefined)).status, 404);
});

claim('a wait that is not public has no link that answers it', async (rig) => {
    const { id, link } = await waiting(rig, { public: false });
    for (const method of ['GET', 'POST']) equal((await ask(method, `${link}/decision`, method === 'POST' ? {} : undefined)).status, 404);
    equal((await view(rig, id)).status, 'waiting');
});

claim('the type stands behind the link; without it there is one to choose, or only one', async (rig) => {
    const both = await waiting(rig, { signalType: ['approve', 'reject'] });
    equal((await ask('GET', `${both.link}/decision`)).status, 404);
    const choice = await ask('GET', both.link);
    const hrefs = [...choice.text.matchAll(/href="([^"]+)"/g)].map((m) => new URL(m[1], both.link).href);
    equal(hrefs.length, 2, choice.text);
    check((await ask('GET', hrefs[1])).text.includes('<strong>reject</strong>'), 'the page says what is answered');
    equal((await ask('POST', both.link, {})).status, 404);
    equal((await ask('POST', hrefs[1], new URLSearchParams())).status, 200);
    equal((await view(rig, both.id)).result.type, 'reject');
    const one = await waiting(rig);
    equal((await ask('POST', one.link, { n: 1 })).status, 202);
    equal((await view(rig, one.id)).result.payload, { n: 1 });
});

claim('pages are in English and Russian', async (rig) => {
    const { link } = await waiting(rig);
    for (const [accept, lang, word] of [['ru', 'ru', 'Подтвердить'], ['ru-RU,ru;q=0.9,en;q=0.8', 'ru', 'Подтвердить'], ['en;q=0.9,ru;q=0.3', 'en', 'Confirm'], ['de', 'en', 'Confirm'], ['', 'en', 'Confirm']]) {
        const { text } = await ask('GET', `${link}/decision`, undefined, { 'Accept-Language': accept });
        check(text.includes(`<html lang="${lang}">`) && text.includes(word), `${accept}: ${text.slice(0, 80)}`);
    }
    check((await ask('GET', `${rig.server.url}/callbacks/x/y`, undefined, { 'Accept-Language': 'ru' })).text.includes('Ответ уже получен'), 'refusals too');
});

claim('a link of round one does not answer round two', async (rig) => {
    const code = fresh('rounds_');
    await rig.publish({ code, steps: [tell('tell', code), wait('ask', { accept: 'new' }), { code: 'again', procedure: { type: 'wait.signal', signalType: 'again' }, goto: 'tell' }] });
    const { id } = await rig.begin(code);
    const first = await linkOf(code);
    await until('it waits', async () => (await view(rig, id)).currentStep === 'ask');
    equal((await ask('POST', `${first}/decision`, { round: 1 })).status, 202);
    equal((await ask('POST', `${first}/decision`, { round: 'early' })).status, 404);
    await rig.api('POST', `/executions/${id}/signal`, { type: 'again' });
    const second = await linkOf(code, 1);
    await until('it waits', async () => (await view(rig, id)).currentStep === 'ask');
    for (const method of ['GET', 'POST']) equal((await ask(method, `${first}/decision`, method === 'POST' ? {} : undefined)).status, 404, `${method} with the old link`);
    await rig.restart();
    const moved = (link) => link.replace(/^http:\/\/[^/]+/, rig.server.url);
    equal((await ask('POST', `${moved(first)}/decision`, {})).status, 404, 'after a restart, too');
    equal((await ask('POST', `${moved(second)}/decision`, { round: 2 })).status, 202);
    equal((await view(rig, id)).context.steps.ask.payload, { round: 2 });
});

claim('who approves in one step does not approve the next one by the same link', async (rig) => {
    const code = fresh('two_');
    await rig.publish({ code, steps: [tell('tell', code), wait('manager'), wait('director')] });
    const { id } = await rig.begin(code);
    const link = await linkOf(code);
    await until('it waits', async () => (await view(rig, id)).currentStep === 'manager');
    equal((await ask('POST', `${link}/decision`, {})).status, 202);
    equal((await view(rig, id)).currentStep, 'director');
    equal((await ask('POST', `${link}/decision`, {})).status, 404);
});

claim('iterations that run at once have links of their own', async (rig) => {
    const code = fresh('each_');
    await rig.publish({
        code, steps: [{
            code: 'all', loop: {
                for: '=["a", "b", "c"]', as: 'who', concurrency: 3, collect: '=$.loop.who + ":" + $.steps.ask.payload',
                steps: [{ ...tell('tell', `${code}/{{ $.loop.who }}`) }, wait('ask')],
            },
        }],
    });
    const { id } = await rig.begin(code);
    const of = {};
    for (const who of ['a', 'b', 'c']) of[who] = await linkOf(`${code}/${who}`);
    for (const who of ['c', 'a', 'b']) {
        await until('it is open', async () => (await ask('GET', `${of[who]}/decision`)).status === 200);
        equal((await ask('POST', `${of[who]}/decision`, JSON.stringify(`for ${who}`))).status, 202);
        equal((await ask('POST', `${of[who]}/decision`, '"again"')).status, 404, `${who} once more`);
    }
    equal((await view(rig, id)).result.items, ['a:for a', 'b:for b', 'c:for c']);
});

claim('a link works after kill -9, and one that was used stays used', async (rig) => {
    const { id, link } = await waiting(rig, { form: FORM });
    await rig.restart();
    const moved = `${link.replace(/^http:\/\/[^/]+/, rig.server.url)}/decision`;
    equal((await ask('POST', moved, { approved: true })).status, 202);
    await rig.restart();
    equal((await ask('POST', moved.replace(/^http:\/\/[^/]+/, rig.server.url), { approved: true })).status, 404);
    equal((await view(rig, id)).status, 'completed');
});

claim('no view, history, stream or log shows a link', async (rig) => {
    const code = fresh('masked_');
    await rig.publish({
        code, steps: [
            { code: 'keep', procedure: { type: 'compute.set', values: { link: '=$.execution.callbackUrl + "/x"' } } },
            { code: 'said', procedure: { type: 'log', level: 'warn', message: 'link {{ $.execution.callbackUrl }}', data: { l: '$.execution.callbackUrl' } } },
            tell('tell', code),
            { code: 'none', onError: 'continue', procedure: { type: 'compute.fail', code: 'no', message: 'not {{ $.execution.callbackUrl }}' } },
            { ...wait('ask', { title: 'At {{ $.execution.callbackUrl }}', assignee: '00000000-0000-7000-8000-000000000002' }) },
        ],
    });
    const { id } = await rig.begin(code);
    const link = await linkOf(code);
    await until('it waits', async () => (await view(rig, id)).currentStep === 'ask');
    const token = TOKEN.exec(link)[0];
    for (const path of [`/executions/${id}`, `/executions/${id}/steps?events=true`, `/executions/${id}/logs`, `/executions/${id}/context`, '/executions', '/inbox', '/outbox', '/audit', '/dlq?status=all']) {
        const { status, body } = await rig.api('GET', path);
        check(status === 200 || path.endsWith('context'), `${path}: ${status}`);
        check(!JSON.stringify(body).includes('pawlcb_'), `${path} shows a link`);
    }
    check(JSON.stringify(await view(rig, id)).includes('/callbacks/***/x'), 'it is hidden, not left out');
    const page = await ask('GET', `${link}/decision`);
    check(page.status === 200 && !page.text.includes(token), 'nor does the page');
    const stream = await new Promise((done) => {
        let text = '';
        const request = http.request(`${rig.server.url}/api/v1/executions/${id}/events`, { headers: { Authorization: `Bearer ${rig.server.token}` } }, (response) => {
            response.on('data', (part) => { text += part; if (text.includes('"ask"')) { request.destroy(); done(text); } });
        });
        request.on('error', () => {});
        request.end();
    });
    check(!stream.includes('pawlcb_'), 'a stream shows a link');
    equal((await ask('POST', `${link}/wrong`, '{')).status, 400);
    equal((await ask('DELETE', `${link}/wrong`)).status, 401);
    check(rig.server.log.includes('/callbacks/***'), `the log was written: ${rig.server.log.slice(-600)}`);
    check(!rig.server.log.includes('pawlcb_'), 'the log shows a link');
});

claim('who calls too often is told to wait, whatever token is tried, and others links answer on', async (rig) => {
    const { id, link } = await waiting(rig);
    await rig.server.stop();
    await rig.start({ PAWL_HOOK_RATE: '1' });
    const moved = `${link.replace(/^http:\/\/[^/]+/, rig.server.url)}/decision`;
    const tried = await Promise.all(Array.from({ length: 12 }, (_, n) => ask('POST', `${rig.server.url}/callbacks/guess${n}/decision`, {})));
    const limited = tried.filter((a) => a.status === 429);
    check(limited.length >= 5 && tried.filter((a) => a.status === 404).length >= 5, JSON.stringify(tried.map((a) => a.status)));
    check(Number(limited[0].headers['retry-after']) >= 1, 'Retry-After');
    equal((await view(rig, id)).status, 'waiting');
    await until('there is room again', async () => (await ask('POST', moved, {})).status === 202);
    await rig.server.stop();
    await rig.start();
});

await run(async () => {});
receiver.close();
