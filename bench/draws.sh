#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What each generator of bench/generators.h costs, as a table: instructions, by
# callgrind, and ticks of the processor's counter, by bench/draws.c.
#
#   bench/draws.sh [CALLS]      a million, if nothing is said
#
# CC names the compiler, a GCC or Clang that the build tree has a plugin for.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
calls=${1:-1000000}
CC=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

config=$top/build/bin/kstackrand-config
[ -x "$config" ] || {
	printf 'draws.sh: error: there is no build in %s: run scripts/check.sh first\n' "$top/build" >&2
	exit 1
}
# shellcheck disable=SC2046 # words on purpose
"$CC" -O2 $("$config" --cc "$CC" --cflags --arg entry=call_inline) -I"$top/include" \
	"$top/bench/draws.c" $("$config" --cc "$CC" --ldflags) -o "$work/draws"
export LD_LIBRARY_PATH=$top/build/lib
names=$(sed -n 's/^\tDO(\([a-z0-9_]*\)).*/\1/p' "$top/bench/generators.h")
# shellcheck disable=SC2086
functions=$(printf 'call_%s\n' $names again inline)
# shellcheck disable=SC2086
python3 "$top/tests/support/instructions.py" "$(uname -m)" "$work/draws" $functions |
	sed 's/^call_//' >"$work/instructions"
"$work/draws" time "$calls" >"$work/times"

printf '| generator | state, bytes | instructions | run | mean | p50 | p99 | p99.9 |\n'
printf '| --- | --- | --- | --- | --- | --- | --- | --- |\n'
awk -F'[, ]' '
	NR == FNR { count[$1] = $2; next }
	$1 == "step" { printf "\nOne step of the counter: %s ticks.\n", $2; next }
	FNR > 1 {
		printf "| %s | %s | %+d | %s | %+.2f | %+d | %+d | %+d |\n",
			$1, $2, count[$1] - count["null"], $3, $4, $5, $6, $7
	}
' "$work/instructions" "$work/times"
