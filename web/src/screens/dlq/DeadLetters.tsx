// DeadLetters.tsx - what did the engine give up on, and what do I decide?
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { Bar, useKeys } from '../../app/Shell';
import { useCountChange, useCounts } from '../../app/counts';
import { mayAct, useMe } from '../../app/session';
import { all, Problem, post } from '../../lib/api';
import { readJson } from '../../lib/exact';
import { Glyph } from '../../lib/icons';
import { Json } from '../../lib/json';
import { Bones, Button, Dialog, Empty, Field, Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, number, shortly, when } from '../../lib/time';
import type { Letter } from '../../lib/types';
import './dlq.css';

const KINDS: Record<string, { word: string; glyph: string; tone: string; means: string }> = {
    incident: { word: 'held', glyph: 'held', tone: 'held', means: 'The execution stands at this step and waits for a person.' },
    compensation: { word: 'undo failed', glyph: 'undofail', tone: 'undo', means: 'Undoing this step was tried and given up: what it did is still done.' },
    reconcile: { word: 'outcome unknown', glyph: 'unknown', tone: 'held', means: 'Nobody could find out whether this step has happened. It is not tried a second time until you say so.' },
    outbox: { word: 'not delivered', glyph: 'cancelled', tone: 'none', means: 'A message was tried as often as it may be, and given up. The execution has gone on.' },
    execution: { word: 'not loadable', glyph: 'failed', tone: 'bad', means: 'The execution cannot be read: what it needs is missing or broken.' },
};
const whoseOf = (letter: Letter) => letter.key ?? (letter.executionId ? `…${letter.executionId.slice(-8)}` : t('no execution'));
const kindOf = (letter: Letter) => KINDS[letter.kind] ?? { word: letter.kind, glyph: 'cancelled', tone: 'none', means: '' };

const OUTCOMES = [
    { value: 'succeeded', label: 'It happened', means: 'The step completes with this output, and the process goes on.' },
    { value: 'not_happened', label: 'It did not happen', means: 'It is tried again, with the same key.' },
    { value: 'failed', label: 'It was refused', means: 'It counts as an error: what was done before is undone.' },
];

function Detail({ letter, close }: { letter: Letter; close: () => void }) {
    const { me } = useMe();
    const client = useQueryClient();
    const now = useNow(10000);
    const [note, write] = useState('');
    const [outcome, choose] = useState('');
    const [output, fill] = useState('');
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    useEffect(() => { write(''); choose(''); fill(''); refuse(null); }, [letter.id]);
    const kind = kindOf(letter);
    const isOpen = letter.status === 'open';
    const run = async (what: () => Promise<unknown>) => {
        work(true);
        refuse(null);
        try {
            await what();
        } catch (why) {
            refuse(why instanceof SyntaxError ? t('The result is no JSON: {why}', { why: why.message }) : why);
        } finally {
            work(false);
            void client.invalidateQueries({ queryKey: ['dlq'] });
        }
    };
    const resolve = () => run(async () => post(`/dlq/${letter.id}/resolve`, { note, ...(outcome ? { outcome, ...(output.trim() ? { output: readJson(output) } : {}) } : {}) }));
    const doubt = letter.kind === 'reconcile';
    return (
        <aside className="letter" aria-label={t('Dead letter')}>
            <div className="scroll">
                <div className="hd">
                    <div className="row"><b className="cut">{whoseOf(letter)}</b>{letter.step && <span className="tag mono">{letter.step}</span>}<span className="end row">{letter.executionId && <Link to="/executions/$id" params={{ id: letter.executionId }}>{t('Open execution')}</Link>}<Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div>
                    <div className="meta">{letter.code} · {t('since {when}', { when: when(letter.createdAt, { seconds: true }) })}, {between(letter.createdAt, now)}</div>
                    <div className={`why ${kind.tone}`}><Glyph name={kind.glyph} tone={kind.tone} /><div><div className="say"><b>{letter.cause?.message ?? t('No cause is recorded.')}</b> {letter.cause && <code>{letter.cause.code}</code>}</div><div className="sub">{t(kind.means)}</div></div></div>
                </div>
                <div className="sect"><h3>{t('What was tried')}</h3>
                    <dl className="kv">
                        <dt>{t('Attempts')}</dt><dd className="num">{letter.attempts}</dd>
                        <dt>{t('Class')}</dt><dd>{letter.cause?.class ?? '–'}</dd>
                        {letter.cause?.source && <><dt>{t('Raised at')}</dt><dd><code>{letter.cause.source}</code>{letter.cause.version && <span className="t3"> {t('of version {n}', { n: letter.cause.version })}</span>}</dd></>}
                    </dl>
                    {letter.payload !== null && letter.payload !== undefined && <div className="payload"><Json value={letter.payload} /></div>}
                </div>
                {!isOpen && <div className="sect"><h3>{letter.status === 'retried' ? t('It was tried again') : t('It was resolved')}</h3><p className="t2">{letter.note ? `“${letter.note}”` : ''} {letter.resolvedAt ? when(letter.resolvedAt) : ''}</p></div>}
                {isOpen && mayAct(me) && (
                    <div className="sect">
                        <h3>{doubt ? t('What happened?') : t('Close it by hand')}</h3>
                        {doubt && OUTCOMES.map((option) => (
                            <label key={option.value} className="outcome"><input type="radio" name="outcome" checked={outcome === option.value} onChange={() => choose(option.value)} /><span><span className="m5">{t(option.label)}</span><br /><span className="t3">{t(option.means)}</span></span></label>
                        ))}
                        {doubt && outcome === 'succeeded' && <textarea className="inp mono" aria-label={t('Output')} placeholder='{ "id": "…" }' value={output} onChange={(event) => fill(event.target.value)} />}
                        <Field label={t('Note, for the audit')} id="note"><input id="note" className="inp" value={note} onChange={(event) => write(event.target.value)} placeholder={t('what was done, and where it can be seen')} /></Field>
                    </div>
                )}
            </div>
            {isOpen && mayAct(me) && (
                <div className="acts">
                    <Refusal error={error} sentence={error instanceof Problem && error.status === 409 ? t('It has gone on in the meantime. Nothing was changed.') : error ? t('Nothing was changed.') : undefined} />
                    <div className="row"><span className="meta grow">{t('as {name}', { name: me.name })}</span>
                        <Button disabled={busy || note.trim() === '' || (doubt && !outcome)} onClick={resolve}>{doubt && outcome ? t('Resolve: {outcome}', { outcome: t(OUTCOMES.find((o) => o.value === outcome)!.label) }) : note.trim() === '' ? t('A note closes it') : t('Close it')}</Button>
                        <Button kind="ink" icon="redo" disabled={busy} onClick={() => run(() => post(`/dlq/${letter.id}/retry`, {}, { once: true }))}>{doubt ? t('Ask again') : t('Try again')}</Button>
                    </div>
                </div>
            )}
        </aside>
    );
}

