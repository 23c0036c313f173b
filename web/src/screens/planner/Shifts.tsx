// Shifts.tsx - who works now, until when? The end of a shift gives back what its people have in hand.
import { useState } from 'react';
import { Bar } from '../../app/Shell';
import { leads, useMe } from '../../app/session';
import { post } from '../../lib/api';
import { Bones, Button, Dialog, Empty, Field, Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, when } from '../../lib/time';
import { sentenceOf } from './ActionDialog';
import { isOpen, type Shift, useFollowTasks, useInHand, usePeople, useShifts } from './tasks';
import '../screens.css';
import './planner.css';

export function EndShift({ shift, close, changed }: { shift: Shift; close: () => void; changed: () => void }) {
    const inHand = useInHand(true);
    const people = usePeople();
    const [note, write] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const given = (inHand.data ?? []).filter((task) => task.status !== 'submitted' && task.assigned_to && shift.members.includes(task.assigned_to));
    return (
        <Dialog title={t('End {name}?', { name: shift.name })} lead={inHand.data ? t('{n} task goes back to the pool. What is handed in stays.|{n} tasks go back to the pool. What is handed in stays.', { n: given.length }) : t('What its people have in hand goes back to the pool. What is handed in stays.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" onClick={() => post(`/shifts/${shift.id}/end`, note.trim() ? { handover_note: note.trim() } : {}).then(() => { close(); changed(); }, refuse)}>{t('End the shift')}</Button>
        </>}>
            {given.length > 0 && <ul className="given">{given.map((task) => <li key={task.id}><span className="m5">{task.title}</span> <span className="t3">{people.name(task.assigned_to)}</span></li>)}</ul>}
            <Field label={t('For whoever goes on')} note={t('optional')} id="handover" help={t('What is done, what is left, where the tools are.')}><textarea id="handover" className="inp" value={note} onChange={(event) => write(event.target.value)} /></Field>
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

function StartShift({ close, changed }: { close: () => void; changed: () => void }) {
    const people = usePeople();
    const executors = people.list.filter((person) => person.role === 'executor' && person.active);
    const [name, call] = useState('');
    const [ends, until] = useState('');
    const [members, choose] = useState<string[]>([]);
    const [error, refuse] = useState<unknown>(null);
    const toggle = (id: string) => choose((before) => (before.includes(id) ? before.filter((other) => other !== id) : [...before, id]));
    return (
        <Dialog title={t('Start a shift')} lead={t('At its end, by hand or by time, what its people have in hand goes back to the pool.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={name.trim() === ''} onClick={() => post('/shifts', { name: name.trim(), members, ...(ends ? { ends_at: new Date(ends).toISOString() } : {}) }).then(() => { close(); changed(); }, refuse)}>{name.trim() === '' ? t('A name is missing') : t('Start the shift')}</Button>
        </>}>
            <Field label={t('Name')} id="shift-name"><input id="shift-name" data-autofocus className="inp" value={name} onChange={(event) => call(event.target.value)} placeholder={t('Day shift')} /></Field>
            <Field label={t('Ends')} note={t('optional; by hand, if empty')} id="shift-ends"><input id="shift-ends" type="datetime-local" className="inp" value={ends} onChange={(event) => until(event.target.value)} /></Field>
            <div className="f"><span className="flabel row">{t('Who works')}<Button kind="link" onClick={() => choose(members.length === executors.length ? [] : executors.map((person) => person.id))}>{members.length === executors.length && executors.length > 0 ? t('nobody') : t('everybody')}</Button></span>
                <div className="picker">{executors.map((person) => <label key={person.id} className={members.includes(person.id) ? 'on' : ''}><input type="checkbox" className="box" checked={members.includes(person.id)} onChange={() => toggle(person.id)} /><span className="m5 cut">{person.name}</span><span className="t3 cut end">{person.specializations.join(', ')}</span></label>)}</div>
                {executors.length === 0 && <p className="t3">{t('There is nobody whose role is executor. Administrators make users under Settings.')}</p>}
            </div>
            <Refusal error={error} sentence={sentenceOf(error)} />
        </Dialog>
    );
}

export function Shifts() {
    const { me } = useMe();
    const found = useShifts();
    const people = usePeople();
    const again = useFollowTasks();
    const now = useNow(10000);
    const [starting, start] = useState(false);
    const [ending, end] = useState<Shift | null>(null);
    const shifts = found.data?.items ?? [];
    const changed = () => void again();
    const names = (shift: Shift) => shift.members.map((id) => people.name(id)).join(', ');
    return (
        <>
            <Bar title={t('Shifts')} busy={found.isLoading}>{leads(me) && shifts.length > 0 && <Button kind="ink" icon="plus" onClick={() => start(true)}>{t('Start a shift…')}</Button>}</Bar>
            <div className="scroll">
                {found.isLoading && <Bones rows={4} />}
                <Refusal error={found.error} />
                {found.data && shifts.length === 0 && <Empty title={t('No shift yet')} action={leads(me) ? <Button kind="ink" icon="plus" onClick={() => start(true)}>{t('Start a shift…')}</Button> : undefined}>{t('A shift says who works now. When it ends, what its people have in hand goes back to the pool, for the next ones.')}</Empty>}
                {shifts.length > 0 && <div className="thead shifts"><span>{t('Shift')}</span><span>{t('Who')}</span><span>{t('Began')}</span><span>{t('Ends')}</span><span /></div>}
                {shifts.map((shift) => (
                    <div key={shift.id} className="trow shifts">
                        <span className="row"><span className={`st ${isOpen(shift) ? 'ok' : 'none'} flat`}><i className={`dot ${isOpen(shift) ? 'on' : ''}`} /></span><b className="m5 cut">{shift.name}</b></span>
                        <span className="t2 cut" title={names(shift)}>{shift.members.length === 0 ? '–' : names(shift)}</span>
                        <span className="num t2">{when(shift.starts_at ?? shift.created_at, { now })}</span>
                        <span className="num t2">{shift.ended_at ? t('ended {when}, after {long}', { when: when(shift.ended_at, { now }), long: between(shift.starts_at ?? shift.created_at, shift.ended_at) }) : shift.ends_at ? <>{when(shift.ends_at, { now })} {Date.parse(shift.ends_at) > now && <span className="t3">{t('in {long}', { long: between(new Date(now).toISOString(), shift.ends_at) })}</span>}</> : t('by hand')}</span>
                        <span className="r">{isOpen(shift) && leads(me) && <Button small onClick={() => end(shift)}>{t('End shift…')}</Button>}</span>
                    </div>
                ))}
            </div>
            {starting && <StartShift close={() => start(false)} changed={changed} />}
            {ending && <EndShift shift={ending} close={() => end(null)} changed={changed} />}
        </>
    );
}
