// SPDX-License-Identifier: MIT
// Two instrumented libraries in one process share one runtime: the shared one, or of
// the archives that were linked into both the one whose symbols come first. Where
// these are hidden, or a library is loaded for itself alone, each has a runtime of
// its own, and neither key, nor state, nor mode in common with the other's. Either
// way all threads, children and libraries draw differently.
// REQUIRES: native
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && %plain_cc -O1 -fPIC -c %support/witness.c -o witness.o
// RUN: for name in a b; do \
// RUN:   %cc -O2 -fPIC -fplugin-arg-kstackrand-entry=entry -DLIBRARY=$name -I%support -I%include -c %s -o $name.o && \
// RUN:   %cc -shared $name.o -L%libdir -lkstackrand -Wl,-rpath,%libdir -o lib$name-shared.so && \
// RUN:   %cc -shared $name.o %libs -o lib$name-visible.so && \
// RUN:   %cc -shared $name.o %libs -Wl,--exclude-libs,ALL -o lib$name-hidden.so || exit 1; \
// RUN: done
// Linked with both, from its start.
// RUN: for kind in shared visible hidden; do \
// RUN:   %plain_cc -O2 -pthread -DLINKED -I%support -I%include %s witness.o -L. -la-$kind -lb-$kind -rdynamic \
// RUN:     -Wl,-rpath,$PWD -Wl,-rpath-link,%libdir -o linked-$kind || exit 1; \
// RUN: done
// RUN: cd %t.d && ./linked-shared same && ./linked-visible same && ./linked-hidden apart
// Loaded late, by a program that is not instrumented.
// RUN: cd %t.d && %plain_cc -O2 -pthread -I%support -I%include %s witness.o -rdynamic -ldl -o plain && \
// RUN:   ./plain same shared local && ./plain same visible global && ./plain apart visible local && ./plain apart hidden global
// By one that is, and has a visible runtime.
// RUN: cd %t.d && %cc -O2 -pthread -fplugin-arg-kstackrand-entry=main -I%support -I%include %s witness.o %libs -rdynamic \
// RUN:   -ldl -o hardened && \
// RUN:   ./hardened same shared local && ./hardened same visible local && ./hardened apart hidden global
// Unloaded and loaded again, it starts anew.
// RUN: cd %t.d && ./plain again ./liba-hidden.so
// What libc keeps free for libraries that are loaded late is enough for many.
// RUN: cd %t.d && for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do cp liba-hidden.so $i.so; done && ./plain many ./[0-9]*.so
#include <kstackrand/abi.h>
#include <kstackrand/kstackrand.h>
#include <sequences.h>

/* What a library tells of itself. */
struct view {
	uintptr_t (*entry)(void);
	struct kstackrand_process *process;
	struct kstackrand_thread *(*thread)(void);
	int (*set_mode)(enum kstackrand_mode mode, size_t fixed_offset);
};

#define JOIN(a, b) a##b
#define VIEW(name) JOIN(view_of_, name)

#ifdef LIBRARY
extern struct kstackrand_process __kstackrand_process;
extern __thread struct kstackrand_thread __kstackrand_thread __attribute__((tls_model("initial-exec")));

static uintptr_t entry(void)
{
	return witness();
}

static struct kstackrand_thread *own_thread(void)
{
	return &__kstackrand_thread;
}

const struct view *VIEW(LIBRARY)(void);

const struct view *VIEW(LIBRARY)(void)
{
	static struct view view = { entry, NULL, own_thread, NULL };

	view.process = &__kstackrand_process;
	view.set_mode = kstackrand_set_mode;
	return &view;
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 300

static const struct view *a, *b;

#ifdef LINKED
const struct view *view_of_a(void);
const struct view *view_of_b(void);

static void load_both(const char *kind, int flags)
{
	(void)kind, (void)flags;
	a = view_of_a();
	b = view_of_b();
}
#else
static void *loaded;

static const struct view *load(const char *path, const char *name, int flags)
{
	const struct view *(*view)(void);

	loaded = dlopen(path, RTLD_NOW | flags);
	view = loaded ? (const struct view *(*)(void))dlsym(loaded, name) : NULL;
	if (!view) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return view();
}

static void load_both(const char *kind, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "./liba-%s.so", kind);
	a = load(path, "view_of_a", flags);
	snprintf(path, sizeof(path), "./libb-%s.so", kind);
	b = load(path, "view_of_b", flags);
}

static void expect_new_each_time(const char *path)
{
	static struct sequence sequences[COUNT];

	for (int i = 0; i < COUNT; i++) {
		record(&sequences[i], load(path, "view_of_a", RTLD_LOCAL)->entry);
		EXPECT(dlclose(loaded) == 0 && !dlopen(path, RTLD_NOW | RTLD_NOLOAD));
	}
	expect_all_different("loaded again", sequences, COUNT);
}

static void expect_all_shift(char **paths)
{
	for (; *paths; paths++)
		expect_cells(*paths, load(*paths, "view_of_a", RTLD_LOCAL)->entry, 6);
}
#endif

static int moves(const struct view *view)
{
	uintptr_t first = view->entry();
	int moved = 0;

	for (int i = 0; i < 30; i++)
		moved |= view->entry() != first;
	return moved;
}

static void expect_relation(int same)
{
	EXPECT(moves(a) && moves(b));
	EXPECT((a->process == b->process) == same && (a->thread() == b->thread()) == same);
	EXPECT((a->process->key == b->process->key) == same);
	EXPECT((a->thread()->step == b->thread()->step) == same);
	EXPECT(a->set_mode(KSTACKRAND_OFF, 0) == 0 && !moves(a) && moves(b) == !same);
	EXPECT(a->set_mode(KSTACKRAND_RANDOM, 0) == 0 && moves(a) && moves(b));
	EXPECT(b->set_mode(KSTACKRAND_OFF, 0) == 0 && !moves(b) && moves(a) == !same);
	EXPECT(b->set_mode(KSTACKRAND_RANDOM, 0) == 0 && moves(a) && moves(b));
}

static void *record_both(void *sequences)
{
	record((struct sequence *)sequences, a->entry);
	record((struct sequence *)sequences + 1, b->entry);
	return NULL;
}

static void record_all(void)
{
	struct sequence *sequences = mmap(NULL, 4 * COUNT * sizeof(*sequences), PROT_READ | PROT_WRITE,
	                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < COUNT; i++) {
		pthread_t thread;
		int status;

		EXPECT(pthread_create(&thread, NULL, record_both, &sequences[4 * i]) == 0);
		pthread_join(thread, NULL);
		if (fork() == 0) {
			record_both(&sequences[4 * i + 2]);
			_exit(0);
		}
		EXPECT(wait(&status) > 0 && status == 0);
	}
	expect_all_different("threads and children", sequences, 4 * COUNT);
}

/* same|apart [KIND local|global], again LIBRARY, many LIBRARY… */
int main(int argc, char **argv)
{
	int global = argc == 4 && !strcmp(argv[3], "global");

	EXPECT(argc > 1);
#ifndef LINKED
	if (!strcmp(argv[1], "again")) {
		expect_new_each_time(argv[2]);
		return 0;
	}
	if (!strcmp(argv[1], "many")) {
		EXPECT(argc == 2 + 16);
		expect_all_shift(argv + 2);
		return 0;
	}
#endif
	load_both(argv[2], global ? RTLD_GLOBAL : RTLD_LOCAL);
	expect_relation(!strcmp(argv[1], "same"));
	expect_cells("a", a->entry, 6);
	expect_cells("b", b->entry, 6);
	record_all();
	return 0;
}
#endif
