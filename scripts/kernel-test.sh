#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A Linux kernel from Debian's source, not a line of it changed, built without
# and with the plugin; both booted in qemu; and whether the stack of system
# calls moves as it should, and what that costs.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
tests=$root/tests/kernel
# shellcheck source=scripts/lib/steps.sh
. "$here/lib/steps.sh"
# shellcheck source=scripts/lib/debian-source.sh
. "$here/lib/debian-source.sh"
# shellcheck source=scripts/lib/kernel-build.sh
. "$here/lib/kernel-build.sh"

version=6.1
arch=x86_64
cc=gcc
build=
policies=(linux)
config_base=tinyconfig
extra_config=
quick=no
battery=no
install=yes
record=no
jobs=$(nproc)
results=$root/docs/kernel-results.jsonl

usage() {
	cat <<-END
		usage: scripts/kernel-test.sh [--kernel 5.10|6.1|6.12|7.2] [--arch x86_64|arm64]
		                              [--cc gcc|clang-19] [--quick] [--build DIR]
		                              [--policy NAME] [--defconfig] [--config FILE]
		                              [--battery] [--record] [--keep] [--no-install]

		Builds a small kernel three times: plainly, with Linux's own stack randomisation,
		and with kstackrand; boots each in qemu and judges what they print. The first time
		it takes as long as two kernel builds, some minutes each on two processors; a
		kernel that need not be rebuilt is kept.

		  --quick        one build: the plain kernel is made from ours, by compiling again
		                 without the plugin the few files in which it had a part. Linux's
		                 own randomisation only with --record
		  --build DIR    the build tree whose plugin is tested (default: build/ of this
		                 tree, brought up to date first)
		  --policy NAME  one preset more besides linux, such as linux-exceptions
		  --defconfig    the architecture's own configuration and all its modules, in
		                 place of the small kernel; without Linux's own randomisation
		  --config FILE  more configuration, for all of the builds
		  --battery      nothing but the battery of tests/random on 2^21 offsets that the
		                 kernel itself reports; some minutes
		  --record       adds the result to docs/kernel-results.jsonl and the tables in docs/
		  --keep         leave the scratch directory, with all that the kernels printed
		  --no-install   take the machine as it is
		  --help         this text

		Source and builds are kept in
		$(kernel_cache).
		The last line is PASS or FAIL and the figures as JSON; so is the exit status.
	END
}

kernel_cache() {
	printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/kstackrand/kernel"
}

read_arguments() {
	while (($# > 0)); do
		case $1 in
		--kernel | --arch | --cc | --config | --build | --policy)
			(($# > 1)) || die "$1 wants a value"
			case $1 in
			--kernel) version=$2 ;;
			--arch) arch=$2 ;;
			--cc) cc=$2 ;;
			--config) extra_config=$(realpath -- "$2") ;;
			--build) build=$(realpath -- "$2") ;;
			--policy) policies+=("$2") ;;
			esac
			shift
			;;
		--quick) quick=yes ;;
		--battery) battery=yes ;;
		--defconfig) config_base=defconfig ;;
		--record) record=yes ;;
		--keep) keep_scratch=yes ;;
		--no-install) install=no ;;
		--help | -h)
			usage
			exit 0
			;;
		*) die "unknown option '$1'; see --help" ;;
		esac
		shift
	done
	check_arguments
}

check_arguments() {
	local policy
	suite_of "$version" >/dev/null || die "--kernel must be 5.10, 6.1, 6.12 or 7.2"
	[[ $arch == x86_64 || $arch == arm64 ]] || die "--arch must be x86_64 or arm64"
	[[ $cc =~ ^(gcc|clang)(-[0-9]+)?$ && $cc != clang ]] || die "--cc must be gcc, gcc-N or clang-N"
	[[ -z $extra_config || -r $extra_config ]] || die "cannot read $extra_config"
	[[ -z $build || -x $build/bin/kstackrand-config ]] ||
		die "--build wants a tree that was built, and $build has no bin/kstackrand-config"
	for policy in "${policies[@]}"; do
		[[ -r $root/presets/$policy.policy ]] || die "--policy wants a name from presets/, not '$policy'"
	done
}

