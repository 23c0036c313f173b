// records.ts - records, in Russian.
import type { Words } from './words';

export const records: Words = {
    'A condition in CEL: record.left < 10 && record.status == "ready"': 'Условие на CEL: record.left < 10 && record.status == "ready"',
    'A step with record.create keeps what others read: an order, an account, a stock.': 'Шаг с record.create хранит то, что читают другие: заказ, счёт, остаток.',
    'A step with record.create makes the first.': 'Первую создаст шаг с record.create.',
    'Another object': 'Другой объект',
    'Condition': 'Условие',
    'Executions under this key': 'Запуски с этим ключом',
    'Id': 'Идентификатор',
    'No process stores records yet': 'Пока ни один процесс не хранит записей',
    'No record holds {where}.': 'Нет записей с {where}.',
    'Nothing yet. A process with a trigger of type action puts a button here.': 'Пока ничего. Кнопку сюда ставит процесс с триггером типа action.',
    'Record': 'Запись',
    'Started from this card': 'Запущено с этой карточки',
    'Started:': 'Запущено:',
    'The first {n}; a condition finds the others.': 'Первые {n}; остальные найдёт условие.',
    'There are no records of {name}': 'Записей {name} нет',
    'What processes have stored, by object. These are the objects that published processes name.': 'Что сохранили процессы, по объектам. Здесь объекты, которые называют опубликованные процессы.',
    '{name}, version {n}.': '{name}, версия {n}.',
};
