// Outbox.tsx - what is not delivered yet, why, and what can be done about it?
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Bar } from '../../app/Shell';
import { useCountChange, useCounts } from '../../app/counts';
import { mayAct, useMe } from '../../app/session';
import { call, type Page, Problem, post, query } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Bones, Button, Empty, Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { full, shortly, when } from '../../lib/time';
import '../screens.css';
import './outbox.css';

interface Message { id: string; kind: string; destination: string; name: string; executionId: string | null; attempts: number; nextAttemptAt: string | null; error: { code: string; message: string } | null; status: 'pending' | 'parked'; outOfOrder: boolean; deadLetterId: string | null; createdAt: string }

const KINDS: Record<string, { icon: string; word: string }> = { event: { icon: 'signal', word: 'event' }, email: { icon: 'mail', word: 'e-mail' }, sms: { icon: 'bell', word: 'text message' }, push: { icon: 'bell', word: 'push' } };

function Row({ message, again, now }: { message: Message; again: () => void; now: number }) {
    const { me } = useMe();
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const kind = KINDS[message.kind] ?? { icon: 'out', word: message.kind };
    const parked = message.status === 'parked';
    const retry = () => {
        work(true);
        post(`/outbox/${message.id}/retry`).then(() => { refuse(null); again(); }, (why: unknown) => { refuse(why); again(); }).finally(() => work(false));
    };
    const why = message.error?.message ?? (message.nextAttemptAt ? t('not tried yet') : t('it waits for an earlier one of its execution'));
    return (
        <>
            <div className="trow outbox">
                <span><span className={`st ${parked ? 'held pill' : 'wait flat'}`}><Glyph name={parked ? 'held' : 'waiting'} tone={parked ? 'held' : 'wait'} />{parked ? t('given up') : t('pending')}</span></span>
                <span className="row"><Icon name={kind.icon} small /><span className="cut">{t(kind.word)}</span></span>
                <span className="cut">{message.executionId ? <Link className="key" to="/executions/$id" params={{ id: message.executionId }}>{message.name}</Link> : <b className="m5">{message.name}</b>} <span className="t3">{message.destination}</span></span>
                <span className="cut" title={why}>{message.error && <code className="t3">{message.error.code} </code>}<span className={parked ? 'm5' : ''}>{why}</span>{message.outOfOrder && <span className="t3"> · {t('out of order')}</span>}</span>
                <span className="r t2 num">{message.attempts}</span>
                <span className="r t2 num" title={message.nextAttemptAt ? full(message.nextAttemptAt) : undefined}>{message.nextAttemptAt ? when(message.nextAttemptAt, { seconds: true, now }) : '–'}</span>
                <span className="r t2 num" title={full(message.createdAt)}>{shortly(message.createdAt, now)}</span>
                <span className="r row acts above">
                    {message.deadLetterId && <Link className="btn quiet sm" to="/dlq" search={{ id: message.deadLetterId }}>{t('Resolve…')}</Link>}
                    {mayAct(me) && <Button small disabled={busy} onClick={retry}>{t('Send it now')}</Button>}
                </span>
            </div>
            {error !== null && <div className="outrefuse"><Refusal error={error} sentence={error instanceof Problem && error.status === 409 ? t('It cannot go yet. Nothing was changed.') : t('Nothing was changed.')} /></div>}
        </>
    );
}

export function Outbox() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const now = useNow(5000);
    const filter = { status: search.status, kind: search.kind, destination: search.destination, execution: search.execution };
    const found = useInfiniteQuery({ queryKey: ['outbox', filter], initialPageParam: '', queryFn: ({ pageParam }) => call<Page<Message>>(`/outbox${query({ ...filter, limit: 100, cursor: pageParam })}`), getNextPageParam: (page) => page.nextCursor ?? undefined, refetchInterval: 30000 });
    useCountChange(useCounts()?.outboxWaiting, () => void found.refetch());
    const messages = (found.data?.pages ?? []).flatMap((page) => page.items);
    const change = (to: Record<string, string | undefined>) => void go({ to: '/outbox', search: { ...search, ...to } as Record<string, string>, replace: true });
    const filtered = Object.values(filter).some(Boolean);
    const views: [string | undefined, string][] = [[undefined, t('All')], ['pending', t('Pending')], ['parked', t('Given up')]];
    return (
        <>
            <Bar title={t('Outbox')} busy={found.isLoading} />
            <div className="views" role="toolbar" aria-label={t('Views')}>
                {views.map(([value, label]) => <button key={label} type="button" aria-pressed={search.status === value} className={search.status === value ? 'on' : ''} onClick={() => change({ status: value })}>{label}</button>)}
                <span className="sep" />
                {Object.entries(KINDS).map(([name, kind]) => <button key={name} type="button" aria-pressed={search.kind === name} className={search.kind === name ? 'on' : ''} onClick={() => change({ kind: search.kind === name ? undefined : name })}><Icon name={kind.icon} small />{t(kind.word)}</button>)}
                {search.destination && <button type="button" className="on" onClick={() => change({ destination: undefined })}>{search.destination}<Icon name="x" small /></button>}
                {search.execution && <button type="button" className="on" onClick={() => change({ execution: undefined })}>{t('one execution')}<Icon name="x" small /></button>}
            </div>
            <div className="scroll outlist">
                {messages.length > 0 && <div className="thead outbox"><span>{t('Status')}</span><span>{t('Kind')}</span><span>{t('What, to whom')}</span><span>{t('Why it is not delivered')}</span><span className="r">{t('Tries')}</span><span className="r">{t('Next')}</span><span className="r">{t('Since')}</span><span /></div>}
                {found.isLoading && <Bones />}
                <Refusal error={found.error} />
                {messages.map((message) => <Row key={message.id} message={message} now={now} again={() => void found.refetch()} />)}
                {found.hasNextPage && <p className="foot"><Button kind="quiet" onClick={() => void found.fetchNextPage()}>{t('Show more')}</Button></p>}
                {found.data && messages.length === 0 && (filtered
                    ? <Empty title={t('Nothing matches')} action={<Button kind="ink" onClick={() => void go({ to: '/outbox', search: {}, replace: true })}>{t('Clear filters')}</Button>}>{t('No message waits with these filters.')}</Empty>
                    : <Empty title={t('Everything is delivered')}>{t('Events, e-mails and messages to phones are written down with the step that sends them, and stand here until they have arrived. What is given up has a dead letter.')}</Empty>)}
            </div>
        </>
    );
}
