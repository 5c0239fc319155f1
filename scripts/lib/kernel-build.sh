# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The builds of scripts/kernel-test.sh: Debian's kernel source, configured and
# compiled without the plugin ("plain"), with Linux's own stack randomisation
# ("upstream"), and with the plugin ("ours").
#
# Needs steps.sh and debian-source.sh, and from the script that reads this:
#
#   $version $arch $cc         the kernel and its compiler
#   $build                     the tree with the plugin
#   $policies $config_files    presets; configuration, the later overrides
#   $config_base               tinyconfig, or the architecture's defconfig
#   $source_tree $kernel       the source, untouched; the folder of all builds
#   $logs $jobs $root
#
# In $kernel/plain and $kernel/ours stand, besides what make has there:
#
#   image.NAME vmlinux.NAME    what was built, for each NAME of the above
#   build.log seconds          what make said, and how long it took
#   again.result               whether a second build had anything to do
#   .key                       what all of that depends on
#
# shellcheck disable=SC2154,SC2034  # what the script sets, see above, and uses

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

# Sets what depends on architecture and compiler: $make_options and $kernel_cc,
# $target_cc for programs that run in it, $image, $debian_arch and
# $machine_name.
set_up_toolchain() {
	local cross=
	make_options=("ARCH=$arch")
	case $arch in
	x86_64)
		image=arch/x86/boot/bzImage
		debian_arch=amd64
		machine_name=x86_64
		;;
	arm64)
		image=arch/arm64/boot/Image
		debian_arch=arm64
		machine_name=aarch64
		;;
	esac
	if [[ $(uname -m) != "$machine_name" ]]; then
		cross=$machine_name-linux-gnu-
		make_options+=("CROSS_COMPILE=$cross")
	fi
	target_cc=${cross}gcc
	case $cc in
	gcc*)
		kernel_cc=$cross$cc
		make_options+=("CC=$kernel_cc")
		;;
	clang*)
		kernel_cc=$cc
		make_options+=("LLVM=${cc#clang}")
		;;
	esac
	command -v "$kernel_cc" >/dev/null || die "there is no $kernel_cc"
	command -v "$target_cc" >/dev/null || die "there is no $target_cc"
}

# The compiler's name as people say it: gcc 12.2.0, clang 19.1.7.
compiler_name() {
	case $cc in
	gcc*) printf 'gcc %s\n' "$("$kernel_cc" -dumpfullversion)" ;;
	clang*) printf 'clang %s\n' "$("$kernel_cc" -dumpversion)" ;;
	esac
}

# kstackrand_config WHAT: what to give to this kernel's compiler.
kstackrand_config() {
	local policy options=()
	for policy in "${policies[@]}"; do
		options+=(--policy "$policy")
	done
	"$build/bin/kstackrand-config" --cc "$kernel_cc" "${options[@]}" "$1"
}

# unpack_once DIRECTORY: the kernel's source, untouched, for all builds. Of two
# runs at once the second waits for the first's.
unpack_once() (
	flock 9 || return
	[[ ! -d $1 ]] || return 0
	# Of the machine's own architecture: all have the package, but not all
	# mirrors have each suite's index of packages for no architecture.
	deb=$(fetch_debian_package "linux-source-$version" "$(suite_of "$version")") || return
	partial=$1.partial
	rm -rf -- "$partial" && mkdir "$partial" || return
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$version.tar.xz" |
		tar -xJ -C "$partial" --strip-components=1 || return
	mv -T "$partial" "$1"
) 9>"$1.lock"

# What a build depends on besides the source; another one starts it anew. Where
# the plugin lies is no part of that, but the whole of it is: a Clang plugin has
# its pass beside it.
build_key() {
	local policy plugin
	printf '%s\n' "$config_base" "${make_options[@]}"
	cat "${config_files[@]}"
	"$kernel_cc" --version
	if [[ $1 == ours ]]; then
		plugin=$(kstackrand_config --plugin)
		(cd "$(dirname "$plugin")" && sha256sum -- *.so)
		for policy in "${policies[@]}"; do
			printf '%s\n' "$policy"
			cat "$root/presets/$policy.policy"
		done
	fi
}

