#!/usr/bin/env bash
# What operators do to executions, and how it can be seen afterwards.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

# Until the execution that was started last has ended.
wait_end() {
    for _ in $(seq 500); do
        run show @last --json
        [[ $out != *'"completedAt":null,"updatedAt"'* ]] && return
        sleep 0.02
    done
}

cat >all.json <<'JSON'
{"items": [
{"code": "paid", "steps": [
  {"code": "pay", "procedure": {"type": "compute.set", "values": {"paid": "yes"}},
   "rollback": {"type": "compute.set", "values": {"paid": "back"}}},
  {"code": "ask", "procedure": {"type": "wait.signal", "signalType": "go"}}]},
{"code": "typo", "onError": "hold", "input": [{"name": "n", "type": "integer", "default": 0}],
 "steps": [{"code": "divide", "procedure": {"type": "compute.transform", "data": "=1 / $.input.n"}}]}
]}
JSON
start_server
run apply all.json
claim "the definitions are published" said 0

for none in '' ' ,,'; do
    run start paid --key none --breakpoint "$none"
    claim "--breakpoint '$none' names no step: nothing is started" said 2 "it names none"
done
run ls --json
claim "... not even to its end" said 0 '"items":[]'

run start paid --key a
run cancel key:a --reason "the customer left"
claim "cancel begins" said 0 "is being cancelled"
wait_end
run show @last
claim "show says who cancelled and why" said 0 "operator" "cancelled" "the customer left"
run audit --action execution.cancel --json
claim "the audit log says why" said 0 '"reason":"the customer left"'
run start paid --key b
run cancel key:b --no-compensate
claim "cancel --no-compensate" said 0
wait_end
run show @last --json
claim "... leaves what was done" said 0 '"paid":"yes"'
run start paid --key c
run cancel --where "key=c" --compensate
claim "cancel --where --compensate" said 0 "1 of 1 executions are cancelled"
wait_end
run show @last --json
claim "... rolls back" said 0 '"paid":"back"'
run cancel @last --compensate --no-compensate
claim "not both" said 2 "not both"

run start typo
run retry @last --input '{"n": 2}' --json
claim "--json says what was accepted" said 0 '"accepted":true}'
run show @last
claim "show says that the input was replaced" said 0 "operator" "retry" "with another input"

run start paid --key d
run signal key:d gone
claim "a signal that nobody waits for is told" said 0 "was received" "nobody waits for it yet" 'the signal "go"'
run signal key:d gone --wait=100ms
claim "with --wait it is no success" said 1 "nobody waits for it yet" "no step took it in that time"
run signal key:d go --wait
claim "one that is taken is" said 0 "took it and completed"

run start typo --key a-key-that-is-so-long-that-no-table-of-eighty-columns-has-room-for-it
run ls --status waiting
claim "ls says what is held" said 0 "held: expression_error"
COLUMNS=80 run ls
claim "ls fits the width" [ "$(awk '{ if (length > most) most = length } END { print most <= 80 }' <<<"$out")" = 1 ]
run ls --code nothing
claim "nothing matches is no advice to start one" said 0 "no execution matches"

run start piad
claim "a misspelt process has a suggestion" said 1 "did you mean 'paid'?"
claim "... which is said once" [ "$(grep -o 'did you mean' <<<"$out" | wc -l)" = 1 ]
run migrate key:d
claim "what a command needs is named" said 2 "--version N is needed: the version to go on with"
run dlq resolve x
claim "... of a word behind it, too" said 2 "--note TEXT is needed"
run schedule pausse
claim "a word that is none is told" said 2 "there is no 'pausse' here: ls, pause, resume, run, preview"
run schedule pause
claim "a word that lacks something is told" said 2 "pause: something is missing behind it"
run user add Ada
claim "a user needs a role" said 2 "--role R is needed"

mkdir definitions
cp "$examples"/order.json "$examples"/approval.json "$examples"/*.test.json definitions
run validate definitions
claim "validate takes a folder, without its tests" said 0 "definitions/approval.json: valid" "definitions/order.json: valid"
run validate definitions/*.json
claim "tests beside definitions are left out" said 0 "files of tests left out" "pawl test"
run apply definitions
claim "apply takes a folder" said 0 "approval" "order"
mkdir empty
run apply empty
claim "a folder without definitions is told" said 1 "no definitions"

end_claims
