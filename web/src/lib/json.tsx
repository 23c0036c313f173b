// json.tsx - JSON to read: small values as lines, large ones in an editor that draws only what is in sight.
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { isObject } from './exact';
import { t } from './text';

const Large = lazy(() => import('./viewer'));
const LINES_MOST = 400;

function Value({ text }: { text: string }) {
    const parts: ReactNode[] = [];
    const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;
    let last = 0;
    for (const match of text.matchAll(pattern)) {
        if (match.index > last) parts.push(text.slice(last, match.index));
        if (match[1]) parts.push(<span key={match.index} className={match[2] ? 'k' : 's'}>{match[1]}</span>, match[2] ?? '');
        else parts.push(<span key={match.index} className="n">{match[0]}</span>);
        last = match.index + match[0].length;
    }
    parts.push(text.slice(last));
    return <span>{parts}</span>;
}

export function Json({ value }: { value: unknown }) {
    const text = useMemo(() => (value === undefined ? '' : JSON.stringify(value, null, 2)), [value]);
    const lines = text.split('\n');
    if (value === undefined || value === null) return <p className="t3">{t('nothing')}</p>;
    if (lines.length > LINES_MOST || text.length > 40000) return <Suspense fallback={null}><Large text={text} /></Suspense>;
    return <div className="code" tabIndex={0} role="group" aria-label="JSON">{lines.map((line, i) => <div key={i} className="ln" data-n={i + 1}><Value text={line} /></div>)}</div>;
}

interface DiffLine { text: string; mark: 'add' | 'del' | 'mut' | '' }

const inline = (value: unknown) => {
    const text = JSON.stringify(value);
    return text.length > 60 ? (Array.isArray(value) ? `[ … ${value.length} ]` : isObject(value) ? `{ … ${Object.keys(value).length} }` : `${text.slice(0, 57)}…`) : text;
};
const same = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);

/** The lines of `after`, with what was added and what is gone against `before`; what is the same is folded. */
export function diffLines(before: unknown, after: unknown, indent = 0, name = ''): DiffLine[] {
    const pad = '  '.repeat(indent);
    const head = name ? `"${name}": ` : '';
    const whole = (value: unknown, mark: DiffLine['mark']): DiffLine[] => JSON.stringify(value, null, 2).split('\n').map((line, i) => ({ text: `${pad}${i === 0 ? head : ''}${line}`, mark }));
    if (same(before, after)) return [{ text: `${pad}${head}${isObject(after) ? (Object.keys(after).length ? `{ … ${Object.keys(after).length} }` : '{}') : inline(after)}`, mark: 'mut' }];
    if (isObject(before) && isObject(after)) {
        const lines: DiffLine[] = [{ text: `${pad}${head}{`, mark: '' }];
        for (const key of [...new Set([...Object.keys(before), ...Object.keys(after)])]) {
            if (!(key in after)) lines.push(...JSON.stringify(before[key], null, 2).split('\n').map((line, i) => ({ text: `${pad}  ${i === 0 ? `"${key}": ` : ''}${line}`, mark: 'del' as const })));
            else if (!(key in before)) lines.push(...JSON.stringify(after[key], null, 2).split('\n').map((line, i) => ({ text: `${pad}  ${i === 0 ? `"${key}": ` : ''}${line}`, mark: 'add' as const })));
            else lines.push(...diffLines(before[key], after[key], indent + 1, key));
        }
        lines.push({ text: `${pad}}`, mark: '' });
        return lines;
    }
    return [...(before === undefined ? [] : whole(before, 'del')), ...whole(after, 'add')];
}

/** The paths that differ, as `steps.ask`. */
export function changedPaths(before: unknown, after: unknown, path = ''): string[] {
    if (same(before, after)) return [];
    if (isObject(before) && isObject(after) && path.split('.').length < 3) return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => changedPaths(before[key], after[key], path ? `${path}.${key}` : key));
    return [path];
}

export function Diff({ before, after }: { before: unknown; after: unknown }) {
    const lines = useMemo(() => diffLines(before, after), [before, after]);
    const shown = lines.slice(0, 600);
    return (
        <div className="code" tabIndex={0} role="group" aria-label={t('What changed')}>
            {shown.map((line, i) => <div key={i} className={`ln ${line.mark}`} data-n={i + 1}><Value text={line.text} /></div>)}
            {lines.length > shown.length && <div className="ln mut">… {lines.length - shown.length}</div>}
        </div>
    );
}
