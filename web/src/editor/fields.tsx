// fields.tsx - a form for anything that the catalog describes: one control for each kind of field, and for what is made of them.
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Glyph, Icon } from '../lib/icons';
import { Button, Segments } from '../lib/parts';
import { t } from '../lib/text';
import { type CatalogField, chosenKind, commandOf, type Kind, kindsOf, tableOf } from './catalog';
import { acts, findingsAt, findingsIn, useDesk, valueAt, writtenAt } from './desk';
import { type Path, pointerOf, Raw } from './edits';
import { Condition, ExpressionText, LiveLine } from './Expression';
import { fixOf } from './fix';
import { type Command, iconOfCommand } from './model';

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const isScalar = (text: string) => NUMBER.test(text) || /^(true|false|null)$/.test(text);

/** What was typed, as JSON of this kind; where any value may stand, "5" in quotes is a text. */
function typed(text: string, words: Set<string>): unknown {
    const isValue = words.has('value') || words.has('any');
    if (isValue && isScalar(text)) return new Raw(text);
    if ((words.has('integer') || words.has('number')) && NUMBER.test(text)) return new Raw(text);
    const quoted = isValue ? /^"([^"\\]*)"$/.exec(text)?.[1] : undefined;
    return quoted !== undefined && isScalar(quoted) ? quoted : text;
}

/** And what stands there, to be typed on. */
function shownAs(value: unknown, written: string, words: Set<string>): string {
    if (value === undefined) return '';
    if (typeof value === 'string') return (words.has('value') || words.has('any')) && isScalar(value) ? `"${value}"` : value;
    return written;
}

interface ControlProps { path: Path; field: CatalogField; kinds: Kind[]; id: string; label: string; wrong: boolean; inList?: boolean }

const wordsOf = (kinds: Kind[]) => new Set(kinds.flatMap((kind) => (kind.is === 'word' ? [kind.word] : [])));

const STEPS = (kind: Kind): boolean => (kind.is === 'word' ? kind.word === 'step' : kind.is === 'list' && STEPS(kind.of));

function exampleOf(field: CatalogField): string {
    const example = field.example;
    return typeof example === 'string' ? example : typeof example === 'number' || typeof example === 'boolean' ? String(example) : '';
}

/** A value of JSON: a text (or an expression), fields with names, or a list; as deep as it goes. */
function ValueControl(props: ControlProps) {
    const { path, kinds, label, field, id, wrong } = props;
    const { good, doc, readOnly } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const shape = Array.isArray(value) ? 'list' : isObject(value) ? 'map' : 'one';
    const isWide = field.example !== null && typeof field.example === 'object';
    const options = [{ value: 'one', label: t('Value') }, { value: 'map', label: t('Fields') }, { value: 'list', label: t('List') }] as { value: 'one' | 'map' | 'list'; label: string }[];
    const [asked, ask] = useState<'one' | 'map' | 'list' | null>(value === undefined && isWide ? (Array.isArray(field.example) ? 'list' : 'map') : null);
    const shown = value === undefined ? (asked ?? 'one') : shape;
    return (
        <div className="valuebox">
            {!readOnly && (value === undefined || value === '' || shape !== 'one' || isWide) && (
                <Segments small label={t('What {field} is', { field: label })} value={shown} options={options} onChange={(to) => {
                    if (to === shown) return;
                    ask(to);
                    if (value !== undefined) act.set(path, to === 'map' ? {} : to === 'list' ? [] : '', true);
                }} />
            )}
            {shown === 'map' ? <MapControl {...props} of={{ is: 'word', word: wordsOf(kinds).has('any') ? 'any' : 'value' }} />
                : shown === 'list' ? <ListControl {...props} of={{ is: 'word', word: wordsOf(kinds).has('any') ? 'any' : 'value' }} />
                    : <TextControl {...props} id={id} wrong={wrong} />}
        </div>
    );
}