/** Exactly the letters that the list shows: those of one kind, of one execution, and none that came later. */
function RetryAll({ letters, kind, execution, close }: { letters: Letter[]; kind: string; execution: string | undefined; close: () => void }) {
    const client = useQueryClient();
    const [counts, count] = useState<{ matched: number; skipped: number } | null>(null);
    const [done, finish] = useState<{ done: number; failed: number; errors: { message?: string }[] } | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const [to] = useState(() => new Date().toISOString());
    const filter = { ...(kind ? { kind } : {}), ...(execution ? { execution } : {}), to };
    useEffect(() => { post<{ matched: number; skipped: number }>('/dlq/bulk', { action: 'retry', filter, dryRun: true }).then(count, refuse);
    // eslint-disable-next-line react-hooks/exhaustive-deps
    }, []);
    const n = counts ? counts.matched - counts.skipped : 0;
    const run = async () => {
        const sum = { done: 0, failed: 0, errors: [] as { message?: string }[] };
        let cursor: string | null = null;
        try {
            do {
                const got: { done: number; failed: number; errors: { message?: string }[]; more?: boolean; nextCursor?: string | null } = await post('/dlq/bulk', { action: 'retry', filter, ...(cursor ? { cursor } : {}) }, { once: true });
                sum.done += got.done;
                sum.failed += got.failed;
                sum.errors.push(...got.errors);
                cursor = got.more ? (got.nextCursor ?? null) : null;
            } while (cursor);
            finish(sum);
        } catch (why) {
            refuse(why);
        }
        void client.invalidateQueries({ queryKey: ['dlq'] });
    };
    return (
        <Dialog title={t('Try {n} dead letter again?|Try {n} dead letters again?', { n: counts ? n : letters.length })} onClose={close} lead={t('Each goes on where it stands. What fails again is another letter.')} actions={done
            ? <Button kind="ink" onClick={close}>{t('Back to the list')}</Button>
            : <><Button kind="quiet" onClick={close}>{t('Go back')}</Button><Button kind="ink" disabled={!counts || n === 0} onClick={() => void run()}>{t('Try {n} again', { n })}</Button></>}>
            <dl className="facts"><dt>{t('Filter')}</dt><dd className="tags"><span className="tag">{t('open')}</span>{kind && <span className="tag">{t(KINDS[kind]?.word ?? kind)}</span>}{execution && <span className="tag">{t('one execution')}</span>}</dd>
                <dt>{t('Will run')}</dt><dd>{counts ? <b className="num">{n}</b> : <span className="t3">{t('counting…')}</span>} <span className="t2">{t('as of {when}; what comes later is not touched', { when: when(to, { seconds: true }) })}</span></dd></dl>
            {done && <p>{t('{n} done', { n: done.done })}{done.failed > 0 ? `, ${t('{n} refused', { n: done.failed })}` : ''}</p>}
            <Refusal error={error} />
        </Dialog>
    );
}

