// Every word of the pages is there in both languages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claim, end, equal } from '../lib/claims.mjs';

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

await claim('every sentence has its Russian', () => {
    equal(used.size > 300, true, `${used.size} were found`);
    equal([...used].filter(([key]) => !ru.has(key)).map(([key, file]) => `${file}: ${key}`), []);
});

await claim('no sentence stands in two files', () => {
    const first = new Map();
    equal(russian.filter(([key, , name]) => first.has(key) || !first.set(key, name)).map(([key, , name]) => `${key}: ${first.get(key)} and ${name}`), []);
});

await claim('a sentence has the same places for values in both languages', () => {
    const places = (text) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].sort();
    equal([...ru].filter(([key, text]) => String(places(key)) !== String(places(text))).map(([key]) => key), []);
});

await claim('what has forms by number has three of them in Russian', () => {
    equal([...ru].filter(([key, text]) => key.includes('|') !== text.includes('|') || (text.includes('|') && text.split('|').length !== 3)).map(([key]) => key), []);
});

await claim('the keys under ? are those that the pages listen for', () => {
    const shown = readFileSync('web/src/app/Keys.tsx', 'utf8');
    const listed = (section) => [...(shown.match(new RegExp(`\\['${section}', \\[(.*)\\]\\],`))?.[1] ?? '').matchAll(/\[\[((?:'[^']+'(?:, )?)+)\], '/g)].flatMap((m) => [...m[1].matchAll(/'([^']+)'/g)].map((k) => k[1]));
    const SIGNS = { Escape: 'Esc', ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→' };
    const heard = (path) => [...readFileSync(path, 'utf8').matchAll(/useKeys\(\{([\s\S]*?)\}\);\n/g)].flatMap((m) => [...m[1].matchAll(/(?:^\s*|[{,]\s*|\n\s*)'?([A-Za-z]\w*|\d|\/)'?: \(/g)].map((k) => SIGNS[k[1]] ?? k[1]));
    const everywhere = listed('Everywhere'), list = listed('In a list'), execution = listed('On an execution'), constructor = listed('In the constructor');
    const heardIn = { 'web/src/screens/executions/List.tsx': list, 'web/src/screens/dlq/DeadLetters.tsx': list, 'web/src/screens/inbox/Inbox.tsx': list, 'web/src/screens/execution/Page.tsx': execution, 'web/src/screens/execution/Inspector.tsx': execution };
    const own = files.filter((file) => file !== 'web/src/app/Shell.tsx' && /\buseKeys\(\{/.test(readFileSync(file, 'utf8')));
    equal(own.filter((file) => !heardIn[file]), [], 'a page that listens for keys, and no section of its own');
    for (const [file, section] of Object.entries(heardIn)) equal(heard(file).filter((key) => !section.includes(key) && !everywhere.includes(key)), [], `${file}: not under ?`);
    equal(list.filter((key) => !heard('web/src/screens/executions/List.tsx').includes(key)), [], 'under ?, and nothing listens');
    equal(execution.filter((key) => ![...heard('web/src/screens/execution/Page.tsx'), ...heard('web/src/screens/execution/Inspector.tsx')].includes(key)), [], 'under ?, and nothing listens');
    const editor = files.filter((file) => file.startsWith('web/src/editor/')).map((file) => readFileSync(file, 'utf8')).join('');
    const asked = (key) => ({ '↑': "'ArrowUp'", '↓': "'ArrowDown'", Alt: 'altKey', Ctrl: 'ctrlKey', Space: "' '", Del: "'Delete'", Esc: "'Escape'" })[key] ?? `'${key.length === 1 ? key.toLowerCase() : key}'`;
    equal(constructor.flatMap((key) => key.split(/ (?:\/ )?/)).filter((key) => !editor.includes(asked(key))), [], 'under ?, and the constructor does not listen');
    equal([list, execution, constructor].map((keys) => keys.length > 4), [true, true, true]);
});

end();
