#!/usr/bin/env bash
# Commands that act on many executions, and on records, against a real server.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

start_server || exit 1
cat >wait.json <<'JSON'
{"code": "wait", "steps": [
  {"code": "ask", "procedure": {"type": "wait.signal", "signalType": "go"}},
  {"code": "done", "procedure": {"type": "compute.transform", "data": {"got": "$.steps.ask.payload"}}}]}
JSON
sed 's/"code": "wait"/"code": "other"/' wait.json >other.json
run apply wait.json other.json
claim "definitions are there" said 0

# --- lists ---

for i in 1 2 3 4 5; do run start wait --key "w-$i"; done
run start other --key o-1
run ls --code wait --status waiting,failed --step ask --from 2020-01-01
claim "conditions are joined" said 0 w-1 w-5 STARTED
claim "and what does not fit is left out" test "${out/o-1/}" = "$out"
run ls --code wait --limit 2
claim "a short list says that there is more" said 0 "--all lists them" w-5
run ls --code wait --limit 2 --all
claim "all pages come with --all" said 0 w-1 w-3 w-5
run audit --limit 2 --all
claim "a list of several pages is one table, with one head" test "$(grep -c '^AT ' <<<"$out")" = 1
run ls --all --json --limit 2
claim "and are one JSON value" said 0 '"items":[{' '"nextCursor":null'
run ls -q o-1
claim "-q searches" said 0 o-1
run ls --status nothing
claim "a wrong condition is told" said 1 "status is one of"

# --- many at once ---

run signal --where "code=wait key=w-1" go '{"n": 1}' --dry-run
claim "a dry run counts" said 0 "1 of 1 executions would be signalled"
run signal --where "code=wait key=w-1" go '{"n": 1}'
claim "a signal goes to those that match" said 0 "1 of 1 executions are signalled"
claim "and arrives" eventually 0 '"n":1' show key:w-1
run cancel --where "code=wait status=waiting" --dry-run --json
claim "the counts are JSON when asked" said 0 '"matched":4' '"done":0' '"dryRun":true'
run ls --code wait --status waiting
claim "a dry run changes nothing" said 0 w-2 w-5
run cancel --where "code=wait" --reason "no longer needed"
claim "what has ended is told apart" said 0 "4 of 5 executions are cancelled" "1 is in a state"
run cancel --where ""
claim "no condition is a mistake" said 2 "needs a condition"
run cancel --where "waiting"
claim "so is one without a value" said 2 "takes conditions such as"
run cancel --where "stauts=waiting"
claim "an unknown condition is refused by the server" said 1 "there is no condition"
run cancel --where 'key="a b"'
claim "a value in quotes has spaces" said 0 "0 of 0"
run cancel --dry-run
claim "--dry-run needs --where" said 2 usage

# --- repairing ---

cat >hold.json <<'JSON'
{"code": "hold", "onError": "hold", "steps": [
    {"code": "one", "procedure": {"type": "compute.transform", "data": "=$.input.n"}},
    {"code": "two", "procedure": {"type": "compute.transform", "data": "=10 / $.input.n"}},
    {"code": "ask", "procedure": {"type": "wait.signal", "signalType": "go"}}]}
JSON
run apply hold.json
for i in 1 2 3 4; do run start hold --key "h-$i" --input '{"n": 0}'; done
run retry key:h-1
claim "a held one is tried again" said 0 "is tried again"
run retry key:h-1 --from noe
claim "a wrong step is told with what was meant" said 1 "there is no step" "did you mean 'one'?"
run retry key:h-1 --from one --input '{"n": 5}'
claim "from another step, with another input" said 0 "is tried again"
run show key:h-1
claim "and goes on" said 0 "ask"
run skip key:h-2 --output '{"n": 1}'
claim "a step is skipped with an output" said 0 "is going on without the step"
run skip key:h-2
claim "what is not held has no step to skip" said 1 "only an execution that is held or waits for a worker"
run retry --where "code=hold" --dry-run
claim "those that could be tried again are counted" said 0 "2 of 4 executions would be tried again" "2 are in a state"
run retry --where "code=hold" --input '{"n": 2}'
claim "and many are" said 0 "2 of 4 executions are tried again"
run migrate key:h-3 --version 7
claim "a version that is not there is told" said 1 "there is no version 7"
run migrate key:h-3
claim "a migration needs a version" said 2 usage
run migrate key:h-3 --version x
claim "which is a number" said 2 "--version takes a number"
run migrate --where "code=hold status=waiting" --version 1
claim "many go on with a version" said 0 "4 of 4 executions are of the other version now"
run skip --where "code=hold"
claim "those that are not held are told apart" said 0 "0 of 4" "4 are in a state"
run retry --dry-run
claim "--dry-run needs --where here too" said 2 usage

