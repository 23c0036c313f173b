// situations.mjs - the rows of the table: what goes wrong, and how an order ends then.
//
// `faults` are switches of the services for this order; `then` is what a person does meanwhile. `status` is the last
// state of the order, `states` all of them in their order, `kept` what the provider has in the end, in cents.

const charge = (fault, more = {}) => ({ service: 'payment', action: 'charge', fault, ...more });

/** The customer cancels as soon as it is paid. */
async function customerCancels(world, id) {
    await world.must('POST', `/executions/${id}/signal`, { type: 'cancel', id: `cancel-${id}` });
}

export const situations = [
    {
        name: 'all well', faults: [], execution: 'completed', status: 'confirmed',
        states: ['pending', 'reserved', 'paid', 'confirmed'], kept: 4200,
    },
    {
        name: 'reserve refused', faults: [{ service: 'inventory', action: 'reserve', fault: 'decline' }],
        execution: 'failed', status: 'canceled', states: ['pending', 'canceled'], kept: 0,
    },
    {
        name: 'payment declined', faults: [charge('decline')],
        execution: 'failed', status: 'canceled', states: ['pending', 'reserved', 'canceled'], kept: 0,
    },
    {
        name: 'cancelled after payment', faults: [], input: { cancel_within: '10m' }, then: customerCancels,
        execution: 'failed', status: 'refunded', states: ['pending', 'reserved', 'paid', 'refunded'], kept: 0,
    },
    {
        name: 'payment answer lost', faults: [charge('lose')],
        execution: 'completed', status: 'confirmed', states: ['pending', 'reserved', 'paid', 'confirmed'], kept: 4200,
    },
    {
        name: 'payment done, answer 500', faults: [charge('fail_after', { status: 500 })],
        execution: 'completed', status: 'confirmed', states: ['pending', 'reserved', 'paid', 'confirmed'], kept: 4200,
    },
    {
        name: 'payment 202, then paid', faults: [charge('accept', { ms: 700 })],
        execution: 'completed', status: 'confirmed', states: ['pending', 'reserved', 'paid', 'confirmed'], kept: 4200,
    },
    {
        name: 'payment 202, then declined', faults: [charge('accept_declined', { ms: 700 })],
        execution: 'failed', status: 'canceled', states: ['pending', 'reserved', 'canceled'], kept: 0,
    },
    {
        name: 'both busy at first', faults: [charge('fail', { status: 503, times: 2 }), { service: 'inventory', action: 'reserve', fault: 'fail', status: 503, times: 2 }],
        execution: 'completed', status: 'confirmed', states: ['pending', 'reserved', 'paid', 'confirmed'], kept: 4200,
    },
    {
        name: 'reservation answer lost', faults: [{ service: 'inventory', action: 'reserve', fault: 'lose' }],
        execution: 'completed', status: 'confirmed', states: ['pending', 'reserved', 'paid', 'confirmed'], kept: 4200,
    },
    {
        name: 'provider down', faults: [charge('fail', { status: 503, times: 1000 })],
        execution: 'failed', status: 'canceled', states: ['pending', 'reserved', 'canceled'], kept: 0,
    },
    {
        name: 'refund busy at first', faults: [{ service: 'payment', action: 'refund', fault: 'fail', status: 503, times: 2 }], input: { cancel_within: '10m' },
        then: customerCancels, execution: 'failed', status: 'refunded', states: ['pending', 'reserved', 'paid', 'refunded'], kept: 0,
    },
    {
        name: 'refund fails 5 times', faults: [{ service: 'payment', action: 'refund', fault: 'fail', status: 503, times: 1000 }], input: { cancel_within: '10m' },
        then: customerCancels, execution: 'failed', status: 'paid', states: ['pending', 'reserved', 'paid'], kept: 4200, problem: 'refund_failed',
    },
];

/** Place an order in this situation; the id of its execution. */
export async function begin(world, s, order) {
    for (const f of s.faults) await world.fault({ order, ...f });
    const id = await world.place(order, s.input);
    if (s.then) await s.then(world, id);
    return id;
}
