// Nodes that share a database are one installation: the administrator's token and the master key
// are those of the node that started first, and no other node makes its own.
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, claim, end, equal, skip } from '../lib/claims.mjs';
import { Postgres } from '../lib/postgres.mjs';
import { makeFolder } from '../lib/program.mjs';
import { Server, started } from '../lib/server.mjs';
import { request } from '../lib/client.mjs';
import { until } from '../lib/wait.mjs';

const postgres = await Postgres.open();
if (!postgres) {
    skip('PostgreSQL is not installed');
    end();
}

const folder = () => join(makeFolder(), 'data');
const tokenOf = (server) => readFileSync(join(server.data, 'admin.token'), 'utf8').trim();
const takeKey = (from, to) => copyFileSync(join(from.data, 'master.key'), join(to.data, 'master.key'));
const status = async (server, token) => (await request(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;

/** Start a node that has no admin.token: Server.start() would read it. */
async function startOther(server) {
    writeFileSync(join(server.data, 'admin.token'), '');
    rmSync(join(server.data, 'admin.token'));
    const ready = started(server).catch((error) => error);
    await until('it says where it listens', () => /listens on (\S+)/.test(server.welcome ?? '') || !server.child);
    await ready;
    server.url = server.welcome.match(/listens on (\S+)/)?.[1];
}

const store = postgres.fresh();
const first = new Server(folder(), { store });
const second = new Server(folder(), { store });
await started(first);
const token = tokenOf(first);

await claim('a node without the key of the installation does not start, and makes none', async () => {
    check(!(await second.start()), 'it started');
    check(second.log.includes('the master key of this installation') && second.log.includes('--master-key'), second.log);
    check(!existsSync(join(second.data, 'master.key')), 'a key was made');
    check(!existsSync(join(second.data, 'admin.token')), 'a token was made');
});

await claim('nor does one with another key', async () => {
    writeFileSync(join(second.data, 'master.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    check(!(await second.start()), 'it started');
    check(/the master key|credentials are sealed/.test(second.log), second.log);
});

await claim('with the key it starts, and the token of the first node is good there', async () => {
    rmSync(join(second.data, 'master.key'));
    takeKey(first, second);
    await startOther(second);
    check(/admin.token of the node that started first/.test(second.welcome), second.welcome);
    check(!existsSync(join(second.data, 'admin.token')), 'a token was made');
    equal(await status(second, token), 200);
    equal(await status(second, `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`), 401);
});

await claim('a new token of the administrator is that of all nodes, and the one before of none', async () => {
    await first.stop();
    first.args = ['--new-admin-token'];
    await started(first);
    const next = tokenOf(first);
    check(next !== token, 'it is another');
    equal([await status(first, next), await status(first, token)], [200, 401]);
    await until('the other node knows it', async () => (await status(second, next)) === 200);
    equal(await status(second, token), 401);
    first.args = [];
});

await claim('a start that is killed while it makes another token leaves one that is good', async () => {
    await first.stop();
    const good = tokenOf(first), file = join(first.data, 'admin.token');
    const release = await postgres.holdWhat("SELECT 1 FROM installation WHERE name = 'admin_token' FOR UPDATE", store.split('/').at(-1));
    first.args = ['--new-admin-token'];
    let hasEnded = false;
    const ended = first.start().catch(() => false).finally(() => (hasEnded = true));
    await until('a token is written', () => hasEnded || existsSync(`${file}.new`) || !existsSync(file) || tokenOf(first) !== good);
    await first.kill();
    await ended;
    await release();
    first.args = [];
    await started(first);
    equal([tokenOf(first), await status(first, good), existsSync(`${file}.new`)], [good, 200, false], 'not claimed');
    await first.stop();
    // As it is left between the claim and the new name.
    const next = `pawl_${'ab'.repeat(32)}`;
    writeFileSync(`${file}.new`, `${next}\n`, { mode: 0o600 });
    postgres.ask(`UPDATE installation SET value = encode(sha256('${next}'), 'hex') WHERE name = 'admin_token'`, store.split('/').at(-1));
    await started(first);
    equal([tokenOf(first), await status(first, next), await status(first, good)], [next, 200, 401], 'claimed');
});

await claim('a node whose folder has another token goes on with that of the installation', async () => {
    await second.stop();
    writeFileSync(join(second.data, 'admin.token'), `pawl_${'cd'.repeat(32)}\n`, { mode: 0o600 });
    await started(second);
    check(second.log.includes('is not the token of this installation'), second.log);
    equal([await status(second, tokenOf(first)), await status(second, tokenOf(second))], [200, 401]);
    equal(await second.stop(), 0);
    equal(await first.stop(), 0);
});

await claim('of nodes that start together on an empty database one is the first', async () => {
    const both = postgres.fresh();
    const nodes = [1, 2].map(() => new Server(folder(), { store: both }));
    const ready = await Promise.all(nodes.map((node) => node.start().catch(() => node.child !== null)));
    const [winner, loser] = ready[0] ? nodes : [nodes[1], nodes[0]];
    equal(ready.filter(Boolean).length, 1, `one starts: ${nodes.map((node) => node.log)}`);
    check(/master key/.test(loser.log), loser.log);
    equal(await status(winner, tokenOf(winner)), 200);
    takeKey(winner, loser);
    await startOther(loser);
    equal(await status(loser, tokenOf(winner)), 200);
    for (const node of nodes) await node.stop();
});

await claim('on SQLite a new token takes the place of the one before', async () => {
    const server = new Server(folder());
    await started(server);
    const before = tokenOf(server);
    await server.stop();
    server.args = ['--new-admin-token'];
    await started(server);
    equal([await status(server, tokenOf(server)), await status(server, before)], [200, 401]);
    await server.stop();
});

postgres.close?.();
end();