# What this run has that the usual one has not, each in one word.
special() {
	[[ $config_base == tinyconfig ]] || printf '%s\n' "$config_base"
	if ((${#policies[@]} > 1)); then
		printf '%s\n' "${policies[@]:1}"
	fi
	[[ -z $extra_config ]] || basename "$extra_config" .config
}

# Sets what the builds are made of: $config_files, of which a later one has the
# last word, and the folders.
set_up_builds() {
	local file
	if [[ $config_base == tinyconfig ]]; then
		config_files=("$tests/common.config" "$tests/$arch.config")
	else
		config_files=("$tests/defconfig.config")
	fi
	for file in "$tests/$version.config" "$extra_config"; do
		[[ ! -f $file ]] || config_files+=("$file")
	done
	kernel=$(kernel_cache)/$version-$arch-$cc$(special | sed 's/^/-/' | tr -d '\n')
	source_tree=$(kernel_cache)/linux-$version
	logs=$scratch/logs
	mkdir -p "$kernel" "$logs"
	exec {lock}>"$kernel/.lock"
	flock -n "$lock" || die "another run builds in $kernel; wait for it to end"
}

build_kstackrand() {
	cd "$root"
	step 300 "configuring kstackrand" cmake --preset default
	step 1800 "building kstackrand" cmake --build --preset default -j"$jobs"
	build=$root/build
	cd "$scratch"
}

# policy_options: for kernel-check.py.
policy_options() {
	local policy
	for policy in "${policies[@]}"; do
		printf '%s\n' --policy "$root/presets/$policy.policy"
	done
}

# result_of TEXT: what kernel-check.py said last; all that it said is in the log.
result_of() {
	tail -n 1 <<<"$1" | sed 's/^PASS: /ok: /'
}

check_functions() {
	local options said
	mapfile -t options < <(policy_options)
	said=$(python3 "$here/kernel-check.py" "${options[@]}" "$kernel/ours/vmlinux.ours") || :
	printf '%s\n' "$said"
	result_of "$said" >"$logs/functions.result"
}

check_canaries() {
	local options said
	mapfile -t options < <(policy_options)
	said=$(python3 "$here/kernel-check.py" "${options[@]}" --canaries-of "$plain/vmlinux.plain" \
		"$kernel/ours/vmlinux.ours") || :
	printf '%s\n' "$said"
	result_of "$said" >"$logs/canaries.result"
}

# Without the plugin, against the kernel that has it.
build_module() {
	mkdir -p "$scratch/module"
	cp "$tests/plain.c" "$scratch/module/"
	echo "obj-m := plain.o" >"$scratch/module/Kbuild"
	# No symbol versions without modules of its own; the symbols are in vmlinux.
	kernel_make ours M="$scratch/module" KBUILD_MODPOST_WARN=1 modules
}

# A program of 32 bits, where the kernel runs them and there is a compiler. It
# is free-standing: no library of that kind is needed.
build_compat() {
	local compiler
	case $arch in
	x86_64) compiler=("$target_cc" -m32 -fno-pie -no-pie) ;;
	arm64) compiler=(arm-linux-gnueabihf-gcc -marm) ;;
	esac
	if [[ $arch == arm64 ]] && ! command -v "${compiler[0]}" >/dev/null; then
		compiler=("$(newest_clang)" --target=arm-linux-gnueabihf -fuse-ld=lld)
	fi
	"${compiler[@]}" -O2 -Wall -Wextra -ffreestanding -fno-stack-protector -nostdlib -static \
		-o "$1" "$tests/compat.c"
}

# One that can link for another architecture, that is, with lld beside it.
newest_clang() {
	local n
	for n in {30..11}; do
		if command -v "clang-$n" && command -v "ld.lld-$n" >/dev/null; then
			return
		fi
	done
	echo arm-linux-gnueabihf-gcc
}

has_compat() {
	has_option IA32_EMULATION || has_option COMPAT
}

# The initial file system: init, the module, busybox for the kernel's own test.
pack_initramfs() {
	local tree=$scratch/initramfs own=$source_tree/tools/testing/selftests/lkdtm/stack-entropy.sh
	mkdir -p "$tree/bin" "$tree/tmp"
	"$target_cc" -O2 -Wall -Wextra -D_GNU_SOURCE -static -o "$tree/init" "$tests/init.c" || return
	! has_compat || build_compat "$tree/compat" || return
	! has_option IA32_EMULATION || : >"$tree/int80"
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
	"qemu-system-${machine_name}" "$@" -m 1024 -display none -monitor none -nic none -no-reboot \
		-serial "file:$logs/$name.log" -kernel "$kernel_image" -initrd "$scratch/initramfs.gz"
}

# image_of NAME: the file with that kernel; upstream's is there or not.
image_of() {
	case $1 in
	ours) echo "$kernel/ours/image.ours" ;;
	plain) echo "$plain/image.plain" ;;
	upstream) echo "$plain/image.upstream" ;;
	esac
}

