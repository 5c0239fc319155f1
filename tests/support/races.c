/* SPDX-License-Identifier: MIT */
/*
 * 64 threads draw at once, by all models and generators there are, threads end and
 * begin, signal handlers draw, children are forked and draw, the mode changes: for
 * what looks for races to look at.
 *
 *   races SECONDS
 *
 * Built with the plugin; entry_call_* by model call, others inline.
 */
#include <kstackrand/kstackrand.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64
#define DRAWS 2000 /* of a thread before it ends */

void entry_inline_fast(void);
void entry_inline_siphash(void);
void entry_call_fast(void);
void entry_call_siphash(void);

#ifdef ENTRY
__attribute__((noinline)) void ENTRY(void)
{
	__asm__ volatile("");
}
#else

static void draw(void)
{
	entry_inline_fast();
	entry_inline_siphash();
	entry_call_fast();
	entry_call_siphash();
}

static void *draws(void *unused)
{
	for (int i = 0; i < DRAWS; i++)
		draw();
	return unused;
}

static void on_alarm(int number)
{
	(void)number;
	draw();
}

/* Those who find something in a child have nobody there to tell it to. */
static void fork_one(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		draw();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "races: a child did not come to its end\n");
		exit(1);
	}
}

static void start(pthread_t *thread)
{
	if (pthread_create(thread, NULL, draws, NULL)) {
		fprintf(stderr, "races: no thread\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const enum kstackrand_mode modes[] = { KSTACKRAND_OFF, KSTACKRAND_RANDOM, KSTACKRAND_FIXED,
		                                      KSTACKRAND_RANDOM };
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	pthread_t threads[THREADS];
	unsigned turns = 0;

	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		start(&threads[i]);
	setitimer(ITIMER_REAL, &often, NULL);
	while (time(NULL) < end) {
		pthread_join(threads[turns % THREADS], NULL);
		start(&threads[turns % THREADS]);
		if (turns % 8 == 0)
			fork_one();
		if (turns % 16 == 0 && kstackrand_set_mode(modes[turns / 16 % 4], 16))
			return 1;
		turns++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%u threads\n", THREADS + turns);
	return 0;
}
#endif
