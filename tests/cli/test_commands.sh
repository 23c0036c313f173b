#!/usr/bin/env bash
# The commands, end to end: a real server in a folder of its own, killed and started again.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

# --- without a server ---

PAWL_URL=http://127.0.0.1:1
run ls
claim "without a server it says how to start one" said 1 "no server at" "pawl serve"
run frobnicate
claim "an unknown command is wrong usage" said 2 "there is no command"
run start
claim "a missing argument is wrong usage" said 2 "usage: pawl start CODE"
run move --to postgres://x
claim "an option that is needed is named" said 2 "--from URL is needed" "usage: pawl move"
run ls --limt 3
claim "an unknown option has a hint" said 2 "did you mean --limit?"
run help serve
claim "help explains a command" said 0 "--listen HOST:PORT"
run validate "$examples/greeting.json" "$examples/approval.json"
claim "the examples are valid" said 0 "greeting.json: valid" "approval.json: valid"
cat >broken.json <<'JSON'
{"code": "broken", "steps": [{"code": "a", "whn": "true",
  "procedure": {"type": "compute.transform", "data": {"x": "=1 +"}}}]}
JSON
run validate broken.json
claim "mistakes are told with line, column, pointer and step" said 1 \
    "broken.json:1:44:/steps/0/whn: step a: " "did you mean 'when'?" \
    "broken.json:2:65:/steps/0/procedure/data/x: step a: "
run validate broken.json --json
claim "and so in JSON" said 1 '"place":{"line":1,"column":44}' '"place":{"line":2,"column":65}'
cat >broken.jsonc <<'JSON'
// The first try.
{"code": "broken", /* über */ "steps": [{"code": "a", "whn": "true",
  "procedure": {"type": "log", "message": "hello"},},],}
JSON
run validate broken.jsonc
claim "comments and trailing commas are read" said 1 "broken.jsonc:2:55:/steps/0/whn: step a: "
cat >broken.yaml <<'YAML'
# The first try.
code: broken
steps:
  - code: a
    whn: no
    procedure: {type: compute.transform, data: {x: =1 +}}
YAML
run validate broken.yaml
claim "YAML is read, and mistakes point into it" said 1 "broken.yaml:5:5:/steps/0/whn: step a: " \
    "broken.yaml:6:56:/steps/0/procedure/data/x: step a: "
printf 'code: a\nsteps:\n\t- code: b\n' >tab.yaml
run validate tab.yaml broken.json --json
claim "a file that cannot be read is in the JSON too" said 1 '[{"pointer":"","code":"invalid"' \
    '"place":{"line":3,"column":1}' "a tab stands here" '"place":{"line":1,"column":44}'
cat >valid.yaml <<'YAML'
code: greet_all
input:
  - {name: who, type: string, required: true}
steps:
  - code: say
    procedure: {type: log, message: "Hello {{ input.who }}"}
YAML
cat >valid.test.yaml <<'YAML'
- name: it says hello
  scenario: greet_all
  input: {who: Ada}
  expect: {status: completed}
