// examples/graphs/lead_enrichment.json on real servers: three services, an edge for errors, a circle with a sleep;
// as a bundle it leaves and comes in byte for byte.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { check, equal } from '../lib/claims.mjs';
import { claim, run } from '../lib/stores.mjs';
import { until } from '../lib/wait.mjs';

/** The registry, the mail check and the score, told apart by the host that the example calls. `answers` by host, in order. */
const answers = { companies: [], mail: [], score: [] };
const asked = [];
const services = createServer((request, response) => {
    const [, host, ...path] = request.url.split('/');
    const next = answers[host].shift() ?? { status: 500 };
    asked.push(`${request.method} ${host} /${path.join('/')}`);
    response.writeHead(next.status, { 'content-type': 'application/json' }).end(JSON.stringify(next.body ?? {}));
});
await new Promise((done) => services.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${services.address().port}`;

// What the example waits for takes milliseconds here; everything else is as it stands in the file.
const lead = JSON.parse(readFileSync('examples/graphs/lead_enrichment.json', 'utf8')
    .replace(/https:\/\/(companies|mail|score)\.example/g, `${base}/$1`).replace('"delay": "10s"', '"delay": "1ms"').replace('"duration": "10m"', '"duration": "1ms"'));

const ended = (rig, id) => until('it ends', async () => {
    const { body } = await rig.api('GET', `/executions/${id}`);
    return body.completedAt && body;
});
const way = async (rig, id) => (await rig.all(`/executions/${id}/steps`, 500)).filter((s) => s.kind === 'forward' && s.attempt === 1).map((s) => s.step);
function tell(more) {
    asked.length = 0;
    Object.assign(answers, { companies: [], mail: [{ status: 200, body: { deliverable: true } }], score: [] }, more);
}
const start = async (rig, id) => ended(rig, (await rig.begin('lead_enrichment', { input: { id, email: 'ada@acme.example', domain: 'acme.example' } })).id);

claim('a webhook starts it, and three answers make one record', async (rig) => {
    tell({ companies: [{ status: 200, body: { name: 'Acme' } }], score: [{ status: 200, body: { score: 71.6 } }] });
    const begun = await rig.client.ask('POST', '/hooks/leads', { id: 'L-1', email: 'ada@acme.example', domain: 'acme.example' });
    equal(begun.status, 202, begun.raw);
    const x = await ended(rig, begun.body.id);
    equal([x.status, x.key, x.result], ['completed', 'lead-L-1', { lead: 'L-1', status: 'enriched', company: 'Acme', score: 72 }]);
    equal(await way(rig, x.id), ['start_1', 'company_1', 'found_1', 'known_1', 'verify_1', 'address_1', 'score_1', 'ready_1', 'set_score_1', 'save_1', 'end_1']);
    equal(asked, ['GET companies /companies/acme.example', 'POST mail /verify', 'GET score /leads/L-1']);
    equal((await rig.api('GET', '/records/lead/L-1')).body.company, 'Acme');
});

claim('the registry is down: the edge for errors goes on without it', async (rig) => {
    tell({ companies: [{ status: 500 }, { status: 503 }], score: [{ status: 200, body: { score: 10 } }] });
    const x = await start(rig, 'L-2');
    equal([x.status, x.result], ['completed', { lead: 'L-2', status: 'enriched', company: 'acme.example', score: 10 }]);
    equal(asked.filter((one) => one.startsWith('GET companies')).length, 2, 'it was tried twice');
    check((await way(rig, x.id)).includes('unknown_1'), 'the edge was taken');
});

claim('the circle asks again after each sleep, three times at most', async (rig) => {
    tell({ companies: [{ status: 404 }], score: Array(4).fill({ status: 202 }) });
    const x = await start(rig, 'L-3');
    equal([x.status, x.result], ['completed', { lead: 'L-3', status: 'enriched', company: 'acme.example', score: null }]);
    const steps = await way(rig, x.id);
    equal([steps.filter((s) => s === 'score_1').length, steps.filter((s) => s === 'sleep_1').length, steps.includes('no_score_1')], [4, 3, true]);
});

claim('an address that does not exist ends it', async (rig) => {
    tell({ companies: [{ status: 404 }], mail: [{ status: 422 }] });
    const x = await start(rig, 'L-4');
    equal([x.status, x.result], ['completed', { lead: 'L-4', status: 'no_address' }]);
});

claim('it is stepped through, from node to node', async (rig) => {
    tell({ companies: [{ status: 200, body: { name: 'Acme' } }], score: [{ status: 202 }, { status: 200, body: { score: 5 } }] });
    const { id } = await rig.begin('lead_enrichment', { input: { id: 'L-5', email: 'a@b.example', domain: 'b.example' }, breakpoints: ['sleep_1'] });
    const stands = (next) => until(`it stands before ${next}`, async () => (await rig.api('GET', `/executions/${id}`)).body.waitingFor?.next === next);
    const go = (body) => rig.api('POST', `/executions/${id}/continue`, body);
    await stands('sleep_1');
    equal(asked.length, 3);
    await go();
    await stands('count_1');
    await go({ set: { variables: { tries: 2 } } });
    await stands('score_1');
    await go({ to: 'end' });
    const x = await ended(rig, id);
    equal([x.status, x.result.score, x.context.variables.tries], ['completed', 5, 3]);
});

claim('as a bundle it leaves and comes in byte for byte', async (rig) => {
    const bundle = (await rig.api('GET', '/export?codes=lead_enrichment')).body.items;
    equal(bundle.map((item) => [item.kind, item.code]), [['schema', 'lead_enrichment']]);
    equal(JSON.parse(bundle[0].text), lead);
    equal((await rig.api('DELETE', '/schemas/lead_enrichment')).status, 409, 'it is in use');
    const renamed = [{ ...bundle[0], code: 'lead_copy', text: bundle[0].text.replace('"lead_enrichment"', '"lead_copy"').replace('"leads"', '"leads_copy"') }];
    const made = await rig.api('POST', '/import', { items: renamed });
    equal(made.status, 200, made.raw);
    equal((await rig.api('GET', '/export?codes=lead_copy')).body.items, renamed);
    const again = (await rig.api('POST', '/import', { items: renamed, dryRun: true })).body;
    equal(again.items.map((item) => item.action), ['unchanged'], JSON.stringify(again));
});

await run(async (rig) => {
    await rig.publish(lead);
});
services.close();
