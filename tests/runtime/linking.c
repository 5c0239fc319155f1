// SPDX-License-Identifier: MIT
// The runtime serves every kind of link: archive and shared library, PIE and
// not, static, and an instrumented library, also loaded late, by a program that is
// not instrumented. Two of these: libraries.c.
// RUN: %plain_cc -O1 -fPIC -c %support/witness.c -o %t.witness.o
// RUN: mkdir -p %t.d
// RUN: for flags in "" "-no-pie -fno-pie" "-static" "-static-pie -fPIE" "-Wl,-z,now" "-Wl,--gc-sections -ffunction-sections"; do \
// RUN:   %cc -O2 $flags -fplugin-arg-kstackrand-entry=entry -DPROGRAM -DLIBRARY -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || { echo "$flags" >&2; exit 1; }; \
// RUN: done
// Shared runtime: the program reaches the library's page and thread state; not
// as PIE, the page moves into the program.
// RUN: for flags in "" "-no-pie -fno-pie" "-fPIC"; do \
// RUN:   %cc -O2 $flags -fplugin-arg-kstackrand-entry=entry -DPROGRAM -DLIBRARY -DDETECTION -I%support -I%include \
// RUN:     %s %t.witness.o -L%libdir -lkstackrand -Wl,-rpath,%libdir -o %t && \
// RUN:   %run %t || { echo "shared $flags" >&2; exit 1; }; \
// RUN: done
// An instrumented library under a program that is not.
// RUN: %cc -O2 -fPIC -shared -fplugin-arg-kstackrand-entry=entry -DLIBRARY -I%support %s -L%libdir -lkstackrand \
// RUN:   -Wl,-rpath,%libdir -o %t.d/libentry.so
// RUN: %plain_cc -O2 -DPROGRAM -I%support %s %t.witness.o -L%t.d -lentry -rdynamic -Wl,-rpath,%t.d \
// RUN:   -Wl,-rpath-link,%libdir -o %t && %run %t
// Loaded late.
// RUN: %plain_cc -O2 -DPROGRAM -DLATE -I%support %s %t.witness.o -rdynamic -ldl -o %t && %run %t %t.d/libentry.so
#include <stdio.h>
#include <stdlib.h>
#include <witness.h>
#ifdef LATE
#include <dlfcn.h>
#endif
#ifdef DETECTION
#include <kstackrand/kstackrand.h>
#endif

uintptr_t entry(void);

#ifdef LIBRARY
uintptr_t entry(void)
{
	return witness();
}
#endif

#ifdef PROGRAM
int main(int argc, char **argv)
{
#ifdef LATE
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	uintptr_t (*late)(void) = library ? (uintptr_t(*)(void))dlsym(library, "entry") : NULL;

	if (!late) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	expect_cells("loaded late", late, 6);
#else
	(void)argc;
	(void)argv;
	expect_cells("entry", entry, 6);
#endif
#if defined(DETECTION) && defined(__x86_64__)
	if (kstackrand_get_fork_detection() != KSTACKRAND_FORK_WIPE) {
		fprintf(stderr, "fork detection %d\n", kstackrand_get_fork_detection());
		return 1;
	}
#endif
	return 0;
}
#endif
