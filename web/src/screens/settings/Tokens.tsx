// Tokens.tsx - the tokens of a user: made, shown once, replaced, revoked.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Page, post, remove } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { copyText } from '../../lib/insecure';
import { Button, Dialog, Field, Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, full, when } from '../../lib/time';
import type { User } from './UserForm';

interface Token { id: string; name?: string | null; createdAt: string; lastUsedAt: string | null; expiresAt: string | null }
export interface Made { token: string; expiresAt?: string | null }

const DAY_MS = 86400000;
const LIVES = ['30', '90', '365', ''] as const;
const nameOf = (token: Token) => token.name ?? `…${token.id.slice(-8)}`;

/** A token, this once. It closes when it is put away, not by accident. */
export function Shown({ made, user, close }: { made: Made; user: User; close: () => void }) {
    const [put, away] = useState(false);
    const [copied, say] = useState(false);
    return (
        <Dialog title={t('Token for {name}', { name: user.name })} lead={t('Copy it now: it is shown this once. Only its hash is kept, nobody can read it again.')} onClose={() => { if (put) close(); }} actions={<>
            <label className="row grow"><input type="checkbox" className="box" checked={put} onChange={(event) => away(event.target.checked)} />{t('I have put it away')}</label>
            <Button disabled={!put} onClick={close}>{put ? t('Close') : t('Close once it is put away')}</Button>
        </>}>
            <div className="token"><code className="cut">{made.token}</code><Button kind="ink" icon={copied ? 'check' : 'copy'} onClick={() => void copyText(made.token).then(() => say(true))}>{copied ? t('Copied') : t('Copy')}</Button></div>
            <dl className="kv tokenfacts">
                <dt>{t('May')}</dt><dd>{user.groups.length > 0 ? t('what the role {role} may, in the groups {groups}', { role: t(user.role), groups: user.groups.join(', ') }) : t('what the role {role} may', { role: t(user.role) })}</dd>
                <dt>{t('Ends')}</dt><dd>{made.expiresAt ? <span title={full(made.expiresAt)}>{when(made.expiresAt)} <span className="t3">{t('in {long}', { long: between(new Date().toISOString(), made.expiresAt) })}</span></span> : t('never, until it is revoked')}</dd>
                <dt>{t('To sign in')}</dt><dd>{t('{name} opens {address} and gives this token there.', { name: user.name, address: location.origin })}</dd>
                <dt>{t('Lost it?')}</dt><dd>{t('Revoke it and make another one. Both are in the audit.')}</dd>
            </dl>
        </Dialog>
    );
}

function NewToken({ user, all, close, made }: { user: User; all: Token[]; close: () => void; made: (token: Made) => void }) {
    const [name, call_] = useState('');
    const [days, choose] = useState<string>('90');
    const [replaces, replace] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const make = () => post<Made>(`/users/${user.id}/tokens`, { ...(name.trim() ? { name: name.trim() } : {}), ...(days ? { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() } : {}), ...(replaces ? { replaces } : {}) }).then(made, refuse);
    return (
        <Dialog title={t('New token for {name}', { name: user.name })} lead={t('One for each machine or program: so each can be revoked alone.')} onClose={close} actions={<><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" onClick={() => void make()}>{t('Make the token')}</Button></>}>
            <Field label={t('What is it for?')} note={t('optional')} id="token-name"><input id="token-name" data-autofocus className="inp" placeholder={t('laptop, shop server')} value={name} onChange={(event) => call_(event.target.value)} /></Field>
            <div className="two">
                <Field label={t('Ends')} id="token-ends"><select id="token-ends" className="inp" value={days} onChange={(event) => choose(event.target.value)}>{LIVES.map((n) => <option key={n} value={n}>{n === '' ? t('never') : n === '365' ? t('in a year') : t('in {n} day|in {n} days', { n: Number(n) })}</option>)}</select></Field>
                {all.length > 0 && <Field label={t('In the place of')} id="token-replaces"><select id="token-replaces" className="inp" value={replaces} onChange={(event) => replace(event.target.value)}><option value="">{t('none: one more')}</option>{all.map((token) => <option key={token.id} value={token.id}>{nameOf(token)}</option>)}{all.length > 1 && <option value="all">{t('all that there are')}</option>}</select></Field>}
            </div>
            <Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} />
        </Dialog>
    );
}

export function TokensOf({ user }: { user: User }) {
    const client = useQueryClient();
    const now = useNow(30000);
    const [making, make] = useState(false);
    const [shown, show] = useState<Made | null>(null);
    const [revoking, revoke] = useState<Token | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const found = useQuery({ queryKey: ['tokens', user.id], queryFn: () => call<Page<Token>>(`/users/${user.id}/tokens?limit=50`) });
    const tokens = found.data?.items ?? [];
    const again = () => void client.invalidateQueries({ queryKey: ['tokens', user.id] });
    const isOver = (token: Token) => token.expiresAt !== null && Date.parse(token.expiresAt) <= now;
    const facts = (token: Token) => [t('made {when}', { when: when(token.createdAt, { now }) }), token.lastUsedAt ? t('last used {when}', { when: when(token.lastUsedAt, { now }) }) : t('never used'), token.expiresAt ? (isOver(token) ? t('ended {when}', { when: when(token.expiresAt, { now }) }) : t('ends {when}', { when: when(token.expiresAt, { now }) })) : ''].filter(Boolean).join(', ');
    return (
        <div className="sect grow"><h3>{t('Tokens')}<span className="end"><Button small icon="plus" onClick={() => make(true)}>{t('New token…')}</Button></span></h3>
            {tokens.map((token) => <div key={token.id} className="line top"><Icon name="key" /><span className="grow"><span className={isOver(token) ? 't3' : ''}>{nameOf(token)}</span><span className="meta block">{facts(token)}</span></span><Button small kind="bad" onClick={() => revoke(token)}>{t('Revoke…')}</Button></div>)}
            {found.data && tokens.length === 0 && <p className="t3">{t('None: {name} cannot sign in with one.', { name: user.name })}</p>}
            <Refusal error={error ?? found.error} sentence={error ? t('Nothing was changed.') : undefined} />
            {making && <NewToken user={user} all={tokens} close={() => make(false)} made={(token) => { make(false); show(token); again(); }} />}
            {shown && <Shown made={shown} user={user} close={() => show(null)} />}
            {revoking && <Dialog title={t('Revoke {name}?', { name: nameOf(revoking) })} lead={t('Who uses it is signed out at once, browsers too.')} onClose={() => revoke(null)} actions={<><Button kind="quiet" onClick={() => revoke(null)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => { const { id } = revoking; revoke(null); void remove(`/tokens/${id}`).then(() => { refuse(null); again(); }, refuse); }}>{t('Revoke it')}</Button></>} />}
        </div>
    );
}
