// SPDX-License-Identifier: MIT
// Model linux in assembly: a prologue without a call or a branch that depends
// on data, also in .noinstr.text; state, mask and boot parameter in one section
// group; what a kernel without CONFIG_SMP gets; and what is refused.
//
// RUN: %cc -O2 %s -S -o %t.smp -D__KERNEL__ -DCONFIG_SMP=1 -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry='*_entry' -fplugin-arg-kstackrand-reseed=tick
// RUN: %FileCheck %s --check-prefixes=STATE,%arch --input-file=%t.smp
// STATE: .pushsection .data..percpu,"awG",%progbits,kstackrand,comdat
// STATE: .weak __kstackrand_cpu
// STATE: .hidden __kstackrand_cpu
// STATE: .pushsection .data..ro_after_init,"awG",%progbits,kstackrand,comdat
// STATE: .quad 1008
// STATE: .asciz "kstackrand.mask"
// STATE: .pushsection __param,"aG",%progbits,kstackrand,comdat
// STATE: .quad param_ops_ulong
// STATE: .2byte 0444
//
// x86_64-LABEL: {{^}}noinstr_entry:
// x86_64-NOT: call
// x86_64: movq %gs:__kstackrand_cpu+16(%rip), %rax
// x86_64-NEXT: xaddq %rax, %gs:__kstackrand_cpu+0(%rip)
// x86_64-NEXT: xorq %gs:__kstackrand_cpu+8(%rip), %rax
// x86_64-NEXT: imulq %rax, %rax
// x86_64-NEXT: mulq %gs:__kstackrand_cpu+0(%rip)
// x86_64-NEXT: andl %gs:__kstackrand_cpu+24(%rip), %edx
// x86_64-NOT: and
// x86_64: subq %rdx, %rsp
// x86_64: call{{.*}}outside
//
// aarch64-LABEL: {{^}}noinstr_entry:
// aarch64-NOT: bl{{[[:space:]]}}
// aarch64: mrs [[A:x[0-9]+]], CurrentEL
// aarch64-NEXT: mrs [[B:x[0-9]+]], tpidr_el1
// aarch64-NEXT: tbz [[A]], #3, 1f
// aarch64-NEXT: mrs [[B]], tpidr_el2
// aarch64: ldxr
// aarch64: stxr
// aarch64: umulh [[OFFSET:x[0-9]+]],
// aarch64-NEXT: ldr [[MASK:x[0-9]+]], [{{x[0-9]+}}, #24]
// aarch64-NEXT: and [[OFFSET]], [[OFFSET]], [[MASK]]
// aarch64-NOT: and
// aarch64: sub sp, sp, [[OFFSET]]
// aarch64: bl outside
//
// A reseed point calls the kernel's generator and touches the state; it draws
// nothing.
// x86_64-LABEL: {{^}}tick:
// x86_64-COUNT-3: call{{.*}}get_random_u64
// x86_64: movl __kstackrand_mask(%rip), %edx
// x86_64-NEXT: andl $1008, %edx
// x86_64-NEXT: movq %rdx, %gs:__kstackrand_cpu+24(%rip)
// x86_64-NEXT: addq {{.*}}, %gs:__kstackrand_cpu+0(%rip)
// x86_64-NOT: xadd
// x86_64: ret
// aarch64-LABEL: {{^}}tick:
// aarch64-COUNT-3: bl get_random_u64
// aarch64: adrp [[R:x[0-9]+]], __kstackrand_mask
// aarch64-NEXT: ldr [[R]], {{.}}[[R]], :lo12:__kstackrand_mask]
// aarch64-NEXT: mov [[BITS:x[0-9]+]], #1008
// aarch64-NEXT: and [[R]], [[R]], [[BITS]]
// aarch64-NEXT: str [[R]], [{{x[0-9]+}}, #24]
// aarch64-NOT: ldxr
// aarch64: ret
//
// RUN: %cc -O2 %s -S -o %t.up -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry='*_entry'
// RUN: %FileCheck %s --check-prefix=UP --input-file=%t.up
// UP-NOT: percpu
// UP: .pushsection .data,"awG"
// UP-NOT: %gs:
// UP-NOT: tpidr
//
// A file without either brings nothing.
// RUN: %cc -O2 %s -S -o %t.none -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=nobody
// RUN: ! grep kstackrand_cpu %t.none
//
// RUN: %cc -O2 %s -S -o %t.s -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=noinstr_entry 2>&1 | %FileCheck %s --check-prefix=USER
// USER: noinstr_entry{{.*}} is not instrumented: {{.*}}__KERNEL__
// RUN: %cc -O2 %s -S -o %t.s -D__KERNEL__ -DMODULE -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=noinstr_entry 2>&1 | %FileCheck %s --check-prefix=MODULE
// MODULE: noinstr_entry{{.*}} is not instrumented: {{.*}}loadable module
// RUN: %cc -O2 %s -S -o %t.s -fplugin-arg-kstackrand-reseed=tick 2>&1 | %FileCheck %s --check-prefix=INLINE
// INLINE: tick{{.*}} is not instrumented: only model linux has reseed points
// RUN: %cc -O2 %s -S -o %t.s -D__KERNEL__ -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=early_entry -fplugin-arg-kstackrand-reseed=noinstr_entry 2>&1 | %FileCheck %s --check-prefix=SECTION
// SECTION-DAG: early_entry{{.*}} is not instrumented: {{.*}}.head.text
// SECTION-DAG: noinstr_entry{{.*}} is not instrumented: {{.*}}.noinstr.text
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
