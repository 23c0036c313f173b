// ValueForm.tsx - a value of the configuration, as the text that it is.
import { Field } from '../../lib/parts';
import { t } from '../../lib/text';
import type { FormProps } from './FunctionForm';
import { unreadable } from './kinds';

export function ValueForm({ work, change, locked, errors }: FormProps) {
    const broken = unreadable(work);
    const error = broken ? t('This is no JSON yet: {why}', { why: broken }) : errors.value;
    return <Field label={t('Value')} id="live-value" help={t('JSON: a number, “text” in quotes, true, a list, an object.')} error={error}><textarea id="live-value" className={`inp mono ${error ? 'wrong' : ''}`} rows={Math.max(3, Math.min(20, (work.text ?? '').split('\n').length + 1))} spellCheck={false} readOnly={locked} value={work.text ?? ''} onChange={(event) => change({ text: event.target.value })} /></Field>;
}
