// Credentials.tsx - what do steps sign in with, and where is it used? What is secret goes in and never comes out.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isAdmin, useMe } from '../../app/session';
import { all, call, Problem, put, remove } from '../../lib/api';
import { errorsByField } from '../../lib/form';
import { Glyph, Icon } from '../../lib/icons';
import { Bones, Button, Dialog, Empty, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { shortly, when } from '../../lib/time';
import { SettingsFrame } from './Settings';
import { type Use, definitionsOf, usesOf } from './uses';
import '../screens.css';

type Shown = 'base_url' | 'header_name' | 'username' | 'token_url' | 'client_id' | 'scope';
interface Credential { code: string; version: number; filled: boolean; updatedBy: string | null; updatedAt: string; type: string; base_url?: string; header_name?: string; username?: string; token_url?: string; client_id?: string; scope?: string; values?: string[] }

const NAMES: Record<string, { label: string; help?: string }> = {
    base_url: { label: 'Only for addresses under', help: 'A step cannot send it anywhere else.' },
    header_name: { label: 'Header' }, header_value: { label: 'Value' }, username: { label: 'User name' }, password: { label: 'Password' },
    token_url: { label: 'Address that gives tokens' }, client_id: { label: 'Client id' }, client_secret: { label: 'Client secret' }, scope: { label: 'Scope' }, secret: { label: 'Key of signatures' },
    values: { label: 'Secret values' },
};
const TYPES: Record<string, { word: string; needs: Shown[]; may: Shown[]; secret: string }> = {
    api_key: { word: 'API key', needs: ['base_url', 'header_name'], may: [], secret: 'header_value' },
    basic: { word: 'user and password', needs: ['base_url', 'username'], may: [], secret: 'password' },
    oauth2_client: { word: 'OAuth2 client', needs: ['base_url', 'token_url', 'client_id'], may: ['scope'], secret: 'client_secret' },
    hmac: { word: 'key of signatures', needs: [], may: ['base_url'], secret: 'secret' },
    secret: { word: 'secret values', needs: ['base_url'], may: [], secret: 'values' },
};
const typeOf = (type: string) => TYPES[type] ?? { word: type, needs: [], may: [], secret: '' };
const CODE = /^[a-z][a-z0-9_]*$/;

/** Pairs of a name and a value, one more line than is filled. */
function Pairs({ pairs, change }: { pairs: [string, string][]; change: (to: [string, string][]) => void }) {
    const lines: [string, string][] = [...pairs, ['', '']];
    const set = (at: number, to: [string, string]) => change(lines.map((line, i) => (i === at ? to : line)).filter(([name, value]) => name !== '' || value !== ''));
    return <div className="pairs">{lines.map(([name, value], i) => (
        <div key={i} className="row"><input className="inp mono" aria-label={t('Name of value {n}', { n: i + 1 })} placeholder={t('name')} value={name} onChange={(event) => set(i, [event.target.value.trim(), value])} /><input className="inp" type="password" autoComplete="new-password" aria-label={t('Value {n}', { n: i + 1 })} placeholder={t('value')} value={value} onChange={(event) => set(i, [name, event.target.value])} /></div>
    ))}</div>;
}

/** A new one, or one that is changed: then all of it is given again, the secret included. */
function Editor({ credential, close, saved }: { credential: Credential | null; close: () => void; saved: (code: string) => void }) {
    const [code, name] = useState(credential?.code ?? '');
    const [type, choose] = useState(credential?.type ?? 'api_key');
    const [shown, fill] = useState<Partial<Record<Shown, string>>>(() => (credential ? { base_url: credential.base_url, header_name: credential.header_name, username: credential.username, token_url: credential.token_url, client_id: credential.client_id, scope: credential.scope } : { header_name: 'Authorization' }));
    const [secret, hide] = useState('');
    const [pairs, list] = useState<[string, string][]>((credential?.values ?? []).map((value) => [value, '']));
    const [error, refuse] = useState<unknown>(null);
    const known = typeOf(type);
    const fields = [...known.needs, ...known.may];
    const values = Object.fromEntries(pairs.filter(([key, value]) => key && value));
    const hasSecret = known.secret === 'values' ? pairs.length > 0 && pairs.every(([key, value]) => key && value) : secret !== '';
    const lacking = !CODE.test(code) ? 'Code' : (known.needs.find((field) => !shown[field]?.trim()) ?? (hasSecret ? undefined : known.secret));
    const missing = lacking === undefined ? '' : t('Missing: {what}', { what: t(NAMES[lacking]?.label ?? lacking) });
    const errors = error instanceof Problem ? errorsByField(error.body.errors, '/') : {};
    const save = () => {
        const body = { type, ...Object.fromEntries(fields.filter((field) => shown[field]?.trim()).map((field) => [field, shown[field]!.trim()])), [known.secret]: known.secret === 'values' ? values : secret };
        put(`/credentials/${code}`, body, { headers: credential ? { 'If-Match': `"${credential.version}"` } : { 'If-None-Match': '*' } }).then(() => saved(code), refuse);
    };
    const stale = error instanceof Problem && error.status === 412;
    return (
        <Dialog title={credential ? t('Change {code}', { code: credential.code }) : t('New credential')} lead={credential ? t('The secret is given again: so nobody who does not know it can have it sent elsewhere.') : t('What a step signs in with. A definition names it by its code and never holds it.')} onClose={close} actions={<>
            <Button kind="quiet" onClick={close}>{t('Go back')}</Button>
            <Button kind="ink" disabled={missing !== ''} onClick={save}>{missing || t('Save')}</Button>
        </>}>
            {!credential && <Field label={t('Code')} id="cred-code" help={t('small letters, digits and _; definitions name it by this')} error={code !== '' && !CODE.test(code) ? t('small letters, digits and _, beginning with a letter') : undefined}><input id="cred-code" data-autofocus className="inp mono" value={code} onChange={(event) => name(event.target.value)} /></Field>}
            {!credential && <Field label={t('Kind')} id="cred-type"><select id="cred-type" className="inp" value={type} onChange={(event) => choose(event.target.value)}>{Object.entries(TYPES).map(([value, { word }]) => <option key={value} value={value}>{t(word)}</option>)}</select></Field>}
            {fields.map((field) => <Field key={field} id={`cred-${field}`} label={t(NAMES[field]!.label)} note={known.may.includes(field) ? t('optional') : undefined} help={NAMES[field]!.help && t(NAMES[field]!.help)} error={errors[field]}><input id={`cred-${field}`} className={`inp mono ${errors[field] ? 'wrong' : ''}`} placeholder={field.endsWith('url') ? 'https://' : undefined} value={shown[field] ?? ''} onChange={(event) => fill({ ...shown, [field]: event.target.value })} /></Field>)}
            {known.secret === 'values'
                ? <div className="f"><span className="flabel">{t(NAMES.values!.label)}</span><Pairs pairs={pairs} change={list} /></div>
                : <Field id="cred-secret" label={t(NAMES[known.secret]!.label)} help={t('It is encrypted before it is stored, and never shown again.')}><input id="cred-secret" type="password" autoComplete="new-password" className="inp" value={secret} onChange={(event) => hide(event.target.value)} /></Field>}
            <Refusal error={error} sentence={stale ? (credential ? t('Somebody else has changed it in the meantime. Nothing was changed.') : t('There is one with this code already. Nothing was changed.')) : error ? t('Nothing was changed.') : undefined} />
        </Dialog>
    );
}

function UsedBy({ uses }: { uses: Use[] | undefined }) {
    if (!uses) return <p className="t3">{t('looking…')}</p>;
    if (uses.length === 0) return <p className="t3">{t('Nothing that is published names it.')}</p>;
    return <>{uses.map((use) => <div key={`${use.kind}/${use.code}/${use.step}`} className="line"><Icon name="flow" small /><Link className="cut" to="/processes/$kind/$code" params={{ kind: `${use.kind}s`, code: use.code }}>{use.name ?? use.code}</Link>{use.step && <span className="tag mono end">{use.step}</span>}</div>)}</>;
}

function Panel({ credential, uses, close, edit }: { credential: Credential; uses: Use[] | undefined; close: () => void; edit: () => void }) {
    const { me } = useMe();
    const client = useQueryClient();
    const [deleting, ask] = useState(false);
    const [error, refuse] = useState<unknown>(null);
    const known = typeOf(credential.type);
    const drop = () => remove(`/credentials/${credential.code}`, { headers: { 'If-Match': `"${credential.version}"` } }).then(() => { ask(false); close(); void client.invalidateQueries({ queryKey: ['credentials'] }); }, refuse);
    return (
        <aside className="side" aria-label={credential.code}>
            <div className="sidehead"><div className="row"><b className="mono cut">{credential.code}</b><span className="end"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div>
                <div className="meta">{t(known.word)} · {t('changed {when}', { when: when(credential.updatedAt) })}</div></div>
            <div className="sect">
                <dl className="kv">{[...known.needs, ...known.may].filter((field) => credential[field]).map((field) => <div key={field} className="contents"><dt>{t(NAMES[field]!.label)}</dt><dd className="mono">{credential[field]}</dd></div>)}{credential.values && <><dt>{t('Secret values')}</dt><dd className="mono">{credential.values.join(', ')}</dd></>}</dl>
                <p className={`note ${credential.filled ? '' : 'held'}`}><Icon name="lock" small /><span>{credential.filled ? t('What is secret goes in and never comes out: not here, not through the API, masked in history, logs and errors.') : t('It came with a bundle and has no secret yet: calls with it fail until it is given.')}</span></p>
            </div>
            <div className="sect grow"><h3>{t('Used by')}</h3><UsedBy uses={uses} /></div>
            {isAdmin(me) && <div className="acts row"><Button kind="link" className="bad" onClick={() => ask(true)}>{t('Delete…')}</Button><span className="end"><Button kind="ink" onClick={edit}>{credential.filled ? t('Change…') : t('Give the secret…')}</Button></span></div>}
            {deleting && <Dialog title={t('Delete {code}?', { code: credential.code })} lead={uses && uses.length > 0 ? t('{n} published step names it and fails at its next call.|{n} published steps name it and fail at their next call.', { n: uses.length }) : t('Nothing that is published names it.')} onClose={() => ask(false)} actions={<><Button kind="quiet" onClick={() => ask(false)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => void drop()}>{t('Delete it')}</Button></>}><Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} /></Dialog>}
        </aside>
    );
}

