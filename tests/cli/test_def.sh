#!/usr/bin/env bash
# pawl def: definitions of every kind on a server, listed, compared, reverted, retired and deleted.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh
start_server || exit 1

run def ls
claim "without definitions it says what to do" said 0 "pawl apply FILE"
cat >all.json <<'JSON'
{"items": [
  {"kind": "config", "name": "rate", "value": 0.2},
  {"kind": "function", "name": "vat", "params": [{"name": "n", "type": "number"}], "body": "n * 0.2"},
  {"kind": "template", "code": "offer", "subject": "s", "body": "b"},
  {"code": "price", "commands": [{"type": "compute.transform", "data": {"x": "=$.config.rate"}}]},
  {"code": "order", "name": "Order", "steps": [{"code": "a", "procedure": "price"}, {"code": "b", "procedure": {"type": "compute.transform", "data": {"v": "=fn.vat(100.0)"}}}]},
  {"code": "nap", "steps": [{"code": "wait", "procedure": {"type": "wait.signal", "signalType": "go"}}]}
]}
JSON
run apply all.json
claim "all are published" said 0 "order: published version 1"
run def ls
claim "all kinds are listed" said 0 "scenario" "order" "procedure" "price" "function" "vat" "template" "offer" "config" "rate"
run def ls procedure
claim "one kind alone" said 0 "price"
claim "and no other" eval '! grep -q order <<<"$out"'
run def ls procedur
claim "a kind that is none" said 1 "did you mean 'procedure'?"
run def ls --json
claim "as JSON, with kinds" said 0 '{"kind":"config","name":"rate"' '{"kind":"scenario","code":"order"'

sed 's/"name": "Order"/"name": "An order"/; s/100.0/200.0/' all.json >changed.json
run apply changed.json --summary "dearer"
run def versions order
claim "versions, newest first" said 0 "2" "published" "dearer" "superseded"
claim "with how many executions live with each" said 0 "LIVE"
run def show order
claim "the published one" said 0 '"name": "An order"'
run def show order 1
claim "an older one" said 0 '"name": "Order"'
run def show order 7
claim "a version that is none" said 1 "no such version"
run def diff order
claim "what changed, by pointer" said 0 "version 1 -> 2" '/name: "Order" -> "An order"' '/steps/1/procedure/data/v: "=fn.vat(100.0)" -> "=fn.vat(200.0)"'
run def diff order 2 1 --json
claim "the other way round, as JSON" said 0 '{"pointer":"/name","from":"An order","to":"Order"}'
run def diff nap
claim "with one version there is nothing to compare" said 1 "no two versions"
run def revert order
claim "a revert publishes what was before" said 0 "version 1 is published"
run def revert order 2
claim "an older text becomes a new version" said 0 "version 3 is published"
run def show order
claim "with that text" said 0 '"name": "An order"'
run def versions order
claim "and a reason" said 0 "back to version 2"
run def versions vat
claim "functions have versions" said 0 "1"
sed 's/n \* 0.2/n * 0.3/' all.json >dearer.json
run apply dearer.json
run def revert vat 1
claim "a function goes back as a new version" said 0 "version 3 is published"
run def show vat
claim "to its old text" said 0 '"n * 0.2"'
run def show nothing
claim "what is not there" said 1 "there is no definition 'nothing'" "pawl def ls"

# --- retiring ---

run start nap --key n1
run def retire nap
claim "a process can be retired" said 0 "no new starts"
run start nap
claim "then it takes no new starts" said 1 "is retired" "(retired)"
run start nap --version 1
claim "in no version" said 1 "is retired"
run signal key:n1 go --wait
claim "what runs goes on" said 0
run show key:n1
claim "to its end" said 0 "completed"
run def ls scenario
claim "and is listed so" said 0 "retired"
run def unretire nap
claim "that can be taken back" said 0 "in use again"
run start nap --key n2
claim "and it starts again" said 0
run start npa
claim "a mistyped code has a hint" said 1 "did you mean 'nap'?"
run def retire vat
claim "a function cannot be retired" said 1 "pawl def rm vat"

# --- deleting ---

run def rm nap
claim "what executions rest on stays" said 1 "executions that are stored rest on it"
run def rm price
claim "what a definition uses stays" said 1 "scenario 'order' uses it"
run def retire price
claim "and is not retired" said 1 "scenario 'order' uses it"
run def rm rate
claim "config too" said 1 "uses it"
run def rm order
claim "what nothing uses goes" said 0 "deleted"
run def rm price
claim "and then what it used" said 0 "deleted"
run def rm vat
claim "and functions" said 0 "deleted"
run def show order
claim "it is gone" said 1 "there is no definition"
run apply all.json
claim "numbers are not given twice" said 0 "order: published version 5"
run audit
claim "all of it is in the audit log" said 0 "scenario.retire" "scenario.unretire" "scenario.delete" "procedure.delete"

# A graph is a definition as others are; where its nodes stand on a canvas is no difference.
cat >graph.json <<'JSON'
{"code": "drawn", "name": "Drawn", "nodes": [
  {"id": "start_1", "type": "start", "position": {"x": 0, "y": 0}},
  {"id": "sum_1", "type": "math", "config": {"expression": "input.n + 1"}},
  {"id": "end_1", "type": "end", "config": {"result": "$.steps.sum_1.output.result"}}],
 "edges": [{"source": "start_1", "target": "sum_1"}, {"source": "sum_1", "target": "end_1"}]}
JSON
run apply graph.json
claim "a graph is published" said 0 "drawn: published version 1"
run def ls schema
claim "and listed by its kind" said 0 "schema" "drawn"
run def show drawn
claim "and shown" said 0 '"type": "math"'
sed 's/"x": 0/"x": 40/; s/input.n + 1/input.n + 2/' graph.json >moved.json
run apply moved.json
claim "it has versions" said 0 "drawn: published version 2"
run def diff drawn
claim "that are compared, but for positions" said 0 'input.n + 1' 'input.n + 2'
claim "positions are no difference" eval '! grep -q position <<<"$out"'
run def revert drawn
claim "and reverted" said 0 "version 1 is published"
run export drawn
claim "and exported" said 0 '"kind":"schema"' '"code":"drawn"'
run def retire drawn
claim "and retired" said 0 "retired"
run start drawn --input '{"n": 1}'
claim "which ends new starts" said 1 "retired"

end_claims
