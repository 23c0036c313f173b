// test_conformance_http.mjs - the rules of scenarios, row by row, through HTTP on both stores.
import { Postgres } from '../kill/postgres.mjs';
import { drive, finish, readRows } from './drive.mjs';

const only = process.env.CONFORMANCE_ONLY;
const rows = readRows().filter(({ name }) => !only || name.includes(only));
const sum = { passed: 0, failed: 0, skipped: 0 };

await drive('sqlite', rows, {}, sum);
const postgres = await Postgres.open();
if (postgres) {
    try {
        await drive('postgres', rows, { store: postgres.fresh() }, sum);
    } finally {
        postgres.close();
    }
} else {
    console.log('skipped: PostgreSQL is not installed');
    sum.skipped += rows.length;
}
finish(sum);
