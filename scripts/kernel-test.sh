#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A Linux kernel from Debian's source, not a line of it changed, built without
# and with the plugin; both booted in qemu; and whether the stack of system
# calls moves as it should, and what that costs.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build=$root/build
tests=$root/tests/kernel
# shellcheck source=scripts/lib/steps.sh
. "$here/lib/steps.sh"
# shellcheck source=scripts/lib/debian-source.sh
. "$here/lib/debian-source.sh"

version=6.1
arch=x86_64
cc=gcc
extra_config=
record=no
jobs=$(nproc)
results=$root/docs/kernel-results.jsonl

usage() {
	cat <<-END
		usage: scripts/kernel-test.sh [--kernel 5.10|6.1|6.12|7.2] [--arch x86_64|arm64]
		                              [--cc gcc|clang-19] [--config FILE] [--record] [--keep]

		Builds a small kernel three times: plainly, with Linux's own stack randomisation,
		and with kstackrand; boots each in qemu and judges what they print. The first time
		it takes as long as two kernel builds, some minutes each on two processors; a
		kernel that need not be rebuilt is kept.

		  --config FILE  more configuration for all three
		  --record       adds the result to docs/kernel-results.jsonl and the table in docs/
		  --keep         leave the scratch directory, with all that the kernels printed
		  --help         this text

		Source and builds are kept in
		$(kernel_cache).
		The last line is PASS or FAIL and the figures as JSON; so is the exit status.
	END
}

kernel_cache() {
	printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/kstackrand/kernel"
}

# The Debian suite that has this kernel's source.
suite_of() {
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	7.2) echo sid ;;
	*) return 1 ;;
	esac
}

read_arguments() {
	while (($# > 0)); do
		case $1 in
		--kernel | --arch | --cc | --config)
			(($# > 1)) || die "$1 wants a value"
			case $1 in
			--kernel) version=$2 ;;
			--arch) arch=$2 ;;
			--cc) cc=$2 ;;
			--config) extra_config=$(realpath -- "$2") ;;
			esac
			shift
			;;
		--record) record=yes ;;
		--keep) keep_scratch=yes ;;
		--help | -h)
			usage
			exit 0
			;;
		*) die "unknown option '$1'; see --help" ;;
		esac
		shift
	done
	suite_of "$version" >/dev/null || die "--kernel must be 5.10, 6.1, 6.12 or 7.2"
	[[ $arch == x86_64 || $arch == arm64 ]] || die "--arch must be x86_64 or arm64"
	[[ $cc =~ ^(gcc|clang)(-[0-9]+)?$ ]] || die "--cc must be gcc, gcc-N or clang-N"
	[[ -z $extra_config || -r $extra_config ]] || die "cannot read $extra_config"
}

# Sets what depends on architecture and compiler: $make_options for the kernel,
# $target_cc for programs that run in it, $image, and $debian_arch.
set_up_toolchain() {
	local triplet suffix=${cc#gcc} machine=x86_64
	make_options=("ARCH=$arch")
	cross=
	case $arch in
	x86_64)
		image=arch/x86/boot/bzImage
		debian_arch=amd64
		;;
	arm64)
		image=arch/arm64/boot/Image
		debian_arch=arm64
		machine=aarch64
		;;
	esac
	if [[ $(uname -m) != "$machine" ]]; then
		cross=$machine-linux-gnu-
		make_options+=("CROSS_COMPILE=$cross")
	fi
	target_cc=${cross}gcc
	case $cc in
	gcc*)
		kernel_cc=$cross$cc
		make_options+=("CC=$kernel_cc")
		command -v "$kernel_cc" >/dev/null || die "there is no $kernel_cc"
		triplet=$("$kernel_cc" -dumpmachine)
		suffix=$("$kernel_cc" -dumpversion)
		plugin=$build/lib/gcc/$triplet/${suffix%%.*}/kstackrand.so
		plugin_targets=("kstackrand-gcc-$triplet-${suffix%%.*}")
		;;
	clang*)
		kernel_cc=$cc
		make_options+=("LLVM=${cc#clang}")
		command -v "$kernel_cc" >/dev/null || die "there is no $kernel_cc"
		plugin=$build/lib/llvm/${cc#clang-}/kstackrand.so
		plugin_targets=("kstackrand-llvm-${cc#clang-}-front" "kstackrand-llvm-${cc#clang-}-pass")
		;;
	esac
}

build_kstackrand() {
	cd "$root"
	step 300 "configuring kstackrand" cmake --preset default
	step 1800 "building kstackrand for $kernel_cc" \
		cmake --build --preset default -j"$jobs" --target "${plugin_targets[@]}"
	[[ -f $plugin ]] || die "there is no plugin for $kernel_cc: $plugin"
	cd "$scratch"
}

