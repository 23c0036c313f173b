// UserForm.tsx - who a user is and what the user may: for a new one, and to change one.
import { useState } from 'react';
import { patch, post, Problem } from '../../lib/api';
import { errorsByField } from '../../lib/form';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import type { Me } from '../../lib/types';

export interface User extends Me { active: boolean }

export const ROLES: Record<string, { help: string }> = {
    admin: { help: 'Makes definitions, users and credentials, and all that an operator may.' },
    operator: { help: 'Starts, signals, repairs and cancels executions, and reads everything.' },
    viewer: { help: 'Reads definitions and executions, changes nothing.' },
    member: { help: 'Answers what is asked in the own inbox, and sees nothing else.' },
    supervisor: { help: 'Leads the planner and sets its policy.' },
    lead: { help: 'Makes and assigns tasks, accepts work, ends shifts.' },
    executor: { help: 'Takes tasks from the pool, by trade and skill.' },
    worker: { help: 'A program that does jobs of external procedures, nothing else.' },
    system: { help: 'A program that acts in the planner for nobody in person.' },
};
export const isForWork = (role: string) => role === 'executor' || role === 'lead' || role === 'supervisor';
const asList = (text: string) => [...new Set(text.split(',').map((word) => word.trim()).filter(Boolean))];

/** Words with commas between; those that others have are offered, so that one group has one spelling. */
function WordList({ id, label, text, write, known, error }: { id: string; label: string; text: string; write: (to: string) => void; known: string[]; error?: string }) {
    const has = asList(text);
    const offered = known.filter((word) => !has.includes(word)).slice(0, 12);
    return (
        <Field label={label} note={t('optional, with commas between')} id={id} error={error}>
            <input id={id} className={`inp ${error ? 'wrong' : ''}`} autoComplete="off" value={text} onChange={(event) => write(event.target.value)} />
            {offered.length > 0 && <div className="offered">{offered.map((word) => <button key={word} type="button" className="tag" onClick={() => write([...has, word].join(', '))}>+ {word}</button>)}</div>}
        </Field>
    );
}

/** `user` is who is changed; without one a new one is made. `others` have the groups and trades that are known. */
export function UserForm({ user, others, close, done }: { user?: User; others: User[]; close: () => void; done: (user: User & { token?: string }) => void }) {
    const [name, call] = useState(user?.name ?? '');
    const [email, mail] = useState(user?.email ?? '');
    const [role, choose] = useState(user?.role ?? 'operator');
    const [groups, group] = useState((user?.groups ?? []).join(', '));
    const [trades, trade] = useState((user?.specializations ?? []).join(', '));
    const [skill, rate] = useState(user?.skill_level == null ? '' : String(user.skill_level));
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const errors = error instanceof Problem ? errorsByField(error.body.errors, '/') : {};
    const known = (of: (other: User) => string[]) => [...new Set(others.flatMap(of))].sort();
    const save = () => {
        const body = {
            name: name.trim(), role, groups: asList(groups), ...(user || email.trim() ? { email: email.trim() || null } : {}),
            ...(isForWork(role) ? { specializations: asList(trades), ...(user || skill ? { skill_level: skill === '' ? null : Number(skill) } : {}) } : {}),
        };
        work(true);
        (user ? patch<User>(`/users/${user.id}`, body) : post<User & { token?: string }>('/users', body)).then(done, refuse).finally(() => work(false));
    };
    return (
        <Dialog title={user ? t('What {name} may', { name: user.name }) : t('New user')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={busy || name.trim() === ''} onClick={save}>{name.trim() === '' ? t('A name is missing') : user ? t('Save') : t('Make the user')}</Button>
        </>}>
            <div className="two">
                <Field label={t('Name')} id="user-name" error={errors.name}><input id="user-name" data-autofocus className="inp" autoComplete="off" value={name} onChange={(event) => call(event.target.value)} /></Field>
                <Field label={t('E-mail')} note={t('optional')} id="user-mail" error={errors.email}><input id="user-mail" className="inp" type="email" autoComplete="off" value={email} onChange={(event) => mail(event.target.value)} /></Field>
            </div>
            <Field label={t('Role')} id="user-role" help={ROLES[role] ? t(ROLES[role].help) : undefined} error={errors.role}><select id="user-role" className="inp" value={role} onChange={(event) => choose(event.target.value as typeof role)}>{Object.keys(ROLES).map((r) => <option key={r} value={r}>{t(r)}</option>)}</select></Field>
            <WordList id="user-groups" label={t('Groups')} text={groups} write={group} known={known((other) => other.groups)} error={errors.groups} />
            {isForWork(role) && <>
                <WordList id="user-trades" label={t('Trades')} text={trades} write={trade} known={known((other) => other.specializations)} error={errors.specializations} />
                <Field label={t('Skill')} note={t('a number, optional')} id="user-skill" error={errors.skill_level}><input id="user-skill" className="inp short" inputMode="numeric" value={skill} onChange={(event) => rate(event.target.value.replace(/\D/g, ''))} /></Field>
            </>}
            <Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} />
        </Dialog>
    );
}
