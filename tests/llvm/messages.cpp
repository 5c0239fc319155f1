// SPDX-License-Identifier: MIT
// Messages stand at the function, also in the ways of C++, and after the syntax
// tree would have been thrown away.
// RUN: %plain_cc -fplugin=%plugin '-fplugin-arg-kstackrand-entry=*entry*' '-fplugin-arg-kstackrand-except=*::out' \
// RUN:   -fplugin-arg-kstackrand-verbose -O2 -c %s -o %t.o 2>&1 | %FileCheck %s
// RUN: not_zero() { ! "$@"; }; not_zero %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry_naked \
// RUN:   -fplugin-arg-kstackrand-werror -c %s -o %t.none.o 2>&1 | %FileCheck %s --check-prefix=ERROR
// RUN: test ! -e %t.none.o
int outside(int);

// CHECK-DAG: messages.cpp:[[#@LINE+1]]:{{[0-9]+}}: note: kstackrand: 'entry(int)' is an entry (chosen by entry '*entry*')
int entry(int x) { return outside(x); }

namespace ns {
template <class T> struct S {
// CHECK-DAG: messages.cpp:[[#@LINE+1]]:{{[0-9]+}}: note: kstackrand: '{{.*}}ns::S<int>::entry{{.*}}' is an entry
	int entry(T x) { return outside(x); }
};
// CHECK-DAG: messages.cpp:[[#@LINE+1]]:{{[0-9]+}}: note: kstackrand: '{{.*}}ns::entry_template<int>(int)' is an entry
template <class T> int entry_template(T x) { return outside(x); }
} // namespace ns

int use(int x) { return ns::S<int>().entry(x) + ns::entry_template(x); }

// CHECK-DAG: messages.cpp:[[#@LINE+2]]:{{[0-9]+}}: note: kstackrand: 'entry_naked' is not instrumented: it is naked
// ERROR: messages.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: kstackrand: 'entry_naked' is not instrumented: it is naked
extern "C" __attribute__((naked)) void entry_naked() { __asm__("ret"); }
