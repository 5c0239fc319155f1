// SPDX-License-Identifier: MIT
// No call of an entry leaves by a jump: not those that were marked as tail calls,
// nor those that LTO's inliner brings after it was instrumented.
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry_tail -O2 -S -emit-llvm %s -o %t.ll
// RUN: %FileCheck %s --check-prefix=IR < %t.ll
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry_tail -O2 -S %s -o - | %FileCheck %s
//
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d
// RUN: %plain_cc -O2 -fPIC -flto -DHELPER -c %s -o helper.o
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry_tail -O2 -fPIC -flto -c %s -o entry.o
// RUN: %plain_cc -O2 -fuse-ld=/usr/lib/llvm-%version/bin/ld.lld -flto -shared -nostdlib entry.o helper.o -o lto.so
// RUN: %objdump -d --no-show-raw-insn lto.so | sed -n '/<entry_tail>:/,/^$/p' | %FileCheck %s --check-prefix=LTO
int outside(int);
int helper(int);

#ifdef HELPER
int helper(int x)
{
	return outside(x + 1);
}
#else
// IR-LABEL: @entry_tail(
// IR: notail call{{.*}} @helper
// CHECK-LABEL: entry_tail:
// CHECK-NOT: jmp helper
// CHECK: call{{q?}} helper
// The helper is inlined: what it left by a jump is called now.
// LTO-NOT: jmp {{.*}}outside
// LTO-NOT: <helper>
// LTO: call {{.*}}outside
int entry_tail(int x)
{
	return helper(x);
}
#endif