# unpack_once DIRECTORY: the kernel's source, untouched, for all builds.
unpack_once() {
	local deb partial
	[[ ! -d $1 ]] || return 0
	deb=$(fetch_debian_package "linux-source-$version" "$(suite_of "$version")" all) || return
	partial=$(mktemp -d "$(dirname "$1")/.partial.XXXXXX") || return
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$version.tar.xz" |
		tar -xJ -C "$partial" --strip-components=1 || return
	mv -T "$partial" "$1"
}

# What a build depends on besides the source; another one starts it anew.
build_key() {
	cat "$tests/common.config" "$tests/$arch.config" ${extra_config:+"$extra_config"}
	"$kernel_cc" --version
	printf '%s\n' "${make_options[@]}"
	if [[ $1 == ours ]]; then
		sha256sum "$plugin" "$root/presets/linux.policy"
	fi
}

# prepare_build NAME: $kernel/NAME is a configured build directory.
prepare_build() {
	local directory=$kernel/$1 key
	key=$(build_key "$1" | sha256sum)
	if [[ -f $directory/.key && $(cat "$directory/.key") == "$key" ]]; then
		return 0
	fi
	rm -rf -- "$directory"
	mkdir -p "$directory"
	kernel_make "$1" tinyconfig || return
	(cd "$source_tree" && scripts/kconfig/merge_config.sh -m -O "$directory" "$directory/.config" \
		"$tests/common.config" "$tests/$arch.config" ${extra_config:+"$extra_config"}) || return
	kernel_make "$1" olddefconfig || return
	printf '%s\n' "$key" >"$directory/.key"
}

# kernel_make NAME ARGUMENT…: in the build directory of that name.
kernel_make() {
	local name=$1
	shift
	make -C "$source_tree" O="$kernel/$name" "${make_options[@]}" -j"$jobs" "$@"
}

# What a user gives.
kcflags() {
	printf '%s' "-fplugin=$plugin -fplugin-arg-kstackrand-policy=linux"
}

# The build's own output is kept beside the kernel: a later run that has nothing
# to build shall still see its warnings.
build_plain() {
	[[ ! -f $kernel/plain/image.plain ]] || return 0
	kernel_make plain "${image##*/}" >>"$kernel/plain/build.log" 2>&1 || return
	cp "$kernel/plain/$image" "$kernel/plain/image.plain"
}

# Upstream's own randomisation is one option more: few files are built again, in
# the same directory, for in a copy of it objtool would be built anew, and then
# everything.
build_upstream() {
	[[ ! -f $kernel/plain/image.upstream ]] || return 0
	"$source_tree/scripts/config" --file "$kernel/plain/.config" \
		-e RANDOMIZE_KSTACK_OFFSET -e RANDOMIZE_KSTACK_OFFSET_DEFAULT || return
	kernel_make plain olddefconfig || return
	kernel_make plain "${image##*/}" || return
	cp "$kernel/plain/$image" "$kernel/plain/image.upstream"
}

has_own() {
	grep -q 'config RANDOMIZE_KSTACK_OFFSET' "$source_tree/arch/Kconfig"
}

build_ours() {
	kernel_make ours KCFLAGS="$(kcflags)" "${image##*/}" vmlinux modules_prepare \
		>>"$kernel/ours/build.log" 2>&1
}

# A second build has nothing to do.
build_again() {
	kernel_make ours KCFLAGS="$(kcflags)" "${image##*/}" vmlinux >"$scratch/again" 2>&1 || return
	if grep -E '^  (CC|LD|AS|AR) ' "$scratch/again" | grep -vE ' (vmlinux|\.tmp_|.*\.kallsyms)' >"$scratch/rebuilt"; then
		echo "a second build makes again: $(tr -s ' \n' ' ' <"$scratch/rebuilt" | head -c 200)"
	else
		echo "ok: a second build compiles nothing"
	fi >"$logs/again.result"
}

check_functions() {
	local status=0
	python3 "$here/kernel-check.py" "$kernel/ours/vmlinux" || status=$?
	if ((status == 0)); then
		echo "ok: the policy's functions draw, by their machine code"
	else
		echo "scripts/kernel-check.py says otherwise, see the log"
	fi >"$logs/functions.result"
}

# Without the plugin, against the kernel that has it.
build_module() {
	mkdir -p "$scratch/module"
	cp "$tests/plain.c" "$scratch/module/"
	echo "obj-m := plain.o" >"$scratch/module/Kbuild"
	# No symbol versions without modules of its own; the symbols are in vmlinux.
	kernel_make ours M="$scratch/module" KBUILD_MODPOST_WARN=1 modules
}

