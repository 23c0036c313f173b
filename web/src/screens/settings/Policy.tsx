// Policy.tsx - from which skill on may somebody do what, in this organisation?
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe, setsPolicy } from '../../app/session';
import { call, patch } from '../../lib/api';
import { Bones, Button, Field, Refusal, Segments } from '../../lib/parts';
import { t } from '../../lib/text';
import { SettingsFrame } from './Settings';
import '../screens.css';

interface Policy { min_skill_to_take: number; self_check_min_skill: number; min_skill_to_invite: number; allow_trade_override: boolean }
const SKILLS: { name: 'min_skill_to_take' | 'self_check_min_skill' | 'min_skill_to_invite'; label: string; help: string }[] = [
    { name: 'min_skill_to_take', label: 'Skill to take a task', help: 'Who has less sees no pool; a lead assigns.' },
    { name: 'self_check_min_skill', label: 'Skill to accept one’s own work', help: 'From here on an owner may accept what they handed in.' },
    { name: 'min_skill_to_invite', label: 'Skill to invite helpers', help: 'From here on an owner may invite others to their task.' },
];

function Form({ policy }: { policy: Policy }) {
    const { me } = useMe();
    const client = useQueryClient();
    const [draft, change] = useState(policy);
    const [error, refuse] = useState<unknown>(null);
    const [saved, say] = useState(false);
    const dirty = JSON.stringify(draft) !== JSON.stringify(policy);
    const save = () => patch<Policy>('/planner/policy', draft).then((now) => { client.setQueryData(['policy'], now); refuse(null); say(true); }, refuse);
    return (
        <div className="policy">
            {SKILLS.map(({ name, label, help }) => <Field key={name} id={name} label={t(label)} help={t(help)}><input id={name} className="inp num" inputMode="numeric" value={String(draft[name])} onChange={(event) => { say(false); change({ ...draft, [name]: Number(event.target.value.replace(/\D/g, '')) || 0 }); }} /></Field>)}
            <Field label={t('A lead may assign a task to another trade')} help={t('Without it the server refuses who lacks the trade of a task.')}><Segments label={t('A lead may assign a task to another trade')} value={draft.allow_trade_override ? 'yes' : 'no'} onChange={(to) => { say(false); change({ ...draft, allow_trade_override: to === 'yes' }); }} options={[{ value: 'no' as string, label: t('no') }, { value: 'yes', label: t('yes') }]} /></Field>
            <Refusal error={error} sentence={error ? t('Nothing was changed.') : undefined} />
            {setsPolicy(me) && <div className="row"><Button kind="ink" disabled={!dirty} onClick={() => void save()}>{t('Save')}</Button>{saved && !dirty && <span className="t3" role="status">{t('Saved; it holds from now on.')}</span>}{dirty && <Button kind="quiet" onClick={() => change(policy)}>{t('As it was')}</Button>}</div>}
        </div>
    );
}

export function PolicyPage() {
    const found = useQuery({ queryKey: ['policy'], queryFn: () => call<Policy>('/planner/policy') });
    return (
        <SettingsFrame busy={found.isLoading}>
            <div className="scroll">
                <div className="pagehead"><h2>{t('Policy of the planner')}</h2><p>{t('Thresholds of this organisation. Skill is a number that an administrator gives to a user.')}</p></div>
                {found.isLoading && <Bones rows={4} />}
                <Refusal error={found.error} />
                {found.data && <Form policy={found.data} />}
            </div>
        </SettingsFrame>
    );
}
