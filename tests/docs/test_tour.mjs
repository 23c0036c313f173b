#!/usr/bin/env node
// The tour, the page on the command line and the README, typed as a reader types them, against
// real servers that are really killed; and that README and examples say the same.
import { readFileSync } from "node:fs";
import { end, holds } from "../lib/claims.mjs";
import { blocks, matches, runPage } from "./session.mjs";

// A test that cannot fail is none.
holds(matches(["a ... c", "...", "z"], "a b c\nd\ne\nz\n"), "dots stand for any text");
holds(matches(["a", "...", "z"], "a\nz\n"), "and for no line at all");
holds(!matches(["a ... c"], "a b d\n") && !matches(["a"], "a\nb\n") && !matches(["a", "b"], "a\n"), "but not for anything else");

await runPage("docs/tour.md");
await runPage("docs/cli.md", { server: true });
await runPage("README.md", { server: true });

const [order] = blocks("README.md").filter((block) => block.info === "json file=order.json");
holds(order.lines.join("\n") === readFileSync("examples/order.json", "utf8").trimEnd(), "README.md shows examples/order.json");
holds(order.lines.length <= 20, "a scenario of 20 lines");
const [first] = blocks("README.md");
holds(/^make run .*\nmake test .*\nmake crash /.test(first.lines.join("\n")), "README.md begins with what to type");

end();
