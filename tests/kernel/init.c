/* SPDX-License-Identifier: MIT */
/*
 * The first process of a test kernel: does what the boot parameter TEST says,
 * prints what it saw, one "KT key values" a line, and ends the machine. What
 * the numbers mean is for judge.py on the host to say.
 *
 *   TEST=stack  where the stack stands: one task, the ways of 32-bit programs, a
 *               task between two CPUs, many children; the kernel's own test; a
 *               module; a backtrace
 *   TEST=mask   a few samples, the mask, a backtrace
 *   TEST=many   one task, as many samples as the battery of tests/random wants
 *   TEST=count  instructions a system call, for qemu's -icount shift=0
 *
 * As `kmsg`, it is just enough of dmesg for the kernel's own test.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/random.h>

#define TEXT(number) QUOTE(number)
#define QUOTE(text) #text

/* As many calls as the kernel's buffers hold between two looks. */
#define BATCH 256
#define SAMPLES (80 * BATCH)
#define MANY_SAMPLES 2097408 /* 2^21 + BATCH */
#define COMPAT_SAMPLES (16 * BATCH)
#define FORKS 3000
#define CHILD_SAMPLES 12
#define BOUNCES 2000

static const char report[] = "REPORT_STACK";
static const char trigger[] = "/sys/kernel/debug/provoke-crash/DIRECT";
static const char tracing[] = "/sys/kernel/debug/tracing";
static const char parameter[] = "/sys/module/kstackrand/parameters/mask";

static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("KT ", stdout);
	vprintf(format, arguments);
	putchar('\n');
	fflush(stdout);
	va_end(arguments);
}

static void finish(void)
{
	say("end");
	/* The serial line is slower than the machine. */
	sleep(1);
	reboot(RB_AUTOBOOT);
	exit(0);
}

static void fail(const char *what)
{
	say("error %s: %s", what, strerror(errno));
	finish();
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* As far as the buffer goes, ended by a zero. */
static ssize_t read_file(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while (used < size - 1 && (got = read(fd, buffer + used, size - 1 - used)) > 0)
		used += (size_t)got;
	buffer[used] = '\0';
	close(fd);
	return (ssize_t)used;
}

static void run_on(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) != 0)
		fail("sched_setaffinity");
}

/*
 * The kernel's own view of its stack. LKDTM has a trigger that reports where it
 * stands (since 5.13), below the system call write(); before, an event on
 * getppid() tells the stack pointer.
 *
 * One task draws at a time, so that what is found is what it drew.
 */
static int trigger_fd = -1;
static int kmsg_fd = -1;
static bool by_event;

static void open_lkdtm(void)
{
	kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (kmsg_fd < 0)
		fail("/dev/kmsg");
	lseek(kmsg_fd, 0, SEEK_END);
}

static void open_event(const char *architecture)
{
	char path[128];
	char event[128];

	snprintf(event, sizeof(event), "p:stack __%s_sys_getppid sp=%%sp", architecture);
	snprintf(path, sizeof(path), "%s/kprobe_events", tracing);
	if (!write_file(path, event))
		fail(path);
	snprintf(path, sizeof(path), "%s/events/kprobes/stack/enable", tracing);
	if (!write_file(path, "1"))
		fail(path);
	by_event = true;
}

static void open_view(void)
{
	char types[4096];
	bool reports;

	reports = read_file(trigger, types, sizeof(types)) > 0 && strstr(types, report);
	trigger_fd = open(trigger, O_WRONLY);
	if (reports && trigger_fd >= 0)
		open_lkdtm();
	else
#ifdef __x86_64__
		open_event("x64");
#else
		open_event("arm64");
#endif
	say("view %s", by_event ? "event" : "lkdtm");
}

static void draw(void)
{
	if (by_event)
		syscall(SYS_getppid);
	else if (write(trigger_fd, report, strlen(report)) < 0)
		fail("REPORT_STACK");
}

static size_t collect_lkdtm(int *offsets, size_t room)
{
	static const char mark[] = "Stack offset: ";
	char record[1024];
	size_t count = 0;
	ssize_t got;

	while (count < room) {
		const char *found;

		got = read(kmsg_fd, record, sizeof(record) - 1);
		if (got < 0 && errno == EPIPE) {
			say("error lost messages");
			continue;
		}
		if (got <= 0)
			break;
		record[got] = '\0';
		found = strstr(record, mark);
		if (found)
			offsets[count++] = atoi(found + strlen(mark));
	}
	return count;
}

