// Words of the constructor's other views: drafts, versions, merging, the saga, the dry-run.
import type { Words } from './words';

export const desk: Words = {
    'This browser has no room to keep what is not saved yet. Leave this page only when it is saved.': 'В этом браузере нет места, чтобы хранить несохранённое. Не покидайте страницу, пока черновик не сохранён.',
    '{who} published this at {when}, while you were changing it.': '{who} публикует это в {when}, пока вы его меняли.',
};
