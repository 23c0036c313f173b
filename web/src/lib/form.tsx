// form.tsx - a form made from a list of fields, as `input` of a definition and `form` of a wait have them; or the JSON of it.
import { useId, useState } from 'react';
import { asNumber, Exact, readJson } from './exact';
import { Field, Segments } from './parts';
import { nameOf } from './steps';
import { language, t } from './text';
import type { FormField } from './types';

export type Values = Record<string, unknown>;

/** What was typed and is no JSON yet: it stands in its field, and is no answer. */
export class Unreadable {
    constructor(readonly text: string, readonly why: string) {}

    toJSON() { return this.text; }
}

const STRUCTURED = new Set(['object', 'array', 'any', 'json']);
const NUMBERS = new Set(['integer', 'number', 'decimal', 'double']);
const TYPES: Record<string, { word: string }> = { integer: { word: 'a whole number' }, number: { word: 'a number' }, date: { word: 'a date' }, datetime: { word: 'a time' }, object: { word: 'an object' }, array: { word: 'a list' }, any: { word: 'any value' } };
// Names of texts that want more than one line.
const LONG = /comment|reason|note|message|description|why|remark|комментар|причин|замет|описан|почему/i;
const ENUM_AS_CHOICES_MOST = 4;

const labelOf = (field: FormField) => field.label ?? nameOf({ code: field.name });

/** What a form begins with. */
export const withDefaults = (fields: FormField[], values: Values = {}): Values => ({ ...Object.fromEntries(fields.filter((field) => field.default !== undefined && field.default !== null).map((field) => [field.name, field.default])), ...values });

/** What keeps a form from being sent, as far as the browser knows: the server looks at the rest. */
export const missingOf = (fields: FormField[], values: Values): FormField[] => fields.flatMap((field) => {
    const value = values[field.name];
    if (value === undefined) return field.required === true ? [field] : [];
    return field.fields && isPlain(value) ? missingOf(field.fields, value) : [];
});
const isPlain = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Unreadable) && !(value instanceof Exact);
export const unreadableOf = (values: Values): number => (values instanceof Unreadable ? 1 : Object.values(values).reduce<number>((n, value) => n + (value instanceof Unreadable ? 1 : isPlain(value) ? unreadableOf(value) : 0), 0));

/** What somebody typed into a field for a number; the text itself when it is none, which the server then refuses. */
function readNumber(text: string): unknown {
    const plain = language() === 'ru' ? text.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2') : text.trim();
    return plain !== '' && Number.isFinite(Number(plain)) ? asNumber(plain) : text;
}

const asText = (value: unknown): string => (value === undefined || value === null ? '' : value instanceof Unreadable ? value.text : value instanceof Exact ? value.text : typeof value === 'string' ? value : JSON.stringify(value));

