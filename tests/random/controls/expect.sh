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
	status=0
	sh battery.sh "$battery" "$scratch.cells" >"$scratch.said" || status=$?
	[ $status -le 1 ] || exit 1
	found=$(sed -n 's/^found: *//p' "$scratch.said")
	echo "$generator: $found"
	for test in $expected; do
		case " $found " in
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
