#!/usr/bin/env node
// docs/reference.md is what scripts/reference writes, and fields.def says of every field what the
// tables that check definitions say.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { claim, finish, pawl } from './claims.mjs';

const written = execFileSync('node', ['scripts/reference', pawl], { encoding: 'utf8' });
claim(written === readFileSync('docs/reference.md', 'utf8'),
    'docs/reference.md is out of date: scripts/reference > docs/reference.md');

// --- the tables that check, as they stand in the sources ---

const checked = [
    ['scenario', 'scenario.c', 'scenario_fields'],
    ['access', 'scenario.c', 'access_fields'],
    ['procedure', 'library.c', 'procedure_fields'],
    ['settings', 'settings.c', 'settings_fields'],
    ['retryPolicy', 'retry.c', 'retry_fields'],
    ['parameter', 'param.c', 'param_fields'],
    ['step', 'step.c', 'step_fields'],
    ['branch', 'step.c', 'way_fields'],
    ['loop', 'step.c', 'loop_fields'],
    ['parallel', 'parallel.c', 'parallel_fields'],
    ['reconcile', 'step.c', 'reconcile_fields'],
    ['goto', 'jump.c', 'jump_fields'],
    ['rollback', 'procedure.c', 'call_fields'],
    ['reminder', 'wait.c', 'reminder_fields'],
    ['rule', 'flow.c', 'rule_fields'],
    ['aggregate', 'flow.c', 'aggregate_fields'],
    ['command', 'command.c', 'common_fields'],
];
// Every table of src/define is told of, but for the one in another place that jumps on a timeout.
const told = new Set(checked.map(([, file, array]) => `${file}:${array}`));
for (const file of readdirSync('src/define').filter((name) => name.endsWith('.c')))
    for (const [, array] of readFileSync(join('src/define', file), 'utf8').matchAll(/field_spec (\w+)\[\] =/g))
        claim(told.has(`${file}:${array}`) || ['function.c', 'template.c'].includes(file) || array === 'jump_fields',
            `${array} of ${file} is in none of the tables of fields.def`);

const catalog = JSON.parse(execFileSync(pawl, ['catalog'], { encoding: 'utf8' }));
for (const [table, file, array] of checked) {
    const source = readFileSync(join('src/define', file), 'utf8');
    const body = source.match(new RegExp(`field_spec ${array}\\[\\] = \\{(.*?)\\n\\};`, 's'))?.[1] ?? '';
    const fields = Object.fromEntries([...body.matchAll(/\{"(\w+)", STATE_(\w+)\}/g)]
        .map(([, name, state]) => [name, state.toLowerCase()]));
    const words = Object.fromEntries(catalog.fields[table].map((f) => [f.name, f.state]));
    claim(Object.keys(fields).length >= 2, `${file} has a table ${array}`);
    for (const name of new Set([...Object.keys(fields), ...Object.keys(words)]))
        claim(fields[name] === words[name],
            `${table}.${name} is ${fields[name] ?? 'unknown'} in ${file} and ${words[name] ?? 'missing'} in fields.def`);
}

finish();
