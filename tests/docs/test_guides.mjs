#!/usr/bin/env node
// The guides to executions, dead letters, records, SQL, tests, examples, credentials, workers, assistants, schedules, people and the cookbook, typed as a reader types them, against real servers.
import { counts, end, holds } from "../lib/claims.mjs";
import { runPage } from "./session.mjs";

for (const page of ["docs/executions.md", "docs/dead-letters.md", "docs/records.md", "docs/sql.md", "docs/testing.md", "docs/examples.md", "docs/cookbook.md", "docs/credentials.md", "docs/workers.md", "docs/mcp.md", "docs/schedules.md", "docs/triggers.md", "docs/people.md", "docs/debugging.md"]) {
  const before = counts.passed;
  await runPage(page, { server: true });
  holds(counts.passed - before > 6, `${page} has examples`);
}

end();
