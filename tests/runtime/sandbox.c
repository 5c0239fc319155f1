// SPDX-License-Identifier: MIT
// In a sandbox where getrandom, mprotect and madvise fail, new threads and forked
// children still draw, and differ; also where the sandbox was there from the
// start; and so do children of one child. Setting the mode fails there with the kernel's word, and changes nothing.
// Before the kernel's generator is seeded, nobody waits for it.
// REQUIRES: native
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: %cc -O2 -pthread -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t
// RUN: for how in late early early-madvise unseeded insecure; do %t $how || { echo $how >&2; exit 1; }; done
// RUN: for how in early-madvise; do KSTACKRAND=atfork %t $how || exit 1; done
#include <errno.h>
#include <kstackrand/kstackrand.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sequences.h>
#include <signal.h>
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

static void enter(struct sock_filter *filter, unsigned short length)
{
	struct sock_fprog program = { length, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(1);
	}
}

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

/* Nothing that the runtime asks for, but for mprotect where `only_madvise`: the
 * loader wants that. */
static void enter_sandbox(int only_madvise)
{
	struct sock_filter all[] = { LOAD(nr), DENY(SYS_madvise), DENY(SYS_getrandom), DENY(SYS_mprotect),
		                     RETURN(SECCOMP_RET_ALLOW) };
	/* As a kernel before 4.14 answers. */
	struct sock_filter madvise_only[] = { LOAD(nr),
		                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
		                              RETURN(SECCOMP_RET_ERRNO | EINVAL), RETURN(SECCOMP_RET_ALLOW) };

	if (only_madvise)
		enter(madvise_only, LENGTH(madvise_only));
	else
		enter(all, LENGTH(all));
}

/* A kernel that is not seeded: whoever asks so as to wait ends here, and so does
 * whoever asks for less than the best, if that is `fatal`. */
static void enter_unseeded(int fatal)
{
	struct sock_filter filter[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 4),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | EAGAIN),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 1),
		RETURN(fatal ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};

	/* Other system calls go past all that. */
	filter[1].jf = LENGTH(filter) - 3;
	enter(filter, LENGTH(filter));
}

static void run(pthread_attr_t *attributes, void *sequence)
{
	pthread_t other;

	if (pthread_create(&other, attributes, thread, sequence))
		exit(1);
	pthread_join(other, NULL);
}

/* Whether a new thread asks for what can be had before the kernel is seeded. */
static int asks_insecurely(pthread_attr_t *attributes, void *sequence)
{
	int status;

	if (fork() == 0) {
		enter_unseeded(1);
		run(attributes, sequence);
		_exit(0);
	}
	wait(&status);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static int moves(void)
{
	uintptr_t first = entry();
	int moved = 0;

	for (int i = 0; i < 30; i++)
		moved |= entry() != first;
	return moved;
}

/* Two children of one that drew: nothing may be left to them that makes them
 * draw alike. */
static void record_in_twins(struct sequence twins[2])
{
	entry();
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			record(&twins[i], entry);
			_exit(0);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	static struct sequence in_threads[COUNT];
	struct sequence *in_children = mmap(NULL, 2 * COUNT * sizeof(*in_children), PROT_READ | PROT_WRITE,
	                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static char stacks[COUNT][65536] __attribute__((aligned(16)));
	const char *how = argc > 1 ? argv[1] : "late";
	int mprotect_works = strcmp(how, "late") != 0;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	/* A stack of ours: the library would want mprotect. */
	pthread_attr_setstack(&attributes, stacks[0], sizeof(stacks[0]));
	if (strcmp(how, "insecure") == 0)
		return !asks_insecurely(&attributes, &in_threads[0]);
	if (strncmp(how, "early", 5) == 0 && argc < 3) {
		enter_sandbox(1);
		execl("/proc/self/exe", argv[0], how, "inside", NULL);
		return 1;
	}
	entry();
	if (strcmp(how, "unseeded") == 0)
		enter_unseeded(0);
	else if (strcmp(how, "early-madvise") != 0) {
		enter_sandbox(0);
		mprotect_works = 0;
	}
	if (strncmp(how, "early", 5) == 0) {
		int expected = getenv("KSTACKRAND") ? KSTACKRAND_FORK_ATFORK : KSTACKRAND_FORK_NONE;

		if ((int)kstackrand_get_fork_detection() != expected) {
			fprintf(stderr, "fork detection %d\n", kstackrand_get_fork_detection());
			return 1;
		}
	}
	if (kstackrand_set_mode(KSTACKRAND_OFF, 0) != (mprotect_works ? 0 : EPERM) ||
	    kstackrand_get_mode() != (mprotect_works ? KSTACKRAND_OFF : KSTACKRAND_RANDOM) || moves() == mprotect_works ||
	    (mprotect_works && kstackrand_set_mode(KSTACKRAND_RANDOM, 0) != 0)) {
		fprintf(stderr, "setting the mode\n");
		return 1;
	}
	for (int i = 0; i < COUNT; i++) {
		int status;

		pthread_attr_setstack(&attributes, stacks[i], sizeof(stacks[i]));
		run(&attributes, &in_threads[i]);
		if (fork() == 0) {
			record_in_twins(&in_children[2 * i]);
			_exit(0);
		}
		wait(&status);
		if (status)
			return 1;
	}
	expect_all_different("threads", in_threads, COUNT);
	expect_all_different("children", in_children, 2 * COUNT);
	return 0;
}
