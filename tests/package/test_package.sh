#!/usr/bin/env bash
# The package as a machine meets it: built twice, installed into a root of its own, run, upgraded,
# removed and purged; the unit, the archive, `make install` and the image.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/claims.sh

repository=$PWD
pawl=$(realpath "${PAWL:-build/pawl}")
scratch=$(mktemp -d)
root=$scratch/root
server=

stop_server() {
    [ -z "$server" ] || kill -TERM "$server" 2>/dev/null
    [ -z "$server" ] || wait "$server" 2>/dev/null
    server=
}
trap 'stop_server; rm -rf "$scratch"' EXIT
unset PAWL_DATA PAWL_STORE PAWL_LISTEN PAWL_TOKEN PAWL_URL
export XDG_STATE_HOME=$scratch/state

is() {
    [ "$out" = "$1" ]
}

has() {
    [[ $out == *"$1"* ]]
}

as_root=()
[ "$(id -u)" = 0 ] || as_root=(fakeroot)

# in_root ARGUMENT...: dpkg on a root of its own, whose scripts run out here with DPKG_ROOT set.
in_root() {
    out=$("${as_root[@]}" dpkg --root="$root" --force-script-chrootless --force-depends \
        --force-not-root --log="$scratch/dpkg.log" "$@" 2>&1)
}

# --- built ---

mkdir "$scratch/one" "$scratch/two"
out=$(scripts/package "$pawl" "$scratch/one" 2>&1)
claim "the package is built" [ $? = 0 ]
scripts/package "$pawl" "$scratch/two" >/dev/null 2>&1
deb=$(echo "$scratch"/one/pawl_*.deb)
tar=$(echo "$scratch"/one/pawl_*.tar.gz)
out=$(cd "$scratch" && diff -r one two 2>&1)
claim "the same program gives the same bytes" is ""
version=$("$pawl" version | cut -d' ' -f2)
out=$(dpkg-deb -f "$deb" Version)
claim "it has the version of the program" is "$version"
out=$(dpkg-deb -f "$deb" Depends)
for library in libssl3 libsqlite3-0 libpq5 libcurl4 libre2-9 libyaml-0-2 tzdata; do
    claim "it depends on $library" has "$library"
done
out=$(dpkg-deb -c "$deb" | awk '$2 != "root/root"')
claim "everything belongs to root" is ""
out=$(dpkg-deb -c "$deb" | awk '$1 ~ /^-/ && $1 !~ /^-rw-r--r--$/ { print $1, $6 }')
claim "only the program may be run" is "-rwxr-xr-x ./usr/bin/pawl"

{
    printf '%s\n' /etc/default/pawl /usr/bin/pawl /usr/lib/systemd/system/pawl.service \
        /usr/share/bash-completion/completions/pawl /usr/share/zsh/vendor-completions/_pawl \
        /usr/share/doc/pawl/changelog.gz /usr/share/doc/pawl/copyright \
        /usr/share/man/man1/pawl.1.gz
    (cd "$repository" && printf '/usr/share/doc/pawl/%s\n' examples/*.json examples/*/*.json)
    "$pawl" completion words -- '' | cut -f1 | sed 's|.*|/usr/share/man/man1/pawl-&.1.gz|'
} | sort >"$scratch/wanted"
dpkg-deb -c "$deb" | awk '$1 ~ /^-/ { print substr($6, 2) }' | sort >"$scratch/found"
out=$(diff "$scratch/wanted" "$scratch/found")
claim "it holds what it should and nothing else" is ""
for script in postinst prerm postrm; do
    out=$(dash -n "packaging/deb/$script" 2>&1)
    claim "$script is a script of sh" is ""
done

# --- installed, run ---

mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
in_root -i "$deb"
claim "it is installed" [ $? = 0 ]
out=$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Status}' pawl)
claim "dpkg says so" is installed
out=$("$root/usr/bin/pawl" version)
claim "the installed program runs" is "pawl $version"
out=$(cd "$root" && md5sum -c var/lib/dpkg/info/pawl.md5sums 2>&1 | grep -v ': OK$')
claim "all files are as they were packed" is ""
out=$(man -l "$root/usr/share/man/man1/pawl-doctor.1.gz" 2>/dev/null | col -bx)
claim "its man pages can be read" has "--health"
PAWL_DATA=$root/var/lib/pawl "$root/usr/bin/pawl" serve --listen 127.0.0.1:0 \
    >"$scratch/serve.out" 2>&1 &
server=$!
for _ in $(seq 6000); do
    PAWL_URL=$(sed -n 's/.*listens on //p' "$scratch/serve.out")
    [ -z "$PAWL_URL" ] || break
    sleep 0.02
done
export PAWL_URL PAWL_DATA=$root/var/lib/pawl
out=$("$root/usr/bin/pawl" doctor --health 2>&1)
claim "its server takes requests" is ""
out=$("$root/usr/bin/pawl" apply "$root/usr/share/doc/pawl/examples/greeting.json" 2>&1 &&
    "$root/usr/bin/pawl" start greeting --wait 2>&1)
claim "and runs its examples" has "It completed"
stop_server
unset PAWL_URL PAWL_DATA

# --- the unit ---

sed "s|=/usr/bin/pawl|=$root/usr/bin/pawl|" "$root/usr/lib/systemd/system/pawl.service" \
    >"$scratch/pawl.service"
