#!/usr/bin/env node
// A trial as new users made it, row by row: what they typed, and what they are told now. Each row says
// which trouble it is about; the files that it needs are in `files`.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { end, holds } from '../lib/claims.mjs';
import { makeFolder, pawl } from '../lib/program.mjs';

const docs = realpathSync("docs");
const folder = makeFolder();

const wait = (code, signalType, more = {}) => ({ code, procedure: { type: "wait.signal", signalType, ...more } });
const wide = `a_${"very_".repeat(9)}long_name`;
const files = {
  "wide.json": { code: wide, onError: "hold", steps: [{ code: wide, procedure: { type: "compute.fail", code: wide, message: "no luck ".repeat(30) } }] },
  "order.json": { code: "order", input: [{ name: "n", type: "integer", required: true }], steps: [wait("wait", "paid")] },
  "failing.json": { code: "failing", steps: [
    { code: "take", procedure: { type: "log", message: "taken" }, rollback: { type: "log", message: "given back" } },
    { code: "pay", procedure: { type: "compute.fail", code: "no_money", message: "the card is empty" } }] },
  "held.json": { code: "held", onError: "hold", steps: [{ code: "pay", procedure: { type: "compute.fail", code: "no_luck", message: "bad luck" } }] },
  "kid.json": { code: "kid", steps: [wait("ask", "go")] },
  "family.json": { code: "family", steps: [{ code: "start", procedure: { type: "flow.start", code: "kid", wait: true } }] },
  "branches.json": { code: "branches", steps: [{ code: "both", parallel: { branches: [[wait("left", "l")], [wait("right", "r")]] } }] },
  "charge.json": { code: "charge", steps: [{ code: "card", procedure: "bank.charge" }] },
  "form.json": { code: "form", steps: [wait("ask", "answer", { title: "Approve it", assignee: "ann@example.org", form: [
    { name: "sum", type: "integer", required: true }, { name: "why", type: "string", required: true }, { name: "note", type: "string" }] })] },
  "fill.json": { code: "fill", input: [{ name: "object", type: "string", required: true }, { name: "n", type: "integer", required: true }],
    steps: [{ code: "each", loop: { for: "=lists.range($.input.n)", steps: [{ code: "make", procedure: { type: "record.create", object: "$.input.object", id: "=string($.loop.item)", data: { n: "$.loop.item" } } }] } }] },
  "bill.json": { code: "bill", input: [{ name: "object", type: "string", required: true }],
    steps: [{ code: "find", procedure: { type: "record.query", object: "$.input.object" } }, { code: "each", loop: { for: "$.steps.find.items", steps: [{ code: "one", procedure: { type: "compute.transform", data: 1 } }] } }],
    result: { billed: "=steps.each.count", more: "=steps.find.more" } },
  "later.json": { code: "later", steps: [{ code: "rest", procedure: { type: "wait.timer", duration: "45d" } }] },
  "mended.json": { code: "mended", onError: "hold", input: [{ name: "n", type: "integer", required: true }], steps: [
    { code: "check", procedure: { type: "compute.validate", rules: [{ expr: "input.n > 0", code: "too_small", message: "n is too small" }] } }, wait("ask", "go")] },
  "plain.json": { code: "plain", steps: [{ code: "a", procedure: { type: "compute.transform", data: { x: 1 } } }], result: "steps.a.x" },
  "rounds.json": { code: "rounds", steps: [{ code: "each", loop: { for: [1, 2], onError: "continue", steps: [
    { code: "take", procedure: { type: "log", message: "taken" }, rollback: { type: "log", message: "given back" } },
    { code: "pay", procedure: { type: "compute.fail", code: "no_money", message: "none" } }] } }] },
  "rounds.test.json": { name: "a failed round is not undone", scenario: "rounds", expect: { status: "completed", logs: ["taken", "taken"] } },
  "people.json": { code: "people", input: [{ name: "kind", type: "string", required: true }, { name: "vat", type: "string", requiredWhen: "input.kind == 'firm'" }], steps: [
    { code: "ask", procedure: { type: "wait.signal", signalType: "answer", timeout: "3bd", onTimeout: "continue",
      reminder: { at: ["1d", "3d"], procedure: { type: "log", message: "reminded {{ reminder.index }}" } },
      form: [{ name: "ok", type: "boolean", required: true }, { name: "why", type: "string", requiredWhen: "!payload.ok" }] } }] },
  "people.test.json": [
    { name: "reminders by a list of times, a deadline in business days", scenario: "people", input: { kind: "person" }, now: "2026-01-01T09:00:00Z", expect: { status: "completed", duration: "5d", logs: ["reminded 1", "reminded 2"] } },
    { name: "a reason when refusing", scenario: "people", input: { kind: "person" }, signals: [{ type: "answer", payload: { ok: false }, refused: { pointer: "/payload/why" } }, { type: "answer", payload: { ok: false, why: "no" } }], expect: { status: "completed" } },
    { name: "a number on condition", scenario: "people", input: { kind: "firm" }, expect: { refused: { pointer: "/input/vat" } } }],
  "unsaid.json": { name: "it is paid", scenario: "order", input: { n: 1 } },
  "late.json": [
    { name: "too late", scenario: "order", input: { n: 1 }, signals: [{ type: "paid" }, { type: "paid", after: "1h", refused: { message: "is completed" } }], expect: { status: "completed" } },
    { name: "no number", scenario: "order", expect: { refused: { pointer: "/input/n" } } }],
  "failing.test.json": { tests: [{ name: "it pays", scenario: "failing", expect: { status: "completed" } }] },
};

