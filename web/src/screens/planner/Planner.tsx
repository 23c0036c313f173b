// Planner.tsx - the board, the pool and what is in one's own hands; what is chosen stands in the address.
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Bar } from '../../app/Shell';
import { isExecutor, leads, useMe } from '../../app/session';
import { all, call, type Page, post, query } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Button, Empty, Refusal, Segments, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, when } from '../../lib/time';
import { useTaskActions } from './ActionDialog';
import { Board } from './Board';
import { Pool } from './Pool';
import { EndShift } from './Shifts';
import { TaskBody } from './Task';
import { NewTask } from './TaskForm';
import { type Escalation, filterOf, isOpen, STATUSES, type Task, type TaskStatus, useFollowTasks, usePeople, useShifts } from './tasks';
import '../screens.css';
import './planner.css';

/** Who asks for help: the first of them, and how many there are. */
function Attention({ project, name, changed }: { project: string | undefined; name: (id: string | null) => string; changed: () => void }) {
    const { me } = useMe();
    const now = useNow(10000);
    const [at, turn] = useState(0);
    const [error, refuse] = useState<unknown>(null);
    const found = useQuery({ queryKey: ['tasks', 'attention', project ?? ''], queryFn: () => call<Page<Task>>(`/tasks${query({ needs_attention: 'true', project_id: project, limit: 50 })}`) });
    const tasks = (found.data?.items ?? []).filter((task) => task.status !== 'done' && task.status !== 'canceled');
    const task = tasks[at % Math.max(tasks.length, 1)];
    const escalations = useQuery({ queryKey: ['tasks', 'escalations', task?.id], enabled: Boolean(task), queryFn: () => call<Page<Escalation>>(`/tasks/${task!.id}/escalations?limit=20`) });
    const open = escalations.data?.items.find((escalation) => escalation.acknowledged_at === null);
    if (!task || !open) return null;
    return (
        <div className="attention" role="status">
            <Glyph name="held" tone="held" />
            <span className="grow"><b className="m5">{open.created_by ? t('{name} asks for help: {kind}', { name: name(open.created_by), kind: t(open.kind) }) : t('It is {kind}', { kind: t(open.kind) })}</b>{open.message ? ` “${open.message}”` : ''} <span className="t2">· <Link to="/tasks/$id" params={{ id: task.id }}>{task.title}</Link> · {t('since {when}, {long}', { when: when(open.created_at, { now }), long: between(open.created_at, now) })}</span></span>
            {tasks.length > 1 && <button type="button" className="btn quiet sm" onClick={() => turn(at + 1)}>{t('{n} of {all}', { n: (at % tasks.length) + 1, all: tasks.length })}</button>}
            {leads(me) && <Button small onClick={() => post(`/tasks/${task.id}/escalations/${open.id}/acknowledge`).then(() => { refuse(null); changed(); }, refuse)}>{t('Acknowledge')}</Button>}
            <Refusal error={error} />
        </div>
    );
}

function Mine({ changed }: { changed: () => void }) {
    const found = useQuery({ queryKey: ['tasks', 'mine'], queryFn: async () => (await Promise.all((['in_progress', 'assigned', 'submitted'] as const).map((status) => call<Page<Task>>(`/tasks?assigned_to=me&status=${status}&limit=5`)))).flatMap((page) => page.items) });
    const task = found.data?.[0];
    if (!found.data) return <Refusal error={found.error} />;
    if (!task) return <Empty title={t('You have no task')} action={<Link className="btn ink" to="/planner" search={{ view: 'pool' }}>{t('Take one from the pool')}</Link>}>{t('A task is yours from taking it until it is accepted, or your shift ends.')}</Empty>;
    return <TaskBody id={task.id} changed={changed} />;
}

function ShiftLine({ changed }: { changed: () => void }) {
    const { me } = useMe();
    const found = useShifts();
    const now = useNow(30000);
    const [ending, end] = useState(false);
    const shift = found.data?.items.find(isOpen);
    if (!shift) return leads(me) && found.data ? <Link className="btn quiet" to="/planner/shifts">{t('Start a shift…')}</Link> : null;
    return (
        <>
            <span className="shiftline t2"><b className="m5">{shift.name}</b> · {t('{n} person|{n} people', { n: shift.members.length })}{shift.ends_at ? ` · ${Date.parse(shift.ends_at) > now ? t('ends {when}, in {long}', { when: when(shift.ends_at, { now }), long: between(new Date(now).toISOString(), shift.ends_at) }) : t('ends {when}', { when: when(shift.ends_at, { now }) })}` : ''}</span>
            {leads(me) && <Button className="endshift" onClick={() => end(true)}>{t('End shift…')}</Button>}
            {ending && <EndShift shift={shift} close={() => end(false)} changed={changed} />}
        </>
    );
}

