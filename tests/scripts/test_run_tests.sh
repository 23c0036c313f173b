#!/usr/bin/env bash
# test_run_tests.sh - claims about scripts/run-tests: what it counts, and what stands at its end.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

claim() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what: $output"
    fi
}

# program NAME: a test program whose text is read from standard input.
program() {
    cat >"$folder/$1"
}

# Run programs of the folder; their output without the name of the folder.
run() {
    output=$(scripts/run-tests "${@/#/$folder/}" 2>&1)
    status=$?
    output=${output//"$folder/"/}
}

ends_with() {
    [ "$(tail -n "$(wc -l <<<"$1")" <<<"$output")" = "$1" ]
}
says() {
    [[ $output == *"$1"* ]]
}
says_not() {
    ! says "$1"
}

program good.sh <<'END'
echo "3 passed, 0 failed"
END
program bad.sh <<'END'
echo "FAILED the first claim"
for i in $(seq 100); do echo "line $i"; done
echo "2 passed, 1 failed"
exit 1
END
program crash.sh <<'END'
echo "1 passed, 0 failed"
kill -KILL $$
END
program silent.sh <<'END'
true
END
program hang.sh <<'END'
exec sleep 1000
END

run good.sh good.sh
claim 'counts are summed' ends_with '6 passed, 0 failed'
claim 'success is a status' test "$status" = 0

run bad.sh good.sh crash.sh silent.sh
claim 'the failed ones and the sum stand last' ends_with 'failed: bad.sh
failed: crash.sh
failed: silent.sh
6 passed, 3 failed'
claim 'failure is a status' test "$status" = 1
output=${output#*--- what failed}
claim 'what failed is shown after everything else' says '=== bad.sh
FAILED the first claim
... its last lines:
line 62
line 63'
claim 'only the end of it' says_not 'line 61'
claim 'only what failed' says_not '=== good.sh'
claim 'how a crash ended is said' says 'crash.sh: ended with status 137 after 1 passed tests'
claim 'silence is no success' says 'silent.sh: ended with status 0 after 0 passed tests'

# A program that fails once is tried again when the others have ended.
program once.sh <<END
[ -e "$folder/tried" ] && { echo "2 passed, 0 failed"; exit; }
touch "$folder/tried"
echo "FAILED a claim"
echo "1 passed, 1 failed"
exit 1
END
run once.sh good.sh
claim 'what failed once and holds alone is named and counts by its second try' ends_with '=== once.sh
FAILED a claim
... its last lines:
FAILED a claim
once.sh: 1 passed, 1 failed
unsteady: once.sh
5 passed, 0 failed'
claim 'that is no failure' test "$status" = 0
rm "$folder/tried"
PAWL_TEST_FULL=1 run once.sh good.sh
claim 'a full run has no second try' ends_with 'failed: once.sh
4 passed, 1 failed'
rm "$folder/tried"
run once.sh bad.sh bad.sh bad.sh bad.sh bad.sh
claim 'more than five failures are not tried again' ends_with '11 passed, 6 failed'

# What is built beside the programs is waited for by those that need it.
program needs.sh <<END
: build/asan
echo "\$([ -e "$folder/built" ] && echo 1 || echo 0) passed, 0 failed"
END
program begins.sh <<END
touch "$folder/began"
echo "1 passed, 0 failed"
END
BUILD_BESIDE="until [ -e $folder/began ]; do sleep 0.01; done; touch $folder/built" run needs.sh begins.sh
claim 'a program begins when what it needs is built' ends_with '2 passed, 0 failed'
BUILD_BESIDE="echo it is broken; false" run needs.sh begins.sh
claim 'a build that fails is a failure, and what needs it does not run' ends_with 'failed: echo it is broken; false
1 passed, 1 failed'

# Each of the two ends only when the other has begun.
program meets.sh <<END
touch "$folder/met.\$\$"
for _ in \$(seq 3000); do
    set -- "$folder"/met.*
    [ \$# -lt 2 ] || break
    sleep 0.01
done
echo "\$(( \$# > 1 )) passed, \$(( \$# < 2 )) failed"
END
TEST_JOBS=2 run meets.sh meets.sh
claim 'programs run beside each other' ends_with '2 passed, 0 failed'

# What took longest last time begins first, whatever the order on the command line.
program tells.sh <<'END'
echo "1 passed, 0 failed"
END
cp "$folder/tells.sh" "$folder/longer.sh"
cp "$folder/tells.sh" "$folder/longest.sh"
printf '%s\n' "20.0 1.0 $folder/longer.sh" "30.0 1.0 $folder/longest.sh" "0.1 0.1 $folder/tells.sh" >"$folder/times"
TEST_JOBS=1 TEST_TIMES=$folder/times run tells.sh longer.sh longest.sh
claim 'the longest is first' says '--- longest.sh
longest.sh: 1 passed, 0 failed
--- longer.sh
longer.sh: 1 passed, 0 failed
--- tells.sh'

run $(for _ in 1 2 3 4 5 6 7 8 9 10 11; do echo good.sh; done)
claim 'the slowest are listed with the CPU that they took' says '--- the slowest: seconds, seconds of CPU
'

TEST_TIMEOUT_S=1 run hang.sh
claim 'a program that hangs is ended, and that is said' says 'hang.sh: took more than 1 s'

# What outlives its test holds the output open, and would disturb the next one.
program leaves.sh <<END
sleep 1000 &
echo \$! >"$folder/left"
echo "1 passed, 0 failed"
END
run leaves.sh good.sh
claim 'nobody waits for what a program left running' ends_with '4 passed, 0 failed'
is_gone() {
    for _ in $(seq 1000); do
        [[ ! -e /proc/$1 || $(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null) == [ZX] ]] && return 0
        sleep 0.02
    done
    return 1
}
claim 'it is ended' is_gone "$(<"$folder/left")"

program surroundings.sh <<'END'
echo "$LANG $TZ ${LC_ALL-none} ${PAWL_URL-none} ${PGHOST-none} ${XDG_STATE_HOME-none} $(umask)"
[ "$HOME" != "$OUTER_HOME" ] && echo "1 passed, 0 failed"
END
OUTER_HOME=$HOME LC_ALL=POSIX TZ=Asia/Tokyo PAWL_URL=http://example.org PGHOST=example.org \
    XDG_STATE_HOME=/nowhere run surroundings.sh
claim 'programs see the same surroundings everywhere' says 'C.UTF-8 UTC none none none none 0022'
claim 'and not the files of the user' ends_with '1 passed, 0 failed'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
