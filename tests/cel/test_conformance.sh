#!/usr/bin/env bash
# The public CEL conformance tests: every case that needs no protobuf has to pass.
#
# The number is in the claim: a case that fell out of the export or became skipped
# would otherwise look like success.
set -uo pipefail
cd "$(dirname "$0")/../.."

wanted=1651
cases=build/tests/conformance.jsonl
runner=build/tests/cel_conformance

give_up() {
    echo "test_conformance: $1" >&2
    echo "0 passed, 1 failed"
    exit 1
}

[ -x "$runner" ] || give_up "$runner is not built"
command -v node >/dev/null || give_up "node is missing"
node tests/cel/export-conformance.mjs >"$cases" || give_up "the export failed"

output=$("$runner" "$cases")
status=$?
summary=${output##*$'\n'}
case $summary in
*' passed, '*' failed, '*' skipped') ;;
*)
    printf '%s\n' "$output"
    give_up "the runner ended with status $status and no summary"
    ;;
esac
if [ "$status" = 0 ] && [ "${summary%% *}" -lt "$wanted" ]; then
    echo "test_conformance: ${summary%% *} cases passed, wanted $wanted" >&2
    status=1
fi
printf '%s\n' "$output"
exit "$status"