export function PlannerPage() {
    const search = useSearch({ strict: false }) as Record<string, string>;
    const go = useNavigate();
    const { me } = useMe();
    const people = usePeople();
    const [making, make] = useState(false);
    const [typed, type] = useState(search.q ?? '');
    const again = useFollowTasks();
    const changed = useCallback(() => void again(), []); // eslint-disable-line react-hooks/exhaustive-deps
    // Who takes a task goes on with it.
    const moved = useCallback((action: string) => { if (action === 'self_assign' && isExecutor(me)) void go({ to: '/planner', search: { view: 'mine' } }); }, [go, me]);
    const { begin, dialog, error } = useTaskActions(changed, moved);
    const view = search.view ?? (isExecutor(me) ? 'pool' : 'board');
    const filter = useMemo(() => filterOf(search), [search]);
    const projectsFound = useQuery({ queryKey: ['tasks', 'projects'], staleTime: 30000, queryFn: () => all<Task>('/tasks', 500) });
    const projects = [...new Set([...(projectsFound.data ?? []).map((task) => task.project_id), search.project_id ?? null].filter((name): name is string => Boolean(name)))].sort();
    const trades = [...new Set([...people.list.flatMap((person) => person.specializations), ...(projectsFound.data ?? []).map((task) => task.required_trade)].filter((name): name is string => Boolean(name)))].sort();
    const change = useCallback((to: Record<string, string | undefined>) => void go({ to: '/planner', search: (before: Record<string, string | undefined>) => ({ ...before, ...to }) as Record<string, string>, replace: true }), [go]);
    useEffect(() => {
        const timer = setTimeout(() => change({ q: typed || undefined }), 250);
        return () => clearTimeout(timer);
    }, [typed, change]);
    const phone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false });
    const nothingYet = projectsFound.data?.length === 0;
    const toggles: [string, string][] = [['overdue', t('Overdue')], ['needs_attention', t('Asks for help')]];
    return (
        <>
            <Bar title={<div className={`planbar ${isExecutor(me) ? 'phoned' : ''}`}><h1 className="alone">{isExecutor(me) && phone ? t(view === 'mine' ? 'My task' : view === 'pool' ? 'Pool' : 'Board') : t('Planner')}</h1><Segments label={t('View')} value={view} onChange={(to) => change({ view: to })} options={[{ value: 'board', label: t('Board') }, { value: 'pool', label: t('Pool') }, ...(isExecutor(me) ? [{ value: 'mine', label: t('My task') }] : [])]} /></div>}>
                <ShiftLine changed={changed} />
                {leads(me) && <Button kind="ink" icon="plus" onClick={() => make(true)}>{t('New task')}</Button>}
            </Bar>
            <div className={`planner of-${view}`}>
                {view !== 'mine' && !nothingYet && (
                    <div className="planfilter" role="search">
                        <select className="inp" aria-label={t('Project')} value={search.project_id ?? ''} onChange={(event) => change({ project_id: event.target.value || undefined })}><option value="">{t('All projects')}</option>{projects.map((name) => <option key={name}>{name}</option>)}</select>
                        {view === 'board' && <>
                            <select className="inp" aria-label={t('Trade')} value={search.required_trade ?? ''} onChange={(event) => change({ required_trade: event.target.value || undefined })}><option value="">{t('All trades')}</option>{trades.map((name) => <option key={name}>{name}</option>)}</select>
                            <select className="inp" aria-label={t('Whose')} value={search.assigned_to ?? ''} onChange={(event) => change({ assigned_to: event.target.value || undefined })}><option value="">{t('Everybody')}</option>{people.list.filter((person) => person.role === 'executor').map((person) => <option key={person.id} value={person.id}>{person.name}</option>)}</select>
                            {toggles.map(([name, label]) => <button key={name} type="button" className={`btn ${search[name] ? 'on' : 'quiet'}`} aria-pressed={Boolean(search[name])} onClick={() => change({ [name]: search[name] ? undefined : 'true' })}>{label}</button>)}
                            <span className="find"><Icon name="search" small /><input aria-label={t('Search titles')} placeholder={t('Search titles')} value={typed} onChange={(event) => type(event.target.value)} /></span>
                            {Object.keys(filter).length > 0 && <Button kind="link" onClick={() => { type(''); void go({ to: '/planner', search: search.view ? { view: search.view } : {}, replace: true }); }}>{t('Clear filters')}</Button>}
                        </>}
                    </div>
                )}
                {view !== 'mine' && !isExecutor(me) && <Attention project={search.project_id} name={people.name} changed={changed} />}
                {nothingYet && view !== 'mine'
                    ? <Empty title={t('No tasks yet')} action={leads(me) ? <Button kind="ink" icon="plus" onClick={() => make(true)}>{t('Make the first task')}</Button> : undefined}>{t('A task is one piece of work for one person. It waits in the pool until somebody takes it, does it and hands it in, and a lead accepts it.')}</Empty>
                    : view === 'board' ? <Board filter={filter} name={people.name} begin={begin} error={error} shown={(STATUSES as string[]).includes(search.column ?? '') ? (search.column as TaskStatus) : 'available'} show={(column) => change({ column })} />
                        : view === 'mine' ? <Mine changed={changed} />
                            : <Pool project={search.project_id} trade={search.trade} choose={change} begin={begin} error={error} />}
            </div>
            {dialog}
            {making && <NewTask project={search.project_id} projects={projects} close={() => make(false)} made={() => { make(false); changed(); }} />}
        </>
    );
}
