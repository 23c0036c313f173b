// services.mjs - what the scripts of one run share: a PostgreSQL, a RabbitMQ and a browser.
//
// scripts/run-tests starts it with the programs that it will run, and puts the lines that it
// prints, NAME=VALUE each and "ready" at last, into their environment. It serves until its
// input ends, however that comes.
import { launchServer } from './browser.mjs';
import { Postgres } from './postgres.mjs';
import { RabbitMq } from './rabbitmq.mjs';

const programs = process.argv.slice(2);
const postgres = programs.some((name) => /^tests\/.*\.mjs$/.test(name)) ? await Postgres.own() : null;
const starting = programs.some((name) => /^tests\/.*broker.*\.mjs$/.test(name)) ? RabbitMq.own() : null;
const browser = programs.some((name) => /^tests\/ui\/.*\.mjs$/.test(name)) ? await launchServer() : null;

async function stop() {
    await browser?.close();
    process.exit(0); // which ends PostgreSQL and RabbitMQ
}

if (postgres) console.log(`PAWL_TEST_POSTGRES=${postgres.address}`);
const rabbit = await starting;
if (rabbit) console.log(`PAWL_TEST_RABBITMQ=${rabbit.description}`);
if (browser) console.log(`PAWL_TEST_BROWSER=${browser.wsEndpoint()}`);
console.log('ready');
process.stdin.on('end', stop).resume();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
