// people.ts - the inbox and schedules, in Russian.
import type { Words } from './words';

export const people: Words = {
};
