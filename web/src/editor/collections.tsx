// collections.tsx - what is made of others: a value of any depth, names with values, lists.
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { isObject } from '../lib/exact';
import { Glyph, Icon } from '../lib/icons';
import { Button, Segments } from '../lib/parts';
import { t } from '../lib/text';
import { type Catalog, type Kind, tableOf, variantsOf } from './catalog';
import { Control, type ControlProps, optionName, TextControl, wordsOf } from './controls';
import { acts, findingsAt, findingsIn, useDesk, valueAt } from './desk';
import { type Path, pointerOf } from './edits';
import { Said, TableFields } from './fields';


/** A value of JSON: a text (or an expression), fields with names, or a list; as deep as it goes. */
export function ValueControl(props: ControlProps) {
    const { path, kinds, label, field, id, wrong } = props;
    const { good, doc, readOnly } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const shape = Array.isArray(value) ? 'list' : isObject(value) ? 'map' : 'one';
    const isWide = field.example !== null && typeof field.example === 'object';
    const options = [{ value: 'one', label: t('Value') }, { value: 'map', label: t('Fields') }, { value: 'list', label: t('List') }] as { value: 'one' | 'map' | 'list'; label: string }[];
    const [asked, ask] = useState<'one' | 'map' | 'list' | null>(value === undefined && isWide ? (Array.isArray(field.example) ? 'list' : 'map') : null);
    const shown = value === undefined ? (asked ?? 'one') : shape;
    const of: Kind = { is: 'word', word: wordsOf(kinds).has('any') ? 'any' : 'value' };
    return (
        <div className="valuebox">
            {!readOnly && (value === undefined || value === '' || shape !== 'one' || isWide) && (
                <Segments small label={t('What {field} is', { field: label })} value={shown} options={options} onChange={(to) => {
                    if (to === shown) return;
                    ask(to);
                    if (value !== undefined) act.set(path, to === 'map' ? {} : to === 'list' ? [] : '', true);
                }} />
            )}
            {shown === 'map' ? <MapControl {...props} of={of} /> : shown === 'list' ? <ListControl {...props} of={of} /> : <TextControl {...props} id={id} wrong={wrong} />}
        </div>
    );
}

