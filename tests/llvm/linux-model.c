// SPDX-License-Identifier: MIT
// Model linux in assembly, as tests/gcc/linux-model.c has it: a prologue without
// a call or a branch that depends on data, also in .noinstr.text; state, mask and
// boot parameter in one section group, once, which the integrated assembler takes;
// what a kernel without CONFIG_SMP gets; and what is refused.
//
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: for target in x86_64 aarch64; do for level in 0 2; do \
// RUN:   cc="%plain_cc --target=$target-linux-gnu -O$level -fplugin=%plugin -fplugin-arg-kstackrand-model=linux \
// RUN:     -fplugin-arg-kstackrand-entry=*_entry -fplugin-arg-kstackrand-reseed=tick"; \
// RUN:   $cc %s -S -o %t.d/$target.$level.s -D__KERNEL__ -DCONFIG_SMP=1 && \
// RUN:   $cc %s -c -o %t.d/$target.$level.o -D__KERNEL__ -DCONFIG_SMP=1 && \
// RUN:   $cc %s -S -o %t.d/$target.$level.up -D__KERNEL__ && \
// RUN:   %FileCheck %s --check-prefixes=STATE,$target --input-file=%t.d/$target.$level.s && \
// RUN:   %FileCheck %s --check-prefix=UP --input-file=%t.d/$target.$level.up && \
// RUN:   readelf -W --section-groups %t.d/$target.$level.o | %FileCheck %s --check-prefixes=GROUP,SMP-GROUP && \
// RUN:   $cc %s -c -o %t.d/$target.$level.up.o -D__KERNEL__ && \
// RUN:   readelf -W --section-groups %t.d/$target.$level.up.o | %FileCheck %s --check-prefixes=GROUP,UP-GROUP || \
// RUN:     { echo "$target -O$level" >&2; exit 1; }; \
// RUN: done; done
// STATE: .section .data..percpu,"{{[aGw]+}}",@progbits,kstackrand,comdat
// STATE: .weak __kstackrand_cpu
// STATE: .hidden __kstackrand_cpu
// STATE: .section .data..ro_after_init,"{{[aGw]+}}",@progbits,kstackrand,comdat
// STATE: {{.quad|.xword}} 1008
// STATE: .ascii "kstackrand.mask"
// STATE: .section __param,"{{[aGw]+}}",@progbits,kstackrand,comdat
// STATE: param_ops_ulong
// STATE: {{.short|.hword}} 292
// STATE-NOT: .section __param
// GROUP: [kstackrand] contains 5 sections:
// SMP-GROUP: .data..percpu
// UP-GROUP: .data{{$}}
// GROUP-DAG: .data..ro_after_init
// GROUP-DAG: .rodata
// GROUP-DAG: __param
// GROUP-NOT: [kstackrand]
//
// x86_64-LABEL: {{^}}noinstr_entry:
// x86_64-NOT: {{call|jmp|j[a-z]+[[:space:]]}}
// x86_64: movq %gs:__kstackrand_cpu+16(%rip), %rax
// x86_64-NEXT: xaddq %rax, %gs:__kstackrand_cpu+0(%rip)
// x86_64-NEXT: xorq %gs:__kstackrand_cpu+8(%rip), %rax
// x86_64-NEXT: imulq %rax, %rax
// x86_64-NEXT: mulq %gs:__kstackrand_cpu+0(%rip)
// x86_64-NEXT: andl %gs:__kstackrand_cpu+24(%rip), %edx
// x86_64-NOT: {{call|jmp|j[a-z]+[[:space:]]}}
// x86_64: and{{[lq]}} $1008
// x86_64-NOT: {{call|jmp|j[a-z]+[[:space:]]}}
// x86_64: movq %{{r[a-z0-9]+}}, %rsp
// x86_64: call{{.*}}outside
// x86_64: movq %rbp, %rsp
//
// aarch64-LABEL: {{^}}noinstr_entry:
// aarch64-NOT: bl{{[[:space:]]}}
// aarch64: mrs [[A:x[0-9]+]], CurrentEL
// aarch64-NEXT: mrs [[B:x[0-9]+]], TPIDR_EL1
// aarch64-NEXT: tbz {{.*}}, #3,
// aarch64-NEXT: mrs [[B]], TPIDR_EL2
// aarch64: ldxr [[OLD:x[0-9]+]]
// aarch64-NEXT: add [[NEW:x[0-9]+]], [[OLD]],
// aarch64-NEXT: stxr [[FAILED:w[0-9]+]], [[NEW]]
// aarch64-NEXT: cbnz [[FAILED]]
// aarch64: umulh
// aarch64-NEXT: ldr {{x[0-9]+}}, [{{x[0-9]+}}, #24]
// aarch64: and {{x[0-9]+, x[0-9]+}}, #0x3f0
// aarch64-NOT: bl{{[[:space:]]}}
// aarch64: mov sp,
// aarch64: bl outside
// aarch64: {{mov|sub}} sp, x29
//
// A reseed point calls the kernel's generator and touches the state; it draws
// nothing.
// x86_64-LABEL: {{^}}tick:
// x86_64-COUNT-3: call{{.*}}get_random_u64
// x86_64: movl __kstackrand_mask(%rip), %edx
// x86_64-NEXT: andl $1008, %edx
// x86_64-NEXT: movq %rdx, %gs:__kstackrand_cpu+24(%rip)
// x86_64: addq {{.*}}, %gs:__kstackrand_cpu+0(%rip)
// x86_64: orq $1, %gs:__kstackrand_cpu+16(%rip)
// x86_64-NOT: xadd
// x86_64: ret
// aarch64-LABEL: {{^}}tick:
// aarch64-COUNT-3: bl get_random_u64
// aarch64: adrp {{.*}}__kstackrand_mask
// aarch64: mov [[BITS:x[0-9]+]], #1008
// aarch64-NEXT: and {{x[0-9]+, x[0-9]+}}, [[BITS]]
// aarch64-NEXT: str {{x[0-9]+}}, [{{x[0-9]+}}, #24]
// aarch64-NOT: ldxr
// aarch64: ret
//
// Where nothing may be used of the state, nothing is.
// x86_64-LABEL: {{^}}early_entry:
// x86_64-NOT: kstackrand
// x86_64: .size early_entry
//
// UP-NOT: percpu
// UP: {{^}}{{[[:space:]]}}.data
// UP: .weak __kstackrand_cpu
// UP-NOT: %gs:
// UP-NOT: TPIDR
// UP: __kstackrand_mask
// UP-NOT: %gs:
// UP-NOT: TPIDR
//
// A file without either brings nothing.
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o %t.none -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=nobody
// RUN: ! grep kstackrand_cpu %t.none
//
// Macros count wherever they come from. Without the front, nobody knows of them.
// RUN: echo '#define CONFIG_SMP 1' > %t.d/autoconf.h
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o - -D__KERNEL__ -include %t.d/autoconf.h -fplugin-arg-kstackrand-model=linux \
// RUN:   -fplugin-arg-kstackrand-entry=noinstr_entry | %FileCheck %s --check-prefix=INCLUDED
// INCLUDED: %gs:__kstackrand_cpu
// RUN: %plain_cc -O2 -fplugin=%passplugin -fpass-plugin=%passplugin -mllvm -kstackrand=model=linux -mllvm -kstackrand=entry=noinstr_entry \
// RUN:   -D__KERNEL__ -S %s -o %t.s 2>&1 | %FileCheck %s --check-prefix=USER
// RUN: ! grep __kstackrand %t.s
//
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o %t.s -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=noinstr_entry 2>&1 | %FileCheck %s --check-prefix=USER
// RUN: ! grep __kstackrand %t.s
// USER: noinstr_entry{{.*}} is not instrumented: {{.*}}__KERNEL__
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o %t.s -D__KERNEL__ -DMODULE -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=noinstr_entry -fplugin-arg-kstackrand-reseed=tick 2>&1 | %FileCheck %s --check-prefix=MODULE
// RUN: ! grep __kstackrand %t.s
// MODULE-DAG: noinstr_entry{{.*}} is not instrumented: {{.*}}loadable module
// MODULE-DAG: tick{{.*}} is not instrumented: {{.*}}loadable module
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o %t.s -fplugin-arg-kstackrand-reseed=tick 2>&1 | %FileCheck %s --check-prefix=INLINE
// INLINE: tick{{.*}} is not instrumented: only model linux has reseed points
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o %t.s -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=early_entry -fplugin-arg-kstackrand-reseed=noinstr_entry 2>&1 | %FileCheck %s --check-prefix=SECTION
// SECTION-DAG: early_entry{{.*}} is not instrumented: {{.*}}.head.text
// SECTION-DAG: noinstr_entry{{.*}} is not instrumented: {{.*}}.noinstr.text
// RUN: %plain_cc -O2 -fplugin=%plugin %s -S -o %t.s -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=noinstr_entry -fplugin-arg-kstackrand-reseed=tick \
// RUN:   -fplugin-arg-kstackrand-verbose 2>&1 | %FileCheck %s --check-prefix=VERBOSE
// VERBOSE-DAG: linux-model.c:{{.*}}: note: kstackrand: 'noinstr_entry' is an entry (chosen by entry 'noinstr_entry')
// VERBOSE-DAG: linux-model.c:{{.*}}: note: kstackrand: 'tick' is a reseed point (chosen by reseed 'tick')
int outside(int);

__attribute__((section(".noinstr.text"))) int noinstr_entry(int x)
{
	return outside(x);
}

int tick(int x)
{
	return outside(x) + 1;
}

__attribute__((section(".head.text"))) int early_entry(int x)
{
	return outside(x);
}
