#!/usr/bin/env bash
# pawl eval as a user runs it: what it prints where, and how it ends.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/claims.sh

pawl=${PAWL:-build/pawl}
order=examples/contexts/order.json
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# evaluates NAME STATUS STDOUT STDERR ARGUMENTS...: run `pawl eval ARGUMENTS` and compare.
evaluates() {
    local name=$1 wanted=$2 stdout=$3 stderr=$4
    shift 4
    out=$("$pawl" eval "$@" 2>"$dir/err" </dev/null)
    status=$?
    [ "$status" = "$wanted" ] && [ "$out" = "$stdout" ] && [ "$(<"$dir/err")" = "$stderr" ]
    holds $? "$name: pawl eval $(printf ' %q' "$@"), wanted $wanted, stdout [$stdout], stderr [$stderr], got stderr [$(<"$dir/err")]"
}

# gives VALUE ARGUMENTS...: success, and this on stdout.
gives() {
    evaluates "value" 0 "$1" "" "${@:2}"
}

# fails MESSAGE ARGUMENTS...: status 1, and this on stderr.
fails() {
    evaluates "failure" 1 "" "$1" "${@:2}"
}

# --- values ---

gives 7 '1 + 2 * 3'
gives 2.5 '5 / 2.0'
gives '"ab"' '"a" + "b"'
gives true 'true || false'
gives null 'null'
gives $'[\n  1,\n  4,\n  9\n]' '[1, 2, 3].map(n, n * n)'
gives $'{\n  "a": 1\n}' '{"a": 1}'
gives '[]' '[]'
gives '{}' '{}'
gives '"7d"' 'duration("168h")'
gives '"2026-01-31T00:00:00Z"' 'timestamp("2026-01-31")'
gives '"YWJj"' "b'abc'"
gives -1 '-1'
gives '"Grüße"' "'Gr' + 'üße'"

# --- context ---

gives '"gold"' 'input.customer.level' --context $order
gives '"gold"' '$.input.customer.level' --context $order
gives '"gold"' --context=$order 'input.customer.level'
gives 124.0 'input.items.map(i, i.count * i.price).sum()' --context $order
gives '"none yet"' 'steps.pay.?id.orValue("none yet")' --context $order
gives true '$ == {"a": 1}' --context <(echo '{"a": 1}')
echo '{"a.b": 1, "a": {"b": 2}}' >"$dir/dots.json"
gives '"1 2"' 'string($.`a.b`) + " " + string(a.b)' --context "$dir/dots.json"

# Standard input.
claim "the context from standard input" test "$(echo '{"n": 20}' | "$pawl" eval 'n + 1' --context -)" = 21

fails "pawl: cannot open $dir/none.json: No such file or directory" 1 --context "$dir/none.json"
printf '{"a": 1,\n "b": }' >"$dir/broken.json"
fails "pawl: $dir/broken.json:2:7: expected a value, found '}'" 1 --context "$dir/broken.json"
echo '[1]' >"$dir/list.json"
fails "pawl: $dir/list.json: the context must be a JSON object" 1 --context "$dir/list.json"
: >"$dir/empty.json"
fails "pawl: $dir/empty.json:1:1: expected a value, but the text ends here" 1 --context "$dir/empty.json"

# --- values of definitions ---

gives '"Order A-1042"' --value 'Order {{ input.orderId }}' --context $order
gives 200 --value '{{ input.items[0].count }}' --context $order
gives 1 --value '$.variables.attempts' --context $order
gives 2 --value '=variables.attempts + 1' --context $order
gives '"input.orderId"' --value 'input.orderId' --context $order

evaluates "value" 0 '"Order ${input.orderId}"' 'note: ${input.orderId} in a text is nothing but that text: write {{ input.orderId }}' --value 'Order ${input.orderId}' --context $order
evaluates "value" 0 '"Order ${x}"' 'note: ${x} in a text is nothing but that text: write "..." + string(x)' '"Order ${x}"'

# --- errors, and the caret under them ---

fails "error: expected a value, but found the end of the expression
  1 +
     ^" '1 +'
fails "error: no such overload: '+' does not work on int and string; string(x) makes text of a value
  1 + \"a\"
    ^" '1 + "a"'
fails "error: divide by zero
  10 / (1 - 1)
     ^" '10 / (1 - 1)'
fails "error: no such key: 'custmer'; did you mean 'customer'?
  input.custmer.level
        ^" 'input.custmer.level' --context $order
fails "error: undeclared reference to 'inptu'; did you mean 'input'?
  1 + inptu
      ^" '1 + inptu' --context $order
fails "error: no such overload: '+' does not work on string and int; string(x) makes text of a value
  'üöß€' + 1
         ^" "'üöß€' + 1"
fails "error: undeclared reference to 'b'
    b
    ^" $'1 +\n  b'
fails $'error: expected a value, but found \')\'\n  \t)\n  \t^' $'"ü" +\n\t)\n+ 2'
fails "error: no such key: 'nothing'; has(a.b) and a.?b ask whether there is one
  Order {{ input.nothing }}
                 ^" --value 'Order {{ input.nothing }}' --context $order
fails "error: NaN cannot be written as JSON" 'double("NaN")'
fails "error: the expression takes more work than it may
  lists.range(9999).all(a, lists.range(9999).all(b, b >= 0))
                                             ^" \
    'lists.range(9999).all(a, lists.range(9999).all(b, b >= 0))'

# Of a line that is long, the part around the caret.
ones=$(printf '1 + %.0s' {1..200})
fails "error: undeclared reference to 'x'
  ...${ones: -60}x + ${ones:0:56}...
     $(printf '%60s' '')^" "${ones}x + ${ones}1"

# --- --json ---

gives '{"value":7,"type":"int"}' --json '1 + 2 * 3'
gives '{"value":[1,4],"type":"list(int)"}' '[1, 2].map(n, n * n)' --json
gives '{"value":"gold","type":"string"}' --json 'input.customer.level' --context $order
evaluates "json error" 1 '{"error":{"code":"expression_type","message":"no such overload: '"'+'"' does not work on int and string; string(x) makes text of a value","line":1,"column":3}}' '' --json '1 + "a"'
evaluates "json error" 1 '{"error":{"code":"expression_syntax","message":"expected a value, but found the end of the expression","line":2,"column":1}}' '' --json $'1 +\n'
evaluates "json error" 1 '{"error":{"code":"expression_error","message":"divide by zero","line":1,"column":3}}' '' --json '1 / 0'

# --- wrong use ---

usage=$("$pawl" help eval | sed -n '/^usage/,/^$/p')$'\n'"\`pawl help eval\` explains it."
evaluates "no expression" 2 "" "$usage"
evaluates "two expressions" 2 "" "$usage" 1 2
evaluates "unknown option" 2 "" \
    "pawl eval: there is no option --contxt; did you mean --context?"$'\n'"$usage" 1 --contxt x
evaluates "no file" 2 "" "pawl eval: --context needs a value"$'\n'"$usage" 1 --context

end_claims