# prepare_build NAME: $kernel/NAME is a configured build directory.
prepare_build() {
	local directory=$kernel/$1 key
	key=$(build_key "$1" | sha256sum) || return
	if [[ -f $directory/.key && $(cat "$directory/.key") == "$key" ]]; then
		return 0
	fi
	rm -rf -- "$directory"
	mkdir -p "$directory"
	kernel_make "$1" "$config_base" || return
	(cd "$source_tree" && scripts/kconfig/merge_config.sh -m -O "$directory" "$directory/.config" \
		"${config_files[@]}") || return
	kernel_make "$1" olddefconfig || return
	check_wishes "$directory/.config" || return
	printf '%s\n' "$key" >"$directory/.key"
}

# check_wishes CONFIG: whether CONFIG has what the files of configuration asked
# for, the last word of them on each option. What they did not want counts only
# where --config says so: what our own files leave out is left out to save time,
# and may be there where something else wants it.
check_wishes() {
	local refused
	refused=$(awk -v strict="$extra_config" '
	function note(option, value) {
		if (FILENAME == ARGV[1])
			granted[option] = value
		else {
			wish[option] = value
			from[option] = FILENAME
		}
	}
	/^CONFIG_[A-Za-z0-9_]+=/ { at = index($0, "="); note(substr($0, 1, at - 1), substr($0, at + 1)) }
	/^# CONFIG_[A-Za-z0-9_]+ is not set/ { note($2, "n") }
	END {
		for (option in wish) {
			value = (option in granted) ? granted[option] : "n"
			if (wish[option] != value && (wish[option] != "n" || from[option] == strict))
				print option "=" wish[option] " of " from[option]
		}
	}' "$1" "${config_files[@]}" | sort | head -n 1)
	[[ -n $refused ]] || return 0
	echo "kernel-test.sh: error: Linux $version does not grant $refused: something that it depends on is missing" >&2
	return 1
}

# has_option OPTION: whether our kernel was configured so.
has_option() {
	grep -q "^CONFIG_$1=y" "$kernel/ours/.config"
}

# kernel_make NAME ARGUMENT…: in the build directory of that name.
kernel_make() {
	local name=$1
	shift
	make -C "$source_tree" O="$kernel/$name" "${make_options[@]}" -j"$jobs" "$@"
}

# timed_make NAME ARGUMENT…: the same; what it says is kept beside the kernel,
# so that a later run that has nothing to build still sees its warnings. How long
# it took, on the clock and of the processors, only if it was done in one go.
timed_make() {
	local directory=$kernel/$1 whole=yes TIMEFORMAT='%0R %0U %0S' clock user system
	[[ ! -e $directory/build.log ]] || whole=no
	{ time kernel_make "$@" >>"$directory/build.log" 2>&1; } 2>"$directory/time" || {
		tail -n 20 "$directory/build.log"
		return 1
	}
	read -r clock user system <"$directory/time"
	rm "$directory/time"
	[[ $whole == no ]] || echo "$clock $((user + system))" >"$directory/seconds"
}

# keep_image NAME DIRECTORY: the image comes last, and so says that all is there.
keep_image() {
	cp "$2/vmlinux" "$2/vmlinux.$1" && cp "$2/$image" "$2/.image" && mv "$2/.image" "$2/image.$1"
}

# make_targets: all that is built, modules only where there are any.
make_targets() {
	if [[ $config_base == tinyconfig ]]; then
		printf '%s\n' "${image##*/}" vmlinux modules_prepare
	else
		echo all
	fi
}

build_plain() {
	local targets
	[[ ! -f $kernel/plain/image.plain ]] || return 0
	mapfile -t targets < <(make_targets)
	timed_make plain "${targets[@]}" && keep_image plain "$kernel/plain"
}

# Upstream's own randomisation is one option more: few files are built again, in
# the same directory, for in a copy of it objtool would be built anew, and then
# everything.
build_upstream() {
	[[ ! -f $kernel/plain/image.upstream ]] || return 0
	choose_upstream plain || return
	kernel_make plain "${image##*/}" vmlinux || return
	keep_image upstream "$kernel/plain"
}

# choose_upstream NAME: switches its option on in the configuration there.
choose_upstream() {
	"$source_tree/scripts/config" --file "$kernel/$1/.config" \
		-e RANDOMIZE_KSTACK_OFFSET -e RANDOMIZE_KSTACK_OFFSET_DEFAULT || return
	kernel_make "$1" olddefconfig
}

has_own() {
	grep -q 'config RANDOMIZE_KSTACK_OFFSET' "$source_tree/arch/Kconfig"
}

build_ours() {
	local targets flags
	[[ ! -f $kernel/ours/image.ours ]] || return 0
	mapfile -t targets < <(make_targets)
	flags=$(kstackrand_config --kcflags) || return
	timed_make ours KCFLAGS="$flags" "${targets[@]}" || return
	build_again "$flags" || return
	keep_image ours "$kernel/ours"
}

# build_again FLAGS: a second build has nothing to do.
build_again() {
	local said=$kernel/ours/again.log
	kernel_make ours KCFLAGS="$1" "${image##*/}" vmlinux >"$said" 2>&1 || return
	if grep -E '^  (CC|LD|AS|AR) ' "$said" | grep -vE ' (vmlinux|\.tmp_|.*\.kallsyms)' >"$said.made"; then
		echo "a second build makes again: $(tr -s ' \n' ' ' <"$said.made" | head -c 200)"
	else
		echo "ok: a second build compiles nothing"
	fi >"$kernel/ours/again.result"
	rm -f "$said.made"
}

# deaf_compiler DIRECTORY: the compiler by its own name, there, but without the
# plugin. What make builds with it is the plain kernel, and make, which sees the
# same command as before, does not build the rest of the kernel again.
deaf_compiler() {
	mkdir -p "$1"
	cat >"$1/$kernel_cc" <<-END
		#!/usr/bin/env bash
		words=()
		for word; do
			case \$word in
			-fplugin=*/kstackrand.so | -fplugin-arg-kstackrand-* | -D__KSTACKRAND__=1) ;;
			*) words+=("\$word") ;;
			esac
		done
		exec $(command -v "$kernel_cc") "\${words[@]}"
	END
	chmod 755 "$1/$kernel_cc"
}

