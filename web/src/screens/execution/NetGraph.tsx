// NetGraph.tsx - the nodes of a schema or the states of a machine with what became of each, and the way that was taken.
import { memo, useMemo } from 'react';
import type { Dress } from '../../flow/boxes';
import { NetFlow } from '../../flow/NetFlow';
import { boxOf, netWay, readNet } from '../../flow/net';
import { Glyph } from '../../lib/icons';
import { iconOfCommand } from '../../lib/steps';
import { lookOf } from '../../lib/status';
import { t } from '../../lib/text';
import type { Definition, Step } from '../../lib/types';
import { CLASS, type StepState } from './Graph';

interface NetGraphProps {
    definition: Definition; states: Map<string, StepState>; selected: string | null; select: (code: string) => void;
    /** The history, and where it stands now; without it the boxes are only there. */ rows?: Step[]; live?: ReadonlyMap<string, string>;
}

const BAD = ['failed', 'undoFailed', 'undone', 'cancelled'];
const NOWHERE: ReadonlyMap<string, string> = new Map();

export const NetGraph = memo(function NetGraph({ definition, states, selected, select, rows, live = NOWHERE }: NetGraphProps) {
    const net = useMemo(() => readNet(definition, iconOfCommand), [definition]);
    const way = useMemo(() => (rows ? netWay(net, rows, live) : null), [net, rows, live]);
    // A transition that is under way, or has failed, is what one wants to know of its state.
    const own = useMemo(() => {
        const result = new Map(states);
        const last = rows?.findLast((row) => row.step !== null && row.kind !== 'event')?.step ?? null;
        for (const code of [last, ...live.keys()]) {
            const box = boxOf(net, code);
            const state = code === null ? undefined : states.get(code);
            if (box === null || box === code || !state) continue;
            const isTold = live.has(code!) || (!live.has(box) && BAD.includes(state.state));
            if (isTold) result.set(box, { ...state, visits: states.get(box)?.visits ?? 0 });
        }
        return result;
    }, [net, states, live, rows]);
    const dress = (box: { code: string }): Dress => {
        if (!way) return {};
        const state = own.get(box.code)?.state || (way.visited.has(box.code) ? 'completed' : undefined);
        const look = state ? lookOf(state === 'undone' ? 'compensated' : state) : null;
        const visits = own.get(box.code)?.visits ?? 0;
        return {
            className: state ? (CLASS[state] ?? '') : 'later', note: visits > 1 ? ` × ${visits}` : undefined,
            said: look ? t(look.word) : t('not reached'),
            right: look ? <Glyph name={look.glyph} tone={look.tone} className={look.glyph === 'running' ? 'turn' : ''} /> : undefined,
        };
    };
    const chosen = rows ? boxOf(net, selected) : selected;
    const label = net.kind === 'machine' ? t('Picture of the states') : t('Picture of the nodes');
    const choose = (code: string | null) => { if (code !== null) select(code); };
    return <NetFlow net={net} label={label} dress={dress} way={way} selected={chosen} select={choose} />;
});
