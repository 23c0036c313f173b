// controls.tsx - one control for each kind of field that the catalog knows: texts, choices, yes and no, steps to go to.
import { type ReactNode, useId, useState } from 'react';
import { Segments } from '../lib/parts';
import { t } from '../lib/text';
import { type CatalogField, chosenKind, type Kind, kindsOf, tableOf, variantsOf } from './catalog';
import { ListControl, MapControl, ValueControl } from './collections';
import { CommandsControl, RunControl, StepsControl } from './commands';
import { acts, useDesk, valueAt, writtenAt } from './desk';
import { type Path, Raw } from './edits';
import { Condition, ExpressionText, LiveLine } from './Expression';
import { TableFields } from './fields';
import { durationsToOffer, durationWords, useOffers } from './offers';

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

export interface ControlProps { path: Path; field: CatalogField; kinds: Kind[]; id: string; label: string; wrong: boolean; inList?: boolean }

export const wordsOf = (kinds: Kind[]) => new Set(kinds.flatMap((kind) => (kind.is === 'word' ? [kind.word] : [])));

const STEPS = (kind: Kind): boolean => (kind.is === 'word' ? kind.word === 'step' : kind.is === 'list' && STEPS(kind.of));

function exampleOf(field: CatalogField): string {
    const example = field.example;
    return typeof example === 'string' ? example : typeof example === 'number' || typeof example === 'boolean' ? String(example) : '';
}

/** One line of text that becomes a text, a number, a duration, an expression: whatever the kinds allow. */
export function TextControl({ path, field, kinds, id, label, wrong, inList }: ControlProps) {
    const { good, doc, readOnly } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const words = wordsOf(kinds);
    const text = shownAs(value, writtenAt(good, path), words);
    const picked = useOffers(words.has('procedureName') ? 'procedures' : field.picks);
    const change = (to: string) => {
        if (to === '' && !inList) act.drop(path);
        else act.set(path, typed(to, words));
    };
    const placeholder = inList ? '' : exampleOf(field);
    const shared = { id, label, value: text, change, wrong, placeholder };
    if (words.has('condition') && !inList) return <Condition {...shared} mode="expression" />;
    if (words.has('condition') || words.has('expression')) return <><ExpressionText {...shared} mode="expression" /><LiveLine text={text} mode="expression" /></>;
    if (words.has('duration')) return (
        <>
            <ExpressionText {...shared} mode="value" plain={!words.has('computed')} offers={durationsToOffer()} />
            <LiveLine text={text} mode="value" />
            {durationWords(text) && <p className="meta">{durationWords(text)}</p>}
        </>
    );
    if (words.has('procedureName') || (picked && !words.has('template'))) return <ExpressionText {...shared} mode="value" plain offers={picked ?? []} />;
    if (words.has('template') || words.has('value') || words.has('computed') || words.has('text')) {
        const isLong = /body|html|message|text/i.test(field.name);
        return <><ExpressionText {...shared} mode={words.has('text') ? 'template' : 'value'} lines={isLong} offers={picked} /><LiveLine text={text} mode="value" /></>;
    }
    if (words.has('string')) return <textarea id={id} rows={1} className={`inp grows ${wrong ? 'wrong' : ''}`} aria-label={label} aria-invalid={wrong || undefined} readOnly={readOnly} value={text} placeholder={field.name === 'name' ? '' : placeholder} onChange={(event) => change(event.target.value)} onKeyDown={(event) => { if (event.key === 'Enter' && field.name !== 'description') event.preventDefault(); }} />;
    return <input id={id} className={`inp mono ${wrong ? 'wrong' : ''}`} aria-label={label} aria-invalid={wrong || undefined} readOnly={readOnly} autoComplete="off" spellCheck={false} value={text} placeholder={placeholder} onChange={(event) => change(event.target.value)} />;
}

export const optionName = (field: CatalogField, option: string) => field.optionLabels?.[option] ?? option;

function ChoiceControl({ path, field, id, label, wrong }: ControlProps) {
    const { good, doc, readOnly } = useDesk();
    const value = valueAt(good, path);
    const known = value === undefined || field.options!.includes(String(value));
    return (
        <select id={id} className={`inp ${wrong ? 'wrong' : ''}`} aria-label={label} aria-invalid={wrong || undefined} disabled={readOnly} value={value === undefined ? '' : String(value)} onChange={(event) => (event.target.value === '' ? acts(doc).drop(path) : acts(doc).set(path, event.target.value, true))}>
            {!(field.required && value !== undefined) && <option value="">{field.default ? t('{word}, unless said', { word: optionName(field, field.default) }) : t('not said')}</option>}
            {!known && <option value={String(value)}>{String(value)}</option>}
            {field.options!.map((option) => <option key={option} value={option}>{optionName(field, option)}</option>)}
        </select>
    );
}

function FlagControl({ path, label }: ControlProps) {
    const { good, doc, readOnly } = useDesk();
    const value = valueAt(good, path);
    return <Segments label={label} value={value === true ? 'yes' : value === false ? 'no' : ''} onChange={(to) => { if (!readOnly) acts(doc).set(path, to === 'yes', true); }} options={[{ value: 'yes' as string, label: t('yes') }, { value: 'no', label: t('no') }]} />;
}

