// Inbox.tsx - what am I asked, and what do I need to know to answer?
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Bar, useKeys } from '../../app/Shell';
import { seesMonitor, useMe } from '../../app/session';
import { Problem, post } from '../../lib/api';
import { readJson } from '../../lib/exact';
import { errorsByField, FormFields, missingOf, Unreadable, unreadableOf, type Values, withDefaults } from '../../lib/form';
import { Glyph } from '../../lib/icons';
import { type InboxItem, useInbox } from '../../app/inbox';
import { Bones, Button, Empty, Field, Refusal, Segments, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, when } from '../../lib/time';
import { whom } from '../../lib/why';
import './inbox.css';

const SOON_MS = 2 * 3600000; // an answer that is due within this is said in amber

const question = (item: InboxItem) => item.title ?? t('{code} waits for an answer at {step}', { code: item.code, step: item.step });
const isSoon = (item: InboxItem, now: number) => item.until !== null && Date.parse(item.until) - now < SOON_MS;
const isLate = (item: InboxItem, now: number) => item.until !== null && Date.parse(item.until) <= now;
const until = (item: InboxItem, now: number) => {
    if (!item.until) return t('no time limit');
    if (isLate(item, now)) return t('its time is up');
    return isSoon(item, now) ? t('answer by {when}, in {long}', { when: when(item.until, { now }), long: between(new Date(now).toISOString(), item.until) }) : t('answer by {when}', { when: when(item.until, { now }) });
};

// What was typed and not sent outlives a reload and a look at another question; what is sensitive stays in the page.
const draftKey = (item: InboxItem) => `pawl.answer.${item.id}`;
const dropDraft = (item: InboxItem) => sessionStorage.removeItem(draftKey(item));
function keepDraft(item: InboxItem, values: Values) {
    const secret = new Set((item.form ?? []).filter((field) => field.sensitive).map((field) => field.name));
    sessionStorage.setItem(draftKey(item), JSON.stringify(Object.fromEntries(Object.entries(values).filter(([name, value]) => !secret.has(name) && !(value instanceof Unreadable)))));
}
function draftOf(item: InboxItem): Values | null {
    try {
        return readJson(sessionStorage.getItem(draftKey(item)) ?? 'null') as Values | null;
    } catch {
        return null;
    }
}

/** Why a question that one was answering is not to be answered any more. */
function Gone({ item, error, leave }: { item: InboxItem; error: unknown; leave: () => void }) {
    const now = Date.now();
    const said = error instanceof Problem ? error.message : '';
    return (
        <div className="why held gone" role="alert">
            <Glyph name="held" tone="held" />
            <div className="grow">
                <div className="say"><b>{isLate(item, now) && !said ? t('Its time is up.') : t('This question is closed.')}</b> {said ? `“${said}”` : isLate(item, now) ? t('The process has gone on without an answer.') : t('Somebody else has answered it, or the process has gone on.')}</div>
                <div className="sub">{t('What you typed was not sent. It stays here until you leave.')}</div>
            </div>
            <Button kind="ink" onClick={leave}>{t('Go back to the inbox')}</Button>
        </div>
    );
}

const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const timeUp = (up: NonNullable<InboxItem['timeUp']>) => {
    if (up.action === 'continue') return t('the process goes on without an answer.');
    if (up.action === 'goto') return t('the process goes on with “{step}”.', { step: up.name ?? up.to ?? '' });
    if (up.action === 'compensate') return t('what was done so far is undone.');
    if (up.action === 'hold') return t('an operator decides.');
    return t('the process fails.');
};

/** What the person who is asked needs to know: the facts of the author, and who has answered before. */
function Facts({ item }: { item: InboxItem }) {
    if (!item.show?.length && item.answeredBefore.length === 0) return null;
    return (
        <dl className="facts">
            {(item.show ?? []).map((fact, i) => <div key={i}><dt>{fact.label}</dt><dd>{plain(fact.value)}</dd></div>)}
            {item.answeredBefore.map((past, i) => <div key={`b${i}`}><dt>{t('Answered before, at {step}', { step: past.step })}</dt><dd>{past.by.name ?? t('through its link')}</dd></div>)}
        </dl>
    );
}