/** One line of text that becomes a text, a number, a duration, an expression: whatever the kinds allow. */
function TextControl({ path, field, kinds, id, label, wrong, inList }: ControlProps) {
    const { good, doc, readOnly, procedures } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const words = wordsOf(kinds);
    const text = shownAs(value, writtenAt(good, path), words);
    const change = (to: string) => {
        if (to === '' && !inList) act.drop(path);
        else act.set(path, typed(to, words));
    };
    const list = useId();
    if (words.has('condition') && !inList) return <Condition id={id} label={label} mode="expression" value={text} change={change} wrong={wrong} placeholder={exampleOf(field)} />;
    if (words.has('condition') || words.has('expression')) return <><ExpressionText id={id} label={label} mode="expression" value={text} change={change} wrong={wrong} placeholder={exampleOf(field)} /><LiveLine text={text} mode="expression" /></>;
    if (words.has('template') || words.has('value') || words.has('computed') || words.has('text')) {
        const isLong = /body|html|message|text/i.test(field.name);
        return <><ExpressionText id={id} label={label} mode={words.has('text') ? 'template' : 'value'} value={text} change={change} wrong={wrong} placeholder={inList ? '' : exampleOf(field)} lines={isLong} /><LiveLine text={text} mode="value" /></>;
    }
    if (words.has('string')) return <textarea id={id} rows={1} className={`inp grows ${wrong ? 'wrong' : ''}`} aria-label={label} aria-invalid={wrong || undefined} readOnly={readOnly} value={text} placeholder={inList || field.name === 'name' ? '' : exampleOf(field)} onChange={(event) => change(event.target.value)} onKeyDown={(event) => { if (event.key === 'Enter' && field.name !== 'description') event.preventDefault(); }} />;
    return (
        <>
            <input id={id} className={`inp mono ${wrong ? 'wrong' : ''}`} aria-label={label} aria-invalid={wrong || undefined} readOnly={readOnly} autoComplete="off" spellCheck={false} list={words.has('procedureName') ? list : undefined}
                value={text} placeholder={inList ? '' : exampleOf(field)} onChange={(event) => change(event.target.value)} />
            {words.has('procedureName') && <datalist id={list}>{procedures.map((p) => <option key={p.code} value={p.code}>{p.name ?? ''}</option>)}</datalist>}
        </>
    );
}

function ChoiceControl({ path, field, id, label, wrong }: ControlProps) {
    const { good, doc, readOnly } = useDesk();
    const value = valueAt(good, path);
    const known = value === undefined || field.options!.includes(String(value));
    return (
        <select id={id} className={`inp ${wrong ? 'wrong' : ''}`} aria-label={label} aria-invalid={wrong || undefined} disabled={readOnly} value={value === undefined ? '' : String(value)} onChange={(event) => (event.target.value === '' ? acts(doc).drop(path) : acts(doc).set(path, event.target.value, true))}>
            <option value="">{field.default ? t('{word}, unless said', { word: field.default }) : t('not said')}</option>
            {!known && <option value={String(value)}>{String(value)}</option>}
            {field.options!.map((option) => <option key={option} value={option}>{option}</option>)}
        </select>
    );
}

function FlagControl({ path, label }: ControlProps) {
    const { good, doc, readOnly } = useDesk();
    const value = valueAt(good, path);
    return <Segments label={label} value={value === true ? 'yes' : value === false ? 'no' : ''} onChange={(to) => { if (!readOnly) acts(doc).set(path, to === 'yes', true); }} options={[{ value: 'yes' as string, label: t('yes') }, { value: 'no', label: t('no') }]} />;
}

