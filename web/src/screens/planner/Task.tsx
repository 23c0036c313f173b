// Task.tsx - what is the matter with this task, and what may I do?
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { Bar } from '../../app/Shell';
import { leads, useMe } from '../../app/session';
import { call, type Page, Problem, post, remove } from '../../lib/api';
import { Glyph, Icon } from '../../lib/icons';
import { Json } from '../../lib/json';
import { Bones, Button, CopyId, Dialog, Empty, Refusal, useNow } from '../../lib/parts';
import { Say, t } from '../../lib/text';
import { between, full, when } from '../../lib/time';
import { ACTIONS, actionsOf } from './actions';
import { sentenceOf, useTaskActions } from './ActionDialog';
import { Comments, DefectList, HoldList, PeopleOf } from './Around';
import { Dependencies } from './Dependencies';
import { History } from './History';
import { Due, sinceWhen, TaskState } from './look';
import { EditTask, SplitTask } from './TaskForm';
import { type Escalation, isOverdue, type Task, useFollowTasks, usePeople } from './tasks';
import '../screens.css';
import './planner.css';

type Name = (id: string | null | undefined) => string;
const isNothing = (value: unknown) => value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** One sentence, with the one thing that can be done about it. */
function Sentence({ task, name, begin, changed, now }: { task: Task; name: Name; begin: (task: Task, action: string) => void; changed: () => void; now: number }) {
    const { me } = useMe();
    const [error, refuse] = useState<unknown>(null);
    const found = useQuery({ queryKey: ['tasks', 'escalations', task.id], queryFn: () => call<Page<Escalation>>(`/tasks/${task.id}/escalations?limit=50`) });
    const open = task.needs_attention ? found.data?.items.find((escalation) => escalation.acknowledged_at === null) : undefined;
    const [main] = actionsOf(task).filter((action) => !['cancel', 'recall_to_pool', 'reassign', 'escalate', 'review_reject', 'shift_release'].includes(action));
    const button = main && <Button kind="ink" icon={ACTIONS[main]!.icon} onClick={() => begin(task, main)}>{t(ACTIONS[main]!.label)}</Button>;
    if (open && task.status !== 'done' && task.status !== 'canceled') return (
        <>
            <div className="why held"><Glyph name="held" tone="held" /><div className="grow">
                <div className="say">{open.created_by ? <Say text="**{name} asks for help: {kind}.**" values={{ name: name(open.created_by), kind: t(open.kind) }} /> : <Say text="**It is overdue.** Nobody has looked at it yet." />}{open.message && open.created_by ? ` “${open.message}”` : ''}</div>
                <div className="sub">{t('Since {when}, {long}.', { when: when(open.created_at, { now }), long: between(open.created_at, now) })}{task.due_at && !isOverdue(task, now) ? ` ${t('It is due {when}.', { when: when(task.due_at, { now }) })}` : ''}</div>
            </div>{leads(me) ? <Button kind="ink" onClick={() => post(`/tasks/${task.id}/escalations/${open.id}/acknowledge`).then(() => { refuse(null); changed(); }, refuse)}>{t('Acknowledge')}</Button> : button}</div>
            <Refusal error={error} sentence={sentenceOf(error)} />
        </>
    );
    const since = sinceWhen(task);
    const long = since ? between(since, now) : '';
    const owner = name(task.assigned_to);
    const mine = task.assigned_to === me.id;
    const say = () => {
        switch (task.status) {
            case 'blocked': return task.open_holds > 0 && task.unmet_dependencies > 0 ? <Say text="**Blocked**: something is missing, and it waits for other tasks." /> : task.open_holds > 0 ? <Say text="**Blocked**: something is missing. It opens when the hold ends." /> : <Say text="**Blocked**: it waits for other tasks. It opens by itself when they are done." />;
            case 'available': return <Say text="**In the pool.** Nobody has it." />;
            case 'assigned': return mine ? <Say text="**It is yours**, since {long}. Start it when you begin." values={{ long }} /> : <Say text="**{owner} has it**, since {long}, and has not begun." values={{ owner, long }} />;
            case 'in_progress': return mine ? <Say text="**You work on it**, for {long}." values={{ long }} /> : <Say text="**{owner} works on it**, for {long}." values={{ owner, long }} />;
            case 'submitted': return <Say text="**{owner} handed it in** {long} ago. Somebody has to look at it." values={{ owner, long }} />;
            case 'done': return task.self_checked ? <Say text="**Done**, accepted by who did it." /> : <Say text="**Done**, accepted by {name}." values={{ name: name(task.reviewed_by) }} />;
            default: return <Say text="**Canceled.** {reason}" values={{ reason: task.cancel_reason ? `“${task.cancel_reason}”` : '' }} />;
        }
    };
    const tone = task.status === 'done' ? 'ok' : task.status === 'in_progress' ? 'run' : task.status === 'assigned' || task.status === 'submitted' ? '' : 'none';
    const sub = task.status === 'in_progress' && task.reject_reason ? t('It was sent back: “{reason}”', { reason: task.reject_reason }) : task.handover_note && task.status === 'available' ? t('Handed over: {note}', { note: task.handover_note }) : '';
    return <div className={`why ${tone}`}><div className="grow"><div className="say">{say()}</div>{sub && <div className="sub">{sub}</div>}</div>{button}</div>;
}

