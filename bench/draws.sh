#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What each generator of bench/generators.h costs and what finds it, and the same
# of the two that the plugin puts in line: a table of
#
#   - instructions, by callgrind, and ticks of the processor's counter, by
#     bench/draws.c, all more than those of a function that draws nothing;
#   - the tests of tests/random that tell 2^21 of its offsets from chance.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/steps.sh
. "$top/scripts/lib/steps.sh"
# shellcheck source=scripts/lib/tables.sh
. "$top/scripts/lib/tables.sh"

calls=1000000
record=no
CC=${CC:-gcc}
build=$top/build
battery=$build/tests/random
document=$top/docs/random.md
command="bench/draws.sh${*:+ $*}"

usage() {
	cat <<-END
		usage: bench/draws.sh [--calls N] [--record]

		  --calls N    by each generator, timed in turns; a million, if nothing is said
		  --record     writes the table into docs/random.md
		  --help       this text

		CC names the compiler, a GCC or Clang that the build tree has a plugin for.
	END
}

read_arguments() {
	while (($# > 0)); do
		case $1 in
		--calls)
			(($# > 1)) || die "$1 wants a value"
			calls=$2
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
	[[ $calls =~ ^[1-9][0-9]*000$ ]] || die "--calls wants a number of thousands, not '$calls'"
	[[ -x $build/bin/kstackrand-config && -x $battery/generate ]] ||
		die "there is no build in $build: run scripts/check.sh first"
}

# compile RNG ENTRY FLAG…: with the plugin, ENTRY drawing from RNG.
compile() {
	local rng=$1 entry=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # words on purpose
	$CC -O2 $("$build/bin/kstackrand-config" --cc "$CC" --cflags --arg "entry=$entry" --arg "rng=$rng" --arg werror) "$@"
}

build_programs() {
	local rng libraries
	libraries=$("$build/bin/kstackrand-config" --cc "$CC" --ldflags)
	for rng in fast siphash; do
		compile "$rng" "call_inline_$rng" -DCALL="call_inline_$rng" -c "$top/bench/draws_inline.c" \
			-o "$scratch/inline_$rng.o"
		# shellcheck disable=SC2086 # words on purpose
		{
			$CC -O1 -c "$top/tests/support/witness.c" -o "$scratch/witness.o"
			compile "$rng" entry -pthread -I"$top/tests/support" "$top/tests/random/recorder.c" \
				"$scratch/witness.o" $libraries -o "$scratch/recorder_$rng"
		}
	done
	# shellcheck disable=SC2086 # words on purpose
	$CC -O2 -I"$top/include" "$top/bench/draws.c" "$scratch"/inline_*.o $libraries -o "$scratch/draws"
}

count_instructions() {
	local name functions=()
	for name in $names; do
		functions+=("call_$name")
	done
	python3 "$top/tests/support/instructions.py" "$(uname -m)" "$scratch/draws" "${functions[@]}" |
		sed 's/^call_//' >"$scratch/instructions"
}

time_draws() {
	"$scratch/draws" time "$calls" >"$scratch/times"
}

# write_offsets NAME
write_offsets() {
	case $1 in
	inline_*) "$scratch/recorder_${1#inline_}" draws 2097280 "$scratch/cells" ;;
	*) "$battery/generate" draws "$1" 2097280 "$scratch/cells" ;;
	esac
}

# look NAME: a line of it and the tests that found it.
look() {
	local status=0 found
	write_offsets "$1"
	sh "$top/tests/random/battery.sh" "$battery" "$scratch/cells" >"$scratch/said" || status=$?
	((status <= 1)) || die "the battery could not look at $1"
	found=$(sed -n 's/^found: *//p' "$scratch/said")
	found=${found// /, }
	printf '%s;%s\n' "$1" "${found:-–}"
}

look_at_all() {
	local name
	for name in $names; do
		[[ $name == again ]] || look "$name"
	done >"$scratch/found"
}

table() {
	printf '| generator | state, bytes | instructions | run | mean | p50 | p99 | p99.9 | found by |\n'
	printf '| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
	awk -F'[;, ]' -v found="$scratch/found" '
		BEGIN { while ((getline line < found) > 0) { at = index(line, ";"); by[substr(line, 1, at - 1)] = substr(line, at + 1) } }
		NR == FNR { count[$1] = $2; next }
		$1 == "step" { printf "\nOne step of the counter: %s ticks.\n", $2; next }
		FNR > 1 {
			printf "| %s | %s | %+d | %s | %+.2f | %+d | %+d | %+d | %s |\n",
				$1, $2, count[$1] - count["null"], $3, $4, $5, $6, $7, $1 in by ? by[$1] : ""
		}
	' "$scratch/instructions" "$scratch/times"
	# shellcheck disable=SC2016,SC2086 # backquotes for Markdown; CC may be words
	printf '\n%s, %s; `%s`.\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
		"$($CC --version | head -n 1)" "$command"
}

read_arguments "$@"
begin_steps
export LD_LIBRARY_PATH=$build/lib PYTHONDONTWRITEBYTECODE=1
names="$(sed -n 's/^\tDO(\([a-z0-9_]*\)).*/\1/p' "$top/bench/generators.h" | tr '\n' ' ')again inline_fast inline_siphash"
step 300 "building" build_programs
step 600 "counting instructions" count_instructions
step 3600 "timing" time_draws
step 3600 "looking at 2^21 offsets of each" look_at_all
table | tee "$scratch/table"
if [[ $record == yes ]]; then
	write_table "$document" bench/draws.sh "$scratch/table"
	printf 'wrote docs/random.md\n'
fi
