# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Debian packages from the mirror that this machine already uses, without a
# change to its apt configuration and without root: a private list of sources
# and a private apt state, made from the machine's own entries. No mirror's
# address stands in this tree.
#
#     . scripts/lib/debian-source.sh
#     dsc=$(fetch_debian_source dnsmasq)            # the machine's suite
#     dsc=$(fetch_debian_source dnsmasq trixie)     # another one
#     dpkg-source -x "$dsc" DIRECTORY
#     deb=$(fetch_debian_package linux-source-5.10 bullseye)
#     deb=$(fetch_debian_package busybox-static "" arm64)
#
# Needs apt, awk and, to unpack, dpkg-dev.

# The files in which apt's sources are configured, in apt's own order.
_debian_source_files() {
	local file list parts
	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	for file in "$list" "$parts"/*.list "$parts"/*.sources; do
		if [[ -f $file && -r $file ]]; then
			printf '%s\n' "$file"
		fi
	done
}

# debian_apt_entry TYPES [SUITE]
#
# Writes the machine's own Debian entry as one deb822 stanza of those TYPES
# (deb, deb-src or both), with SUITE in place of the entry's own. It is the
# first entry that has the component main and is signed with Debian's archive
# keys; failing that, one whose path ends in /debian; failing that, one for the
# release that /etc/os-release names. Keys, named or embedded, come along.
debian_apt_entry() {
	local -a files
	local codename=''
	mapfile -t files < <(_debian_source_files)
	if [[ -r /etc/os-release ]]; then
		codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	fi
	if ((${#files[@]} == 0)); then
		echo "debian-source: error: this machine's apt has no sources" >&2
		return 1
	fi
	awk -v types="$1" -v suite="${2:-}" -v codename="$codename" '
	# One entry in plain terms; the best so far stays in "best".
	function consider(uris, suites, components, signed_by, more,    i, n, word, own, score) {
		if (components !~ /(^|[ \t\n])main([ \t\n]|$)/)
			return
		# Not the security archive and not updates or backports: they
		# hold a few packages each.
		n = split(suites, word, /[ \t\n]+/)
		for (i = n; i >= 1; i--)
			if (word[i] ~ /^[a-z]+$/)
				own = word[i]
		n = split(uris, word, /[ \t\n]+/)
		for (i = n; i >= 1; i--)
			if (word[i] ~ /^[a-z+]+:/ && word[i] !~ /^cdrom:/)
				uris = word[i]
		if (own == "" || uris ~ /^cdrom:/)
			return
		score = 4 * (signed_by ~ /debian-archive/) + 2 * (uris ~ /\/debian\/?$/) + (own == codename)
		if (score <= best_score)
			return
		best_score = score
		best = "Types: " types "\nURIs: " uris "\nSuites: " (suite == "" ? own : suite) \
			"\nComponents: main\n" more
		if (signed_by != "")
			best = best "Signed-By: " signed_by "\n"
	}

	function trim(text) {
		sub(/^[ \t]+/, "", text)
		sub(/[ \t\r]+$/, "", text)
		return text
	}

	# A stanza of a .sources file is over.
	function end_stanza(    more) {
		if (("types" in field) && " " field["types"] " " ~ /[ \t\n]deb(-src)?[ \t\n]/ &&
		    tolower(field["enabled"]) !~ /^(no|false|0)/) {
			if ("trusted" in field)
				more = more "Trusted: " field["trusted"] "\n"
			if ("check-valid-until" in field)
				more = more "Check-Valid-Until: " field["check-valid-until"] "\n"
			consider(field["uris"], field["suites"], field["components"],
			    field["signed-by"], more)
		}
		split("", field)
		key = ""
	}

	# deb [option=value option=value] uri suite component component
	function one_line(line,    i, n, word, options, more, signed_by, components) {
		if (match(line, /\[[^]]*\]/)) {
			options = substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, 1, RSTART - 1) " " substr(line, RSTART + RLENGTH)
		}
		n = split(trim(options), word, /[ \t]+/)
		for (i = 1; i <= n; i++) {
			if (word[i] ~ /^signed-by=/)
				signed_by = substr(word[i], 11)
			else if (word[i] ~ /^trusted=/)
				more = more "Trusted: " substr(word[i], 9) "\n"
			else if (word[i] ~ /^check-valid-until=/)
				more = more "Check-Valid-Until: " substr(word[i], 19) "\n"
		}
		gsub(/,/, " ", signed_by)
		n = split(trim(line), word, /[ \t]+/)
		for (i = 4; i <= n; i++)
			components = components " " word[i]
		consider(word[2], word[3], components, signed_by, more)
	}

	FNR == 1 { end_stanza() }
	/^#/ { next }
	FILENAME ~ /\.list$/ {
		sub(/#.*/, "")
		if ($1 == "deb" || $1 == "deb-src")
			one_line($0)
		next
	}
	/^[ \t]*\r?$/ { end_stanza(); next }
	/^[ \t]/ { if (key != "") field[key] = field[key] "\n" $0; next }
	{
		key = tolower(substr($0, 1, index($0, ":") - 1))
		field[key] = trim(substr($0, index($0, ":") + 1))
	}
	END {
		end_stanza()
		if (best == "") {
			print "debian-source: error: no Debian entry with the component main" \
				" among the apt sources of this machine" >"/dev/stderr"
			exit 1
		}
		printf "%s", best
	}' "${files[@]}"
}

