#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Lets all there is look at a file of offsets, as recorder and generate write it:
# the programs of this folder, and ent and rngtest, which get the offsets packed.
#
#   battery.sh PROGRAMS CELLS       PROGRAMS is the folder with them
#
# Prints what each says, and last "found:" and the names of the tests that can tell
# the offsets from chance. Exit status: 0 none can, 1 some can, 2 one could not look.
set -eu

programs=$1 cells=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# look COMMAND…: what it says is shown and kept.
look() {
	status=0
	"$@" >"$scratch/one" || status=$?
	cat "$scratch/one"
	[ $status -le 1 ] || exit 2
	cat "$scratch/one" >>"$scratch/all"
}

# Each bound of these two is crossed by chance once in about a hundred thousand files.
look_with_ent() {
	# 0,File-bytes,Entropy,Chi-square,Mean,Monte-Carlo-Pi,Serial-Correlation
	ent -t "$scratch/bytes" | awk -F, '
		NR == 2 {
			found = $3 < 7.9997 || $4 < 165 || $4 > 360 || $5 < 127.24 || $5 > 127.76 || $7 > 0.0036 || $7 < -0.0036
			print "ent: entropy " $3 " chi2 " $4 " of 255, mean " $5 ", serial correlation " $7 (found ? ": FOUND" : "")
		}
		END { exit NR < 2 ? 2 : found }'
}

# FIPS 140-2 on blocks of 20 000 bits: one in 1250 good ones fails. rngtest ends with
# 1 when any did, so that its status says nothing.
look_with_rngtest() {
	{ rngtest <"$scratch/bytes" 2>&1 || true; } | awk '
		/FIPS 140-2 successes:/ { good = $NF }
		/FIPS 140-2 failures:/ { bad = $NF }
		END {
			found = bad > 7
			print "rngtest: " bad " of " good + bad " blocks fail" (found ? ": FOUND" : "")
			exit good + bad < 500 ? 2 : found
		}'
}

for program in distribution linear lattice waves; do
	look "$programs/$program" "$cells"
done
"$programs/pack" "$cells" >"$scratch/bytes"
look look_with_ent
look look_with_rngtest
found=$(sed -n 's/^\([a-z0-9-]*\): .*FOUND$/\1/p' "$scratch/all" | tr '\n' ' ')
echo "found: ${found% }"
[ -z "$found" ]
