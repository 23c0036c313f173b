// test_conformance_kill.mjs - the same rows, with a kill -9 and a new start after every event.
//
// All executions live side by side, so that each of them lives through every kill.
import { drive, finish, readRows } from './drive.mjs';

const only = process.env.CONFORMANCE_ONLY;
const rows = readRows().filter(({ name }) => !only || name.includes(only));
const sum = { passed: 0, failed: 0, skipped: 0 };

await drive('sqlite', rows, { kills: true }, sum);
finish(sum);
