# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For scripts that take a while: steps with a clock and a limit, a scratch
# directory, and an end that leaves neither processes nor files behind, however
# it comes about.
#
#     . scripts/lib/steps.sh
#     begin_steps                       # $scratch and $log from here on
#     step 600 "building" make -j2      # its output goes to the log
#     watch make check                  # its output is shown as it comes
#     start_process ./daemon --flags    # $started_pid; stopped at the end
#
# A step and a process run in process groups of their own: Ctrl-C comes to the
# script alone, which ends them in order.

scratch=
log=
keep_scratch=no
step_pid=
step_line=no
started_pid=
started_pids=()

# die MESSAGE: one line, and the end.
die() {
	end_step_line
	printf '%s: error: %s\n' "${0##*/}" "$1" >&2
	exit 1
}

begin_steps() {
	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 141' PIPE
	trap 'exit 143' TERM
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/kstackrand-${0##*/}.XXXXXX")
	log=$scratch/log
	: >"$log"
	# Compilers and others leave their files with ours when they are killed.
	mkdir "$scratch/tmp"
	export TMPDIR=$scratch/tmp
}

clean_up() {
	local status=$?
	trap '' HUP INT PIPE TERM
	trap - EXIT
	set +e
	end_step_line
	if [[ -n $step_pid ]]; then
		stop_process "-$step_pid"
	fi
	stop_processes
	if [[ $keep_scratch == yes && -n $scratch ]]; then
		printf 'kept: %s\n' "$scratch"
	elif [[ -n $scratch ]]; then
		rm -rf -- "$scratch"
	fi
	exit "$status"
}

# A line that shows a running step is not finished yet.
end_step_line() {
	if [[ $step_line == yes ]]; then
		printf '\n'
		step_line=no
	fi
}

# launch COMMAND…: in the background, in a process group of its own, without a
# terminal. Its process id, and group, is $!.
launch() {
	set -m
	"$@" </dev/null >>"$log" 2>&1 &
	set +m
}

# step SECONDS TEXT COMMAND…: runs COMMAND, shows TEXT and how long it took. If
# it fails or takes longer than SECONDS, shows the end of its output and ends
# the script.
step() {
	local limit=$1 text=$2 start=$SECONDS status=0 from shown=-1
	shift 2
	from=$(($(wc -l <"$log") + 1))
	printf '%s … ' "$text"
	step_line=yes
	launch "$@"
	step_pid=$!
	while kill -0 "$step_pid" 2>/dev/null; do
		if ((SECONDS - start > limit)); then
			die "$text: not done after $limit seconds"
		fi
		if [[ -t 1 ]] && ((SECONDS != shown)); then
			shown=$SECONDS
			printf '\r%s … %d s ' "$text" $((SECONDS - start))
		fi
		sleep 0.1
	done
	wait "$step_pid" || status=$?
	step_pid=
	if [[ -t 1 ]]; then
		printf '\r%s … ' "$text"
	fi
	if ((status != 0)); then
		printf 'failed\n'
		step_line=no
		tail -n "+$from" "$log" | tail -n 20 >&2
		die "$text failed"
	fi
	printf '%d s\n' $((SECONDS - start))
	step_line=no
}

# watch COMMAND…: runs a program that says itself how far it is, for as long as it
# takes; gives its exit status.
watch() {
	local status=0
	set -m
	"$@" </dev/null &
	set +m
	started_pids+=($!)
	wait $! || status=$?
	unset 'started_pids[-1]'
	return "$status"
}

# start_process COMMAND…: starts a program that runs until it is stopped.
start_process() {
	launch "$@"
	started_pid=$!
	started_pids+=("$started_pid")
}

# stop_process PID: asks it to end, and after 2 seconds makes it. A negative
# PID is a process group. What bash has to say about the death of a child stays
# unsaid.
stop_process() {
	local pid=$1 tries=0
	kill -TERM -- "$pid" || :
	while kill -0 -- "$pid"; do
		if ((++tries > 40)); then
			kill -KILL -- "$pid" || :
			break
		fi
		sleep 0.05
	done
	wait "${pid#-}" || :
} 2>/dev/null

# stop_processes: all that start_process started.
stop_processes() {
	local pid
	for pid in "${started_pids[@]}"; do
		stop_process "$pid"
	done
	started_pids=()
}
