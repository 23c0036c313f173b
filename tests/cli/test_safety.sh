#!/usr/bin/env bash
# Backup, restore and doctor on real folders: while a server runs and writes, after it was killed,
# and on what is broken.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/rig.sh

# --- backup ---

run backup none.db
claim "a backup of nothing is refused" said 1 "there is no store in ./pawl-data" "--data"
claim "and makes nothing" [ ! -e none.db ]
start_server || exit 1
run apply "$examples/greeting.json" "$examples/approval.json"
run start approval --input '{"title": "Lunch", "amount": 1}' --key lunch-1
"$pawl" bench --connections 8 --seconds 2 >bench.out 2>&1 &
bench=$!
for _ in $(seq 200); do
    "$pawl" ls --code pawl_bench --limit 1 | grep -q pawl_bench && break
done
run backup busy.db
claim "a backup is made while the server writes" said 0 "backed up to busy.db: "
wait "$bench"
claim "which goes on" [ $? = 0 ]
run backup busy.db
claim "a file that exists is not written over" said 1 "busy.db exists already"
out=$(stat -c %a busy.db)
status=0
claim "a backup is its owner's alone" said 0 600
run backup nowhere/busy.db
claim "a backup into nowhere is refused" said 1 "cannot write nowhere/busy.db: No such file"
run backup busy2.db --json
claim "backup --json" said 0 '{"file":"busy2.db","bytes":'
claim "which needs no key while nothing is sealed" said 0 '"masterKey":null'
"$pawl" credential set erp --type api_key --base-url http://127.0.0.1:1 --header-name X-Key --secret s3cret >credential.out 2>&1
run backup sealed.db
claim "a backup with secrets says which key it needs" said 0 "sealed with the master key" \
    "pawl-data/master.key" "Without it the backup cannot be served"
run backup sealed2.db --json
key=$(sed -n 's/.*"masterKey":"\([0-9a-f]*\)".*/\1/p' <<<"$out")
claim "and --json names it" [ -n "$key" ]
echo "correct horse battery" >words
run backup keyed.db --with-key --passphrase-file words
claim "--with-key puts the key in, sealed" said 0 "The master key is in it, sealed"
claim "and not as it is" [ -z "$(grep -a "$(cat pawl-data/master.key)" keyed.db)" ]
echo short >few
run backup unkeyed.db --with-key --passphrase-file few
claim "a short passphrase is refused, and nothing is written" said 1 "a passphrase has from 8"
claim "no file" [ ! -e unkeyed.db ]
PAWL_MASTER_KEY=words run backup unkeyed.db --with-key --passphrase-file words
claim "so is what is no key" said 1 "words: "
openssl rand -hex 32 >other.key
PAWL_MASTER_KEY=$PWD/other.key run backup unkeyed.db --with-key --passphrase-file words
claim "so is another key than the one that is needed" said 1 "and the secrets in the store are sealed with $key"
run doctor
claim "doctor finds the key, and says that no backup holds it" said 0 "ok       master key" "keep a copy"
PAWL_STORE=postgres://db/pawl run backup pg.db
claim "PostgreSQL has its own tools" said 1 "pg_dump"

# --- among thousands of executions ---

