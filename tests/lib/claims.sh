# claims.sh - claims of shell scripts that are counted, and the line that every script ends with.
# Sourced, in the root of the tree:
#
#     out=$(build/pawl eval '1 + 1')
#     claim "one and one" test "$out" = 2
#     end_claims
set -uo pipefail

passed=0
failed=0
out=     # what the last command said, and how it ended: shown with a claim that does not hold
status=0

# holds STATUS WHAT: count a claim that has been looked at already, 0 for one that holds.
holds() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n  status %s, output: %s\n' "$2" "$status" "$out"
    fi
}

# claim WHAT COMMAND...: it holds when the command succeeds.
claim() {
    local what=$1
    shift
    "$@"
    holds $? "$what"
}

# Print the counts and end.
end_claims() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}
