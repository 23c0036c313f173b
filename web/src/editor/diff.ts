// diff.ts - what differs between two versions, by step. Pure.
import { type Change, differences, nameOfPlace, put } from './merge';

export interface StepChange { what: 'add' | 'del' | 'chg'; changes: Change[] }
export interface VersionDiff { steps: Map<string, StepChange>; around: Change[]; /** The new text, with the steps in it that went. */ union: string }

/** The code of the innermost step that a change is in. */
const stepOf = (change: Change): string | null => {
    for (let i = change.at.length - 1; i > 0; i--) {
        const part = change.at[i]!;
        if (typeof part === 'object' && ['steps', 'commands'].includes(lastName(change, i))) return part.id;
    }
    return null;
};
const lastName = (change: Change, i: number) => { const before = change.at[i - 1]; return typeof before === 'string' ? before : ''; };

export function diffVersions(from: string, to: string): VersionDiff | null {
    const all = differences(from, to);
    const back = differences(to, from);
    if (!all || !back) return null;
    const steps = new Map<string, StepChange>();
    const around: Change[] = [];
    for (const change of all) {
        const code = stepOf(change);
        const isWhole = code !== null && typeof change.at.at(-1) === 'object';
        if (code === null) around.push(change);
        else {
            const what = isWhole && change.kind === 'add' ? 'add' : isWhole && change.kind === 'remove' ? 'del' : 'chg';
            const known = steps.get(code);
            if (known) known.changes.push(change);
            else steps.set(code, { what, changes: [change] });
        }
    }
    const union = back.filter((change) => change.kind === 'add').reduce((text, change) => put(text, from, change), to);
    return { steps, around, union };
}

const short = (text: string | undefined) => {
    const bare = text === undefined ? '–' : text.replace(/^"|"$/g, '');
    return bare.length > 18 ? `${bare.slice(0, 17)}…` : bare;
};

/** "timeout 5s → 10s", for what stands beside a step. */
export const sayChange = (change: Change) => ({ name: nameOfPlace(change.at).split(' › ').at(-1) ?? '', before: short(change.before), after: change.kind === 'remove' ? '–' : short(change.after) });