/** Names with values, one a row. */
function MapControl({ path, field, label, of }: ControlProps & { of: Kind }) {
    const { good, doc, readOnly, findings } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const names = isObject(value) ? Object.keys(value) : [];
    const id = useId();
    const [fresh, begin] = useState(false);
    const box = useRef<HTMLDivElement>(null);
    const isWide = of.is === 'word' && (of.word === 'commands' || (of.word !== 'value' && of.word !== 'any' && of.word !== 'string' && of.word !== 'template'));
    const blank = () => { let n = 1; while (names.includes(`field_${n}`)) n++; return `field_${n}`; };
    return (
        <div className="map" ref={box}>
            {names.map((name, i) => {
                const own = (value as Record<string, unknown>)[name];
                const deep = isWide || (own !== null && typeof own === 'object');
                return (
                    <div key={i} className={`kvrow ${deep ? 'deep' : ''}`}>
                        <input className="inp mono key" aria-label={t('{field}, name {n}', { field: label, n: i + 1 })} readOnly={readOnly} value={name} spellCheck={false} autoFocus={fresh && i === names.length - 1} onFocus={(event) => { if (fresh) event.target.select(); begin(false); }}
                            onChange={(event) => { if (!names.includes(event.target.value)) act.renameMember(path, name, event.target.value); }} />
                        <div className="val"><Control path={[...path, name]} field={{ ...field, required: false, help: '', example: null }} kinds={[of]} id={`${id}-${i}`} label={name} wrong={findingsAt(findings, [...path, name]).length > 0} inList /></div>
                        {!readOnly && <button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name })} onClick={() => act.remove([...path, name])}><Icon name="x" small /></button>}
                        <Said path={[...path, name]} />
                    </div>
                );
            })}
            {!readOnly && <Button kind="quiet" small icon="plus" onClick={() => { begin(true); act.set([...path, blank()], isWide ? (of.is === 'word' && of.word === 'commands' ? [] : {}) : '', true); }}>{t('Add a field')}</Button>}
        </div>
    );
}

/** The item that is open: the one that was pressed, or the one that a problem leads into. */
function useOpen(path: Path): [number | null, (to: number | null) => void] {
    const { aimed } = useDesk();
    const [open, toggle] = useState<number | null>(null);
    const own = `${pointerOf(path)}/`;
    useEffect(() => {
        if (aimed.startsWith(own)) toggle(Number(aimed.slice(own.length).split('/')[0]));
    }, [aimed]);
    return [open, toggle];
}

/** A list; what has fields of its own is folded to a line. */
function ListControl({ path, field, label, of }: ControlProps & { of: Kind }) {
    const { good, doc, readOnly, catalog, findings } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const items = Array.isArray(value) ? (value as unknown[]) : [];
    const id = useId();
    const [open, toggle] = useOpen(path);
    const table = of.is === 'word' ? tableOf(catalog, of.word) : undefined;
    const noun = of.is === 'word' && table ? (catalog.tables.find((one) => one.name === of.word)?.label ?? of.word) : '';
    const add = () => {
        act.set([...path, items.length], table ? {} : of.is === 'list' ? [] : '', true);
        toggle(items.length);
    };
    return (
        <div className="list">
            {items.map((item, i) => {
                const own = [...path, i];
                const isWrong = findingsIn(findings, own).length > 0;
                const isOpen = open === i;
                const tools = !readOnly && (
                    <span className="row tools">
                        {i > 0 && <button type="button" className="btn quiet sm sq" aria-label={t('Move {n} up', { n: i + 1 })} onClick={() => { act.move(own, path, i - 1); toggle(null); }}><Icon name="up" small /></button>}
                        <button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name: String(i + 1) })} onClick={() => { act.remove(own); toggle(null); }}><Icon name="x" small /></button>
                    </span>
                );
                if (!table) return <div key={i} className="litem"><div className="val"><Control path={own} field={{ ...field, required: false, help: '', example: null }} kinds={[of]} id={`${id}-${i}`} label={t('{field} {n}', { field: label, n: i + 1 })} wrong={findingsAt(findings, own).length > 0} inList /><Said path={own} /></div>{tools}</div>;
                return (
                    <div key={i} className={`titem ${isOpen ? 'open' : ''}`}>
                        <div className="thd"><button type="button" className="fold" aria-expanded={isOpen} onClick={() => toggle(isOpen ? -1 : i)}><Icon name={isOpen ? 'down' : 'right'} small /><span className="cut">{summary(item) || t('{what} {n}', { what: noun, n: i + 1 })}</span>{isWrong && <Glyph name="error" tone="bad" />}</button>{tools}</div>
                        {isOpen && <div className="tbody"><FieldList table={of.is === 'word' ? of.word : ''} path={own} /></div>}
                    </div>
                );
            })}
            {!readOnly && <Button kind="quiet" small icon="plus" onClick={add}>{noun ? t('Add: {what}', { what: noun }) : t('Add an item')}</Button>}
        </div>
    );
}