YAML
run validate valid.yaml
claim "a definition in YAML" said 0 "valid.yaml: valid"
run test valid.yaml valid.test.yaml
claim "tests in YAML" said 0 "1 passed, 0 failed"
mkdir together && cp valid.yaml together/greet_all.yaml && cp valid.test.yaml together
run test together/valid.test.yaml
claim "a test finds its YAML beside it" said 0 "1 passed, 0 failed"
run test together
claim "a folder is all in it" said 0 "1 passed, 0 failed"
run validate together
claim "of a folder its definitions are checked" said 0 "greet_all.yaml: valid"
mkdir -p nested/greet && cp together/* nested/greet
echo '{"$id": "x", "type": "object", "properties": {}}' >nested/schema.json
run test nested
claim "folders below it are taken, and what is none of ours is left out" said 0 "1 passed, 0 failed" \
    "nested/schema.json is no definition and no test: left out"
run validate nested
claim "so it is when definitions are checked" said 0 "nested/greet/greet_all.yaml: valid" "left out"
run validate nested/schema.json
claim "what was named is not left out" said 1 "nested/schema.json"
run validate "$examples"
claim "the folder of examples is valid" said 0 "order.json: valid"
echo '{"code": ' >cut.json
run validate cut.json
claim "bad JSON is told with line and column" said 1 "cut.json:2:1: "
PAWL_LISTEN=127.0.0.1:99 run serve --data elsewhere --print-config
claim "settings say where they came from" said 0 "elsewhere" "(option)" "127.0.0.1:99" \
    "(PAWL_LISTEN)" "(default)"
run serve --store postgres://me:secret@db/pawl --print-config --json
claim "passwords are not shown" said 0 '"store":{"value":"postgres://me:***@db/pawl"'
run serve --listen 0.0.0.0:0
claim "listening for other machines needs a word" said 2 "--allow-plain-http"
run serve --store mysql://me:secret@db/pawl
claim "a store that is none is wrong usage" said 2 "--store takes postgres://"
claim "its password is not told" test "${out/secret/}" = "$out"
run serve --listen nonsense
claim "an address without a port is wrong usage" said 2 "HOST:PORT"

# --- a server ---

start_server || exit 1
out=$(cat serve.out)
status=0
claim "the server says where it is" said 0 "listens on http://127.0.0.1:" "sign in" "pawl login"
out=$(stat -c %a pawl-data/admin.token)
claim "the token is its owner's alone" said 0 600
out=$(stat -c %a pawl-data/pawl.db)
claim "so is the store" said 0 600
run serve --listen 127.0.0.1:0
claim "two servers cannot have one folder" said 1 "pawl serve: "
claim "its token is not told where a journal may listen" test "$(grep -c pawl_ serve.out)" = 0
PAWL_TOKEN=wrong run ls
claim "a wrong token is refused" said 1 "PAWL_TOKEN"
run ls
claim "an empty list says what to do" said 0 "pawl start CODE"
run show @last
claim "there is no last one yet" said 1 "there is no execution yet"

# --- definitions ---

run apply broken.json
claim "a definition with mistakes is not published" said 1 "broken.json:1:44:/steps/0/whn: "
run start broken
claim "and does not exist" said 1 "not_found"
run apply "$examples/greeting.json" broken.json
claim "one mistake stops all files" said 1 "broken.json:"
run apply "$examples/greeting.json" "$examples/approval.json"
claim "apply says what was published" said 0 "greeting: published version 1" \
    "approval: published version 1"
run apply valid.yaml
claim "YAML is published" said 0 "greet_all: published version 1"
run apply broken.yaml
claim "what the server finds points into the YAML" said 1 "broken.yaml:5:5:/steps/0/whn: step a: "
run start greet_all --input @<(echo 'who: Ada') --wait
claim "input may be YAML too" said 0 "completed"
run apply "$examples/greeting.json"
claim "what has not changed is not published again" said 0 "greeting: unchanged, version 1"
sed 's/Hello/Hi/' "$examples/greeting.json" >greeting2.json
run apply greeting2.json --summary "shorter" --json
claim "a change is the next version" said 0 '"code":"greeting","action":"update","version":2'
run apply --draft broken.json
claim "a draft may be incomplete" said 0 "broken: draft 1"

# --- executions ---

run start greeting --input '{"name": "Ada"}' --wait
claim "a short process is done at once" said 0 " completed" "Hi, Ada!"
run show @last
claim "show tells each step" said 0 "greeting version 2" "greet" "skipped" "shout" "sign" \
    "It completed" "+0 ms" "by admin"
run start greeting --input '{"nam": "Ada"}'
claim "wrong input is refused with a hint" said 1 "/input/nam: " "did you mean 'name'?"
run start greeting --input '{"name": '
claim "input must be JSON" said 1 "--input:1:"
echo '{"name": "file"}' >input.json
run start greeting --input @input.json --wait
claim "input may be a file" said 0 "Hi, file!"
run start greeting --version 1 --wait
claim "an earlier version can be started" said 0 "Hello, world!"
run start approval --input '{"title": "Lunch", "amount": 12.5}' --key lunch-1
claim "a wait is told with its reason" said 0 " waiting" 'for the signal "approved" or "refused"' \
    " signal "
id=${out%% *}
run start approval --input '{"title": "Lunch", "amount": 12.5}' --key lunch-1
claim "a key belongs to one live execution" said 1 "key_busy" "$id"
run start approval --input '{"title": "Slow", "amount": 1}' --key slow-1 --wait=50ms
claim "waiting for the end has an end" said 0 " waiting"
run ls --status waiting
claim "ls shows a table" said 0 "ID " "CODE " "approval" "decision" "lunch-1"
run ls --code greeting --limit 1 --json
claim "ls --json is one page of the API" said 0 '"items":[{' '"nextCursor":"'
run ls --from 2h --to 0.000001s --status waiting
claim "times may be told by how long ago they were" said 0 "lunch-1"
run ls --to 2h
claim "so may an end" said 0 "no execution matches"
run ls --status asleep
claim "a status that does not exist is refused" said 1 "status is one of"
run show "${id: -12}"
claim "the end of an id is enough" said 0 "$id"
run show "$(tr a-f A-F <<<"${id: -12}")"
claim "in capitals too" said 0 "$id"
run show zzzz
claim "an id that nobody has is refused" said 1 "ends with zzzz" "ls\` lists them"
run show 7
claim "an end that is too short is refused" said 1 "4 characters or more"
run show key:nobody
claim "a key that nobody has is refused" said 1 "no execution has the key nobody"
run show key:
claim "a key that is empty is nobody's" said 1 "needs a key"
run start lunch --version two
claim "a version that is no number is wrong usage" said 2 "--version takes a number from 1 on, not two"
run migrate @last --version 0
claim "so is one that no version has" said 2 "pawl migrate: --version takes a number from 1 on, not 0"
run show key:lunch-1
claim "show says since when it waits, until when, and what to type" said 0 \
    'It waits at step decision for the signal "approved" or "refused", since ' " ago, until 2" \
    "(in 24 h)" "Send it with: " " signal key:lunch-1 approved" "now  decision  waiting"
run show key:lunch-1 --json
claim "show --json has execution and steps" said 0 '{"execution":{"id":"'"$id" '"steps":[{'
run signal key:lunch-1 approved '{"by": "Grace"}' --id s1 --wait
claim "a signal moves it on" said 0 "signal s1 was received" "took it and completed" \
    "It completed" '"approved":true'
run signal "$id" approved '{"by": "Grace"}' --id s1
claim "the same signal twice is received once" said 0 "signal s1 was received"
run signal "$id" approved '{}' --id s2
claim "a new signal to an ended execution is refused" said 1 "conflict"
cat >paid.json <<'EOF'
{"code": "paid", "steps": [{"code": "pay", "procedure":
    {"type": "wait.signal", "signalType": "paid", "correlation": "$.input.order"}}]}
EOF
run apply paid.json
run signal correlation:o-1 paid '{"sum": 5}' --id first --ttl 1h
claim "a signal that nothing waits for is kept" said 0 "signal first is kept"
run start paid --input '{"order": "o-1"}' --wait
claim "and taken by the wait that begins" said 0 " completed" '"sum":5'
run start paid --input '{"order": "o 2"}'
claim "a wait is told with its correlation" said 0 "with the correlation 'o 2'"
paid=${out%% *}
run signal "correlation:o 2" paid
claim "a signal finds a wait by it" said 0 "was received by $paid"
run signal correlation:o-1 paid --ttl soon
claim "a time that is none is refused" said 1 'ttl is a duration such as "30s"'
claim "what is wrong is said once" [ "$(grep -c 'ttl is a duration' <<<"$out")" = 1 ]
run signal key:o-1 paid --ttl 1h
claim "a signal to an execution is not kept for a time" said 2 "usage: "
run show "$id"
claim "show tells who sent a signal" said 0 "signal" 'from admin {"by":"Grace"}' \
    "took the signal approved from admin"
run start approval --input '{"title": "Mine", "amount": 1}' --key mine-1
mine=${out%% *}
XDG_STATE_HOME=$scratch/other run start approval --input '{"title": "Theirs", "amount": 1}'
theirs=${out%% *}
run show @last
claim "@last is what I have started last" said 0 "$mine"
XDG_STATE_HOME=$scratch/nobody run show @last
claim "or the newest when I have started none" said 0 "$theirs"
echo "$PAWL_URL 00000000-0000-7000-8000-000000000000" >"$scratch/other/pawl/last"
XDG_STATE_HOME=$scratch/other run show @last
claim "or when mine is gone" said 0 "$theirs"
XDG_STATE_HOME=/dev/null run start approval --input '{"title": "No home", "amount": 1}'
claim "nowhere to remember it is no failure" said 0 " waiting"
run cancel key:slow-1 --reason "no longer needed"
claim "an execution can be cancelled" said 0 "is being cancelled"
claim "and is cancelled then" eventually 0 "It was cancelled" show key:slow-1
run cancel key:slow-1
claim "but not twice" said 1 "conflict"

# --- followed ---

run watch "$id"
claim "watch tells what has happened" said 0 "prepare   completed" "outcome   completed" \
    "It completed"
run watch "$id" --json
claim "watch --json has one line for each event" said 0 '{"event":"step","data":{"id":"' \
    '{"event":"status","data":{'
run watch key:slow-1
claim "watching what was cancelled ends with 1" said 1 "It was cancelled"
run watch nobody-here
claim "watching nothing is refused" said 1 "ends with nobody-here"
"$pawl" watch key:mine-1 >watch.out 2>watch.err &
watcher=$!
watched() {
    for _ in $(seq 6000); do
        grep -q -- "$1" "$2" && return 0
        sleep 0.02
    done
    out=$(cat watch.out watch.err)
    return 1
}
claim "watch tells why it waits" watched 'decision  waiting .*for the signal "approved"' watch.out

# --- killed and started again ---

cat >nap.json <<'JSON'
{"code": "nap", "steps": [
  {"code": "sleep", "procedure": {"type": "wait.timer", "duration": "300ms"}},
  {"code": "awake", "procedure": {"type": "compute.transform", "data": {"slept": true}}}]}
JSON
run apply nap.json
run start nap --key nap-1
run start approval --input '{"title": "Dinner", "amount": 30}' --key dinner-1
kill -KILL "$server"
wait "$server" 2>/dev/null
run ls
claim "a killed server is gone" said 1 "no server at"
claim "who watches is told that the server is away" watched "the server is away" watch.err
address=${PAWL_URL#http://}
# A connection of somebody may have got its port for a moment.
for _ in $(seq 100); do
    start_server --listen "$address" >/dev/null && break
    sleep 0.1
done
claim "it starts again in the same folder" [ "$PAWL_URL" = "http://$address" ]
run signal key:mine-1 approved '{"by": "Linus"}'
claim "and takes signals" said 0 "was received"
wait "$watcher"
status=$?
out=$(cat watch.out)
claim "who watches goes on where it was" said 0 "outcome   completed" "It completed"
out=$(grep -c "prepare " watch.out)
claim "and is told nothing twice" said 0 1
claim "a timer goes on after a kill" eventually 0 '"slept":true' show key:nap-1
run show key:dinner-1
claim "a wait goes on after a kill" said 0 'for the signal "approved"'
run signal key:dinner-1 refused --wait
claim "and takes its signal" said 0 "It completed" '"approved":false'
run show "$id"
claim "what had ended is as it was" said 0 "It completed" '"approved":true'

# --- stopped ---

run start approval --input '{"title": "Tea", "amount": 2}' --key tea-1
"$pawl" start approval --input '{"title": "Cake", "amount": 3}' --key cake-1 --wait=60s >wait.out 2>&1 &
waiter=$!
claim "a client waits" eventually 0 '"status":"waiting"' show key:cake-1 --json
kill -TERM "$server"
wait "$server"
status=$?
server=
out=$(cat serve.err)
claim "SIGTERM ends with status 0" said 0 "stopping"
wait "$waiter"
status=$?
out=$(cat wait.out)
claim "who waited was told where it stands" said 0 " waiting"
start_server
run show key:tea-1
claim "and everything is there at the next start" said 0 'for the signal "approved"'

end_claims
