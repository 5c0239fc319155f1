# SPDX-License-Identifier: MIT
# For latency.sh: which share of calls took longer, one picture a kind of call, as
# far to the right as most sources differ, and a sixth that says whose curve is which.
# Variables: curves (a file of latency_report.py), output (a file), per_call (how
# many sources each kind has; the first shifts nothing).
set terminal svg size 1400,1500 enhanced background "white" font "sans,13"
set output output
set logscale y
set format y "10^{%T}"
set grid
set key off
titles = "'empty call, by itself' 'empty call, one of fifty in a row' getpid getppid 'invalid system call'"
# The end of each picture, in times of the quickest call.
ends = "4 8 2 2 2"
# Seven colours, each of them solid, dashed and dotted.
colours = "black #d55e00 #0072b2 #009e73 #cc79a7 #e69f00 #56b4e9"
colour(i) = word(colours, i % words(colours) + 1)
dash(i) = word("1 2 3", i / words(colours) + 1) + 0

set multiplot layout 3,2
do for [kind = 0:4] {
	set autoscale # or stats leaves out what is out of the last one's range
	stats curves index kind * per_call using 1 nooutput
	set title word(titles, kind + 1)
	set xlabel "ns"
	set ylabel "share of calls that took longer"
	set xrange [0.9 * STATS_min:word(ends, kind + 1) * STATS_min]
	set yrange [1e-4:1]
	plot for [i = 0:per_call - 1] curves index kind * per_call + i using 1:2 \
		with steps linewidth 2 linecolor rgb colour(i) dashtype dash(i)
}
unset border
unset tics
unset grid
unset xlabel
unset ylabel
unset title
set xrange [0:1]
set yrange [1:2]
set key center center samplen 6 spacing 1.4 noenhanced
plot for [i = 0:per_call - 1] curves index i using (NaN):(NaN) \
	with lines linewidth 2 linecolor rgb colour(i) dashtype dash(i) title columnheader(1)
unset multiplot
