// flow.ts - the picture of a process, in Russian: words on its lines, folding, finding.
import type { Words } from './words';

export const flow: Words = {
    'start': 'начало',
    'end': 'конец',
    'Find a step': 'Найти шаг',
    '{n} found': 'найдено: {n}',
    'Unfold {name}': 'Развернуть: {name}',
    'Fold {name}': 'Свернуть: {name}',
    '{n} step in it|{n} steps in it': 'внутри {n} шаг|внутри {n} шага|внутри {n} шагов',
    'not {what}': 'не {what}',
    'and': 'и',
    'if {condition}': 'если {condition}',
    'leaves the loop': 'выход из цикла',
    'next round': 'следующий круг',
    'goes to {name}': 'переход: {name}',
    'if {condition}, goes to {name}': 'если {condition}, переход: {name}',
    'when its time is up': 'по истечении срока',
    '{n} %, back to 100 %': '{n} %, вернуть 100 %',
    'Back to 100 %': 'Вернуть 100 %',
};
