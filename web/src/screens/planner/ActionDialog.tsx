// ActionDialog.tsx - doing something with a task: at once when nothing is asked, else after a form; refusals in the server's own words.
import { useCallback, useState } from 'react';
import { Problem, post } from '../../lib/api';
import { errorsByField, FormFields, type Values, withDefaults } from '../../lib/form';
import { newId } from '../../lib/insecure';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { ACTIONS, type ActionField, ESCALATIONS, fieldsOf } from './actions';
import { type Person, type Task, useInHand, usePeople } from './tasks';

export type Payload = Record<string, unknown>;
export interface Moved { task: Task }

/** One event id for one intention: pressed again after no answer, it is the same event. */
export const move = (task: Task, action: string, payload: Payload, event: string) =>
    post<Moved>(`/tasks/${task.id}/transitions`, { action, client_event_id: event, expected_row_version: task.row_version, payload });

export const sentenceOf = (error: unknown) => (error instanceof Problem && error.status === 409 ? t('It has gone on in the meantime. Nothing was changed.') : error ? t('Nothing was changed.') : undefined);

/** Act on a task: `begin` opens what must be asked, or does it; `open` is the dialog to draw. */
export function useTaskActions(changed: () => void, moved: (action: string) => void = () => undefined) {
    const [open, show] = useState<{ task: Task; action: string } | null>(null);
    const [error, refuse] = useState<{ task: Task; why: unknown } | null>(null);
    const begin = useCallback((task: Task, action: string) => {
        refuse(null);
        if (fieldsOf(action, task).length > 0) return show({ task, action });
        void move(task, action, {}, newId()).then(() => { changed(); moved(action); }, (why: unknown) => { refuse({ task, why }); changed(); });
    }, [changed, moved]);
    const dialog = open && <ActionDialog key={open.task.id + open.action} task={open.task} action={open.action} close={() => show(null)} changed={changed} />;
    return { begin, dialog, error, clear: () => refuse(null) };
}

function fits(person: Person, task: Task) {
    if (task.required_trade && !person.specializations.includes(task.required_trade)) return t('another trade');
    if ((person.skill_level ?? 0) < task.min_skill) return t('less than {n}', { n: task.min_skill });
    return '';
}

/** Those who are free and fit come first; the others say why not. */
export function PersonPicker({ task, value, choose, id }: { task: Task; value: string; choose: (id: string) => void; id: string }) {
    const people = usePeople();
    const inHand = useInHand(true);
    if (inHand.isLoading || people.list.length === 0) return <p className="t3">{t('looking…')}</p>;
    const busy = new Map((inHand.data ?? []).map((other) => [other.assigned_to, other.title]));
    const executors = people.list.filter((person) => person.role === 'executor' && person.active && person.id !== task.assigned_to)
        .map((person) => ({ person, has: busy.get(person.id), why: fits(person, task) }))
        .sort((a, b) => Number(Boolean(a.has)) - Number(Boolean(b.has)) || Number(a.why !== '') - Number(b.why !== '') || a.person.name.localeCompare(b.person.name));
    if (executors.length === 0) return <p className="t3">{t('There is nobody else whose role is executor.')}</p>;
    return (
        <div className="picker" role="radiogroup" aria-labelledby={`${id}-label`}>
            {executors.map(({ person, has, why }) => (
                <button key={person.id} type="button" role="radio" aria-checked={value === person.id} disabled={Boolean(has)} className={value === person.id ? 'on' : ''} onClick={() => choose(person.id)}>
                    <span className="ava" aria-hidden="true">{person.name.slice(0, 1)}</span>
                    <span className="m5 cut">{person.name}</span>
                    <span className="t3 cut end">{has ? t('has “{title}”', { title: has }) : [person.specializations.join(', '), t('skill {n}', { n: person.skill_level ?? 0 })].filter(Boolean).join(' · ')}{!has && why && <span className="c-held"> · {why}</span>}</span>
                </button>
            ))}
        </div>
    );
}

const asPayload = (fields: ActionField[], values: Payload): Payload => {
    const payload: Payload = {};
    for (const field of fields) {
        // The answers of a form are the payload itself.
        if (field.kind === 'form') Object.assign(payload, values.form as Values | undefined);
        if (field.kind === 'form') continue;
        const value = values[field.name];
        if (value === undefined || value === '') continue;
        payload[field.name] = typeof value === 'string' ? value.trim() : value;
    }
    if (payload.defect) payload.create_fix = values.create_fix === true;
    return payload;
};

