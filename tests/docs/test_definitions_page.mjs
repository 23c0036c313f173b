#!/usr/bin/env node
// docs/definitions.md, typed as a reader types it, against a real server.
import { claim, counts, finish, pawl } from "./claims.mjs";
import { runPage } from "./session.mjs";

await runPage("docs/definitions.md", pawl, claim, { server: true });
claim(counts.passed >= 15, "docs/definitions.md has examples");
finish();
