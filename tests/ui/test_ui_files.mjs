// The files of the web UI as the server sends them: encodings, tags, caches, the policy; and what the build is made of.
import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { claim, end, equal } from '../lib/claims.mjs';
import { refused } from '../lib/client.mjs';
import { execute, pawl } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';

const server = await startServer();
const ask = (path, headers = {}) => fetch(server.url + path, { headers: { 'Accept-Encoding': 'identity', ...headers } });

/** Status, headers and bytes as they were sent: fetch decodes. */
async function raw(path, encoding) {
    const { get } = await import('node:http');
    return new Promise((done, fail) => get(server.url + path, { headers: encoding ? { 'Accept-Encoding': encoding } : {} }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(parts) }));
    }).on('error', fail));
}

const page = await raw('/');
const script = page.bytes.toString().match(/\/assets\/index-[^"]+\.js/)?.[0];

await claim('the page is sent at every address of the UI, and tells browsers to ask again', async () => {
    equal(page.status, 200);
    equal(page.headers['content-type'], 'text/html; charset=utf-8');
    equal(page.headers['cache-control'], 'no-cache');
    for (const path of ['/executions', '/executions/01a1', '/dlq', '/processes/scenarios/x', '/settings?x=1'])
        equal((await raw(path)).bytes.equals(page.bytes), true, path);
});

await claim('an asset is sent as the browser takes it, and is kept for ever', async () => {
    const plain = await raw(script), br = await raw(script, 'gzip, deflate, br'), gz = await raw(script, 'gzip, br;q=0');
    equal([plain.headers['content-encoding'] ?? '', br.headers['content-encoding'], gz.headers['content-encoding']], ['', 'br', 'gzip']);
    equal(brotliDecompressSync(br.bytes).equals(plain.bytes), true, 'brotli');
    equal(gunzipSync(gz.bytes).equals(plain.bytes), true, 'gzip');
    equal(br.bytes.length < gz.bytes.length && gz.bytes.length < plain.bytes.length / 2, true, 'it is worth it');
    equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    equal(plain.headers.vary, 'Accept-Encoding');
    equal(new Set([plain, br, gz].map((a) => a.headers.etag)).size, 3, 'each encoding has a tag of its own');
});

await claim('who has a file already is told so in one line', async () => {
    const tag = (await ask('/')).headers.get('etag');
    const again = await ask('/', { 'If-None-Match': `"other", ${tag}` });
    equal([again.status, await again.text(), again.headers.get('etag')], [304, '', tag]);
    equal((await ask('/', { 'If-None-Match': '"other"' })).status, 200);
});

await claim('the policy lets a page load nothing from elsewhere', () => {
    const policy = page.headers['content-security-policy'];
    for (const part of ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) equal(policy.includes(part), true, part);
    equal(policy.includes('unsafe'), false, policy);
    equal([page.headers['x-content-type-options'], page.headers['x-frame-options'], page.headers['referrer-policy']], ['nosniff', 'DENY', 'no-referrer']);
    equal(/https?:\/\//.test(page.bytes.toString()), false, 'the page names no other host');
});

await claim('what is no page is not answered with one', async () => {
    refused(await server.call(null, 'GET', '/assets/none.js'), 404, 'not_found');
    refused(await server.call(server.token, 'GET', '/api/v1/nothing'), 404, 'not_found');
    refused(await server.call(server.token, 'GET', '/nothing'), 404, 'not_found');
    refused(await server.call(server.token, 'GET', '/executions-of-others'), 404, 'not_found');
    refused(await server.call(server.token, 'POST', '/executions'), 405, 'method_not_allowed');
    equal((await server.call(server.token, 'GET', '/schemas/definition.json')).headers['content-type'].includes('json'), true);
});

await claim('every address of the pages is one that the server answers with the page', async () => {
    const known = [...readFileSync('src/api/serve/ui_pages.def', 'utf8').matchAll(/^PAGE\("([^"]+)"\)/gm)].map((m) => m[1]);
    const drawn = [...readFileSync('web/src/app/routes.tsx', 'utf8').matchAll(/page\('([^']+)'/g)].map((m) => m[1]);
    equal(drawn.length > 10, true, 'the routes were read');
    for (const path of drawn) {
        const fits = known.some((row) => row === path || (row.endsWith('{path*}') && path.startsWith(row.slice(0, -'{path*}'.length))));
        equal(fits, true, `${path} is in ui_pages.def`);
    }
});

await claim('the lockfile names no registry and nothing in it runs when it is installed', () => {
    for (const name of ['web/package-lock.json', 'tests/package-lock.json']) {
        const packages = Object.entries(JSON.parse(readFileSync(name, 'utf8')).packages);
        equal(packages.filter(([, p]) => p.resolved).map(([path]) => path), [], `${name}: resolved`);
        equal(packages.filter(([, p]) => p.hasInstallScript).map(([path]) => path), [], `${name}: install scripts`);
        equal(packages.filter(([path, p]) => path && !p.integrity && !p.link).map(([path]) => path), [], `${name}: without integrity`);
    }
});

await claim('what a browser loads first is under 500 kB, fonts apart', async () => {
    const html = page.bytes.toString();
    let bytes = 0;
    for (const [path] of html.matchAll(/\/assets\/[^"]+\.(?:js|css)/g)) bytes += (await raw(path, 'gzip')).bytes.length;
    equal(bytes > 50000 && bytes < 500000, true, `${bytes} bytes`);
});

await claim('`pawl login` prints the address of the page with the token behind the #', async () => {
    const { out } = await execute(pawl, ['login'], { env: { ...process.env, PAWL_URL: server.url, PAWL_TOKEN: server.token } });
    equal(out.trim(), `${server.url}/#token=${server.token}`);
});

await server.stop();
end();