static size_t collect_event(int *offsets, size_t room)
{
	static char text[1 << 20];
	char path[128];
	size_t count = 0;
	static uint64_t first;

	snprintf(path, sizeof(path), "%s/trace", tracing);
	if (read_file(path, text, sizeof(text)) < 0)
		fail(path);
	for (char *at = text; count < room && (at = strstr(at, "sp=0x")); at++) {
		uint64_t stack = strtoull(at + 3, NULL, 16);

		if (!first)
			first = stack;
		offsets[count++] = (int)(first - stack);
	}
	if (!write_file(path, ""))
		fail(path);
	return count;
}

/* Takes what was drawn since the last time; at most 1000 draws at a time fit
 * into the kernel's buffers. */
static size_t collect(int *offsets, size_t room)
{
	return by_event ? collect_event(offsets, room) : collect_lkdtm(offsets, room);
}

static void print_offsets(const char *key, const int *offsets, size_t count)
{
	for (size_t i = 0; i < count; i += 32) {
		printf("KT %s", key);
		for (size_t j = i; j < count && j < i + 32; j++)
			printf(" %d", offsets[j]);
		putchar('\n');
	}
	fflush(stdout);
}

/* Prints where the stack stood in that many calls, which `draw_some` makes. */
static void sample_by(void (*draw_some)(size_t count), const char *key, size_t wanted)
{
	int offsets[BATCH];

	while (wanted > 0) {
		size_t count = wanted < BATCH ? wanted : BATCH;

		draw_some(count);
		if (collect(offsets, count) != count)
			fail("fewer positions than calls");
		print_offsets(key, offsets, count);
		wanted -= count;
	}
}

static void draw_natively(size_t count)
{
	for (size_t i = 0; i < count; i++)
		draw();
}

static void sample(const char *key, size_t wanted)
{
	sample_by(draw_natively, key, wanted);
}

#ifdef __x86_64__
/* The way of 32-bit programs that 64-bit ones have, too. What it points to must
 * lie in the lowest 4 GiB: this program is linked there. */
static void draw_by_int80(size_t count)
{
	enum { GETPPID = 64, WRITE = 4 };

	for (size_t i = 0; i < count; i++) {
		long result = by_event ? GETPPID : WRITE;

		__asm__ volatile("int $0x80"
		                 : "+a"(result)
		                 : "b"((long)trigger_fd), "c"(report), "d"(strlen(report))
		                 : "memory", "cc");
		if (result < 0) {
			errno = (int)-result;
			fail("int $0x80");
		}
	}
}

static void sample_int80(void)
{
	/* A kernel without it has nothing at that vector. */
	if (access("/int80", F_OK) == 0)
		sample_by(draw_by_int80, "int80", COMPAT_SAMPLES);
}
#else
static void sample_int80(void) { }
#endif

/* A program of 32 bits, compat.c. It is one process for all calls: LKDTM tells
 * where each stands from where the first of its process did. */
static struct {
	pid_t pid;
	int ask;
	int answer;
} compat;

static void start_compat(void)
{
	char fd[16];
	int ask[2];
	int answer[2];

	snprintf(fd, sizeof(fd), "%d", by_event ? 0 : trigger_fd);
	if (pipe(ask) != 0 || pipe(answer) != 0)
		fail("pipe");
	compat.pid = fork();
	if (compat.pid == 0) {
		dup2(ask[0], 0);
		dup2(answer[1], 1);
		close(ask[1]);
		execl("/compat", "compat", TEXT(BATCH), fd, NULL);
		_exit(127);
	}
	close(ask[0]);
	close(answer[1]);
	compat.ask = ask[1];
	compat.answer = answer[0];
}

static void draw_in_compat(size_t count)
{
	char byte = 0;

	if (count != BATCH || write(compat.ask, &byte, 1) != 1 || read(compat.answer, &byte, 1) != 1)
		fail("a program of 32 bits");
}

static void sample_compat(void)
{
	int status;

	if (access("/compat", X_OK) != 0)
		return;
	start_compat();
	sample_by(draw_in_compat, "compat", COMPAT_SAMPLES);
	close(compat.ask);
	if (waitpid(compat.pid, &status, 0) != compat.pid || status != 0)
		fail("a program of 32 bits");
}

static int last_cpu;

/* One line a child: its CPU and its first positions. */
static void sample_children(void)
{
	int offsets[CHILD_SAMPLES];

	for (int child = 0; child < FORKS; child++) {
		int cpu = child % (last_cpu + 1);
		int status;
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			run_on(0, cpu);
			for (int i = 0; i < CHILD_SAMPLES; i++)
				draw();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			fail("child");
		if (collect(offsets, CHILD_SAMPLES) != CHILD_SAMPLES)
			fail("fewer positions than calls of a child");
		printf("KT child %d", cpu);
		for (int i = 0; i < CHILD_SAMPLES; i++)
			printf(" %d", offsets[i]);
		putchar('\n');
	}
	fflush(stdout);
}

