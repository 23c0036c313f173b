// Around.tsx - what stands around a task: who takes part, holds, defects with their fixes, comments.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { leads, useMe } from '../../app/session';
import { call, type Page, post, remove } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Button, Dialog, Field, Refusal, Segments } from '../../lib/parts';
import { t } from '../../lib/text';
import { when } from '../../lib/time';
import { sentenceOf } from './ActionDialog';
import { LOOK } from './look';
import type { Comment, Defect, Hold, Task, usePeople } from './tasks';

type Name = (id: string | null | undefined) => string;
const isClosed = (task: Task) => task.status === 'done' || task.status === 'canceled';

export function PeopleOf({ task, people, changed }: { task: Task; people: ReturnType<typeof usePeople>; changed: () => void }) {
    const { me } = useMe();
    const [inviting, invite] = useState(false);
    const [whom, choose] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const mayInvite = task.assigned_to !== null && !isClosed(task) && (leads(me) || task.assigned_to === me.id);
    const others = people.list.filter((person) => person.role === 'executor' && person.active && person.id !== task.assigned_to && !task.contributors.includes(person.id));
    const person = people.byId.get(task.assigned_to ?? '');
    return (
        <div className="sect"><h3>{t('People')}{mayInvite && <span className="end"><Button small kind="quiet" icon="plus" onClick={() => { refuse(null); invite(true); }}>{t('Invite…')}</Button></span>}</h3>
            {task.assigned_to ? <div className="line"><span className="ava" aria-hidden="true">{people.name(task.assigned_to).slice(0, 1)}</span><span className="m5">{people.name(task.assigned_to)}</span><span className="meta end">{t('owner')}{person?.skill_level != null ? ` · ${t('skill {n}', { n: person.skill_level })}` : ''}</span></div> : <p className="t3">{t('nobody has it')}</p>}
            {task.contributors.map((id) => <div key={id} className="line"><span className="ava" aria-hidden="true">{people.name(id).slice(0, 1)}</span><span>{people.name(id)}</span><span className="meta end">{t('helps')}</span>{(leads(me) || me.id === id || task.assigned_to === me.id) && <Button small kind="quiet" square icon="x" aria-label={t('{name} no longer helps', { name: people.name(id) })} onClick={() => void remove(`/tasks/${task.id}/contributors/${id}`).then(() => { refuse(null); changed(); }, refuse)} />}</div>)}
            {!inviting && <Refusal error={error} sentence={sentenceOf(error)} />}
            {inviting && <Dialog title={t('Who helps with “{title}”?', { title: task.title })} lead={t('Helpers can ask for help for it; they never move the task.')} onClose={() => invite(false)} actions={<><Button kind="quiet" onClick={() => invite(false)}>{t('Go back')}</Button><Button kind="ink" disabled={!whom} onClick={() => void post(`/tasks/${task.id}/contributors`, { user_id: whom }).then(() => { invite(false); changed(); }, refuse)}>{t('Invite')}</Button></>}>
                <Field label={t('Who')} id="invite"><select id="invite" data-autofocus className="inp" value={whom} onChange={(event) => choose(event.target.value)}><option value="">{t('Choose')}</option>{others.map((other) => <option key={other.id} value={other.id}>{other.name}{other.specializations.length ? ` · ${other.specializations.join(', ')}` : ''}</option>)}</select></Field>
                <Refusal error={error} sentence={sentenceOf(error)} />
            </Dialog>}
        </div>
    );
}