/** The first words of something that has fields. */
function summary(item: unknown): ReactNode {
    if (!isObject(item)) return '';
    const words = Object.entries(item).filter(([, v]) => typeof v === 'string' || typeof v === 'boolean').slice(0, 4);
    if (words.length === 0) return '';
    return <>{words.map(([name, v], i) => (v === false ? null : <span key={name} className={i === 0 ? 'm5 mono' : 't3'}>{i > 0 ? ' · ' : ''}{v === true ? name : String(v)}</span>))}</>;
}

/** One command, with its type as the head of its fields. */
export function CommandForm({ path, bare, leave = [] }: { path: Path; bare?: boolean; leave?: string[] }) {
    const { good, catalog, doc, readOnly } = useDesk();
    const command = valueAt(good, path) as Command | undefined;
    const spec = commandOf(catalog, command?.type);
    const id = useId();
    return (
        <div className="command">
            {!bare && (
                <div className="fld" data-at={pointerOf([...path, 'type'])}>
                    <label htmlFor={id}>{t('Command')}</label>
                    <select id={id} className="inp" disabled={readOnly} value={spec?.name ?? String(command?.type ?? '')} onChange={(event) => acts(doc).set([...path, 'type'], event.target.value, true)}>
                        {!spec && <option value={String(command?.type ?? '')}>{String(command?.type ?? t('Choose'))}</option>}
                        {catalog.groups.map((group) => <optgroup key={group.name} label={group.label}>{catalog.commands.filter((c) => c.group === group.name).map((c) => <option key={c.name} value={c.name}>{c.label}</option>)}</optgroup>)}
                    </select>
                    <Said path={[...path, 'type']} />
                </div>
            )}
            {spec && <p className="help what">{spec.help}</p>}
            {bare && <Said path={[...path, 'type']} />}
            <FieldList fields={[...(spec?.fields ?? []), ...(catalog.fields.command ?? []).filter((field) => field.name !== 'type' && (!leave.includes(field.name) || (command && field.name in command)) && !(spec?.standsAlone && /Not for waits|Не для ожиданий/.test(field.help)) && !spec?.fields.some((own) => own.name === field.name))]} path={path} />
        </div>
    );
}