function ActionDialog({ task, action, close, changed }: { task: Task; action: string; close: () => void; changed: () => void }) {
    const known = ACTIONS[action]!;
    const fields = fieldsOf(action, task);
    const [values, fill] = useState<Payload>(() => (task.form?.length ? { form: withDefaults(task.form) } : {}));
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const [event] = useState(newId);
    const set = (name: string, value: unknown) => fill((before) => ({ ...before, [name]: value }));
    const defect = values.defect as { description: string; what_to_fix?: string } | undefined;
    const lacking = fields.find((field) => field.required && !(typeof values[field.name] === 'string' && (values[field.name] as string).trim() !== '')) ?? (defect && defect.description.trim() === '' ? fields.find((field) => field.kind === 'defect') : undefined);
    const run = () => {
        work(true);
        refuse(null);
        move(task, action, asPayload(fields, values), event).then(() => { close(); changed(); }, (why: unknown) => { refuse(why); changed(); }).finally(() => work(false));
    };
    return (
        <Dialog title={t(known.title, { title: task.title })} lead={t(known.means)} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind={known.bad ? 'bad solid' : 'ink'} disabled={busy || lacking !== undefined} onClick={run}>{lacking ? t('Missing: {what}', { what: t(lacking.label) }) : t(known.verb)}</Button>
        </>}>
            {fields.map((field, i) => (
                <div key={field.name} className="f">
                    {field.kind === 'form' ? (
                        <FormFields plain fields={task.form ?? []} values={(values.form as Values | undefined) ?? {}} change={(to) => set('form', to)} errors={error instanceof Problem ? errorsByField(error.body.errors, '/payload/') : {}} />
                    ) : field.kind === 'defect' ? (
                        <>
                            <label className="row"><input type="checkbox" className="box" checked={defect !== undefined} onChange={(e) => set('defect', e.target.checked ? { description: typeof values.reason === 'string' ? values.reason : '' } : undefined)} />{t('Write down what is wrong, as a defect')}</label>
                            {defect && <div className="within">
                                <Field label={t(field.label)} id="defect-description"><textarea id="defect-description" className="inp" value={defect.description} onChange={(e) => set('defect', { ...defect, description: e.target.value })} /></Field>
                                <Field label={t('What to do about it')} note={t('optional')} id="defect-fix"><input id="defect-fix" className="inp" value={defect.what_to_fix ?? ''} onChange={(e) => set('defect', { ...defect, what_to_fix: e.target.value || undefined })} /></Field>
                                <label className="row"><input type="checkbox" className="box" checked={values.create_fix === true} onChange={(e) => set('create_fix', e.target.checked)} />{t('Make a task that fixes it')}</label>
                            </div>}
                        </>
                    ) : (
                        <>
                            <label id={`field-${field.name}-label`} htmlFor={field.kind === 'person' || field.kind === 'kind' ? undefined : `field-${field.name}`}>{t(field.label)}{!field.required && <span className="t3">{t('optional')}</span>}</label>
                            {field.kind === 'person' && <PersonPicker id={`field-${field.name}`} task={task} value={String(values[field.name] ?? '')} choose={(id) => set(field.name, id)} />}
                            {field.kind === 'kind' && <div className="chips" role="radiogroup" aria-labelledby={`field-${field.name}-label`}>{ESCALATIONS.map((kind) => <button key={kind} type="button" role="radio" aria-checked={values.kind === kind} className={values.kind === kind ? 'on' : ''} onClick={() => set('kind', kind)}>{t(kind)}</button>)}</div>}
                            {field.kind === 'text' && <input id={`field-${field.name}`} data-autofocus={i === 0 || undefined} className="inp" value={String(values[field.name] ?? '')} onChange={(e) => set(field.name, e.target.value)} />}
                            {field.kind === 'long' && <textarea id={`field-${field.name}`} data-autofocus={i === 0 || undefined} className="inp" value={String(values[field.name] ?? '')} onChange={(e) => set(field.name, e.target.value)} />}
                            {field.help && <div className="help">{t(field.help)}</div>}
                        </>
                    )}
                </div>
            ))}
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}
