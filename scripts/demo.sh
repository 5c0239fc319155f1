#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# kstackrand's main job on real input: Debian's own dnsmasq, not a line of it
# changed, built once plainly and once with the plugin, both asked some thousand
# questions, and where the stack stood each time they answered.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build=$root/build
# shellcheck source=scripts/lib/steps.sh
. "$here/lib/steps.sh"
# shellcheck source=scripts/lib/debian-source.sh
. "$here/lib/debian-source.sh"

CC=${CC:-gcc}
# Names and addresses that are reserved for documentation. Each run asks for a
# name of its own, so that two runs at a time cannot take each other's answers.
name=demo-$$.test.example
address=192.0.2.1
recorded_queries=6400
rounds=7
queries_per_round=40000
# 63 degrees of freedom: equal cells go above this once in 1000 runs.
chi2_limit=103.4

usage() {
	cat <<-END
		usage: scripts/demo.sh [--keep]

		Builds dnsmasq from its Debian source with and without kstackrand, sends both
		$recorded_queries DNS queries over the loopback interface, and shows at which positions the
		stack stood when they answered, and what it costs. Takes a minute or two.

		  --keep   leave the scratch directory, with both builds and the log
		  --help   this text

		CC names the compiler, GCC or Clang (now: $CC). The source is kept in
		$(debian_source_cache).
		Exit status: 0 if both did as they should, 1 if not.
	END
}

# Sets $plugin_flags and $library_flags: what a user puts into CFLAGS and LDFLAGS.
build_kstackrand() {
	local macros major targets
	macros=$("$CC" -dM -E - </dev/null 2>&1) || die "CC=$CC does not run; name a compiler that is installed"
	if major=$(awk '$2 == "__clang_major__" { print $3; found = 1 } END { exit !found }' <<<"$macros"); then
		targets=(kstackrand-llvm-"$major"-front kstackrand-llvm-"$major"-pass)
	else
		major=$("$CC" -dumpversion)
		targets=(kstackrand-gcc-"$("$CC" -dumpmachine)"-"${major%%.*}")
	fi
	cd "$root"
	step 300 "configuring kstackrand" cmake --preset default
	if ! cmake --build --preset default --target help | grep "^${targets[0]}:" >/dev/null; then
		sed -n 's/^-- kstackrand: not built/not built/p' "$log" >&2
		die "there is no plugin for CC=$CC"
	fi
	step 900 "building kstackrand for $CC" \
		cmake --build --preset default --target "${targets[@]}" kstackrand-shared
	plugin_flags=$("$build/bin/kstackrand-config" --cc "$CC" --policy dnsmasq --cflags)
	library_flags=$("$build/bin/kstackrand-config" --cc "$CC" --ldflags)
	cd "$scratch"
}

fetch_source() {
	fetch_debian_source dnsmasq >"$scratch/dsc"
}

unpack_source() {
	dpkg-source -x "$(cat "$scratch/dsc")" "$scratch/dnsmasq" &&
		cd "$scratch/dnsmasq" && find . -type f -exec sha256sum {} + >"$scratch/source.sha256"
}

# Debian's own hardening flags, as its packages are built.
debian_flags() {
	cd "$scratch/dnsmasq"
	DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get "$1"
}

# build_dnsmasq NAME CFLAGS LDFLAGS: dnsmasq's own makefile, with the flags on
# its command line. BUILDDIR is how it builds outside of its source.
build_dnsmasq() {
	make -C "$scratch/dnsmasq" -j"$(nproc)" BUILDDIR="$scratch/$1" CC="$CC" \
		CFLAGS="$(debian_flags CFLAGS) $(debian_flags CPPFLAGS) $2" \
		LDFLAGS="$(debian_flags LDFLAGS) $3"
}

source_is_untouched() {
	cd "$scratch/dnsmasq" && sha256sum --quiet -c "$scratch/source.sha256"
}

compile_helpers() {
	local sources=$root/tests/daemons
	"$CC" -O2 -Wall -Wextra -o "$scratch/dns-load" "$sources/dns-load.c" &&
		"$CC" -O2 -Wall -Wextra -o "$scratch/stack-histogram" "$sources/stack-histogram.c" &&
		"$CC" -O2 -Wall -Wextra -shared -fPIC -o "$scratch/stack-watch.so" \
			"$sources/stack-watch.c" -ldl
}

# ask PORT COUNT: what dns-load says, and its exit status.
ask() {
	"$scratch/dns-load" 127.0.0.1 "$1" "$2" "$name" "$address"
}

# start_dnsmasq NAME [VARIABLE=VALUE]…: starts it on a free port of the loopback
# interface, in the foreground, as the user that runs this, with no
# configuration, no upstream servers and one answer. Waits until it answers.
# Sets $port.
start_dnsmasq() {
	local kind=$1 attempt deadline
	shift
	for attempt in 1 2 3 4 5 6 7 8 9 10; do
		# Below the ports that the kernel hands out by itself.
		port=$((20000 + RANDOM % 10000))
		start_process env "$@" "$scratch/$kind/dnsmasq" --no-daemon --conf-file=/dev/null \
			--port="$port" --listen-address=127.0.0.1 --bind-interfaces \
			--no-resolv --no-hosts --address="/$name/$address"
		deadline=$((SECONDS + 5))
		while kill -0 "$started_pid" 2>/dev/null; do
			if ask "$port" 1 >/dev/null; then
				return
			fi
			if ((SECONDS > deadline)); then
				die "dnsmasq ($kind) does not answer after 5 seconds"
			fi
			sleep 0.05
		done
		# The port was taken: the next one.
	done
	tail -n 5 "$log" >&2
	die "dnsmasq ($kind) does not start, after $attempt attempts"
}