/** One command, or several in a row, each folded to a line. */
function CommandsControl({ path }: ControlProps) {
    const { good, doc, readOnly, catalog, findings } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const [open, toggle] = useOpen(path);
    const isList = Array.isArray(value);
    const commands = isList ? (value as Command[]) : isObject(value) ? [value as Command] : [];
    const choose = (type: string) => {
        if (type === '') return;
        if (value === undefined || typeof value === 'string') act.set(path, { type }, true);
        else act.insert(path, commands.length, { type });
        toggle(commands.length);
    };
    const more = !readOnly && (
        <select className="inp addcmd" aria-label={t('Add a command')} value="" onChange={(event) => choose(event.target.value)}>
            <option value="">{t('Add a command')}…</option>
            {catalog.groups.map((group) => <optgroup key={group.name} label={group.label}>{catalog.commands.filter((c) => c.group === group.name).map((c) => <option key={c.name} value={c.name}>{c.label}</option>)}</optgroup>)}
        </select>
    );
    if (!isList && commands.length === 1) return <div className="one"><CommandForm path={path} />{more}</div>;
    return (
        <div className="list">
            {commands.map((command, i) => {
                const own = [...path, i];
                const spec = commandOf(catalog, command?.type);
                const isOpen = open === i || (open === null && commands.length === 1);
                return (
                    <div key={i} className={`titem ${isOpen ? 'open' : ''}`}>
                        <div className="thd">
                            <button type="button" className="fold" aria-expanded={isOpen} onClick={() => toggle(isOpen ? -1 : i)}><Icon name={isOpen ? 'down' : 'right'} small /><Icon name={iconOfCommand(spec, String(command?.type))} small /><span className="cut m5">{spec?.label ?? String(command?.type)}</span>{typeof command?.as === 'string' && <code className="t3">{command.as}</code>}{findingsIn(findings, own).length > 0 && <Glyph name="error" tone="bad" />}</button>
                            {!readOnly && <span className="row tools">{i > 0 && <button type="button" className="btn quiet sm sq" aria-label={t('Move {n} up', { n: i + 1 })} onClick={() => { act.move(own, path, i - 1); toggle(null); }}><Icon name="up" small /></button>}<button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name: spec?.label ?? String(i + 1) })} onClick={() => { act.remove(own); toggle(null); }}><Icon name="x" small /></button></span>}
                        </div>
                        {isOpen && <div className="tbody"><CommandForm path={own} /></div>}
                    </div>
                );
            })}
            {more}
        </div>
    );
}

/** What runs: a procedure that has a name, or commands. */
function RunControl(props: ControlProps) {
    const { good, doc, readOnly } = useDesk();
    const value = valueAt(good, props.path);
    const [asked, ask] = useState<'name' | 'commands'>(typeof value === 'string' ? 'name' : 'commands');
    const shown = typeof value === 'string' ? 'name' : value === undefined ? asked : 'commands';
    return (
        <div className="run">
            {!readOnly && <Segments small label={t('What runs')} value={shown} options={[{ value: 'name', label: t('A procedure') }, { value: 'commands', label: t('Commands') }]} onChange={(to) => {
                if (to === shown) return;
                ask(to);
                if (value !== undefined) acts(doc).set(props.path, to === 'name' ? '' : [], true);
            }} />}
            {shown === 'name' ? <TextControl {...props} kinds={kindsOf('procedureName')} field={{ ...props.field, example: '' }} inList={value !== undefined} /> : <CommandsControl {...props} />}
        </div>
    );
}

/** What a step or a lane has inside is put together on the canvas. */
function StepsControl({ path }: ControlProps) {
    const { good, select } = useDesk();
    const value = valueAt(good, path);
    const count = Array.isArray(value) ? value.flat().length : 0;
    return <p className="t3 stepsline">{t('{n} step, on the canvas|{n} steps, on the canvas', { n: count })} {count > 0 && Array.isArray(value) && !Array.isArray(value[0]) && <button type="button" className="btn link" onClick={() => select([...path, 0])}>{t('Open the first')}</button>}</p>;
}

const KIND_WORD: Record<string, () => string> = {
    list: () => t('List'), map: () => t('Fields'), 'one of': () => t('Choose'), computed: () => t('Expression'), run: () => t('What runs'), code: () => t('Step'), integer: () => t('Number'),
};
const kindWord = (kind: Kind, label: (name: string) => string | undefined, field: CatalogField) => {
    if (kind.is !== 'word') return KIND_WORD[kind.is]!();
    const own = KIND_WORD[kind.word]?.() ?? label(kind.word) ?? t('Text');
    return own === field.label ? t('With its input') : own;
};

function blankOf(kind: Kind, field: CatalogField): unknown {
    if (kind.is === 'list') return [];
    if (kind.is === 'map') return {};
    if (kind.word === 'one of') return field.options?.[0] ?? '';
    return ['string', 'template', 'computed', 'code', 'duration', 'run', 'condition', 'expression'].includes(kind.word) ? '' : kind.word === 'integer' ? 1 : {};
}

