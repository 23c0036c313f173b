#!/usr/bin/env bash
# What --json prints when something was refused: {"error": ...} on standard output, and status 1.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

# refused PART...: the last run ended with 1, and its standard output is one error with these.
refused() {
    out=$(node -e '
        const { error, ...rest } = JSON.parse(process.argv[1]);
        if (Object.keys(rest).length > 0 || typeof error !== "object") process.exit(1);
        console.log(JSON.stringify(error));' "$out" 2>&1) || return 1
    said 1 "$@"
}
run_out() {
    out=$("$pawl" "$@" 2>errors)
    status=$?
}

PAWL_URL=http://127.0.0.1:1
run_out ls --json
claim "a server that is not there" refused '"code":"unreachable"' "no server at"
claim "is told to people, too" grep -q "no server at" errors
run_out ls
claim "without --json nothing is printed" [ "$status:$out" = "1:" ]

start_server || exit 1
"$pawl" apply "$examples/greeting.json" "$examples/approval.json" >/dev/null
"$pawl" start approval --input '{"title": "Lunch", "amount": 1}' --key lunch-1 >/dev/null
id=$("$pawl" start greeting --input '{"name": "Ada"}' --wait --json | sed 's/^{"id":"\([^"]*\)".*/\1/')

run_out start greeting --input '{"nam": "Ada"}' --json
claim "findings of a start are in it" refused '"status":422' '"pointer":"/input/nam"' "did you mean"
run_out start greting --json
claim "a process that does not exist" refused '"status":404' '"code":"not_found"'
run_out start approval --input '{"title": "Lunch", "amount": 1}' --key lunch-1 --json
claim "a key that is busy" refused '"status":409' '"code":"key_busy"' '"executionId":'
run_out ls --status asleep --json
claim "a filter that does not exist" refused "status is one of"
run_out schedule preview "0 24 * * *" --json
claim "a cron expression that cannot be read" refused '"status":422' '"pointer":"/cron"' '"column":3' "midnight is hour 0"
run_out schedule run 0123456789ab --json
claim "a schedule that does not exist" refused '"code":"not_found"'
run_out show key:nobody --json
claim "a key that nobody has" refused '"code":"not_found"' "no execution has the key nobody"
run_out show zzzz --json
claim "an id that nobody has" refused '"code":"not_found"' "ends with zzzz"
run_out cancel "$id" --json
claim "an execution that has ended" refused '"status":409'
run_out signal "$id" approved --json
claim "a signal that comes too late" refused '"status":409'
run_out record get none 1 --json
claim "a record that is not there" refused '"status":404'
run_out dlq show nothing --json
claim "a dead letter that is not there" refused '"code":'
run_out config get none --json
claim "a value that is not there" refused '"status":404'
run_out retry --where status=asleep --json
claim "a condition for many" refused "status"
echo '{"code": "typo", "steps": [{"code": "a", "whn": true}]}' >typo.json
run_out apply typo.json --json
claim "findings of a definition are in it" refused '"status":422' "/steps/0" "did you mean"
claim "and told with the file" grep -q "typo.json:1:[0-9]*:/steps/0" errors
PAWL_TOKEN=wrong run_out ls --json
claim "a wrong token" refused '"status":401'

end_claims
