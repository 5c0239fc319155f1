// SPDX-License-Identifier: MIT
// As prologue-x86_64.c. The exclusive pair has nothing in between.
// RUN: %plain_cc --target=aarch64-linux-gnu -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry \
// RUN:   -O2 -fno-pie -S %s -o - | %FileCheck %s
// RUN: %plain_cc --target=aarch64-linux-gnu -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry \
// RUN:   -O0 -fno-pie -S %s -o - | %FileCheck %s --check-prefix=O0
// The link register, by the only name that LLVM knows it by in a clobber.
// RUN: %plain_cc --target=aarch64-linux-gnu -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry \
// RUN:   -O2 -S -emit-llvm %s -o - | grep 'asm.*:got:__kstackrand_draw_slow.*~{lr}'

int entry(int a, int b)
{
	return a * 3 + b;
}

// The link register is saved before the slow path can overwrite it.
// CHECK-LABEL: entry:
// CHECK: stp x29, x30, [sp
// CHECK-DAG: adrp x{{[0-9]+}}, :gottprel:__kstackrand_thread
// CHECK-DAG: adrp x{{[0-9]+}}, __kstackrand_process
// CHECK: b.ne [[SLOW:.LBB[0-9_]+]]
// CHECK: ldxr [[OLD:x[0-9]+]], [[[THREAD:x[0-9]+]]]
// CHECK-NEXT: add [[NEW:x[0-9]+]], [[OLD]],
// CHECK-NEXT: stxr [[FAILED:w[0-9]+]], [[NEW]], [[[THREAD]]]
// CHECK-NEXT: cbnz [[FAILED]]
// CHECK: umulh
// CHECK: and x{{[0-9]+}}, x{{[0-9]+}}, #0x3f0
// CHECK: sub sp, sp, x
// CHECK: mov sp, x29
// CHECK: [[SLOW]]:
// CHECK: adrp x16, :got:__kstackrand_draw_slow
// CHECK: ldr x16, [x16, :got_lo12:__kstackrand_draw_slow]
// CHECK: blr x16

// O0: ldxr
// O0-NEXT: add
// O0-NEXT: stxr
// O0-NEXT: cbnz