out=$(systemd-analyze verify --man=no "$scratch/pawl.service" 2>&1)
claim "systemd understands the unit" is ""
# 1.5 of 10; what is left are sockets, which a server needs.
out=$(systemd-analyze security --offline=yes --threshold=15 --no-pager "$scratch/pawl.service" 2>&1)
claim "the unit leaves little open" [ $? = 0 ]
out=$(sed -n 's/^Environment=PAWL_DATA=//p' "$scratch/pawl.service")
unit_has() {
    grep -qx "$1" "$scratch/pawl.service"
}
claim "the service is started again however often it ends" unit_has StartLimitIntervalSec=0
claim "and whatever ended it" unit_has Restart=always
claim "but not when its settings are wrong" unit_has RestartPreventExitStatus=2
claim "reloading it reads certificates again" unit_has 'ExecReload=/bin/kill -HUP $MAINPID'
claim "the unit keeps the data where purging looks for it" is /var/lib/pawl

# --- upgraded, removed, purged ---

echo "PAWL_LISTEN=127.0.0.1:7171" >>"$root/etc/default/pawl"
in_root --force-confold -i "$deb"
claim "it is installed over itself" [ $? = 0 ]
out=$(tail -n 1 "$root/etc/default/pawl")
claim "what an administrator wrote stays" is "PAWL_LISTEN=127.0.0.1:7171"
in_root -r pawl
claim "it is removed" [ $? = 0 ]
out=$(cd "$root" && find . -type f -not -path './var/*' | sort | tr '\n' ' ')
claim "which leaves the settings" is "./etc/default/pawl "
out=$(ls "$root/var/lib/pawl" | tr '\n' ' ')
claim "and the data" has "pawl.db"
in_root -P pawl
claim "it is purged" [ $? = 0 ]
out=$(cd "$root" && find . -mindepth 1 -not -path './var/lib/dpkg*' | sort | tr '\n' ' ')
claim "which leaves nothing" is "./var ./var/lib "

# --- without a package ---

tar -C "$scratch" -xzf "$tar"
tree=$scratch/$(basename "$tar" .tar.gz)
out=$("$tree/bin/pawl" version)
claim "the program in the archive runs" is "pawl $version"
claim "the archive has the licence" [ -s "$tree/LICENSE" ]
cp "$pawl" "$scratch/pawl"
DESTDIR=$scratch/dest PREFIX=/opt/pawl scripts/install "$scratch/pawl"
out=$("$scratch/dest/opt/pawl/bin/pawl" version)
claim "make install takes PREFIX and DESTDIR" is "pawl $version"
out=$(grep ^ExecStart= "$scratch/dest/opt/pawl/lib/systemd/system/pawl.service")
claim "the unit follows PREFIX" is "ExecStart=/opt/pawl/bin/pawl serve"
out=$(make -n install PREFIX=/opt/pawl DESTDIR="$scratch/dest" BUILD="$(dirname "$pawl")" 2>&1)
claim "make install calls it so" has "PREFIX=\"/opt/pawl\" DESTDIR=\"$scratch/dest\" scripts/install"
out=$(PREFIX=opt scripts/install "$pawl" 2>&1)
claim "a PREFIX that is no path is refused" has "must begin with /"

# --- the image ---

is_package() {
    dpkg-query -W "$1" >/dev/null 2>&1 || apt-cache show "$1" >/dev/null 2>&1
}

# What the engine would check, as far as that can be seen without one.
image=packaging/Dockerfile
out=$(grep -c '^FROM debian:12-slim' $image)
claim "the image has two stages on the same system" is 2
out=$(sed -n 's/^USER //p' $image)
claim "it does not run as root" is pawl
# What the program is linked with, and what the second stage installs.
in_image=$(sed -e ':a;/\\$/N;s/\\\n//;ta' $image | sed -n 's/.*--no-install-recommends \(.*\)&& rm.*/\1/p')
for library in $(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/,/ /g'); do
    [ "$library" = libc6 ] || [ "$library" = init-system-helpers ] || {
        out=$in_image
        claim "the image has $library" has " $library "
    }
done
for package in $in_image; do
    out=$package
    claim "$package is a package of this system" is_package "$package"
done
out=$(sed -n 's/^COPY \([a-z][^ ]*\) .*/\1/p' $image)
for file in $out; do
    claim "$file is there to be copied" [ -e "$file" ]
done
# The image builds in a tree where nothing is built yet: make says what it would do there.
target=$(sed -n 's/^RUN make .* \([^ ]*\) && strip .*/\1/p' $image)
out=$(env -u MAKEFLAGS -u MAKELEVEL make -n "$target" BUILD="$scratch/nothing" 2>&1 |
    grep -c -- "/ui/files\.o .* -o $scratch/nothing/pawl$")
claim "its build links the web UI" is 1
out=$(env -u MAKEFLAGS -u MAKELEVEL make -n "$target" install PREFIX=/usr DESTDIR=/out 2>&1 | tail -n 1)
claim "its build calls targets that exist" has "DESTDIR=\"/out\" scripts/install"
out=$(sed -n 's/^HEALTHCHECK.*CMD \["pawl", "\(.*\)"\]$/\1/p' $image | sed 's/", "/ /g')
claim "its health is asked for by a command that exists" is "doctor --health"
out=$(sed -n 's/^CMD \["pawl", "\(.*\)"\]$/\1/p' $image | sed 's/", "/ /g')
claim "it serves" is "serve --allow-plain-http"
# shellcheck disable=SC2046
out=$(env $(sed -n 's/^ENV //p' $image) "$pawl" $out --print-config 2>&1)
claim "with settings that are understood" has "0.0.0.0:7070"
claim "what is built here stays out of it" grep -qx build .dockerignore

end_claims
