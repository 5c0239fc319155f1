#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What it costs to shift the stack: the time of an empty call and of system
# calls made below the shift, by source of the offsets, all in one run.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/steps.sh
. "$top/scripts/lib/steps.sh"

calls=10000000
cpu=-1
build=$top/build
output=
record=no
CC=${CC:-gcc}
command="bench/latency.sh${*:+ $*}"

usage() {
	cat <<-END
		usage: bench/latency.sh [--calls N] [--cpu N] [--build DIR] [--output DIR] [--record]

		Times calls of functions that shift the stack, each call by itself, interleaved
		and on one processor, and judges the generator in use: in the mean it may cost no
		more than lfsr113, and its slow calls may be no slower than those of a function
		that shifts nothing. The last lines tell, and so does the exit status.

		  --calls N     of each kind by each source; 10 million, which take ten minutes
		  --cpu N       the processor to run on; where it starts, if nothing is said
		  --build DIR   the build tree; build, if nothing is said
		  --output DIR  for latency.csv, latency-histograms.csv, latency.txt and the plot,
		                latency.svg; DIR/bench of the build tree, if nothing is said
		  --record      also writes the tables of docs/speed.md
		  --help        this text

		CC names the compiler, a GCC or Clang that the build tree has a plugin for. The
		plot needs gnuplot (gnuplot-nox); without it there is none.
	END
}

read_arguments() {
	while (($# > 0)); do
		case $1 in
		--calls | --cpu | --build | --output)
			(($# > 1)) || die "$1 wants a value"
			case $1 in
			--calls) calls=$2 ;;
			--cpu) cpu=$2 ;;
			--build) build=$2 ;;
			--output) output=$2 ;;
			esac
			shift
			;;
		--record) record=yes ;;
		--help | -h)
			usage
			exit 0
			;;
		*) die "unknown option '$1'; see --help" ;;
		esac
		shift
	done
	[[ $calls =~ ^[1-9][0-9]*$ ]] || die "--calls wants a number of calls, not '$calls'"
	[[ $cpu =~ ^(-1|[0-9]+)$ ]] || die "--cpu wants the number of a processor, not '$cpu'"
	[[ -x $build/bin/kstackrand-config ]] ||
		die "there is no build in $build: run scripts/check.sh first"
	build=$(cd "$build" && pwd)
	: "${output:=$build/bench}"
}

# plugin_flags NAME [KEY=VALUE]…: compiler flags that make NAME's timed functions
# entries, or fail.
plugin_flags() {
	local name=$1 key
	local arguments=(--arg "entry=empty_$name" --arg "entry=syscall_$name"
		--arg "entry=where_$name" --arg werror)
	shift
	for key; do
		arguments+=(--arg "$key")
	done
	"$build/bin/kstackrand-config" --cc "$CC" --cflags "${arguments[@]}"
}

# compile_source NAME FLAG…: NAME.o. Each function begins a line of the cache,
# whatever stands before it.
compile_source() {
	local name=$1
	shift
	# shellcheck disable=SC2086 # CC may be words
	$CC -O2 -std=gnu11 -Wall -Wextra -falign-functions=64 -DSOURCE="$name" -I"$top/include" "$@" \
		-c "$top/bench/latency_source.c" -o "$scratch/$name.o"
}

# has_siphash: whether the plugin of this build takes rng=siphash.
has_siphash() {
	# shellcheck disable=SC2046 # words on purpose
	compile_source siphash $(plugin_flags siphash rng=siphash)
}