# The initial file system: init, the module, busybox for the kernel's own test.
pack_initramfs() {
	local tree=$scratch/initramfs own=$source_tree/tools/testing/selftests/lkdtm/stack-entropy.sh
	mkdir -p "$tree/bin" "$tree/tmp"
	"$target_cc" -O2 -Wall -Wextra -D_GNU_SOURCE -static -o "$tree/init" "$tests/init.c" || return
	ln -s /init "$tree/bin/kmsg"
	dpkg-deb --fsys-tarfile "$(cat "$scratch/busybox")" | tar -xO ./bin/busybox >"$tree/bin/busybox" || return
	chmod 755 "$tree/bin/busybox"
	for applet in sh mktemp seq tac grep awk sort uniq wc bc rm echo kill; do
		ln -s busybox "$tree/bin/$applet"
	done
	if [[ -f $own ]]; then
		cp "$own" "$tree/"
	fi
	cp "$scratch/module/plain.ko" "$tree/"
	(cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$scratch/initramfs.gz"
}

fetch_busybox() {
	fetch_debian_package busybox-static "" "$debian_arch" >"$scratch/busybox"
}

# machine KERNEL NAME OPTION…: runs qemu until the kernel ends it.
machine() {
	local kernel_image=$1 name=$2
	shift 2
	"qemu-system-${machine_name}" "$@" -m 256 -display none -monitor none -nic none -no-reboot \
		-serial "file:$logs/$name.log" -kernel "$kernel_image" -initrd "$scratch/initramfs.gz"
}

# boot IMAGE TEST [PARAMETER]: into $logs/IMAGE-TEST.log, and for arm64 kernels
# that count or sample also as a host for virtual machines, at EL2.
boot() {
	local name=$1 test=$2 parameter=${3:-} file=$kernel/plain/image.$1 options=() variant label
	local append="quiet loglevel=1 panic=-1 TEST=$test"
	[[ $name != ours ]] || file=$kernel/ours/$image
	label=$name-$test${parameter:+-$parameter}
	case $parameter in
	"" | none) ;;
	*) append+=" kstackrand.mask=$parameter" ;;
	esac
	if [[ $test == count ]]; then
		options=(-smp 1 -icount shift=0)
	else
		options=(-smp "2,sockets=2" -accel "tcg,thread=multi")
	fi
	if [[ $arch == x86_64 ]]; then
		machine_name=x86_64
		step 600 "booting: $label" machine "$file" "$label" -M q35 -cpu max "${options[@]}" \
			-append "console=ttyS0 $append"
		return
	fi
	machine_name=aarch64
	for variant in "" -vhe; do
		step 900 "booting: $label$variant" machine "$file" "$label$variant" \
			-M "virt${variant:+,virtualization=on}" -cpu max "${options[@]}" -append "console=ttyAMA0 $append"
		[[ $test != mask ]] || return 0
	done
}

boot_all() {
	local mask
	boot plain count
	! has_own || boot upstream count
	boot ours count
	boot plain mask none
	for mask in 0 8 0x1f0 0xffffffffffffffff junk; do
		boot ours mask "$mask"
	done
	boot ours stack
}

main() {
	read_arguments "$@"
	if [[ -x $here/install-deps.sh ]]; then
		"$here/install-deps.sh" kernel
	fi
	begin_steps
	set_up_toolchain
	kernel=$(kernel_cache)/$version-$arch-$cc${extra_config:+-$(basename "$extra_config")}
	source_tree=$(kernel_cache)/linux-$version
	logs=$scratch/logs
	mkdir -p "$kernel" "$logs"
	build_kstackrand
	step 1200 "fetching and unpacking Linux $version" unpack_once "$source_tree"
	step 300 "fetching busybox for $debian_arch" fetch_busybox
	step 300 "configuring (plain)" prepare_build plain
	step 300 "configuring (ours)" prepare_build ours
	step 7200 "building (plain)" build_plain
	! has_own || step 3600 "building (upstream's own)" build_upstream
	step 7200 "building (ours)" build_ours
	step 600 "building again" build_again
	step 60 "looking for the policy's functions" check_functions
	step 300 "building a module without the plugin" build_module
	step 60 "packing the initial file system" pack_initramfs
	cp "$kernel/plain/build.log" "$logs/plain.build"
	cp "$kernel/ours/build.log" "$logs/ours.build"
	boot_all
	judge
}

judge() {
	local status=0 options release
	release=$(make -s -C "$source_tree" kernelversion)
	options=(--kernel "$release" --arch "$arch" --cc "$("$kernel_cc" --version | sed -n '1s/^\([^ ]*\).* \([0-9.]*\).*$/\1 \2/p')")
	[[ $record == no ]] || options+=(--results "$results")
	echo
	python3 "$tests/judge.py" run "$logs" "${options[@]}" >"$scratch/verdict" || status=$?
	if [[ $record == yes ]]; then
		python3 "$tests/judge.py" table "$results" --into "$root/docs/kernel.md"
	fi
	cat "$scratch/verdict"
	return "$status"
}

main "$@"
