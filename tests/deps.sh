#!/bin/sh
# Installs the Debian packages that are missing: deps.sh build (what the program needs), deps.sh all
# (what the tests need too) or deps.sh style (what formats and reads the sources). Elsewhere prints what is needed and goes on, so that the
# compiler has the last word.
set -eu
build="gcc libc6-dev make pkg-config libssl-dev libsqlite3-dev libcjson-dev libpapi-dev"
tests="clang libclang-rt-dev libcmocka-dev python3 sqlite3 chromium"
case $1 in
build) want=$build ;;
all) want="$build $tests" ;;
style) want="$build clang-format clang-tidy" ;;
*) echo "usage: deps.sh build|all|style" >&2; exit 2 ;;
esac
if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "This is not Debian: please see to it that these are installed, by their Debian names:"
    echo "  $want"
    exit 0
fi
missing=
for p in $want; do
    dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || { echo "not root and no sudo: install$missing" >&2; exit 1; }
    sudo=sudo
fi
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
