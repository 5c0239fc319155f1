// SPDX-License-Identifier: MIT
// A call that must stay a tail call leaves after the stack was put back: its
// function is refused, and left as it is, whenever the call was made one. Before
// GCC 15, C cannot ask for such a call; a plugin of the tests does.
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: c++ -std=c++17 -fPIC -shared -fno-rtti -w -I$(%plain_cc -print-file-name=plugin)/include \
// RUN:   %support/must_tail_plugin.cc -o %t.d/must_tail.so
// RUN: for when in early late; do \
// RUN:   %cc -O2 -fplugin-arg-kstackrand-entry=caller -fplugin=%t.d/must_tail.so -fplugin-arg-must_tail-$when \
// RUN:     -S %s -o %t.s 2>%t.err && %FileCheck %s --input-file=%t.err && ! grep __kstackrand %t.s || exit 1; \
// RUN: done
// Chosen by a glob and refused early, it is nobody's warning.
// RUN: %cc -O2 '-fplugin-arg-kstackrand-entry=call*' -fplugin=%t.d/must_tail.so -fplugin-arg-must_tail-early -S %s -o %t.s 2>%t.err
// RUN: test ! -s %t.err && ! grep __kstackrand %t.s
// Refused late, it does not wait for the link step of LTO either.
// RUN: %cc -O2 -flto -ffat-lto-objects -fplugin-arg-kstackrand-entry=caller -fplugin=%t.d/must_tail.so -fplugin-arg-must_tail-late \
// RUN:   -S %s -o %t.s 2>%t.err && ! grep -E '(call|bl|jmp|b)[[:space:]]+__kstackrand' %t.s
// CHECK: must-tail.c:[[#@LINE+3]]:{{.*}}warning: kstackrand:{{.*}}caller{{.*}} is not instrumented: it has a must-tail call
int must_tail(int);

int caller(int x)
{
	return must_tail(x);
}
