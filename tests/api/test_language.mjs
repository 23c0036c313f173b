// test_language.mjs - claims about the language of what answers say to people: that of Accept-Language.
import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';

const server = await startServer();
const call = (language, method, path, body) => server.asAdmin(method, path, body, language ? { 'Accept-Language': language } : {});

const isCyrillic = (text) => /[а-яё]/i.test(text);
const broken = {
    code: 'order',
    steps: [
        { code: 'a', procedure: { type: 'lag', message: 'x' }, goto: 'b' },
        { code: 'a', procedure: [{ type: 'log', message: 1, levl: 'info' }, { type: 'variables.set', values: { x: '=$.input.a +' } }], stepz: 1 },
    ],
};

await claim('test_language__findings_are_said_in_the_language_that_is_accepted', async () => {
    const english = await call(undefined, 'POST', '/validate', { definition: broken });
    const russian = await call('ru-RU,ru;q=0.9,en;q=0.8', 'POST', '/validate', { definition: broken });
    const bare = (one) => ({ ...one, message: '', hint: undefined, fix: one.fix && { ...one.fix, label: '' } });
    equal(russian.body.errors.map(bare), english.body.errors.map(bare), 'what is found');
    for (const one of russian.body.errors)
        if (!isCyrillic(one.message) || (one.hint && !isCyrillic(one.hint)) || (one.fix && !isCyrillic(one.fix.label))) throw new Error(JSON.stringify(one));
    for (const one of english.body.errors)
        if (isCyrillic(one.message + (one.hint ?? '') + (one.fix?.label ?? ''))) throw new Error(JSON.stringify(one));
});

await claim('test_language__without_the_header_or_with_another_it_is_english', async () => {
    const plain = await call(undefined, 'POST', '/validate', { definition: broken });
    for (const language of ['de', 'en', 'fr;q=1, en;q=0.5, ru;q=0.1', ''])
        equal((await call(language, 'POST', '/validate', { definition: broken })).body, plain.body, language);
});

await claim('test_language__drafts_dry_runs_and_imports_say_it_too', async () => {
    const draft = await call('ru', 'PUT', '/scenarios/order/draft', broken);
    if (!draft.body.errors.every((one) => isCyrillic(one.message))) throw new Error(JSON.stringify(draft.body.errors));
    const imported = await call('ru', 'POST', '/import?dryRun=true', { items: [{ ...broken, kind: 'scenario' }] });
    if (!isCyrillic(JSON.stringify(imported.body))) throw new Error(JSON.stringify(imported.body));
});

await claim('test_language__an_expression_is_refused_in_the_language_that_is_accepted', async () => {
    const refused = await call('ru', 'POST', '/eval', { expression: '$.input.amount +', context: { input: {} } });
    equal(refused.status, 422);
    equal(refused.body.code, 'expression_syntax');
    equal(refused.body.title, 'Содержимое не подходит');
    equal(refused.body.detail, 'ожидается значение, а найдено: конец выражения');
    equal(refused.body.errors[0].message, refused.body.detail);
    equal((await call('en', 'POST', '/eval', { expression: '$.input.amount +', context: { input: {} } })).body.detail,
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
        equal([refused.status, refused.body.detail], [status, detail], path);
    }
});

await server.stop();
end();
