// SPDX-License-Identifier: MIT
// Model linux: the shift is one instruction where an entry has a way that is
// hardly ever taken, on which the allocation can stand that LLVM must see. As the
// source tells, not as LLVM guesses. It must not be lost, and nothing must be
// unreachable, which objtool would find.
//
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: for target in x86_64 aarch64; do for level in 1 2 3 s; do \
// RUN:   cc="%plain_cc --target=$target-linux-gnu -O$level -D__KERNEL__ -DCONFIG_SMP=1 -fplugin=%plugin \
// RUN:     -fplugin-arg-kstackrand-model=linux -fplugin-arg-kstackrand-entry=*_entry"; \
// RUN:   $cc %s -S -o %t.d/$target.$level.s && \
// RUN:   %FileCheck %s --check-prefixes=$target --input-file=%t.d/$target.$level.s && \
// RUN:   $cc %s -c -o %t.d/$target.$level.o && \
// RUN:   readelf -SW %t.d/$target.$level.o | %FileCheck %s --check-prefix=DISCARD || \
// RUN:     { echo "$target -O$level" >&2; exit 1; }; \
// RUN: done; done
//
// x86_64-LABEL: {{^}}rare_entry:
// x86_64: mulq
// x86_64: .quad [[LABEL:.Lkstackrand_rare_[0-9A-F]+]]
// x86_64: subq %rdx, %rsp
// x86_64-NOT: movq %{{.*}}, %rsp
// x86_64: call{{.*}}usual
// x86_64: {{ret|jmp}}
// x86_64: [[LABEL]]:
// x86_64: movq %{{.*}}, %rsp
// x86_64: jmp
// x86_64: .size rare_entry
//
// aarch64-LABEL: {{^}}rare_entry:
// aarch64: umulh
// aarch64: .xword [[LABEL:.Lkstackrand_rare_[0-9A-F]+]]
// aarch64: sub sp, sp, x
// aarch64-NOT: mov sp, x{{[0-9]+}}
// aarch64: bl usual
// aarch64: ret
// aarch64: [[LABEL]]:
// aarch64: mov sp, x
// aarch64: b .
// aarch64: .size rare_entry
//
// DISCARD: .discard.kstackrand PROGBITS {{0+ [0-9a-f]+ 000008 00 +0}}
//
// Two ways that are alike: the allocation shifts, as it does where there is but
// one way.
// x86_64-LABEL: {{^}}even_entry:
// x86_64-NOT: kstackrand_rare
// x86_64: movq %{{r[a-z0-9]+}}, %rsp
// x86_64: .size even_entry
// aarch64-LABEL: {{^}}even_entry:
// aarch64-NOT: kstackrand_rare
// aarch64: mov sp, x
// aarch64: .size even_entry
//
// With LTO the function is optimized once more, and nobody knows how.
// RUN: %plain_cc -O2 -flto -D__KERNEL__ -fplugin=%plugin -fplugin-arg-kstackrand-model=linux \
// RUN:   -fplugin-arg-kstackrand-entry='*_entry' -S %s -o - | %FileCheck %s --check-prefix=LTO
// RUN: %plain_cc -O2 -flto=thin -D__KERNEL__ -fplugin=%plugin -fplugin-arg-kstackrand-model=linux \
// RUN:   -fplugin-arg-kstackrand-entry='*_entry' -S %s -o - | %FileCheck %s --check-prefix=LTO
// LTO-NOT: kstackrand_rare
// LTO: alloca
// LTO-NOT: kstackrand_rare
//
// Lost on the way from the pass to the assembler, it is missed.
// RUN: sed '/^\.Lkstackrand_rare_[0-9A-F]*:/d' %t.d/x86_64.2.s > %t.lost.s
// RUN: ! %plain_cc --target=x86_64-linux-gnu -c %t.lost.s -o %t.lost.o 2>%t.said
// RUN: %FileCheck %s --check-prefix=LOST --input-file=%t.said
// LOST: error: {{.*}}kstackrand_rare
int usual(int);
void rare(int *);

int rare_entry(int x)
{
	int y = x;

	if (__builtin_expect(x == 7, 0))
		rare(&y);
	return usual(x) + y;
}

int even_entry(int x)
{
	return x ? usual(x) + 1 : usual(2) - 1;
}
