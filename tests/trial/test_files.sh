#!/usr/bin/env bash
# pawl test finds what a test names among the files given and beside it: scenarios, procedures,
# functions, config, processes that are started; and runs those tests that are meant.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/claims.sh
pawl=$(realpath "${PAWL:-build/pawl}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# run ARGUMENT...: what pawl test prints, and its status
run() {
    out=$("$pawl" test "$@" 2>&1)
    status=$?
}

has() {
    [[ $out == *"$1"* ]]
}

cat >parent.json <<'END'
{"code": "parent", "input": [{"name": "n", "type": "integer", "default": 4}], "steps": [
  {"code": "price", "procedure": "price", "input": {"n": "$.input.n"}},
  {"code": "sub", "procedure": {"type": "flow.start", "code": "child", "input": {"n": "$.steps.price.total"}, "wait": true}}
], "result": {"total": "$.steps.price.total", "sub": "$.steps.sub.half"}}
END
cat >child.json <<'END'
{"code": "child", "steps": [
  {"code": "rest", "procedure": {"type": "wait.timer", "duration": "2d"}},
  {"code": "halve", "procedure": {"type": "compute.transform", "data": {"half": "=$.input.n / 2"}}}
]}
END
cat >price.json <<'END'
{"code": "price", "input": [{"name": "n", "type": "integer", "required": true}], "commands": [
  {"type": "compute.transform", "data": {"total": "=fn.twice($.input.n) + $.config.extra"}}
]}
END
cat >world.json <<'END'
{"items": [
  {"kind": "function", "name": "twice", "params": [{"name": "n", "type": "integer"}], "body": "n * 2"},
  {"kind": "config", "name": "extra", "value": 2}
]}
END
cat >parent.test.json <<'END'
[
  {"name": "all of it together", "scenario": "parent",
   "expect": {"status": "completed", "result": {"total": 10, "sub": 5}, "duration": "2d",
     "children": [{"code": "child", "steps": ["rest", "halve"]}]}},
  {"name": "another config", "scenario": "parent", "config": {"extra": 0},
   "expect": {"result": {"total": 8, "sub": 4}}},
  {"name": "a mock of each", "scenario": "parent",
   "mocks": {"procedures": {"price": {"total": 1}}, "processes": {"child": {"half": 0.5}}},
   "expect": {"result": {"total": 1, "sub": 0.5}, "duration": "0s", "calls": {"price": [{"n": 4}]}}},
  {"name": "the procedure alone", "procedure": "price", "input": {"n": 5},
   "expect": {"status": "completed", "result": {"total": 12}, "commands": ["compute.transform"]}},
  {"name": "the procedure with a wrong input", "procedure": "price", "input": {"n": "five"},
   "expect": {"status": "failed", "error": {"code": "validation_input"}}},
  {"name": "a procedure of its own", "input": {"a b": "=1"}, "procedure":
    {"code": "own", "commands": [{"type": "compute.transform", "data": "=$.input['a b']"}]},
   "expect": {"result": "=1"}}
]
END

run world.json parent.test.json
has "6 passed, 0 failed"
holds $? "what a test names is found beside it"
run world.json price.json child.json parent.json parent.test.json --json
[ "$status" = 0 ] && [ "$(grep -c '"ok":true,"tookMs":172800000' <<<"$out")" = 2 ]
holds $? "--json says how long each took"
run world.json parent.test.json --only "the procedure"
has "the procedure alone" && has "2 passed, 0 failed, 4 not run" && ! has "another config"
holds $? "--only runs those with the words in their names"
run world.json parent.test.json --only nothing
[ "$status" = 1 ] && has "no test has 'nothing' in its name"
holds $? "--only that fits nothing is no success"
run parent.test.json --only together
[ "$status" = 1 ] && has "undeclared function 'fn.twice'"
holds $? "a function that is not given is named"
echo '{"kind": "function", "name": "twice", "params": [], "body": "n *"}' >broken.json
run broken.json parent.test.json
[ "$status" = 1 ] && has "fn.twice:/body: "
holds $? "a function that is broken is told"
sed -i 's/"halve"/"half"/; s/input.n/inptu.n/' child.json
run world.json parent.test.json --only together
[ "$status" = 1 ] && has "child.json:3:84:/steps/1/procedure/data/half: " && has "did you mean"
holds $? "a process that does not compile is told with its place"
echo '{"name": "x", "procedure": "nowhere", "expect": {}}' >x.test.json
run x.test.json
[ "$status" = 1 ] && has "no procedure 'nowhere'"
holds $? "a procedure that is not there is named"
echo '{"name": "x", "procedure": "Not a code", "expect": {}}' >x.test.json
run x.test.json
[ "$status" = 1 ] && has "'procedure' is a code"
holds $? "a procedure has a code"
echo '[{"nmae": "x"}, 7]' >x.test.json
run x.test.json
[ "$status" = 1 ] && has "did you mean 'name'?" && has "a case is an object" && has "case 2"
holds $? "a case that is none is told by its number"
end_claims
