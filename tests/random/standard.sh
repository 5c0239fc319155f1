#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What ent and rngtest say of bytes. Exit status: 0 nothing, 1 found, 2 could not look.
#
#   standard.sh BYTES [ent|rngtest]      both, or one of them
#
# Each bound is crossed by chance once in about a hundred thousand files.
set -eu

bytes=$1 only=${2:-}
[ "$(wc -c <"$bytes")" -ge 1500000 ] || exit 2

if [ "$only" != rngtest ]; then
	# 0,File-bytes,Entropy,Chi-square,Mean,Monte-Carlo-Pi,Serial-Correlation
	ent -t "$bytes" | awk -F, '
		NR == 2 {
			print "ent: entropy", $3, "chi2", $4, "of 255, mean", $5, "serial correlation", $7
			found = $3 < 7.9997 || $4 < 165 || $4 > 360 || $5 < 127.24 || $5 > 127.76 || $7 > 0.0036 || $7 < -0.0036
		}
		END { exit NR < 2 ? 2 : found }'
fi

if [ "$only" != ent ]; then
	# FIPS 140-2 on blocks of 20 000 bits: one in 1250 good ones fails. rngtest
	# ends with 1 when any did, so that its status says nothing.
	{ rngtest <"$bytes" 2>&1 || true; } | awk '
		/FIPS 140-2 successes:/ { good = $NF }
		/FIPS 140-2 failures:/ { bad = $NF }
		END { print "rngtest:", bad, "of", good + bad, "blocks fail"; exit good + bad < 500 ? 2 : bad > 7 }'
fi
