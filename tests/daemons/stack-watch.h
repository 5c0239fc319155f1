/* SPDX-License-Identifier: MIT */
/*
 * The file that stack-watch.c writes and stack-histogram.c reads: a count and
 * an array, in the machine's own byte order, mapped and shared by the process
 * that is watched and its children.
 */
#ifndef STACK_WATCH_H
#define STACK_WATCH_H

#include <stdint.h>

/* Room for this many calls; later ones are counted, not kept. The file is
 * sparse: what is not used takes no room on the disk. */
#define STACK_WATCH_CAPACITY (UINT64_C(1) << 20)

/* Names the file, for the process that is watched. */
#define STACK_WATCH_VARIABLE "STACK_WATCH_FILE"

struct stack_watch {
	uint64_t count;                         /* calls seen */
	uint64_t address[STACK_WATCH_CAPACITY]; /* the callee's frame in each */
};

#endif
