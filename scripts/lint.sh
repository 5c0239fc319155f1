#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Whether the sources are written as their folders' .clang-format and .clang-tidy
# say. Both by version 14, Debian 12's: others have other opinions.
#
#   scripts/lint.sh [BUILD]   a build folder with a compile_commands.json; default: build
set -euo pipefail

cd "$(dirname "$0")/.."
build=${1:-build}
[ -e "$build/compile_commands.json" ] || {
	echo "lint.sh: error: $build holds no compile_commands.json; configure with cmake --preset ci" >&2
	exit 1
}

# Most of the tests' programs are laid out around their RUN lines.
find bench/latency*.c bench/mca.c bench/timing.h gcc-plugin include llvm-pass policy runtime tests/daemons tests/policy \
	'(' -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.cpp' ')' \
	-exec clang-format-14 --dry-run -Werror '{}' +
# Clang knows all flags of ours but one.
database=$(mktemp -d)
trap 'rm -rf "$database"' EXIT
sed 's/ -fno-tree-loop-distribute-patterns//' "$build/compile_commands.json" >"$database/compile_commands.json"
clang-tidy-14 -p "$database" --quiet policy/*.c runtime/*.c