# Ends of ids that several have; 2,000 ids share some of 65,536 ends almost surely. A slow machine has made fewer.
shared_end() {
    node -e '
    const [url, token] = process.argv.slice(1);
    let cursor = "";
    for (let page = 0; page < 4 && cursor !== null; page++) {
      const path = `/api/v1/executions?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      const { items, nextCursor } = await answer.json();
      for (const { id } of items) console.log(id);
      cursor = nextCursor;
    }' --input-type=module "$PAWL_URL" "$(cat pawl-data/admin.token)" >ids
    grep -oE '....$' ids | sort | uniq -d | head -n 1
}
end=$(shared_end)
for _ in $(seq 100); do
    [ -z "$end" ] || break
    "$pawl" bench --connections 8 --seconds 2 >bench.out 2>&1
    end=$(shared_end)
done
run show "$end"
claim "an end that several ids have is refused, with the candidates" said 1 \
    "ids end with $end; give more" $'\n  01' "$end  pawl_bench  completed  "
run show "$(grep -- "$end\$" ids | head -n 1)"
claim "the whole id is taken" said 0 "pawl_bench version 1"

# --- doctor beside a server ---

# A machine with few open files or little space is told of as well, and rightly.
well="All is well." one_of_each="1 problem, 1 warning."
files=$(ulimit -Hn)
if [ "$files" != unlimited ] && [ "$files" -lt 4096 ] || [ "$(df -Pm . | awk 'END { print $4 }')" -lt 1100 ]; then
    well="0 problems, " one_of_each="1 problem, "
fi
run doctor
claim "doctor finds a server that is well" said 0 "a server has the folder: process $server" \
    "ok       store" "the newest" "takes requests" "agree" "accepted" "none is held" "none is open" "$well"
run doctor --json
claim "doctor --json" said 0 '{"ok":true,"checks":[{"name":"data folder","level":"ok",'
run doctor --health
claim "the health of a server that is well is silence" said 0
claim "and nothing else" [ -z "$out" ]
PAWL_TOKEN=wrong run doctor
claim "doctor finds a wrong token" said 1 "problem  token" "-> set PAWL_TOKEN"
chmod 755 pawl-data
chmod 644 pawl-data/admin.token
run doctor
claim "doctor finds what others may read" said 1 "warning  data folder" "chmod 700 ./pawl-data" \
    "problem  admin token" "chmod 600 ./pawl-data/admin.token" "$one_of_each"
chmod 700 pawl-data
chmod 600 pawl-data/admin.token
cat >typo.json <<'JSON'
{"code": "typo", "steps": [
  {"code": "divide", "procedure": {"type": "compute.transform", "data": {"x": "=1 / ($.execution.visit - 1)"}}}]}
JSON
run apply typo.json
run start typo --key held-1
run doctor
claim "doctor finds what is held" said 0 "warning  held" "1 execution waits for an operator" \
    "pawl show 0" "warning  dead letters" "1 open: 1 of the kind incident" "pawl dlq" "0 problems, 2 warnings"
run show key:held-1
claim "show says who must act" said 0 "It is held at step divide" "An operator decides:" \
    " cancel key:held-1"

# --- killed, then backed up and looked at ---

kill -KILL "$server"
wait "$server" 2>/dev/null
server=
run backup killed.db
claim "a backup is made after a kill" said 0 "backed up to killed.db: "
url=$PAWL_URL
run doctor
claim "doctor says that no server answers" said 1 "free: no server has the folder" \
    "problem  server" "pawl serve"
run doctor --health
claim "and so does its short form" said 1 "no answer from $url"
unset PAWL_URL
run doctor --data nothing-here
claim "a folder that is not there yet is no problem" said 0 "warning  data folder" \
    "warning  server"
export PAWL_URL

# --- restore ---

run restore busy.db --data pawl-data
claim "restoring over a store is refused" said 1 "pawl-data is not empty"
mkdir full
touch full/mine.txt
run restore busy.db --data full
claim "a folder with anything in it is refused" said 1 "it holds mine.txt"
claim "and left as it was" [ "$(ls -A full)" = mine.txt ]
head -c 5000 busy.db >cut.db
for file in cut.db serve.out /dev/null; do
    run restore "$file" --data new
    claim "$file is no backup" said 1 "is not a backup of Pawl, or it is damaged"
    claim "and leaves nothing of $file" [ ! -e new ]
done
run restore missing.db --data new
claim "a file that is not there is told" said 1 "cannot read missing.db"
# One byte in the middle of a page in the middle of the file.
cp busy.db bad.db
bytes=$(stat -c %s bad.db)
dd if=/dev/zero of=bad.db bs=4096 seek=$((bytes / 8192)) count=3 conv=notrunc 2>/dev/null
run restore bad.db --data new
claim "a damaged backup is refused" said 1 "bad.db is damaged: its bytes are not those"
claim "and leaves nothing" [ ! -e new ]
# Text in a row, which SQLite has no means to miss.
cp busy.db bad.db
at=$(grep -abo lunch-1 bad.db | head -n 1 | cut -d : -f 1)
printf dinner | dd of=bad.db bs=1 seek="$at" conv=notrunc 2>/dev/null
run restore bad.db --data new
claim "a changed text is damage, too" said 1 "bad.db is damaged: its bytes are not those"
claim "and leaves nothing either" [ ! -e new ]
# As earlier versions made them: without the sum at the end.
sum=$(tail -c 77 busy.db)
head -c -77 busy.db >old.db
claim "a backup ends with its sum" [ "${sum:0:12}" = "pawl backup " ]
run restore old.db --data new-of-old
claim "one without a sum is taken" said 0 "restored into new-of-old"
run restore busy.db --data new
claim "a whole one is restored" said 0 "restored into new: " "whole" "serve --data new"
start_server --data new
claim "and a server starts on it" [ $? = 0 ]
export PAWL_DATA=new
run signal key:lunch-1 approved '{"by": "Grace"}' --wait
claim "what waited goes on there" said 0 "It completed" '"approved":true'
run doctor
claim "and doctor finds it well" said 0 "$well"
stop_server
unset PAWL_DATA
mkdir empty
run restore killed.db --data empty --json
claim "an empty folder is fine, and --json" said 0 '{"data":"empty","bytes":'

run restore keyed.db --data keyed --passphrase-file few
claim "a key is not taken out with other words" said 1 "a passphrase has from 8"
run restore keyed.db --data keyed --passphrase-file other.key
claim "nor with long ones" said 1 "this is another passphrase"
claim "and nothing is made" [ ! -e keyed ]
run restore keyed.db --data keyless --without-key
claim "it can be left where it is" said 0 "sealed with the master key $key"
claim "and then is not there" [ ! -e keyless/master.key ]
run restore keyed.db --data keyed --passphrase-file words
claim "with the right words it is there" said 0 "Its master key is keyed/master.key"
claim "as it was, for its owner alone" [ "$(cat keyed/master.key) $(stat -c %a keyed/master.key)" = "$(cat pawl-data/master.key) 600" ]
start_server --data keyed --paused
claim "and a server starts with it" [ $? = 0 ]
stop_server
run restore sealed.db --data sealed
claim "restoring says which key is to be brought" said 0 "master key $key" "sealed/master.key first"
run doctor --data sealed
claim "doctor says that the key is missing" said 1 "problem  master key" "$key"
run serve --data sealed --listen 127.0.0.1:0
claim "without it no server starts" said 1 "master key of this installation" "$key" "sealed/master.key"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >sealed/master.key
chmod 600 sealed/master.key
run doctor --data sealed
claim "nor is another key good" said 1 "problem  master key" "$key"
cp -p pawl-data/master.key sealed/
start_server --data sealed
claim "with it one does" [ $? = 0 ]
stop_server
run restore sealed2.db --data sealed3 --json
claim "restore --json names the key" said 0 "\"masterKey\":\"$key\""

# --- doctor on what is broken ---

dd if=/dev/zero of=empty/pawl.db bs=4096 seek=$(($(stat -c %s empty/pawl.db) / 8192)) count=3 \
    conv=notrunc 2>/dev/null
run doctor --data empty
claim "doctor finds a damaged file" said 1 "problem  store" "pawl restore FILE --data"
echo "no database at all, just a text" >empty/pawl.db
run doctor --data empty
claim "or what is no database" said 1 "problem  store" "pawl restore FILE --data"
printf '\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20' >empty/poison
run doctor --data empty
claim "doctor finds what the server died of" said 1 "warning  last stop" \
    "01020304-0506-0708-090a-0b0c0d0e0f10"
TZDIR=/nonexistent run doctor --data nothing-here
claim "doctor finds missing time zones" said 1 "problem  time zones" "tzdata"
run doctor --store postgres://127.0.0.1:1/none
claim "doctor finds a PostgreSQL that does not answer" said 1 "problem  store" "--store"

end_claims
