// Reminders reach whoever is asked by mail, with a link that answers, through a real mail server; on both stores.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

const mails = [];
const server = spawn('/usr/bin/python3', [join(dirname(fileURLToPath(import.meta.url)), 'mail_server.py'), '0', 'plain'], { stdio: ['ignore', 'pipe', 'ignore'] });
const port = await new Promise((opened) => {
    let rest = '';
    server.stdout.on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines.map((l) => JSON.parse(l)))
            if (line.port) opened(line.port);
            else {
                const data = Buffer.from(line.data, 'base64').toString();
                mails.push({ to: line.to, text: Buffer.from(data.slice(data.indexOf('\r\n\r\n')).replace(/\r\n/g, ''), 'base64').toString() });
            }
    });
});

let names = 0;
const fresh = (word) => `${word}${++names}`;
const view = async (rig, id) => (await rig.api('GET', `/executions/${id}`)).body;

async function person(rig, groups) {
    const email = `${fresh('r')}_${rig.name.toLowerCase()}@example.org`;
    const made = await rig.api('POST', '/users', { name: email, email, role: 'member', groups });
    equal(made.status, 201, JSON.stringify(made.body));
    return { id: made.body.id, email };
}

const asking = (code, assignee) => ({
    code, steps: [{
        code: 'ask', procedure: {
            type: 'wait.signal', signalType: 'decision', public: true, title: 'Approve {{ input.n }}?', assignee, timeout: '1d',
            form: [{ name: 'approved', type: 'boolean', required: true }],
            reminder: {
                every: '200ms', max: 1,
                procedure: { type: 'notification.email', to: '$.reminder.assignee', template: 'remind', data: { title: '$.reminder.title', n: '$.reminder.index', link: '{{ $.execution.callbackUrl }}/decision' } },
            },
        },
    }],
});

claim('a reminder is mailed to the user, the e-mail and the group that are asked, and its link answers', async (rig) => {
    await rig.api('PUT', '/templates/remind', { subject: 'Reminder {{ data.n }}', body: '{{ data.title }}\n{{ data.link }}' });
    const group = fresh('team');
    const [byId, one, two, away] = [await person(rig, []), await person(rig, [group]), await person(rig, [group]), await person(rig, [group])];
    equal((await rig.api('PATCH', `/users/${away.id}`, { active: false })).status, 200);
    const outside = `${fresh('x')}_${rig.name.toLowerCase()}@example.org`;
    const code = fresh('remind_');
    await rig.publish(asking(code, [byId.id, `group:${group}`, outside]));
    const { id } = await rig.begin(code, { input: { n: 7 } });
    const mail = await until('the mail', () => mails.find((m) => m.to.includes(byId.email)));
    equal([...mail.to].sort(), [byId.email, one.email, two.email, outside].sort(), 'recipients');
    check(mail.text.startsWith('Approve 7?\nhttp://'), mail.text);
    const link = mail.text.split('\n')[1];
    equal((await fetch(link)).status, 200);
    equal((await fetch(link, { method: 'POST', body: new URLSearchParams({ approved: 'true' }) })).status, 200);
    const { status, result } = await view(rig, id);
    equal([status, result.payload], ['completed', { approved: true }]);
});

claim('a mail for which nobody has an address waits in the outbox with the reason, and goes when somebody has one', async (rig) => {
    const group = fresh('empty');
    const code = fresh('remind_');
    await rig.publish(asking(code, `group:${group}`));
    const { id } = await rig.begin(code, { input: { n: 8 } });
    const waiting = await until('it waits', async () => (await rig.api('GET', `/outbox?execution=${id}`)).body.items.find((m) => m.error));
    equal(waiting.error.code, 'not_found_address');
    check(waiting.error.message.includes(`group:${group}`), waiting.error.message);
    const late = await person(rig, [group]);
    equal((await rig.api('POST', `/outbox/${waiting.id}/retry`)).status, 202);
    await until('the mail', () => mails.find((m) => m.to.includes(late.email)));
});

claim('a reminder goes to whom the wait was given meanwhile', async (rig) => {
    const [first, second] = [await person(rig, []), await person(rig, [])];
    const code = fresh('remind_');
    const definition = asking(code, first.id);
    definition.steps[0].procedure.reminder.every = '1500ms';
    await rig.publish(definition);
    const { id } = await rig.begin(code, { input: { n: 9 } });
    equal((await rig.api('POST', `/executions/${id}/assign`, { assignee: second.id })).status, 202);
    await until('the mail', () => mails.find((m) => m.to.includes(second.email)));
    check(!mails.some((m) => m.to.includes(first.email)), 'nobody else is reminded');
});

claim('what is neither an address nor somebody is no recipient', async (rig) => {
    const code = fresh('nobody_');
    await rig.publish({ code, onError: 'fail_fast', steps: [{ code: 's', procedure: { type: 'notification.email', to: '$.input.to', subject: 's', body: 'b' } }] });
    for (const to of ['ann', 'group:', '', 5]) {
        const answer = await rig.api('POST', '/executions?wait=10s', { code, input: { to } });
        equal(answer.body.error?.code, 'validation_address', JSON.stringify(to));
    }
});

process.on('exit', () => server.kill('SIGKILL'));
await run(async (rig) => {
    await rig.server.stop();
    await rig.start({ PAWL_SMTP: `smtp://127.0.0.1:${port}`, PAWL_MAIL_FROM: 'shop@example.com' });
});
