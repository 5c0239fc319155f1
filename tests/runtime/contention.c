// SPDX-License-Identifier: MIT
// The mode is changed in several threads at once, while others draw, signal
// handlers draw in the middle of the change, and children are forked that draw
// and change it, too: nobody waits for ever, nothing faults, and nobody misses the
// last change.
// REQUIRES: native
// RUN: %cc -O2 -pthread -fplugin-arg-kstackrand-entry=entry -I%include %s %libs -o %t
// RUN: timeout 60 %run %t
#include <kstackrand/abi.h>
#include <kstackrand/kstackrand.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHANGES 5000
#define CHILDREN 150

extern struct kstackrand_process __kstackrand_process;
extern __thread struct kstackrand_thread __kstackrand_thread __attribute__((tls_model("initial-exec")));

static volatile int finished;

__attribute__((noinline)) void entry(void)
{
	__asm__ volatile("");
}

static void change(unsigned turn)
{
	/* From a mode without a key to one with it: there a draw needs the lock. */
	int error = kstackrand_set_mode(turn % 2 ? KSTACKRAND_FIXED : KSTACKRAND_RANDOM, 16);

	if (error) {
		fprintf(stderr, "kstackrand_set_mode: %s\n", strerror(error));
		exit(1);
	}
}

static void on_alarm(int number)
{
	(void)number;
	entry();
}

static void *changes(void *unused)
{
	for (unsigned i = 0; i < CHANGES; i++)
		change(i);
	return unused;
}

static void *draws(void *unused)
{
	while (!finished)
		entry();
	/* The mode is fixed now, and gives no thread a state. */
	if (__kstackrand_thread.seal == __kstackrand_process.key) {
		fprintf(stderr, "a thread draws as before the last change\n");
		exit(1);
	}
	return unused;
}

static void child(void)
{
	/* Its parent's other threads are gone, with whatever they held. */
	alarm(20);
	signal(SIGALRM, SIG_DFL);
	entry();
	change(0);
	change(1);
	entry();
	_exit(0);
}

int main(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t changing[3], drawing[2];

	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&drawing[i], NULL, draws, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&changing[i], NULL, changes, NULL);
	for (int i = 0; i < CHILDREN; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			child();
		waitpid(pid, &status, 0);
		if (status) {
			fprintf(stderr, "child %d ended with status %#x\n", i, status);
			return 1;
		}
	}
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(changing[i], NULL);
	changes(NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	finished = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(drawing[i], NULL);
	return 0;
}
