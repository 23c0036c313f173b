// Users.tsx - who may come in, and where is the new token?
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { all, call, type Page, patch, post, remove } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { copyText } from '../../lib/insecure';
import { Bones, Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { shortly, when } from '../../lib/time';
import type { Me } from '../../lib/types';
import { SettingsFrame } from './Settings';
import '../screens.css';

interface Token { id: string; name?: string | null; createdAt: string; lastUsedAt: string | null; expiresAt: string | null; revokedAt?: string | null }
const ROLES = ['admin', 'operator', 'viewer', 'member', 'supervisor', 'lead', 'executor'];

const isForWork = (role: string) => role === 'executor' || role === 'lead' || role === 'supervisor';
const asList = (text: string) => text.split(',').map((word) => word.trim()).filter(Boolean);

/** What a user may and can: for a new one, and to change one. */
function Ability({ role, choose, groups, group, trades, trade, skill, rate }: { role: string; choose: (to: string) => void; groups: string; group: (to: string) => void; trades: string; trade: (to: string) => void; skill: string; rate: (to: string) => void }) {
    return (
        <>
            <Field label={t('Role')} id="user-role"><select id="user-role" className="inp" value={role} onChange={(event) => choose(event.target.value)}>{ROLES.map((r) => <option key={r} value={r}>{t(r)}</option>)}</select></Field>
            <Field label={t('Groups')} note={t('optional, with commas between')} id="user-groups"><input id="user-groups" className="inp" value={groups} onChange={(event) => group(event.target.value)} /></Field>
            {isForWork(role) && <>
                <Field label={t('Trades')} note={t('optional, with commas between')} id="user-trades"><input id="user-trades" className="inp" value={trades} onChange={(event) => trade(event.target.value)} /></Field>
                <Field label={t('Skill')} note={t('a number')} id="user-skill"><input id="user-skill" className="inp" inputMode="numeric" value={skill} onChange={(event) => rate(event.target.value.replace(/\D/g, ''))} /></Field>
            </>}
        </>
    );
}

function EditUser({ user, close, changed }: { user: Me; close: () => void; changed: () => void }) {
    const [role, choose] = useState(user.role);
    const [groups, group] = useState(user.groups.join(', '));
    const [trades, trade] = useState(user.specializations.join(', '));
    const [skill, rate] = useState(user.skill_level === null ? '' : String(user.skill_level));
    const [error, refuse] = useState<unknown>(null);
    const save = () => void patch(`/users/${user.id}`, { ...(role === user.role ? {} : { role }), groups: asList(groups), ...(isForWork(role) ? { specializations: asList(trades), skill_level: skill === '' ? null : Number(skill) } : {}) }).then(() => { changed(); close(); }, refuse);
    return (
        <Dialog title={t('What {name} may', { name: user.name })} onClose={close} actions={<><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" onClick={save}>{t('Save')}</Button></>}>
            <Ability {...{ role, choose, groups, group, trades, trade, skill, rate }} />
            <Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} />
        </Dialog>
    );
}

function Shown({ token, name, close }: { token: string; name: string; close: () => void }) {
    const [put, away] = useState(false);
    const [copied, say] = useState(false);
    return (
        <Dialog title={t('Token for {name}', { name })} lead={t('Copy it now: it is shown this once. Only its hash is kept, nobody can read it again.')} onClose={() => { if (put) close(); }} actions={<>
            <label className="row grow"><input type="checkbox" className="box" checked={put} onChange={(event) => away(event.target.checked)} />{t('I have put it away')}</label>
            <Button disabled={!put} onClick={close}>{put ? t('Close') : t('Close once it is put away')}</Button>
        </>}>
            <div className="token"><code className="cut">{token}</code><Button kind="ink" icon={copied ? 'check' : 'copy'} onClick={() => void copyText(token).then(() => say(true))}>{copied ? t('Copied') : t('Copy')}</Button></div>
        </Dialog>
    );
}

function UserPanel({ user, close }: { user: Me; close: () => void }) {
    const client = useQueryClient();
    const [made, make] = useState<string | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const [revoking, revoke] = useState<Token | null>(null);
    const [editing, edit] = useState(false);
    const tokens = useQuery({ queryKey: ['tokens', user.id], queryFn: () => call<Page<Token>>(`/users/${user.id}/tokens?limit=50`) });
    const again = () => void client.invalidateQueries({ queryKey: ['tokens', user.id] });
    return (
        <aside className="side" aria-label={user.name}>
            <div className="sidehead"><div className="row"><span className="ava">{user.name.slice(0, 1)}</span><b className="cut">{user.name}</b><span className="tag">{t(user.role)}</span><span className="end"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div></div>
            <div className="sect"><h3>{t('What {name} may', { name: user.name })}<span className="end"><Button small onClick={() => edit(true)}>{t('Change…')}</Button></span></h3>
                <dl className="kv"><dt>{t('Role')}</dt><dd>{t(user.role)}</dd><dt>{t('Groups')}</dt><dd>{user.groups.join(', ') || '–'}</dd>{isForWork(user.role) && <><dt>{t('Trades')}</dt><dd>{user.specializations.join(', ') || '–'}</dd><dt>{t('Skill')}</dt><dd className="num">{user.skill_level ?? '–'}</dd></>}</dl>
                {editing && <EditUser user={user} close={() => edit(false)} changed={() => void client.invalidateQueries({ queryKey: ['users'] })} />}
            </div>
            <div className="sect"><h3>{t('Tokens')}<span className="end"><Button small icon="plus" onClick={() => post<{ token: string }>(`/users/${user.id}/tokens`, {}).then((got) => { make(got.token); again(); }, refuse)}>{t('New token…')}</Button></span></h3>
                {(tokens.data?.items ?? []).map((token) => <div key={token.id} className="line"><Icon name="key" /><span className="grow cut">{token.name ?? `…${token.id.slice(-8)}`}<br /><span className="meta">{t('made {when}', { when: shortly(token.createdAt) })}, {token.lastUsedAt ? t('last used {when}', { when: when(token.lastUsedAt) }) : t('never used')}{token.expiresAt ? `, ${t('ends {when}', { when: shortly(token.expiresAt) })}` : ''}</span></span><Button small kind="bad" onClick={() => revoke(token)}>{t('Revoke…')}</Button></div>)}
                {tokens.data?.items.length === 0 && <p className="t3">{t('none')}</p>}
                <Refusal error={error ?? tokens.error} sentence={error ? t('Nothing was changed.') : undefined} />
            </div>
            {made && <Shown token={made} name={user.name} close={() => make(null)} />}
            {revoking && <Dialog title={t('Revoke this token?')} lead={t('Who uses it is signed out at once, browsers too.')} onClose={() => revoke(null)} actions={<><Button kind="quiet" onClick={() => revoke(null)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => { const { id } = revoking; revoke(null); void remove(`/tokens/${id}`).then(again, refuse); }}>{t('Revoke it')}</Button></>} />}
        </aside>
    );
}

function NewUser({ close, made }: { close: () => void; made: (user: Me & { token?: string }) => void }) {
    const [name, call_] = useState('');
    const [email, mail] = useState('');
    const [role, choose] = useState('operator');
    const [groups, group] = useState('');
    const [trades, trade] = useState('');
    const [skill, rate] = useState('');
    const [error, refuse] = useState<unknown>(null);
    return (
        <Dialog title={t('New user')} onClose={close} actions={<><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" disabled={name.trim() === ''} onClick={() => post<Me & { token?: string }>('/users', { name: name.trim(), role, ...(email ? { email } : {}), ...(groups.trim() ? { groups: asList(groups) } : {}), ...(isForWork(role) ? { specializations: asList(trades), ...(skill ? { skill_level: Number(skill) } : {}) } : {}) }).then(made, refuse)}>{t('Make the user')}</Button></>}>
            <Field label={t('Name')} id="user-name"><input id="user-name" data-autofocus className="inp" value={name} onChange={(event) => call_(event.target.value)} /></Field>
            <Field label={t('E-mail')} note={t('optional')} id="user-mail"><input id="user-mail" className="inp" value={email} onChange={(event) => mail(event.target.value)} /></Field>
            <Ability {...{ role, choose, groups, group, trades, trade, skill, rate }} />
            <Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} />
        </Dialog>
    );
}

export function Users() {
    const client = useQueryClient();
    const [chosen, choose] = useState<string | null>(null);
    const [making, make] = useState(false);
    const [shown, show] = useState<{ token: string; name: string } | null>(null);
    const found = useQuery({ queryKey: ['users'], queryFn: () => all<Me>('/users') });
    const user = found.data?.find((u) => u.id === chosen);
    return (
        <SettingsFrame busy={found.isLoading} actions={<Button icon="plus" onClick={() => make(true)}>{t('New user…')}</Button>}>
            <div className={`withside ${user ? 'split' : ''}`}>
                <div className="col list">
                    <div className="pagehead"><h2>{t('Users and tokens')}</h2><p>{t('A token signs in a person or a program. Only its hash is kept.')}</p></div>
                    <div className="thead users"><span>{t('Name')}</span><span>{t('E-mail')}</span><span>{t('Role')}</span><span>{t('Groups, or trades and skill')}</span></div>
                    <div className="scroll">
                        {found.isLoading && <Bones rows={4} />}
                        <Refusal error={found.error} />
                        {(found.data ?? []).map((u) => <div key={u.id} className={`trow users ${u.id === chosen ? 'sel cur' : ''}`}><span className="row"><span className="ava">{u.name.slice(0, 1)}</span><button type="button" className="rowlink" onClick={() => choose(u.id)}>{u.name}</button></span><span className="t2 cut">{u.email ?? '–'}</span><span>{t(u.role)}</span><span className="t2 cut">{isForWork(u.role) && (u.specializations.length > 0 || u.skill_level !== null) ? [u.specializations.join(', '), u.skill_level !== null ? t('skill {n}', { n: u.skill_level }) : ''].filter(Boolean).join(', ') : u.groups.join(', ') || '–'}</span></div>)}
                    </div>
                </div>
                {user && <UserPanel key={user.id} user={user} close={() => choose(null)} />}
            </div>
            {making && <NewUser close={() => make(false)} made={(u) => { make(false); void client.invalidateQueries({ queryKey: ['users'] }); if (u.token) show({ token: u.token, name: u.name }); }} />}
            {shown && <Shown {...shown} close={() => show(null)} />}
        </SettingsFrame>
    );
}
