// fold.mjs - whether every history of a store gives its state.
import { execFileSync } from 'node:child_process';

const FOLD_CHECK = process.env.FOLD_CHECK ?? 'build/tests/fold_check';

/** What fold_check finds wrong with a store, which is a folder or a postgres:// address; '' for nothing. */
export function foldMistakes(place) {
    try {
        execFileSync(FOLD_CHECK, [place], { stdio: 'pipe' });
        return '';
    } catch (error) {
        return `fold_check: ${error.stdout}`;
    }
}
