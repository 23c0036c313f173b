// Expression.tsx - a text that is an expression or may hold one: typed with completion, built from pickers, with its value.
import { Popover } from '@mantine/core';
import { useId, useMemo, useRef, useState } from 'react';
import { Icon } from '../lib/icons';
import { Button, Segments } from '../lib/parts';
import { t } from '../lib/text';
import { type Comparison, literalOf, type Operator, readCondition, typedOf, writeCondition } from '../lib/condition';
import { useDesk } from './desk';
import { isComputed, useOutcome } from './eval';
import { brief, type Known } from './known';
import type { Offer } from './offers';

/** `expression`: all of it is CEL; `value`: it may be, by how it begins; `template`: it may hold some. */
export type Mode = 'expression' | 'value' | 'template';

const noteOf = (known: Known, typeName: (type: string) => string) => (known.has ? brief(known.value) : known.note || typeName(known.type ?? ''));

/** The types of parameters as people call them. */
function useTypeName() {
    const { catalog } = useDesk();
    const labels = catalog.fields.parameter?.find((field) => field.name === 'type')?.optionLabels ?? {};
    return (type: string) => labels[type] ?? type;
}

function rank(known: Known[], typed: string): Known[] {
    const word = typed.replace(/^\$\.?/, '').toLowerCase();
    const begins = known.filter((one) => one.label.toLowerCase().startsWith(word));
    const holds = word.length > 1 ? known.filter((one) => !one.label.toLowerCase().startsWith(word) && one.label.toLowerCase().includes(word)) : [];
    return [...begins, ...holds];
}

/** The list of what is known here, with a field to search it. */
export function Picker({ choose, onlyPaths }: { choose: (known: Known) => void; onlyPaths?: boolean }) {
    const { known, sample } = useDesk();
    const typeName = useTypeName();
    const [typed, type] = useState('');
    const [at, go] = useState(0);
    const id = useId();
    const found = useMemo(() => rank(onlyPaths ? known.filter((one) => one.group !== 'Functions') : known, typed).slice(0, 60), [known, typed, onlyPaths]);
    const shown = useMemo(() => { const groups = [...new Set(found.map((one) => one.group))]; return groups.flatMap((group) => found.filter((one) => one.group === group)); }, [found]);
    let group = '';
    return (
        <div className="picker">
            <div className="q"><Icon name="search" small />
                <input autoFocus role="combobox" aria-expanded="true" aria-controls={id} aria-activedescendant={shown[at] ? `${id}-${at}` : undefined} aria-label={t('Field, step or function')} placeholder={t('Field, step or function')} value={typed}
                    onChange={(event) => { type(event.target.value); go(0); }} onKeyDown={(event) => {
                        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                            event.preventDefault();
                            go((i) => Math.max(0, Math.min(shown.length - 1, i + (event.key === 'ArrowDown' ? 1 : -1))));
                            document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
                        } else if (event.key === 'Enter' && shown[at]) {
                            event.preventDefault();
                            choose(shown[at]);
                        }
                    }} />
                {sample && <span className="meta nowrap cut">{t('values of {name}', { name: sample.name })}</span>}
            </div>
            <div className="opts" id={id} role="listbox" aria-label={t('Field, step or function')}>
                {shown.map((one, i) => {
                    const head = one.group !== group ? (group = one.group) : '';
                    return (
                        <div key={`${one.group}${one.label}`} role="presentation">
                            {head && <h4 role="presentation">{t(head)}</h4>}
                            <button type="button" tabIndex={-1} role="option" aria-selected={i === at} id={`${id}-${i}`} className={`o ${i === at ? 'on' : ''}`} onMouseMove={() => go(i)} onClick={() => choose(one)}><span className="mono nowrap">{one.label}</span><span className="end t3 cut">{noteOf(one, typeName)}</span></button>
                        </div>
                    );
                })}
                {shown.length === 0 && <p className="t3 none">{t('Nothing of that name is known here.')}</p>}
            </div>
        </div>
    );
}

