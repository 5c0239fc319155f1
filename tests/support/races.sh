#!/bin/sh
# SPDX-License-Identifier: MIT
#
# races.c, built and run for SECONDS under ThreadSanitizer, the runtime's own accesses
# in its sight, and for as long under helgrind. Neither may find anything that
# helgrind.supp does not explain.
#
#   races.sh SECONDS SCRATCH "CC with plugin" "CC without" "LIBRARIES"
set -eu

seconds=$1 scratch=$2 cc=$3 plain_cc=$4 libraries=$5
support=$(cd "$(dirname "$0")" && pwd)
top=$support/../..
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

# compile FLAG…: main.o and an object for each kind of entry.
compile() {
	rm -f ./*.o
	for model in inline call; do
		for rng in fast siphash; do
			entry=entry_${model}_$rng
			$cc -O1 -g "$@" -fplugin-arg-kstackrand-werror -fplugin-arg-kstackrand-entry="$entry" \
				-fplugin-arg-kstackrand-model="$model" -fplugin-arg-kstackrand-rng="$rng" \
				-DENTRY="$entry" -I"$top/include" -c "$support/races.c" -o "$entry.o"
		done
	done
	$plain_cc -O1 -g "$@" -I"$top/include" -c "$support/races.c" -o main.o
}

compile -fsanitize=thread
$plain_cc -std=gnu11 -D_GNU_SOURCE -O2 -g -fsanitize=thread -fPIC -I"$top/include" ./*.o "$top/runtime/runtime.c" \
	"$top/runtime/random.c" "$top/runtime/draw_slow_$(uname -m).S" -pthread -o under_tsan
# Threads that a child leaves behind are its parent's.
TSAN_OPTIONS="die_after_fork=0 report_thread_leaks=0 halt_on_error=1" timeout $((3 * seconds + 60)) ./under_tsan "$seconds"

# Valgrind cannot read what Clang writes by itself.
compile -gdwarf-4
# shellcheck disable=SC2086 # words on purpose
$plain_cc ./*.o $libraries -pthread -o under_helgrind
timeout $((3 * seconds + 120)) valgrind --tool=helgrind --quiet --error-exitcode=9 \
	--suppressions="$support/helgrind.supp" ./under_helgrind "$seconds"
