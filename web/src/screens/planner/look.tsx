// look.tsx - how tasks look: statuses as a glyph and a word, trades, skill, when they are due, whose they are.
import { Glyph, Icon } from '../../lib/icons';
import { t } from '../../lib/text';
import { between, dayOf, full, when } from '../../lib/time';
import { isOverdue, type Task, type TaskStatus } from './tasks';

interface Look { word: string; glyph: string; tone: string }
export const LOOK: Record<TaskStatus, Look> = {
    blocked: { word: 'blocked', glyph: 'cancelled', tone: 'none' },
    available: { word: 'available', glyph: 'pending', tone: 'none' },
    assigned: { word: 'assigned', glyph: 'waiting', tone: 'wait' },
    in_progress: { word: 'in progress', glyph: 'running', tone: 'run' },
    submitted: { word: 'handed in', glyph: 'paused', tone: 'wait' },
    done: { word: 'done', glyph: 'completed', tone: 'ok' },
    canceled: { word: 'canceled', glyph: 'cancelled', tone: 'none' },
};

export const TaskState = ({ status, pill }: { status: TaskStatus; pill?: boolean }) => {
    const look = LOOK[status];
    return <span className={`st ${look.tone} ${pill ? 'pill' : 'flat'}`}><Glyph name={look.glyph} tone={look.tone} />{t(look.word)}</span>;
};

const TRADE_ICONS: [RegExp, string][] = [[/electr|элект/i, 'bolt'], [/plumb|pipe|сантех|труб/i, 'drop'], [/paint|маляр|окрас/i, 'brush']];
export const tradeIcon = (trade: string | null) => (trade ? (TRADE_ICONS.find(([pattern]) => pattern.test(trade))?.[1] ?? 'wrench') : 'wrench');

export const Trade = ({ task }: { task: Task }) => (
    <span className="trade"><Icon name={tradeIcon(task.required_trade)} small />{task.required_trade ?? t('any trade')}{task.min_skill > 0 && <span>{t('skill {n}+', { n: task.min_skill })}</span>}</span>
);

const DAY_MS = 86400000;

export function Due({ task, now, long }: { task: Task; now: number; long?: boolean }) {
    if (!task.due_at) return null;
    if (isOverdue(task, now)) return <span className="late num" title={full(task.due_at)}>{t('overdue {long}', { long: between(task.due_at, now) })}</span>;
    const soon = Date.parse(task.due_at) - now < DAY_MS ? t('in {long}', { long: between(new Date(now).toISOString(), task.due_at) }) : '';
    return <span className="num" title={full(task.due_at)}>{t('due {when}', { when: long ? when(task.due_at, { now }) : dayOf(task.due_at, now) })}{long && soon ? `, ${soon}` : ''}</span>;
}

export const Face = ({ name }: { name: string }) => <span className="face"><span className="ava" aria-hidden="true">{name.slice(0, 1)}</span><span className="cut">{name}</span></span>;

/** How long it has been as it is, for a card. */
export function sinceWhen(task: Task): string | null {
    switch (task.status) {
        case 'assigned': return task.assigned_at;
        case 'in_progress': return task.started_at;
        case 'submitted': return task.submitted_at;
        case 'done': return task.reviewed_at;
        default: return null;
    }
}
