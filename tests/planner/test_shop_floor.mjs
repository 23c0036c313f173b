// examples/shop-floor: one command makes what its README says, and the command line shows it.
import { spawnSync } from 'node:child_process';

import { check, equal } from '../lib/claims.mjs';
import { pawl } from '../lib/program.mjs';
import { claim, run } from '../lib/stores.mjs';

claim('the example is loaded by one command, and is as its page says', async (rig) => {
    const env = { ...process.env, PAWL_URL: rig.server.url, PAWL_TOKEN: rig.server.token, COLUMNS: '80', TZ: 'UTC' };
    const loaded = spawnSync('examples/shop-floor/load', { encoding: 'utf8', env });
    equal(loaded.status, 0, loaded.stderr + loaded.stdout);
    const cli = (...args) => {
        const done = spawnSync(pawl, args, { encoding: 'utf8', env });
        equal(done.status, 0, `pawl ${args.join(' ')}: ${done.stderr}`);
        return done.stdout;
    };
    const tasks = JSON.parse(cli('task', 'ls', '--project', 'hall-7', '--json')).items;
    const status = Object.fromEntries(tasks.map((t) => [t.title, t.status]));
    equal(status, {
        'Fix: Weld the beams': 'available', 'Hang the gate': 'blocked', 'Paint the walls': 'blocked',
        'Weld the beams': 'in_progress', 'Put up the frame': 'available', 'Pour the ground slab': 'done',
    });
    const newest = (await rig.api('POST', '/tasks', { title: 'Sweep the floor' })).body;
    equal(JSON.parse(cli('task', 'show', '@last', '--json')).id, newest.id);
    equal(cli('task', 'do', 'cancel', '@last', '--reason', 'clean'), 'Sweep the floor is canceled\n');
    const shown = cli('task', 'ls', '--attention');
    check(shown.includes('Weld the beams') && shown.split('\n').every((line) => line.length <= 80), shown);
    check(cli('shift', 'ls').includes('day shift'), 'the shift is listed');
    const ada = /PAWL_TOKEN=(\S+)/.exec(loaded.stdout)[1];
    env.PAWL_TOKEN = ada;
    const pool = cli('task', 'pool');
    check(pool.includes('Put up the frame') && pool.includes('Fix: Weld'), pool);
    const frame = tasks.find((t) => t.title === 'Put up the frame');
    equal(cli('task', 'do', 'self_assign', frame.id.slice(-12)), 'Put up the frame is assigned\n');
    check(/available -> assigned {2}self_assign by executor/.test(cli('task', 'show', frame.id)), 'the log is shown');
    const refused = spawnSync(pawl, ['task', 'do', 'cancel', frame.id, '--reason', 'x'], { encoding: 'utf8', env });
    check(refused.status === 1 && refused.stderr.includes('may not cancel'), refused.stderr);
    env.PAWL_TOKEN = rig.server.token;
    const shift = JSON.parse(cli('shift', 'ls', '--json')).items[0];
    check(cli('shift', 'end', shift.id.slice(-12), '--note', 'see you').includes('has ended'), 'the shift ends');
    equal(JSON.parse(cli('task', 'show', frame.id, '--json')).status, 'available');
});

await run(async () => {});
