// system.ts - audit and server status, in Russian.
import type { Words } from './words';

export const system: Words = {
    '**All is well.** It takes requests{since}.': '**Всё в порядке.** Сервер принимает запросы{since}.',
    ', since {when} ({long})': ', с {when} ({long})',
    'An action such as execution.cancel, or the id of what it was done to': 'Действие, например execution.cancel, или идентификатор того, с чем его совершили',
    'Changes made durable': 'Изменений записано',
    'Changes refused': 'Изменений отклонено',
    'Everything that anybody changes is written here.': 'Здесь записано всё, что кто-либо меняет.',
    'Executions in memory': 'Запусков в памяти',
    'Figures': 'Показатели',
    'It does not take requests.': 'Сервер не принимает запросы.',
    'Open dead letters': 'Нерешённых',
    'Requests received': 'Запросов получено',
    'Requests under way': 'Запросов в работе',
    'Seconds without an answer of the store': 'Секунд без ответа хранилища',
    'Show earlier ones': 'Показать более ранние',
    'Signals kept': 'Сигналов хранится',
    'Timers due within a minute': 'Таймеров в ближайшую минуту',
    'To what': 'С чем',
    'When': 'Когда',
    'Who': 'Кто',
    'for {long}': '{long}',
    'that share the store': 'с общим хранилищем',
    'this one': 'этот',
    '{n} batch|{n} batches': '{n} пакет|{n} пакета|{n} пакетов',
};
