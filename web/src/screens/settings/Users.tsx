// Users.tsx - who may come in, and where is the new token?
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '../../app/session';
import { all, patch } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Bones, Button, Dialog, Empty, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { SettingsFrame } from './Settings';
import { Shown, TokensOf } from './Tokens';
import { isForWork, type User, UserForm } from './UserForm';
import '../screens.css';

const Blocked = () => <span className="st held"><Glyph name="held" tone="held" />{t('shut out')}</span>;

function Panel({ user, others, close }: { user: User; others: User[]; close: () => void }) {
    const client = useQueryClient();
    const { me } = useMe();
    const [open, show] = useState<'edit' | 'block' | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const again = () => void client.invalidateQueries({ queryKey: ['users'] });
    const let_ = (active: boolean) => patch(`/users/${user.id}`, { active }).then(() => { refuse(null); show(null); again(); }, refuse);
    return (
        <aside className="side" aria-label={user.name}>
            <div className="sidehead"><div className="row"><span className="ava">{user.name.slice(0, 1)}</span><b className="cut">{user.name}</b><span className="tag">{t(user.role)}</span>{!user.active && <Blocked />}<span className="end"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div></div>
            {!user.active && <div className="sect"><p className="note held"><Icon name="lock" small /><span>{t('No token of {name} is taken, and no browser is signed in. What {name} did keeps its author.', { name: user.name })}</span></p></div>}
            <div className="sect"><h3>{t('What {name} may', { name: user.name })}<span className="end"><Button small onClick={() => show('edit')}>{t('Change…')}</Button></span></h3>
                <dl className="kv"><dt>{t('E-mail')}</dt><dd>{user.email ?? '–'}</dd><dt>{t('Role')}</dt><dd>{t(user.role)}</dd><dt>{t('Groups')}</dt><dd>{user.groups.join(', ') || '–'}</dd>
                    {isForWork(user.role) && <><dt>{t('Trades')}</dt><dd>{user.specializations.join(', ') || '–'}</dd><dt>{t('Skill')}</dt><dd className="num">{user.skill_level ?? '–'}</dd></>}
                    {user.org_id !== me.org_id && <><dt>{t('Organisation')}</dt><dd className="mono">{user.org_id}</dd></>}</dl>
            </div>
            <TokensOf user={user} />
            <div className="acts"><Refusal error={open === null ? error : null} sentence={t('Nothing was changed.')} />
                {user.active ? <Button kind="link" className="bad" onClick={() => { refuse(null); show('block'); }}>{t('Shut {name} out…', { name: user.name })}</Button> : <Button kind="ink" onClick={() => void let_(true)}>{t('Let {name} in again', { name: user.name })}</Button>}</div>
            {open === 'edit' && <UserForm user={user} others={others} close={() => show(null)} done={() => { show(null); again(); }} />}
            {open === 'block' && <Dialog title={t('Shut {name} out?', { name: user.name })} lead={t('Every token is refused and every browser signed out, at once. Nothing is deleted: what {name} did keeps its author, and {name} can be let in again.', { name: user.name })} onClose={() => show(null)} actions={<><Button kind="quiet" onClick={() => show(null)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => void let_(false)}>{t('Shut {name} out', { name: user.name })}</Button></>}><Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} /></Dialog>}
        </aside>
    );
}

const about = (user: User) => (isForWork(user.role) && (user.specializations.length > 0 || user.skill_level !== null) ? [user.specializations.join(', '), user.skill_level !== null ? t('skill {n}', { n: user.skill_level }) : ''] : [user.groups.join(', ')]).filter(Boolean).join(', ') || '–';

export function Users() {
    const client = useQueryClient();
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const [sought, seek] = useState('');
    const [making, make] = useState(false);
    const [shown, show] = useState<(User & { token: string }) | null>(null);
    const found = useQuery({ queryKey: ['users'], queryFn: () => all<User>('/users') });
    const users = found.data ?? [];
    const open = (id: string | undefined) => void go({ to: '/settings/users', search: (id ? { id } : {}) as Record<string, string>, replace: true });
    const word = sought.trim().toLowerCase();
    const listed = users.filter((user) => [user.name, user.email ?? '', user.role, t(user.role), ...user.groups, ...user.specializations].some((text) => text.toLowerCase().includes(word)));
    const user = users.find((u) => u.id === search.id);
    return (
        <SettingsFrame busy={found.isLoading} actions={<Button icon="plus" onClick={() => make(true)}>{t('New user…')}</Button>}>
            <div className={`withside ${user ? 'split' : ''}`}>
                <div className="col list">
                    <div className="pagehead withfind"><div><h2>{t('Users and tokens')}</h2><p>{t('A token signs in a person or a program. Only its hash is kept.')}</p></div>
                        <span className="find"><Icon name="search" small /><input aria-label={t('Name, e-mail, role or group')} placeholder={t('Name, e-mail, role or group')} value={sought} onChange={(event) => seek(event.target.value)} /></span></div>
                    <div className="thead users"><span>{t('Name')}</span><span>{t('E-mail')}</span><span>{t('Role')}</span><span>{t('Groups, or trades and skill')}</span></div>
                    <div className="scroll">
                        {found.isLoading && <Bones rows={4} />}
                        <Refusal error={found.error} />
                        {listed.map((u) => <div key={u.id} className={`trow users ${u.id === user?.id ? 'sel cur' : ''} ${u.active ? '' : 'off'}`}><span className="row"><span className="ava">{u.name.slice(0, 1)}</span><button type="button" className="rowlink" onClick={() => open(u.id)}>{u.name}</button>{!u.active && <Blocked />}</span><span className="t2 cut">{u.email ?? '–'}</span><span>{t(u.role)}</span><span className="t2 cut">{about(u)}</span></div>)}
                        {found.data && listed.length === 0 && <Empty title={t('Nobody matches “{text}”', { text: sought })} action={<Button kind="ink" onClick={() => seek('')}>{t('Show everybody')}</Button>}>{t('Names, e-mails, roles, groups and trades are looked through.')}</Empty>}
                    </div>
                </div>
                {user && <Panel key={user.id} user={user} others={users} close={() => open(undefined)} />}
            </div>
            {making && <UserForm others={users} close={() => make(false)} done={(u) => { make(false); void client.invalidateQueries({ queryKey: ['users'] }); open(u.id); if (u.token) show(u as User & { token: string }); }} />}
            {shown && <Shown made={{ token: shown.token }} user={shown} close={() => show(null)} />}
        </SettingsFrame>
    );
}
