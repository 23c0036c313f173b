// Problems.tsx - what the server finds wrong, errors before warnings; each row leads to its step and field.
import { useState } from 'react';
import type { Finding } from '../lib/api';
import { Glyph, Icon } from '../lib/icons';
import type { List } from '../flow/layout';
import { Button } from '../lib/parts';
import { t } from '../lib/text';
import type { Catalog } from './catalog';
import type { Doc, Good } from './doc';
import { pathOf } from './edits';
import { wordsOfFinding } from './fields';
import { fixOf } from './fix';
import { itemAt, titleOf } from './model';
import { spotAt } from './where';

/** "Ask a director › Timeout": the step, then the last field by its label. */
export function placeName(catalog: Catalog, list: List, good: Good, finding: Finding): string {
    const path = pathOf(good.tree, finding.pointer);
    const item = itemAt(list, path);
    const kind = list.at[0] === 'commands' ? 'procedure' : 'scenario';
    const last = path.filter((part): part is string => typeof part === 'string').at(-1);
    const label = item && path.length === item.at.length ? '' : (spotAt(catalog, kind, good.tree, path).field?.label ?? last ?? '');
    const own = item ? path.slice(item.at.length) : [];
    const part = own.length > 1 && own[0] === 'rollback' ? (catalog.fields.step?.find((field) => field.name === 'rollback')?.label ?? 'rollback') : '';
    return [item ? titleOf(item) : '', part, label].filter(Boolean).join(' › ');
}

export const errorsFirst = (findings: Finding[]) => [...findings.filter((f) => f.severity === 'error'), ...findings.filter((f) => f.severity !== 'error')];

export function Problems({ doc, good, catalog, list, findings, broken, go, checked }: { doc: Doc; good: Good; catalog: Catalog; list: List; findings: Finding[]; broken: { line: number } | null; go: (finding: Finding) => void; checked: boolean }) {
    const [open, toggle] = useState(true);
    const errors = findings.filter((f) => f.severity === 'error').length;
    const warnings = findings.length - errors;
    const isEmpty = findings.length === 0 && !broken;
    return (
        <section className={`problems ${open && !isEmpty ? '' : 'shut'}`} aria-label={t('Problems')}>
            <header><h2>{t('Problems')}</h2>
                {broken && <span className="nerr"><Glyph name="error" tone="bad" />{t('The text is no JSON, line {n}. The canvas shows what it said last.', { n: broken.line })}</span>}
                {errors > 0 && <span className="nerr"><Glyph name="error" tone="bad" />{t('{n} error|{n} errors', { n: errors })}</span>}
                {warnings > 0 && <span className="nwarn"><Glyph name="held" tone="held" />{t('{n} warning|{n} warnings', { n: warnings })}</span>}
                {isEmpty && <span className="t3 row">{checked ? <><Glyph name="completed" tone="ok" />{t('none')}</> : '…'}</span>}
                {!isEmpty && <button type="button" className="btn quiet sq sm end" aria-expanded={open} aria-label={t('Problems')} onClick={() => toggle(!open)}><Icon name={open ? 'down' : 'up'} /></button>}
            </header>
            {open && !isEmpty && (
                <ul>
                    {errorsFirst(findings).map((finding, i) => {
                        const fix = fixOf(finding, good);
                        const { message, hint } = wordsOfFinding(finding, good);
                        return (
                            <li key={`${finding.pointer}${finding.code}${i}`}>
                                <button type="button" className="prow" onClick={() => go(finding)}><Glyph name={finding.severity === 'error' ? 'error' : 'held'} tone={finding.severity === 'error' ? 'bad' : 'held'} /><span className="where">{placeName(catalog, list, good, finding)}</span><span className="cut">{message}{hint && !fix ? <span className="t3">; {hint}</span> : null}</span></button>
                                {fix && <Button small onClick={() => doc.apply(fix.edits)}>{t('Use {what}', { what: fix.label })}</Button>}
                            </li>
                        );
                    })}
                </ul>
            )}
        </section>
    );
}
