// records.ts - records, in Russian.
import type { Words } from './words';

export const records: Words = {
    'A condition in CEL: left < 10 && status == "ready"': 'Условие на CEL: left < 10 && status == "ready"',
    'A step with record.create keeps what others read: an order, an account, a stock.': 'Шаг с record.create хранит то, что читают другие: заказ, счёт, остаток.',
    'A step with record.create makes the first.': 'Первую создаст шаг с record.create.',
    'Another object': 'Другой объект',
    'Condition': 'Условие',
    'Executions under this key': 'Запуски с этим ключом',
    'Id': 'Идентификатор',
    'No process stores records yet': 'Пока ни один процесс не хранит записей',
    'No record holds {where}.': 'Нет записей с {where}.',
    'Record': 'Запись',
    'The first {n}; a condition finds the others.': 'Первые {n}; остальные найдёт условие.',
    'There are no records of {name}': 'Записей {name} нет',
    'What processes have stored, by object. These are the objects that published processes name.': 'Что сохранили процессы, по объектам. Здесь объекты, которые называют опубликованные процессы.',
};
