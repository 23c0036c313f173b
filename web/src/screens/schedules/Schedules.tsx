// Schedules.tsx - what starts by the clock, when next, and did it the last time?
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Bar } from '../../app/Shell';
import { mayAct, useMe } from '../../app/session';
import { all, call, Problem, post, query } from '../../lib/api';
import { Glyph } from '../../lib/icons';
import { useLive } from '../../lib/live';
import { Bones, Button, Dialog, Empty, Field, Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, full, when } from '../../lib/time';
import type { Execution } from '../../lib/types';
import '../screens.css';
import './schedules.css';

interface Schedule { id: string; code: string; name?: string | null; kind: string; version: number; trigger: number; cron: string; timezone: string; catchUp: 'one' | 'none' | 'all'; status: 'active' | 'paused' | 'retired'; nextAt: string | null; lastAt: string | null; lastExecutionId: string | null; lastError: { code: string; message: string } | null; pausedAt: string | null; createdAt: string }
interface Preview { items: { at: string; local: string }[] }

const LOOK: Record<Schedule['status'], { word: string; glyph: string; tone: string }> = {
    active: { word: 'active', glyph: 'waiting', tone: 'wait' }, paused: { word: 'paused', glyph: 'paused', tone: 'none' }, retired: { word: 'retired', glyph: 'cancelled', tone: 'none' },
};
const CATCH_UP: Record<Schedule['catchUp'], string> = { one: 'once for all that was missed', none: 'what was missed is left out', all: 'each that was missed' };

/** 2026-11-23T07:00:00+01:00 as 2026-11-23 07:00 +01:00; seconds only where there are any. */
const onTheClock = (local: string) => local.replace('T', ' ').replace(/:00(?=[+Z-]|$)/, '').replace(/([+-]\d\d:\d\d)$/, ' $1');

/** The next ten times of an expression, on the clock of its zone. */
function Times({ cron, timezone }: { cron: string; timezone: string }) {
    const found = useQuery({ queryKey: ['preview', cron, timezone], enabled: cron.trim() !== '', retry: false, staleTime: 30000, queryFn: () => call<Preview>(`/schedules/preview${query({ cron: cron.trim(), timezone })}`) });
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return (
        <>
            <Refusal error={found.error} />
            <ol className="times">{(found.data?.items ?? []).map((item) => <li key={item.at} className="num"><span title={full(item.at)}>{onTheClock(item.local)}</span>{timezone !== here && <span className="t3 end">{t('{when} here', { when: when(item.at).replace(/\s?\d{4}(?=\s)/, '') })}</span>}</li>)}</ol>
        </>
    );
}

function TryOut({ close }: { close: () => void }) {
    const [cron, write] = useState('0 9 * * MON-FRI');
    const [timezone, choose] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
    return (
        <Dialog title={t('When would it tick?')} lead={t('A process starts by the clock when it has a trigger of the type schedule. Try the expression here, then write it there.')} onClose={close} actions={<Button kind="ink" onClick={close}>{t('Close')}</Button>}>
            <div className="two"><Field label={t('Expression')} id="cron" help={t('minute, hour, day, month, weekday; six fields have seconds first')}><input id="cron" data-autofocus className="inp mono" value={cron} onChange={(event) => write(event.target.value)} /></Field>
                <Field label={t('Time zone')} id="zone"><input id="zone" className="inp" value={timezone} onChange={(event) => choose(event.target.value)} /></Field></div>
            <Times cron={cron} timezone={timezone} />
        </Dialog>
    );
}

