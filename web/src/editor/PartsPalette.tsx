// PartsPalette.tsx - everything that can be put in, as the catalog has it: commands by group, and steps that have steps of their own.
import { useMemo, useState } from 'react';
import { Icon } from '../lib/icons';
import { t } from '../lib/text';
import type { Catalog } from './catalog';
import { type DefinitionKind, iconOfCommand, type Part } from './model';

interface Entry { key: string; label: string; help: string; icon: string; part: Part; group: string }

/** The fields of a step that make it one of another kind, and their pictures. */
const SHAPES: Record<string, string> = { procedure: 'flow', branch: 'branch', loop: 'loop', parallel: 'par' };

export function entriesOf(catalog: Catalog, kind: DefinitionKind): Entry[] {
    const shapes = kind === 'scenario' ? (catalog.fields.step ?? []).filter((field) => field.name in SHAPES && field.state === 'now') : [];
    const flow = catalog.groups.find((group) => group.name === 'flow')?.label ?? '';
    const steps: Entry[] = shapes.map((field) => ({ key: `step:${field.name}`, label: field.name === 'procedure' ? t('Run a procedure') : field.label, help: field.help, icon: SHAPES[field.name]!, part: { what: 'step', field: field.name }, group: flow }));
    const commands = catalog.groups.flatMap((group) => catalog.commands.filter((c) => c.group === group.name && !(kind === 'procedure' && c.standsAlone)).map((command): Entry => ({ key: command.name, label: command.label, help: command.help, icon: iconOfCommand(command, command.name), part: { what: 'command', command }, group: group.label })));
    const all = [...steps, ...commands];
    const order = [...new Set([...(steps.length ? [flow] : []), ...catalog.groups.map((group) => group.label)])];
    return order.flatMap((group) => all.filter((entry) => entry.group === group));
}

export function PartsPalette({ catalog, kind, add, search }: { catalog: Catalog; kind: DefinitionKind; add: (part: Part) => void; search: React.RefObject<HTMLInputElement | null> }) {
    const [typed, type] = useState('');
    const entries = useMemo(() => entriesOf(catalog, kind), [catalog, kind]);
    const found = entries.filter((entry) => `${entry.label} ${entry.key}`.toLowerCase().includes(typed.toLowerCase()));
    let group = '';
    return (
        <aside className="parts" aria-label={t('What can be put in')}>
            <div className="psearch"><Icon name="search" small /><input ref={search} value={typed} placeholder={kind === 'scenario' ? t('Add a step') : t('Add a command')} aria-label={kind === 'scenario' ? t('Add a step') : t('Add a command')} onChange={(event) => type(event.target.value)} onKeyDown={(event) => {
                if (event.key === 'Enter' && found[0]) {
                    add(found[0].part);
                    type('');
                } else if (event.key === 'Escape') {
                    type('');
                    event.currentTarget.blur();
                }
            }} /><kbd>a</kbd></div>
            <div className="pscroll">
                {found.map((entry) => {
                    const head = entry.group !== group ? (group = entry.group) : '';
                    return (
                        <div key={entry.key} role="presentation">
                            {head && <h2>{head}</h2>}
                            <button type="button" className="part" data-part={entry.key} aria-label={entry.label} title={`${entry.label}. ${entry.help}`} draggable onDragStart={(event) => event.dataTransfer.setData('text/pawl-part', entry.key)} onClick={() => add(entry.part)}><Icon name={entry.icon} /><span className="cut">{entry.label}</span></button>
                        </div>
                    );
                })}
                {found.length === 0 && <p className="t3 none">{t('There is no such step.')}</p>}
            </div>
        </aside>
    );
}
