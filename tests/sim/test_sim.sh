#!/usr/bin/env bash
# The simulator: every named case, a run that repeats itself, and the first seeds of all: the same
# ones on every machine, however fast it is. `make sim` goes on from there.
#
# SIM_TEST_SEEDS (120) says how many, SIM which program.
set -uo pipefail
cd "$(dirname "$0")/../.."

sim=${SIM:-build/sim/pawl-sim}
passed=0
failed=0

count() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

for name in $("$sim" --cases); do
    timeout 120 "$sim" --case "$name"
    count $?
done

# A seed stands for one run, to the byte, also in another process.
first=$("$sim" --seed 4711 | tail -1)
second=$("$sim" --seed 4711 | tail -1)
echo "$first"
[ -n "$first" ] && [ "$first" = "$second" ]
count $?

timeout 500 "$sim" --seeds "${SIM_TEST_SEEDS:-120}"
count $?

[ "$passed" -gt 10 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