/*
 * A task that is moved to the other CPU while it is blocked in a system call,
 * again and again. A design that kept the next offset from one call to the next
 * would show the same one twice here.
 */
static void sample_between_cpus(void)
{
	int calls[2];
	int blocks[2];
	int offset;
	pid_t mover;
	pid_t self = getpid();
	char byte = 0;

	if (last_cpu == 0)
		return;
	if (pipe(calls) != 0 || pipe(blocks) != 0)
		fail("pipe");
	mover = fork();
	if (mover < 0)
		fail("fork");
	if (mover == 0) {
		run_on(0, 1);
		for (int i = 0; i < BOUNCES; i++) {
			if (read(blocks[0], &byte, 1) != 1)
				_exit(1);
			/* Until it does block. */
			usleep(20);
			run_on(self, i % 2);
			if (write(calls[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < BOUNCES; i++) {
		unsigned cpu;

		if (write(blocks[1], &byte, 1) != 1 || read(calls[0], &byte, 1) != 1)
			fail("a task that is moved");
		draw();
		getcpu(&cpu, NULL);
		if (collect(&offset, 1) != 1)
			fail("no position between CPUs");
		printf("KT moved %u %d\n", cpu, offset);
	}
	fflush(stdout);
	waitpid(mover, NULL, 0);
	run_on(0, 0);
}

static void show_mask(void)
{
	char text[64];
	struct stat status;
	int fd;

	if (read_file(parameter, text, sizeof(text)) < 0) {
		say("mask none");
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (stat(parameter, &status) != 0)
		fail(parameter);
	fd = open(parameter, O_WRONLY);
	say("mask %s mode %o writable %s", text, status.st_mode & 0777,
	    fd >= 0 && write(fd, "0", 1) == 1 ? "yes" : "no");
}

/*
 * The kernel's own test, as it stands in the kernel's source. It wants a dmesg
 * that follows, which busybox has not: that much is put in its place. It stops
 * that one and reads what it wrote, without asking if it has come that far; on a
 * busy machine it may not have begun: hence a kill that waits for it. To a
 * terminal the test would count aloud.
 */
static void run_own_test(void)
{
	static const char script[] =
		"dmesg() { exec /bin/kmsg \"$@\"; }\n"
		"kill() {\n"
		"	echo 'this far' >/dev/kmsg\n"
		"	for try in $(seq 10000); do ! grep -q 'this far' \"$log\" || break; done\n"
		"	/bin/kill \"$@\"\n"
		"}\n"
		". /stack-entropy.sh";
	char output[4096] = "";
	int status;
	pid_t pid;

	if (by_event || access("/stack-entropy.sh", R_OK) != 0) {
		say("own none");
		return;
	}
	pid = fork();
	if (pid == 0) {
		int fd = open("/tmp/own", O_RDWR | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("the kernel's own test");
	read_file("/tmp/own", output, sizeof(output));
	for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n"))
		say("own said %s", line);
	say("own status %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* A module that knows nothing of kstackrand, in the folder of this program. */
static void load_module(void)
{
	char line[256] = "";
	int fd = open("/plain.ko", O_RDONLY);

	if (fd < 0) {
		say("module none");
		return;
	}
	if (syscall(SYS_finit_module, fd, "", 0) != 0)
		say("module refused: %s", strerror(errno));
	else if (read_file("/sys/module/plain/parameters/answer", line, sizeof(line)) > 0 &&
	         atoi(line) == 42)
		say("module works");
	else
		say("module broken");
	close(fd);
}

/* The frames between LKDTM's WARNING and user space. A question mark is a frame
 * that the unwinder is not sure of. */
static void show_backtrace(void)
{
	char record[1024];
	bool inside = false;
	ssize_t got;

	if (by_event)
		return;
	while (read(kmsg_fd, record, sizeof(record)) > 0)
		;
	if (write(trigger_fd, "WARNING", 7) < 0)
		fail("WARNING");
	while ((got = read(kmsg_fd, record, sizeof(record) - 1)) > 0) {
		char *text;

		record[got] = '\0';
		text = strchr(record, ';');
		if (!text)
			continue;
		text++;
		text[strcspn(text, "\n")] = '\0';
		if (strstr(text, "Call Trace:") || strstr(text, "Call trace:"))
			inside = true;
		else if (strstr(text, "---[ end trace"))
			inside = false;
		else if (inside)
			say("trace %s", text);
	}
}

/*
 * Instructions. Under -icount shift=0 a nanosecond of the machine's time is an
 * instruction; the counters count nanoseconds or parts of them. The loop is
 * four instructions long, the system call's own among them.
 */
static uint64_t now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static double instructions_per_tick(void)
{
#ifdef __x86_64__
	return 1;
#else
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return 1e9 / (double)frequency;
#endif
}

static void call(long number, unsigned long times)
{
#ifdef __x86_64__
	__asm__ volatile("1:\n\t"
	                 "mov %1, %%rax\n\t"
	                 "syscall\n\t"
	                 "dec %0\n\t"
	                 "jnz 1b"
	                 : "+r"(times)
	                 : "r"(number)
	                 : "rax", "rcx", "r11", "memory", "cc");
#else
	register long x8 __asm__("x8") = number;

	__asm__ volatile("1:\n\t"
	                 "mov x0, #0\n\t"
	                 "svc #0\n\t"
	                 "subs %0, %0, #1\n\t"
	                 "b.ne 1b"
	                 : "+r"(times)
	                 : "r"(x8)
	                 : "x0", "memory", "cc");
#endif
}

/* The least of many short batches: no interrupt fell into it. */
static void count(const char *name, long number)
{
	enum { CALLS = 500, BATCHES = 200 };
	uint64_t least = UINT64_MAX;

	call(number, CALLS);
	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin = now();

		call(number, CALLS);
		uint64_t ticks = now() - begin;

		if (ticks < least)
			least = ticks;
	}
	say("count %s %.1f", name, (double)least * instructions_per_tick() / CALLS);
}

static void count_all(void)
{
	count("getpid", SYS_getpid);
	count("getppid", SYS_getppid);
	count("invalid", 1000);
}

/* A machine without devices has nothing to gather entropy from. Whether the
 * generator is ready changes what upstream's randomisation costs on arm64. */
static void ready_crng(void)
{
	struct {
		struct rand_pool_info info;
		uint32_t words[16];
	} pool = {.info = {.entropy_count = 512, .buf_size = 64}};
	int fd = open("/dev/urandom", O_RDONLY);
	uint64_t word;

	say("crng %s at start",
	    getrandom(&word, sizeof(word), GRND_NONBLOCK) > 0 ? "ready" : "not ready");
	for (size_t i = 0; i < 16; i++)
		pool.words[i] = (uint32_t)now() * 2654435761U;
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &pool) != 0)
		fail("RNDADDENTROPY");
	close(fd);
	for (int tries = 0; getrandom(&word, sizeof(word), GRND_NONBLOCK) < 0; tries++) {
		if (tries > 500)
			fail("the CRNG is not ready");
		usleep(10000);
	}
}

static void mount_all(void)
{
	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/tmp", 0755);
	if (mount("dev", "/dev", "devtmpfs", 0, NULL) != 0)
		exit(1);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	if (open("/dev/console", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
		exit(1);
	if (mount("proc", "/proc", "proc", 0, NULL) != 0)
		fail("/proc");
	if (mount("sys", "/sys", "sysfs", 0, NULL) != 0)
		fail("/sys");
	if (mount("debug", "/sys/kernel/debug", "debugfs", 0, NULL) != 0)
		fail("debugfs");
	mount("tracing", tracing, "tracefs", 0, NULL);
}

static int dmesg(bool follow)
{
	char record[8192];
	int fd = open("/dev/kmsg", O_RDONLY | (follow ? 0 : O_NONBLOCK));
	ssize_t got;

	if (fd < 0)
		return 1;
	while ((got = read(fd, record, sizeof(record) - 1)) > 0 || (got < 0 && errno == EPIPE)) {
		char *text;

		if (got < 0)
			continue;
		record[got] = '\0';
		text = strchr(record, ';');
		if (!text)
			continue;
		text++;
		text[strcspn(text, "\n")] = '\n';
		text[strcspn(text, "\n") + 1] = '\0';
		if (write(1, text, strlen(text)) < 0)
			return 1;
	}
	return 0;
}

static void test_stack(void)
{
	last_cpu = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	sample("one", SAMPLES);
	sample_int80();
	sample_compat();
	sample_children();
	sample_between_cpus();
	show_backtrace();
	load_module();
	run_own_test();
}

int main(int count_of_arguments, char **arguments)
{
	const char *test = getenv("TEST");

	if (strstr(arguments[0], "kmsg"))
		return dmesg(count_of_arguments > 1 && strcmp(arguments[1], "--follow") == 0);
	mount_all();
	setenv("PATH", "/bin", 1);
	if (!test)
		fail("no TEST");
	ready_crng();
	run_on(0, 0);
	show_mask();
	if (strcmp(test, "count") == 0) {
		count_all();
	} else {
		open_view();
		if (strcmp(test, "stack") == 0) {
			test_stack();
		} else if (strcmp(test, "many") == 0) {
			sample("one", MANY_SAMPLES);
		} else {
			sample("one", 2048);
			show_backtrace();
		}
	}
	finish();
}
