// Definitions that are written to hurt the server: they are refused, and nobody else notices.
import { join } from 'node:path';

import { claim, end, equal } from '../lib/claims.mjs';
import { startServer } from '../lib/server.mjs';

const MEMORY_MB = 50; // what one hostile definition may take beyond an idle server, at its most

const server = await startServer();
const idle = server.memoryMb();

/** A scenario of one step that matches the input with each of these patterns. */
const matching = (patterns) => ({
    code: 'hostile',
    steps: [{
        code: 'a',
        procedure: {
            type: 'compute.transform',
            data: Object.fromEntries(patterns.map((pattern, i) =>
                [`k${i}`, `=$.input.a.matches(${JSON.stringify(pattern)})`])),
        },
    }],
});
const numbers = (count) => [...Array(count).keys()];

const definitions = {
    'one large pattern, often': [matching(numbers(150).map(() => '[\\pL\\pN]{1,50}')), true],
    'many large patterns': [matching(numbers(1000).map((i) => `${i}[\\pL\\pN]{1,50}`)), false],
    'many patterns that are too large': [matching(numbers(1000).map((i) => `${i}\\pL{1000}`)), false],
    'thousands of small patterns': [matching(numbers(2000).map((i) => `^[a-z]+${i}$`)), false],
    'thousands of patterns in one expression': [{
        code: 'hostile',
        result: '=' + numbers(2900).map((i) => `$.input.a.matches("${i}[\\\\pL\\\\pN]{1,50}")`).join('||'),
        steps: [],
    }, false],
};

for (const [name, [definition, valid]] of Object.entries(definitions))
    await claim(`a definition with ${name} is ${valid ? 'compiled' : 'refused'} within its budget`, async () => {
        const answer = await server.asAdmin('PUT', '/scenarios/hostile/draft', definition);
        equal(answer.status, 200, answer.raw.slice(0, 300));
        equal(answer.body.valid, valid, JSON.stringify(answer.body.errors).slice(0, 300));
        equal(answer.body.errors.every((e) => e.severity === 'warning' || e.code.startsWith('limit_')), true,
            JSON.stringify(answer.body.errors).slice(0, 300));
        const most = server.memoryMb('VmHWM') - idle;
        equal(most < MEMORY_MB, true, `${most.toFixed(1)} MB above idle`);
        equal((await server.asAdmin('GET', '/me')).status, 200);
    });

equal(await server.stop(), 0, server.log);
end();
