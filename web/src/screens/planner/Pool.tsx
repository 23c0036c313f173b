// Pool.tsx - what can I take now? The pool by trade and skill.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isExecutor, useMe } from '../../app/session';
import { Icon } from '../../lib/icons';
import { Bones, Button, Empty, Refusal, useNow } from '../../lib/parts';
import { t } from '../../lib/text';
import { between, number, when } from '../../lib/time';
import { ACTIONS, actionsOf } from './actions';
import { sentenceOf } from './ActionDialog';
import { Due, tradeIcon } from './look';
import { type Task, usePool } from './tasks';

const ANY = 'any';

/** Which tasks stand under which chips: the trade, or that any will do. */
const tradesOf = (tasks: Task[]) => {
    const counts = new Map<string, number>();
    for (const task of tasks) counts.set(task.required_trade ?? ANY, (counts.get(task.required_trade ?? ANY) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => Number(a === ANY) - Number(b === ANY) || a.localeCompare(b));
};
const isToday = (task: Task, now: number) => task.due_at !== null && new Date(task.due_at).toDateString() === new Date(now).toDateString();

function Row({ task, now, open, toggle, begin, error }: { task: Task; now: number; open: boolean; toggle: () => void; begin: (task: Task, action: string) => void; error: unknown }) {
    const { me } = useMe();
    const tooHard = isExecutor(me) && task.min_skill > (me.skill_level ?? 0);
    const [main, ...rest] = actionsOf(task);
    return (
        <article className={`poolcard ${open ? 'open' : ''}`} data-id={task.id}>
            <button type="button" className="poolhead" aria-expanded={open} onClick={toggle}>
                <span className="title">{task.title}</span><Icon name={open ? 'up' : 'down'} />
            </button>
            <div className="poolfacts">
                {task.priority > 0 && <span><Icon name="flag" small />{t('priority {n}', { n: task.priority })}</span>}
                {task.due_at && <span><Icon name="clock" small /><Due task={task} now={now} long /></span>}
                {tooHard ? <span className="locked"><Icon name="lock" small />{t('needs skill {n}, yours is {mine}', { n: task.min_skill, mine: me.skill_level ?? 0 })}</span>
                    : task.min_skill > 0 && <span><Icon name="shield" small />{t('skill {n} or more', { n: task.min_skill })}</span>}
                {task.fix_of_task_id && <span><Icon name="wrench" small />{t('fixes a defect')}</span>}
                {open && <span className="t3">{t('in the pool since {when}, {long}', { when: when(task.updated_at, { now }), long: between(task.updated_at, now) })}</span>}
            </div>
            {open && (
                <div className="poolbody">
                    {task.description && <p className="t2">{task.description}</p>}
                    {task.handover_note && <p className="note"><Icon name="log" small />{t('Handed over: {note}', { note: task.handover_note })}</p>}
                    <Refusal error={error} sentence={sentenceOf(error)} />
                    <div className="row wrap">
                        {main && <Button kind="ink" className="take" icon={ACTIONS[main]!.icon} onClick={() => begin(task, main)}>{t(ACTIONS[main]!.label)}</Button>}
                        {rest.map((action) => <Button key={action} kind={ACTIONS[action]!.bad ? 'bad' : 'plain'} onClick={() => begin(task, action)}>{t(ACTIONS[action]!.label)}</Button>)}
                        <Link className="btn quiet" to="/tasks/$id" params={{ id: task.id }}>{t('Open the task')}</Link>
                    </div>
                </div>
            )}
        </article>
    );
}

export function Pool({ project, trade, choose, begin, error }: { project: string | undefined; trade: string | undefined; choose: (to: Record<string, string | undefined>) => void; begin: (task: Task, action: string) => void; error: { task: Task; why: unknown } | null }) {
    const found = usePool(project);
    const { me } = useMe();
    const now = useNow(10000);
    const [open, toggle] = useState<string | null>(null);
    const tasks = found.data?.items ?? [];
    const shown = tasks.filter((task) => !trade || (trade === 'today' ? isToday(task, now) : (task.required_trade ?? ANY) === trade));
    const first = shown.find((task) => actionsOf(task).length > 0);
    const groups = tradesOf(shown);
    const today = tasks.filter((task) => isToday(task, now)).length;
    if (found.isLoading) return <div className="pool"><Bones rows={5} /></div>;
    return (
        <div className="pool">
            <div className="chips" role="radiogroup" aria-label={t('Trade')}>
                <button type="button" role="radio" aria-checked={!trade} className={!trade ? 'on' : ''} onClick={() => choose({ trade: undefined })}>{t('All')} <span className="num">{number(tasks.length)}</span></button>
                {tradesOf(tasks).map(([name, n]) => <button key={name} type="button" role="radio" aria-checked={trade === name} className={trade === name ? 'on' : ''} onClick={() => choose({ trade: name })}><Icon name={tradeIcon(name === ANY ? null : name)} small />{name === ANY ? t('any trade') : name} <span className="num">{number(n)}</span></button>)}
                {today > 0 && <button type="button" role="radio" aria-checked={trade === 'today'} className={trade === 'today' ? 'on' : ''} onClick={() => choose({ trade: 'today' })}>{t('Due today')} <span className="num">{number(today)}</span></button>}
            </div>
            <Refusal error={found.error} />
            {found.data && shown.length === 0 && (trade
                ? <Empty title={t('Nothing in the pool for this trade')} action={<Button kind="ink" onClick={() => choose({ trade: undefined })}>{t('Show all of the pool')}</Button>}>{t('What is for other trades is still there.')}</Empty>
                : <Empty title={t('The pool is empty')}>{isExecutor(me) ? t('What can be taken comes here by itself: when a task is made, or when what it waited for is done. You see what fits your trades and skill.') : t('What can be taken comes here by itself: when a task is made, or when what it waited for is done. The board shows what is blocked, and why.')}</Empty>)}
            {groups.map(([name, n]) => (
                <section key={name} aria-label={name === ANY ? t('any trade') : name}>
                    {groups.length > 1 && <h2><Icon name={tradeIcon(name === ANY ? null : name)} small />{name === ANY ? t('any trade') : name}<span className="num">{number(n)}</span></h2>}
                    {shown.filter((task) => (task.required_trade ?? ANY) === name).map((task) => (
                        <Row key={task.id} task={task} now={now} open={open === task.id || (open === null && task === first)} toggle={() => toggle(open === task.id || (open === null && task === first) ? '' : task.id)} begin={begin} error={error?.task.id === task.id ? error.why : null} />
                    ))}
                </section>
            ))}
        </div>
    );
}
