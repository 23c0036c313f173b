#!/usr/bin/env bash
# test_lint.sh - the tree is as `make lint` wants it; clang-tidy only in `make test-full`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

quick=(--quick)
[ -z "${PAWL_TEST_FULL-}" ] || quick=()
if scripts/lint "${quick[@]}"; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
