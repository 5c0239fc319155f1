# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Tables that scripts write into documents. What stands between these two lines is
# the script's own, the rest of the document is not:
#
#     <!-- table: NAME -->          or "table: NAME --option", as it is called
#     <!-- end of table -->

# write_table DOCUMENT NAME TABLE: the file TABLE in place of the table of that name.
write_table() {
	local written
	written=$(mktemp "$1.XXXXXX") || return
	awk -v begin="<!-- table: $2" -v table="$3" '
		inside && /^<!-- end of table -->/ { inside = 0 }
		!inside { print }
		index($0, begin) == 1 { inside = 1; while ((getline line < table) > 0) print line }
	' "$1" >"$written" && cat "$written" >"$1"
	rm -f -- "$written"
}
