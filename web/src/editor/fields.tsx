// fields.tsx - the frame of a form: fields with their labels, what is wrong with them, and names of fields that can be added.
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { Finding } from '../lib/api';
import { isObject } from '../lib/exact';
import { Glyph, Icon } from '../lib/icons';
import { Button } from '../lib/parts';
import { t } from '../lib/text';
import { type CatalogField, kindsOf, variantsOf } from './catalog';
import { Control, optionName, VariantControl } from './controls';
import { acts, DeskContext, findingsAt, findingsIn, useDesk, valueAt } from './desk';
import type { Good } from './doc';
import { type Path, pathOf, pointerOf } from './edits';
import { fixOf } from './fix';
import { ownAnswer } from './known';
import { itemAt } from './model';

/** Whether nothing is filled in where it was found: a field that is not there, or an empty one. */
export const isMissing = (finding: Finding, good: Good) => finding.code === 'missing_field' || (finding.severity === 'error' && valueAt(good, pathOf(good.tree, finding.pointer)) === '');

/** What a person is told of a finding: neither that a field is empty nor what may stand there needs JSON to be said. */
export function wordsOfFinding(finding: Finding, good: Good): { message: string; hint: string } {
    const hint = /"[\w.]+":|^\{/.test(finding.hint ?? '') ? '' : (finding.hint ?? '');
    return isMissing(finding, good) ? { message: t('is not filled in yet'), hint: finding.code === 'missing_field' ? hint : '' } : { message: finding.message, hint };
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
                const { message, hint } = wordsOfFinding(finding, good);
                if (isMissing(finding, good)) return <div key={finding.code + finding.message} className="said missing" role="status"><span className="grow">{t('to be filled in')}{hint ? `; ${hint}` : ''}</span></div>;
                return (
                    <div key={finding.code + finding.message} className={`said ${finding.severity}`} role="status">
                        <Glyph name={finding.severity === 'error' ? 'error' : 'held'} tone={finding.severity === 'error' ? 'bad' : 'held'} />
                        <span className="grow">{message}{hint && !fix ? <span className="t2">; {hint}</span> : null}</span>
                        {fix && <Button small onClick={() => doc.apply(fix.edits)}>{t('Use {what}', { what: fix.label })}</Button>}
                    </div>
                );
            })}
        </>
    );
}

/** Fields that are a number, a word or a duration stand two in a row. */
const isShort = (field: CatalogField) => (field.options ?? []).every((option) => optionName(field, option).length <= 14) && field.kind.split(' or ').every((kind) => ['integer', 'number', 'one of', 'boolean', 'duration', 'name', 'computed'].includes(kind));

/** What undoes a step stands apart from it, and knows what the step has answered. */
function Surroundings({ path, children }: { path: Path; children: ReactNode }) {
    const desk = useDesk();
    const { catalog, list, known, sample } = desk;
    const isRollback = path.at(-1) === 'rollback' && typeof path.at(-2) === 'number';
    const inner = useMemo(() => {
        const item = isRollback ? itemAt(list, path.slice(0, -1)) : null;
        const own = item ? ownAnswer(catalog, item, sample?.context) : [];
        return { ...desk, known: [...own, ...known.filter((one) => !own.some((mine) => mine.label === one.label))] };
    }, [isRollback, desk]);
    return isRollback ? <DeskContext value={inner}><div className="rollback">{children}</div></DeskContext> : children;
}

/** One field with its label, its control and what is wrong with it. */
export function FieldBox({ field, path, drop, children, note }: { field: CatalogField; path: Path; drop?: boolean; children?: ReactNode; note?: ReactNode }) {
    const { findings, doc, good, readOnly } = useDesk();
    const id = useId();
    const isWrong = findingsAt(findings, path).some((finding) => finding.severity === 'error' && !isMissing(finding, good));
    return (
        <div className={`fld ${isShort(field) ? 'short' : ''}`} data-at={pointerOf(path)} data-label={field.label} data-help={field.help}>
            <div className="flh"><label htmlFor={id} title={field.help}>{field.label}</label>{note}{drop && !readOnly && <button type="button" className="btn quiet sm sq end" aria-label={t('Remove {name}', { name: field.label })} title={t('Remove')} onClick={() => acts(doc).drop(path)}><Icon name="x" small /></button>}</div>
            {children ?? <Surroundings path={path}><Control path={path} field={field} kinds={kindsOf(field.kind)} id={id} label={field.label} wrong={isWrong} /></Surroundings>}
            <Said path={path} />
        </div>
    );
}

/** The fields of a table of the catalog, or of the one of several that its `type` says. */
export function TableFields({ word, path }: { word: string; path: Path }) {
    const { catalog, good } = useDesk();
    const variants = variantsOf(catalog, word);
    if (variants.length === 0) return <FieldList table={word} path={path} />;
    const type = (valueAt(good, path) as { type?: unknown } | undefined)?.type;
    const own = variants.find((one) => one.type === type);
    return <><VariantControl path={path} word={word} />{own && <FieldList key={own.type} fields={own.fields} path={path} skip={['type']} />}</>;
}

/**
 * The fields of a table of the catalog, or those given: what is set or needed, or belongs to every form of it, as controls; the rest
 * as names that can be added. `open` is one that was asked for before there was a form.
 */
export function FieldList({ table, fields, path, skip = [], only, open: asked }: { table?: string; fields?: CatalogField[]; path: Path; skip?: string[]; only?: string[]; open?: string }) {
    const { catalog, good, findings, readOnly } = useDesk();
    const [opened, open] = useState<Set<string>>(new Set(asked ? [asked] : []));
    const box = useRef<HTMLDivElement>(null);
    const wanted = useRef<string | null>(asked || null);
    const all = (fields ?? catalog.fields[table ?? ''] ?? []).filter((field) => field.state === 'now' && !skip.includes(field.name) && (!only || only.includes(field.name)));
    const value = valueAt(good, path);
    const isSet = (field: CatalogField) => isObject(value) && field.name in value;
    const shown = all.filter((field) => field.required || isSet(field) || (field.shownFirst && !readOnly) || opened.has(field.name) || findingsIn(findings, [...path, field.name]).length > 0);
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
