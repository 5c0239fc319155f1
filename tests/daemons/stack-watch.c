/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that notes where the stack stands whenever a daemon
 * answers somebody over the network. It interposes sendmsg(2), the call that a
 * UDP server answers with, and stores the address of its own frame: the stack
 * as a callee of the request handler sees it. Nothing here is instrumented, and
 * nothing asks the runtime what it drew.
 *
 *     cc -shared -fPIC -O2 -o stack-watch.so stack-watch.c
 *     STACK_WATCH_FILE=positions LD_PRELOAD=./stack-watch.so daemon …
 */
#define _GNU_SOURCE
#include "stack-watch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

typedef ssize_t sendmsg_function(int, const struct msghdr *, int);

static sendmsg_function *next_sendmsg;
static struct stack_watch *watch;

/*
 * Before main: the daemon has not yet changed its user, its directory or its
 * open files. A mapping outlives all three, and what is stored in it is in the
 * file even if the process is killed.
 */
__attribute__((constructor)) static void start_watching(void)
{
	const char *path = getenv(STACK_WATCH_VARIABLE);
	void *mapping = MAP_FAILED;

	next_sendmsg = (sendmsg_function *)dlsym(RTLD_NEXT, "sendmsg");
	if (!path)
		return;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && ftruncate(fd, sizeof(*watch)) == 0)
		mapping = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapping == MAP_FAILED) {
		perror(path);
		_exit(127);
	}
	close(fd);
	watch = mapping;
}

/* Netlink and local sockets are the daemon's own business: only an answer to
 * the network is sent from inside a request handler. */
static int goes_to_network(const struct msghdr *message)
{
	const struct sockaddr *to = message->msg_name;

	return to && (to->sa_family == AF_INET || to->sa_family == AF_INET6);
}

/* Takes no lock and makes no call of its own: safe in any context. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (watch && goes_to_network(message)) {
		uint64_t call = __atomic_fetch_add(&watch->count, 1, __ATOMIC_RELAXED);

		if (call < STACK_WATCH_CAPACITY)
			watch->address[call] = (uintptr_t)__builtin_frame_address(0);
	}
	return next_sendmsg(fd, message, flags);
}
