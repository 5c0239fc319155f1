#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What a shift costs on two processors that need not be there, computed by
# llvm-mca from the assembly that the compilers write: of model linux and of
# model inline, beside what Linux does by hand.
#
#   bench/mca.sh           writes the table of docs/speed.md
#   bench/mca.sh --print   shows it
#   bench/mca.sh --assembly COMPILER SEQUENCE
#                          shows what is looked at. COMPILER is gcc, clang-19,
#                          aarch64-linux-gnu-gcc or aarch64-clang-19; SEQUENCE is
#                          linux, inline, lfsr113 or kept
#
# BUILD names the build tree; build, if nothing is said.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/tables.sh
. "$top/scripts/lib/tables.sh"
build=${BUILD:-$top/build}
document=$top/docs/speed.md
mca=llvm-mca-19

compilers="gcc clang-19 aarch64-linux-gnu-gcc aarch64-clang-19"
sequences="linux inline lfsr113 kept"

die() {
	printf 'mca.sh: error: %s\n' "$1" >&2
	exit 1
}

usage() {
	sed -n '3,15s/^# \{0,1\}//p' "$0"
}

# describe COMPILER: sets $cc, $version, $processor, $triple, what begins a comment,
# and the flags of a kernel; fails if it is not there.
describe() {
	cc=$1
	processor=sapphirerapids
	triple=x86_64-linux-gnu
	comment='#'
	kernel="-ffreestanding -fno-pie -fno-stack-protector"
	version=GCC
	case $1 in
	*clang*) version=Clang ;;
	esac
	case $1 in
	aarch64-clang*) cc="${1#aarch64-} --target=aarch64-linux-gnu" ;;&
	aarch64-*)
		processor=neoverse-v1
		triple=aarch64-linux-gnu
		comment=//
		;;
	clang*) kernel+=" -mno-red-zone -mcmodel=kernel -mstack-alignment=8" ;;
	*) kernel+=" -mno-red-zone -mcmodel=kernel -mpreferred-stack-boundary=3" ;;
	esac
	version+=" $(${cc%% *} -dumpversion 2>/dev/null)" || return 1
}

plugin() {
	"$build/bin/kstackrand-config" --cc "$cc" --cflags --arg entry=ours --arg werror --arg "model=$1"
}

# compile NAME FLAG…: NAME.s
compile() {
	local name=$1
	shift
	# shellcheck disable=SC2086 # words on purpose
	$cc -O2 -std=gnu11 -I"$top/include" "$@" -S "$top/bench/mca.c" -o "$work/$name.s"
}

# function_of NAME FUNCTION: its instructions and labels, up to where ours says that
# the shift is done, or the stack is put back, or else its return. The # of a comment
# begins an immediate on arm64. Labels get names, for llvm-mca knows none that are
# numbers.
function_of() {
	awk -v name="$2" -v comment="$comment" '
		$0 ~ "^" name ":" { inside = 1; next }
		!inside { next }
		/^\.Lkstackrand_shifted/ { exit }
		{ sub("[ \t]*" comment ".*", "") }
		/^[ \t]*\.[a-z]/ || /^[ \t]*$/ { next }
		/^[ \t]+(leave|mov[q \t].*(%rbp, %rsp|sp, x29)$|lea.*\(%rbp\), %rsp)/ { exit }
		/^[ \t]*[0-9]+:/ { sub(/^[ \t]*/, "numbered_") }
		match($0, /[ \t][0-9]+[bf]$/) {
			$0 = substr($0, 1, RSTART) "numbered_" substr($0, RSTART + 1, RLENGTH - 2)
		}
		{ print }
		/^[ \t]+ret/ { exit }
	' "$work/$1.s"
}

# sequence NAME: its assembly, a call of next_word together with what is called.
sequence() {
	local line
	# shellcheck disable=SC2046,SC2086 # words on purpose
	case $1 in
	linux)
		compile own $kernel -D__KERNEL__ -DCONFIG_SMP=1 $(plugin linux)
		function_of own ours
		;;
	inline)
		compile own $(plugin inline)
		function_of own ours
		;;
	lfsr113)
		compile upstream $kernel -DUPSTREAM
		compile next_word $kernel -DNEXT_WORD
		function_of upstream upstream_lfsr113 | while IFS= read -r line; do
			printf '%s\n' "$line"
			if [[ $line == *next_word* ]]; then
				function_of next_word next_word
			fi
		done
		;;
	kept)
		compile upstream $kernel -DUPSTREAM
		function_of upstream upstream_kept
		;;
	*) die "unknown sequence '$1'; see --help" ;;
	esac
}

title_of() {
	case $1-$processor in
	linux-*) echo "kstackrand, model \`linux\`" ;;
	inline-*) echo "kstackrand, model \`inline\`" ;;
	lfsr113-*) echo "Linux 7.1: lfsr113 for each CPU" ;;
	kept-neoverse*) echo "Linux 6.1: kept offset, without what \`get_random_u16()\` does" ;;
	kept-*) echo "Linux 6.1: kept offset and rdtsc" ;;
	esac
}

# simulate FLAG…: "instructions micro-operations busy cycles" of the sequence, once.
simulate() {
	"$mca" -mtriple="$triple" -mcpu="$processor" -iterations=1 -call-latency=0 "$@" \
		"$work/sequence" 2>"$work/said" >"$work/told" || {
		cat "$work/said" >&2
		die "$mca failed"
	}
	awk '/^Instructions:/ { i = $2 } /^Total uOps:/ { u = $3 } /^Block RThroughput:/ { b = $3 }
		/^Total Cycles:/ { c = $3 } END { if (!i) exit 1; print i, u, b, c }' "$work/told"
}

# row SEQUENCE
row() {
	local free waits
	sequence "$1" >"$work/sequence"
	free=$(simulate)
	waits=$(simulate -noalias=false)
	printf '%s %s\n' "$free" "$waits" |
		awk -v OFS=' | ' -v first="| $processor | $version | $(title_of "$1")" '{
			print first, $1, $2, $3, $4 ($8 == $4 ? "" : " … " $8) " |"
		}'
}

table() {
	local compiler name
	printf '| processor | compiler | sequence | instructions | micro-operations | busy, cycles | latency, cycles |\n'
	printf '| --- | --- | --- | --- | --- | --- | --- |\n'
	for compiler in $compilers; do
		if ! describe "$compiler" || ! plugin linux >/dev/null 2>&1; then
			continue
		fi
		for name in $sequences; do
			row "$name"
		done
	done
}

[[ ${1:-} != -h && ${1:-} != --help ]] || {
	usage
	exit 0
}
[[ -x $build/bin/kstackrand-config ]] || die "there is no build in $build: run scripts/check.sh first"
command -v "$mca" >/dev/null || die "$mca is missing: apt install llvm-19"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

case ${1:-} in
'')
	[[ -e $document ]] || die "$document is missing"
	table >"$work/table"
	write_table "$document" bench/mca.sh "$work/table"
	printf 'mca.sh: wrote %s\n' "${document#"$top"/}"
	;;
--print) table ;;
--assembly)
	(($# == 3)) || die "--assembly wants a compiler and a sequence; see --help"
	describe "$2" || die "there is no compiler '$2'"
	sequence "$3"
	;;
*) die "unknown option '$1'; see --help" ;;
esac
