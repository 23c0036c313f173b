// people.ts - the inbox and schedules, in Russian.
import type { Words } from './words';

export const people: Words = {
    '{code} waits for an answer at {step}': '{code} ждёт ответа на шаге {step}',
    'answer by {when}': 'ответить до {when}',
    'no time limit': 'без срока',
    'Your answer': 'Ваш ответ',
    'Answer by': 'Ответить до',
    'in {long}': 'через {long}',
    'Asked since {when}, {long}. It waits as long as it takes.': 'Вопрос ждёт с {when}, {long}. Срока нет.',
    'Your decision': 'Ваше решение',
    'Somebody else was faster. Nothing was changed.': 'Кто-то ответил раньше. Ничего не изменено.',
    '{n} answer is missing|{n} answers are missing': 'Не хватает {n} ответа|Не хватает {n} ответов|Не хватает {n} ответов',
    'Send the answer': 'Отправить ответ',
    'Once sent it cannot be taken back.': 'Отправленное не отменить.',
    'What waits for your answer': 'Что ждёт вашего ответа',
    'Sent: {title}': 'Отправлено: {title}',
    'to {whom}': 'кому: {whom}',
    'Nobody waits for your answer': 'Вашего ответа никто не ждёт',
    'When a process asks you or one of your groups something, it comes here with what you need to answer.': 'Когда процесс спросит о чём-то вас или вашу группу, вопрос появится здесь со всем, что нужно для ответа.',
};
