// index.ts - the Russian of every sentence of the pages, from one file for each group of screens. A test refuses a sentence that stands in two.
import { build } from './build';
import { common } from './common';
import { desk } from './desk';
import { dlq } from './dlq';
import { editor } from './editor';
import { execution } from './execution';
import { executions } from './executions';
import { floor } from './floor';
import { flow } from './flow';
import { overview } from './overview';
import { people } from './people';
import { planner } from './planner';
import { records } from './records';
import { settings } from './settings';
import { system } from './system';
import type { Words } from './words';

export const RU: Words = { ...build, ...common, ...desk, ...dlq, ...editor, ...execution, ...executions, ...floor, ...flow, ...overview, ...people, ...planner, ...records, ...settings, ...system };