# make_private_apt DIRECTORY TYPES [SUITE]
#
# Fills DIRECTORY so that `apt-get -c DIRECTORY/apt.conf …` works with that one
# entry and with state of its own, for root and for anybody. The machine's
# settings (proxies, certificates) hold; its hooks and pins do not.
make_private_apt() {
	local directory=$1
	mkdir -p "$directory"/{lists,cache/archives}/partial || return
	debian_apt_entry "$2" "${3:-}" >"$directory/apt.sources" || return
	cat >"$directory/apt.conf" <<-END
		Dir::Etc::sourcelist "$directory/apt.sources";
		Dir::Etc::sourceparts "-";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "-";
		Dir::State::lists "$directory/lists";
		Dir::Cache "$directory/cache";
		// As root, apt would fetch as another user, who may not write here.
		APT::Sandbox::User "root";
		APT::Update::Error-Mode "any";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::http::Timeout "30";
		Acquire::https::Timeout "30";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Default-Release;
		#clear DPkg::Post-Invoke;
	END
}

# debian_source_cache: where sources are kept between runs.
debian_source_cache() {
	printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/kstackrand/sources"
}

# _debian_keep KEPT TYPES SUITE SETTINGS COMMAND…
#
# Unless the directory KEPT is there: makes it in one step, with what `apt-get
# COMMAND…` fetches by a private apt of those TYPES and that SUITE. SETTINGS are
# lines for its apt.conf.
_debian_keep() (
	kept=$1 types=$2 suite=$3 settings=$4
	shift 4
	work=
	partial=
	trap 'rm -rf -- ${work:+"$work"} ${partial:+"$partial"}' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM

	[[ ! -d $kept ]] || return 0
	cache=$(dirname "$kept")
	mkdir -p "$cache"
	work=$(mktemp -d "${TMPDIR:-/tmp}/kstackrand-apt.XXXXXX") || return
	partial=$(mktemp -d "$cache/.partial.XXXXXX") || return
	make_private_apt "$work" "$types" "$suite" || return
	printf '%s' "$settings" >>"$work/apt.conf"
	apt-get -c "$work/apt.conf" -q update >&2 || return
	cd "$partial" || return
	apt-get -c "$work/apt.conf" -q "$@" >&2 || return
	chmod 755 .
	cd "$cache" || return
	# One step, so that the cache is whole at any moment. Whoever else was
	# as quick has the same files.
	mv -T "$partial" "$kept" 2>/dev/null || [[ -d $kept ]]
)

# _debian_suite TYPES: the suite of the machine's own entry.
_debian_suite() {
	local suite
	suite=$(debian_apt_entry "$1" | sed -n 's/^Suites: //p') || return
	[[ -n $suite ]] || return 1
	printf '%s\n' "$suite"
}

# _debian_kept KEPT SUFFIX: the file of that kind which is kept there.
_debian_kept() {
	set -- "$1" "$2" "$1"/*"$2"
	if [[ ! -f $3 ]]; then
		echo "debian-source: error: no $2 file in $1: remove that directory and try again" >&2
		return 1
	fi
	printf '%s\n' "$3"
}

# fetch_debian_source PACKAGE [SUITE]
#
# Writes the path of PACKAGE's .dsc file, with the archives that it names beside
# it. Fetches them once; afterwards they come from the cache and need no
# network. Whatever apt says goes to standard error. Its temporary files are in
# TMPDIR, and what it has only half of never stands in the cache under its name.
fetch_debian_source() {
	local package=$1 suite=${2:-} kept
	: "${suite:=$(_debian_suite deb-src)}"
	[[ -n $suite ]] || return 1
	kept=$(debian_source_cache)/$suite/$package
	_debian_keep "$kept" deb-src "$suite" '' \
		source --only-source --download-only "$package" || return
	_debian_kept "$kept" .dsc
}

# fetch_debian_package PACKAGE [SUITE [ARCHITECTURE]]
#
# The same for a binary package, which is not installed and may be of another
# architecture: writes the path of its .deb file.
fetch_debian_package() {
	local package=$1 suite=${2:-} architecture=${3:-$(dpkg --print-architecture)} kept
	: "${suite:=$(_debian_suite deb)}"
	[[ -n $suite ]] || return 1
	kept=$(debian_source_cache)/$suite/$package-$architecture
	_debian_keep "$kept" deb "$suite" "APT::Architectures { \"$architecture\"; };" \
		download "$package:$architecture" || return
	_debian_kept "$kept" .deb
}
