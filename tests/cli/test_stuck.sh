#!/usr/bin/env bash
# pawl doctor beside executions that a person has to see to: never "All is well".
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

sql() { sqlite3 -cmd '.timeout 60000' pawl-data/pawl.db "$@"; }
not_well() { [[ $out != *"All is well"* ]]; }
silent_on() { [[ $out != *"$1"* ]]; }

cat >all.json <<'JSON'
{"items": [
{"code": "sleeper", "steps": [{"code": "rest", "procedure": {"type": "wait.timer", "duration": "1h"}}]},
{"code": "kid", "steps": [{"code": "ask", "procedure": {"type": "wait.signal", "signalType": "go"}}]},
{"code": "parent", "steps": [{"code": "run", "procedure": {"type": "flow.start", "code": "kid", "wait": true}}]},
{"code": "both", "steps": [{"code": "side", "parallel": {"branches": [
  [{"code": "listen", "procedure": {"type": "wait.signal", "signalType": "go"}}],
  [{"code": "run", "procedure": {"type": "flow.start", "code": "kid", "wait": true}}]]}}]},
{"code": "torn", "steps": [
  {"code": "pay", "procedure": {"type": "compute.set", "values": {"a": 1}},
   "rollback": {"type": "compute.fail", "code": "stuck", "message": "no"}},
  {"code": "stop", "procedure": {"type": "compute.fail", "code": "no_luck", "message": "bad luck"}}]}
]}
JSON
start_server
run apply all.json
claim "the definitions are published" said 0
run doctor
claim "all is well at first" said 0 "none is held, parked or asleep" "none is open"
for code in sleeper sleeper parent both; do run start "$code" --key "$code-$RANDOM"; done
run doctor
claim "what waits is well" said 0 "none is held, parked or asleep"

run start torn
for _ in $(seq 500); do
    run dlq --json
    [[ $out != *'"compensation"'* ]] || break
    sleep 0.02
done
run doctor
claim "a rollback that was given up is told" said 0 "warning  dead letters" "1 open: 1 of the kind compensation" "pawl dlq"
claim "... and all is not well" not_well

kill -KILL "$server"
wait "$server" 2>/dev/null
server=
sql "UPDATE execution SET crash_count = 5 WHERE row = (SELECT min(row) FROM execution WHERE scenario_code = 'sleeper')"
run doctor
claim "a parked execution is told" said 1 "problem  parked" "1 put aside" "pawl show 0" "pawl cancel"
sql "UPDATE execution SET wake_at = NULL, updated_at = updated_at - 120000000 WHERE row = (SELECT max(row) FROM execution WHERE scenario_code = 'sleeper')"
run doctor
claim "a timer that will never be due is told" said 1 "problem  asleep" "1 that nothing will wake" "pawl show 0"
sql "UPDATE execution SET status = 'completed', updated_at = updated_at - 120000000 WHERE scenario_code = 'kid';
     UPDATE execution SET updated_at = updated_at - 120000000 WHERE scenario_code = 'parent'"
run doctor
claim "a parent of a child that has ended is told" said 1 "2 that nothing will wake"
sql "UPDATE execution SET updated_at = updated_at - 120000000 WHERE scenario_code = 'both'"
run doctor
claim "... also when a branch waits for it beside another" said 1 "3 that nothing will wake"
sql "UPDATE execution SET deleted_at = updated_at WHERE scenario_code = 'torn'"
run doctor
claim "a deletion that is under way is none of doctor's" said 1
claim "... so it says nothing" silent_on "deleted in part"
sql "UPDATE execution SET deleted_at = updated_at - 1200000000 WHERE scenario_code = 'torn'"
run doctor
claim "what a deletion has left is told" said 1 "warning  deleted in part" "1 deleted, and rows of them are left" "--keep-completed"
claim "... and all is not well" not_well

end_claims
