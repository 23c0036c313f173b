// What the tests of pages begin and end with: the root of the tree as the current folder, the
// program, and claims that are counted.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), "../.."));

export const pawl = resolve(process.env.PAWL ?? "build/pawl");
export const counts = { passed: 0, failed: 0 };

export function claim(ok, text) {
  if (ok) counts.passed++;
  else {
    counts.failed++;
    console.log(`FAILED ${text}`);
  }
}

// Say how many and end.
export function finish() {
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed === 0 ? 0 : 1);
}
