// Every word of the pages is there in both languages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Claims, equal } from '../api/rig.mjs';

const claims = new Claims();
const files = readdirSync('web/src', { recursive: true, withFileTypes: true }).filter((e) => e.isFile() && /\.tsx?$/.test(e.name) && !e.parentPath.endsWith('lib/ru')).map((e) => join(e.parentPath, e.name));
const russian = readdirSync('web/src/lib/ru').flatMap((name) => [...readFileSync(join('web/src/lib/ru', name), 'utf8').matchAll(/^ {4}'((?:[^'\\]|\\.)*)': '((?:[^'\\]|\\.)*)',$/gm)].map((m) => [m[1].replaceAll("\\'", "'"), m[2], name]));
const ru = new Map(russian);
const used = new Map();
for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const m of text.matchAll(/\bt\(\s*'((?:[^'\\]|\\.)*)'/g)) used.set(m[1].replaceAll("\\'", "'"), file);
    for (const m of text.matchAll(/<Say text="([^"]*)"/g)) used.set(m[1], file);
    // Words that stand in a table and are said through a variable.
    for (const m of text.matchAll(/\b(?:label|verb|title|means|drop|help|word): '((?:[^'\\]|\\.)+)'/g)) used.set(m[1].replaceAll("\\'", "'"), file);
}

await claims.claim('every sentence has its Russian', () => {
    equal(used.size > 300, true, `${used.size} were found`);
    equal([...used].filter(([key]) => !ru.has(key)).map(([key, file]) => `${file}: ${key}`), []);
});

await claims.claim('no sentence stands in two files', () => {
    const first = new Map();
    equal(russian.filter(([key, , name]) => first.has(key) || !first.set(key, name)).map(([key, , name]) => `${key}: ${first.get(key)} and ${name}`), []);
});

await claims.claim('a sentence has the same places for values in both languages', () => {
    const places = (text) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].sort();
    equal([...ru].filter(([key, text]) => String(places(key)) !== String(places(text))).map(([key]) => key), []);
});

await claims.claim('what has forms by number has three of them in Russian', () => {
    equal([...ru].filter(([key, text]) => key.includes('|') !== text.includes('|') || (text.includes('|') && text.split('|').length !== 3)).map(([key]) => key), []);
});

claims.end();
