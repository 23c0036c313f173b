#!/usr/bin/env bash
# pawl answer takes whatever names an execution; what lists needs no second word.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

start_server
admin=$("$pawl" user ls --json | sed -n 's/.*"id":"\([^"]*\)","name":"admin".*/\1/p')
cat >ask.json <<JSON
{"code": "ask", "steps": [{"code": "a", "procedure":
  {"type": "wait.signal", "signalType": "done", "assignee": "$admin"}}]}
JSON
run apply ask.json
claim "the definition is published" said 0
ended() {
    for _ in $(seq 500); do
        run show "$1" --json
        [[ $out == *'"status":"completed"'* ]] && return 0
        sleep 0.02
    done
    return 1
}

run start ask --key k1
run answer @last '{"n": 1}'
claim "@last is the execution that was started last" said 0 "answered"
claim "it has the answer" ended key:k1
run start ask --key k2
run answer key:k2
claim "key:K is the execution with this key" said 0 "answered"
claim "it has the answer" ended key:k2
run start ask --key k3 --json
id=$(sed -n 's/^{"id":"\([^"]*\)".*/\1/p' <<<"$out")
run answer "$id" '{}'
claim "the id of an execution will do" said 0 "answered"
run start ask --key k4 --json
id=$(sed -n 's/^{"id":"\([^"]*\)".*/\1/p' <<<"$out")
run answer "${id: -8}"
claim "and the end of it" said 0 "answered"
claim "it has the answer" ended key:k4
run answer key:k4
claim "what does not wait is told" said 1 "nothing of key:k4 waits for you"
run answer key:nobody
claim "so is a key that nothing has" said 1 "no execution has the key"

for what in user credential config; do
    run "$what"
    claim "pawl $what lists" said 0
    run "$what" --json
    claim "pawl $what --json lists" said 0 '"items":'
done

end_claims
