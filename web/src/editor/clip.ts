// clip.ts - steps that are copied: within a process, and from one to another in this window.
import type { Good } from './doc';
import { lift, type Path, type Raw } from './edits';
import { copyOf, type DefinitionKind } from './model';

interface Clip { kind: DefinitionKind; text: string }

let kept: Clip | null = null;

export const clipOf = ({ text, tree }: Good, path: Path, kind: DefinitionKind): Clip => ({ kind, text: lift(text, tree, path).text });
export const keepClip = (clip: Clip) => { kept = clip; };

/** What was copied, as it can be put in here; null: nothing of this kind was. */
export const pasteOf = (kind: DefinitionKind, taken: Set<string>): Raw | null => (kept?.kind === kind ? copyOf(kept.text, kind, taken) : null);

export const duplicateOf = (good: Good, path: Path, kind: DefinitionKind, taken: Set<string>): Raw => copyOf(clipOf(good, path, kind).text, kind, taken);
