#!/usr/bin/env node
// docs/reference.md is what scripts/reference writes; the fields stand in one table; every macro of
// expressions is explained.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { end, holds } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';

const written = execFileSync('node', ['scripts/reference', pawl], { encoding: 'utf8' });
holds(written === readFileSync('docs/reference.md', 'utf8'),
    'docs/reference.md is out of date: scripts/reference > docs/reference.md');

// --- one table: nothing that checks fields has a list of its own ---

for (const file of readdirSync('src/define', { recursive: true }).filter((name) => name.endsWith('.c') && !name.endsWith('/catalog.c')))
    holds(!/struct field_spec \w+\[/.test(readFileSync(join('src/define', file), 'utf8')),
        `${file} has a list of fields beside fields.def`);

// --- macros, whose table is no .def file ---

const catalog = JSON.parse(execFileSync(pawl, ['catalog'], { encoding: 'utf8', maxBuffer: 1 << 24 }));
const macros = new Map([...readFileSync('src/cel/syntax/macro.c', 'utf8')
    .matchAll(/\{"(\w+)", (NULL|"\w+"), \w+, \d, \w+,\s*"([^"]*)",\s*\w+, \d\}/g)]
    .map(([, name, space, usage]) => [space === 'NULL' ? name : `${space.slice(1, -1)}.${name}`, usage]));
const told = new Map(catalog.functions.filter((f) => f.isMacro).map((f) => [f.name, f.signatures[0]]));
holds(macros.size > 10, 'src/cel/syntax/macro.c has a table of macros');
for (const name of new Set([...macros.keys(), ...told.keys()]))
    holds(macros.get(name) === told.get(name),
        `the macro ${name} is written ${macros.get(name) ?? 'nowhere'} and explained as ${told.get(name) ?? 'nothing'}`);

end();
