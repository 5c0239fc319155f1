#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Counts the instructions that an entry executes more than the same function
# without kstackrand, for each compiler in the build tree, and writes the table
# of docs/instructions.md by that.
#
#   scripts/count-instructions.sh          writes docs/instructions.md
#   scripts/count-instructions.sh --print  shows the table
#
# Counts come from valgrind on this machine's architecture and from qemu-user
# elsewhere, and are the same at each run: no clock is involved.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
# shellcheck source=scripts/lib/tables.sh
. "$top/scripts/lib/tables.sh"
build=$top/build
document=$top/docs/instructions.md
show=no

# The compilers that the table is about, when they are there.
compilers="gcc-12 clang-14 clang-19"
arches="x86_64 aarch64"
levels="O0 O2 Os"

die() {
	printf 'count-instructions.sh: error: %s\n' "$1" >&2
	exit 1
}

case ${1:-} in
'') ;;
--print) show=yes ;;
-h | --help)
	sed -n '3,13s/^# \{0,1\}//p' "$0"
	exit 0
	;;
*) die "unknown option '$1'; see --help" ;;
esac
[ -d "$build/lib" ] || die "there is no build in $build: run scripts/check.sh first"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# command COMPILER ARCH: how to call it, with its plugin; fails if there is none.
command_of() {
	local family=${1%-*} version=${1#*-} arch=$2 cc plugin
	if [ "$family" = gcc ]; then
		plugin=$build/lib/gcc/$arch-linux-gnu/$version/kstackrand.so
		cc=gcc-$version
		[ "$arch" = "$(uname -m)" ] || cc=$arch-linux-gnu-$cc
	else
		plugin=$build/lib/llvm/$version/kstackrand.so
		cc="clang-$version --target=$arch-linux-gnu"
	fi
	[ -e "$plugin" ] && command -v "${cc%% *}" >/dev/null || return 1
	printf '%s -fplugin=%s' "$cc" "$plugin"
}

# added COMPILER ARCH LEVEL MODEL SHAPE: what an entry of that shape costs more.
added() {
	local compiler=$1 arch=$2 level=$3 model=$4 shape=$5 cc lib=$build/lib fixed=''
	cc=$(command_of "$compiler" "$arch") || return 1
	if [ "$arch" != "$(uname -m)" ]; then
		lib=$lib/$arch-linux-gnu
		fixed="-static -no-pie"
		[ "${compiler%-*}" = gcc ] || fixed+=" -Wno-unused-command-line-argument"
	fi
	# shellcheck disable=SC2086 # words on purpose
	$cc -$level $fixed -fplugin-arg-kstackrand-entry="$shape" -fplugin-arg-kstackrand-model="$model" \
		"$top/tests/support/shapes.c" -L"$lib" -l:libkstackrand.a -o "$work/program"
	python3 "$top/tests/support/instructions.py" "$arch" "$work/program" "$shape" "${shape}_plain" |
		awk '{ count[NR] = $2 } END { printf "%+d", count[1] - count[2] }'
}

# shellcheck disable=SC2016 # the backticks are the document's
table() {
	local compiler arch level model shape cell
	printf '| compiler | architecture | -O level | leaf | calls another | with an array | leaf, model `call` |\n'
	printf '| --- | --- | --- | --- | --- | --- | --- |\n'
	for compiler in $compilers; do
		for arch in $arches; do
			command_of "$compiler" "$arch" >/dev/null || continue
			for level in $levels; do
				printf '| %s | %s | -%s |' "$compiler" "$arch" "$level"
				for cell in leaf:inline calls:inline array:inline leaf:call; do
					shape=${cell%:*} model=${cell#*:}
					printf ' %s |' "$(added "$compiler" "$arch" "$level" "$model" "$shape")"
				done
				printf '\n'
			done
		done
	done
}

if [ $show = yes ]; then
	table
	exit 0
fi
[ -e "$document" ] || die "$document is missing"
table >"$work/table"
write_table "$document" scripts/count-instructions.sh "$work/table"
printf 'count-instructions.sh: wrote %s\n' "${document#"$top"/}"