/** What is typed before the cursor that a name could be completed from; null where no expression stands. */
function wordBefore(text: string, cursor: number, mode: Mode): string | null {
    const before = text.slice(0, cursor);
    const open = before.lastIndexOf('{{');
    const inside = mode === 'expression' || /^\$\.|^=/.test(text) || (text.startsWith('$') && text.length < 3) || (open >= 0 && before.indexOf('}}', open) < 0);
    return inside ? (/[$A-Za-z_][\w.?$]*$/.exec(before)?.[0] ?? null) : null;
}

const isInHoles = (text: string, mode: Mode) => mode !== 'expression' && !/^\$|^=/.test(text);

interface Props { id: string; value: string; change: (to: string) => void; mode: Mode; label: string; wrong?: boolean; placeholder?: string; lines?: boolean; /** No expression can stand here. */ plain?: boolean; /** What is picked most. */ offers?: Offer[] }

/** A text with completion behind the cursor and a button that shows all that can be put in. */
export function ExpressionText({ id, value, change, mode, label, wrong, placeholder, lines, plain, offers }: Props) {
    const { known, readOnly } = useDesk();
    const typeName = useTypeName();
    const box = useRef<HTMLTextAreaElement>(null);
    const [hints, hint] = useState<{ word: string; found: Known[]; at: number; isWhole?: boolean } | null>(null);
    const [picking, pick] = useState(false);
    const list = useId();
    const cursor = useRef(0);
    const look = (text: string, where: number) => {
        cursor.current = where;
        if (offers && !isComputed(text || value)) {
            const own = offers.filter((one) => `${one.label} ${one.note}`.toLowerCase().includes(text.toLowerCase())).slice(0, 12).map((one): Known => ({ group: 'Around it', label: one.label, insert: one.label, note: one.note, has: false }));
            // None is marked: who goes on to the next field takes nothing.
            return hint(own.length > 0 && !(own.length === 1 && own[0]!.label === text) ? { word: text, found: own, at: -1, isWhole: true } : null);
        }
        const word = plain ? null : wordBefore(text, where, mode);
        const found = word ? rank(known, word).slice(0, 8) : [];
        hint(word && found.length > 0 && !(found.length === 1 && found[0]!.label === word.replace(/^\$\./, '')) ? { word, found, at: 0 } : null);
    };
    const put = (one: Known, from: number, to: number) => {
        const dollar = one.group === 'Functions' || isInHoles(value.slice(0, from) || value, mode) ? '' : '$.';
        const isBare = from === 0 && to === value.length;
        const text = isBare && mode !== 'expression' && one.group === 'Functions' ? `=${one.insert}` : isInHoles(value, mode) && !isBare && wordBefore(value, to, mode) === null ? `{{ ${one.insert} }}` : isBare && mode !== 'expression' ? `$.${one.insert}` : dollar + one.insert;
        change(value.slice(0, from) + text + value.slice(to));
        hint(null);
        pick(false);
        const end = from + text.length;
        requestAnimationFrame(() => {
            box.current?.focus();
            box.current?.setSelectionRange(end, end);
        });
    };
    const accept = (one: Known) => {
        if (!hints!.isWhole) return put(one, cursor.current - hints!.word.length, cursor.current);
        change(one.insert);
        hint(null);
    };
    const fx = plain ? '' : mode === 'expression' || /^\$\.|^=/.test(value) ? 'fx' : value.includes('{{') ? '{ }' : '';
    return (
        <div className={`expr ${fx ? 'is' : ''}`}>
            <textarea ref={box} id={id} rows={1} className={`inp ${fx || mode === 'expression' ? 'mono' : ''} ${wrong ? 'wrong' : ''} ${lines ? 'tall' : ''}`} spellCheck={false} value={value} placeholder={placeholder} readOnly={readOnly} aria-label={label} aria-invalid={wrong || undefined}
                role="combobox" aria-expanded={hints !== null} aria-controls={list} aria-autocomplete="list" aria-activedescendant={hints && hints.at >= 0 ? `${list}-${hints.at}` : undefined}
                onClick={(event) => { if (offers && !readOnly) look('', event.currentTarget.selectionStart); }}
                onChange={(event) => { change(event.target.value); look(event.target.value, event.target.selectionStart); }}
                onBlur={() => setTimeout(() => hint(null), 150)} onSelect={(event) => { cursor.current = event.currentTarget.selectionStart; }}
                onKeyDown={(event) => {
                    if (event.key === ' ' && event.ctrlKey) {
                        event.preventDefault();
                        pick(true);
                    } else if (offers && !hints && event.key === 'ArrowDown' && !isComputed(value)) {
                        event.preventDefault();
                        look('', cursor.current);
                    } else if (hints && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
                        event.preventDefault();
                        hint({ ...hints, at: hints.at < 0 ? (event.key === 'ArrowDown' ? 0 : hints.found.length - 1) : (hints.at + (event.key === 'ArrowDown' ? 1 : -1) + hints.found.length) % hints.found.length });
                    } else if (hints && hints.at >= 0 && (event.key === 'Enter' || event.key === 'Tab')) {
                        event.preventDefault();
                        accept(hints.found[hints.at]!);
                    } else if (hints && event.key === 'Escape') {
                        event.stopPropagation();
                        hint(null);
                    } else if (event.key === 'Enter' && !lines && !event.shiftKey) event.preventDefault();
                }} />
            {!readOnly && !plain && (
                <Popover opened={picking} onChange={pick} position="bottom-end" width={336} trapFocus returnFocus withinPortal>
                    <Popover.Target><button type="button" className="fx" title={t('Put in a field, a step’s result or a function')} aria-label={`fx: ${t('Put in a field, a step’s result or a function')}`} onClick={() => pick(!picking)}>fx</button></Popover.Target>
                    <Popover.Dropdown><Picker choose={(one) => put(one, value === '' ? 0 : cursor.current, value === '' ? 0 : cursor.current)} /></Popover.Dropdown>
                </Popover>
            )}
            {hints && (
                <div className="hints" id={list} role="listbox" aria-label={t('What can stand here')}>
                    {hints.found.map((one, i) => <button type="button" key={one.group + one.label} tabIndex={-1} role="option" aria-selected={i === hints.at} id={`${list}-${i}`} className={`o ${i === hints.at ? 'on' : ''}`} onMouseDown={(event) => { event.preventDefault(); accept(one); }}><span className="mono nowrap">{one.label}</span><span className="end t3 cut">{noteOf(one, typeName)}</span></button>)}
                </div>
            )}
        </div>
    );
}

