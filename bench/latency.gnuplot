# SPDX-License-Identifier: MIT
# For latency.sh: which share of calls took longer, one picture a kind of call.
# Variables: curves (a file of latency_report.py), output (a file), per_call (how
# many sources each kind has).
set terminal svg size 1400,1300 enhanced background "white" font "sans,12"
set output output
set datafile commentschars "#"
set logscale xy
set format y "10^{%T}"
set xlabel "ns"
set ylabel "share of calls that took longer"
set yrange [1e-6:1]
set grid
set key outside right font ",9" noenhanced
titles = "'empty call, by itself' 'empty call, one of fifty in a row' getpid getppid 'invalid system call'"
set multiplot layout 3,2
do for [kind = 0:4] {
	set title word(titles, kind + 1)
	plot for [i = 0:per_call - 1] curves index kind * per_call + i using 1:2 \
		with steps linewidth 2 linecolor i + 1 dashtype 1 + (i == 1) title columnheader(1)
}
unset multiplot
