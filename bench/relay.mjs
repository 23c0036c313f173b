// The relay of the outbox: messages a second to one subscription and to eight. See run-relay.
import { Server, makeFolder, removeFolder, run, sleep } from './kernel/server.mjs';
import { Service, curlAlone } from './service.mjs';

const COUNT = Number(process.env.COUNT ?? 20000);
const CONNECTIONS = 64;
const TELL = {
    code: 'bench_tell',
    steps: [{ code: 'tell', procedure: { type: 'event.publish', event: 'BenchTold', payload: { amount: 250, order: 'o-1' } } }],
};
const START = { path: '/api/v1/executions', body: JSON.stringify({ code: TELL.code }), connections: CONNECTIONS };
const line = (what, value, goal = '') => console.log(`${what.padEnd(66)} ${String(value).padStart(22)}  ${goal}`);
const seconds = (since) => Number(process.hrtime.bigint() - since) / 1e9;

/** `executions` start; their events reach `lanes` subscriptions, each a destination of its own. */
async function deliver(lanes, executions) {
    const service = await Service.start();
    const folder = makeFolder();
    const server = await Server.start(folder);
    await server.publish(TELL);
    await server.load({ ...START, count: 1000 });
    const without = await server.loadWithCpu({ ...START, count: executions });
    for (let i = 0; i < lanes; i++) {
        await server.call('PUT', `/subscriptions/bench${i}`,
            { url: service.url(`/fast?lane=${i}`), events: ['BenchTold'], secret: 'a long random text' });
    }
    const before = await curlAlone(run, service, CONNECTIONS);
    const base = (await service.count()).requests, wanted = executions * lanes;
    const delivered = async () => (await service.count()).requests - base;
    const cpu = server.cpuUs(), began = process.hrtime.bigint();
    const started = await server.load({ ...START, count: executions });
    const left = wanted - await delivered(), drains = process.hrtime.bigint();
    while (await delivered() < wanted) await sleep(20);
    const all = wanted / seconds(began), drained = left / seconds(drains);
    const cpuEach = ((server.cpuUs() - cpu) - without.cpuUs * executions) / wanted;
    const twice = await delivered() - wanted;
    const curl = (before + await curlAlone(run, service, CONNECTIONS)) / 2;
    line(`${lanes} subscription(s): executions started, without and with`, `${without.perSecond.toFixed(0)} / ${started.perSecond.toFixed(0)}/s`);
    line('  messages, from the first start to the last delivery', `${all.toFixed(0)}/s`);
    line(`  the ${left} that were left when all had started`, left > 0 ? `${drained.toFixed(0)}/s` : '-');
    line('  CPU of the server for a message', `${cpuEach.toFixed(0)} us`);
    line('  delivered twice', String(twice));
    line('  curl multi alone, before and after, the mean', `${curl.toFixed(0)}/s`);
    line('  of curl multi alone: all, and those that were left', `${(all / curl).toFixed(2)} / ${left > 0 ? (drained / curl).toFixed(2) : '-'}`);
    await server.stop('SIGKILL');
    service.stop();
    removeFolder(folder);
}

await deliver(1, COUNT);
await deliver(8, COUNT / 8);