// What pawl validate says of a scenario of one step that has this field.
const said = (field, value, more = {}) => `pawl validate - <<'END'\n${JSON.stringify({ code: "x", ...more,
  steps: [{ code: "a", procedure: { type: "log", message: "m" }, [field]: value }] })}\nEND`;

// [trouble, command, parts of what it says, exit status]
const rows = [
  ["a folder with tests beside its definitions", "pawl apply .", ["order: published version 1", "failing: published version 1", "family: published version 1"]],
  ["a test that fails says with what", "pawl test failing.json failing.test.json", ['status: expected "completed", is "failed"', "its error: no_money: the card is empty, at /steps/1/procedure"], 1],
  ["a test without what it expects", "pawl test order.json unsaid.json", ["it is paid", "there is no 'expect'", '"expect": {"status": "completed"}'], 1],
  ["a late signal and a refused start are expected", "pawl test order.json late.json", ["2 passed, 0 failed"]],
  ["tests beside definitions, whatever their names", "pawl validate order.json late.json && pawl apply *.json --dry-run", ["order.json: valid", "1 file of tests left out; run them with: pawl test", "files of tests left out", "nothing to do"]],
  ["a folder of definitions and tests", "pawl validate files", ["files/order.json: valid", "files of tests left out"]],
  ["tests alone", "pawl apply late.json", ["late.json holds tests, not definitions; run them with: pawl test late.json"], 1],
  ["a start", "pawl start order --key h5 --input '{\"n\": 1}'", ["waiting", 'for the signal "paid"']],
  ["a code that is misspelt", "pawl start ordr", ["no process 'ordr' is published", "did you mean 'order'?"], 1],
  ["a signal that is misspelt", "pawl signal key:h5 payd", ["nobody waits for it yet", 'for the signal "paid"']],
  ["one that nobody takes in time", "pawl signal key:h5 payd --wait=100ms", ["no step took it in that time"], 1],
  ["the reason of a cancellation", "pawl cancel key:h5 --reason 'the customer left' && pawl watch @last >/dev/null; pawl show @last", ["cancelled", "the customer left"]],
  ["and in the audit log", "pawl audit --action execution.cancel", ["the customer left"]],
  ["the audit log in 80 columns", "COLUMNS=80 pawl audit | awk 'length > 80'", []],
  ["a parent", "pawl start family --key f1", ["waiting"]],
  ["it names its child", "pawl show key:f1", ["child   kid "]],
  ["the child is found by its parent", "pawl ls --parent key:f1", ["kid", "ask"]],
  ["and names it", "pawl show $(pawl ls --parent key:f1 --json | sed 's/.*\"id\":\"\\([^\"]*\\)\",\"kind.*/\\1/')", ["parent  family "]],
  ["cancelling reaches the child", "pawl cancel key:f1 && pawl watch $(pawl ls --code kid --json | sed 's/.*\"id\":\"\\([^\"]*\\)\",\"kind.*/\\1/') >/dev/null; pawl ls --code kid", ["cancelled"]],
  ["a worker that there is none of", "pawl start charge --key c1", ["for a worker of bank.charge; none has asked for it", "pawl cancel key:c1"]],
  ["what may be done with it", "pawl show key:c1 --json", ['"actions":["cancel","signal","skip"']],
  ["going on without the worker", "pawl show key:c1 && pawl skip key:c1 --output '{\"id\": 7}' && pawl watch key:c1 && pawl show key:c1", ["Go on without it: pawl skip key:c1", "is going on without the step", "with the result {\"id\":7}"]],
  ["giving it up", "pawl start charge --key c2 && pawl cancel key:c2 && pawl ls --code charge", ["Give it up with: pawl cancel key:c2", "cancelled"]],
  ["one that is held", "pawl start held --key k1", ["It is held at step pay", "(no_luck), at /steps/0/procedure of version 1"]],
  ["those that are held", "pawl ls --held", ["held: no_luck", "pay", "k1"]],
  ["dead letters with the key", "pawl dlq", ["KEY", "k1", "no_luck"]],
  ["where in the definition", "pawl show key:k1", ["at /steps/0/procedure of version 1"]],
  ["what was rolled back", "pawl start failing --key p1", ["failed", "1 step was undone"]],
  ["what failed, with error and step", "pawl ls --status failed", ["failed: no_money", "pay", "p1"]],
  ["by its error", "pawl ls --error no_luck", ["held"]],
  ["started again", "pawl again $(pawl ls --code failing --json | sed 's/.*\"id\":\"\\([^\"]*\\)\",\"kind.*/\\1/')", ["failed", "the card is empty"]],
  ["both name each other", "pawl show @last", ["again   of failing "]],
  ["what it has logged", "pawl logs @last", ["take  taken", "take  given back"]],
  ["many started again", "pawl again --where 'code=failing' --dry-run", ["2 of 2 executions would be started again"]],
  ["counts", "pawl ls --count-by code --code failing", ["COUNT", "2      failed  failing"]],
  ["the step of any branch", "pawl start branches >/dev/null; pawl ls --step right", ["branches"]],
  ["also in bulk", "pawl cancel --where 'step=right' --dry-run", ["1 of 1 executions would be cancelled"]],
  ["the oldest first", "pawl ls --oldest --limit 1 2>/dev/null", ["order"]],
  ["how long ago", "pawl ls --from 2h --limit 1 2>/dev/null", ["branches"]],
  ["whose deadline is near", "pawl ls --deadline-before 31d", ["branches", "held"]],
  ["who is asked, for what, and a command that fits", "pawl start form --key q1", ['for the signal "answer", "Approve it" from ann@example.org', "Its form: sum (integer, required), why (string, required), note (string)", `pawl signal key:q1 answer '{"sum": 1, "why": "..."}'`]],
  ["that command as it stands", `pawl signal key:q1 answer '{"sum": 1, "why": "..."}' --wait`, ["took"]],
  ["an empty list under a condition", "pawl ls --code nothing", ["no execution matches"]],
  ["the table in 80 columns", "COLUMNS=80 pawl ls | awk 'length > 80'", []],
  ["long names in 80 columns", `pawl apply wide.json >/dev/null; pawl start ${wide} --key ${wide} >/dev/null; pawl config set ${wide} '"${wide}"' >/dev/null; pawl record set thing ${wide.slice(0, 50)} '{"text": "${wide}"}' >/dev/null; pawl user add ${wide} --role viewer >/dev/null; export COLUMNS=80; for what in ls 'ls --count-by code' dlq 'def ls' 'def versions ${wide} --kind scenario' 'config ls' 'record ls thing' 'user ls' 'user tokens admin' audit 'show @last' doctor help 'help ls' 'help dlq' 'help serve'; do pawl $what --data data 2>/dev/null || pawl $what || echo "$what: failed$(printf %80s)"; done 2>&1 | grep -v '^  pawl' | awk 'length > 80'`, []],
  ["onError retry", "sed 's/\"onError\": \"hold\"/\"onError\": \"retry\"/' held.json >again.json; pawl validate again.json", ['"retry" is what happens behind the last attempt: it fails, and nothing is undone', "settings.retryPolicy"]],
  ["a file for JSON", "echo '{\"n\": 5}' >n.json; pawl start order --input n.json", ["--input: this is the name of a file; to read it write @n.json"], 1],
  ["a file, a text, or standard input", "pawl eval n --context n.json; pawl eval n --context @n.json; pawl eval n --context '{\"n\": 6}'; echo 'n: 7' | pawl eval n --context -; echo '{\"n\": 8}' | pawl start order --input - >/dev/null && pawl show @last", ["5\n5\n6\n7\n", 'input   {"n":8}']],
  // What is looked for is found, or said to be more.
  ["120 customers are billed, not 100", `pawl start fill --input '{"object": "customer", "n": 120}' --wait >/dev/null; pawl start bill --input '{"object": "customer"}' --wait`, ['with the result {"billed":120,"more":false}']],
  ["more than a query answers is an error", `pawl start fill --input '{"object": "many", "n": 1001}' --wait >/dev/null; pawl start bill --input '{"object": "many"}'`, ["more than 1000 records match: give a 'limit' and read on with 'after' (limit_query)"]],

  // A wait that the deadline cuts off.
  ["a wait beyond the deadline", "pawl validate later.json", ["step rest: an execution ends after 30 days unless settings.timeout says otherwise: before this wait is over"]],
  ["and when it is shown", "pawl start later --key l1; pawl show key:l1", ["(in 45 days), beyond its deadline, ", "ends    by ", "(in 30 days), its deadline"]],

  // What commands return, and which fields there are.
  ["what a command returns", "pawl catalog | grep -o '\"name\":\"record.query\".*' | head -c 4000", ['"result":', '"items"', '"count"', '"more"', '"next"']],
  ["and in the reference", `grep -c -e executionId -e groups -e '^### ' ${docs}/reference.md >/dev/null && grep -A12 -e '^### record.query' -e '^### flow.start' ${docs}/reference.md`, ["items", "executionId"]],
  ["fields of functions, templates, config and onTimeout", `grep -e '^### ' -e '^## ' ${docs}/reference.md`, ["Function", "Template", "Config value", "Jump on timeout"]],

  // What operators did.
  ["a retry with another version and input is seen", `pawl start mended --key m1 --input '{"n": 0}' >/dev/null; sed 's/n is too small/n is far too small/' mended.json >mended2.json; pawl apply mended2.json; pawl retry key:m1 --version 2 --input '{"n": 3}'; pawl show key:m1`, ["retry", "with version 2, with another input"]],
  ["so is a migration", "pawl apply mended.json >/dev/null; pawl migrate key:m1 --version 3 && pawl show key:m1", ["migrated", "with version 3"]],
  ["so is a step that was skipped", `pawl start mended --key m2 --input '{"n": 0}' >/dev/null; pawl skip key:m2 && pawl show key:m2`, ["operator", "skip"]],
  ["what is resolved and still held stays in a list", `pawl start mended --key m3 --input '{"n": 0}' >/dev/null; pawl dlq resolve $(pawl dlq --execution key:m3 | awk 'NR == 2 {print $1}') >/dev/null; pawl ls --held`, ["m3", "held: too_small"]],

  // Definitions that are wrong, and say so.
  ["a forgotten =", "pawl validate plain.json", [`/result: warning: this is the text "steps.a.x"; an expression begins with '=' or '$.'; did you mean '=steps.a.x'?`]],
  ["an = too many", said("when", "=$.input.x > 3"), ["the whole text is an expression here: write it without the '=' in front"], 1],
  ["an input that is not declared", said("when", "input.m == 1", { input: [{ name: "n", type: "integer", required: true }] }), ["undeclared reference to 'input.m'; did you mean 'input.n'?"]],
  ["one that may be missing", said("when", "size(input.opt) > 0", { input: [{ name: "opt", type: "string" }] }), ["'input.opt' may be missing, which would fail: ask has(input.opt) first, or write input.?opt.orValue(...)"]],
  ["a later step's result", `echo '{"code": "x", "steps": [{"code": "a", "procedure": {"type": "log", "message": "{{ steps.b.n }}"}}, {"code": "b", "procedure": {"type": "compute.transform", "data": {"n": 1}}}]}' >x.json; pawl validate x.json`, ["step a: $.steps.b is null here: that step comes later"]],
  ["a process that is nowhere", `echo '{"code": "x", "steps": [{"code": "a", "procedure": {"type": "flow.start", "code": "nowhere"}}]}' >x.json; pawl apply x.json --dry-run`, ["step a: no process 'nowhere' is published: until one is, this step fails"]],
  ["line, column and step", `printf '{"code": "x",\n "steps": [\n  {"code": "a", "procdure": {}}]}' >x.json; pawl validate x.json`, ["x.json:3:17:/steps/0/procdure: step a: there is no field 'procdure' here; did you mean 'procedure'?"], 1],
  ["wrong fields of functions and config", `echo '{"items": [{"kind": "function", "name": "f", "parms": [], "body": "1"}, {"kind": "config", "name": "c", "vlaue": 2}]}' >x.json; pawl validate x.json`, ["there is no field 'parms' here; did you mean 'params'?", "there is no field 'vlaue' here; did you mean 'value'?"], 1],
  ["files that cannot be parsed, as JSON", "echo '{' >x.json; pawl validate --json x.json 2>/dev/null", ['"severity":"error"', '"line":2'], 1],
  ["an act as JSON", "pawl cancel key:m3 --json", ['"accepted":true']],

  // Weak messages.
  ["a comment in JSON", `printf '{"code": "x", // why\n "steps": [],}' >x.json; pawl validate x.json`, ["x.json: valid"]],
  ["a comment with #", `printf '# why\n{"code": "x"}' >x.json; pawl validate x.json`, ["JSON has no comments; in files for pawl they begin with //"], 1],
  ["YAML in a file of JSON", `printf 'code: x\nsteps: []\n' >x.json; pawl validate x.json`, ["if this is YAML, its file must be called .yaml"], 1],
  ["YAML", "mv x.json x.yaml; pawl validate x.yaml", ["x.yaml: valid"]],
  ["2 days", said("timeout", "2 days"), ['did you mean "2d"? the units are ms, s, m, h and d'], 1],
  ["1w", said("timeout", "1w"), ['did you mean "7d"?'], 1],
  ["int", said("when", "true", { input: [{ name: "n", type: "int" }] }), ["did you mean 'integer'?"], 1],
  ["retries", said("retries", 3), ["did you mean 'retry'?"], 1],
  ["a signal", said("procedure", { type: "signal" }), ["there is no command 'signal'; did you mean 'wait.signal'?"], 1],
  ["http.request", said("procedure", { type: "http.request" }), ["there is no command 'http.request'; did you mean 'integration.http'?"], 1],

  // The documentation.
  ["the variables of its pages are exported there", `cd ${docs} && grep -l 'export PAWL_DATA=./pawl-data PAWL_URL=http://127.0.0.1:7070' *.md`, ["definitions.md", "executions.md"]],
  ["a failed round of a loop is not undone", `pawl test rounds.json rounds.test.json; grep -o 'what its steps have done stays done' ${docs}/scenarios.md`, ["1 passed, 0 failed", "what its steps have done stays done"]],
  ["how to upgrade", `grep -c . ${docs}/upgrade.md; grep -l upgrade.md ${docs}/../README.md ${docs}/*.md`, ["README.md"]],

  // What was missed.
  ["definitions on the command line", "pawl def ls; pawl def versions mended; pawl def diff mended 1 2", ["scenario", "superseded", '"n is too small" -> "n is far too small"']],
  ["going back", "pawl def revert mended", ["version 2 is published"]],
  ["out of use", "pawl def retire mended; pawl start mended --input '{\"n\": 1}'", ["it takes no new starts", "the process 'mended' is retired"], 1],
  ["deleted", "pawl apply plain.json >/dev/null 2>&1; pawl def rm plain", ["scenario 'plain': deleted"]],
  ["functions", `echo '{"kind": "function", "name": "twice", "params": [{"name": "n", "type": "integer"}], "body": "n * 2"}' >x.json; pawl apply x.json; pawl def show twice`, ["function twice: saved", "n * 2"]],
  ["a JSON Schema for editors", "pawl schema | head -c 200; curl -s $PAWL_URL/schemas/definition.json | head -c 60", ['"title":"Pawl definition"', '"$schema":"https://json-schema.org']],
  ["reminders by a list, business days, fields on condition", "pawl test people.json people.test.json", ["3 passed, 0 failed"]],
  ["the token of the administrator", "pawl user token rotate admin", ["the one in the file admin.token stays: to have another, stop the server, delete the file, and start it"]],
  ["a refusal as JSON", "pawl cancel key:h5 --json", ['{"error":'], 1],
  ["a token in the place of another", "pawl user add bob --role viewer >/dev/null; pawl user token rotate bob --expires 90d", ["token, shown only now: ", "it expires ", "every token that bob had before is revoked"]],
  ["when tokens expire", "pawl user tokens bob", ["EXPIRES"]],
  ["what failed is in the log", "grep -c '\"an execution failed\"' serve.log", ["2"]],
  ["what is held, with code, key and step", "grep '\"an execution is held\"' serve.log", ['"code":"held"', '"key":"k1"', '"step":"pay"', '"requestId":']],
  ["what was refused", "grep '\"a request was refused\"' serve.log | head -1", ['"level":"notice"', '"requestId":', '"user":"admin"']],
];