export function DeadLetters() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const status = search.status ?? 'open';
    const kind = search.kind ?? '';
    const go = useNavigate();
    const { me } = useMe();
    const [retrying, retry] = useState(false);
    const found = useQuery({ queryKey: ['dlq', 'list', status, search.execution], queryFn: () => all<Letter>(`/dlq?status=${status}${search.execution ? `&execution=${encodeURIComponent(search.execution)}` : ''}`, 1000) });
    useCountChange(useCounts()?.deadLetters, () => void found.refetch());
    const letters = useMemo(() => (found.data ?? []).filter((letter) => !kind || letter.kind === kind), [found.data, kind]);
    const chosen = (found.data ?? []).find((letter) => letter.id === search.id) ?? null;
    const change = (to: Record<string, string | undefined>) => void go({ to: '/dlq', search: { ...search, ...to } as Record<string, string>, replace: true });
    const at = letters.findIndex((letter) => letter.id === search.id);
    useKeys({ j: () => change({ id: letters[Math.min(letters.length - 1, at + 1)]?.id }), k: () => change({ id: letters[Math.max(0, at - 1)]?.id }), Escape: () => change({ id: undefined }) });
    const counts = new Map<string, number>();
    for (const letter of found.data ?? []) counts.set(letter.kind, (counts.get(letter.kind) ?? 0) + 1);
    return (
        <>
            <Bar title={t('Dead letters')} busy={found.isLoading}>{status === 'open' && letters.length > 0 && mayAct(me) && <Button onClick={() => retry(true)}>{t('Try {n} again…', { n: number(letters.length) })}</Button>}</Bar>
            <div className={`dlq ${chosen ? 'split' : ''}`}>
                <div className="col list">
                    <div className="views" role="toolbar" aria-label={t('Views')}>{[['open', t('Still open')], ['retried', t('Tried again')], ['resolved', t('Resolved')], ['all', t('All')]].map(([value, label]) => <button key={value} type="button" aria-pressed={status === value} className={status === value ? 'on' : ''} onClick={() => change({ status: value === 'open' ? undefined : value, id: undefined, kind: undefined })}>{label}{status === value && found.data && <span className="num">{number(found.data.length)}</span>}</button>)}</div>
                    {search.execution && <p className="note"><span>{t('Only those of one execution.')}</span> <Link to="/executions/$id" params={{ id: search.execution }}>{t('Open it')}</Link> <button type="button" className="btn link" onClick={() => change({ execution: undefined })}>{t('Show all')}</button></p>}
                    <div className="facets" role="toolbar" aria-label={t('By kind')}>{[...counts].map(([name, n]) => { const k = KINDS[name] ?? { word: name, glyph: 'cancelled', tone: 'none' }; return <button key={name} type="button" aria-pressed={kind === name} onClick={() => change({ kind: kind === name ? undefined : name })}><span className={`st flat ${k.tone}`}><Glyph name={k.glyph} tone={k.tone} /><span className="num">{number(n)}</span>{t(k.word)}</span></button>; })}</div>
                    <div className="thead"><span>{t('What')}</span><span>{t('Whose')}</span><span>{t('Where, and why')}</span><span className="r">{t('Tries')}</span><span className="r">{t('Since')}</span></div>
                    <div className="scroll">
                        {found.isLoading && <Bones />}
                        <Refusal error={found.error} />
                        {letters.map((letter) => {
                            const k = kindOf(letter);
                            return (
                                <div key={letter.id} className={`trow ${chosen?.id === letter.id ? 'sel cur' : ''}`}>
                                    <span><span className={`st ${k.tone} ${letter.status === 'open' ? 'pill' : 'flat'}`}><Glyph name={k.glyph} tone={k.tone} />{t(k.word)}</span></span>
                                    <span className="cut"><Link className="key" to="/dlq" search={{ ...search, id: letter.id } as Record<string, string>}>{whoseOf(letter)}</Link></span>
                                    <span className="cut">{letter.step && <span className="tag mono at">{letter.step}</span>}<span className="m5">{letter.cause?.message ?? t('No cause is recorded.')}</span> {letter.code && <span className="t3">· {letter.code}</span>}</span>
                                    <span className="r t2 num">{letter.attempts}</span><span className="r t2 num">{shortly(letter.createdAt)}</span>
                                </div>
                            );
                        })}
                        {found.data && letters.length === 0 && <Empty title={status === 'open' ? t('Nobody has to decide anything') : t('Nothing here')}>{t('What the engine gives up on comes here: steps that are held, undos that fail, outcomes that nobody could find out. Nothing here is tried again by itself.')}</Empty>}
                        {letters.length > 0 && <p className="t3 foot">{t('Nothing here is tried again by itself. What is resolved stays in the audit.')}</p>}
                    </div>
                </div>
                {chosen && <Detail letter={chosen} close={() => change({ id: undefined })} />}
            </div>
            {retrying && <RetryAll letters={letters} kind={kind} execution={search.execution} close={() => retry(false)} />}
        </>
    );
}
