#!/usr/bin/env node
// The tour, the page on the command line and the README, typed as a reader types them, against
// real servers that are really killed; and that README and examples say the same.
import { readFileSync } from "node:fs";
import { claim, finish, pawl } from "./claims.mjs";
import { blocks, matches, runPage } from "./session.mjs";

// A test that cannot fail is none.
claim(matches(["a ... c", "...", "z"], "a b c\nd\ne\nz\n"), "dots stand for any text");
claim(matches(["a", "...", "z"], "a\nz\n"), "and for no line at all");
claim(!matches(["a ... c"], "a b d\n") && !matches(["a"], "a\nb\n") && !matches(["a", "b"], "a\n"), "but not for anything else");

await runPage("docs/tour.md", pawl, claim);
await runPage("docs/cli.md", pawl, claim, { server: true });
await runPage("README.md", pawl, claim, { server: true });

const [order] = blocks("README.md").filter((block) => block.info === "json file=order.json");
claim(order.lines.join("\n") === readFileSync("examples/order.json", "utf8").trimEnd(), "README.md shows examples/order.json");
claim(order.lines.length <= 20, "a scenario of 20 lines");
const [first] = blocks("README.md");
claim(/^make run .*\nmake test .*\nmake crash /.test(first.lines.join("\n")), "README.md begins with what to type");

finish();
