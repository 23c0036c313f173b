// The order saga with its real services, on both stores: every row of the table, and hundreds of orders while the
// server and the services are killed.
import { begin, situations } from '../../examples/orders/situations.mjs';
import { World, sleep, until } from '../../examples/orders/world.mjs';
import { amount, Random, seed } from '../lib/budget.mjs';
import { end, holds } from '../lib/claims.mjs';
import { onStores } from '../lib/stores.mjs';

const ORDERS = Number(process.env.ORDERS ?? amount('orders'));
const AT_ONCE = 20;

const told = (ok, text, why) => holds(ok, `${text}${why === undefined ? '' : `\n  ${JSON.stringify(why).slice(0, 1500)}`}`);

/** What the services know of each order: {order: {charges, kept, refunds, reserved, released}}. */
function truth(world) {
    const of = new Map();
    const at = (order) => of.get(order) ?? of.set(order, { charges: 0, kept: 0, refunds: 0, reserved: 0, released: 0 }).get(order);
    for (const r of world.sql('payment', "SELECT order_id, count(*) AS n, sum(CASE status WHEN 'paid' THEN cents ELSE 0 END) AS kept FROM charges WHERE status IN ('paid', 'refunded', 'pending') GROUP BY order_id"))
        Object.assign(at(r.order_id), { charges: r.n, kept: r.kept });
    for (const r of world.sql('payment', 'SELECT order_id, count(*) AS n FROM refunds WHERE cents > 0 GROUP BY order_id')) at(r.order_id).refunds = r.n;
    for (const r of world.sql('inventory', "SELECT order_id, sum(status = 'reserved') AS reserved, sum(status = 'released') AS released FROM reservations GROUP BY order_id"))
        Object.assign(at(r.order_id), { reserved: r.reserved, released: r.released });
    return at;
}

/** The states that an order may have had when it ends like this. */
const WAYS = {
    confirmed: [['pending', 'reserved', 'paid', 'confirmed']],
    canceled: [['pending', 'canceled'], ['pending', 'reserved', 'canceled']],
    refunded: [['pending', 'reserved', 'paid', 'refunded'], ['pending', 'reserved', 'refunded']],
    paid: [['pending', 'reserved', 'paid']],
};

/** Whether others were told each state once and in order; what is wrong, or null. */
async function mistold(world, order, status) {
    const ways = WAYS[status].map((w) => w.join());
    const isRight = () => ways.includes((world.receiver.states.get(order) ?? []).join());
    await until(`${order} is told`, isRight, 60).catch(() => null);
    return isRight() ? null : world.receiver.states.get(order) ?? 'nothing';
}

/** Whether record and services say the same; what is wrong, or null. */
function contradiction(record, real) {
    if (real.charges > 1) return 'charged twice';
    if (real.refunds > 1) return 'refunded twice';
    if (real.reserved > 1) return 'reserved twice';
    const wanted = {
        confirmed: real.kept === 4200 && real.reserved === 1,
        canceled: real.kept === 0 && real.reserved === 0 && real.refunds === 0,
        refunded: real.kept === 0 && real.reserved === 0 && real.refunds === 1,
        paid: record.problem === 'refund_failed' && real.kept === 4200 && real.reserved === 0,
    };
    return wanted[record.status] ? null : `the order is ${record.status}`;
}

async function everyRow(store, world) {
    const ids = [];
    for (const [i, s] of situations.entries()) ids.push(await begin(world, s, `row-${i}`));
    for (const [i, s] of situations.entries()) {
        const order = `row-${i}`;
        const x = await world.ended(ids[i]);
        const record = await world.record(order);
        const real = truth(world)(order);
        told(x.status === s.execution && record.status === s.status && (record.problem ?? null) === (s.problem ?? null),
            `${store}: ${s.name} ends as it should`, { wanted: s, record, error: x.error });
        const states = await world.told(order, s.states.length);
        told(states.join() === s.states.join(), `${store}: ${s.name}: each state is told once, in order`, states);
        told((world.receiver.problems.get(order) ?? []).length === (s.problem ? 1 : 0), `${store}: ${s.name}: a refund that failed is told`);
        told(contradiction(record, real) === null && real.kept === s.kept, `${store}: ${s.name}: the services agree`, { record, real });
    }
}

