// claims.mjs - claims that are counted, and the line that every script ends with.
//
//     await claim('an unknown path is refused', async () => equal((await ask('/x')).status, 404));
//     holds(text.includes('listens on'), 'the server says where it listens');
//     end();
//
// A script is a process and has one count. scripts/run-tests reads the line that end() prints.

export const counts = { passed: 0, failed: 0, skipped: 0 };

/** A claim found something else than it wanted; shown without a stack. */
export class Wrong extends Error {}

/** Thrown by a claim that cannot be tried on this machine: it counts as skipped. */
export class Skip extends Error {}

export function equal(actual, wanted, what = 'value') {
    const a = JSON.stringify(actual), w = JSON.stringify(wanted);
    if (a !== w) throw new Wrong(`${what}: ${a}, wanted ${w}`);
}

export function check(ok, what) {
    if (!ok) throw new Wrong(what);
}

/** Count a claim that has been looked at already; the text says what is wrong when it does not hold. */
export function holds(ok, text) {
    if (ok) counts.passed++;
    else {
        counts.failed++;
        console.log(`FAILED ${text}`);
    }
}

/** Count whether two values are the same. */
export function same(what, found, wanted) {
    const f = JSON.stringify(found), w = JSON.stringify(wanted);
    holds(f === w, `${what}: ${f?.slice(0, 600)}, wanted ${w?.slice(0, 600)}`);
}

export function skip(why, count = 1) {
    counts.skipped += count;
    console.log(`skipped: ${why}`);
}

/** Try a claim and count it: it holds when `test` does not throw. */
export async function claim(name, test) {
    try {
        await test();
        counts.passed++;
    } catch (error) {
        if (error instanceof Skip) return skip(`${name}: ${error.message}`);
        holds(false, `${name}\n  ${error instanceof Wrong ? error.message : error.stack}`);
    }
}

/** Print the counts and end the process; a script that another one started hands them to it instead. */
export function end() {
    const { passed, failed, skipped } = counts;
    const exit = () => process.exit(failed === 0 ? 0 : 1);
    if (process.send) return process.send(counts, exit);
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    exit();
}
