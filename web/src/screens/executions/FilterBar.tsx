// FilterBar.tsx - one field: each filter is a token, the text that is left is searched for.
import { Popover } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, type RefObject, useEffect, useState } from 'react';
import { call } from '../../lib/api';
import { Icon } from '../../lib/icons';
import { t } from '../../lib/text';
import { number } from '../../lib/time';
import { type Field, FIELDS, type Filter, inWords, SPANS, STATUSES, WAITING, waitingWord } from './filters';

interface Option { value: string; label: string; count?: number }

const PICKABLE: Field[] = ['status', 'code', 'waiting', 'step', 'error', 'from', 'key'];

function useOptions(field: Field | null): Option[] {
    const by = field === 'code' || field === 'step' || field === 'error' ? field : null;
    const counted = useQuery({ queryKey: ['summary', by], enabled: by !== null, queryFn: () => call<{ items: { value: string; count: number }[] }>(`/executions/summary?by=${by}`) });
    if (field === 'status') return STATUSES.map((value) => ({ value, label: t(value) }));
    if (field === 'waiting') return WAITING.map((value) => ({ value, label: t(waitingWord('waiting', value)) }));
    if (field === 'from') return SPANS.map((value) => ({ value, label: value.replace(/(\d+)/, '$1 ') }));
    const sums = new Map<string, number>();
    for (const item of counted.data?.items ?? []) if (item.value) sums.set(item.value, (sums.get(item.value) ?? 0) + item.count);
    return [...sums].map(([value, count]) => ({ value, label: value, count })).sort((a, b) => (b.count ?? 0) - (a.count ?? 0)).slice(0, 12);
}

export const FilterBar = memo(function FilterBar({ filter, change, input }: { filter: Filter; change: (to: Filter) => void; input: RefObject<HTMLInputElement | null> }) {
    const [text, type] = useState(filter.q ?? '');
    const [open, show] = useState(false);
    const [field, pick] = useState<Field | null>(null);
    const [at, move] = useState(-1);
    const options = useOptions(field);
    useEffect(() => type(filter.q ?? ''), [filter.q]);
    useEffect(() => {
        if (field || text === (filter.q ?? '')) return;
        const timer = setTimeout(() => change({ ...filter, q: text || undefined }), 350);
        return () => clearTimeout(timer);
    }, [text, field, filter, change]);

    const typed = text.trim().toLowerCase();
    const shown = field
        ? options.filter((option) => !typed || option.label.toLowerCase().includes(typed)).map((option) => ({ key: option.value, label: option.label, note: option.count === undefined ? '' : number(option.count), act: () => add(field, option.value) }))
        : PICKABLE.filter((name) => !filter[name] && (!typed || t(inWords(name, '')[0]).includes(typed) || name.includes(typed)))
            .map((name) => ({ key: name, label: `${inWords(name, '1h').slice(0, 2).filter(Boolean).join(' ')} …`, note: '', act: () => { pick(name); type(''); move(-1); } }));

    function add(name: Field, value: string) {
        change({ ...filter, [name]: value, q: undefined });
        pick(null);
        type('');
        move(-1);
        show(false);
    }

    const enter = () => {
        const written = text.match(/^(\w+):(\S+)$/);
        if (at >= 0) shown[at]?.act();
        else if (field && text.trim()) add(field, text.trim());
        else if (written && (FIELDS as readonly string[]).includes(written[1]!)) add(written[1] as Field, written[2]!);
        else {
            change({ ...filter, q: text.trim() || undefined });
            show(false);
        }
    };

    return (
        <Popover opened={open && shown.length > 0} position="bottom-start" width={280} offset={6} onClose={() => show(false)} closeOnClickOutside>
            <Popover.Target>
                <div className="filter" role="search">
                    <Icon name="search" small />
                    {FIELDS.filter((name) => filter[name]).map((name) => {
                        const [what, how, value] = inWords(name, filter[name]!);
                        return (
                            <span className="tk" key={name}>
                                <i>{what}</i>{how && <i>{how}</i>}<b className="cut">{value}</b>
                                <button type="button" aria-label={t('Remove the filter {name}', { name: what })} onClick={() => change({ ...filter, [name]: undefined })}><Icon name="x" /></button>
                            </span>
                        );
                    })}
                    {field && <span className="tk"><i>{inWords(field, '1h')[0]}</i><i>{inWords(field, '1h')[1]}</i></span>}
                    <input ref={input} value={text} aria-label={t('Filter')} placeholder={field ? t('Choose or type') : t('Add a filter, or search keys, ids and error codes')}
                        onFocus={() => show(true)} onBlur={() => setTimeout(() => { show(false); pick(null); }, 150)} onChange={(event) => { type(event.target.value); show(true); move(-1); }}
                        onKeyDown={(event) => {
                            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                                event.preventDefault();
                                show(true);
                                move((i) => Math.max(-1, Math.min(shown.length - 1, i + (event.key === 'ArrowDown' ? 1 : -1))));
                            } else if (event.key === 'Enter') enter();
                            else if (event.key === 'Escape') {
                                if (field) pick(null);
                                else input.current?.blur();
                            } else if (event.key === 'Backspace' && text === '') {
                                const last = FIELDS.filter((name) => filter[name]).at(-1);
                                if (field) pick(null);
                                else if (last) change({ ...filter, [last]: undefined });
                            }
                        }} />
                    <kbd>/</kbd>
                </div>
            </Popover.Target>
            <Popover.Dropdown className="menu">
                {shown.map((option, i) => (
                    <button key={option.key} type="button" className={`mi ${i === at ? 'on' : ''}`} tabIndex={-1} onMouseDown={(event) => { event.preventDefault(); option.act(); }}>
                        <span className="cut grow">{option.label}</span><span className="t3 num">{option.note}</span>
                    </button>
                ))}
            </Popover.Dropdown>
        </Popover>
    );
});
