#!/usr/bin/env bash
# The public CEL conformance tests: every case that needs no protobuf has to pass.
#
# The number is in the claim: a case that fell out of the export or became skipped
# would otherwise look like success.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/claims.sh

wanted=1651
cases=build/tests/conformance.jsonl
runner=build/tests/cel_conformance

give_up() {
    holds 1 "$1"
    end_claims
}

[ -x "$runner" ] || give_up "$runner is not built"
command -v node >/dev/null || give_up "node is missing"
node tests/cel/export-conformance.mjs >"$cases" || give_up "the export failed"

out=$("$runner" "$cases")
status=$?
summary=${out##*$'\n'}
case $summary in
*' passed, '*' failed, '*' skipped') ;;
*)
    printf '%s\n' "$out"
    give_up "the runner ended with status $status and no summary"
    ;;
esac
if [ "$status" = 0 ] && [ "${summary%% *}" -lt "$wanted" ]; then
    echo "test_conformance: ${summary%% *} cases passed, wanted $wanted" >&2
    status=1
fi
printf '%s\n' "$out"
exit "$status"