export function Credentials() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const client = useQueryClient();
    const [editing, edit] = useState<Credential | 'new' | null>(null);
    const found = useQuery({ queryKey: ['credentials'], queryFn: () => all<Credential>('/credentials') });
    const exported = useQuery({ queryKey: ['credentials', 'uses'], staleTime: 15000, queryFn: () => call<{ items: Parameters<typeof definitionsOf>[0] }>('/export').then((bundle) => definitionsOf(bundle.items)) });
    const list = found.data ?? [];
    const chosen = list.find((credential) => credential.code === search.code);
    const open = (code: string | undefined) => void go({ to: '/settings/credentials', search: (code ? { code } : {}) as Record<string, string>, replace: true });
    const uses = (code: string) => exported.data && usesOf(exported.data, code);
    return (
        <SettingsFrame busy={found.isLoading} actions={<Button icon="plus" onClick={() => edit('new')}>{t('New credential…')}</Button>}>
            <div className={`withside ${chosen ? 'split' : ''}`}>
                <div className="col list">
                    <div className="pagehead"><h2>{t('Credentials')}</h2><p>{t('What steps sign in with. A definition names one, it never holds one.')}</p></div>
                    {list.length > 0 && <div className="thead creds"><span>{t('Code')}</span><span>{t('Kind')}</span><span>{t('Only for')}</span><span className="r">{t('Used by')}</span><span className="r">{t('Changed')}</span></div>}
                    <div className="scroll">
                        {found.isLoading && <Bones rows={4} />}
                        <Refusal error={found.error} />
                        {list.map((credential) => (
                            <div key={credential.code} className={`trow creds ${credential.code === chosen?.code ? 'sel cur' : ''}`}>
                                <span className="row"><button type="button" className="rowlink mono" onClick={() => open(credential.code)}>{credential.code}</button>{!credential.filled && <span className="st held"><Glyph name="held" tone="held" />{t('no secret')}</span>}</span>
                                <span className="t2 cut">{t(typeOf(credential.type).word)}</span><span className="t2 cut">{credential.base_url?.replace(/^https?:\/\//, '') ?? '–'}</span>
                                <span className="r num">{uses(credential.code)?.length ?? ''}</span><span className="r t2 num">{shortly(credential.updatedAt)}</span>
                            </div>
                        ))}
                        {found.data && list.length === 0 && <Empty title={t('No credentials yet')} action={<Button kind="ink" icon="plus" onClick={() => edit('new')}>{t('New credential…')}</Button>}>{t('A step that calls another system names a credential, and the server signs the call with it. The secret is in no definition, log or history.')}</Empty>}
                    </div>
                </div>
                {chosen && <Panel key={chosen.code} credential={chosen} uses={uses(chosen.code)} close={() => open(undefined)} edit={() => edit(chosen)} />}
            </div>
            {editing && <Editor credential={editing === 'new' ? null : editing} close={() => edit(null)} saved={(code) => { edit(null); void client.invalidateQueries({ queryKey: ['credentials'] }); open(code); }} />}
        </SettingsFrame>
    );
}
