// build.mjs OUT - build the pages and write them as C: OUT/files.c, a table, and OUT/files.S, the bytes.
//
// Each file is there plain and, when that is smaller, as gzip and brotli, so that the server only
// chooses. The same sources give the same bytes.
//
// why: decision 0250
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const web = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(web, '../build/ui'));
const dist = join(out, 'dist');

const TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.woff2': 'font/woff2',
    '.json': 'application/json',
};

/** Compressed, or null when that saves less than a tenth. */
const worth = (packed, plain) => (packed.length < plain.length * 0.9 ? packed : null);

function encodings(path, bytes) {
    if (path.endsWith('.woff2')) return { br: null, gz: null };
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    return { br: worth(brotliCompressSync(bytes, { params }), bytes), gz: worth(gzipSync(bytes, { level: 9 }), bytes) };
}

const filesOf = (folder) => readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

mkdirSync(out, { recursive: true });
await build({ root: web, logLevel: 'warn', build: { outDir: dist, emptyOutDir: true } });

const names = filesOf(dist).map((path) => `/${relative(dist, path)}`).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const blobs = [];
const rows = [];
let loaded = 0;
for (const [i, name] of names.entries()) {
    const path = join(dist, name);
    const bytes = readFileSync(path);
    const { br, gz } = encodings(path, bytes);
    const part = (suffix, content) => {
        if (content === null) return '{NULL, 0}';
        const file = suffix === 'plain' ? path : `${path}.${suffix}`;
        if (suffix !== 'plain') writeFileSync(file, content);
        blobs.push(`    .balign 16\n    .global ui_bytes_${i}_${suffix}\nui_bytes_${i}_${suffix}:\n    .incbin "${relative(process.cwd(), file)}"\n`);
        return `{ui_bytes_${i}_${suffix}, ${content.length}}`;
    };
    const type = TYPES[extname(name)];
    if (!type) throw new Error(`${name}: what type is that?`);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 20);
    rows.push({
        i,
        suffixes: ['plain', br && 'br', gz && 'gz'].filter(Boolean),
        text: `    {{"${name}", ${name.length}}, "${type}", ${name.startsWith('/assets/')}, {"${hash}", 20},\n` +
            `     {[UI_BROTLI] = ${part('br', br)}, [UI_GZIP] = ${part('gz', gz)}, [UI_PLAIN] = ${part('plain', bytes)}}},\n`,
    });
    if (!name.endsWith('.woff2')) loaded += (gz ?? bytes).length;
}
const externs = rows.flatMap((row) => row.suffixes.map((s) => `extern const char ui_bytes_${row.i}_${s}[];\n`));
writeFileSync(join(out, 'files.S'), `    .section .note.GNU-stack, "", @progbits\n    .section .rodata\n${blobs.join('')}`);
writeFileSync(join(out, 'files.c'),
    `/* Made by web/scripts/build.mjs. */\n#include "api/serve/ui.h"\n\n${externs.join('')}\nconst struct ui_file ui_files[] = {\n${rows.map((r) => r.text).join('')}};\n` +
    `const size_t ui_file_count = ${rows.length};\n`);
console.log(`  UI       ${rows.length} files, ${Math.round(loaded / 1024)} kB gzip without fonts`);