# --- deleting ---

run delete key:o-1
claim "what lives is not deleted" said 1 "cancel it first"
run delete key:w-1
claim "what has ended is" said 0 "is deleted"
run delete --where "code=wait status=cancelled"
claim "also many" said 0 "4 of 4 executions are deleted"
run ls --code wait
claim "nothing is left" said 0 "no execution matches"

# --- dead letters ---

cat >held.json <<'EOF'
{"code": "held", "onError": "hold", "steps": [{"code": "pay", "input": {"n": 7},
 "procedure": {"type": "compute.fail", "code": "declined", "message": "no \u001b[31mmoney"}}]}
EOF
run dlq
claim "without dead letters there is nothing to list" said 0 "no dead letters"
run dlq --json
claim "which as JSON is an empty list" [ "$out" = '{"items":[],"nextCursor":null}' ]
run record ls nothing --json
claim "as it is for records" [ "$out" = '{"items":[],"nextCursor":null}' ]
run config ls --json
claim "and config" [ "$out" = '{"items":[],"nextCursor":null}' ]
run apply held.json
run start held
run start held
run dlq ls
claim "dead letters are listed" said 0 "ID" "incident" "held" "pay" "open" "declined"
run dlq ls --limit 1 --json
letter=$(printf '%s' "$out" | sed -n 's/^{"items":\[{"id":"\([^"]*\)".*/\1/p')
claim "as JSON, too, which says that there are more" said 0 '"kind":"incident"' '],"nextCursor":"'
run dlq ls --execution @last --json
claim "also those of one execution" said 0 "$letter"
run dlq ls --status opn
claim "a status that is none is refused" said 1 "open, retried, resolved, all"
run dlq show "${letter: -12}"
claim "one is explained, without control characters" said 0 "incident $letter is open" "declined: no" '{"n":7}' "pawl dlq retry"
claim "nothing colours the terminal" [ "${out/$'\e'/}" = "$out" ]
run dlq resolve "$letter"
claim "resolving needs a note" said 2 "pawl dlq"
run dlq resolve "$letter" --note "paid by hand"
claim "it is resolved" said 0 "$letter is resolved"
run dlq resolve "$letter" --note "again"
claim "once" said 1 "resolved already"
run dlq show "$letter"
claim "and says by whom and why" said 0 "is resolved" "note       paid by hand"
run dlq show 000000000000
claim "an end that no letter has is told" said 1 "no dead letter"
run dlq show "$letter" --note x
claim "only resolve has a note" said 2 "pawl dlq"
run dlq ls --json
claim "the other is open still" said 0 '"status":"open"'
letter=$(printf '%s' "$out" | sed -n 's/^{"items":\[{"id":"\([^"]*\)".*/\1/p')
run dlq retry "$letter"
claim "it is tried again" said 0 "$letter is tried again"
run dlq show "$letter"
claim "which closes it" said 0 "is retried"
run dlq ls --status open --json
claim "and it failed again" said 0 '"status":"open"'
run start held
run dlq retry --where "code=held kind=incident" --dry-run
claim "of many it is counted first" said 0 "2 of 2 dead letters would be tried again"
run dlq retry --all --json
claim "all that are open are tried again" said 0 '"matched":2,"done":2,"failed":0'
run dlq retry --where "kind=incidnt"
claim "a condition that is none is refused" said 1 "kind is one of incident"
run dlq retry --dry-run
claim "a dry-run is of many" said 2 "pawl dlq"
run dlq ls --where "kind=incident"
claim "a list has options in place of conditions" said 2 "pawl dlq"
run dlq resolve --all --note x --outcome failed
claim "outcomes are said one by one" said 2 "pawl dlq"
run dlq resolve --all --note "by hand" --dry-run
claim "letters are counted before they are closed" said 0 "would be resolved"
run dlq resolve --where "code=nothing" --note "by hand"
claim "and closed by a condition" said 0 "0 of 0 dead letters are resolved"

