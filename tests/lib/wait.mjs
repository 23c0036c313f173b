// wait.mjs - waiting for what must happen.
import { Wrong } from './claims.mjs';

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Ask again until `question` answers something true; fails after `seconds`: on no machine by chance. */
export async function until(what, question, seconds = 180) {
    const end = Date.now() + seconds * 1000;
    for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
        const answer = await question();
        if (answer) return answer;
        if (Date.now() > end) throw new Wrong(`not within ${seconds} s: ${what}`);
        await sleep(pause);
    }
}