/** The control of a field, by the kind that its value is of. */
export function Control(props: ControlProps) {
    const { good, catalog, doc, readOnly } = useDesk();
    const { kinds, path, field } = props;
    const value = valueAt(good, path);
    const [asked, ask] = useState<number | null>(null);
    // Kinds that are written in one and the same line of text need no choice.
    const groups: Kind[][] = [];
    for (const kind of kinds) {
        const isLine = kind.is === 'word' && ['template', 'string', 'text', 'duration', 'timestamp', 'computed', 'integer', 'number', 'name', 'who', 'error'].includes(kind.word);
        const last = groups.find((group) => group[0]!.is === 'word' && isLine && ['template', 'string', 'text', 'duration', 'timestamp', 'integer', 'number'].includes((group[0] as { word: string }).word));
        if (last) last.push(kind);
        else groups.push([kind]);
    }
    const meant = chosenKind(catalog, kinds, field, value);
    const at = value === undefined ? (asked ?? 0) : Math.max(0, groups.findIndex((group) => group.includes(meant)));
    const group = groups[at] ?? groups[0]!;
    const kind = group.includes(meant) && value !== undefined ? meant : group[0]!;
    const inner = { ...props, kinds: group };
    let control: ReactNode;
    if (STEPS(kind)) control = <StepsControl {...inner} />;
    else if (kind.is === 'list') control = <ListControl {...inner} of={kind.of} />;
    else if (kind.is === 'map') control = <MapControl {...inner} of={kind.of} />;
    else if (kind.word === 'one of') control = <ChoiceControl {...inner} />;
    else if (kind.word === 'boolean' && typeof value !== 'string') control = <FlagControl {...inner} />;
    else if (kind.word === 'commands') control = <CommandsControl {...inner} />;
    else if (kind.word === 'run') control = <RunControl {...inner} />;
    else if (kind.word === 'value' || kind.word === 'any') control = <ValueControl {...inner} />;
    else if (tableOf(catalog, kind.word)) control = <div className="nested"><FieldList table={kind.word} path={path} /></div>;
    else if (kind.word === 'code' && !props.inList && /goto|to/.test(field.name)) control = <StepCodeControl {...inner} />;
    else control = <TextControl {...inner} />;
    return (
        <>
            {groups.length > 1 && !readOnly && (
                <Segments small label={t('How {field} is written', { field: props.label })} value={String(at)} options={groups.map((one, i) => ({ value: String(i), label: kindWord(one[0]!, (name) => (tableOf(catalog, name) ? catalog.tables.find((table) => table.name === name)?.label : undefined), field) }))} onChange={(to) => {
                    if (Number(to) === at) return;
                    ask(Number(to));
                    if (value !== undefined) acts(doc).set(path, blankOf(groups[Number(to)]![0]!, field), true);
                }} />
            )}
            {control}
        </>
    );
}

/** A step to go to. */
function StepCodeControl({ path, id, label, wrong }: ControlProps) {
    const { good, doc, readOnly, list } = useDesk();
    const value = valueAt(good, path);
    const codes = list.items.map((item) => item.step.code).filter(Boolean);
    const all = [...new Set([...codes, 'end', ...(typeof value === 'string' && value ? [value] : [])])];
    return (
        <select id={id} className={`inp mono ${wrong ? 'wrong' : ''}`} aria-label={label} disabled={readOnly} value={typeof value === 'string' ? value : ''} onChange={(event) => (event.target.value ? acts(doc).set(path, event.target.value, true) : acts(doc).drop(path))}>
            <option value="">{t('the next step')}</option>
            {all.map((code) => <option key={code} value={code}>{code}</option>)}
        </select>
    );
}

