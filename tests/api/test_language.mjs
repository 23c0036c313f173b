// test_language.mjs - claims about the language of what answers say to people: that of Accept-Language.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Server } from '../kill/server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'pawl-language-'));
const server = new Server(join(folder, 'data'), 'sqlite', resolve(process.env.PAWL ?? 'build/pawl'));
let passed = 0, failed = 0;

async function call(language, method, path, body) {
    const answer = await fetch(`${server.url}/api/v1${path}`, {
        method,
        body: body === undefined ? undefined : JSON.stringify(body),
        headers: { Authorization: `Bearer ${server.token}`, ...(language && { 'Accept-Language': language }) },
    });
    return { status: answer.status, json: await answer.json() };
}

function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual), w = JSON.stringify(wanted);
    if (a !== w) throw new Error(`${what}: ${a}, wanted ${w}`);
}

async function claim(name, work) {
    try {
        await work();
        passed++;
    } catch (error) {
        failed++;
        console.log(`failed: ${name}: ${error.message}`);
    }
}

const isCyrillic = (text) => /[а-яё]/i.test(text);
const broken = {
    code: 'order',
    steps: [
        { code: 'a', procedure: { type: 'lag', message: 'x' }, goto: 'b' },
        { code: 'a', procedure: [{ type: 'log', message: 1, levl: 'info' }, { type: 'variables.set', values: { x: '=$.input.a +' } }], stepz: 1 },
    ],
};

if (!(await server.start())) throw new Error(server.log);

await claim('test_language__findings_are_said_in_the_language_that_is_accepted', async () => {
    const english = await call(undefined, 'POST', '/validate', { definition: broken });
    const russian = await call('ru-RU,ru;q=0.9,en;q=0.8', 'POST', '/validate', { definition: broken });
    const bare = (one) => ({ ...one, message: '', hint: undefined });
    equal(russian.json.errors.map(bare), english.json.errors.map(bare), 'what is found');
    for (const one of russian.json.errors)
        if (!isCyrillic(one.message) || (one.hint && !isCyrillic(one.hint))) throw new Error(JSON.stringify(one));
    for (const one of english.json.errors)
        if (isCyrillic(one.message + (one.hint ?? ''))) throw new Error(JSON.stringify(one));
});

await claim('test_language__without_the_header_or_with_another_it_is_english', async () => {
    const plain = await call(undefined, 'POST', '/validate', { definition: broken });
    for (const language of ['de', 'en', 'fr;q=1, en;q=0.5, ru;q=0.1', ''])
        equal((await call(language, 'POST', '/validate', { definition: broken })).json, plain.json, language);
});

await claim('test_language__drafts_dry_runs_and_imports_say_it_too', async () => {
    const draft = await call('ru', 'PUT', '/scenarios/order/draft', broken);
    if (!draft.json.errors.every((one) => isCyrillic(one.message))) throw new Error(JSON.stringify(draft.json.errors));
    const imported = await call('ru', 'POST', '/import?dryRun=true', { items: [{ ...broken, kind: 'scenario' }] });
    if (!isCyrillic(JSON.stringify(imported.json))) throw new Error(JSON.stringify(imported.json));
});

await claim('test_language__an_expression_is_refused_in_the_language_that_is_accepted', async () => {
    const refused = await call('ru', 'POST', '/eval', { expression: '$.input.amount +', context: { input: {} } });
    equal(refused.status, 422);
    equal(refused.json.code, 'expression_syntax');
    equal(refused.json.title, 'Содержимое не подходит');
    equal(refused.json.detail, 'ожидается значение, а найдено: конец выражения');
    equal(refused.json.errors[0].message, refused.json.detail);
    equal((await call('en', 'POST', '/eval', { expression: '$.input.amount +', context: { input: {} } })).json.detail,
        'expected a value, but found the end of the expression');
});

await claim('test_language__refusals_say_why_in_the_language_that_is_accepted', async () => {
    const wanted = [
        ['GET', '/executions/0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77', undefined, 404, 'нет запуска с таким идентификатором'],
        ['GET', '/executions?limit=0', undefined, 400, 'limit — число от 1 до 500'],
        ['POST', '/executions', { code: 'nowhere' }, 404, 'процесс «nowhere» не опубликован'],
        ['POST', '/executions', { code: 'nowhere', inptu: {} }, 422, 'нет поля «inptu»'],
        ['POST', '/scenarios/order/publish', {}, 422, 'черновик нельзя опубликовать: два шага «a»'],
        ['GET', '/nothing', undefined, 404, 'по этому пути ничего нет'],
    ];
    for (const [method, path, body, status, detail] of wanted) {
        const refused = await call('ru', method, path, body);
        equal([refused.status, refused.json.detail], [status, detail], path);
    }
});

await server.stop();
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
