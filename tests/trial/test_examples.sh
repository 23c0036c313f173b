#!/usr/bin/env bash
# The declarative tests of examples/ pass, and a test that fails says so and ends with 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
pawl=${PAWL:-build/pawl}
passed=0
failed=0

claim() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $2"
    fi
}

# Tests of a folder share what is in it, its config for one.
while IFS= read -r path; do
    output=$("$pawl" test "$path")
    claim $? "$path: $output"
done < <(find examples -maxdepth 1 -name '*.test.json'; find examples -mindepth 2 -name '*.test.json' -printf '%h\n' | sort -u)
[ "$passed" -gt 0 ] || claim 1 "there are tests in examples/"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/wrong.json" <<'END'
{"name": "wrong", "scenario": "greeting", "input": {"name": "Ann"}, "expect": {"status": "failed"}}
END
output=$("$pawl" test examples/greeting.json "$folder/wrong.json")
[ $? = 1 ]
claim $? "a test that fails ends with 1"
[[ $output == *'status: expected "failed", is "completed"'*'0 passed, 1 failed'* ]]
claim $? "a test that fails says what was expected: $output"
output=$("$pawl" test examples/greeting.json "$folder/wrong.json" --json)
[[ $output == *'"name":"wrong","ok":false,"tookMs":0,"problems":["status: expected'* ]]
claim $? "--json has a line for each test: $output"
output=$("$pawl" test "$folder/wrong.json")
[[ $output == *"no scenario 'greeting'"* ]]
claim $? "a definition that is not there is named: $output"
"$pawl" test examples/greeting.json 2>/dev/null
[ $? = 1 ]
claim $? "files without a test are no success"
cat >"$folder/undone.json" <<'END'
{"name": "undone", "scenario": {"code": "order", "steps": [
  {"code": "reserve", "procedure": {"type": "compute.transform", "data": {"place": "A7"}},
   "rollback": {"type": "log", "message": "release {{ steps.reserve.place }}"}},
  {"code": "wait", "procedure": {"type": "wait.timer", "duration": "1h"}},
  {"code": "pay", "procedure": {"type": "compute.fail", "code": "declined", "message": "no"}}]},
 "expect": {"status": "failed", "logs": ["release A7"]}}
END
output=$(timeout 120 "$pawl" test "$folder/undone.json")
claim $? "what was done before a wait is undone: $output"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