# boot IMAGE TEST [PARAMETER]: into $logs/IMAGE-TEST.log, and for arm64 kernels
# that count or sample also as a host for virtual machines, at EL2.
boot() {
	local name=$1 test=$2 parameter=${3:-} file options=() variant label limit=900
	# The console shows what the kernel finds wrong, and no more.
	local append="quiet loglevel=4 panic=-1 TEST=$test"
	file=$(image_of "$name")
	label=$name-$test${parameter:+-$parameter}
	case $parameter in
	"" | none) ;;
	*) append+=" kstackrand.mask=$parameter" ;;
	esac
	[[ $test != many ]] || limit=7200
	if [[ $test == count ]]; then
		options=(-smp 1 -icount shift=0)
	else
		options=(-smp "$cpus,sockets=$cpus" -accel "tcg,thread=multi")
	fi
	if [[ $arch == x86_64 ]]; then
		step $limit "booting: $label" machine "$file" "$label" -M q35 -cpu max "${options[@]}" \
			-append "console=ttyS0 $append"
		return
	fi
	for variant in "" -vhe; do
		step $limit "booting: $label$variant" machine "$file" "$label$variant" \
			-M "virt${variant:+,virtualization=on}" -cpu max "${options[@]}" -append "console=ttyAMA0 $append"
		[[ $test != mask && $test != many ]] || return 0
	done
}

boot_all() {
	local mask
	boot plain count
	[[ ! -f $(image_of upstream) ]] || boot upstream count
	boot ours count
	boot plain mask none
	for mask in 0 8 0x1f0 0xffffffffffffffff junk; do
		boot ours mask "$mask"
	done
	boot ours stack
}

# What the kernel says of its stack, to the programs that look at programs' stacks.
run_battery() {
	local status=0 programs=$build/tests/random
	[[ -x $programs/distribution ]] || die "there is no battery in $programs: apt install what cmake names, and build"
	boot ours many
	step 300 "reading what it printed" python3 "$tests/judge.py" cells "$logs/ours-many.log" "$scratch/cells"
	sh "$root/tests/random/battery.sh" "$programs" "$scratch/cells" || status=$?
	((status == 0)) && echo PASS || echo FAIL
	return "$status"
}

# All kernels, and $plain, the folder with the one that ours is compared with.
build_kernels() {
	step 300 "configuring (ours)" prepare_build ours
	if [[ $quick == yes ]]; then
		plain=$kernel/ours
		step 7200 "building (ours)" build_ours
		step 300 "building a module without the plugin" build_module
		step 1200 "making the plain kernel from it" derive_plain
		! wants_upstream || step 1200 "making upstream's own from that" derive_upstream
		return
	fi
	plain=$kernel/plain
	step 300 "configuring (plain)" prepare_build plain
	step 7200 "building (plain)" build_plain
	! wants_upstream || step 3600 "building (upstream's own)" build_upstream
	step 7200 "building (ours)" build_ours
	step 300 "building a module without the plugin" build_module
}

# Upstream's own is for the table of the usual kernels.
wants_upstream() {
	has_own && [[ -z $(special) && ($quick == no || $record == yes) ]]
}

keep_logs() {
	cp "$kernel/ours/build.log" "$logs/ours.build"
	cp "$kernel/ours/again.result" "$logs/"
	if [[ $quick == yes ]]; then
		cp "$plain/plain.log" "$logs/plain.build"
	else
		cp "$plain/build.log" "$logs/plain.build"
	fi
}

main() {
	read_arguments "$@"
	[[ $install == no ]] || "$here/install-deps.sh" kernel
	begin_steps
	set_up_toolchain
	set_up_builds
	[[ -n $build ]] || build_kstackrand
	kstackrand_config --plugin >/dev/null || die "there is no plugin for $kernel_cc in $build"
	step 1200 "fetching and unpacking Linux $version" unpack_once "$source_tree"
	step 300 "fetching busybox for $debian_arch" fetch_busybox
	build_kernels
	cpus=$(has_option SMP && echo 2 || echo 1)
	keep_logs
	step 60 "looking for the policy's functions" check_functions
	step 60 "comparing stack canaries" check_canaries
	step 60 "packing the initial file system" pack_initramfs
	if [[ $battery == yes ]]; then
		run_battery
		return
	fi
	boot_all
	judge
}

judge() {
	local status=0 options release with seconds
	release=$(make -s -C "$source_tree" kernelversion)
	with=$(special | sed ':all; N; s/\n/, /; t all')
	options=(--kernel "$release" --arch "$arch" --cc "$(compiler_name)" --cpus "$cpus")
	[[ -z $with ]] || options+=(--with "$with")
	! has_option IA32_EMULATION || options+=(--expect int80)
	! has_compat || options+=(--expect compat)
	if [[ $quick == no && -f $kernel/plain/seconds && -f $kernel/ours/seconds ]]; then
		mapfile -t -d ' ' seconds < <(cat "$kernel"/{plain,ours}/seconds | tr '\n' ' ')
		options+=(--seconds "${seconds[@]}")
	fi
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