/** What follows: each answer in the words of the author, the end of the time in ours. */
function Then({ item }: { item: InboxItem }) {
    if (!item.then?.length && !item.timeUp) return null;
    return (
        <dl className="facts then">
            {(item.then ?? []).map((one, i) => <div key={i}><dt>{one.label}</dt><dd>{one.text}</dd></div>)}
            {item.timeUp && <div><dt>{t('If nobody answers in time')}</dt><dd>{timeUp(item.timeUp)}</dd></div>}
        </dl>
    );
}

function Answer({ item, isGone, done, leave }: { item: InboxItem; isGone: boolean; done: () => void; leave: () => void }) {
    const { me } = useMe();
    const now = useNow(10000);
    const types = ([] as string[]).concat(item.signalType);
    const [type, choose] = useState(types[0] ?? '');
    const fields = item.form ?? [];
    const [values, fill] = useState<Values>(() => draftOf(item) ?? withDefaults(fields));
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const form = useRef<HTMLFormElement>(null);
    const client = useQueryClient();
    const missing = missingOf(fields, values);
    const broken = unreadableOf(values);
    const ready = missing.length === 0 && broken === 0 && !busy && !isGone;
    const change = (to: Values) => { fill(to); keepDraft(item, to); };
    const send = () => {
        work(true);
        refuse(null);
        post(`/inbox/${encodeURIComponent(item.id)}`, { ...(types.length > 1 ? { type } : {}), payload: values }, { once: true })
            .then(() => { dropDraft(item); done(); }, (why: unknown) => {
                refuse(why);
                if (why instanceof Problem && (why.status === 409 || why.status === 404)) void client.invalidateQueries({ queryKey: ['inbox'] });
            })
            .finally(() => work(false));
    };
    const isClosed = isGone || (error instanceof Problem && (error.status === 409 || error.status === 404));
    const errors = error instanceof Problem ? errorsByField(error.body.errors, '/payload/') : {};
    const shown = fields.filter((field) => errors[field.name]);
    // What stands at its field is not said twice.
    const rest = error instanceof Problem && shown.length > 0 ? new Problem(error.status, { ...error.body, errors: (error.body.errors ?? []).filter((finding) => !shown.some((field) => finding.pointer === `/payload/${field.name}` || finding.pointer.startsWith(`/payload/${field.name}/`))) }) : error;
    useEffect(() => { if (shown.length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true], .f:has(.err) button')?.focus(); }, [error]); // eslint-disable-line react-hooks/exhaustive-deps
    return (
        <form ref={form} className="answer scroll" aria-label={t('Your answer')} onSubmit={(event) => { event.preventDefault(); if (ready) send(); }} onKeyDown={(event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && ready) send(); }}>
            <p className="t3">{item.name ?? item.code}{item.startedBy?.name && ` · ${t('started by {name}', { name: item.startedBy.name })}`}{seesMonitor(me) && <> · <Link to="/executions/$id" params={{ id: item.executionId }}>{t('Open execution')}</Link></>}</p>
            <h2>{question(item)}</h2>
            {!isClosed && <p className="t2">{item.until ? <>{t('Answer by')} <b className={isSoon(item, now) ? 'soon' : ''}>{when(item.until, { now })}</b> ({Date.parse(item.until) > now ? t('in {long}', { long: between(new Date(now).toISOString(), item.until) }) : t('now')}).</> : t('Asked since {when}, {long}. It waits as long as it takes.', { when: when(item.since, { now }), long: between(item.since, now) })}</p>}
            {isClosed && <Gone item={item} error={error} leave={leave} />}
            {!isClosed && <Facts item={item} />}
            <div className="ask">
                {types.length > 1 && <Field label={t('Your decision')}><Segments label={t('Your decision')} value={type} onChange={choose} options={types.map((value) => ({ value, label: value }))} /></Field>}
                <FormFields key={item.id} fields={fields} values={values} change={change} errors={errors} plain />
                {!isClosed && <Refusal error={rest} sentence={error ? t('Nothing was changed.') : undefined} />}
            </div>
            {!isClosed && <Then item={item} />}
            {!isClosed && <div className="send">
                <button type="submit" className="btn ink" disabled={!ready}>{broken > 0 ? t('{n} answer cannot be read|{n} answers cannot be read', { n: broken }) : missing.length > 0 ? t('{n} answer is missing|{n} answers are missing', { n: missing.length }) : t('Send the answer')}</button>
                <span className="t3">{t('Once sent it cannot be taken back.')} <kbd>{navigator.platform.startsWith('Mac') ? '⌘↵' : 'Ctrl ↵'}</kbd></span>
            </div>}
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
    const [answered, close] = useState<Set<string>>(() => new Set()); // sent from here, whatever the list still says
    const items = (found.data ?? []).filter((item) => !answered.has(item.id));
    const wide = matchMedia('(min-width: 901px)').matches;
    // The one that is being answered stays, even when it is closed meanwhile: what was typed is not lost, and nothing is typed into another.
    const [kept, keep] = useState<InboxItem | null>(null);
    const listed = items.find((item) => item.id === search.id);
    const chosen = listed ?? (kept && kept.id === search.id ? kept : undefined);
    useEffect(() => { if (listed) keep(listed); }, [listed]);
    const open = (id: string | undefined) => void go({ to: '/inbox', search: (id ? { id } : {}) as Record<string, string>, replace: true });
    const first = items[0]?.id;
    useEffect(() => { if (found.data && search.id === undefined && wide && first) open(first); }, [found.data, search.id, wide, first]); // eslint-disable-line react-hooks/exhaustive-deps
    useEffect(() => { if (found.data && !found.isFetching && search.id !== undefined && !chosen) open(undefined); }, [found.data, found.isFetching, search.id, chosen]); // eslint-disable-line react-hooks/exhaustive-deps
    const at = items.findIndex((item) => item.id === chosen?.id);
    useKeys({ j: () => open(items[Math.min(items.length - 1, at + 1)]?.id), k: () => open(items[Math.max(0, at - 1)]?.id), Escape: () => open(undefined) });
    useEffect(() => { if (sent) { const timer = setTimeout(() => say(null), 6000); return () => clearTimeout(timer); } }, [sent]);
    return (
        <>
            <Bar title={<h1>{t('Inbox')} <span className="t3 num">{items.length || ''}</span></h1>} busy={found.isLoading} live={seesMonitor(me)} />
            <div className={`inbox ${chosen ? 'split' : ''}`}>
                <div className="scroll asks" {...(items.length > 0 ? { role: 'list', 'aria-label': t('What waits for your answer') } : {})}>
                    {sent && <p className="note" role="status"><Glyph name="completed" tone="ok" />{t('Sent: {title}', { title: sent })}</p>}
                    {found.isLoading && <Bones rows={4} />}
                    <Refusal error={found.error} />
                    {items.map((item) => (
                        <div role="listitem" key={item.id}><button type="button" aria-current={item.id === chosen?.id || undefined} className={`askrow ${item.id === chosen?.id ? 'on' : ''}`} onClick={() => open(item.id)}>
                            <span className="m5">{question(item)}</span>
                            <span className="t3 cut">{item.name ?? item.code}{item.assignee.length > 0 && ` · ${t('to {whom}', { whom: item.assignee.map(whom).join(', ') })}`}</span>
                            <span className="row meta"><span>{t('since {when}', { when: when(item.since, { now }) })}</span><span className={`end ${isSoon(item, now) ? 'soon' : ''}`}>{until(item, now)}</span></span>
                        </button></div>
                    ))}
                    {found.data && items.length === 0 && <Empty title={t('Nobody waits for your answer')}>{t('When a process asks you or one of your groups something, it comes here with what you need to answer.')}</Empty>}
                </div>
                {chosen && <div className="col one">
                    <div className="back"><Button kind="quiet" icon="left" onClick={() => open(undefined)}>{t('Inbox')}</Button>{at >= 0 && <span className="t3 end num">{t('{n} of {all}', { n: at + 1, all: items.length })}</span>}</div>
                    <Answer key={chosen.id} item={chosen} isGone={!listed} leave={() => { dropDraft(chosen); open(undefined); }} done={() => { say(question(chosen)); close(new Set(answered).add(chosen.id)); open(undefined); void client.invalidateQueries({ queryKey: ['inbox'] }); }} />
                </div>}
            </div>
        </>
    );
}
