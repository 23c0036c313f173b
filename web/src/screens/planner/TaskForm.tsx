// TaskForm.tsx - the fields of a task: for a new one, for parts of one, and to change one.
import { useState } from 'react';
import { patch, post } from '../../lib/api';
import { newId } from '../../lib/insecure';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { sentenceOf } from './ActionDialog';
import { type Task, usePeople } from './tasks';

interface Draft { title: string; project_id: string; description: string; required_trade: string; min_skill: string; priority: string; due_at: string }
const EMPTY: Draft = { title: '', project_id: '', description: '', required_trade: '', min_skill: '', priority: '', due_at: '' };

const pad = (n: number) => String(n).padStart(2, '0');
/** As the field of a date and a time has it: in the viewer's zone, without one. */
export const localTime = (time: string) => {
    const at = new Date(time);
    return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
};
const draftOf = (task: Task): Draft => ({ title: task.title, project_id: task.project_id ?? '', description: task.description ?? '', required_trade: task.required_trade ?? '', min_skill: task.min_skill ? String(task.min_skill) : '', priority: task.priority ? String(task.priority) : '', due_at: task.due_at ? localTime(task.due_at) : '' });
const bodyOf = (draft: Draft) => ({
    title: draft.title.trim(), project_id: draft.project_id.trim() || null, description: draft.description.trim() || null, required_trade: draft.required_trade.trim() || null,
    min_skill: Number(draft.min_skill) || 0, priority: Number(draft.priority) || 0, due_at: draft.due_at ? new Date(draft.due_at).toISOString() : null,
});

function Fields({ draft, change, projects }: { draft: Draft; change: (to: Draft) => void; projects: string[] }) {
    const people = usePeople();
    const trades = [...new Set(people.list.flatMap((person) => person.specializations))].sort();
    const set = (name: keyof Draft) => (event: { target: { value: string } }) => change({ ...draft, [name]: event.target.value });
    return (
        <>
            <Field label={t('Title')} id="task-title"><input id="task-title" data-autofocus className="inp" value={draft.title} onChange={set('title')} placeholder={t('what is to be done, and where')} /></Field>
            <Field label={t('Description')} note={t('optional')} id="task-description"><textarea id="task-description" className="inp" value={draft.description} onChange={set('description')} /></Field>
            <div className="two">
                <Field label={t('Project')} note={t('optional')} id="task-project"><input id="task-project" className="inp" list="task-projects" value={draft.project_id} onChange={set('project_id')} /></Field>
                <Field label={t('Trade')} note={t('any, if empty')} id="task-trade"><input id="task-trade" className="inp" list="task-trades" value={draft.required_trade} onChange={set('required_trade')} /></Field>
                <Field label={t('Least skill')} note={t('optional')} id="task-skill"><input id="task-skill" className="inp" inputMode="numeric" value={draft.min_skill} onChange={(event) => change({ ...draft, min_skill: event.target.value.replace(/\D/g, '') })} /></Field>
                <Field label={t('Priority')} note={t('larger comes first')} id="task-priority"><input id="task-priority" className="inp" inputMode="numeric" value={draft.priority} onChange={(event) => change({ ...draft, priority: event.target.value.replace(/(?!^-)\D/g, '') })} /></Field>
                <Field label={t('Due')} note={t('optional')} id="task-due"><input id="task-due" type="datetime-local" className="inp" value={draft.due_at} onChange={set('due_at')} /></Field>
            </div>
            <datalist id="task-projects">{projects.map((name) => <option key={name} value={name} />)}</datalist>
            <datalist id="task-trades">{trades.map((name) => <option key={name} value={name} />)}</datalist>
        </>
    );
}

export function NewTask({ project, projects, close, made }: { project: string | undefined; projects: string[]; close: () => void; made: (task: Task) => void }) {
    const [draft, change] = useState<Draft>({ ...EMPTY, project_id: project ?? '' });
    const [error, refuse] = useState<unknown>(null);
    return (
        <Dialog title={t('New task')} lead={t('It is in the pool at once, unless it must wait for another.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={draft.title.trim() === ''} onClick={() => post<Task>('/tasks', bodyOf(draft), { once: true }).then(made, refuse)}>{draft.title.trim() === '' ? t('Missing: {what}', { what: t('Title') }) : t('Make the task')}</Button>
        </>}>
            <Fields draft={draft} change={change} projects={projects} />
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

export function EditTask({ task, close, changed }: { task: Task; close: () => void; changed: () => void }) {
    const [draft, change] = useState<Draft>(() => draftOf(task));
    const [error, refuse] = useState<unknown>(null);
    return (
        <Dialog title={t('Change “{title}”', { title: task.title })} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={draft.title.trim() === ''} onClick={() => patch(`/tasks/${task.id}`, { ...bodyOf(draft), expected_row_version: task.row_version }).then(() => { close(); changed(); }, (why: unknown) => { refuse(why); changed(); })}>{t('Save')}</Button>
        </>}>
            <Fields draft={draft} change={change} projects={[]} />
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

export function SplitTask({ task, close, changed }: { task: Task; close: () => void; changed: () => void }) {
    const [lines, write] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [event] = useState(newId);
    const titles = lines.split('\n').map((line) => line.trim()).filter(Boolean);
    const inherited = { project_id: task.project_id, required_trade: task.required_trade, min_skill: task.min_skill, priority: task.priority };
    return (
        <Dialog title={t('Split “{title}”', { title: task.title })} lead={t('Each line becomes a task, of the same trade, skill and priority. This one waits until all of them are done; who works on it is free.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={titles.length === 0} onClick={() => post(`/tasks/${task.id}/split`, { client_event_id: event, expected_row_version: task.row_version, subtasks: titles.map((title) => ({ title, ...inherited })) }).then(() => { close(); changed(); }, (why: unknown) => { refuse(why); changed(); })}>{titles.length === 0 ? t('Missing: {what}', { what: t('Parts, one in a line') }) : t('Split into {n} task|Split into {n} tasks', { n: titles.length })}</Button>
        </>}>
            <Field label={t('Parts, one in a line')} id="split-lines"><textarea id="split-lines" data-autofocus rows={6} className="inp" value={lines} onChange={(e) => write(e.target.value)} /></Field>
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}
