#!/usr/bin/env node
// docs/definitions.md, typed as a reader types it, against a real server.
import { counts, end, holds } from "../lib/claims.mjs";
import { runPage } from "./session.mjs";

await runPage("docs/definitions.md", { server: true });
holds(counts.passed >= 15, "docs/definitions.md has examples");
end();
