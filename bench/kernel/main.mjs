// main.mjs - run the parts and hold what they measured against the goals; see ../README.md.
import fs from 'node:fs';
import os from 'node:os';
import { execFileSync } from 'node:child_process';
import { drawGrowth } from './chart.mjs';
import * as grow from './grow.mjs';
import * as limits from './limits.mjs';
import { OUT } from './server.mjs';
import * as speed from './speed.mjs';
import { streams } from './streams.mjs';

const FULL = process.env.FULL === '1';

const parts = [
    ['speed', speed.speed],
    ['one', speed.oneAtATime],
    ['signals', speed.signals],
    ['timers', speed.timers],
    ['suspended', speed.suspended],
    ['suspended-streams', streams],
    ['idle', speed.idle],
    ['flat-publishes', limits.flatPublishes],
    ['flat-signals', limits.flatSignals, 'FULL'],
    ['query', limits.query, 'FULL'],
    ['grow-batch', grow.batch],
    ['grow-history', grow.history],
    ['grow-signals', grow.signals],
    ['grow-context', grow.context],
    ['grow-context50', grow.context50],
    ['grow-stored', grow.stored],
    ['million', speed.million, 'FULL'],
];

const quote = text => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function show(n) {
    if (typeof n !== 'number') return String(n);
    if (Math.abs(n) >= 100) return Math.round(n).toLocaleString('en-US');
    return n.toPrecision(3).replace(/\.?0+$/, '');
}

/** Goals are written as [">=", 10000]. */
function verdict(value, goal) {
    if (!goal) return '';
    const met = goal[0] === '>=' ? value >= goal[1] : value <= goal[1];
    return `${met ? 'met' : 'MISSED'} (${goal[0]} ${show(goal[1])})`;
}

const results = [];
const report = {
    /** A measured number: what, its value, its unit, the goal if there is one. */
    number(what, value, unit, goal) {
        results.push({ what, value, unit, goal });
        console.log(`  ${what.padEnd(66)} ${show(value).padStart(10)} ${unit.padEnd(12)} ` +
                    verdict(value, goal));
    },
    note(text) {
        console.log(`  (${text})`);
    },
    full: FULL,
};

function writeResults() {
    const rows = results.map(r => [r.what, r.value, r.unit, r.goal ? r.goal.join(' ') : '',
        verdict(r.value, r.goal).split(' ')[0]].map(v => quote(String(v))).join(','));
    fs.writeFileSync(`${OUT}/kernel.csv`,
        ['what,value,unit,goal,verdict', ...rows, ''].join('\n'));
}

const load = () => os.loadavg()[0].toFixed(1);

async function main() {
    const at = process.argv.indexOf('--only');
    const only = at > 0 ? process.argv[at + 1] : null;
    const isWanted = name => name === only || name.startsWith(`${only}-`);
    if (only && !parts.some(([name]) => isWanted(name))) {
        console.log(`run-kernel: parts are grow, ${parts.map(p => p[0]).join(', ')}`);
        return;
    }
    const disk = execFileSync('stat', ['-f', '-c', '%T', OUT], { encoding: 'utf8' }).trim();
    console.log(`${os.cpus().length} cores (${os.cpus()[0].model.trim()}), load ${load()} before ` +
                `it began, ${disk} below ${OUT}`);
    const growth = [];
    for (const [name, measure, needs] of parts) {
        if (only ? !isWanted(name) : needs === 'FULL' && !FULL) continue;
        console.log(`\n${name}`);
        const began = Date.now();
        try {
            const points = await measure(report);
            if (points) growth.push(points);
        } catch (error) {
            console.log(`  ! ${error.message}`);
        }
        console.log(`  (${((Date.now() - began) / 1000).toFixed(0)} s, load ${load()})`);
    }
    if (results.length > 0) writeResults();
    for (const g of growth) grow.write(g);
    if (growth.length > 0) fs.writeFileSync(`${OUT}/kernel-growth.svg`, drawGrowth(growth));
    console.log(`\nwritten: ${OUT}/kernel*.csv` +
                (growth.length > 0 ? `, ${OUT}/kernel-growth.svg` : ''));
}

await main();