for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content, null, 2));
mkdirSync(join(folder, "bin"));
const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), TZ: "UTC", PATH: `${join(folder, "bin")}:${process.env.PATH}` };
for (const name of ["PAWL_DATA", "PAWL_URL", "PAWL_TOKEN", "PAWL_STORE", "COLUMNS"]) delete env[name];
spawnSync("ln", ["-s", pawl, join(folder, "bin/pawl")]);

const log = join(folder, "serve.log");
const server = spawn("sh", ["-c", `exec pawl serve --data data --listen 127.0.0.1:0 2>serve.log`], { cwd: folder, env });
let welcome = "";
await new Promise((done, fail) => {
  server.stdout.on("data", (text) => (welcome += text).includes("data  ") && done());
  server.on("exit", () => fail(new Error(`pawl serve ended: ${welcome}${readFileSync(log, "utf8")}`)));
});
env.PAWL_URL = welcome.match(/listens on (\S+)/)[1];
holds(!/pawl_[0-9a-f]{64}/.test(welcome), `the token is not printed\n${welcome}`);
holds(welcome.includes("admin.token"), `it says where the token is\n${welcome}`);
env.PAWL_TOKEN = readFileSync(join(folder, "data/admin.token"), "utf8").trim();
mkdirSync(join(folder, "files"));
try {
  for (const name of Object.keys(files)) spawnSync("cp", [join(folder, name), join(folder, "files")]);
  for (const [trouble, command, parts, status = 0] of rows) {
    const typed = command.replace(/^pawl apply \.$/, "pawl apply files");
    const { status: code, stdout, stderr } = spawnSync("bash", ["-c", typed], { cwd: folder, env, encoding: "utf8", input: "", timeout: 90000 });
    const text = stdout + stderr;
    const isEmpty = parts.length > 0 || text === "";
    holds(code === status && isEmpty && parts.every((part) => text.includes(part)), `${trouble}: ${command}\n  status ${code}: ${text}`);
  }
} finally {
  server.removeAllListeners("exit");
  server.kill("SIGTERM");
  await new Promise((done) => server.on("close", done));
}

end();
