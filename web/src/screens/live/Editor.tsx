// Editor.tsx - one function, template or value: edited, looked at by the server while it is typed, saved over the version it was made from.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isAdmin, useMe } from '../../app/session';
import { all, call, callText, post, Problem, put, remove } from '../../lib/api';
import { errorsByField } from '../../lib/form';
import { Glyph, Icon } from '../../lib/icons';
import { Diff } from '../../lib/json';
import { Bones, Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { when } from '../../lib/time';
import { type Use, definitionsOf, usersOf } from '../settings/uses';
import { FunctionForm } from './FunctionForm';
import { bodyOf, drop, forDiff, isSame, keep, keptOf, type Kind, readStored, type Stored, unreadable, type Work } from './kinds';
import { TemplateForm } from './TemplateForm';
import { ValueForm } from './ValueForm';

const FORMS = { functions: FunctionForm, templates: TemplateForm, config: ValueForm };
const FOLLOW_MS = 10000; // the server gives no hint about these

/** What the server has against it before it is saved; nothing for who may not save. */
function useFindings(kind: Kind, name: string, work: Work | null, isDirty: boolean): unknown {
    const [error, say] = useState<unknown>(null);
    const item = work && name && isDirty && !unreadable(work) ? `{"kind": "${kind.item}", "${kind.key}": ${JSON.stringify(name)}, ${bodyOf(work).slice(1)}` : '';
    useEffect(() => {
        if (!item) return say(null);
        const stop = new AbortController();
        const timer = setTimeout(() => void post('/import', `{"dryRun": true, "items": [${item}]}`, { signal: stop.signal }).then(() => say(null), (why: unknown) => { if (!stop.signal.aborted && why instanceof Problem && (why.status === 422 || why.status === 409)) say(why); }), 400);
        return () => { clearTimeout(timer); stop.abort(); };
    }, [item]);
    return error;
}

/** Which published definitions name it; for who may read all of them. */
function useUses(kind: Kind, name: string): Use[] | undefined {
    const { me } = useMe();
    const found = useQuery({ queryKey: ['live', 'uses'], enabled: isAdmin(me) && name !== '', staleTime: 15000, queryFn: () => call<{ items: Parameters<typeof definitionsOf>[0] }>('/export').then((bundle) => definitionsOf(bundle.items)) });
    return found.data && usersOf(found.data, kind.path, name);
}

function UsedBy({ uses }: { uses: Use[] }) {
    const to = (use: Use) => (use.kind === 'function' || use.kind === 'template' ? <Link className="cut" to={use.kind === 'function' ? '/functions' : '/templates'} search={{ name: use.code }}>{use.code}</Link> : <Link className="cut" to="/processes/$kind/$code" params={{ kind: `${use.kind}s`, code: use.code }}>{use.name ?? use.code}</Link>);
    return <div className="usedby"><h3 className="h">{t('Used by')}<span className="num t3">{uses.length || ''}</span></h3>
        {uses.length === 0 ? <p className="t3">{t('Nothing that is published names it.')}</p> : uses.map((use) => <div key={`${use.kind}/${use.code}/${use.step}`} className="line"><Icon name={use.kind === 'function' ? 'fn' : use.kind === 'template' ? 'file' : 'flow'} small />{to(use)}{use.step && <span className="tag mono end">{use.step}</span>}</div>)}</div>;
}

/** Somebody else has saved: both texts, and which of them goes on. */
function Conflict({ theirs, mine, take, over }: { theirs: Stored; mine: Work; take: () => void; over: () => void }) {
    const people = useQuery({ queryKey: ['users'], queryFn: () => all<{ id: string; name: string }>('/users') });
    const who = people.data?.find((user) => user.id === theirs.updatedBy)?.name ?? t('Somebody else');
    return (
        <div className="conflict" role="alert">
            <div className="why held"><Glyph name="held" tone="held" /><div className="grow"><div className="say"><b>{t('{who} has saved version {n}, {when}.', { who, n: theirs.version, when: when(theirs.updatedAt) })}</b></div><div className="sub">{t('Yours is below and is not saved. Minus is theirs, plus is yours.')}</div></div></div>
            <Diff before={forDiff(theirs.work)} after={forDiff(mine)} />
            <div className="row"><Button onClick={take}>{t('Take theirs')}</Button><Button onClick={over}>{t('Go on with mine')}</Button></div>
        </div>
    );
}

export function Editor({ kind, name, close }: { kind: Kind; name: string; close: (saved?: string) => void }) {
    const isNew = name === '';
    const client = useQueryClient();
    const { me } = useMe();
    const may = isAdmin(me);
    const [called, call_] = useState(name);
    const [base, rebase] = useState<Stored | null>(null); // what it was made from
    const [work, write] = useState<Work | null>(null);
    const [restored, restore] = useState<number | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const [asking, ask] = useState<'save' | 'delete' | null>(null);
    const found = useQuery({ queryKey: ['live', kind.path, name], enabled: !isNew, refetchInterval: FOLLOW_MS, queryFn: async () => readStored(kind, await callText(`/${kind.path}/${encodeURIComponent(name)}`)) });
    const isDirty = work !== null && (isNew || base === null || !isSame(work, base.work));
    const newest = found.data;
    useEffect(() => {
        const kept = keptOf(kind, name);
        if (isNew && work === null) {
            write(kept?.work ?? kind.first);
            if (kept) restore(kept.at);
        }
        if (!newest || (base && newest.version <= base.version)) return;
        if (work !== null && isDirty) return; // it is shown, not taken over
        if (base === null && kept && may && !isSame(kept.work, newest.work)) {
            rebase({ ...newest, version: kept.version });
            write(kept.work);
            return restore(kept.at);
        }
        rebase(newest);
        write(newest.work);
    }, [newest, isNew]); // eslint-disable-line react-hooks/exhaustive-deps
    const change = (to: Work) => {
        write(to);
        refuse(null);
        if (!isNew && base && isSame(to, base.work)) drop(kind, name);
        else keep(kind, name, { version: base?.version ?? 0, work: to, at: Date.now() });
    };
    const takeTheirs = (theirs: Stored) => { drop(kind, name); restore(null); rebase(theirs); write(theirs.work); refuse(null); };
    const findings = useFindings(kind, called.trim(), work, isDirty && may);
    const uses = useUses(kind, name);
    const act = async (what: () => Promise<unknown>) => {
        try {
            await what();
            drop(kind, name);
            ask(null);
            await client.invalidateQueries({ queryKey: ['live'] });
            return true;
        } catch (why) {
            refuse(why);
            if (asking === 'save') ask(null);
            if (why instanceof Problem && why.status === 412 && !isNew) void found.refetch();
            return false;
        }
    };
    const save = async () => {
        const saved = called.trim();
        const put_ = async () => {
            const { version } = await put<{ version: number }>(`/${kind.path}/${encodeURIComponent(saved)}`, bodyOf(work!), { headers: isNew ? { 'If-None-Match': '*' } : { 'If-Match': `"${base!.version}"` } });
            rebase({ version, updatedBy: me.id, updatedAt: new Date().toISOString(), work: work! });
            restore(null);
        };
        if (await act(put_)) close(saved);
    };
    const errorOf = (why: unknown, prefix: string) => (why instanceof Problem ? errorsByField(why.body.errors, prefix) : {});
    const errors = { ...errorOf(findings, '/items/0/'), ...errorOf(error, '/') };
    const others = findings instanceof Problem && findings.status === 409 ? findings : null;
    const conflict = !isNew && newest && base && work && newest.version > base.version && isDirty ? newest : null;
    const wrongName = isNew && called !== '' && !kind.name.pattern.test(called.trim());
    const Form = FORMS[kind.path];
    const missing = called.trim() === '' ? t('A name is missing') : wrongName ? t('The name is wrong') : !work || unreadable(work) ? t('It cannot be read yet') : conflict ? t('Choose theirs or yours first') : !isDirty ? t('Nothing is changed') : '';
    return (
        <aside className="side" aria-label={isNew ? t(kind.one.title) : name}>
            <div className="sidehead"><div className="row"><b className="cut mono">{isNew ? t(kind.one.title) : name}</b>{newest && <span className="tag">{t('version {n}', { n: newest.version })}</span>}{newest && <span className="meta cut">{t('saved {when}', { when: when(newest.updatedAt) })}</span>}<span className="end row"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={() => close()} /></span></div></div>
            <div className="sect scroll">
                {restored !== null && isDirty && <p className="note" role="status"><Icon name="log" small /><span className="grow">{t('What you typed {when} and did not save is here.', { when: when(restored) })}</span><Button kind="link" onClick={() => (newest ? takeTheirs(newest) : (drop(kind, name), restore(null), write(kind.first)))}>{t('Throw it away')}</Button></p>}
                {conflict && <Conflict theirs={conflict} mine={work!} take={() => takeTheirs(conflict)} over={() => { rebase({ ...conflict, work: conflict.work }); keep(kind, name, { version: conflict.version, work: work!, at: Date.now() }); }} />}
                {isNew && <Field label={t('Name')} id="live-name" help={t(kind.name.help)} error={wrongName ? t(kind.name.help) : undefined}><input id="live-name" autoFocus className={`inp mono ${wrongName ? 'wrong' : ''}`} value={called} onChange={(event) => { call_(event.target.value); refuse(null); }} /></Field>}
                {found.isLoading && <Bones rows={3} />}
                {work && <Form work={work} change={change} locked={!may} errors={errors} name={called.trim()} uses={uses ?? []} />}
                {others && <p className="note held" role="status"><Icon name="warn" small /><span>{t('It could not be saved like this: “{said}”', { said: others.message })}</span></p>}
                {asking !== 'delete' && <Refusal error={error instanceof Problem && error.status === 412 && !isNew ? null : (error ?? found.error)} sentence={error instanceof Problem && error.status === 412 ? t('There is one of this name already. Nothing was changed.') : error ? t('Nothing was changed.') : undefined} />}
                {uses && !isNew && <UsedBy uses={uses} />}
            </div>
            {may && <div className="acts row">{!isNew && <Button kind="link" className="bad" onClick={() => { refuse(null); ask('delete'); }}>{t('Delete…')}</Button>}<span className="grow" /><Button kind="ink" disabled={missing !== ''} onClick={() => ask('save')}>{missing || t('Save…')}</Button></div>}
            {asking === 'save' && <Dialog title={t('Save {name}?', { name: called.trim() })} lead={t(kind.means)} onClose={() => ask(null)} actions={<><Button kind="quiet" onClick={() => ask(null)}>{t('Go back')}</Button><Button kind="ink" onClick={() => void save()}>{t('Save {name}', { name: called.trim() })}</Button></>}>
                {base && work && <Diff before={forDiff(base.work)} after={forDiff(work)} />}
                {uses && uses.length > 0 && <p className="t2">{t('{n} published place uses it.|{n} published places use it.', { n: uses.length })}</p>}
            </Dialog>}
            {asking === 'delete' && <Dialog title={t('Delete {name}?', { name })} lead={uses && uses.length > 0 ? t('{n} published place uses it, so the server will refuse. Change those first.|{n} published places use it, so the server will refuse. Change those first.', { n: uses.length }) : t('Nothing that is published names it.')} onClose={() => ask(null)} actions={<><Button kind="quiet" onClick={() => ask(null)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => void act(() => remove(`/${kind.path}/${encodeURIComponent(name)}`, { headers: base ? { 'If-Match': `"${base.version}"` } : {} })).then((done) => { if (done) close(); })}>{t('Delete {name}', { name })}</Button></>}><Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} /></Dialog>}
        </aside>
    );
}