function Panel({ schedule, close }: { schedule: Schedule; close: () => void }) {
    const { me } = useMe();
    const client = useQueryClient();
    const go = useNavigate();
    const [error, refuse] = useState<unknown>(null);
    const [busy, work] = useState(false);
    const run = (what: () => Promise<unknown>) => {
        work(true);
        refuse(null);
        what().catch(refuse).finally(() => { work(false); void client.invalidateQueries({ queryKey: ['schedules'] }); });
    };
    const start = () => run(async () => {
        const made = await post<Execution>(`/schedules/${schedule.id}/run`, {}, { once: true });
        void go({ to: '/executions/$id', params: { id: made.id } });
    });
    return (
        <aside className="side" aria-label={schedule.name ?? schedule.code}>
            <div className="sidehead"><div className="row"><b className="cut">{schedule.name ?? schedule.code}</b><span className="end"><Button kind="quiet" small square icon="x" aria-label={t('Close')} onClick={close} /></span></div>
                <div className="meta"><Link to="/processes/$kind/$code" params={{ kind: `${schedule.kind}s`, code: schedule.code }}>{schedule.code}</Link> v{schedule.version}</div></div>
            {schedule.lastError && <div className="sect"><div className="why bad"><Glyph name="failed" tone="bad" /><div><div className="say"><b>{t('The last tick has started nothing.')}</b></div><div className="sub">“{schedule.lastError.message}” <code>{schedule.lastError.code}</code></div></div></div></div>}
            <div className="sect"><dl className="kv">
                <dt>{t('Expression')}</dt><dd className="mono">{schedule.cron}</dd><dt>{t('Time zone')}</dt><dd>{schedule.timezone}</dd>
                <dt>{t('After a pause')}</dt><dd>{t(CATCH_UP[schedule.catchUp])}</dd>
                <dt>{t('Last tick')}</dt><dd>{schedule.lastAt ? when(schedule.lastAt, { seconds: true }) : t('never')}{schedule.lastExecutionId && <> · <Link to="/executions/$id" params={{ id: schedule.lastExecutionId }}>{t('what it started')}</Link></>}</dd>
                {schedule.pausedAt && <><dt>{t('Paused since')}</dt><dd>{when(schedule.pausedAt)}</dd></>}
            </dl></div>
            <div className="sect grow"><h3>{schedule.status === 'active' ? t('The next ten times') : t('It would tick at')}</h3><Times cron={schedule.cron} timezone={schedule.timezone} /></div>
            {mayAct(me) && schedule.status !== 'retired' && <div className="acts">
                <Refusal error={error} sentence={error instanceof Problem && error.status === 409 ? t('It has gone on in the meantime. Nothing was changed.') : error ? t('Nothing was changed.') : undefined} />
                <div className="row"><span className="grow" />
                    {schedule.status === 'active' ? <Button icon="pause" disabled={busy} onClick={() => run(() => post(`/schedules/${schedule.id}/pause`))}>{t('Pause it')}</Button> : <Button icon="play" disabled={busy} onClick={() => run(() => post(`/schedules/${schedule.id}/resume`))}>{t('Resume it')}</Button>}
                    <Button kind="ink" icon="play" disabled={busy} onClick={start}>{t('Run it now')}</Button></div>
            </div>}
        </aside>
    );
}

export function Schedules() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const now = useNow(5000);
    const [trying, attempt] = useState(false);
    const found = useQuery({ queryKey: ['schedules'], queryFn: () => all<Schedule>('/schedules'), refetchInterval: 15000 });
    useLive(2000, () => true, () => void found.refetch());
    const list = found.data ?? [];
    const chosen = list.find((schedule) => schedule.id === search.id);
    const open = (id: string | undefined) => void go({ to: '/schedules', search: (id ? { id } : {}) as Record<string, string>, replace: true });
    return (
        <>
            <Bar title={t('Schedules')} busy={found.isLoading}><Button icon="clock" onClick={() => attempt(true)}>{t('Try an expression…')}</Button></Bar>
            <div className={`withside ${chosen ? 'split' : ''}`}>
                <div className="col list">
                    {list.length > 0 && <div className="thead scheds"><span>{t('Status')}</span><span>{t('Process')}</span><span>{t('Expression')}</span><span>{t('Time zone')}</span><span className="r">{t('Last tick')}</span><span className="r">{t('Next')}</span></div>}
                    <div className="scroll">
                        {found.isLoading && <Bones rows={4} />}
                        <Refusal error={found.error} />
                        {list.map((schedule) => {
                            const look = LOOK[schedule.status];
                            return (
                                <div key={schedule.id} className={`trow scheds ${schedule.id === chosen?.id ? 'sel cur' : ''}`}>
                                    <span>{schedule.lastError ? <span className="st bad pill"><Glyph name="failed" tone="bad" />{t('did not start')}</span> : <span className={`st ${look.tone} flat`}><Glyph name={look.glyph} tone={look.tone} />{t(look.word)}</span>}</span>
                                    <span className="cut"><button type="button" className="rowlink" onClick={() => open(schedule.id)}>{schedule.name ?? schedule.code}</button></span>
                                    <span className="mono cut">{schedule.cron}</span><span className="t2 cut">{schedule.timezone}</span>
                                    <span className="r t2 num">{schedule.lastAt ? when(schedule.lastAt, { now }) : '–'}</span>
                                    <span className="r num">{schedule.nextAt && schedule.status === 'active' ? <span title={full(schedule.nextAt)}>{when(schedule.nextAt, { now })} <span className="t3">{Date.parse(schedule.nextAt) > now ? t('in {long}', { long: between(new Date(now).toISOString(), schedule.nextAt) }) : ''}</span></span> : '–'}</span>
                                </div>
                            );
                        })}
                        {found.data && list.length === 0 && <Empty title={t('Nothing starts by the clock')} action={<Button kind="ink" icon="clock" onClick={() => attempt(true)}>{t('Try an expression…')}</Button>}>{t('Give a process a trigger of the type schedule, such as every weekday at nine, and publish it. It then stands here with its next times, and can be paused and run at once.')}</Empty>}
                    </div>
                </div>
                {chosen && <Panel key={chosen.id} schedule={chosen} close={() => open(undefined)} />}
            </div>
            {trying && <TryOut close={() => attempt(false)} />}
        </>
    );
}
