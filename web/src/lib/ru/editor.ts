// editor.ts - the constructor, in Russian.
import type { Words } from './words';

export const editor: Words = {
};