/** What the server says is wrong here, with what mends it. */
export function Said({ path }: { path: Path }) {
    const { findings, good, doc } = useDesk();
    const all = findingsAt(findings, path);
    if (all.length === 0) return null;
    return (
        <>
            {all.map((finding) => {
                const fix = fixOf(finding, good);
                return (
                    <div key={finding.code + finding.message} className={`said ${finding.severity}`} role="status">
                        <Glyph name={finding.severity === 'error' ? 'error' : 'held'} tone={finding.severity === 'error' ? 'bad' : 'held'} />
                        <span className="grow">{finding.message}{finding.hint && !fix ? <span className="t2">; {finding.hint}</span> : null}</span>
                        {fix && <Button small onClick={() => doc.apply(fix.edits)}>{t('Use {what}', { what: fix.label })}</Button>}
                    </div>
                );
            })}
        </>
    );
}

/** One field with its label, its control and what is wrong with it. */
export function FieldBox({ field, path, drop, children, note }: { field: CatalogField; path: Path; drop?: boolean; children?: ReactNode; note?: ReactNode }) {
    const { findings, doc, readOnly } = useDesk();
    const id = useId();
    const isWrong = findingsAt(findings, path).some((finding) => finding.severity === 'error');
    return (
        <div className="fld" data-at={pointerOf(path)} data-label={field.label} data-help={field.help}>
            <div className="flh"><label htmlFor={id} title={field.help}>{field.label}</label>{note}{drop && !readOnly && <button type="button" className="btn quiet sm sq end" aria-label={t('Remove {name}', { name: field.label })} title={t('Remove')} onClick={() => acts(doc).drop(path)}><Icon name="x" small /></button>}</div>
            {children ?? <Control path={path} field={field} kinds={kindsOf(field.kind)} id={id} label={field.label} wrong={isWrong} />}
            <Said path={path} />
        </div>
    );
}

/** The fields of a table of the catalog, or those given: what is set or needed as controls, the rest as names that can be added. */
export function FieldList({ table, fields, path, skip = [], only }: { table?: string; fields?: CatalogField[]; path: Path; skip?: string[]; only?: string[] }) {
    const { catalog, good, findings, readOnly } = useDesk();
    const [opened, open] = useState<Set<string>>(new Set());
    const box = useRef<HTMLDivElement>(null);
    const wanted = useRef<string | null>(null);
    const all = (fields ?? catalog.fields[table ?? ''] ?? []).filter((field) => field.state === 'now' && !skip.includes(field.name) && (!only || only.includes(field.name)));
    const value = valueAt(good, path);
    const isSet = (field: CatalogField) => isObject(value) && field.name in value;
    const shown = all.filter((field) => field.required || isSet(field) || opened.has(field.name) || findingsIn(findings, [...path, field.name]).length > 0);
    // What was shown stays while one types: a field does not go away when its last letter does.
    useEffect(() => {
        const fresh = shown.filter((field) => !opened.has(field.name)).map((field) => field.name);
        if (fresh.length > 0) open((before) => new Set([...before, ...fresh]));
    });
    useEffect(() => {
        if (!wanted.current) return;
        const at = pointerOf([...path, wanted.current]);
        wanted.current = null;
        box.current?.querySelector<HTMLElement>(`[data-at="${CSS.escape(at)}"] :is(input, textarea, select, .pickfield, .seg button, button:not(.flh *))`)?.focus();
    });
    const rest = all.filter((field) => !shown.includes(field));
    return (
        <div className="fields" ref={box}>
            {shown.map((field) => <FieldBox key={field.name} field={field} path={[...path, field.name]} drop={!field.required && isSet(field)} />)}
            {!readOnly && rest.length > 0 && (
                <div className="more">{rest.map((field) => <button key={field.name} type="button" className="addf" title={field.help} onClick={() => { wanted.current = field.name; open((before) => new Set([...before, field.name])); }}><Icon name="plus" small />{field.label}</button>)}</div>
            )}
        </div>
    );
}