# --- messages ---

cat >mails.json <<'EOF'
{"code": "mails", "steps": [{"code": "tell", "procedure": [
 {"type": "notification.email", "to": "a@example.com", "subject": "one", "body": "b"},
 {"type": "notification.email", "to": "b@example.com", "subject": "two", "body": "b"},
 {"type": "notification.email", "to": "c@example.com", "subject": "three", "body": "b"}]}]}
EOF
run apply mails.json
run start mails --wait
run outbox
claim "messages wait with the reason" said 0 "c@example.com" "it waits"
id=$(run outbox --json; sed 's/.*"items":\[{"id":"\([^"]*\)".*/\1/' <<<"$out")
run outbox show "$id"
claim "one is shown with what it says" said 0 '"subject":"three"' '"status":"pending"'
run outbox resolve "$id"
claim "it is not given up without a note" said 2 "pawl outbox"
run outbox resolve "$id" --note "she was called"
claim "with one it is" said 0 "is given up"
run outbox show "$id"
claim "and gone" said 1 "no such message"
run outbox retry --all --dry-run
claim "many are counted" said 0 "2 of 2 messages would be tried now"
run outbox retry --where "destination=email"
claim "and tried" said 0 "2 of 2 messages are tried now"
run outbox resolve --where "kind=letter" --note x
claim "conditions are checked" said 1 "kind is one of"
run outbox resolve --all --note "the mail server is gone"
claim "and given up" said 0 "2 of 2 messages are given up"
run outbox
claim "nothing is left to deliver" said 0 "nothing waits"
run outbox retry
claim "a retry says of what" said 2 "pawl outbox"

# --- records ---

run record set invoice I-1 '{"amount": 10}' --new
claim "a record is made" said 0 '"id":"I-1"' '"version":1'
run record set invoice I-1 '{"amount": 11}' --new
claim "once" said 1 "version 1 now"
run record set invoice I-1 '{"paid": true}' --merge --version 1
claim "it is changed under its version" said 0 '"amount":10' '"paid":true' '"version":2'
run record set invoice I-1 '{}' --version 1
claim "and not under another" said 1 precondition_failed
run record set invoice I-2 '{"amount": 99}'
run record ls invoice --order-by 'amount desc' --limit 1
claim "a list has an order" said 0 I-2 "--all lists them"
run record ls invoice --where 'record.amount < 50' --json
claim "and a condition" [ "$out" = '{"items":[{"id":"I-1","version":2,"amount":10,"paid":true}],"nextCursor":null}' ]
run record ls invoice --all --limit 1 --json
claim "all pages are one object" [ "$out" = '{"items":[{"id":"I-1","version":2,"amount":10,"paid":true},{"id":"I-2","version":1,"amount":99}],"nextCursor":null}' ]
run record ls invoice --where 'record.amount <'
claim "which is checked" said 1 expression_syntax
run record get invoice I-2
claim "one is shown" said 0 '"amount":99'
run record rm invoice I-2
claim "one is deleted" said 0 "is deleted"
run record get invoice I-2
claim "and gone" said 1 not_found
run record ls
claim "the objects are listed" said 0 invoice
run record ls --where 'true'
claim "objects have no fields" said 2 "pawl record"
run record frobnicate
claim "other words are wrong usage" said 2 "pawl record"

# --- retention ---

kill -TERM "$server"
wait "$server"
run serve --keep-completed soon
claim "what is no duration is refused" said 2 "such as 90d"
PAWL_KEEP_COMPLETED=90d run serve --print-config
claim "the setting is shown" said 0 keep-completed 90d PAWL_KEEP_COMPLETED

end_claims
