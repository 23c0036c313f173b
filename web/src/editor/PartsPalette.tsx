// PartsPalette.tsx - everything that can be put in, as the catalog has it: commands by group, and steps that have steps of their own.
import { useMemo, useState } from 'react';
import { Icon } from '../lib/icons';
import { t } from '../lib/text';
import type { Catalog } from './catalog';
import type { StepDef } from '../lib/types';
import { iconOf, iconOfCommand } from '../lib/steps';
import type { DefinitionKind, Part } from './model';

export interface Entry { key: string; label: string; help: string; icon: string; part: Part; group: string }

/** The fields of a step that make it one of another kind, and their pictures. */
const SHAPES: Record<string, string> = { procedure: 'flow', branch: 'branch', loop: 'loop', parallel: 'par' };

export function entriesOf(catalog: Catalog, kind: DefinitionKind): Entry[] {
    const shapes = kind === 'scenario' ? (catalog.fields.step ?? []).filter((field) => field.name in SHAPES && field.state === 'now') : [];
    const flow = catalog.groups.find((group) => group.name === 'flow')?.label ?? '';
    const steps: Entry[] = shapes.map((field) => ({ key: `step:${field.name}`, label: field.name === 'procedure' ? t('Run a procedure') : field.label, help: field.help, icon: SHAPES[field.name]!, part: { what: 'step', field: field.name }, group: flow }));
    const commands = catalog.groups.flatMap((group) => catalog.commands.filter((c) => c.group === group.name && !(kind === 'procedure' && c.standsAlone)).map((command): Entry => ({ key: command.name, label: command.label, help: command.help, icon: iconOfCommand(command.name), part: { what: 'command', command }, group: group.label })));
    const presets = kind === 'scenario' ? (catalog.presets ?? []).map((preset): Entry => ({ key: `preset:${preset.name}`, label: preset.label, help: preset.help, icon: iconOf(preset.step as unknown as StepDef), part: { what: 'preset', preset }, group: catalog.groups.find((group) => group.name === preset.group)?.label ?? '' })) : [];
    const all = [...steps, ...presets, ...commands];
    const order = [...new Set([...(steps.length ? [flow] : []), ...catalog.groups.map((group) => group.label)])];
    return order.flatMap((group) => all.filter((entry) => entry.group === group));
}

export function PartsPalette({ catalog, kind, add, search }: { catalog: Catalog; kind: DefinitionKind; add: (entry: Entry) => void; search: React.RefObject<HTMLInputElement | null> }) {
    const [typed, type] = useState('');
    const [isTyping, begin] = useState(false);
    const entries = useMemo(() => entriesOf(catalog, kind), [catalog, kind]);
    const [at, mark] = useState(0);
    const asked = typed.trim().toLowerCase();
    const rank = (entry: Entry) => (entry.label.toLowerCase().startsWith(asked) ? 0 : entry.label.toLowerCase().includes(asked) || entry.key.includes(asked) ? 1 : entry.help.toLowerCase().includes(asked) ? 2 : 3);
    // By name first; by what it does when no name has the word.
    const named = entries.filter((entry) => rank(entry) < 2);
    const found = asked === '' ? entries : named.length > 0 ? [...named].sort((a, b) => rank(a) - rank(b)) : entries.filter((entry) => rank(entry) === 2);
    const take = (entry: Entry) => { add(entry); type(''); mark(0); };
    let group = '';
    return (
        <aside className="parts" aria-label={t('What can be put in')}>
            <div className="psearch"><Icon name="search" small /><input ref={search} value={typed} onFocus={() => begin(true)} onBlur={() => { begin(false); mark(0); }} placeholder={kind === 'scenario' ? t('Add a step') : t('Add a command')} aria-label={kind === 'scenario' ? t('Add a step') : t('Add a command')} aria-activedescendant={asked && found[at] ? `part-${at}` : undefined} onChange={(event) => { type(event.target.value); mark(0); }} onKeyDown={(event) => {
                if (event.key === 'Enter' && found[at] && (asked !== '' || at > 0)) take(found[at]);
                else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                    event.preventDefault();
                    const next = Math.max(0, Math.min(found.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)));
                    mark(next);
                    document.getElementById(`part-${next}`)?.scrollIntoView({ block: 'nearest' });
                } else if (event.key === 'Escape') {
                    type('');
                    event.currentTarget.blur();
                }
            }} /><kbd>a</kbd></div>
            <div className="pscroll">
                {found.map((entry, i) => {
                    const head = asked === '' && entry.group !== group ? (group = entry.group) : '';
                    return (
                        <div key={entry.key} role="presentation">
                            {head && <h2>{head}</h2>}
                            <button type="button" id={`part-${i}`} className={`part ${isTyping && i === at ? 'on' : ''}`} data-part={entry.key} aria-label={entry.label} title={`${entry.label}. ${entry.help}`} draggable onDragStart={(event) => event.dataTransfer.setData('text/pawl-part', entry.key)} onClick={() => take(entry)}><Icon name={entry.icon} /><span className="pname">{entry.label}</span></button>
                        </div>
                    );
                })}
                {found.length === 0 && <p className="t3 none">{t('There is no such step.')}</p>}
            </div>
        </aside>
    );
}
