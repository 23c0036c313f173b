// Dependencies.tsx - what a task waits for, and which ones wait for it, in three columns with this one in the middle.
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { leads, useMe } from '../../app/session';
import { all, call, post, remove } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { sentenceOf } from './ActionDialog';
import { LOOK, tradeIcon } from './look';
import type { Task } from './tasks';

type Name = (id: string | null | undefined) => string;
const SHOWN_MOST = 50;

function Node({ task, self, name, drop }: { task: Task; self?: boolean; name: Name; drop?: () => void }) {
    const look = LOOK[task.status];
    return (
        <div className={`dep ${self ? 'here' : ''} ${task.status === 'done' ? 'done' : ''}`}>
            <span className="sq"><Icon name={tradeIcon(task.required_trade)} /></span>
            <span className="grow cut">{self ? <span className="title cut">{task.title}</span> : <Link className="title cut" to="/tasks/$id" params={{ id: task.id }}>{task.title}</Link>}<span className="meta cut">{self ? t('this task') : `${t(look.word)}${task.assigned_to ? `, ${name(task.assigned_to)}` : ''}`}</span></span>
            <Glyph name={look.glyph} tone={look.tone} />
            {drop && <button type="button" className="more" aria-label={t('No longer wait for {title}', { title: task.title })} title={t('No longer wait for {title}', { title: task.title })} onClick={drop}><Icon name="x" small /></button>}
        </div>
    );
}

function Add({ task, close, changed }: { task: Task; close: () => void; changed: () => void }) {
    const found = useQuery({ queryKey: ['tasks', 'candidates'], queryFn: () => all<Task>('/tasks', 500) });
    const [id, choose] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const open = (found.data ?? []).filter((other) => other.id !== task.id && !task.depends_on.includes(other.id) && other.status !== 'done' && other.status !== 'canceled');
    return (
        <Dialog title={t('What must be done first?')} lead={t('This task is blocked until the other one is done. A circle is refused.')} onClose={close} actions={<><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" disabled={!id} onClick={() => post(`/tasks/${task.id}/dependencies`, { depends_on: id }).then(() => { close(); changed(); }, refuse)}>{t('Wait for it')}</Button></>}>
            <Field label={t('Task')} id="depends-on"><select id="depends-on" data-autofocus className="inp" value={id} onChange={(event) => choose(event.target.value)}><option value="">{t('Choose')}</option>{open.map((other) => <option key={other.id} value={other.id}>{other.project_id ? `${other.project_id}: ` : ''}{other.title}</option>)}</select></Field>
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

export function Dependencies({ task, name, changed }: { task: Task; name: Name; changed: () => void }) {
    const { me } = useMe();
    const [adding, add] = useState(false);
    const [error, refuse] = useState<unknown>(null);
    const before = useQueries({ queries: task.depends_on.slice(0, SHOWN_MOST).map((id) => ({ queryKey: ['tasks', 'one', id], queryFn: () => call<Task>(`/tasks/${id}`) })) }).flatMap((found) => found.data ?? []);
    // The server does not list what waits for a task: those that are blocked are looked through.
    const blocked = useQuery({ queryKey: ['tasks', 'blocked'], queryFn: () => all<Task>('/tasks?status=blocked', 500) });
    const after = (blocked.data ?? []).filter((other) => other.depends_on.includes(task.id));
    const mayChange = leads(me) && task.status !== 'done' && task.status !== 'canceled';
    if (before.length === 0 && after.length === 0 && !mayChange) return null;
    return (
        <section className="part"><h3>{t('Depends on, and is waited for')}{mayChange && <span className="end"><Button small kind="quiet" icon="plus" onClick={() => add(true)}>{t('Wait for…')}</Button></span>}</h3>
            {(before.length > 0 || after.length > 0) && (
                <div className="deps">
                    <div className="side">{before.map((other) => <Node key={other.id} task={other} name={name} drop={mayChange ? () => void remove(`/tasks/${task.id}/dependencies/${other.id}`).then(() => { refuse(null); changed(); }, refuse) : undefined} />)}{before.length === 0 && <p className="meta">{t('waits for nothing')}</p>}</div>
                    <Icon name="arrow" />
                    <div className="side"><Node task={task} self name={name} /></div>
                    <Icon name="arrow" />
                    <div className="side">{after.map((other) => <Node key={other.id} task={other} name={name} />)}{after.length === 0 && <p className="meta">{t('nothing waits for it')}</p>}</div>
                </div>
            )}
            {before.length === 0 && after.length === 0 && <p className="meta">{t('It waits for no other task, and none waits for it.')}</p>}
            <Refusal error={error} sentence={sentenceOf(error)} />
            {adding && <Add task={task} close={() => add(false)} changed={changed} />}
        </section>
    );
}
