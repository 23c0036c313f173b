// settings.ts - settings, in Russian.
import type { Words } from './words';

export const settings: Words = {
    'A token signs in a person or a program. Only its hash is kept.': 'По токену входит человек или программа. Хранится только его хеш.',
    'Close once it is put away': 'Закрыть, когда сохраните',
    'Copied': 'Скопировано',
    'Copy': 'Копировать',
    'Copy it now: it is shown this once. Only its hash is kept, nobody can read it again.': 'Скопируйте сейчас: он показан один раз. Хранится только хеш, прочитать токен снова не сможет никто.',
    'E-mail': 'Почта',
    'Groups': 'Группы',
    'I have put it away': 'Я сохранил токен',
    'Make the user': 'Создать пользователя',
    'New token…': 'Новый токен…',
    'New user': 'Новый пользователь',
    'New user…': 'Новый пользователь…',
    'Revoke it': 'Отозвать',
    'Revoke this token?': 'Отозвать токен?',
    'Revoke…': 'Отозвать…',
    'Role': 'Роль',
    'Token for {name}': 'Токен для {name}',
    'Tokens': 'Токены',
    'Users and tokens': 'Пользователи и токены',
    'Who uses it is signed out at once, browsers too.': 'Кто им пользуется, потеряет доступ сразу, и браузеры тоже.',
    'ends {when}': 'до {when}',
    'last used {when}': 'последний вход {when}',
    'made {when}': 'создан {when}',
    'never used': 'не использовался',
};