# build_all: the program, of one object for each of $sources.
build_all() {
	local name objects=() declared=''
	# shellcheck disable=SC2046 # words on purpose
	for name in $sources; do
		case $name in
		none | again) compile_source "$name" ;;
		fast) compile_source "$name" $(plugin_flags "$name") ;;
		fast_shared) compile_source "$name" -fPIC $(plugin_flags "$name") ;;
		fast_call) compile_source "$name" $(plugin_flags "$name" model=call) ;;
		siphash) compile_source "$name" $(plugin_flags "$name" rng=siphash) ;;
		*) compile_source "$name" -DGENERATOR="$name" ;;
		esac
		declared+="DO($name) "
		[[ $name == fast_shared ]] || objects+=("$scratch/$name.o")
	done
	# shellcheck disable=SC2086 # CC may be words
	$CC -O2 -std=gnu11 -Wall -Wextra -falign-functions=64 -I"$top/include" \
		-c "$top/bench/latency_lfsr113.c" -o "$scratch/lfsr113_called.o"
	objects+=("$scratch/lfsr113_called.o")
	# The library has the shared runtime, the program the archive. Its symbols
	# are made its own, or the library would find them and use them, too.
	# shellcheck disable=SC2086 # CC may be words
	{
		$CC -shared "$scratch/fast_shared.o" -L"$build/lib" -lkstackrand \
			-Wl,-rpath,"$build/lib" -o "$scratch/libfast_shared.so"
		ld -r --whole-archive "$build/lib/libkstackrand.a" --no-whole-archive "${objects[@]}" \
			-o "$scratch/program.o"
		objcopy --wildcard --localize-symbol='__kstackrand_*' --localize-symbol='kstackrand_*' \
			"$scratch/program.o"
		$CC -O2 -std=gnu11 -Wall -Wextra -falign-functions=64 -DSOURCES="$declared" \
			-I"$top/include" "$top/bench/latency.c" "$scratch/program.o" -L"$scratch" -lfast_shared \
			-Wl,-rpath,"$scratch" -Wl,-rpath-link,"$build/lib" -o "$scratch/latency"
	}
}

choose_sources() {
	sources="none again work fast fast_shared fast_call"
	if has_siphash >>"$log" 2>&1; then
		sources+=" siphash"
	else
		printf 'left out: siphash, which the plugin of this build does not know\n'
	fi
	sources+=" lfsr113 lfsr113_call ticks"
	if grep -qw rdrand /proc/cpuinfo; then
		sources+=" rdrand10"
	else
		printf 'left out: rdrand, which this processor does not have\n'
	fi
	sources+=" getrandom getrandom4096"
}

# In the foreground, so that it can show on its line how far it is.
run_all() {
	local status=0
	[[ ! -t 2 ]] || step_line=yes
	"$scratch/latency" "$calls" "$cpu" "$scratch/histograms.csv" >"$scratch/summary.csv" || status=$?
	((status == 0)) || exit "$status"
	step_line=no
}

report() {
	python3 "$top/bench/latency_report.py" "$@"
}

draw() {
	if ! command -v gnuplot >/dev/null; then
		printf 'no plot: apt install gnuplot-nox\n'
		return
	fi
	report curves "$output/latency-histograms.csv" "$scratch/curves"
	gnuplot -e "curves='$scratch/curves'; output='$scratch/latency.svg'; per_call=$(wc -w <<<"$sources")" \
		"$top/bench/latency.gnuplot" >>"$log" 2>&1 || {
		tail "$log" >&2
		die "gnuplot failed"
	}
	mv "$scratch/latency.svg" "$output/latency.svg"
}

read_arguments "$@"
begin_steps
export PYTHONDONTWRITEBYTECODE=1
choose_sources
step 300 "building" build_all
run_all
mkdir -p "$output"
mv "$scratch/histograms.csv" "$output/latency-histograms.csv"
mv "$scratch/summary.csv" "$output/latency.csv"
report text "$output/latency.csv" | tee "$output/latency.txt"
draw
if [[ $record == yes ]]; then
	# shellcheck disable=SC2086 # CC may be words
	report record "$output/latency.csv" "$top/docs/speed.md" \
		--compiler "$($CC --version | head -n 1)" --command "$command"
	printf 'wrote docs/speed.md\n'
fi
printf '\n'
report judge "$output/latency.csv" | tee -a "$output/latency.txt"
