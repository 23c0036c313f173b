// planner.ts - the board, the pool, tasks and shifts, in Russian.
import type { Words } from './words';

export const planner: Words = {
};
