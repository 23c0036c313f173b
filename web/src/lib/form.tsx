// form.tsx - a form made from a list of fields, as `input` of a definition and `form` of a wait have them; or the JSON of it.
import { useState } from 'react';
import { Field, Segments } from './parts';
import { nameOf } from './steps';
import { t } from './text';
import type { FormField } from './types';

export type Values = Record<string, unknown>;

const STRUCTURED = new Set(['object', 'array', 'any', 'json']);

function readText(field: FormField, text: string): unknown {
    if (text === '') return undefined;
    if (field.type === 'integer' || field.type === 'number' || field.type === 'decimal' || field.type === 'double') {
        const n = Number(text);
        return Number.isFinite(n) ? n : text;
    }
    return text;
}

function Control({ field, value, change, id, first }: { field: FormField; value: unknown; change: (to: unknown) => void; id: string; first: boolean }) {
    const [draft, write] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
    const [broken, say] = useState(false);
    if (field.enum) return (
        <select id={id} className="inp" value={value === undefined ? '' : String(value)} onChange={(event) => change(field.enum!.find((option) => String(option) === event.target.value))}>
            <option value="">{t('Choose')}</option>
            {field.enum.map((option) => <option key={String(option)} value={String(option)}>{String(option)}</option>)}
        </select>
    );
    if (field.type === 'boolean') return (
        <Segments label={field.label ?? field.name} value={value === true ? 'yes' : value === false ? 'no' : ''} onChange={(to) => change(to === 'yes')}
            options={[{ value: 'yes' as string, label: t('yes') }, { value: 'no', label: t('no') }]} />
    );
    if (STRUCTURED.has(field.type)) return (
        <textarea id={id} className={`inp mono ${broken ? 'wrong' : ''}`} spellCheck={false} value={draft} placeholder={field.type === 'array' ? '[ ]' : '{ }'} onChange={(event) => {
            write(event.target.value);
            try {
                change(event.target.value.trim() === '' ? undefined : JSON.parse(event.target.value));
                say(false);
            } catch {
                say(true);
            }
        }} />
    );
    return (
        <input id={id} autoFocus={first} className="inp" type={field.sensitive ? 'password' : field.type === 'date' ? 'date' : 'text'} autoComplete="off"
            inputMode={field.type === 'integer' ? 'numeric' : field.type === 'number' ? 'decimal' : undefined}
            value={value === undefined ? '' : String(value)} onChange={(event) => change(readText(field, event.target.value))} />
    );
}

/** `errors` are the server's words by field name. `plain`: a form is filled in as a form. */
export function FormFields({ fields, values, change, errors = {}, plain }: { fields: FormField[]; values: Values; change: (to: Values) => void; errors?: Record<string, string>; plain?: boolean }) {
    const [mode, turn] = useState<'form' | 'json'>(fields.length === 0 ? 'json' : 'form');
    const [text, write] = useState('');
    const [broken, say] = useState('');
    return (
        <div className="formfields">
            {fields.length > 0 && !plain && (
                <div className="row modes"><Segments small label={t('How to fill it in')} value={mode} onChange={(to) => { turn(to); write(JSON.stringify(values, null, 2)); say(''); }}
                    options={[{ value: 'form', label: t('Form') }, { value: 'json', label: 'JSON' }]} /></div>
            )}
            {mode === 'form' ? fields.map((field, i) => (
                <Field key={field.name} id={`field-${field.name}`} label={field.label ?? nameOf({ code: field.name })} help={field.description} error={errors[field.name]}
                    note={[field.type === 'string' || field.type === 'boolean' ? '' : field.type, field.required ? '' : t('optional')].filter(Boolean).join(', ')}>
                    <Control first={i === 0} id={`field-${field.name}`} field={field} value={values[field.name]} change={(to) => {
                        const next = { ...values };
                        if (to === undefined) delete next[field.name];
                        else next[field.name] = to;
                        change(next);
                    }} />
                </Field>
            )) : (
                <Field label="JSON" id="field-json" error={broken}>
                    <textarea id="field-json" className="inp mono" rows={8} spellCheck={false} value={text || (fields.length === 0 && Object.keys(values).length === 0 ? '' : text)} placeholder="{ }" onChange={(event) => {
                        write(event.target.value);
                        try {
                            change(event.target.value.trim() === '' ? {} : (JSON.parse(event.target.value) as Values));
                            say('');
                        } catch (error) {
                            say(String((error as Error).message));
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
    for (const finding of errors ?? []) if (finding.pointer.startsWith(prefix)) result[finding.pointer.slice(prefix.length).split('/')[0] ?? ''] = finding.message;
    return result;
}
