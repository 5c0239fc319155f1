// SPDX-License-Identifier: MIT
// What cannot be had is refused with its reason: a warning when somebody named
// the function, silence when a glob swept it up, an error with werror; and the
// function is left as it was.
//
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry='*' -I%include -Werror -Wno-comment -S %s -o %t.s 2>%t.silent
// RUN: test ! -s %t.silent
// RUN: %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s --check-prefix=CODE
// CODE-DAG: in_noinstr 0
// CODE-DAG: in_entry_text 0
// CODE-DAG: resolve 0
// CODE-DAG: calls_always_inline 1
// CODE-DAG: plain 1
//
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry='*' -fplugin-arg-kstackrand-verbose -I%include -S %s -o %t.s 2>%t.verbose
// RUN: %FileCheck %s --check-prefix=VERBOSE --input-file=%t.verbose
// VERBOSE-DAG: refusals.c:[[#]]:{{.*}}kstackrand:{{.*}}plain{{.*}} is an entry (chosen by entry '*')
// VERBOSE-DAG: kstackrand:{{.*}}in_noinstr{{.*}} is not instrumented: {{.*}}.noinstr.text
// VERBOSE-DAG: kstackrand:{{.*}}in_entry_text{{.*}} is not instrumented: {{.*}}.entry.text
// VERBOSE-DAG: kstackrand:{{.*}}always{{.*}} is not instrumented: {{.*}}always_inline
// VERBOSE-DAG: kstackrand:{{.*}}resolve{{.*}} is not instrumented: {{.*}}ifunc
//
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=in_noinstr -I%include -S %s -o %t.s 2>%t.named
// RUN: %FileCheck %s --check-prefix=NAMED --input-file=%t.named
// NAMED: warning: kstackrand:{{.*}}in_noinstr{{.*}} is not instrumented
//
// RUN: rm -f %t.o
// RUN: ! %cc -O2 -fplugin-arg-kstackrand-entry='in_*' -fplugin-arg-kstackrand-werror -I%include -c %s -o %t.o 2>%t.werror
// RUN: %FileCheck %s --check-prefix=WERROR --input-file=%t.werror
// WERROR-DAG: error: kstackrand:{{.*}}in_noinstr{{.*}} is not instrumented
// WERROR-DAG: error: kstackrand:{{.*}}in_entry_text{{.*}} is not instrumented
// RUN: test ! -e %t.o
int outside(int);

__attribute__((section(".noinstr.text"))) int in_noinstr(int x)
{
	return outside(x);
}

__attribute__((section(".entry.text"))) int in_entry_text(int x)
{
	return outside(x);
}

static inline __attribute__((always_inline)) int always(int x)
{
	return outside(x) + 1;
}

int calls_always_inline(int x)
{
	return always(x);
}

int plain(int x)
{
	return outside(x);
}

static int (*resolve(void))(int)
{
	return plain;
}

int through_ifunc(int) __attribute__((ifunc("resolve")));