/** "With deal-318: true" */
export function LiveLine({ text, mode }: { text: string; mode: Mode }) {
    const { sample } = useDesk();
    const outcome = useOutcome(text, mode === 'expression', sample);
    if (!sample || !outcome) return null;
    return (
        <div className={`liveline ${outcome.ok ? '' : 'no'}`}>
            <span className="t3 nowrap">{t('With {name}', { name: sample.name })}</span>
            {outcome.isAbsent ? <span className="t3">{outcome.text}</span> : outcome.ok ? <span className={`val mono cut ${outcome.text === 'true' ? 'yes' : ''}`}>{outcome.text}</span> : <span className="t2">{outcome.column ? t('column {n}', { n: outcome.column }) : ''} {outcome.text}</span>}
        </div>
    );
}

const OPERATORS: [Operator, string][] = [['==', 'is'], ['!=', 'is not'], ['>', 'is over'], ['>=', 'is at least'], ['<', 'is under'], ['<=', 'is at most'], ['true', 'is true'], ['false', 'is not true']];
const OPERATOR_WORDS = () => [t('is'), t('is not'), t('is over'), t('is at least'), t('is under'), t('is at most'), t('is true'), t('is not true')];

function ComparisonRow({ one, change, remove, n, label }: { one: Comparison; change: (to: Comparison) => void; remove: () => void; n: number; label: string }) {
    const { readOnly, known } = useDesk();
    const [picking, pick] = useState(false);
    const words = OPERATOR_WORDS();
    const left = known.find((own) => `$.${own.label}` === one.left || own.label === one.left);
    const compare = (own: Known): Comparison => {
        const isFlag = own.type === 'boolean' || typeof own.value === 'boolean';
        const isFlagNow = one.operator === 'true' || one.operator === 'false';
        const operator: Operator = isFlag ? 'true' : isFlagNow ? '==' : one.operator;
        return { left: `$.${own.insert}`, operator, right: isFlag ? '' : one.right || (own.options ? literalOf(String(own.options[0])) : '""') };
    };
    const hasRight = one.operator !== 'true' && one.operator !== 'false';
    return (
        <div className="cmp">
            <Popover opened={picking} onChange={pick} position="bottom-start" width={336} trapFocus returnFocus withinPortal>
                <Popover.Target><button type="button" disabled={readOnly} className="inp mono cut pickfield" aria-label={`${one.left.replace(/^\$\./, '') || t('Choose')}: ${t('{field}, what is compared, {n}', { field: label, n })}`} onClick={() => pick(!picking)}>{one.left.replace(/^\$\./, '') || <span className="t3">{t('Choose')}</span>}</button></Popover.Target>
                <Popover.Dropdown><Picker onlyPaths choose={(own) => { change(compare(own)); pick(false); }} /></Popover.Dropdown>
            </Popover>
            <select className="inp" disabled={readOnly} aria-label={t('{field}, how, {n}', { field: label, n })} value={one.operator} onChange={(event) => change({ ...one, operator: event.target.value as Operator, right: event.target.value === 'true' || event.target.value === 'false' ? '' : one.right || '""' })}>
                {OPERATORS.map(([op], i) => <option key={op} value={op}>{words[i]}</option>)}
            </select>
            {hasRight && (left?.options
                ? <select className="inp" disabled={readOnly} aria-label={t('{field}, with what, {n}', { field: label, n })} value={typedOf(one.right)} onChange={(event) => change({ ...one, right: literalOf(event.target.value) })}>
                    {!left.options.some((option) => String(option) === typedOf(one.right)) && <option value={typedOf(one.right)}>{typedOf(one.right) || t('Choose')}</option>}
                    {left.options.map((option) => <option key={String(option)} value={String(option)}>{String(option)}</option>)}
                </select>
                : <input className="inp mono" readOnly={readOnly} aria-label={t('{field}, with what, {n}', { field: label, n })} value={typedOf(one.right)} onChange={(event) => change({ ...one, right: literalOf(event.target.value) })} />)}
            {!readOnly && <button type="button" className="btn quiet sm sq" aria-label={t('Remove')} onClick={remove}><Icon name="x" small /></button>}
        </div>
    );
}

