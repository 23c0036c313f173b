import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Catalog } from './catalog';
import { stepList } from '../flow/layout';
import { everyItem } from './model';
import { sagaOf } from './saga';

const command = (name: string, leaves: string, ...fields: [string, string][]) => ({ name, alias: null, leaves, fields: fields.map(([field, kind]) => ({ name: field, kind })) });
const catalog = { commands: [command('log', 'nothing'), command('record.create', 'something'), command('record.get', 'nothing'), command('notification.email', 'something'), command('wait.signal', 'question'), command('flow.call', 'something'), command('flow.if', 'nothing', ['then', 'commands'], ['else', 'commands']), command('flow.match', 'nothing', ['cases', 'map of commands']), command('compute.fail', 'nothing')] } as unknown as Catalog;
const log = { type: 'log', message: 'x' };
const definition = {
    steps: [
        { code: 'a', procedure: { type: 'record.create', object: 'x', data: {} }, rollback: log },
        { code: 'mail', procedure: { type: 'notification.email', to: 'x' } },
        { code: 'way', branch: [{ when: 'true', steps: [{ code: 'b', procedure: log, rollback: log }] }, { steps: [{ code: 'c', procedure: log, rollback: log }] }] },
        { code: 'par', parallel: { branches: [[{ code: 'd', procedure: log, rollback: log }], [{ code: 'e', procedure: log, rollback: log }]] } },
        { code: 'last', procedure: log, onError: 'continue' },
    ],
};
const saga = (code: string, all: typeof definition = definition) => {
    const list = stepList(all.steps as never, ['steps'], 'else');
    const item = [...everyItem(list)].find((one) => one.item.code === code)!.item;
    return sagaOf(catalog, list, item, all as never);
};
const codes = (all: { item: { code: string } }[]) => all.map((one) => one.item.code);

test('what was done before is undone, the last first', () => {
    expect(codes(saga('par').undone)).toEqual(['c', 'b', 'a']);
    expect(saga('par').undone.map((u) => u.perhaps)).toEqual([true, true, false]);
    expect(codes(saga('a').undone)).toEqual([]);
});
test('a way that was not taken has nothing to undo; a branch beside may have', () => {
    expect(codes(saga('c').undone)).toEqual(['a']);
    expect(codes(saga('d').undone)).toEqual(['e', 'c', 'b', 'a']);
    expect(saga('d').undone[0]!.perhaps).toBe(true);
});
test('what told somebody outside and has no rollback stays', () => expect(codes(saga('last').stays)).toEqual(['mail']));
test('a step says itself what its failure means', () => expect([saga('last').how, saga('a').how, saga('a').attempts]).toEqual(['continue', 'compensate', 3]));
test('the example of orders: a refused payment undoes the reservations', () => {
    const all = JSON.parse(readFileSync('../examples/order_processing.json', 'utf8')) as typeof definition;
    const last = all.steps.at(-1)!;
    expect(saga(last.code, all).undone.length).toBeGreaterThan(0);
});
test('what stays goes by what the catalog says of each command, also of those inside others and of procedures', () => {
    const mail = { type: 'notification.email', to: 'x' };
    const all = {
        procedures: { quiet: { commands: [log] }, loud: { commands: [{ type: 'flow.call', procedure: 'inner' }] }, inner: { commands: [mail] } },
        steps: [
            { code: 'if_quiet', procedure: [{ type: 'flow.if', condition: 'true', then: [{ type: 'compute.fail' }] }, { type: 'record.get' }] },
            { code: 'if_loud', procedure: { type: 'flow.if', condition: 'true', then: [log], else: [mail] } },
            { code: 'match_loud', procedure: { type: 'flow.match', cases: { a: [log], b: [mail] } } },
            { code: 'named_quiet', procedure: 'quiet' }, { code: 'named_loud', procedure: 'loud' }, { code: 'of_the_registry', procedure: 'elsewhere' },
            { code: 'waits', procedure: { type: 'wait.signal', signalType: 'x' } }, { code: 'asks', procedure: { type: 'wait.signal', signalType: 'x', assignee: 'group:y' } },
            { code: 'end_of_it', procedure: log },
        ],
    };
    const found = saga('end_of_it', all as never);
    expect(codes(found.stays)).toEqual(['if_loud', 'match_loud', 'named_loud', 'of_the_registry', 'asks']);
    expect(found.nothing.map((item) => item.code)).toEqual(['if_quiet', 'named_quiet', 'waits']);
});