function NewHold({ task, close, changed }: { task: Task; close: () => void; changed: () => void }) {
    const [type, choose] = useState<'material' | 'area' | 'manual'>('material');
    const [reason, write] = useState('');
    const [until, end] = useState('');
    const [error, refuse] = useState<unknown>(null);
    return (
        <Dialog title={t('Hold “{title}”', { title: task.title })} lead={t('It cannot be taken until the hold ends.')} onClose={close} actions={<><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" onClick={() => void post(`/tasks/${task.id}/holds`, { type, ...(reason.trim() ? { reason: reason.trim() } : {}), ...(until ? { until: new Date(until).toISOString() } : {}) }).then(() => { close(); changed(); }, refuse)}>{t('Hold it')}</Button></>}>
            <Field label={t('What is missing')}><Segments label={t('What is missing')} value={type} onChange={choose} options={[{ value: 'material', label: t('material') }, { value: 'area', label: t('area') }, { value: 'manual', label: t('something else') }]} /></Field>
            <Field label={t('Reason')} note={t('optional')} id="hold-reason"><input id="hold-reason" data-autofocus className="inp" value={reason} onChange={(event) => write(event.target.value)} /></Field>
            <Field label={t('Until')} note={t('optional; by hand, if empty')} id="hold-until"><input id="hold-until" type="datetime-local" className="inp" value={until} onChange={(event) => end(event.target.value)} /></Field>
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

export function HoldList({ task, name, changed }: { task: Task; name: Name; changed: () => void }) {
    const { me } = useMe();
    const [adding, add] = useState(false);
    const [error, refuse] = useState<unknown>(null);
    const found = useQuery({ queryKey: ['tasks', 'holds', task.id], queryFn: () => call<Page<Hold>>(`/tasks/${task.id}/holds?limit=50`) });
    const holds = found.data?.items ?? [];
    const word: Record<string, string> = { material: t('material'), area: t('area'), manual: t('something else') };
    return (
        <div className="sect"><h3>{t('Holds')}{task.open_holds === 0 && <span className="t3">{t('none now')}</span>}{leads(me) && !isClosed(task) && <span className="end"><Button small kind="quiet" icon="plus" onClick={() => add(true)}>{t('Hold…')}</Button></span>}</h3>
            {holds.map((hold) => (
                <div key={hold.id} className="line top"><Icon name="hold" small /><span className={`grow ${hold.released_at ? 't3' : ''}`}>{word[hold.type] ?? hold.type}{hold.reason ? `: ${hold.reason}` : ''}<span className="meta block">{hold.released_at ? t('ended {when}', { when: when(hold.released_at) }) : hold.until ? t('until {when}', { when: when(hold.until) }) : t('since {when}', { when: when(hold.created_at) })}{hold.created_by ? ` · ${name(hold.created_by)}` : ''}</span></span>
                    {!hold.released_at && leads(me) && <Button small onClick={() => void remove(`/tasks/${task.id}/holds/${hold.id}`).then(() => { refuse(null); changed(); }, refuse)}>{t('End it')}</Button>}</div>
            ))}
            <Refusal error={error ?? found.error} />
            {adding && <NewHold task={task} close={() => add(false)} changed={changed} />}
        </div>
    );
}

function FixOf({ id, name }: { id: string; name: Name }) {
    const found = useQuery({ queryKey: ['tasks', 'one', id], queryFn: () => call<Task>(`/tasks/${id}`) });
    if (!found.data) return null;
    const look = LOOK[found.data.status];
    return <span className="grow cut"><span className="row"><Icon name="wrench" small /><Link className="cut" to="/tasks/$id" params={{ id }}>{found.data.title}</Link><span className={`st flat ${look.tone}`}><Glyph name={look.glyph} tone={look.tone} />{t(look.word)}</span></span>{found.data.assigned_to && <span className="meta">{name(found.data.assigned_to)}</span>}</span>;
}

/** `fix`: the defect comes with a task that fixes it. */
function DefectDialog({ task, close, changed }: { task: Task; close: () => void; changed: () => void }) {
    const { me } = useMe();
    const mayFix = leads(me) && (task.status === 'submitted' || task.status === 'done');
    const [description, write] = useState('');
    const [what, say] = useState('');
    const [fix, make] = useState(mayFix);
    const [error, refuse] = useState<unknown>(null);
    return (
        <Dialog title={t('What is wrong with “{title}”?', { title: task.title })} lead={t('Reporting a defect moves nothing.')} onClose={close} actions={<><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" disabled={description.trim() === ''} onClick={() => void post(`/tasks/${task.id}/${fix ? 'fixes' : 'report-defect'}`, { description: description.trim(), ...(what.trim() ? { what_to_fix: what.trim() } : {}) }).then(() => { close(); changed(); }, refuse)}>{fix ? t('Report it and make a fix') : t('Report the defect')}</Button></>}>
            <Field label={t('What is wrong')} id="defect-new"><textarea id="defect-new" data-autofocus className="inp" value={description} onChange={(event) => write(event.target.value)} /></Field>
            <Field label={t('What to do about it')} note={t('optional')} id="defect-todo"><input id="defect-todo" className="inp" value={what} onChange={(event) => say(event.target.value)} /></Field>
            {mayFix && <label className="row"><input type="checkbox" className="box" checked={fix} onChange={(event) => make(event.target.checked)} />{t('Make a task that fixes it')}</label>}
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

export function DefectList({ task, name, changed }: { task: Task; name: Name; changed: () => void }) {
    const [adding, add] = useState(false);
    const found = useQuery({ queryKey: ['tasks', 'defects', task.id], queryFn: () => call<Page<Defect>>(`/tasks/${task.id}/defects?limit=50`) });
    const defects = found.data?.items ?? [];
    return (
        <section className="part"><h3>{t('Defects and their fixes')}{defects.length > 0 && <span className="num t3">{defects.length}</span>}<span className="end"><Button small kind="quiet" icon="plus" onClick={() => add(true)}>{t('Report a defect…')}</Button></span></h3>
            {defects.map((defect) => (
                <div key={defect.id} className="defect">
                    <Icon name="warn" small className={defect.status === 'fixed' ? 'c-none' : 'c-bad'} />
                    <span className="grow"><span className="m5">{defect.description}</span>{defect.what_to_fix && <span className="t2 block">{defect.what_to_fix}</span>}<span className="meta block">{t('found by {name}, {when}', { name: name(defect.reported_by), when: when(defect.created_at) })}</span></span>
                    {defect.fix_task_id && <><Icon name="arrow" small /><FixOf id={defect.fix_task_id} name={name} /></>}
                    {defect.how_fixed && <span className="t2 grow">“{defect.how_fixed}”</span>}
                </div>
            ))}
            {found.data && defects.length === 0 && <p className="meta">{t('none')}</p>}
            <Refusal error={found.error} />
            {adding && <DefectDialog task={task} close={() => add(false)} changed={changed} />}
        </section>
    );
}

export function Comments({ task, name, now }: { task: Task; name: Name; now: number }) {
    const [text, write] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const found = useQuery({ queryKey: ['tasks', 'comments', task.id], queryFn: () => call<Page<Comment>>(`/tasks/${task.id}/comments?limit=100`) });
    const send = () => void post(`/tasks/${task.id}/comments`, { body: text.trim() }).then(() => { write(''); refuse(null); void found.refetch(); }, refuse);
    return (
        <div className="sect"><h3>{t('Comments')}<span className="num t3">{found.data?.items.length || ''}</span></h3>
            {(found.data?.items ?? []).map((comment) => <div key={comment.id} className="comment"><span className="ava" aria-hidden="true">{name(comment.created_by).slice(0, 1)}</span><span><span className="m5">{name(comment.created_by)}</span> <span className="meta num">{when(comment.created_at, { now })}</span><span className="block t2">{comment.body}</span></span></div>)}
            <textarea className="inp small" aria-label={t('Your comment')} placeholder={t('Your comment')} value={text} onChange={(event) => write(event.target.value)} />
            {text.trim() !== '' && <div className="row"><span className="end"><Button onClick={send}>{t('Add the comment')}</Button></span></div>}
            <Refusal error={error ?? found.error} />
        </div>
    );
}
