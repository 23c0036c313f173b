// Jobs.tsx - what external workers have to do, by type: how much waits, since when, and who is at work on it.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, type Page } from '../../lib/api';
import { Glyph } from '../../lib/icons';
import { Refusal } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, number, when } from '../../lib/time';

interface Job { id: string; type: string; status: 'ready' | 'leased'; executionId: string; worker: string | null; leaseUntil: string | null; createdAt: string }
interface Kind { type: string; ready: Job[]; leased: Job[] }

const LOOKED_AT = 500;
const LATE_MS = 60000; // a job that no worker takes for so long has none

export function Jobs({ now }: { now: number }) {
    const found = useQuery({ queryKey: ['jobs'], refetchInterval: 5000, queryFn: () => call<Page<Job>>(`/jobs?limit=${LOOKED_AT}`) });
    const kinds = new Map<string, Kind>();
    for (const job of found.data?.items ?? []) {
        const kind = kinds.get(job.type) ?? { type: job.type, ready: [], leased: [] };
        kind[job.status].push(job);
        kinds.set(job.type, kind);
    }
    return (
        <div className="card"><h2>{t('Work for workers')}<span className="meta">{t('external procedures, by name')}</span></h2>
            <Refusal error={found.error} />
            {found.data && kinds.size === 0 && <p className="t3">{t('No step waits for a worker.')}</p>}
            {[...kinds.values()].sort((a, b) => b.ready.length - a.ready.length).map((kind) => {
                const oldest = kind.ready.reduce<Job | null>((first, job) => (!first || job.createdAt < first.createdAt ? job : first), null);
                const late = oldest !== null && now - Date.parse(oldest.createdAt) > LATE_MS;
                const workers = [...new Set(kind.leased.map((job) => job.worker).filter(Boolean))];
                return (
                    <div key={kind.type} className="trow jobs">
                        <span className="m5 mono cut">{kind.type}</span>
                        <span className="cut">{late && kind.leased.length === 0 ? <span className="st held"><Glyph name="held" tone="held" />{t('no worker takes it')}</span> : <span className="t2">{workers.length > 0 ? t('at work: {names}', { names: workers.join(', ') }) : t('waits to be taken')}</span>}</span>
                        <span className="t2 num cut">{oldest ? <Link to="/executions/$id" params={{ id: oldest.executionId }}>{t('the oldest since {when} ({long})', { when: when(oldest.createdAt), long: between(oldest.createdAt, now) })}</Link> : '–'}</span>
                        <span className="r num">{t('{n} waiting', { n: number(kind.ready.length) })}, {t('{n} taken', { n: number(kind.leased.length) })}</span>
                    </div>
                );
            })}
            {found.data?.nextCursor && <p className="t3">{t('The first {n} jobs are counted.', { n: number(LOOKED_AT) })}</p>}
        </div>
    );
}
