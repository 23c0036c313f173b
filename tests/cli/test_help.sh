#!/usr/bin/env bash
# What the table of commands becomes: help, pages for man, completion in real shells.
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
. tests/cli/rig.sh

ln -s "$pawl" pawl
export PATH=$scratch:$PATH
PAWL_URL=http://127.0.0.1:1 # nobody listens there

has() {
    [[ $out == *"$1"* ]]
}

lacks() {
    [[ $out != *"$1"* ]]
}

is() {
    [ "$out" = "$1" ]
}

# --- the table and the commands ---

mapfile -t commands < <(sed -n 's/^\(COMMAND\|REMOTE\|ACT\)(\([a-z_]*\),.*/\2/p' "$root/src/cli/commands.def")
out=${#commands[@]}
claim "the table is read" [ "$out" -ge 15 ]
for command in "${commands[@]}"; do
    command=${command//_/-}
    out=$(pawl help "$command" 2>&1)
    claim "help explains $command" has "pawl $command - "
    out=$(pawl "$command" --help 2>&1)
    claim "$command --help is the same" [ "$out" = "$(pawl help "$command")" ]
    out=$(pawl help | grep -c "^  $command ")
    claim "the list has $command" is 1
    out=$(awk 'length > 100' < <(pawl help "$command"))
    claim "help of $command fits" is ""
done
out=$(pawl help --man | grep -c '^\.BR pawl')
claim "the page of the program lists all commands" is "${#commands[@]}"
out=$(pawl frobnicate 2>&1; echo "$?")
claim "an unknown command is wrong usage" has $'lists them\n2'
out=$(pawl strat 2>&1; echo "$?")
claim "a near miss has a hint" has 'did you mean "start"?'
out=$(pawl show --jsno x 2>&1; echo "$?")
claim "an unknown option has a hint" has "did you mean --json?"
out=$(pawl 2>&1 >/dev/null; echo "$?")
claim "nothing is wrong usage" is 2

# --- what all commands that talk to a server have in common ---

mapfile -t remote < <(sed -n 's/^\(REMOTE\|ACT\)(\([a-z_]*\),.*/\2/p' "$root/src/cli/commands.def")
claim "the commands of servers are read" [ "${#remote[@]}" -ge 20 ]
for command in "${remote[@]}"; do
    command=${command//_/-}
    out=$(pawl "$command" --url http://127.0.0.1:1 --token x --ca none.pem </dev/null 2>&1)
    claim "$command takes --url, --token and --ca" lacks "there is no option"
done

# --- pages for man ---

pages=("" "${commands[@]//_/-}")
for command in "${pages[@]}"; do
    pawl help --man ${command:+"$command"} >page.1
    out=$(groff -man -Tutf8 -ww -z page.1 2>&1)
    claim "the page of pawl $command has no mistake" is ""
done
out=$(pawl help --man start | MANWIDTH=100 man -l - 2>/dev/null | col -bx)
claim "man shows options" has "--wait[=DURATION]"
claim "man shows the summary" has "pawl-start - start an execution"
claim "man shows the synopsis" has "pawl start CODE [--input JSON]"

# --- completion ---

# asked SHELL LINE: what the shell offers behind the line, sorted, in one line.
asked() {
    if [ "$1" = bash ]; then
        bash --norc -c '
            source <(pawl completion bash)
            COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=() COMPREPLY=()
            # As readline cuts words: at white space, and around : and =.
            while read -r word; do COMP_WORDS+=("$word"); done < <(
                grep -oE "[^[:space:]:=]+|[:=]" <<<"$1")
            [[ $1 != *[[:space:]] ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            compopt() { :; }
            _pawl
            printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' bash "$2"
    else
        zsh -f -c '
            compdef() { :; }
            compset() { :; }
            _files() { print -n "files${1-} "; }
            _describe() { for w in $found; do print -rn -- "${${w//\\:/}%%:*} "; done; }
            source <(pawl completion zsh)
            words=("${(@s: :)1}") CURRENT=${#words} PREFIX=${words[-1]}
            _pawl' zsh "$2"
    fi
}

for shell in bash zsh; do
    out=$(asked $shell "pawl st")
    claim "$shell completes commands" is "start "
    out=$(asked $shell "pawl start --in")
    claim "$shell completes options" has "--input "
    out=$(asked $shell "pawl start ")
    claim "$shell is quiet without a server" [ -z "${out// /}" ]
    out=$(asked $shell "pawl help ba")
    claim "$shell completes names of commands" has "backup "
    out=$(asked $shell "pawl completion ")
    claim "$shell completes alternatives" has "zsh "
    out=$(asked $shell "pawl ls --status wai")
    claim "$shell completes statuses" has "waiting "
    out=$(asked $shell "pawl ls --status=comple")
    claim "$shell completes behind an equals sign" has "completed "
    out=$(asked $shell "pawl nothing ")
    claim "$shell offers nothing for a command that is none" [ -z "${out// /}" ]
done
mkdir folder
echo '{}' >file.json
out=$(asked bash "pawl apply fi")
claim "bash completes files" is "file.json "
out=$(asked bash "pawl apply file.json fo")
claim "and more than one" is "folder "
out=$(asked bash "pawl serve --data f")
claim "bash completes folders" is "folder "
out=$(asked bash "pawl serve --data=f")
claim "bash completes folders behind an equals sign" is "folder "
out=$(asked zsh "pawl validate ")
claim "zsh completes files" is "files "
out=$(asked bash "pawl show ")
claim "bash offers ways to name an execution" is "@last key: "

start_server || exit 1
pawl apply "$examples/greeting.json" "$examples/approval.json" >/dev/null
pawl start approval --input '{"title": "Lunch", "amount": 1}' --key lunch:1 >/dev/null
out=$(asked bash "pawl start ")
claim "bash completes codes that the server knows" is "approval greeting "
out=$(asked bash "pawl start gre")
claim "bash completes a code" is "greeting "
out=$(asked zsh "pawl ls --code app")
claim "zsh completes a code" has "approval "
out=$(asked bash "pawl show key:lu")
claim "bash completes a key, which readline has cut" is "lunch:1 "
out=$(asked bash "pawl signal key:lunch:")
claim "and cut again" is "1 "

out=$(for command in "" $("$pawl" help | awk '/^  [a-z]/ {print $1}'); do
    "$pawl" help $command | awk -v c="$command" 'length > 80 {print c ": " $0}'
done)
claim "help fits into 80 columns" is ""

end_claims
