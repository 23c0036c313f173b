// rows.mjs - everything that a server has stored, row by row, read behind its back.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

// Rows that a server writes by itself (that it lives, and what it has counted), and the answers that
// it keeps under an Idempotency-Key, refusals among them.
const BY_ITSELF = /^(INSERT INTO )?"?(nodes|epochs|shards|duties|stats|http_idempotency)"?[ (]/;
// When a token was last used is written some time after a request, whatever became of that.
const TOKENS = /^(INSERT INTO )?"?tokens"?[ (]/;
const OPTIONS = { stdio: 'pipe', maxBuffer: 1 << 30, encoding: 'utf8' };

/** All rows as lines that begin with the name of their table. */
export function storedRows(server, postgres) {
    const lines = postgres ? rowsOfPostgres(server.store, postgres) : execFileSync('sqlite3', ['-readonly', '-cmd', '.timeout 60000', join(server.data, 'pawl.db'), '.dump'], OPTIONS).split('\n').filter((line) => line.startsWith('INSERT INTO '));
    return new Set(lines.filter((line) => !BY_ITSELF.test(line)).map((line) => (TOKENS.test(line) ? line.replace(/,[^,]*(,[^,]*\);?)$/, ',used$1') : line)));
}

function rowsOfPostgres(store, postgres) {
    const ask = (sql) => postgres.run('psql', '-q', '-X', '-At', '-c', sql, store).toString().split('\n').filter(Boolean);
    const tables = ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    return ask(tables.map((table) => `SELECT '${table} ' || replace(t::text, E'\\n', ' ') FROM ${table} t`).join(' UNION ALL '));
}

/** What of the rows is not the same, in a few lines; empty when nothing has changed. */
export function changedRows(before, after) {
    const gone = [...before].filter((row) => !after.has(row)), come = [...after].filter((row) => !before.has(row));
    return [...gone.map((row) => `- ${row}`), ...come.map((row) => `+ ${row}`)].slice(0, 6).map((row) => row.slice(0, 400)).join('\n');
}
