#!/usr/bin/env bash
# Every fuzz target over the inputs that are kept for it, under sanitizers: what was once found
# is not found again. `make fuzz` looks for more.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

passed=0
failed=0
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    corpus=tests/fuzz/corpus/${name#fuzz_}
    if [ ! -d "$corpus" ]; then
        echo "FAILED $name: there is no $corpus"
        failed=$((failed + 1))
    elif out=$(timeout 120 "build/asan/$name" "$corpus" 2>&1); then
        passed=$((passed + 1))
    else
        echo "FAILED $name over $corpus"
        echo "$out" | tail -40
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
