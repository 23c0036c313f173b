# rig.sh - what the tests of commands share: a real server in a folder of its own, and claims (tests/lib/claims.sh).
# Sourced, in the root of the tree; afterwards the current folder is the scratch one.

. tests/lib/claims.sh

pawl=$(realpath "${PAWL:-build/pawl}")
examples=$PWD/examples
scratch=$(mktemp -d)
server=

stop_server() {
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null
    [ -z "$server" ] || wait "$server" 2>/dev/null
    server=
}
trap 'stop_server; chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset PAWL_DATA PAWL_STORE PAWL_LISTEN PAWL_TOKEN COLUMNS
export PAWL_URL XDG_STATE_HOME=$scratch/state TZ=UTC

# start_server [OPTION...]: on a free port, with the data of this test; its address in PAWL_URL.
start_server() {
    : >serve.out
    "$pawl" serve --listen 127.0.0.1:0 "$@" >serve.out 2>serve.err &
    server=$!
    for _ in $(seq 6000); do
        PAWL_URL=$(sed -n 's/.*listens on //p' serve.out)
        [ -z "$PAWL_URL" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.02
    done
    cat serve.err
    return 1
}

# run ARGUMENT...: pawl with these, its output in $out, its exit status in $status.
run() {
    out=$("$pawl" "$@" 2>&1)
    status=$?
}

# said STATUS PART...: the last run ended so, and said all of these.
said() {
    [ "$status" = "$1" ] || return 1
    shift
    for part in "$@"; do
        [[ $out == *"$part"* ]] || return 1
    done
}

# eventually STATUS PART ARGUMENT...: run again until it says so.
eventually() {
    local wanted=$1 part=$2
    shift 2
    for _ in $(seq 6000); do
        run "$@"
        said "$wanted" "$part" && return 0
        sleep 0.02
    done
    return 1
}
