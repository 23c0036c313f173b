// Board.tsx - who does what, and what is stuck? Cards are dropped where the server lets them go, or moved from their menu.
import { Link } from '@tanstack/react-router';
import { type DragEvent, memo, useMemo, useState } from 'react';
import { leads, useMe } from '../../app/session';
import { Glyph, Icon } from '../../lib/icons';
import { Menu, MenuItem } from '../../lib/menu';
import { Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, full, number, shortly } from '../../lib/time';
import { ACTIONS, actionsOf, dropOn, whyNot } from './actions';
import { sentenceOf } from './ActionDialog';
import { Due, Face, LOOK, sinceWhen, Trade } from './look';
import { type Filter, isOverdue, STATUSES, type Task, type TaskStatus, useColumn } from './tasks';

type Begin = (task: Task, action: string) => void;

function CardMenu({ task, begin }: { task: Task; begin: Begin }) {
    const actions = actionsOf(task);
    if (actions.length === 0) return null;
    return (
        <Menu target={<button type="button" className="more" aria-label={t('What can be done with {title}', { title: task.title })}><Icon name="dots" small /></button>}>
            {actions.map((action) => <MenuItem key={action} icon={ACTIONS[action]!.icon} isBad={Boolean(ACTIONS[action]!.bad)} onClick={() => begin(task, action)}>{t(ACTIONS[action]!.label)}</MenuItem>)}
        </Menu>
    );
}

/** What keeps it from the pool, or what is the matter with it. */
function Trouble({ task }: { task: Task }) {
    if (task.needs_attention) return <span className="trouble loud"><Icon name="warn" small />{t('asks for help')}</span>;
    if (task.open_holds > 0) return <span className="trouble"><Icon name="hold" small />{t('{n} hold|{n} holds', { n: task.open_holds })}</span>;
    if (task.status === 'blocked' && task.unmet_dependencies > 0) return <span className="trouble"><Icon name="link" small />{t('waits for {n} task|waits for {n} tasks', { n: task.unmet_dependencies })}</span>;
    if (task.fix_of_task_id) return <span className="trouble"><Icon name="wrench" small />{t('fixes a defect')}</span>;
    return null;
}

const Card = memo(function Card({ task, owner, now, flat, begin, lift, drop }:
    { task: Task; owner: string; now: number; flat: boolean; begin: Begin; lift: (task: Task) => void; drop: () => void }) {
    const since = sinceWhen(task);
    const canMove = STATUSES.some((status) => dropOn(task, status));
    return (
        <article className={`tcard ${flat ? 'flat' : ''} ${task.needs_attention && task.status !== 'done' ? 'loud' : ''}`} draggable={canMove} data-id={task.id}
            onDragStart={(event: DragEvent) => { event.dataTransfer.effectAllowed = 'move'; event.dataTransfer.setData('text/plain', task.id); setTimeout(() => lift(task)); }} onDragEnd={drop}>
            <div className="head"><Link to="/tasks/$id" params={{ id: task.id }} className="title" draggable={false}>{task.title}</Link><CardMenu task={task} begin={begin} /></div>
            <Trouble task={task} />
            <Trade task={task} />
            <div className="foot">
                {owner && <Face name={owner} />}
                <span className="end">{isOverdue(task, now) || !since ? <Due task={task} now={now} /> : <span className="num" title={full(since)}>{task.status === 'done' ? shortly(since, now) : between(since, now)}</span>}</span>
            </div>
        </article>
    );
});

/** The pool in its own order, what is done with the last first, the rest as it comes. */
function inOrder(status: TaskStatus, tasks: Task[]): Task[] {
    if (status === 'available') return [...tasks].sort((a, b) => b.priority - a.priority || a.created_at.localeCompare(b.created_at));
    if (status === 'done') return [...tasks].sort((a, b) => (b.reviewed_at ?? '').localeCompare(a.reviewed_at ?? ''));
    return tasks;
}

function Column({ status, filter, name, lifted, lift, drop, begin, now, shown }:
    { status: TaskStatus; filter: Filter; name: (id: string | null) => string; lifted: Task | null; lift: (task: Task) => void; drop: () => void; begin: Begin; now: number; shown: boolean }) {
    const { me } = useMe();
    const found = useColumn(status, filter, leads(me));
    const [over, hover] = useState(false);
    const tasks = useMemo(() => inOrder(status, found.data?.items ?? []), [status, found.data]);
    const look = LOOK[status];
    const action = lifted ? dropOn(lifted, status) : null;
    const mode = !lifted ? '' : action ? 'legal' : 'illegal';
    return (
        <section className={`column ${mode} ${over && action ? 'over' : ''} ${shown ? 'shown' : ''}`} aria-label={t(look.word)} data-status={status}
            onDragOver={(event) => { if (action) { event.preventDefault(); event.dataTransfer.dropEffect = 'move'; } }}
            onDragEnter={() => hover(true)} onDragLeave={(event) => { if (!event.currentTarget.contains(event.relatedTarget as Node)) hover(false); }}
            onDrop={(event) => { event.preventDefault(); hover(false); if (lifted && action) begin(lifted, action); drop(); }}>
            <header><h2><Glyph name={look.glyph} tone={look.tone} />{t(look.word)}<span className="num">{number(tasks.length)}{found.data?.nextCursor ? '+' : ''}</span></h2>
                {lifted && <p>{action ? t(ACTIONS[action]!.drop) : t(whyNot(lifted, status))}</p>}
            </header>
            <div className="cards2" tabIndex={tasks.length > 0 ? 0 : -1} role="group" aria-label={t('Tasks: {status}', { status: t(look.word) })}>
                {action && <div className="slot" aria-hidden="true" />}
                <Refusal error={found.error} />
                {tasks.map((task) => <Card key={task.id} task={task} owner={name(task.assigned_to)} now={now} flat={mode === 'illegal' && task.id !== lifted?.id} begin={begin} lift={lift} drop={drop} />)}
                {found.data?.nextCursor && <p className="meta">{t('The first {n} are shown; filter for the rest.', { n: tasks.length })}</p>}
            </div>
        </section>
    );
}

export function Board({ filter, name, begin, error, shown, show }:
    { filter: Filter; name: (id: string | null) => string; begin: Begin; error: { task: Task; why: unknown } | null; shown: TaskStatus; show: (status: TaskStatus) => void }) {
    const [lifted, lift] = useState<Task | null>(null);
    const now = useNow(10000);
    return (
        <>
            {error && <div className="boardrefuse"><Refusal error={error.why} sentence={`${error.task.title}: ${sentenceOf(error.why) ?? ''}`} /></div>}
            <div className="columnchips chips" role="radiogroup" aria-label={t('Column')}>
                {STATUSES.map((status) => <button key={status} type="button" role="radio" aria-checked={shown === status} className={shown === status ? 'on' : ''} onClick={() => show(status)}>{t(LOOK[status].word)}</button>)}
            </div>
            <div className={`board ${lifted ? 'lifting' : ''}`}>
                {STATUSES.map((status) => <Column key={status} status={status} filter={filter} name={name} lifted={lifted} lift={lift} drop={() => lift(null)} begin={begin} now={now} shown={shown === status} />)}
            </div>
        </>
    );
}
