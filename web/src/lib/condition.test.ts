import { describe, expect, test } from 'vitest';
import { literalOf, readCondition, typedOf, writeCondition } from './condition';

describe('a condition is built from pickers when it is simple', () => {
    test.each(['$.input.amount > 100000', '$.input.percent > 0 && $.input.percent <= 50', '!$.steps.decide.approved', '$.steps.decide.approved', 'input.country == "D && E"', "steps.a.items[0].kind != 'x'", '$.input.a == null'])('%s', (text) => {
        const all = readCondition(text);
        expect(all).not.toBe(null);
        expect(writeCondition(all!)).toBe(text);
    });
    test.each(['$.a || $.b', '$.a ? $.b : $.c', 'size($.input.items) > 2', '$.a > 1 && (', '$.input.a + 1 > 2', '$.x in [1, 2]'])('%s is left to be written', (text) => expect(readCondition(text)).toBe(null));
    test('nothing is no comparison', () => expect(readCondition(' ')).toEqual([]));
});

test('what a person types becomes a number, a path or a text, and comes back', () => {
    for (const [typed, cel] of [['5', '5'], ['a "b"', '"a \\"b\\""'], ['$.input.x', '$.input.x'], ['true', 'true'], ['DE', '"DE"'], ['"5"', '"5"']] as const) {
        expect(literalOf(typed)).toBe(cel);
        expect(typedOf(cel)).toBe(typed);
    }
});
