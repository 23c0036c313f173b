// steps.ts - reading a definition: which steps it has, what they are, how a person would call them.
import type { Definition, StepDef } from './types';

type Command = Record<string, unknown> & { type?: string };

export const commandsOf = (step: StepDef): Command[] => {
    const p = step.procedure;
    if (Array.isArray(p)) return p as Command[];
    return p && typeof p === 'object' ? [p as Command] : [];
};

/** "ask_above" is "Ask above" where the author gave no name. */
export const nameOf = (step: Pick<StepDef, 'code' | 'name'>) => step.name ?? (step.code.charAt(0).toUpperCase() + step.code.slice(1)).replaceAll('_', ' ');

export const isWait = (step: StepDef | undefined) => Boolean(step && commandsOf(step).some((c) => String(c.type).startsWith('wait.')));

/** The picture of a command, by its name, or else by the group that the first part of its name says. */
const OWN_ICON: Record<string, string> = {
    'flow.call': 'flow', 'flow.start': 'play', 'flow.try': 'shield', 'flow.match': 'list', 'event.publish': 'bolt', 'message.publish': 'bolt', 'notification.push': 'bell',
    'compute.set': 'pin', 'compute.validate': 'shield', 'compute.fail': 'stop', 'wait.signal': 'signal', log: 'log',
};
const GROUP_ICON: Record<string, string> = { compute: 'calc', flow: 'branch', record: 'db', wait: 'clock', message: 'mail', notification: 'mail', mail: 'mail', integration: 'globe', task: 'board', planner: 'board' };

export const iconOfCommand = (type: string) => OWN_ICON[type] ?? GROUP_ICON[type.split('.')[0]!] ?? 'bolt';

/** The picture of a step: of what it asks for, or waits for, when it has several commands. */
export function iconOf(step: StepDef): string {
    if (step.loop) return 'loop';
    if (step.parallel) return 'par';
    if (step.branch) return 'branch';
    if (typeof step.procedure === 'string') return 'flow';
    const commands = commandsOf(step);
    const first = commands.find((command) => String(command.type).startsWith('wait.')) ?? commands[0];
    if (!first) return 'calc';
    return first.type === 'wait.signal' && first.assignee ? 'user' : iconOfCommand(String(first.type));
}

export const childrenOf = (step: StepDef): StepDef[] => [
    ...(step.loop?.steps ?? []), ...(step.parallel?.branches.flat() ?? []), ...(step.branch?.flatMap((way) => way.steps) ?? []),
];

export function eachStep(steps: StepDef[], act: (step: StepDef, parent: StepDef | null) => void, parent: StepDef | null = null) {
    for (const step of steps) {
        act(step, parent);
        eachStep(childrenOf(step), act, step);
    }
}

export function stepsByCode(definition: Definition | undefined): Map<string, StepDef> {
    const result = new Map<string, StepDef>();
    eachStep(definition?.steps ?? [], (step) => result.set(step.code, step));
    return result;
}

/** Where `goto` may lead, with its condition. */
export function jumpsOf(step: StepDef): { to: string; when?: string; name?: string; always: boolean }[] {
    if (typeof step.goto === 'string') return [{ to: step.goto, always: true }];
    if (Array.isArray(step.goto)) return (step.goto as { to: string; when?: string; name?: string }[]).map((jump) => ({ ...jump, always: !jump.when }));
    return [];
}

export const timeoutTo = (step: StepDef): string | null => {
    for (const command of commandsOf(step)) {
        const to = command.onTimeout;
        if (to && typeof to === 'object' && 'to' in to) return String((to as { to: unknown }).to);
    }
    return null;
};
