// actions.ts - what may be asked of a task: the words, what is asked first, and where it leads. Whether it may be asked now is what
// `actions` of the task says.
import type { Task, TaskStatus } from './tasks';

export type FieldKind = 'person' | 'text' | 'long' | 'kind' | 'defect' | 'form';
export interface ActionField { name: string; label: string; kind: FieldKind; required: boolean; help?: string }
export interface Action { label: string; verb: string; title: string; means: string; icon: string; to?: TaskStatus; drop: string; fields: ActionField[]; bad?: boolean }

const REASON: ActionField = { name: 'reason', label: 'Reason', kind: 'text', required: true };
const NOTE: ActionField = { name: 'handover_note', label: 'For whoever goes on', kind: 'long', required: false, help: 'What is done, what is left, where the tools are.' };
const WHOM: ActionField = { name: 'assign_to', label: 'Who gets it', kind: 'person', required: true };

export const ACTIONS: Record<string, Action> = {
    unblock: { label: 'Open it', verb: 'Open it', title: 'Open “{title}”?', means: 'It goes into the pool, if nothing holds it any more.', icon: 'redo', to: 'available', drop: 'drop to open it', fields: [] },
    self_assign: { label: 'Take it', verb: 'Take it', title: 'Take “{title}”?', means: 'It is yours until you hand it in, or your shift ends.', icon: 'user', to: 'assigned', drop: 'drop to take it', fields: [] },
    assign: { label: 'Assign…', verb: 'Assign it', title: 'Who gets “{title}”?', means: 'One task each: who has one is not free.', icon: 'user', to: 'assigned', drop: 'drop to choose who gets it', fields: [WHOM] },
    start: { label: 'Start', verb: 'Start it', title: 'Start “{title}”?', means: '', icon: 'play', to: 'in_progress', drop: 'drop to start it', fields: [] },
    submit: { label: 'Hand it in', verb: 'Hand it in', title: 'Hand in “{title}”?', means: 'Somebody looks at it; you are free when it is accepted.', icon: 'send', to: 'submitted', drop: 'drop to hand it in', fields: [] },
    review_approve: { label: 'Accept', verb: 'Accept it', title: 'Accept “{title}”?', means: 'It is done; what waits for it is opened.', icon: 'check', to: 'done', drop: 'drop to accept it', fields: [] },
    review_reject: { label: 'Send back…', verb: 'Send it back', title: 'Send “{title}” back?', means: 'It goes back to its owner, with your reason.', icon: 'undo', to: 'in_progress', drop: 'drop to send it back', fields: [REASON, { name: 'defect', label: 'What is wrong', kind: 'defect', required: false }] },
    recall_to_pool: { label: 'Recall to the pool…', verb: 'Recall it', title: 'Recall “{title}” to the pool?', means: 'Its owner and helpers are free; somebody else can take it.', icon: 'undo', to: 'available', drop: 'drop to recall it to the pool', fields: [REASON, NOTE] },
    reassign: { label: 'Reassign…', verb: 'Reassign it', title: 'Give “{title}” to somebody else?', means: 'Its owner is free; the other one begins anew.', icon: 'users', to: 'assigned', drop: 'drop to give it to somebody else', fields: [WHOM, REASON] },
    escalate: { label: 'I need help…', verb: 'Ask for help', title: 'What do you need?', means: 'The leads see it at once. The task stays yours.', icon: 'flag', drop: '', fields: [{ name: 'kind', label: 'What is missing', kind: 'kind', required: true }, { name: 'message', label: 'In your words', kind: 'long', required: true }] },
    cancel: { label: 'Cancel the task…', verb: 'Cancel the task', title: 'Cancel “{title}”?', means: 'It cannot be opened again. What waits for it stays blocked until that is removed.', icon: 'stop', drop: '', fields: [REASON], bad: true },
    shift_release: { label: 'Release…', verb: 'Release it', title: 'Release “{title}”?', means: 'As at the end of a shift.', icon: 'undo', drop: '', fields: [NOTE] },
};
/** In the order of buttons: the one that moves it forward first. */
export const ORDER = ['self_assign', 'start', 'submit', 'review_approve', 'assign', 'unblock', 'escalate', 'review_reject', 'reassign', 'recall_to_pool', 'shift_release', 'cancel'];
export const ESCALATIONS = ['material', 'access', 'conflict', 'help', 'complexity', 'other'];

/** A fix says how it was fixed before it is handed in; a task that a process waits for may ask for a form. */
export function fieldsOf(action: string, task: Task): ActionField[] {
    const fields = ACTIONS[action]?.fields ?? [];
    if (action !== 'submit') return fields;
    return [...(task.fix_of_task_id ? [{ name: 'how_fixed', label: 'How it was fixed', kind: 'long' as const, required: true }] : []), ...(task.form?.length ? [{ name: 'form', label: 'What was done', kind: 'form' as const, required: false }] : []), ...fields];
}

export const actionsOf = (task: Task) => ORDER.filter((action) => task.actions.includes(action));

/** What dropping the task on a column does, if anything. */
export const dropOn = (task: Task, column: TaskStatus) => actionsOf(task).find((action) => ACTIONS[action]!.to === column && (column !== task.status || action === 'reassign')) ?? null;

/** Why a column does not take the task. */
export function whyNot(task: Task, column: TaskStatus): string {
    if (column === task.status) return 'it is here';
    switch (column) {
        case 'blocked': return 'a hold or a task it waits for brings it here';
        case 'available': return task.status === 'blocked' ? 'no holds may be left, and what it depends on is done' : 'only leads recall a task';
        case 'assigned': return task.status === 'available' ? 'not for your role, trade or skill' : 'only from the pool';
        case 'in_progress': return task.status === 'assigned' ? 'only its owner starts a task' : task.status === 'submitted' ? 'only leads send it back' : 'it must be assigned first';
        case 'submitted': return 'a task is handed in by its owner';
        default: return task.status === 'submitted' ? 'a lead accepts it' : 'it must be handed in first';
    }
}
