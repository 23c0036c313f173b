#!/usr/bin/env bash
# test_hardened.sh - the program that people install is hardened: position independent, its
# tables read-only before main(), its stack and its copies of memory guarded.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

program=${PAWL:-build/pawl}
passed=0
failed=0

# claim WHAT PATTERN ARGUMENTS...: what readelf says with these arguments has the pattern.
claim() {
    local what=$1 pattern=$2
    shift 2
    # Read to its end: grep -q would close the pipe under readelf.
    if readelf -W "$@" "$program" | grep -E "$pattern" >/dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what"
    fi
}

claim 'the program is position independent' 'Type: +DYN' --file-header
claim 'relocations are read-only' 'GNU_RELRO' --program-headers
claim 'all of them are made at the start' 'BIND_NOW|Flags:.* NOW' --dynamic
claim 'the stack is guarded' '__stack_chk_fail' --dyn-syms
claim 'copies of memory are guarded' '__(mem|str|snprintf|vsnprintf)[a-z]*_chk' --dyn-syms
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
