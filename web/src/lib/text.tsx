// text.tsx - every word that the pages show. English is the key; the folder ru has the Russian, which is loaded by those who read it.
//
// "{n} execution|{n} executions" are the forms by number. **bold** and `code` become elements in <Say>.
import { createContext, useContext, type ReactNode } from 'react';
import type { Words } from './ru/words';

export type Language = 'en' | 'ru';

const STORED = 'pawl.language';
let current: Language = initial();
let russian: Words = {};

function initial(): Language {
    const stored = globalThis.localStorage?.getItem(STORED);
    if (stored === 'en' || stored === 'ru') return stored;
    return globalThis.navigator?.language?.startsWith('ru') ? 'ru' : 'en';
}

export const language = () => current;

/** Fetch the words of a language; before anything is said in it. Without them the pages speak English. */
export async function loadWords(of: Language) {
    if (of === 'ru') russian = await import('./ru').then((module) => module.RU, () => russian);
}

export function setLanguage(to: Language) {
    current = to;
    localStorage.setItem(STORED, to);
    document.documentElement.lang = to;
}

/** A component that reads this is drawn anew when the language changes. */
export const LanguageContext = createContext<{ language: Language; choose: (to: Language) => void }>({ language: 'en', choose: () => undefined });
export const useLanguage = () => useContext(LanguageContext);

type Values = Record<string, string | number | undefined>;

const fillIn = (form: string, values: Values) => form.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));

export function t(key: string, values: Values = {}): string {
    const text = current === 'ru' ? (russian[key] ?? key) : key;
    const forms = text.split('|');
    if (forms.length === 1) return fillIn(text, values);
    const n = Number(String(values.count ?? values.n ?? 0).replace(/\D/g, ''));
    const rule = new Intl.PluralRules(current).select(n);
    const at = current === 'ru' ? (rule === 'one' ? 0 : rule === 'few' ? 1 : 2) : rule === 'one' ? 0 : 1;
    return fillIn(forms[Math.min(at, forms.length - 1)]!, values);
}

/** A sentence with **what matters** and `code`. Values are never markup. */
export function Say({ text, values = {} }: { text: string; values?: Record<string, ReactNode> }) {
    const whole = current === 'ru' ? (russian[text] ?? text) : text;
    const parts = whole.split(/(\*\*[^*]+\*\*|`[^`]+`|\{\w+\})/g).filter(Boolean);
    const inner = (part: string, key: number): ReactNode => {
        if (part.startsWith('**')) return <b key={key}>{part.slice(2, -2).split(/(\{\w+\})/g).map(inner)}</b>;
        if (part.startsWith('`')) return <code key={key}>{part.slice(1, -1).split(/(\{\w+\})/g).map(inner)}</code>;
        const name = part.match(/^\{(\w+)\}$/)?.[1];
        return name ? <span key={key}>{values[name]}</span> : part;
    };
    return <>{parts.map(inner)}</>;
}
