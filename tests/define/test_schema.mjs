#!/usr/bin/env node
// The JSON Schema of definitions (pawl schema) against what checking says: what is valid validates, and
// the mistakes that a schema can express are refused.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { end, holds } from '../lib/claims.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';

const { default: Ajv } = await import(createRequire(join(process.cwd(), 'tests/package.json')).resolve('ajv/dist/2020.js'));
const schema = JSON.parse(execFileSync(pawl, ['schema'], { encoding: 'utf8', maxBuffer: 1 << 24 }));
const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true }).compile(schema);

const why = () => JSON.stringify(validate.errors?.slice(0, 4).map((e) => [e.instancePath, e.message]));
const accepted = (definition, what) => holds(validate(definition), `${what}: the schema refuses what is valid: ${!validate(definition) && why()}`);
const refused = (definition, what) => holds(!validate(definition), `${what}: the schema accepts it`);

// --- every example ---

for (const name of readdirSync('examples').filter((file) => /^[a-z_]+\.json$/.test(file)))
    accepted(JSON.parse(readFileSync(join('examples', name), 'utf8')), name);

// --- files of tests, which the same glob of an editor finds ---

for (const name of readdirSync('examples').filter((file) => /\.test\.json$/.test(file)))
    accepted(JSON.parse(readFileSync(join('examples', name), 'utf8')), name);
const test = { scenario: 'order', expect: { status: 'completed' } };
accepted(test, 'one case');
accepted({ tests: [test] }, 'cases below a name');
refused([{ ...test, expects: {} }], 'a field of a case that is none');
refused([{ ...test, expect: { state: 'completed' } }], 'a field of expect that is none');
refused([{ scenario: 'order' }], 'a case that expects nothing');
accepted({ items: [{ kind: 'scenario', code: 'a', text: '{}' }] }, 'a bundle as it is exported');

// --- every row of conformance ---

// Mistakes that can be seen without the meaning of what is named.
const expressible = new Set(['unknown_field', 'missing_field', 'unknown_command', 'bad_code']);
// The schema cannot say it: a number that must lie between two others, which names exist, ...
let rows = 0;
let mistakes = 0;
for (const file of readdirSync('tests/conformance/cases'))
    for (const row of JSON.parse(readFileSync(join('tests/conformance/cases', file), 'utf8'))) {
        const definition = { code: 'conformance', ...row.definition };
        const errors = (row.findings ?? []).filter((f) => f.severity !== 'warning');
        rows++;
        if (errors.length === 0) accepted(definition, `${file}: ${row.rule}`);
        else if (errors.some((f) => expressible.has(f.code))) {
            mistakes++;
            refused(definition, `${file}: ${row.rule}`);
        }
    }
holds(rows > 300, `there are rows: ${rows}`);
holds(mistakes >= 3, `there are rows of mistakes: ${mistakes}`);

// --- what the schema refuses, checking refuses; and the other way round for its rules ---

const log = { type: 'log', message: 'm' };
const scenario = (step, more = {}) => ({ code: 'a', steps: [{ code: 's', ...step }], ...more });
const mistaken = {
    'a step without anything to do': scenario({}),
    'a step with two things to do': scenario({ procedure: log, branch: [{ steps: [] }] }),
    'a loop of two kinds': scenario({ loop: { while: 'true', for: [1], steps: [{ code: 'x', procedure: log }] } }),
    'an unknown command': scenario({ procedure: { type: 'http.request', url: 'x' } }),
    'a field of another command': scenario({ procedure: { ...log, object: 'x' } }),
    'a field that is missing': scenario({ procedure: { type: 'record.get', object: 'x' } }),
    'a word that is none': scenario({ procedure: log }, { onError: 'explode' }),
    'a code with capitals': scenario({ procedure: log }, { code: 'Order' }),
    'a duration in words': scenario({ procedure: { type: 'wait.timer', duration: '2 days' } }),
    'a duration in weeks': scenario({ procedure: log, timeout: '1w' }),
    'a number for a text': scenario({ procedure: { type: 'log', message: 5 } }),
    'a type that is none': scenario({ procedure: log }, { input: [{ name: 'n', type: 'int' }] }),
    'an undocumented field': scenario({ procedure: log, retries: 3 }),
    'attempts in words': scenario({ procedure: log, retry: { maxAttempts: 'three' } }),
    'a parameter without a name': scenario({ procedure: log }, { input: [{ type: 'string' }] }),
    'commands that are no list': { code: 'p', commands: 'log' },
    'a template without a body': { kind: 'template', code: 't', subject: 's' },
    'a function without a body': { kind: 'function', name: 'f', params: [] },
    'a function with a field too many': { kind: 'function', name: 'f', body: '1', parms: [] },
    'config without a value': { kind: 'config', name: 'c' },
    'a kind that is none': { kind: 'tempalte', code: 't' },
    'a bundle with a mistake': { items: [{ code: 'p', commands: [{ type: 'lgo' }] }] },
};
const fine = {
    'a scenario': scenario({ procedure: log, goto: null, rollback: null }),
    'a scenario with its schema': scenario({ procedure: log }, { $schema: './definition.json', version: 1, kind: 'scenario' }),
    'a name of a procedure': scenario({ procedure: 'integrations.sync_1c' }),
    'a list of commands': scenario({ procedure: [log, log] }),
    'an alias': scenario({ procedure: { type: 'wait.delay', duration: '1h30m' } }),
    'computed values': scenario({ procedure: { type: 'wait.timer', duration: '=$.input.d' } }),
    'a template in a duration': scenario({ procedure: { type: 'wait.timer', duration: '{{ input.d }}' } }),
    'a procedure': { code: 'p', commands: [log], input: [{ name: 'n', type: 'integer' }] },
    'a template': { kind: 'template', code: 't', subject: 's', body: 'b', $schema: 'x' },
    'a function': { kind: 'function', name: 'f', params: [{ name: 'n', type: 'number' }], body: 'n' },
    'a value of config': { kind: 'config', name: 'c', value: null },
    'a bundle': { items: [{ kind: 'config', name: 'c', value: 1 }, { code: 'p', commands: [log] }] },
};
const folder = makeFolder();
const checked = (definition) => {
    writeFileSync(join(folder, 'x.json'), JSON.stringify(definition));
    return spawnSync(pawl, ['validate', join(folder, 'x.json')]).status === 0;
};
for (const [what, definition] of Object.entries(mistaken)) {
    refused(definition, what);
    holds(!checked(definition), `${what}: the schema refuses it, and checking does not`);
}
for (const [what, definition] of Object.entries(fine)) {
    accepted(definition, what);
    holds(checked(definition), `${what}: checking refuses what the schema accepts`);
}

// --- every example of the catalog fits its field ---

const catalog = JSON.parse(execFileSync(pawl, ['catalog'], { encoding: 'utf8', maxBuffer: 1 << 24 }));
const part = (name) => {
    const ajv = new Ajv({ strict: false });
    ajv.addSchema(schema, 'definition');
    return ajv.compile({ $ref: `definition#/$defs/${name}` });
};
for (const command of catalog.commands) {
    const check = part(`command.${command.name}`);
    const all = Object.fromEntries([['type', command.name], ...command.fields.map((f) => [f.name, f.example])]);
    holds(check(all), `the examples of ${command.name}: ${JSON.stringify(check.errors?.slice(0, 3))}`);
    holds(schema.$defs[`command.${command.name}`].properties[command.fields[0]?.name ?? 'type'].description.length > 0,
        `${command.name} explains its fields`);
}
end();
