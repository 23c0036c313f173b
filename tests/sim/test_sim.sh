#!/usr/bin/env bash
# The simulator: every named case, a run that repeats itself, and some seeds: the same ones on every
# machine, however fast it is, and others with every commit.
#
# SIM_TEST_SEEDS says how many, SIM which program.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/claims.sh

sim=${SIM:-build/sim/pawl-sim}
for name in $("$sim" --cases); do
    claim "the case $name" timeout 120 "$sim" --case "$name"
done

# A seed stands for one run, to the byte, also in another process.
first=$("$sim" --seed 4711 | tail -1)
second=$("$sim" --seed 4711 | tail -1)
echo "$first"
[ -n "$first" ] && [ "$first" = "$second" ]
holds $? "a seed repeats itself"

read -r seeds first < <(node tests/lib/budget.mjs sim.seeds)
echo "seeds from $first on"
claim "the seeds from $first on" timeout 900 "$sim" --seeds "${SIM_TEST_SEEDS:-$seeds}" --first "$first"

# Steps of several calls, each with a rollback: nothing that was done is left behind (I10).
claim "the sagas from $first on" timeout 900 "$sim" --mix sagas --seeds "${SIM_TEST_SEEDS:-$seeds}" --first "$first"

# Executions that are debugged: no step begins while one is stopped. Seeds in which that was seen red.
claim "the debugged ones" timeout 900 "$sim" --mix debug,calls,jobs,people,tasks --seeds 20 --first 60

[ "$passed" -gt 10 ] || holds 1 "there are cases"
end_claims