# make_deaf FLAGS LOG: what is not there, or not up to date, by such a compiler.
make_deaf() {
	deaf_compiler "$scratch/deaf"
	PATH=$scratch/deaf:$PATH kernel_make ours KCFLAGS="$1" "${image##*/}" vmlinux >"$2" 2>&1 || {
		tail -n 20 "$2"
		return 1
	}
}

# The objects in which the plugin had a part, and those that a warning names,
# so that it is seen whether it is the plugin's.
touched_objects() {
	local objects
	mapfile -t objects < <(find . -name '*.o' ! -name 'vmlinux*' ! -name '.*' -exec grep -lF __kstackrand_ {} +)
	printf '%s\n' "${objects[@]#./}"
	sed -nE "/warning:/s,^($source_tree/)?([A-Za-z0-9_/.-]+)\\.[cSo](:[0-9:]*)? .*,\\2.o,p" build.log |
		while read -r object; do
			[[ ! -f $object ]] || printf '%s\n' "$object"
		done
}

# The plain kernel from ours: a few files compiled without the plugin.
derive_plain() (
	[[ ! -f $kernel/ours/image.plain ]] || return 0
	flags=$(kstackrand_config --kcflags) || return
	cd "$kernel/ours" || return
	# A derivation that was stopped half way left fewer objects to be found.
	[[ -f touched ]] || touched_objects | sort -u >touched
	grep -q . touched || {
		echo "kernel-test.sh: error: no object of this kernel has the plugin's state" >&2
		return 1
	}
	xargs rm -f -- <touched
	make_deaf "$flags" plain.log || return
	if grep -qF __kstackrand_ vmlinux; then
		echo "kernel-test.sh: error: what was rebuilt without the plugin still has its state" >&2
		return 1
	fi
	keep_image plain .
)

# Upstream's own from the plain kernel that was made from ours.
derive_upstream() (
	[[ ! -f $kernel/ours/image.upstream ]] || return 0
	flags=$(kstackrand_config --kcflags) || return
	cd "$kernel/ours" || return
	[[ -f .config.ours ]] || cp .config .config.ours
	choose_upstream ours || return
	make_deaf "$flags" upstream.log || return
	keep_image upstream . && mv .config.ours .config
)
