// SPDX-License-Identifier: MIT
// In a sandbox where getrandom, mprotect and madvise fail, new threads and forked
// children still draw, and differ.
// REQUIRES: native
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: %cc -O2 -pthread -fplugin-arg-kstackrand-entry=entry -I%support %s %t.witness.o %libs -o %t
// RUN: %run %t
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sequences.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 500
#define DENY(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

uintptr_t entry(void)
{
	return witness();
}

static void *thread(void *sequence)
{
	record(sequence, entry);
	return NULL;
}

int main(void)
{
	static struct sequence in_threads[COUNT];
	struct sequence *in_children = mmap(NULL, COUNT * sizeof(*in_children), PROT_READ | PROT_WRITE,
	                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(SYS_getrandom),
		DENY(SYS_mprotect),
		DENY(SYS_madvise),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	static char stacks[COUNT][65536] __attribute__((aligned(16)));
	pthread_attr_t attributes;

	entry();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		return 1;
	}
	pthread_attr_init(&attributes);
	for (int i = 0; i < COUNT; i++) {
		pthread_t other;
		int status;

		/* A stack of ours: the library would want mprotect. */
		pthread_attr_setstack(&attributes, stacks[i], sizeof(stacks[i]));
		if (pthread_create(&other, &attributes, thread, &in_threads[i]))
			return 1;
		pthread_join(other, NULL);
		if (fork() == 0) {
			record(&in_children[i], entry);
			_exit(0);
		}
		wait(&status);
		if (status)
			return 1;
	}
	expect_all_different("threads", in_threads, COUNT);
	expect_all_different("children", in_children, COUNT);
	return 0;
}
