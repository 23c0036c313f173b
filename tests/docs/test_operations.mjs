// What docs/operations says is true: promtool takes the rules and their tests, every metric that the rules and the
// dashboard use is in /metrics, every alert and every kind of dead letter has its section of the runbook, and every
// command of the runbook is one.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

import { scrape } from '../api/scrape.mjs';
import { check, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';

const folder = 'docs/operations';
const read = (name) => readFileSync(`${folder}/${name}`, 'utf8');
const rules = read('pawl-alerts.yml');
const runbook = read('runbook.md');
const dashboard = JSON.parse(read('grafana-dashboard.json'));
const alerts = [...rules.matchAll(/^ {6}- alert: (\w+)$/gm)].map((m) => m[1]);

const promtool = (...args) => spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });

claim('promtool takes the rules, and each says what its tests want', () => {
    const checked = promtool('check', 'rules', 'pawl-alerts.yml');
    equal(checked.status, 0, checked.stdout + checked.stderr);
    const tested = promtool('test', 'rules', 'pawl-alerts-test.yml');
    equal(tested.status, 0, tested.stdout + tested.stderr);
    const tests = read('pawl-alerts-test.yml');
    equal(alerts.filter((name) => !new RegExp(`alertname: ${name}\\n +exp_alerts:\\n`).test(tests)), [], 'alerts that no test sees firing');
}, 'SQLite');

/** What a query asks for, without the suffixes of histograms, functions, labels and words of PromQL. */
function metrics(query) {
    const words = query.replaceAll(/\{[^}]*\}|"[^"]*"|\[[^\]]*\]|\b(by|without|on) \([^)]*\)/g, ' ').match(/[a-z_][a-z0-9_]*(?!\w*\()/g) ?? [];
    return words.filter((word) => word.includes('_') && !/^(histogram_quantile|label_values)$/.test(word)).map((word) => word.replace(/_(bucket|sum|count)$/, ''));
}

const queries = [
    ...[...rules.matchAll(/expr: (?:\|\n((?: {10}.*\n)+)|(.*))/g)].map((m) => m[1] ?? m[2]),
    ...dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr)),
    ...dashboard.templating.list.map((variable) => variable.definition ?? ''),
];

claim('every metric that the rules and the dashboard use is in /metrics', async (rig) => {
    const { types } = await scrape(rig);
    const used = new Set(queries.flatMap(metrics));
    check(used.size > 20, `${used.size} are used`);
    equal([...used].filter((name) => !(name in types)), [], 'metrics that do not exist');
});

claim('promtool reads every query of the dashboard', (rig) => {
    const text = queries.filter((q) => q && !q.startsWith('label_values')).map((q) => q.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h').trim());
    const groups = text.map((expr, i) => ({ record: `panel:${i}`, expr }));
    const file = `${rig.folder}/dashboard.yml`;
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: groups }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    equal(status, 0, stdout + stderr);
}, 'SQLite');

claim('panels do not overlap and have ids of their own', () => {
    const { panels } = dashboard;
    equal(new Set(panels.map((p) => p.id)).size, panels.length);
    for (const [i, { gridPos: a, title }] of panels.entries()) {
        check(a.x + a.w <= 24, `${title} is too wide`);
        for (const { gridPos: b, title: other } of panels.slice(i + 1))
            check(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, `${title} is over ${other}`);
    }
}, 'SQLite');

claim('each alert and each kind of dead letter has a section: what it means, how to look, what to do', () => {
    const kinds = [...readFileSync('src/engine/commit/letter_kind.def', 'utf8').matchAll(/^LETTER_KIND\(\w+, "(\w+)"\)/gm)].map((m) => m[1]);
    const sections = new Map(runbook.split(/^### /m).slice(1).map((text) => [text.split('\n')[0], text]));
    equal([...alerts, ...kinds].filter((name) => !sections.has(name)), [], 'without a section');
    for (const [name, text] of sections)
        for (const word of ['**Means:**', '**Look:**', '**Do:**']) check(text.includes(word), `${name} has no ${word}`);
    for (const name of alerts)
        check(new RegExp(`- alert: ${name}\\n(?:(?!- alert)[^])*runbook_url: runbook.md#${name.toLowerCase()}\\n`).test(rules), `${name} leads to its section`);
}, 'SQLite');

claim('every command of the runbook is one that the server understands', async (rig) => {
    const held = () => rig.begin('held').then(({ id }) => id);
    const commands = [...runbook.matchAll(/^\$ pawl (.*)$/gm)].map((m) => m[1]);
    check(commands.length > 40, `${commands.length} commands`);
    for (const command of commands) {
        const id = /EXECUTION|LETTER/.test(command) ? await held() : '';
        const letter = id && (await rig.api('GET', `/dlq?execution=${id}`)).body.items[0].id;
        const typed = command.replaceAll('EXECUTION', id).replaceAll('LETTER', letter).replaceAll('CODE', 'held').replaceAll('STEP', 'a');
        const { status, stderr } = spawnSync('bash', ['-c', `"${pawl}" ${typed}`], {
            encoding: 'utf8', env: { ...process.env, PAWL_URL: rig.server.url, PAWL_TOKEN: rig.server.token, PAWL_DATA: rig.server.data },
        });
        check(status === 0 || (status === 1 && stderr.length > 0), `pawl ${typed}: status ${status}: ${stderr}`);
        check(!/no such|usage:|unknown option/.test(stderr), `pawl ${typed}: ${stderr}`);
    }
}, 'SQLite');

await run((rig) => rig.publish({ code: 'held', onError: 'hold', steps: [{ code: 'a', procedure: { type: 'compute.fail', code: 'no', message: 'no' } }] }));