/** Names with values, one a row. */
export function MapControl({ path, field, label, of }: ControlProps & { of: Kind }) {
    const { good, doc, readOnly, findings } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const names = isObject(value) ? Object.keys(value) : [];
    const id = useId();
    const [fresh, begin] = useState(false);
    const isWide = of.is === 'word' && (of.word === 'commands' || (of.word !== 'value' && of.word !== 'any' && of.word !== 'string' && of.word !== 'template'));
    const blank = () => { let n = 1; while (names.includes(`field_${n}`)) n++; return `field_${n}`; };
    return (
        <div className="map">
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
export function useOpen(path: Path, first: number | null = null): [number | null, (to: number | null) => void] {
    const { aimed } = useDesk();
    const [open, toggle] = useState<number | null>(first);
    const own = `${pointerOf(path)}/`;
    useEffect(() => {
        if (aimed.startsWith(own)) toggle(Number(aimed.slice(own.length).split('/')[0]));
    }, [aimed]);
    return [open, toggle];
}

/** An item as it begins: what it must be one of is the first of these. */
function blankItem(catalog: Catalog, of: Kind): unknown {
    if (of.is === 'list') return [];
    const word = of.is === 'word' ? of.word : '';
    const variant = variantsOf(catalog, word)[0];
    if (variant) return { type: variant.type };
    const table = tableOf(catalog, word);
    if (!table) return '';
    if (table.some((field) => field.kind === 'list of step')) return { when: '', steps: [] };
    const first = table[0]!;
    return { ...(first.kind === 'name' ? { [first.name]: '' } : {}), ...Object.fromEntries(table.filter((field) => field.kind === 'one of' && (field.required || field.shownFirst)).map((field) => [field.name, field.options![0]])) };
}

const isEmpty = (item: unknown) => isObject(item) && Object.keys(item).length === 0;

/** A list; what has fields of its own is folded to a line. */
export function ListControl({ path, field, label, of }: ControlProps & { of: Kind }) {
    const { good, doc, readOnly, catalog, findings } = useDesk();
    const act = acts(doc);
    const value = valueAt(good, path);
    const items = Array.isArray(value) ? (value as unknown[]) : [];
    const id = useId();
    const word = of.is === 'word' ? of.word : '';
    const isTable = tableOf(catalog, word) !== undefined || variantsOf(catalog, word).length > 0;
    const isWays = isTable && (tableOf(catalog, word) ?? []).some((one) => one.kind === 'list of step');
    const [open, toggle] = useOpen(path, (isWays && items.length > 0) || (items.length === 1 && isEmpty(items[0])) ? 0 : null);
    const box = useRef<HTMLDivElement>(null);
    const fresh = useRef(false);
    const noun = isTable ? (catalog.tables.find((one) => one.name === word)?.label ?? field.label) : '';
    const add = () => {
        // The way for all the rest stays the last one.
        const hasRest = isWays && items.length > 0 && !('when' in (items.at(-1) as object));
        const at = hasRest ? items.length - 1 : items.length;
        if (Array.isArray(value)) act.insert(path, at, blankItem(catalog, of));
        else act.set([...path, 0], blankItem(catalog, of), true);
        toggle(at);
        fresh.current = true;
    };
    useEffect(() => {
        if (!fresh.current) return;
        fresh.current = false;
        box.current?.querySelector<HTMLElement>(':scope > .titem.open :is(input, textarea, select, .pickfield), :scope > .litem:last-of-type :is(input, textarea)')?.focus();
    });
    return (
        <div className="list" ref={box}>
            {items.map((item, i) => {
                const own = [...path, i];
                const isWrong = findingsIn(findings, own).some((finding) => finding.severity === 'error');
                const isOpen = open === i;
                const tools = !readOnly && (
                    <span className="row tools">
                        {i > 0 && <button type="button" className="btn quiet sm sq" aria-label={t('Move {n} up', { n: i + 1 })} onClick={() => { act.move(own, path, i - 1); toggle(null); }}><Icon name="up" small /></button>}
                        <button type="button" className="btn quiet sm sq" aria-label={t('Remove {name}', { name: String(i + 1) })} onClick={() => { act.remove(own); toggle(null); }}><Icon name="x" small /></button>
                    </span>
                );
                if (!isTable) return <div key={i} className="litem"><div className="val"><Control path={own} field={{ ...field, required: false, help: '', example: null }} kinds={[of]} id={`${id}-${i}`} label={t('{field} {n}', { field: label, n: i + 1 })} wrong={findingsAt(findings, own).length > 0} inList /><Said path={own} /></div>{tools}</div>;
                return (
                    <div key={i} className={`titem ${isOpen ? 'open' : ''}`}>
                        <div className="thd"><button type="button" className="fold" aria-expanded={isOpen} onClick={() => toggle(isOpen ? -1 : i)}><Icon name={isOpen ? 'down' : 'right'} small /><span className="cut">{isWays ? wayTitle(item, i) : summary(catalog, word, item) || t('{what} {n}', { what: noun, n: i + 1 })}</span>{isWrong && <Glyph name="error" tone="bad" />}</button>{tools}</div>
                        {isOpen && <div className="tbody"><TableFields word={word} path={own} /></div>}
                    </div>
                );
            })}
            {!readOnly && <Button kind="quiet" small icon="plus" onClick={add}>{noun ? t('Add: {what}', { what: noun }) : t('Add an item')}</Button>}
        </div>
    );
}

/** A way of a branch by its number and condition. */
function wayTitle(item: unknown, i: number): ReactNode {
    const way = isObject(item) ? item : {};
    const steps = Array.isArray(way.steps) ? way.steps.length : 0;
    const says = !('when' in way) ? t('otherwise') : String(way.when).replaceAll('$.', '') || t('no condition yet');
    return <><span className="m5">{i + 1}</span> <span className={way.when ? 'mono' : ''}>{says}</span><span className="t3"> · {t('{n} step|{n} steps', { n: steps })}</span></>;
}

/** The first words of something that has fields. */
function summary(catalog: Catalog, word: string, item: unknown): ReactNode {
    if (!isObject(item)) return '';
    const fields = tableOf(catalog, word) ?? variantsOf(catalog, word).find((one) => one.type === item.type)?.fields ?? [];
    const entries = Object.entries(item).sort(([a], [b]) => Number(b === fields[0]?.name) - Number(a === fields[0]?.name));
    const words = entries.filter(([, v]) => (typeof v === 'string' && v !== '') || v === true).slice(0, 4).map(([name, v]) => {
        const field = fields.find((one) => one.name === name);
        return v === true ? (field?.label ?? name).toLowerCase() : field?.options ? optionName(field, String(v)) : String(v);
    });
    const isNamed = typeof item[fields[0]?.name ?? ''] === 'string' && item[fields[0]?.name ?? ''] !== '';
    if (words.length === 0 || !isNamed) return '';
    return <>{words.map((one, i) => <span key={i} className={i === 0 ? 'm5' : 't3'}>{i > 0 ? ' · ' : ''}{one}</span>)}</>;
}
