// demo.mjs - workers in every language that this machine has do the jobs of one server together,
// while one after another is killed: make demo-workers.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { startServer } from '../../tests/lib/server.mjs';
import { sleep, until } from '../../tests/lib/wait.mjs';
import { buildWorker, names, starters } from './languages.mjs';

const BOARDS = 60;
const LEASE_S = '2'; // so that the jobs of who was killed come back soon

const server = await startServer();
const client = server.client();
const must = async (method, path, body, wanted) => {
    const answer = await client.ask(method, `/api/v1${path}`, body);
    if (answer.status !== wanted) throw new Error(`${method} ${path}: ${answer.status} ${answer.raw}`);
    return answer.body;
};

await server.publish(JSON.parse(readFileSync('clients/demo/workshop.json', 'utf8')));
const { token } = await must('POST', '/users', { name: 'workshop', role: 'worker', namespaces: ['workshop'] }, 201);
console.log(`pawl at ${server.url}\n`);

const workers = [];
for (const name of names) {
    const { command, missing } = await buildWorker(name, starters[name]);
    if (missing) {
        console.log(`skipped: ${name}, for there is no ${missing} on this machine`);
        continue;
    }
    const run = () => spawn(command[0], [...command.slice(1), LEASE_S], {
        env: { ...process.env, PAWL_URL: server.url, PAWL_TOKEN: token }, stdio: ['ignore', 'ignore', 'inherit'],
    });
    workers.push({ name, run, child: run() });
    console.log(`${name}: a worker has started`);
}
const killAll = () => workers.forEach((w) => w.child.kill('SIGKILL'));
process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

console.log(`\n${BOARDS} boards are cut, sanded and painted; every worker is killed once meanwhile`);
const boards = [];
for (let n = 1; n <= BOARDS; n++) {
    boards.push((await must('POST', '/executions', { code: 'workshop', key: `board-${n}`, input: { length: 100 + n } }, 201)).id);
    const victim = n % Math.ceil(BOARDS / workers.length) === 0 && workers[Math.floor((n * workers.length) / BOARDS) - 1];
    if (victim) {
        victim.child.kill('SIGKILL');
        console.log(`${victim.name}: killed, and started again`);
        victim.child = victim.run();
    }
    await sleep(20);
}

const counts = new Map();
for (const id of boards) {
    const x = await until(`${id} ends`, async () => {
        const found = await must('GET', `/executions/${id}`, undefined, 200);
        return ['completed', 'failed', 'cancelled'].includes(found.status) && found;
    });
    if (x.status !== 'completed') throw new Error(`${id} is ${x.status}: ${JSON.stringify(x.error)}`);
    for (const name of x.result.by) counts.set(name, (counts.get(name) ?? 0) + 1);
}
console.log(`\nall completed; who did how many of ${3 * BOARDS} jobs:`);
for (const [name, count] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`  ${name.padEnd(12)}${count}`);

killAll();
client.close();
await server.stop();
process.exit(0);
