// test_conformance_kill.mjs - the same rows, with a kill -9 and a new start after every event.
//
// All executions live side by side, so that each of them lives through every kill.
import { end } from '../lib/claims.mjs';
import { drive, readRows } from './drive.mjs';

await drive('SQLite', readRows(), { kills: true });
end();
