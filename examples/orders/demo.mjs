// demo.mjs - every way an order can end, over real HTTP: make demo-orders.
import { begin, situations } from './situations.mjs';
import { World, sleep } from './world.mjs';

const world = new World();
const wide = (text, width) => String(text).padEnd(width);
let wrong = 0;

function line(...cells) {
    console.log(cells.map((c, i) => wide(c, [28, 11, 11, 9, 6, 40][i])).join(''));
}

const charges = (order) => world.sql('payment', `SELECT count(*) AS n FROM charges WHERE order_id = '${order}' AND status IN ('paid', 'refunded')`)[0].n;
const kept = (order) => world.sql('payment', `SELECT coalesce(sum(cents), 0) AS n FROM charges WHERE order_id = '${order}' AND status = 'paid'`)[0].n;

async function report(s, order, id, note = '') {
    const x = await world.ended(id);
    const record = await world.record(order);
    const states = await world.told(order, s.states.length);
    const ok = states.join() === s.states.join() && record.status === s.status && kept(order) === s.kept && charges(order) <= 1 && (record.problem ?? null) === (s.problem ?? null);
    if (!ok) wrong++;
    line(s.name + note, record.status, x.status, charges(order), kept(order), ok ? `${states.join(' ')} ${record.problem ?? ''}` : 'WRONG');
}

try {
    await world.open();
    console.log(`pawl at ${world.engine.url}, inventory at ${world.inventory.url}, payment at ${world.payment.url}\n`);
    line('situation', 'order', 'execution', 'charges', 'kept', 'OrderStatusChanged');
    const begun = [];
    for (const [i, s] of situations.entries()) begun.push(await begin(world, s, `o-${i + 1}`));
    for (const [i, s] of situations.entries()) await report(s, `o-${i + 1}`, begun[i]);
    const letters = await world.must('GET', '/dlq');
    console.log(`\ndead letters for the operator: ${letters.items.map((l) => `${l.kind} of ${l.step ?? ''} (${l.cause.code})`).join(', ')}\n`);

    line('killed with -9 meanwhile', 'order', 'execution', 'charges', 'kept', 'OrderStatusChanged');
    for (const name of ['engine', 'payment', 'inventory']) {
        const [well] = situations;
        const orders = [...Array(3).keys()].map((i) => `killed-${name}-${i + 1}`);
        const ids = [];
        for (const order of orders) {
            await world.fault({ service: 'payment', order, action: 'charge', fault: 'delay', ms: 300 });
            ids.push(await world.place(order));
        }
        await sleep(100);
        await world.kill(name);
        for (const [i, order] of orders.entries()) await report(well, order, ids[i], `: ${name} killed`);
    }
} finally {
    await world.close();
}
console.log(wrong === 0 ? '\nEvery order ended as it should, and none was charged twice.' : `\n${wrong} orders did not end as they should.`);
process.exit(wrong === 0 ? 0 : 1);
