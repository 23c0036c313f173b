// test_conformance_http.mjs - the rules of scenarios, row by row, through HTTP on both stores.
import { end } from '../lib/claims.mjs';
import { onStores } from '../lib/stores.mjs';
import { drive, readRows } from './drive.mjs';

const rows = readRows();
await onStores((name, store) => drive(name, rows, { store }));
end();
