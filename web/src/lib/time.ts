// time.ts - times and durations as the pages write them: 24 hours, the viewer's zone, two units at most.
import { language } from './text';

const pad = (n: number) => String(n).padStart(2, '0');
const locale = () => (language() === 'ru' ? 'ru' : 'en-GB');
const NB = ' ';

const UNITS = { en: ['ms', 's', 'min', 'h', 'd'], ru: ['мс', 'с', 'мин', 'ч', 'д'] } as const;

/** 38 ms, 1.42 s, 12 min 03 s, 2 h 14 min, 2 d 3 h. */
export function duration(ms: number): string {
    const [uMs, uS, uMin, uH, uD] = UNITS[language()];
    if (ms < 1) return `<1${NB}${uMs}`;
    if (ms < 1000) return `${Math.floor(ms)}${NB}${uMs}`;
    const s = ms / 1000;
    if (s < 10) return `${number(Math.floor(s * 100) / 100, 2)}${NB}${uS}`;
    if (s < 60) return `${Math.floor(s)}${NB}${uS}`;
    const total = Math.floor(s);
    if (s < 3600) return `${Math.floor(total / 60)}${NB}${uMin}${NB}${pad(total % 60)}${NB}${uS}`;
    if (s < 86400) return `${Math.floor(total / 3600)}${NB}${uH}${NB}${pad(Math.floor((total % 3600) / 60))}${NB}${uMin}`;
    return `${Math.floor(total / 86400)}${NB}${uD}${NB}${Math.floor((total % 86400) / 3600)}${NB}${uH}`;
}

/** "24 h" of "24h", as the server takes a span of time. */
export const span = (text: string) => text.replace(/^(\d+)([smhd])$/, (_, count: string, unit: string) => `${count}${NB}${UNITS[language()]['_smhd'.indexOf(unit)]}`);

export const between = (from: string, to: string | number) => duration(Math.max(0, (typeof to === 'number' ? to : Date.parse(to)) - Date.parse(from)));

const sameDay = (a: Date, b: Date) => a.toDateString() === b.toDateString();
const sameYear = (a: Date, b: Date) => a.getFullYear() === b.getFullYear();

/** 10:45 today; tomorrow, Tue 10:45; Fri 20 Nov 09:30; another year with it. */
export function when(time: string | number, { seconds = false, now = Date.now() } = {}): string {
    const at = new Date(time);
    const today = new Date(now);
    const clock = `${pad(at.getHours())}:${pad(at.getMinutes())}${seconds ? `:${pad(at.getSeconds())}` : ''}`;
    if (sameDay(at, today)) return clock;
    const day = at.toLocaleDateString(locale(), { weekday: 'short' });
    const next = new Date(now + 86400000);
    const before = new Date(now - 86400000);
    const ru = language() === 'ru';
    if (sameDay(at, next)) return `${ru ? 'завтра' : 'tomorrow'}, ${day}${NB}${clock}`;
    if (sameDay(at, before)) return `${ru ? 'вчера' : 'yesterday'}${NB}${clock}`;
    const date = at.toLocaleDateString(locale(), { weekday: 'short', day: 'numeric', month: 'short' }).replace(',', '');
    return `${date}${sameYear(at, today) ? '' : ` ${at.getFullYear()}`} ${clock}`.replaceAll(' ', NB);
}

/** For narrow columns: the clock today, the day of this year, the month of another. */
export function shortly(time: string | number, now = Date.now()): string {
    const at = new Date(time);
    if (sameDay(at, new Date(now))) return `${pad(at.getHours())}:${pad(at.getMinutes())}`;
    // The year is put behind by hand: Russian writes "г." after it, which lists have no room for.
    if (!sameYear(at, new Date(now))) return `${at.toLocaleDateString(locale(), { day: 'numeric', month: 'short' }).replace(/^\d+\s/, '')}${NB}${at.getFullYear()}`;
    return at.toLocaleDateString(locale(), { day: 'numeric', month: 'short' });
}

/** For what is due: 15:00 today, then tomorrow, then the weekday, then the day. */
export function dayOf(time: string | number, now = Date.now()): string {
    const at = new Date(time);
    const ru = language() === 'ru';
    const midnight = new Date(now).setHours(0, 0, 0, 0);
    const days = Math.round((new Date(time).setHours(0, 0, 0, 0) - midnight) / 86400000);
    if (days === 0) return `${pad(at.getHours())}:${pad(at.getMinutes())}`;
    if (days === 1) return ru ? 'завтра' : 'tomorrow';
    if (days > 1 && days < 7) return at.toLocaleDateString(locale(), { weekday: 'short' });
    return shortly(time, now);
}

export const clockWithMs = (time: string) => {
    const at = new Date(time);
    return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
};

/** The whole of it, for a title. */
export const full = (time: string) => `${time} · ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;

export const number = (n: number, digits = 0) => n.toLocaleString(locale() === 'ru' ? 'ru' : 'en-US', { maximumFractionDigits: digits });
