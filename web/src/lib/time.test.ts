import { expect, test, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('document', { documentElement: {} });
const { loadWords, setLanguage } = await import('./text');
await loadWords('ru');
const { dayOf, duration, shortly, span, when } = await import('./time');

const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');
const now = new Date(2026, 10, 16, 8, 30).getTime();
const at = (year: number) => new Date(year, 0, 5, 9, 5).getTime();

test('a day of this year has no year, one of another year has it and no word for it', () => {
    setLanguage('en');
    expect([plain(when(at(2026), { now })), plain(when(at(2027), { now }))]).toEqual(['Mon 5 Jan 09:05', 'Tue 5 Jan 2027 09:05']);
    setLanguage('ru');
    expect([plain(when(at(2026), { now })), plain(when(at(2027), { now }))]).toEqual(['пн 5 янв. 09:05', 'вт 5 янв. 2027 09:05']);
});

test('in a narrow column a day of another year is told from one of this', () => {
    setLanguage('en');
    expect([plain(shortly(at(2026), now)), plain(shortly(at(2025), now))]).toEqual(['5 Jan', 'Jan 2025']);
    setLanguage('ru');
    expect([plain(shortly(at(2026), now)), plain(shortly(at(2025), now))]).toEqual(['5 янв.', 'янв. 2025']);
});

test('a duration never rounds up into the next unit', () => {
    setLanguage('en');
    expect([59_700, 999.7, 9_999, 3_599_900].map((ms) => plain(duration(ms)))).toEqual(['59 s', '999 ms', '9.99 s', '59 min 59 s']);
});

test('what is due says the clock today, then tomorrow, then the weekday, then the day', () => {
    const on = (day: number) => plain(dayOf(new Date(2026, 10, day, 15, 0).getTime(), now));
    setLanguage('en');
    expect([16, 17, 18, 22, 23].map(on)).toEqual(['15:00', 'tomorrow', 'Wed', 'Sun', '23 Nov']);
    setLanguage('ru');
    expect([16, 17, 18, 23].map(on)).toEqual(['15:00', 'завтра', 'ср', '23 нояб.']);
});

test('a span of time as the server takes it is said in the language of the page; what is none stays', () => {
    setLanguage('en');
    expect(['1h', '30d', '45s', '5m', '2026-11-16'].map((one) => plain(span(one)))).toEqual(['1 h', '30 d', '45 s', '5 min', '2026-11-16']);
    setLanguage('ru');
    expect(['24h', '7d'].map((one) => plain(span(one)))).toEqual(['24 ч', '7 д']);
});