/** 2026-11-16T12:00:00Z as a field of the browser has it, on the clock of the viewer. */
function asLocal(value: unknown): string {
    const at = new Date(String(value));
    if (Number.isNaN(at.getTime())) return '';
    return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

interface ControlProps { field: FormField; value: unknown; change: (to: unknown) => void; id: string; first: boolean; about: { className: string; 'aria-invalid'?: boolean; 'aria-describedby'?: string } }

/** Text of a number, of JSON: what is typed is kept as it is typed, whatever it is worth. */
function Typed({ field, value, change, id, first, about }: ControlProps) {
    const isNumber = NUMBERS.has(field.type);
    const show = (of: unknown) => (isNumber || of instanceof Unreadable ? asText(of) : of === undefined ? '' : JSON.stringify(of, null, 2));
    const [kept, keep] = useState(() => ({ text: show(value), value }));
    const text = Object.is(kept.value, value) ? kept.text : show(value); // somebody else has filled it in
    const read = (typed: string): unknown => {
        if (typed.trim() === '') return undefined;
        if (isNumber) return readNumber(typed);
        try {
            return readJson(typed);
        } catch (error) {
            return new Unreadable(typed, (error as Error).message);
        }
    };
    const type = (typed: string) => {
        const to = read(typed);
        keep({ text: typed, value: to });
        change(to);
    };
    if (isNumber) return <input id={id} autoFocus={first} autoComplete="off" inputMode={field.type === 'integer' ? 'numeric' : 'decimal'} value={text} onChange={(event) => type(event.target.value)} {...about} />;
    return <textarea id={id} spellCheck={false} value={text} placeholder={field.type === 'array' ? '["…", "…"]' : field.type === 'object' ? '{"…": "…"}' : '"…"'} onChange={(event) => type(event.target.value)} {...about} className={`${about.className} mono`} />;
}

function Control(props: ControlProps) {
    const { field, value, change, id, first, about } = props;
    const choices = field.type === 'boolean' ? [true, false] : field.enum && field.required === true && field.enum.length <= ENUM_AS_CHOICES_MOST && field.enum.every((option) => String(option).length <= 16) ? field.enum : null;
    if (choices) return (
        <Segments label={labelOf(field)} value={value === undefined ? '' : String(value)} onChange={(to) => change(String(value) === to && field.required !== true ? undefined : choices.find((option) => String(option) === to))}
            options={choices.map((option) => ({ value: String(option), label: option === true ? t('yes') : option === false ? t('no') : String(option) }))} />
    );
    if (field.enum) return (
        <select id={id} value={value === undefined ? '' : String(value)} onChange={(event) => change(field.enum!.find((option) => String(option) === event.target.value))} {...about}>
            <option value="">{t('Choose')}</option>
            {field.enum.map((option) => <option key={String(option)} value={String(option)}>{String(option)}</option>)}
        </select>
    );
    if (field.type === 'object' && field.fields?.length) {
        const inner = value && typeof value === 'object' && !(value instanceof Unreadable) && !Array.isArray(value) ? (value as Values) : {};
        return <div className="group" role="group" aria-label={labelOf(field)} id={id}><FormFields plain still={!first} fields={field.fields} values={inner} within={`${id}-`} change={(to) => change(Object.keys(to).length === 0 ? undefined : to)} /></div>;
    }
    if (STRUCTURED.has(field.type) || NUMBERS.has(field.type)) return <Typed {...props} />;
    if (field.type === 'datetime') return <input id={id} type="datetime-local" value={value === undefined ? '' : asLocal(value)} onChange={(event) => change(event.target.value === '' ? undefined : new Date(event.target.value).toISOString())} {...about} />;
    const set = (text: string) => change(text === '' ? undefined : text);
    if (field.type === 'string' && !field.sensitive && (field.multiline ?? LONG.test(`${field.name} ${field.label ?? ''}`))) return <textarea id={id} autoFocus={first} value={asText(value)} onChange={(event) => set(event.target.value)} {...about} />;
    return <input id={id} autoFocus={first} type={field.sensitive ? 'password' : field.type === 'date' ? 'date' : 'text'} autoComplete={field.sensitive ? 'new-password' : 'off'} value={asText(value)} onChange={(event) => set(event.target.value)} {...about} />;
}

const OPERATORS: Record<string, { word: string }> = {
    '==': { word: 'needed when “{field}” is {value}' }, '!=': { word: 'needed when “{field}” is not {value}' }, '>': { word: 'needed when “{field}” is more than {value}' },
    '>=': { word: 'needed when “{field}” is {value} or more' }, '<': { word: 'needed when “{field}” is less than {value}' }, '<=': { word: 'needed when “{field}” is {value} or less' },
};

/** A condition that compares one field with one value, in words; undefined for others, which only the server reads. */
export function neededWhen(condition: string, fields: FormField[]): string | undefined {
    const name = '(?:\\$\\.)?(?:payload|input)\\.(\\w+)';
    const compared = condition.match(new RegExp(`^\\s*${name}\\s*(==|!=|>=|<=|>|<)\\s*(true|false|-?[\\d.]+|"[^"]*"|'[^']*')\\s*$`));
    const alone = condition.match(new RegExp(`^\\s*(!?)\\s*${name}\\s*$`));
    const called = (code: string) => { const field = fields.find((other) => other.name === code); return field ? labelOf(field) : code; };
    if (alone) return t('needed when “{field}” is {value}', { field: called(alone[2]!), value: alone[1] ? t('no') : t('yes') });
    if (!compared) return undefined;
    const value = compared[3]!;
    return t(OPERATORS[compared[2]!]!.word, { field: called(compared[1]!), value: value === 'true' ? t('yes') : value === 'false' ? t('no') : value.replace(/^["']|["']$/g, '') });
}

function noteOf(field: FormField, fields: FormField[]): string {
    const condition = field.requiredWhen ?? (typeof field.required === 'string' ? field.required : '');
    const type = field.enum ? undefined : TYPES[field.type];
    return [type ? t(type.word) : '', field.required === true ? '' : condition ? (neededWhen(condition, fields) ?? t('needed in some cases')) : t('optional')].filter(Boolean).join(', ');
}

/** `errors` are the server's words by field name. `plain`: a form is filled in as a form. `still`: it takes no focus. */
export function FormFields({ fields, values, change, errors = {}, plain, still, within = 'field-' }: { within?: string; fields: FormField[]; values: Values; change: (to: Values) => void; errors?: Record<string, string>; plain?: boolean; still?: boolean }) {
    const [mode, turn] = useState<'form' | 'json'>(fields.length === 0 ? 'json' : 'form');
    const [text, write] = useState('');
    const [broken, say] = useState('');
    const base = useId();
    return (
        <div className="formfields">
            {fields.length > 0 && !plain && (
                <div className="row modes"><Segments small label={t('How to fill it in')} value={mode} onChange={(to) => { if (broken) return; turn(to); write(JSON.stringify(values, null, 2)); }}
                    options={[{ value: 'form', label: t('Form') }, { value: 'json', label: 'JSON' }]} /></div>
            )}
            {mode === 'form' ? fields.map((field, i) => {
                const value = values[field.name];
                const error = value instanceof Unreadable ? t('This is no JSON yet: {why}', { why: value.why }) : errors[field.name];
                const errorId = `${base}-${field.name}`;
                return (
                    <Field key={field.name} id={`${within}${field.name}`} label={labelOf(field)} help={field.description} error={error} errorId={errorId} note={noteOf(field, fields)}>
                        <Control first={i === 0 && !still} id={`${within}${field.name}`} field={field} value={value} about={{ className: `inp ${error ? 'wrong' : ''}`, 'aria-invalid': error ? true : undefined, 'aria-describedby': error ? errorId : undefined }} change={(to) => {
                            const next = { ...values };
                            if (to === undefined) delete next[field.name];
                            else next[field.name] = to;
                            change(next);
                        }} />
                    </Field>
                );
            }) : (
                <Field label="JSON" id="field-json" error={broken}>
                    <textarea id="field-json" className="inp mono" rows={8} spellCheck={false} value={text || (fields.length === 0 && Object.keys(values).length === 0 ? '' : text)} placeholder="{ }" onChange={(event) => {
                        write(event.target.value);
                        try {
                            change(event.target.value.trim() === '' ? {} : (readJson(event.target.value) as Values));
                            say('');
                        } catch (error) {
                            // No values until it can be read: nothing that was there before is sent in its place.
                            say((error as Error).message);
                            change(new Unreadable(event.target.value, (error as Error).message) as unknown as Values);
                        }
                    }} />
                </Field>
            )}
        </div>
    );
}

/** The server's findings by the first word of their pointer behind `prefix`. */
export function errorsByField(errors: { pointer: string; message: string }[] | undefined, prefix: string): Record<string, string> {
    const result: Record<string, string> = {};
    for (const finding of errors ?? []) if (finding.pointer.startsWith(prefix)) result[finding.pointer.slice(prefix.length).split('/')[0] ?? ''] ??= finding.message;
    return result;
}
