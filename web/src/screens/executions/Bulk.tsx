// Bulk.tsx - the same for many: what will happen, to how many, by which filter; then it happens, and is counted.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call, Problem, post, remove } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Button, Dialog, Field, Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { number, when } from '../../lib/time';
import type { Answers, Execution } from '../../lib/types';
import { type Filter, FIELDS, frozen, inWords } from './filters';

export const ACTIONS = ['retry', 'skip', 'again', 'resume', 'pause', 'cancel', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

const VERB: Record<Action, string> = { retry: 'Retry {n}…', skip: 'Skip {n}…', again: 'Start {n} again…', resume: 'Resume {n}…', pause: 'Pause {n}…', cancel: 'Cancel {n}…', delete: 'Delete {n}…' };
const QUESTION: Record<Action, string> = {
    retry: 'Retry {n} execution?|Retry {n} executions?', skip: 'Skip the step of {n} execution?|Skip the step of {n} executions?', again: 'Start {n} execution again?|Start {n} executions again?',
    resume: 'Resume {n} execution?|Resume {n} executions?', pause: 'Pause {n} execution?|Pause {n} executions?', cancel: 'Cancel {n} execution?|Cancel {n} executions?', delete: 'Delete {n} execution?|Delete {n} executions?',
};
const DO: Record<Action, string> = {
    retry: 'Retry {n} execution|Retry {n} executions', skip: 'Skip {n} step|Skip {n} steps', again: 'Start {n} again|Start {n} again', resume: 'Resume {n} execution|Resume {n} executions',
    pause: 'Pause {n} execution|Pause {n} executions', cancel: 'Cancel {n} execution|Cancel {n} executions', delete: 'Delete {n} execution|Delete {n} executions',
};
const MEANS: Record<Action, string> = {
    retry: 'Each goes on at the step that failed, with the version it began with. Nothing that is completed runs again.',
    skip: 'The step where each is held counts as skipped; the next one follows.',
    again: 'A new execution begins for each, with the same input and the published version.',
    resume: 'Each goes on where it was paused; what has become due meanwhile happens at once.',
    pause: 'No step begins and no wait ends until they are resumed. Deadlines go on.',
    cancel: 'Each is stopped, and what it has done is undone, the last first.',
    delete: 'The executions and their history are erased for good.',
};

interface Counts { matched: number; done: number; failed: number; skipped: number; more: boolean; nextCursor: string | null; errors: { id?: string; executionId?: string; message?: string; detail?: string; code?: string }[] }

export type Chosen = { by: 'ids'; rows: Execution[] } | { by: 'filter'; filter: Filter; order: string };

const MANY = 100; // from here on deleting asks for the number

export function BulkDialog({ action, chosen, close, done }: { action: Action; chosen: Chosen; close: () => void; done: () => void }) {
    const asOf = useRef(Date.now());
    const filter = chosen.by === 'filter' ? frozen(chosen.filter, asOf.current) : null;
    // What was chosen when the dialog opened: the list goes on while it runs.
    const [rows] = useState(() => (chosen.by === 'ids' ? chosen.rows : []));
    const able = useMemo(() => rows.filter((x) => x.actions.includes(action)), [rows, action]);
    const [version, chooseVersion] = useState('');
    const codes = chosen.by === 'filter' ? (chosen.filter.code?.split(',') ?? []) : [...new Set(able.map((x) => x.code))];
    const code = codes.length === 1 ? codes[0]! : '';
    const kind = able[0]?.kind ?? 'scenario';
    const versions = useQuery({ queryKey: ['versions', kind, code], enabled: action === 'retry' && code !== '', queryFn: () => call<Answers['listScenarioVersions']>(`/${kind}s/${code}/versions?limit=50`) });
    const [counts, count] = useState<Counts | null>(null);
    const [error, refuse] = useState<unknown>(null);
    const [reason, explain] = useState('');
    const [typed, type] = useState('');
    const [progress, go] = useState<{ done: number; failed: string[]; over: boolean } | null>(null);
    const isStopping = useRef(false);
    const [stopping, stop] = useState(false);
    // How far it has come: after a lost answer it goes on from there, and begins nothing twice.
    const far = useRef<{ done: number; failed: string[]; next: number; cursor: string | null }>({ done: 0, failed: [], next: 0, cursor: null });
    const client = useQueryClient();

    useEffect(() => {
        if (!filter) return;
        post<Counts>('/executions/bulk', { action, filter, dryRun: true }).then(count, refuse);
    // once: what is counted is what was asked for when the dialog opened
    // eslint-disable-next-line react-hooks/exhaustive-deps
    }, []);

    const n = filter ? (counts ? counts.matched - counts.skipped : 0) : able.length;
    const left = filter ? (counts?.skipped ?? 0) : rows.length - able.length;
    const body = action === 'cancel' || action === 'pause' ? (reason ? { reason } : {}) : version ? { version: Number(version) } : {};

    const tell = (over: boolean) => go({ done: far.current.done, failed: [...far.current.failed], over });

    async function runIds() {
        const at = far.current;
        for (; at.next < able.length && !isStopping.current; at.next++) {
            const x = able[at.next]!;
            try {
                if (action === 'delete') await remove(`/executions/${x.id}`);
                else await post(`/executions/${x.id}/${action}`, body, { once: true });
                at.done++;
            } catch (why) {
                if (!(why instanceof Problem)) throw why;
                at.failed.push(`${x.key ?? `…${x.id.slice(-8)}`}: ${why.message}`);
            }
            tell(false);
        }
    }

    async function runFilter() {
        const at = far.current;
        do {
            const got: Counts = await post('/executions/bulk', { action, filter, dryRun: false, ...body, ...(at.cursor ? { cursor: at.cursor } : {}) }, { once: true });
            at.done += got.done;
            for (const e of got.errors) at.failed.push(`…${(e.executionId ?? e.id ?? '').slice(-8)}: ${e.message ?? e.detail ?? e.code ?? ''}`);
            at.cursor = got.more ? got.nextCursor : null;
            tell(false);
        } while (at.cursor && !isStopping.current);
    }

    const run = async () => {
        refuse(null);
        tell(false);
        try {
            await (filter ? runFilter() : runIds());
            tell(true);
        } catch (why) {
            refuse(why);
            go(null);
        }
        void client.invalidateQueries();
    };

    const isRunning = progress !== null && !progress.over;
    /** While it runs, leaving means stopping: nothing goes on unseen. */
    const leave = () => {
        if (!isRunning) return close();
        isStopping.current = true;
        stop(true);
    };

    const nText = number(n);
    const mustType = action === 'delete' && n >= MANY;
    const same = new Set(able.map((x) => x.waitingFor?.error?.message ?? x.error?.message));
    const begun = new Set(able.map((x) => `${x.code} ${x.version}`));
    return (
        <Dialog title={t(QUESTION[action], { n: nText, count: n })} onClose={leave} lead={action === 'retry' && version ? t('Each goes on at the step that failed, with version {n}. Nothing that is completed runs again.', { n: version }) : t(MEANS[action])} actions={
            progress?.over
                ? <Button kind="ink" onClick={() => { done(); close(); }}>{t('Back to the list')}</Button>
                : <>
                    {progress && <span className="t3 grow num">{t('{done} of {n}', { done: number(progress.done), n: nText })}</span>}
                    <Button kind="quiet" disabled={stopping} onClick={leave}>{!isRunning ? t('Go back') : stopping ? t('Stopping…') : t('Stop')}</Button>
                    <Button kind={action === 'delete' || action === 'cancel' ? 'bad solid' : 'ink'} disabled={n === 0 || progress !== null || (mustType && typed !== String(n))} onClick={run}>{t(DO[action], { n: nText, count: n })}</Button>
                </>
        }>
            <dl className="facts">
                {filter && <><dt>{t('Filter')}</dt><dd className="tags">{FIELDS.filter((name) => chosen.by === 'filter' && chosen.filter[name]).map((name) => <span key={name} className="tag">{inWords(name, (chosen as { filter: Filter }).filter[name]!).filter(Boolean).join(' ')}</span>)}{filter.q && <span className="tag">“{filter.q}”</span>}{Object.keys(chosen.by === 'filter' ? chosen.filter : {}).length === 0 && <span className="tag">{t('everything')}</span>}</dd></>}
                <dt>{t('Will run')}</dt>
                <dd>{filter && !counts && !error ? <span className="t3">{t('counting…')}</span> : <><b className="num">{nText}</b> <span className="t2">{t('as of {when}; what starts later is not touched', { when: when(asOf.current, { seconds: true }) })}{counts?.more ? `; ${t('at least')}` : ''}</span></>}</dd>
                <dt>{t('Left out')}</dt>
                <dd><b className="num">{number(left)}</b> {left > 0 && <span className="t2">{t('cannot be done in the state they are in')}</span>}</dd>
            </dl>
            {action === 'retry' && version === '' && able.length > 1 && same.size === 1 && begun.size === 1 && !progress && (
                <div className="note held"><Glyph name="held" tone="held" /><span>{t('All {n} failed with the same error: “{error}”. Unless the cause is mended they will most likely fail again.', { n: able.length, error: [...same][0] ?? '' })}</span></div>
            )}
            {action === 'retry' && code !== '' && !progress && <Field label={t('Run with')} id="bulk-version"><select id="bulk-version" className="inp" value={version} onChange={(event) => chooseVersion(event.target.value)}>
                <option value="">{t('the version it began with')}</option>
                {(versions.data?.items ?? []).filter((v) => v.status !== 'draft').map((v) => <option key={v.version} value={v.version}>{t('version {n}', { n: v.version })}{v.changeSummary ? `: ${v.changeSummary}` : ''}</option>)}
            </select></Field>}
            {(action === 'cancel' || action === 'pause') && !progress && <Field label={t('Reason')} note={t('optional, for history and audit')} id="reason"><input id="reason" className="inp" value={reason} onChange={(event) => explain(event.target.value)} /></Field>}
            {mustType && !progress && <Field label={t('Type {n} to delete them', { n: String(n) })} id="number"><input id="number" className="inp" inputMode="numeric" value={typed} onChange={(event) => type(event.target.value)} /></Field>}
            {progress?.over && <div className="note"><Icon name="check" /><span>{stopping && `${t('Stopped.')} `}{t('{n} done', { n: number(progress.done) })}{progress.failed.length > 0 && `, ${t('{n} refused', { n: progress.failed.length })}`}</span></div>}
            {progress?.failed.slice(0, 5).map((line) => <div key={line} className="refuse"><Glyph name="failed" tone="bad" /><span>{line}</span></div>)}
            <Refusal error={error} />
        </Dialog>
    );
}

export function BulkBar({ chosen, total, act, chooseAll, clear }: { chosen: Chosen; total: string; act: (action: Action) => void; chooseAll: () => void; clear: () => void }) {
    const numbers = ACTIONS.map((action) => [action, chosen.by === 'ids' ? chosen.rows.filter((x) => x.actions.includes(action)).length : null] as const).filter(([, n]) => n === null || n > 0);
    return (
        <div className="bulk" role="toolbar" aria-label={t('Chosen executions')}>
            <span className="m5 num">{chosen.by === 'ids' ? t('{n} selected', { n: number(chosen.rows.length) }) : t('All that match are selected')}</span>
            {chosen.by === 'ids' && <Button kind="link" onClick={chooseAll}>{total ? t('Select all {n} that match', { n: total }) : t('Select all that match')}</Button>}
            <span className="sep" />
            {numbers.map(([action, n], i) => (
                <Button key={action} kind={i === 0 ? 'ink' : action === 'delete' ? 'bad' : 'plain'} onClick={() => act(action)}>{t(VERB[action], { n: n === null ? '' : number(n) }).replace('  ', ' ').replace(' …', '…')}</Button>
            ))}
            <span className="sep" />
            <Button kind="quiet" square icon="x" aria-label={t('Clear the selection')} onClick={clear} />
        </div>
    );
}
