#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# How much data the attack of tests/random/waves.c needs against the mixers that
# multiply the counter with itself disguised by a key: for keys with few edges
# (see tests/random/generate.c), how strong a line the strongest is.
#
#   bench/waves.sh [LOG2 [KEYS [GENERATOR…]]]     2^LOG2 offsets; 21 and 3, if nothing is said
set -euo pipefail

battery=$(cd "$(dirname "$0")/.." && pwd)/build/tests/random
log2=${1:-21}
keys=${2:-3}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- product short_product short_twice fold fold2 product_twice
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '| edges in the key | generator | found | amplitudes |\n| --- | --- | --- | --- |\n'
for edges in 0 4 8 12 16 20; do
	for generator; do
		found=0 amplitudes=''
		for ((key = 0; key < keys; key++)); do
			"$battery/generate" draws "$generator" $(((2 << log2) + 64)) "$work/cells" $edges
			if "$battery/waves" "$work/cells" >"$work/said"; then
				continue
			fi
			found=$((found + 1))
			amplitudes+=" $(sed -n 's/.*amplitude \([0-9.]*\).*/\1/p; q' "$work/said")"
		done
		printf '| %d | %s | %d of %d |%s |\n' $edges "$generator" $found "$keys" "${amplitudes:- –}"
	done
done