function Buttons({ task, owner, begin, edit, split, drop }: { task: Task; owner: string; begin: (task: Task, action: string) => void; edit: () => void; split: () => void; drop: () => void }) {
    const { me } = useMe();
    const actions = actionsOf(task);
    const leading = leads(me) && task.status !== 'done' && task.status !== 'canceled';
    const canSplit = leading && task.status !== 'submitted';
    const nearly = actions.length === 0 && !leading ? nobodyElse(task) : leading ? whoElse(task, owner) : '';
    const canDrop = leading && (task.status === 'blocked' || task.status === 'available') && task.assigned_at === null;
    return (
        <div className="sect"><h3>{t('What you can do')}<span className="end t3">{t('as {role}', { role: t(me.role) })}</span></h3>
            <div className="row wrap">
                {actions.filter((action) => !ACTIONS[action]!.bad).map((action) => <Button key={action} icon={ACTIONS[action]!.icon} onClick={() => begin(task, action)}>{t(ACTIONS[action]!.label)}</Button>)}
                {canSplit && <Button icon="branch" onClick={split}>{t('Split…')}</Button>}
                {leading && <Button icon="sliders" onClick={edit}>{t('Change…')}</Button>}
            </div>
            <div className="row wrap bads">
                {actions.filter((action) => ACTIONS[action]!.bad).map((action) => <Button key={action} kind="link" className="bad" onClick={() => begin(task, action)}>{t(ACTIONS[action]!.label)}</Button>)}
                {canDrop && <Button kind="link" className="bad" onClick={drop}>{t('Delete the task…')}</Button>}
            </div>
            {nearly && <p className="note"><Icon name="lock" small />{nearly}</p>}
        </div>
    );
}

/** For who leads: what only the owner does, and what comes after it. */
function whoElse(task: Task, owner: string): string {
    switch (task.status) {
        case 'assigned': return t('Only {owner} starts it.', { owner });
        case 'in_progress': return t('Only {owner} hands it in. You can accept it, or send it back, once it is handed in.', { owner });
        default: return '';
    }
}

/** What is nearly possible: who could, or when. */
function nobodyElse(task: Task): string {
    switch (task.status) {
        case 'blocked': return t('It opens when nothing holds it any more.');
        case 'available': return t('An executor with the trade, the skill and no other task can take it; leads can assign it.');
        case 'assigned': case 'in_progress': return t('Only its owner moves it on; leads can recall it.');
        case 'submitted': return t('A lead accepts it, or sends it back.');
        default: return t('It is closed.');
    }
}

function Facts({ task, now, name }: { task: Task; now: number; name: Name }) {
    return (
        <div className="sect"><h3>{t('Facts')}</h3>
            <dl className="kv">
                {task.project_id && <><dt>{t('Project')}</dt><dd><Link to="/planner" search={{ project_id: task.project_id }}>{task.project_id}</Link></dd></>}
                <dt>{t('Trade')}</dt><dd>{task.required_trade ?? t('any trade')}{task.min_skill > 0 ? `, ${t('skill {n} or more', { n: task.min_skill })}` : ''}</dd>
                {task.priority > 0 && <><dt>{t('Priority')}</dt><dd className="num">{task.priority}</dd></>}
                {task.due_at && <><dt>{t('Due')}</dt><dd title={full(task.due_at)}>{when(task.due_at, { now })} {isOverdue(task, now) ? <>· <Due task={task} now={now} /></> : task.status !== 'done' && task.status !== 'canceled' && <span className="t3">{t('in {long}', { long: between(new Date(now).toISOString(), task.due_at) })}</span>}</dd></>}
                <dt>{t('Made')}</dt><dd>{when(task.created_at, { now })}{task.created_by ? `, ${name(task.created_by)}` : ''}</dd>
                {task.parent_task_id && <><dt>{t('Part of')}</dt><dd><Link to="/tasks/$id" params={{ id: task.parent_task_id }}>{t('another task')}</Link></dd></>}
                {task.fix_of_task_id && <><dt>{t('Fixes')}</dt><dd><Link to="/tasks/$id" params={{ id: task.fix_of_task_id }}>{t('a defect of another task')}</Link></dd></>}
                {task.execution_id && <><dt>{t('Waited for by')}</dt><dd><Link to="/executions/$id" params={{ id: task.execution_id }}>{t('an execution')}</Link></dd></>}
            </dl>
        </div>
    );
}

