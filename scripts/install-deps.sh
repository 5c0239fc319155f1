#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs through apt what a job of this project needs, says what that is, and
# is done at once when nothing is missing.
#
#   scripts/install-deps.sh demo     what scripts/demo.sh needs
#   scripts/install-deps.sh check    what scripts/check.sh needs: the compilers
#                                    most used, arm64, the test tools
#   scripts/install-deps.sh kernel   what scripts/kernel-test.sh needs
#   scripts/install-deps.sh torture  what scripts/torture.sh needs
#   scripts/install-deps.sh all      and every compiler that this Debian has
set -euo pipefail

usage() {
	sed -n '3,12s/^# \{0,1\}//p' "$0"
}

die() {
	printf 'install-deps.sh: error: %s\n' "$1" >&2
	exit 1
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "packages are missing and this is neither root nor is there sudo: install $*"
	fi
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]
}

# Whether apt could install it.
available() {
	[[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) =~ 'Candidate: '[^\(] ]]
}

# The major version that a package such as gcc or gcc-aarch64-linux-gnu brings.
default_gcc() {
	LC_ALL=C apt-cache depends "$1" 2>/dev/null |
		sed -n 's/.*Depends: .*gcc-\([0-9][0-9]*\).*/\1/p' | head -n 1
}

# The versions N, of those given, for which PREFIX-N-SUFFIX can be had.
versions_of() {
	local prefix=$1 suffix=$2 version
	shift 2
	for version; do
		if available "$prefix-$version$suffix"; then
			printf '%s\n' "$version"
		fi
	done
}

base_packages() {
	local gcc
	gcc=$(default_gcc gcc)
	printf '%s\n' gcc g++ make libc6-dev cmake ninja-build dpkg-dev xz-utils ca-certificates
	printf '%s\n' "gcc-$gcc-plugin-dev"
}

gcc_packages() {
	local version
	while read -r version; do
		printf '%s\n' "gcc-$version" "g++-$version" "gcc-$version-plugin-dev"
	done
}

llvm_packages() {
	local version
	while read -r version; do
		printf '%s\n' "clang-$version" "lld-$version" "llvm-$version" "llvm-$version-dev" \
			"llvm-$version-tools" "libclang-$version-dev" "libclang-rt-$version-dev"
	done
}

arm64_packages() {
	local gcc
	[ "$(dpkg --print-architecture)" = amd64 ] || return 0
	gcc=$(default_gcc gcc-aarch64-linux-gnu)
	printf '%s\n' gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user \
		"gcc-$gcc-plugin-dev-aarch64-linux-gnu"
}

test_packages() {
	printf '%s\n' binutils python3 pkg-config libcmocka-dev valgrind musl-tools file gdb \
		shellcheck libelf-dev libcapstone-dev rustc csmith libcsmith-dev \
		ccache libgsl-dev libm4ri-dev libfftw3-dev libflint-dev ent rng-tools-debian dieharder gnuplot-nox
	if available clang-format-14; then
		printf '%s\n' clang-format-14 clang-tidy-14
	fi
}

# To build a kernel, and to boot it.
kernel_packages() {
	printf '%s\n' flex bison bc libelf-dev libssl-dev cpio kmod rsync python3 libc6-dev \
		qemu-system-x86 qemu-system-arm
}

# Programs to compile, and what those ask for in turn.
torture_packages() {
	printf '%s\n' python3 csmith libcsmith-dev valgrind tcl-dev
}

wanted() {
	base_packages
	[ "$1" != demo ] || return 0
	if [ "$1" = torture ]; then
		torture_packages
		arm64_packages
		versions_of gcc -plugin-dev 12 | gcc_packages
		versions_of libclang -dev 19 | llvm_packages
		return
	fi
	if [ "$1" = kernel ]; then
		kernel_packages
		arm64_packages
		versions_of libclang -dev 19 | llvm_packages
		return
	fi
	test_packages
	kernel_packages
	arm64_packages
	if [ "$1" = check ]; then
		versions_of gcc -plugin-dev 11 12 14 | gcc_packages
		versions_of libclang -dev 14 19 | llvm_packages
	else
		versions_of gcc -plugin-dev 11 12 13 14 15 16 | gcc_packages
		versions_of libclang -dev 14 15 16 17 18 19 20 21 22 23 | llvm_packages
	fi
}

job=${1:-}
case $job in
demo | check | kernel | torture | all) ;;
-h | --help)
	usage
	exit 0
	;;
*) die "expected demo, check, kernel, torture or all, not '$job'" ;;
esac
command -v apt-get >/dev/null || die "this needs apt: Debian 12 or 13, or a close relative"

# A machine that never fetched its package lists knows of no candidate.
if ! available cmake; then
	echo "install-deps.sh: fetching package lists"
	as_root apt-get -q update >/dev/null || die "apt-get update failed"
fi

missing=()
while read -r package; do
	installed "$package" || missing+=("$package")
done < <(wanted "$job" | sort -u)
[ ${#missing[@]} -gt 0 ] || exit 0

echo "install-deps.sh: installing for '$job': ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_missing() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
		"${missing[@]}" >"$log" 2>&1
}
# Old package lists name files that the mirror no longer has.
if ! install_missing; then
	as_root apt-get -q update >/dev/null || die "apt-get update failed"
	if ! install_missing; then
		tail -n 20 "$log" >&2
		die "apt-get could not install: ${missing[*]}"
	fi
fi
