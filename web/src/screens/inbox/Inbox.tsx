// Inbox.tsx - what am I asked, and what do I need to know to answer?
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Bar, useKeys } from '../../app/Shell';
import { seesMonitor, useMe } from '../../app/session';
import { Problem, post } from '../../lib/api';
import { errorsByField, FormFields, type Values } from '../../lib/form';
import { Glyph } from '../../lib/icons';
import { type InboxItem, useInbox } from '../../app/inbox';
import { newId } from '../../lib/insecure';
import { Bones, Button, Empty, Field, Refusal, Segments, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, when } from '../../lib/time';
import { whom } from '../../lib/why';
import './inbox.css';

const SOON_MS = 2 * 3600000; // an answer that is due within this is said in amber

const question = (item: InboxItem) => item.title ?? t('{code} waits for an answer at {step}', { code: item.code, step: item.step });
const until = (item: InboxItem, now: number) => (item.until ? t('answer by {when}', { when: when(item.until, { now }) }) : t('no time limit'));
const isSoon = (item: InboxItem, now: number) => item.until !== null && Date.parse(item.until) - now < SOON_MS;

function Answer({ item, done }: { item: InboxItem; done: () => void }) {
    const { me } = useMe();
    const now = useNow(10000);
    const types = ([] as string[]).concat(item.signalType);
    const [type, choose] = useState(types[0] ?? '');
    const [values, fill] = useState<Values>({});
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const [key] = useState(newId);
    const client = useQueryClient();
    const fields = item.form ?? [];
    const missing = fields.filter((field) => field.required === true && values[field.name] === undefined);
    const send = () => {
        work(true);
        refuse(null);
        post(`/inbox/${encodeURIComponent(item.id)}`, { ...(types.length > 1 ? { type } : {}), payload: values }, { headers: { 'Idempotency-Key': key } })
            .then(done, (why: unknown) => { refuse(why); if (why instanceof Problem && (why.status === 409 || why.status === 404)) void client.invalidateQueries({ queryKey: ['inbox'] }); })
            .finally(() => work(false));
    };
    const errors = error instanceof Problem ? errorsByField(error.body.errors, '/payload/') : {};
    return (
        <form className="answer scroll" aria-label={t('Your answer')} onSubmit={(event) => { event.preventDefault(); if (missing.length === 0 && !busy) send(); }} onKeyDown={(event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && missing.length === 0 && !busy) send(); }}>
            <p className="t3">{item.code}{seesMonitor(me) && <> · <Link to="/executions/$id" params={{ id: item.executionId }}>{t('Open execution')}</Link></>}</p>
            <h2>{question(item)}</h2>
            <p className="t2">{item.until ? <>{t('Answer by')} <b className={isSoon(item, now) ? 'soon' : ''}>{when(item.until, { now })}</b> ({Date.parse(item.until) > now ? t('in {long}', { long: between(new Date(now).toISOString(), item.until) }) : t('now')}).</> : t('Asked since {when}, {long}. It waits as long as it takes.', { when: when(item.since, { now }), long: between(item.since, now) })}</p>
            <div className="ask">
                {types.length > 1 && <Field label={t('Your decision')}><Segments label={t('Your decision')} value={type} onChange={choose} options={types.map((value) => ({ value, label: value }))} /></Field>}
                <FormFields key={item.id} fields={fields} values={values} change={fill} errors={errors} plain />
                <Refusal error={error} sentence={error instanceof Problem && error.status === 409 ? t('Somebody else was faster. Nothing was changed.') : error ? t('Nothing was changed.') : undefined} />
            </div>
            <div className="send">
                <button type="submit" className="btn ink" disabled={busy || missing.length > 0}>{missing.length > 0 ? t('{n} answer is missing|{n} answers are missing', { n: missing.length }) : t('Send the answer')}</button>
                <span className="t3">{t('Once sent it cannot be taken back.')} <kbd>{navigator.platform.startsWith('Mac') ? '⌘↵' : 'Ctrl ↵'}</kbd></span>
            </div>
        </form>
    );
}

export function Inbox() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const { me } = useMe();
    const now = useNow(10000);
    const client = useQueryClient();
    const found = useInbox();
    const [sent, say] = useState<string | null>(null);
    const items = found.data ?? [];
    const wide = matchMedia('(min-width: 901px)').matches;
    const chosen = items.find((item) => item.id === search.id) ?? (wide && !search.id ? items[0] : undefined);
    const open = (id: string | undefined) => void go({ to: '/inbox', search: (id ? { id } : {}) as Record<string, string>, replace: true });
    const at = items.findIndex((item) => item.id === chosen?.id);
    useKeys({ j: () => open(items[Math.min(items.length - 1, at + 1)]?.id), k: () => open(items[Math.max(0, at - 1)]?.id), Escape: () => open(undefined) });
    useEffect(() => { if (sent) { const timer = setTimeout(() => say(null), 6000); return () => clearTimeout(timer); } }, [sent]);
    return (
        <>
            <Bar title={<h1>{t('Inbox')} <span className="t3 num">{items.length || ''}</span></h1>} busy={found.isLoading} live={seesMonitor(me)} />
            <div className={`inbox ${chosen ? 'split' : ''}`}>
                <div className="scroll asks" role="list" aria-label={t('What waits for your answer')}>
                    {sent && <p className="note" role="status"><Glyph name="completed" tone="ok" />{t('Sent: {title}', { title: sent })}</p>}
                    {found.isLoading && <Bones rows={4} />}
                    <Refusal error={found.error} />
                    {items.map((item) => (
                        <div role="listitem" key={item.id}><button type="button" aria-current={item.id === chosen?.id || undefined} className={`askrow ${item.id === chosen?.id ? 'on' : ''}`} onClick={() => open(item.id)}>
                            <span className="m5">{question(item)}</span>
                            <span className="t3 cut">{item.code}{item.assignee.length > 0 && ` · ${t('to {whom}', { whom: item.assignee.map(whom).join(', ') })}`}</span>
                            <span className="row meta"><span>{t('since {when}', { when: when(item.since, { now }) })}</span><span className={`end ${isSoon(item, now) ? 'soon' : ''}`}>{until(item, now)}</span></span>
                        </button></div>
                    ))}
                    {found.data && items.length === 0 && <Empty title={t('Nobody waits for your answer')}>{t('When a process asks you or one of your groups something, it comes here with what you need to answer.')}</Empty>}
                </div>
                {chosen && <div className="col one">
                    <div className="back"><Button kind="quiet" icon="left" onClick={() => open(undefined)}>{t('Inbox')}</Button><span className="t3 end num">{t('{n} of {all}', { n: at + 1, all: items.length })}</span></div>
                    <Answer key={chosen.id} item={chosen} done={() => { say(question(chosen)); open(undefined); void client.invalidateQueries({ queryKey: ['inbox'] }); }} />
                </div>}
            </div>
        </>
    );
}