/** A step to go to, by its name; from within a loop to its next round, or out of it. */
function StepCodeControl({ path, id, label, wrong }: ControlProps) {
    const { good, doc, readOnly, list } = useDesk();
    const value = valueAt(good, path);
    const steps = list.items.map((item) => item.step).filter((step) => step.code);
    const inLoop = path.includes('loop');
    const words: [string, string][] = [['end', t('the end of the process')], ...(inLoop ? ([['next', t('the next round of the loop')], ['break', t('out of the loop')]] as [string, string][]) : [])];
    const isKnown = typeof value !== 'string' || value === '' || steps.some((step) => step.code === value) || words.some(([word]) => word === value);
    return (
        <select id={id} className={`inp ${wrong ? 'wrong' : ''}`} aria-label={label} disabled={readOnly} value={typeof value === 'string' ? value : ''} onChange={(event) => (event.target.value ? acts(doc).set(path, event.target.value, true) : acts(doc).drop(path))}>
            <option value="">{t('the next step')}</option>
            {!isKnown && <option value={String(value)}>{String(value)}</option>}
            {steps.map((step) => <option key={step.code} value={step.code}>{step.name ? `${step.name} (${step.code})` : step.code}</option>)}
            {words.map(([word, name]) => <option key={word} value={word}>{name}</option>)}
        </select>
    );
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

const LINE = ['template', 'string', 'text', 'duration', 'timestamp', 'computed', 'integer', 'number', 'name', 'who', 'error'];
const LINE_FIRST = ['template', 'string', 'text', 'duration', 'timestamp', 'integer', 'number'];

/** The ways to write a field that need a choice; kinds that are one and the same line of text need none. */
function groupsOf(kinds: Kind[], field: CatalogField): Kind[][] {
    const groups: Kind[][] = [];
    for (const kind of kinds) {
        const isLine = kind.is === 'word' && LINE.includes(kind.word);
        const last = groups.find((group) => group[0]!.is === 'word' && isLine && LINE_FIRST.includes((group[0] as { word: string }).word));
        if (last) last.push(kind);
        else groups.push([kind]);
    }
    // What a loop goes over, or what is added up, is nearly always said by an expression.
    const isValues = (kind: Kind) => kind.is === 'list' && kind.of.is === 'word' && kind.of.word === 'value';
    return typeof field.example === 'string' && groups.length === 2 && isValues(groups[0]![0]!) && groups[1]![0]!.is === 'word' && (groups[1]![0] as { word: string }).word === 'computed' ? [groups[1]!, groups[0]!] : groups;
}

/** What a control is for, by the kind that is meant; `text` is what nothing else is there for. */
export function controlFor(kind: Kind, isTable: (word: string) => boolean): 'steps' | 'list' | 'map' | 'choice' | 'flag' | 'commands' | 'run' | 'value' | 'table' | 'text' {
    if (STEPS(kind)) return 'steps';
    if (kind.is !== 'word') return kind.is;
    switch (kind.word) {
        case 'one of': return 'choice';
        case 'boolean': return 'flag';
        case 'commands': case 'run': return kind.word;
        case 'value': case 'any': return 'value';
        default: return isTable(kind.word) ? 'table' : 'text';
    }
}

/** The control of a field, by the kind that its value is of. */
export function Control(props: ControlProps) {
    const { good, catalog, doc, readOnly } = useDesk();
    const { kinds, path, field } = props;
    const value = valueAt(good, path);
    const [asked, ask] = useState<number | null>(null);
    const call = kinds.length === 2 && kinds[0]!.is === 'word' && kinds[0]!.word === 'run' && kinds[1]!.is === 'word' ? kinds[1]!.word : undefined;
    const groups = call ? [kinds.slice(0, 1)] : groupsOf(kinds, field);
    const meant = chosenKind(catalog, groups.flat(), field, value);
    const at = value === undefined ? (asked ?? 0) : Math.max(0, groups.findIndex((group) => group.includes(meant)));
    const group = groups[at] ?? groups[0]!;
    const kind = group.includes(meant) && value !== undefined ? meant : group[0]!;
    const inner = { ...props, kinds: group };
    const word = kind.is === 'word' ? kind.word : '';
    const is = controlFor(kind, (name) => tableOf(catalog, name) !== undefined || variantsOf(catalog, name).length > 0);
    let control: ReactNode;
    if (is === 'steps') control = <StepsControl {...inner} />;
    else if (is === 'list') control = <ListControl {...inner} of={(kind as { of: Kind }).of} />;
    else if (is === 'map') control = <MapControl {...inner} of={(kind as { of: Kind }).of} />;
    else if (is === 'choice') control = <ChoiceControl {...inner} />;
    else if (is === 'flag' && typeof value !== 'string') control = <FlagControl {...inner} />;
    else if (is === 'commands') control = <CommandsControl {...inner} />;
    else if (is === 'run') control = <RunControl {...inner} call={call} />;
    else if (is === 'value') control = <ValueControl {...inner} />;
    else if (is === 'table') control = <div className="nested"><TableFields word={word} path={path} /></div>;
    else if (word === 'code' && !props.inList && /goto|to/.test(field.name)) control = <StepCodeControl {...inner} />;
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

/** Which of several kinds of object it is; each has fields of its own. */
export function VariantControl({ path, word }: { path: Path; word: string }) {
    const { good, catalog, doc, readOnly } = useDesk();
    const variants = variantsOf(catalog, word);
    const value = valueAt(good, path) as { type?: unknown } | undefined;
    const id = useId();
    const field = variants[0]!.field;
    return (
        <div className="fld">
            <div className="flh"><label htmlFor={id}>{field.label}</label></div>
            <select id={id} className="inp" disabled={readOnly} value={String(value?.type ?? '')} onChange={(event) => acts(doc).set(path, { type: event.target.value }, true)}>
                {!variants.some((one) => one.type === value?.type) && <option value={String(value?.type ?? '')}>{String(value?.type ?? t('Choose'))}</option>}
                {variants.map((one) => <option key={one.type} value={one.type}>{optionName(one.field, one.type)}</option>)}
            </select>
        </div>
    );
}

export const kindsOfField = (field: CatalogField) => kindsOf(field.kind);
