#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs that nobody here wrote, every function of them an entry: do they still
# behave as without the plugin?
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
tests=$root/tests/torture
# shellcheck source=scripts/lib/steps.sh
. "$here/lib/steps.sh"
# shellcheck source=scripts/lib/debian-source.sh
. "$here/lib/debian-source.sh"
# shellcheck source=scripts/lib/tables.sh
. "$here/lib/tables.sh"

all_parts=(gcc-testsuite csmith)
parts=()
build=
compilers=()
options=()
seeds=2000
every=1
quick=no
install=yes
record=no
jobs=$(nproc)
document=$root/docs/torture.md

usage() {
	cat <<-END
		usage: scripts/torture.sh [--quick] [--build DIR] [--cc CC]... [--flags FLAGS]...
		                          [--only GLOB] [--every N] [--seeds N] [--jobs N]
		                          [--record] [--no-install] [PART]...

		PART is one of these; all of them, if none is named:

		  gcc-testsuite  GCC's own tests that are programs: gcc.c-torture/execute,
		                 gcc.dg/torture, g++.dg/torture, g++.dg/eh
		  csmith         random programs

		  --quick        a minute or two of it: every 40th program, 20 random ones, two
		                 sets of flags
		  --build DIR    the build tree whose plugins are tested (default: build/ of this
		                 tree, brought up to date first)
		  --cc CC        a compiler, as it is called, instead of GCC 12 and Clang 19 for
		                 x86_64 and arm64
		  --flags FLAGS  instead of seven sets of them, from -O0 to -O2 -flto
		  --only GLOB    programs of this name
		  --every N      of these, each Nth
		  --seeds N      csmith's: 1 to N (default: 2000)
		  --jobs N       at a time (default: one for each processor)
		  --record       writes the tables into docs/torture.md
		  --no-install   take the machine as it is
		  --help         this text

		Can be stopped at any time and goes on from there: what was found out is kept in
		$(torture_cache), by the content of the plugin.
		The last line of each part is PASS or FAIL; so is the exit status.
	END
}

torture_cache() {
	printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/kstackrand/torture"
}

read_arguments() {
	while (($# > 0)); do
		case $1 in
		--build | --cc | --flags | --only | --every | --seeds | --jobs)
			(($# > 1)) || die "$1 wants a value"
			case $1 in
			--build) build=$(realpath -- "$2") ;;
			--cc) compilers+=("$2") ;;
			--seeds) seeds=$2 ;;
			--jobs) jobs=$2 ;;
			--every) every=$2 ;;
			*) options+=("$1=$2") ;;
			esac
			shift
			;;
		--quick) quick=yes ;;
		--record) record=yes ;;
		--no-install) install=no ;;
		--help | -h)
			usage
			exit 0
			;;
		-*) die "unknown option '$1'; see --help" ;;
		*) parts+=("$1") ;;
		esac
		shift
	done
	check_arguments
}

check_arguments() {
	local part
	((${#parts[@]} > 0)) || parts=("${all_parts[@]}")
	for part in "${parts[@]}"; do
		[[ " ${all_parts[*]} " == *" $part "* ]] || die "there is no part '$part', but: ${all_parts[*]}"
	done
	[[ $seeds =~ ^[1-9][0-9]*$ ]] || die "--seeds wants a number, not '$seeds'"
	[[ $every =~ ^[1-9][0-9]*$ ]] || die "--every wants a number, not '$every'"
	[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "--jobs wants a number, not '$jobs'"
	[[ -z $build || -x $build/bin/kstackrand-config ]] ||
		die "--build wants a tree that was built, and $build has no bin/kstackrand-config"
	[[ $quick == no || $record == no ]] || die "--record is for the whole, not for --quick"
}

build_kstackrand() {
	cd "$root"
	step 300 "configuring kstackrand" cmake --preset default
	step 1800 "building kstackrand" cmake --build --preset default -j"$jobs"
	build=$root/build
	cd "$scratch"
}

# The whole, or the part of it that a minute or two allow.
choose() {
	if [[ $quick == yes ]]; then
		options+=(--flags=-O2 "--flags=-O2 -fstack-protector-strong -fstack-clash-protection")
		every=40
		seeds=20
	fi
	((${#compilers[@]} == 0)) || return 0
	if [[ $quick == yes ]]; then
		compilers=(gcc-12 clang-19)
	else
		compilers=(gcc-12 clang-19 aarch64-linux-gnu-gcc "clang-19 --target=aarch64-linux-gnu")
	fi
}

# Sets $testsuite: that of GCC 12, from Debian's package of its source.
testsuite=$(torture_cache)/gcc-12-testsuite
unpack_testsuite() {
	local deb partial=$testsuite.part
	[[ ! -d $testsuite ]] || return 0
	deb=$(fetch_debian_package gcc-12-source bookworm) || return
	rm -rf -- "$partial"
	mkdir -p "$partial"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards './usr/src/gcc-12/gcc-*.tar.xz' |
		tar -xJ -C "$partial" --strip-components=3 --wildcards \
			'*/gcc/testsuite/gcc.c-torture/*' '*/gcc/testsuite/gcc.dg/*' \
			'*/gcc/testsuite/g++.dg/*' '*/gcc/testsuite/c-c++-common/*' || return
	mv -T "$partial" "$testsuite"
}

# torture PART WHERE: its lines are shown as they come.
torture() {
	local compiler arguments=("${options[@]}")
	for compiler in "${compilers[@]}"; do
		arguments+=(--cc "$compiler")
	done
	[[ $record == no ]] || arguments+=(--table "$scratch/table")
	mkdir -p "$scratch/programs"
	watch python3 "$tests/torture.py" "$@" "${arguments[@]}" --jobs "$jobs" --build "$build" \
		--cache "$(torture_cache)" --scratch "$scratch/programs"
}

run_part() {
	printf '%s\n' "$1:"
	case $1 in
	gcc-testsuite)
		step 1800 "fetching and unpacking GCC's testsuite" unpack_testsuite
		torture gcc-testsuite "$testsuite" --every "$every" || return
		;;
	csmith) torture csmith "$seeds" || return ;;
	esac
	[[ $record == no ]] || write_table "$document" "scripts/torture.sh $1" "$scratch/table"
}

main() {
	local part status=0
	read_arguments "$@"
	[[ $install == no ]] || "$here/install-deps.sh" torture
	begin_steps
	export PYTHONDONTWRITEBYTECODE=1
	choose
	mkdir -p "$(torture_cache)"
	[[ -n $build ]] || build_kstackrand
	for part in "${parts[@]}"; do
		run_part "$part" || status=1
	done
	return "$status"
}

main "$@"
