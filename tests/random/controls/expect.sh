#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the battery on generators, and wants it to find just what is named.
#
#   expect.sh BATTERY SCRATCH {GENERATOR "WHAT IS FOUND"}…
set -eu

battery=$1 scratch=$2
shift 2

while [ $# -gt 0 ]; do
	generator=$1 expected=$2
	shift 2
	"$battery/generate" draws "$generator" 2097280 "$scratch.cells"
	"$battery/pack" "$scratch.cells" >"$scratch.bytes"
	for program in distribution linear lattice waves; do
		status=0
		"$battery/$program" "$scratch.cells" >"$scratch.$program" || status=$?
		[ $status -le 1 ] || exit 1
	done
	found=$(cat "$scratch.distribution" "$scratch.linear" "$scratch.lattice" "$scratch.waves" |
		sed -n 's/^\([a-z0-9-]*\): .*FOUND$/\1/p')
	for tool in ent rngtest; do
		status=0
		sh standard.sh "$scratch.bytes" $tool >"$scratch.$tool" || status=$?
		[ $status -le 1 ] || exit 1
		[ $status = 0 ] || found="$found $tool"
	done
	# shellcheck disable=SC2086 # words on purpose
	echo "$generator:" $found
	for test in $expected; do
		case " $(echo $found) " in
		*" $test "*) ;;
		*)
			echo "$generator: '$test' did not find it"
			exit 1
			;;
		esac
	done
	if [ -z "$expected" ] && [ -n "$found" ]; then
		echo "$generator: found, and is good"
		exit 1
	fi
done
