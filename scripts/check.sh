#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds kstackrand and passes all its tests. Installs through apt what it needs.
#
#   scripts/check.sh [--all] [--filter REGEX] [--no-install]
#
#   --all           every compiler that this Debian has, and the long tests
#   --filter REGEX  only tests whose name matches
#   --no-install    take the machine as it is
#
# The last line is "N passed, N failed, N skipped". It fails when a test fails,
# and when one is skipped: what the tests need is installed, so that nothing has
# a reason to be left out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
build=$top/build
job=check
install=yes
lit_options=()

die() {
	printf 'check.sh: error: %s\n' "$1" >&2
	exit 1
}

step() {
	printf '== %s\n' "$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	--all) job=all ;;
	--filter)
		[ $# -gt 1 ] || die "--filter wants a regular expression"
		lit_options+=("--filter=$2")
		shift
		;;
	--no-install) install=no ;;
	-h | --help)
		sed -n '3,15s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*) die "unknown option '$1'; see --help" ;;
	esac
	shift
done

# lit comes with LLVM's tools, from whichever version is there.
find_lit() {
	local lit
	for lit in /usr/lib/llvm-*/build/utils/lit/lit.py; do
		[ -e "$lit" ] && printf '%s\n' "$lit"
	done | sort -V | tail -n 1
}

if [ $install = yes ]; then
	step "packages"
	"$here/install-deps.sh" $job
fi

step "build"
mkdir -p "$build"
cd "$top"
if ! cmake --preset ci >"$build/configure.log" 2>&1; then
	cat "$build/configure.log" >&2
	die "cmake could not configure"
fi
grep '^-- kstackrand:' "$build/configure.log" | sed 's/^-- kstackrand: /   /'
if ! cmake --build --preset ci >"$build/build.log" 2>&1; then
	grep -E -A 10 'error|FAILED' "$build/build.log" | head -n 60 >&2
	die "the build failed; all of it is in $build/build.log"
fi

step "tests"
lit=$(find_lit)
[ -n "$lit" ] || die "lit is missing: apt install llvm-14-tools"
results=$build/tests/results.json
mkdir -p "$build/tests"
status=0
[ $job = all ] && lit_options+=(--param=long=yes)
export PYTHONDONTWRITEBYTECODE=1 # the source tree stays as it is
python3 "$lit" -v -j"$(nproc)" --param="build=$build" --output="$results" \
	--no-progress-bar "${lit_options[@]}" "$top/tests" || status=$?
exec python3 "$top/tests/summary.py" "$results" "$status"