# record NAME: its answers' stack positions, into NAME.positions.
record() {
	local result
	printf 'recording %d answers (%s) … ' "$recorded_queries" "$1"
	step_line=yes
	start_dnsmasq "$1" LD_PRELOAD="$scratch/stack-watch.so" \
		STACK_WATCH_FILE="$scratch/$1.positions"
	result=$(ask "$port" "$recorded_queries") || die "dnsmasq ($1): $result"
	stop_processes
	printf 'all answered\n'
	step_line=no
}

# The number in the middle of an odd number of lines, then lowest and highest.
median_and_range() {
	sort -n | awk '{ value[NR] = $1 } END { print value[(NR + 1) / 2], value[1], value[NR] }'
}

# Both at once, unwatched, asked in turns: what else the machine does meanwhile
# meets both. Sets $rates_plain and $rates_hardened: median, lowest, highest.
measure() {
	local kind result round port_plain port_hardened
	start_dnsmasq plain
	port_plain=$port
	start_dnsmasq hardened
	port_hardened=$port
	for ((round = 1; round <= rounds; round++)); do
		if [[ -t 1 ]]; then
			printf '\rmeasuring, round %d of %d, %d queries each … ' \
				"$round" "$rounds" "$queries_per_round"
			step_line=yes
		fi
		for kind in plain hardened; do
			if [[ $kind == plain ]]; then port=$port_plain; else port=$port_hardened; fi
			result=$(ask "$port" "$queries_per_round") || die "dnsmasq ($kind): $result"
			echo "${result##* }" >>"$scratch/$kind.rates"
		done
	done
	[[ ! -t 1 ]] || printf '\r'
	printf 'measuring, %d rounds of %d queries each … all answered\n' "$rounds" \
		"$queries_per_round"
	step_line=no
	stop_processes
	rates_plain=$(median_and_range <"$scratch/plain.rates")
	rates_hardened=$(median_and_range <"$scratch/hardened.rates")
}

# Sets $calls, $positions, $spacing, $span and $chi2 for NAME.
summarize() {
	local summary
	summary=$("$scratch/stack-histogram" --summary "$scratch/$1.positions") ||
		die "no stack positions of dnsmasq ($1) were recorded"
	read -r _ calls _ positions _ spacing _ span _ chi2 <<<"$summary"
	if ((spacing < 0)); then
		spacing="an uneven number of"
	fi
}

report() {
	local plain_right=yes hardened_right=yes median low high

	echo
	echo "Where the stack stood in the call that sends an answer: bytes below the highest"
	echo "position, and how often."
	echo
	echo "plain"
	"$scratch/stack-histogram" "$scratch/plain.positions"
	echo "hardened"
	"$scratch/stack-histogram" "$scratch/hardened.positions"
	echo
	summarize plain
	((positions == 1)) || plain_right=no
	((calls >= recorded_queries)) || die "dnsmasq (plain): only $calls answers were recorded"
	read -r median low high <<<"$rates_plain"
	if [[ $plain_right == yes ]]; then
		printf 'plain       1 position, the same in all %d answers\n' "$calls"
	else
		printf 'plain     %3d positions in %d answers\n' "$positions" "$calls"
	fi
	printf '          %d queries/s (%d … %d)\n' "$median" "$low" "$high"

	summarize hardened
	((calls >= recorded_queries)) || die "dnsmasq (hardened): only $calls answers were recorded"
	[[ $positions == 64 && $spacing == 16 ]] || hardened_right=no
	read -r median low high <<<"$rates_hardened"
	printf 'hardened  %3d positions, %s bytes apart, spanning %d bytes, chi2 %s' \
		"$positions" "$spacing" "$span" "$chi2"
	if [[ $hardened_right == yes ]]; then
		awk -v chi2="$chi2" -v limit="$chi2_limit" 'BEGIN {
			printf "%s", (chi2 + 0 < limit + 0) ? " (< " limit ")" : " (above " limit ", as once in 1000 runs)"
		}'
	fi
	echo
	printf '          %d queries/s (%d … %d)\n' "$median" "$low" "$high"
	echo "Rates are medians of $rounds rounds and the range; this machine is noisy, so a difference"
	echo "smaller than the range says nothing."

	if [[ $plain_right == no ]]; then
		die "dnsmasq (plain) answered from more than one stack position"
	fi
	if [[ $hardened_right == no ]]; then
		die "dnsmasq (hardened) answered from $positions positions, not from 64 that are 16 bytes apart"
	fi
}

main() {
	while (($# > 0)); do
		case $1 in
		--keep) keep_scratch=yes ;;
		--help | -h)
			usage
			return
			;;
		*) die "unknown option '$1'; see --help" ;;
		esac
		shift
	done

	"$here/install-deps.sh" demo
	begin_steps
	build_kstackrand
	step 600 "fetching dnsmasq's Debian source" fetch_source
	step 60 "unpacking $(basename "$(cat "$scratch/dsc")" .dsc)" unpack_source
	step 600 "building dnsmasq (plain)" build_dnsmasq plain "-O2 -g" ""
	step 600 "building dnsmasq (hardened)" build_dnsmasq hardened \
		"-O2 -g $plugin_flags" "$library_flags"
	step 60 "checking that dnsmasq's source is untouched" source_is_untouched
	step 60 "compiling the observers" compile_helpers
	record plain
	record hardened
	measure
	report
}

main "$@"
