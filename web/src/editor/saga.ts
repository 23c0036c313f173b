// saga.ts - what happens when a step has finally failed: what is undone, in which order, and what cannot be. Pure.
import { isObject } from '../lib/exact';
import type { Item, List } from '../flow/layout';
import { type Catalog, commandOf, kindsOf } from './catalog';
import { everyItem, samePath } from './model';

export interface Undone { item: Item; /** It may not have run: it stands in another branch, or runs at the same time. */ perhaps: boolean }
export interface Saga { how: 'compensate' | 'continue' | 'hold' | 'retry' | 'fail_fast'; undone: Undone[]; stays: Undone[]; nothing: Item[]; attempts: number }


/** Whether something outside of the execution is changed or told: the catalog says so of each command. */
function leavesATrace(run: unknown, catalog: Catalog, procedures: Record<string, unknown>, depth = 0): boolean {
    if (Array.isArray(run)) return run.some((one) => leavesATrace(one, catalog, procedures, depth));
    if (typeof run === 'string') {
        const own = procedures[run];
        return depth > 4 || !isObject(own) || leavesATrace(own.commands, catalog, procedures, depth + 1);
    }
    if (!isObject(run)) return false;
    const spec = commandOf(catalog, run.type);
    if (!spec) return true;
    if (spec.name === 'flow.call') return leavesATrace(run.procedure, catalog, procedures, depth + 1);
    if (spec.leaves === 'question') return run.assignee !== undefined;
    if (spec.leaves === 'something') return true;
    return spec.fields.some((field) => {
        const kinds = kindsOf(field.kind);
        const value = run[field.name];
        if (kinds.some((kind) => kind.is === 'word' && kind.word === 'commands')) return leavesATrace(value, catalog, procedures, depth);
        return kinds.some((kind) => kind.is === 'map' && kind.of.is === 'word' && kind.of.word === 'commands') && isObject(value) && leavesATrace(Object.values(value).flat(), catalog, procedures, depth);
    });
}

/** Where two places part: in ways of which one is taken, or in branches that run side by side. */
function parting(a: Item[], b: Item[], aAt: Item, bAt: Item): 'never' | 'beside' | null {
    const outer = a.filter((one) => b.some((other) => samePath(one.at, other.at)));
    for (const one of outer) {
        const inside = one.inside;
        if (!inside) continue;
        const list = (item: Item) => inside.lists.findIndex((inner) => inner.at.every((part, i) => part === item.at[i]) && inner.at.length > 0);
        const [x, y] = [list(aAt), list(bAt)];
        if (x >= 0 && y >= 0 && x !== y) return inside.kind === 'parallel' ? 'beside' : 'never';
    }
    return null;
}

export function sagaOf(catalog: Catalog, list: List, failing: Item, definition: Record<string, unknown>): Saga {
    const procedures = isObject(definition.procedures) ? definition.procedures : {};
    const settings = isObject(definition.settings) ? definition.settings : {};
    const policy = isObject(settings.retryPolicy) ? settings.retryPolicy : {};
    const own = (failing.step as { retry?: { maxAttempts?: number } }).retry;
    const how = (failing.step.onError ?? definition.onError ?? 'compensate') as Saga['how'];
    const fallback = how === 'fail_fast' ? 1 : 3;
    const attempts = own?.maxAttempts ?? (typeof policy.maxAttempts === 'number' && how !== 'fail_fast' ? policy.maxAttempts : fallback);
    const all = [...everyItem(list)];
    const here = all.findIndex(({ item }) => samePath(item.at, failing.at));
    const within = all[here]?.within ?? [];
    const saga: Saga = { how, undone: [], stays: [], nothing: [], attempts };
    for (const [i, one] of all.entries()) {
        if (i === here || within.some((outer) => samePath(outer.at, one.item.at))) continue;
        if (one.within.some((outer) => samePath(outer.at, failing.at))) continue;
        const apart = parting(one.within, within, one.item, failing);
        if (apart === 'never' || (i > here && apart !== 'beside')) continue;
        const inWays = one.within.some((outer) => outer.inside?.kind === 'ways' && !within.some((mine) => samePath(mine.at, outer.at)));
        const perhaps = apart === 'beside' || inWays || one.item.step.when !== undefined;
        if (one.item.step.rollback) saga.undone.push({ item: one.item, perhaps });
        else if (leavesATrace(one.item.step.procedure, catalog, procedures)) saga.stays.push({ item: one.item, perhaps });
        else if (!one.item.inside) saga.nothing.push(one.item);
    }
    saga.undone.reverse();
    return saga;
}
