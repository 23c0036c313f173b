// A change that pawl asks for is sent once, also when the connection that it kept breaks before the answer.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

import { claim, end, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';

const id = '01900000-0000-7000-8000-000000000001';
const stopped = { id, code: 'a', status: 'waiting_debug', completedAt: null, waitingFor: { kind: 'debug', next: 'b' }, context: { steps: {}, variables: {} } };
const asked = [];
const server = createServer((request, response) => {
    asked.push(request.method);
    if (request.method !== 'GET') return void request.socket.destroy();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(stopped));
});
server.keepAliveTimeout = 60000;
await new Promise((listens) => server.listen(0, '127.0.0.1', listens));
const url = `http://127.0.0.1:${server.address().port}`;

const run = (args, input) => new Promise((done) => {
    const child = spawn(pawl, args, { env: { ...process.env, PAWL_URL: url, PAWL_TOKEN: 'pawl_x' } });
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', done);
    child.stdin.end(input);
});

await claim('a step whose answer is lost is asked for once', async () => {
    await run(['debug', id], 'n\nq\n');
    equal(asked.filter((method) => method === 'POST').length, 1, asked.join(' '));
});

await claim('so is a continue', async () => {
    asked.length = 0;
    equal(await run(['continue', id], ''), 1, 'it says that it failed');
    equal(asked.filter((method) => method === 'POST').length, 1, asked.join(' '));
});

server.closeAllConnections();
server.close();
end();