async function attempts(store, world) {
    const rows = (i) => world.must('GET', `/executions/${i}/steps?limit=500`);
    const down = situations.findIndex((s) => s.name === 'provider down');
    const id = (await world.must('GET', `/executions?key=row-${down}`)).items[0].id;
    const tries = (await rows(id)).items.filter((r) => r.step === 'pay' || r.stepCode === 'pay').length;
    told(tries >= 3 && tries <= 5, `${store}: a provider that is down is tried 3 to 5 times`, tries);
    const letters = (await world.must('GET', '/dlq?limit=500')).items;
    told(letters.length === 1 && letters[0].kind === 'compensation', `${store}: the refund that failed is the one dead letter`, letters);
}

/** An operator cancels while the customer may still think about it: the same way back. */
async function operatorCancels(store, world) {
    const id = await world.place('operator', { cancel_within: '10m' });
    await until('it is paid', async () => (await world.show(id)).waitingFor?.kind === 'signal');
    await world.must('POST', `/executions/${id}/cancel`, { reason: 'the customer called' });
    const x = await world.ended(id);
    const record = await world.record('operator');
    told(x.status === 'cancelled' && record.status === 'refunded', `${store}: cancelled by an operator after the payment it is refunded`, record);
}

/** Orders with random faults, while everything is killed at random. */
async function killedAtRandom(store, world, random) {
    const ends = new Map();
    const kills = { engine: 0, inventory: 0, payment: 0 };
    let next = 0;
    let running = true;
    const chaos = (async () => {
        while (running) {
            await sleep(50 + random.below(400));
            const name = ['engine', 'engine', 'inventory', 'payment'][random.below(4)];
            await world.kill(name);
            kills[name]++;
        }
    })();
    const customer = async () => {
        while (next < ORDERS) {
            const order = `chaos-${next++}`;
            const s = random.pick(situations);
            const id = await begin(world, s, order);
            ends.set(order, { s, id, x: await world.ended(id, 300) });
        }
    };
    // One message in twenty is refused, and the answer to one in twenty is lost.
    world.receiver.refuses = () => ['before', 'after'][random.below(20)] ?? false;
    await Promise.all([...Array(AT_ONCE)].map(customer));
    running = false;
    await chaos;

    const at = truth(world);
    const wrong = [];
    const untold = [];
    world.receiver.refuses = () => false;
    let asPlanned = 0;
    for (const [order, { s, x }] of ends) {
        const record = await world.record(order);
        const why = contradiction(record, at(order));
        if (why !== null) wrong.push({ order, situation: s.name, why, status: x.status, record, real: at(order) });
        if (record.status === s.status) asPlanned++;
        const said = await mistold(world, order, record.status);
        if (said !== null) untold.push({ order, situation: s.name, record, said });
    }
    told(ends.size === ORDERS && wrong.length === 0, `${store}: ${ORDERS} orders ended consistently, none charged twice`, wrong.slice(0, 5));
    told(asPlanned >= ORDERS * 0.8, `${store}: most ended as if nobody had been killed`, { asPlanned, of: ORDERS });
    told(untold.length === 0, `${store}: no event is lost: each state of each order is told, in order`, untold.slice(0, 5));
    told(world.receiver.forged === 0, `${store}: every message is signed`);
    const left = world.sql('inventory', "SELECT count FROM stock WHERE sku = 'bolt'")[0].count;
    const held = world.sql('inventory', "SELECT count(*) AS n FROM reservations WHERE status = 'reserved'")[0].n;
    told(left + 2 * held === 1000000, `${store}: no goods are lost`, { left, held });
    console.log(`${store}: ${ORDERS} orders, killed: ${JSON.stringify(kills)}, ${asPlanned} as planned, ${world.receiver.repeated} messages came again`);
}

console.log(`seed ${seed}`);
await onStores(async (name, store) => {
    const world = new World({ store });
    try {
        await world.open();
        await everyRow(name, world);
        await attempts(name, world);
        await operatorCancels(name, world);
        await killedAtRandom(name, world, new Random());
    } catch (error) {
        told(false, `${name}: ${error.stack}`, world.engine.log.slice(-1000));
    }
    told((await world.close()) === 0, `${name}: the server ends as asked`);
});
end();