/** A condition: built while it is simple, written when it is not. */
export function Condition(props: Props) {
    const { readOnly } = useDesk();
    const read = useMemo(() => readCondition(props.value), [props.value]);
    const [mode, turn] = useState<'build' | 'write'>(read ? 'build' : 'write');
    const [fresh, begin] = useState(false);
    const shown = read && mode === 'build' ? 'build' : 'write';
    const rows: Comparison[] = read ? (fresh || read.length === 0 ? [...read, { left: '', operator: '==', right: '""' }] : read) : [];
    const save = (all: Comparison[]) => props.change(writeCondition(all.filter((one) => one.left)));
    return (
        <div className="cond">
            {!readOnly && <div className="modes"><Segments small label={t('How {field} is written', { field: props.label })} value={shown} onChange={turn} options={[{ value: 'build', label: t('Build') }, { value: 'write', label: t('Write') }]} /></div>}
            {shown === 'write' ? <>
                <ExpressionText {...props} mode="expression" />
                {mode === 'build' && !read && <p className="meta">{t('It says more than the builder can show.')}</p>}
            </> : (
                <div className="builder">
                    {rows.length > 1 && <p className="meta">{t('all of these hold')}</p>}
                    {rows.map((one, i) => <ComparisonRow key={i} n={i + 1} label={props.label} one={one} change={(to) => { begin(fresh && i !== rows.length - 1); save(rows.map((row, n) => (n === i ? to : row))); }} remove={() => { begin(false); save(rows.filter((_, n) => n !== i)); }} />)}
                    {!readOnly && read!.length > 0 && !fresh && <Button kind="quiet" small icon="plus" onClick={() => begin(true)}>{t('And')}</Button>}
                    {props.value && <div className="cel mono" title={t('The expression')}>{props.value}</div>}
                </div>
            )}
            <LiveLine text={props.value} mode="expression" />
        </div>
    );
}

export { isComputed };
