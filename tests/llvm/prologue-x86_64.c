// SPDX-License-Identifier: MIT
// The prologue, instruction by instruction, in the order in which LLVM has put
// them since 14, and nowhere a lock prefix.
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O2 -fno-pie -S %s -o - | %FileCheck %s
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O2 -fPIC -S %s -o - | %FileCheck %s --check-prefix=PIC
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -fplugin-arg-kstackrand-bits=8 \
// RUN:   -O2 -S %s -o - | %FileCheck %s --check-prefix=BITS8
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -fplugin-arg-kstackrand-model=call \
// RUN:   -O2 -S %s -o - | %FileCheck %s --check-prefix=CALL
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O2 -masm=intel -S %s -o %t.s
// RUN: %FileCheck %s --check-prefix=INTEL < %t.s
// RUN: %plain_cc -c %t.s -o %t.o
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O2 -fstack-clash-protection -S %s -o - \
// RUN:   | %FileCheck %s --check-prefix=CLASH

int entry(int a, int b)
{
	return a * 3 + b;
}

// CHECK-LABEL: entry:
// CHECK: pushq %rbp
// CHECK: movq __kstackrand_process(%rip), [[KEY:%r[a-z0-9]+]]
// CHECK: movq __kstackrand_thread@GOTTPOFF(%rip), [[THREAD:%r[a-z0-9]+]]
// CHECK: movq %fs:16([[THREAD]]), [[STEP:%r[a-z0-9]+]]
// CHECK: cmpq %fs:8([[THREAD]]), [[KEY]]
// CHECK: jne [[SLOW:.LBB[0-9_]+]]
// CHECK-NOT: lock
// CHECK: xaddq [[STEP]], %fs:([[THREAD]])
// CHECK-NEXT: #NO_APP
// CHECK-NEXT: xorq
// CHECK-NEXT: imulq
// CHECK-NEXT: mulq %r
// CHECK: andl $1008
// CHECK: subq %{{r[a-z0-9]+}}, %rsp
// CHECK: movq %rbp, %rsp
// CHECK: [[SLOW]]:
// CHECK: call{{q?}} *__kstackrand_draw_slow@GOTPCREL(%rip)
// CHECK: andl $1008, %r11d

// PIC: movq __kstackrand_process@GOTPCREL(%rip)
// PIC: movq __kstackrand_thread@GOTTPOFF(%rip)
// BITS8: andl $4080
// CALL: call{{q?}} __kstackrand_offset
// CALL: andl $1008
// INTEL: xadd qword ptr fs:
// INTEL: sub rsp,
// INTEL: call {{.*}}[rip + __kstackrand_draw_slow@GOTPCREL]

// LLVM's own loop of probes stands where both paths have met.
// CLASH: mulq
// CLASH-NOT: , %rsp
// CLASH: $4096, %rsp
