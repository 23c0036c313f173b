import { expect, test } from 'vitest';
import { keyOf } from './keys';

test('a Russian layout has the keys of a Latin one', () => {
    expect(keyOf({ key: 'о', code: 'KeyJ', shiftKey: false })).toBe('j');
    expect(keyOf({ key: 'Л', code: 'KeyK', shiftKey: true })).toBe('K');
    expect(keyOf({ key: '.', code: 'Slash', shiftKey: false })).toBe('/');
    expect(keyOf({ key: ',', code: 'Slash', shiftKey: true })).toBe('?');
});

test('a Latin layout is left as it is', () => {
    expect(keyOf({ key: 'j', code: 'KeyJ', shiftKey: false })).toBe('j');
    expect(keyOf({ key: '?', code: 'Slash', shiftKey: true })).toBe('?');
    expect(keyOf({ key: 'z', code: 'KeyY', shiftKey: false })).toBe('z'); // a German one
    expect(keyOf({ key: 'ArrowDown', code: 'ArrowDown', shiftKey: false })).toBe('ArrowDown');
});
