// SPDX-License-Identifier: MIT
// A function has more names than one: choosing any of them chooses it. What takes
// it out, by whichever name it was chosen, has the last word.
// RUN: for name in base other weak symbol; do \
// RUN:   %cc -O2 -fplugin-arg-kstackrand-entry=$name -S %s -o %t.s 2>%t.err && \
// RUN:   %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s && test ! -s %t.err || \
// RUN:     { echo $name >&2; cat %t.err; exit 1; }; \
// RUN: done
// CHECK: base 1
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry='*' -fplugin-arg-kstackrand-verbose -S %s -o %t.s 2>%t.err
// RUN: %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s --check-prefix=ALL
// RUN: test $(grep -c 'is an entry' %t.err) = 2
// RUN: test $(grep -c 'is not instrumented' %t.err) = 1 && ! grep elsewhere %t.err
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=other -fplugin-arg-kstackrand-verbose -S %s -o %t.s 2>%t.err
// RUN: grep "note: .* is an entry (chosen by entry 'other')" %t.err
// ALL-DAG: base 1
// ALL-DAG: never 0
// ALL-DAG: refused 0
// RUN: %cc -O2 -fplugin-arg-kstackrand-entry=other -fplugin-arg-kstackrand-entry=weak -fplugin-arg-kstackrand-verbose -S %s -o %t.s 2>%t.err
// RUN: test $(grep -c "is an entry (chosen by entry" %t.err) = 1
// RUN: for name in base other; do \
// RUN:   %cc -O2 -fplugin-arg-kstackrand-entry=other -fplugin-arg-kstackrand-except=$name -S %s -o %t.s && \
// RUN:   %python %support/count_in_functions.py %t.s 'xadd|ldxr' | %FileCheck %s --check-prefix=EXCEPT || exit 1; \
// RUN: done
// EXCEPT: base 0
// RUN: for name in refused also_refused; do \
// RUN:   %cc -O2 -fplugin-arg-kstackrand-entry=$name -S %s -o %t.s 2>%t.err && \
// RUN:   %FileCheck %s --input-file=%t.err -DNAME=$name --check-prefix=REFUSED || exit 1; \
// RUN: done
// REFUSED: warning: kstackrand: {{.*}}refused{{.*}} is not instrumented: it is in section .noinstr.text
// REFUSED-SAME: (chosen by entry '[[NAME]]')
int outside(int);

int base(int x)
{
	return outside(x) + 1;
}
extern __typeof(base) other __attribute__((alias("base")));
extern __typeof(base) weak __attribute__((weak, alias("other")));
extern __typeof(base) labelled __asm__("symbol") __attribute__((alias("base")));

__attribute__((no_kstackrand)) int never(int x)
{
	return outside(x) + 3;
}
extern __typeof(never) never_either __attribute__((alias("never")));

__attribute__((section(".noinstr.text"))) int refused(int x)
{
	return outside(x) + 4;
}
extern __typeof(refused) also_refused __attribute__((alias("refused")));

/* No other name of a function that is here. */
static __typeof(base) elsewhere __attribute__((weakref("outside")));

int calls(int x)
{
	return elsewhere(x);
}
