// SPDX-License-Identifier: MIT
// 10^4 children by fork, _Fork and raw clone: none draws what its parent, or
// another child, drew. vfork shares its parent's state and goes on from there.
// Under an emulator that cannot tell of a fork, each draw asks the kernel.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: %cc -O2 -fplugin-arg-kstackrand-model=call -fplugin-arg-kstackrand-entry=entry \
// RUN:   -I%support -I%include %s %t.witness.o %libs -o %t
// RUN: %run_bare %t fork 1000
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t
// RUN: for how in fork _Fork clone; do %run_bare %t $how %many_forks || exit 1; done
// RUN: for how in vfork grandchild; do %run_bare %t $how 1000 || exit 1; done
// Where a fork can be told only by a handler, fork(3) is.
// RUN: %run %t fork %many_forks
// RUN: %run %t grandchild 1000
#define _GNU_SOURCE
#include <kstackrand/kstackrand.h>
#include <sequences.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

uintptr_t entry(void)
{
	return witness();
}

/* The parent draws between children, or not: a child must not need it. */
static pid_t spawn(const char *how)
{
	switch (how[0]) {
	case '_':
		return _Fork();
	case 'c':
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	default:
		return fork();
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fork";
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	struct sequence *sequences = mmap(NULL, (count + 1) * sizeof(*sequences), PROT_READ | PROT_WRITE,
	                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	record(&sequences[count], entry);
	for (size_t i = 0; i < count; i++) {
		/* Here and in no function of its own: the child uses this frame. */
		pid_t child = how[0] == 'v' ? vfork() : spawn(how);
		int status;

		if (child < 0)
			return 1;
		if (child == 0) {
			/* Without a draw in between: two forks from one state. */
			if (how[0] == 'g' && fork() > 0)
				_exit(wait(NULL) < 0);
			record(&sequences[i], entry);
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			fprintf(stderr, "%s: child %zu ended with status %#x\n", how, i, status);
			return 1;
		}
	}
	printf("fork detection %d\n", kstackrand_get_fork_detection());
	expect_all_different(how, sequences, count + 1);
	return 0;
}
