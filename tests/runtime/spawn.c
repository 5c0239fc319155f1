// SPDX-License-Identifier: MIT
// Programs that are started by posix_spawn, or by vfork and exec, draw what nobody
// drew before them. The parent, whose memory they share until they are another
// program, draws on from where it was.
// REQUIRES: native
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for flags in -static ""; do \
// RUN:   %cc -O2 $flags -fplugin-arg-kstackrand-entry=entry -I%support -I%include %s %t.witness.o %libs -o %t && \
// RUN:   %t posix_spawn || exit 1; \
// RUN: done && %t vfork
#define _GNU_SOURCE
#include <kstackrand/abi.h>
#include <sequences.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 300

extern __thread struct kstackrand_thread __kstackrand_thread __attribute__((tls_model("initial-exec")));
extern char **environ;

uintptr_t entry(void)
{
	return witness();
}

/* The sequences of all, in memory that is known by its file. */
static struct sequence *map(int file)
{
	struct sequence *sequences =
		mmap(NULL, (CHILDREN + 1) * sizeof(*sequences), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (sequences == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return sequences;
}

static pid_t start(const char *how, char *const arguments[])
{
	pid_t child;

	if (how[0] == 'p')
		return posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) ? -1 : child;
	child = vfork();
	if (child == 0) {
		entry(); /* in its parent's memory */
		execv(arguments[0], arguments);
		_exit(1);
	}
	return child;
}

static void run_child(char *program, const char *how, int file, int i)
{
	char file_text[16], i_text[16], *arguments[] = { program, file_text, i_text, NULL };
	int status;
	pid_t child;

	snprintf(file_text, sizeof(file_text), "%d", file);
	snprintf(i_text, sizeof(i_text), "%d", i);
	child = start(how, arguments);
	if (child < 0 || waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "%s: child %d did not come to its end\n", how, i);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct kstackrand_thread before;
	uint64_t draws = 0;
	int file;

	if (argc == 3) {
		record(&map(atoi(argv[1]))[atoi(argv[2])], entry);
		return 0;
	}
	file = memfd_create("sequences", 0);
	if (argc != 2 || file < 0 || ftruncate(file, (CHILDREN + 1) * sizeof(struct sequence)))
		return 2;
	record(&map(file)[CHILDREN], entry);
	before = __kstackrand_thread;
	for (int i = 0; i < CHILDREN; i++) {
		run_child(argv[0], argv[1], file, i);
		entry();
		draws += argv[1][0] == 'v' ? 2 : 1;
	}
	if (__kstackrand_thread.seal != before.seal || __kstackrand_thread.step != before.step ||
	    __kstackrand_thread.counter - before.counter != draws * before.step) {
		fprintf(stderr, "%s: the parent lost draws\n", argv[1]);
		return 1;
	}
	expect_all_different(argv[1], map(file), CHILDREN + 1);
	return 0;
}
