#!/usr/bin/env bash
# The declarative tests of examples/ pass, and a test that fails says so and ends with 1.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/claims.sh
pawl=${PAWL:-build/pawl}
# Tests of a folder share what is in it, its config for one.
while IFS= read -r path; do
    out=$("$pawl" test "$path")
    holds $? "$path"
done < <(find examples -maxdepth 1 -name '*.test.json'; find examples -mindepth 2 -name '*.test.json' -printf '%h\n' | sort -u)
[ "$passed" -gt 0 ] || holds 1 "there are tests in examples/"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/wrong.json" <<'END'
{"name": "wrong", "scenario": "greeting", "input": {"name": "Ann"}, "expect": {"status": "failed"}}
END
out=$("$pawl" test examples/greeting.json "$folder/wrong.json")
[ $? = 1 ]
holds $? "a test that fails ends with 1"
[[ $out == *'status: expected "failed", is "completed"'*'0 passed, 1 failed'* ]]
holds $? "a test that fails says what was expected"
out=$("$pawl" test examples/greeting.json "$folder/wrong.json" --json)
[[ $out == *'"name":"wrong","ok":false,"tookMs":0,"problems":["status: expected'* ]]
holds $? "--json has a line for each test"
out=$("$pawl" test "$folder/wrong.json")
[[ $out == *"no scenario 'greeting'"* ]]
holds $? "a definition that is not there is named"
"$pawl" test examples/greeting.json 2>/dev/null
[ $? = 1 ]
holds $? "files without a test are no success"
cat >"$folder/undone.json" <<'END'
{"name": "undone", "scenario": {"code": "order", "steps": [
  {"code": "reserve", "procedure": {"type": "compute.transform", "data": {"place": "A7"}},
   "rollback": {"type": "log", "message": "release {{ steps.reserve.place }}"}},
  {"code": "wait", "procedure": {"type": "wait.timer", "duration": "1h"}},
  {"code": "pay", "procedure": {"type": "compute.fail", "code": "declined", "message": "no"}}]},
 "expect": {"status": "failed", "logs": ["release A7"]}}
END
out=$(timeout 120 "$pawl" test "$folder/undone.json")
holds $? "what was done before a wait is undone"
end_claims
