// world.mjs - a day at a small company, for the browser tests and the screenshots: orders, approvals,
// contracts, one process that fails, one that is held, one that goes back and cannot.
import { equal } from '../lib/claims.mjs';
import { until } from '../lib/wait.mjs';

const GREETER = {
    code: 'nightly_report',
    name: 'Nightly report',
    input: [{ name: 'day', type: 'string', required: true }],
    settings: { key: '$.input.day' },
    steps: [
        { code: 'collect', name: 'Collect the day', procedure: { type: 'compute.transform', data: { orders: 40, sum: 812400 } } },
        { code: 'totals', name: 'Add it up', procedure: { type: 'compute.transform', data: { average: '=$.steps.collect.sum / $.steps.collect.orders' } } },
        { code: 'send', name: 'Send it', procedure: { type: 'log', message: 'report of {{ input.day }}' } },
    ],
};

// Held: the step reads a record that nobody has made yet, and failing holds it.
const INVOICE = {
    code: 'invoice_payment',
    name: 'Invoice payment',
    input: [{ name: 'invoice', type: 'string', required: true }, { name: 'cents', type: 'integer', required: true }],
    settings: { key: '$.input.invoice' },
    steps: [
        { code: 'check', name: 'Check the invoice', procedure: { type: 'compute.validate', rules: [{ expr: '$.input.cents > 0', code: 'bad_amount', message: 'an invoice is worth something' }] } },
        {
            code: 'book', name: 'Book it',
            procedure: { type: 'record.create', object: 'invoice', id: '$.input.invoice', data: { cents: '$.input.cents', status: 'booked' } },
            rollback: { type: 'record.update', object: 'invoice', id: '$.input.invoice', data: { status: 'withdrawn' } },
        },
        { code: 'account', name: 'Find the account', onError: 'hold', procedure: { type: 'record.get', object: 'account', id: 'main' } },
        { code: 'pay', name: 'Pay it', procedure: { type: 'compute.transform', data: { paid: '$.input.cents', from: '$.steps.account.iban' } } },
    ],
};

export async function fill(server, definitions) {
    const ok = async (method, path, body, wanted = [200, 201, 202]) => {
        const answer = await server.call(server.token, method, `/api/v1${path}`, body);
        equal(wanted.includes(answer.status), true, `${method} ${path}: ${answer.status} ${answer.raw}`);
        return answer.body;
    };
    const start = (code, input) => ok('POST', '/executions?wait=3s', { code, input });
    await ok('POST', '/import', { items: [...definitions, GREETER, INVOICE] });
    await ok('PUT', '/records/stock/bolt', { left: 400 });
    await ok('PUT', '/records/stock/bracket', { left: 60 });
    await ok('PUT', '/records/stock/hinge', { left: 4 });

    const order = (n, items, customer = 'ada@example.org') =>
        ok('POST', '/executions', { code: 'order_processing', input: { order: `order-${n}`, customer, cents: 1200 + n, items } });
    const signal = (key, type, payload = {}) => ok('POST', '/signals', { key, type, payload });
    const settled = (key, step) => until(`${key} comes to ${step}`, async () => {
        const { items: [x] } = await ok('GET', `/executions?key=${key}&limit=1`);
        return (x?.currentStep === step || ['completed', 'failed'].includes(x?.status)) && x;
    });
    const lines = [{ sku: 'bolt', count: 4 }, { sku: 'bracket', count: 2 }];
    for (let day = 10; day < 16; day++) await start('nightly_report', { day: `2026-11-${day}` });
    for (let n = 1031; n < 1053; n++) await order(n, n === 1044 ? [{ sku: 'bolt', count: 1 }, { sku: 'hinge', count: 9 }] : lines);
    for (const n of [1031, 1032, 1034, 1035, 1037, 1038, 1040]) {
        await settled(`order-${n}`, 'payment');
        await signal(`order-${n}`, 'payment_completed');
        await settled(`order-${n}`, 'pickup');
        await signal(`order-${n}`, 'parcel_picked_up', { parcel: `PX-${19000 + n}` });
    }
    for (const n of [1033, 1043]) {
        await settled(`order-${n}`, 'payment');
        await signal(`order-${n}`, 'payment_failed', { reason: 'insufficient_funds' });
    }
    for (const n of [1045, 1046, 1047]) {
        await settled(`order-${n}`, 'payment');
        await signal(`order-${n}`, 'payment_completed');
    }
    const deals = [[316, 9000, 7], [317, 40000, 5], [318, 240000, 12], [319, 18000, 10]];
    for (const [n, amount, percent] of deals) await ok('POST', '/executions', { code: 'discount_approval', input: { deal: `deal-${n}`, amount, percent } });
    await settled('deal-316', 'ask');
    await signal('deal-316', 'approval_decision', { approved: false, comment: 'not in November' });
    await settled('deal-317', 'ask');
    await signal('deal-317', 'approval_decision', { approved: true, comment: 'fine by me' });
    for (const n of [2207, 2208, 2209]) await ok('POST', '/executions', { code: 'invoice_payment', input: { invoice: `invoice-${n}`, cents: 124000 } });
    const { items } = await ok('GET', '/executions?key=order-1042&limit=1');
    await ok('POST', `/executions/${items[0].id}/cancel`, { reason: 'the customer changed her mind' });
    const paused = await ok('GET', '/executions?key=order-1049&limit=1');
    await ok('POST', `/executions/${paused.items[0].id}/pause`, {});
}