/** The task without the bar of its page: the page of an executor's own task has it too. */
export function TaskBody({ id, changed }: { id: string; changed: () => void }) {
    const found = useQuery({ queryKey: ['tasks', 'one', id], queryFn: () => call<Task>(`/tasks/${id}`) });
    const people = usePeople();
    const go = useNavigate();
    const now = useNow(10000);
    const { begin, dialog, error } = useTaskActions(changed);
    const [open, show] = useState<'edit' | 'split' | 'delete' | null>(null);
    const [refused, refuse] = useState<unknown>(null);
    const task = found.data;
    if (!task) return found.error instanceof Problem && found.error.status === 404
        ? <Empty title={t('There is no such task')} action={<Link className="btn ink" to="/planner">{t('Go to the board')}</Link>}>{t('It may have been deleted, or it belongs to another organisation.')}</Empty>
        : <><Bones /><Refusal error={found.error} /></>;
    return (
        <div className="taskpage">
            <div className="taskmain scroll">
                <div className="ttl"><h2>{task.title}</h2><TaskState status={task.status} pill />{task.priority > 0 && <span className="tag"><Icon name="flag" small />{t('priority {n}', { n: task.priority })}</span>}<CopyId id={task.id} /></div>
                {task.description && <p className="desc t2">{task.description}</p>}
                <Sentence task={task} name={people.name} begin={begin} changed={changed} now={now} />
                {error && <Refusal error={error.why} sentence={sentenceOf(error.why)} />}
                <Dependencies task={task} name={people.name} changed={changed} />
                {!isNothing(task.result) && <section className="part"><h3>{t('What was handed in')}</h3><Json value={task.result} /></section>}
                <DefectList task={task} name={people.name} changed={changed} />
                <History task={task} name={people.name} now={now} />
            </div>
            <aside className="taskside scroll" aria-label={t('About the task')}>
                <Buttons task={task} owner={people.name(task.assigned_to)} begin={begin} edit={() => show('edit')} split={() => show('split')} drop={() => show('delete')} />
                <PeopleOf task={task} people={people} changed={changed} />
                <HoldList task={task} name={people.name} changed={changed} />
                <Facts task={task} now={now} name={people.name} />
                <Comments task={task} name={people.name} now={now} />
            </aside>
            {dialog}
            {open === 'edit' && <EditTask task={task} close={() => show(null)} changed={changed} />}
            {open === 'split' && <SplitTask task={task} close={() => show(null)} changed={changed} />}
            {open === 'delete' && <Dialog title={t('Delete “{title}”?', { title: task.title })} lead={t('Nobody has ever had it, and nothing may wait for it. Its log stays.')} onClose={() => show(null)} actions={<><Button kind="quiet" onClick={() => show(null)}>{t('Go back')}</Button><Button kind="bad solid" onClick={() => remove(`/tasks/${task.id}`).then(() => { changed(); void go({ to: '/planner' }); }, refuse)}>{t('Delete it')}</Button></>}><Refusal error={refused} sentence={sentenceOf(refused)} /></Dialog>}
        </div>
    );
}

export function TaskPage() {
    const { id } = useParams({ strict: false }) as { id: string };
    const again = useFollowTasks();
    const changed = useCallback(() => void again(), []); // eslint-disable-line react-hooks/exhaustive-deps
    const found = useQuery({ queryKey: ['tasks', 'one', id], queryFn: () => call<Task>(`/tasks/${id}`) });
    return (
        <>
            <Bar title={<nav className="crumb" aria-label={t('Where this is')}><Link to="/planner">{t('Planner')}</Link><Icon name="right" small />{found.data?.project_id && <><Link className="cut" to="/planner" search={{ project_id: found.data.project_id }}>{found.data.project_id}</Link><Icon name="right" small /></>}<h1 className="cut">{found.data?.title ?? '…'}</h1></nav>} busy={found.isLoading} />
            <TaskBody id={id} changed={changed} />
        </>
    );
}
