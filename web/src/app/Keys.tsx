import { Button, Dialog } from '../lib/parts';
import { Status, STATUSES } from '../lib/status';
import { t } from '../lib/text';
import './keys.css';
import { usePlaces } from './Shell';

// A test holds these against what the screens listen for. Places of the navigation bring their own.
const KEYS: [string, [string[], string][]][] = [
    ['Everywhere', [[['Ctrl', 'K'], 'Search or jump to'], [['?'], 'This page'], [['Esc'], 'Close, leave']]],
    ['In a list', [[['j', '↓'], 'Next row'], [['k', '↑'], 'Row before'], [['Enter'], 'Open'], [['x'], 'Choose the row'], [['/'], 'Filter']]],
    ['On an execution', [[['j'], 'Next step'], [['k'], 'Step before'], [['1', '2', '3', '4'], 'Input, output, error, context'], [['←', '→'], 'Move in time']]],
    ['In the constructor', [[['a'], 'Add a step'], [['↑', '↓'], 'Step before, next step'], [['Enter'], 'Fill in the step'], [['Esc'], 'Back to the canvas'], [['Alt', '↑ ↓'], 'Move the step'], [['Ctrl', 'D'], 'Duplicate'], [['Ctrl', 'C / X / V'], 'Copy, cut, paste'], [['Del'], 'Delete'], [['Ctrl', 'Z / Y'], 'Undo, redo'], [['Ctrl', 'S'], 'Save now']]],
];

export function KeysDialog({ close }: { close: () => void }) {
    const places = usePlaces().filter((place) => place.key);
    const all: typeof KEYS = [...KEYS, ['Go to', places.map((place) => [['g', place.key!], place.label])]];
    return (
        <Dialog wide title={t('Keys and statuses')} onClose={close} actions={<Button kind="ink" onClick={close}>{t('Close')}</Button>}>
            <div className="keys">
                {all.map(([title, rows]) => (
                    <section key={title}>
                        <h3 className="h">{t(title)}</h3>
                        {rows.map(([keys, what]) => <div key={what} className="row"><span className="grow">{t(what)}</span>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</div>)}
                    </section>
                ))}
                <section>
                    <h3 className="h">{t('Statuses')}</h3>
                    <div className="sts">{STATUSES.map((name) => <Status key={name} name={name} />)}</div>
                </section>
            </div>
        </Dialog>
    );
}
