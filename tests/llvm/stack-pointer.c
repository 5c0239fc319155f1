// SPDX-License-Identifier: MIT
// The fast path moves the stack pointer in an asm. What makes that safe is the
// variable alloca on the slow path, which holds for the function as a whole; so
// LLVM has to keep it, and do by it, with all that it does otherwise:
//   - the frame is reached and left by the frame pointer, asked for or not
//   - nothing lies below the stack pointer
//   - arguments on the stack are placed at the call, not in a part of the frame
//   - over-aligned locals have a base pointer from before the shift
// That it runs is the matter of tests/both/language.c and frames.c.
// RUN: for flags in "-O0" "-O1" "-O2" "-Os" "-O2 -fomit-frame-pointer" "-O2 -mno-red-zone -fomit-frame-pointer" \
// RUN:              "-O2 -fPIC" "-O2 -flto"; do \
// RUN:   for arch in x86_64 aarch64; do \
// RUN:     test "$flags" = "-O2 -mno-red-zone -fomit-frame-pointer" && test $arch = aarch64 && continue; \
// RUN:     cc="%plain_cc --target=$arch-linux-gnu $flags -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry_*"; \
// RUN:     set -f && case $flags in \
// RUN:     *-flto) $cc -c %s -o %t.bc && opt-%version -passes='default<O3>' %t.bc -o %t.opt.bc && \
// RUN:       llc-%version -O2 -relocation-model=pic %t.opt.bc -o %t.s;; \
// RUN:     *) $cc -S %s -o %t.s;; \
// RUN:     esac && set +f && \
// RUN:     %FileCheck %s --check-prefix=$arch < %t.s || { echo "$arch $flags"; exit 1; }; \
// RUN:   done; \
// RUN: done
void use(void *);
long ten(long, long, long, long, long, long, long, long, long, long);

// A leaf that would have its locals in the red zone.
// x86_64-LABEL: entry_leaf:
// x86_64: movq %rsp, %rbp
// x86_64: subq %{{r[a-z0-9]+}}, %rsp
// x86_64-NOT: {{-?[0-9]*}}(%rsp)
// x86_64: {{movq %rbp, %rsp|leaq -?[0-9]+\(%rbp\), %rsp}}
// x86_64: .cfi_endproc
// aarch64-LABEL: entry_leaf:
// aarch64: {{mov|add}} x29, sp
// aarch64: sub sp, sp, x
// aarch64-NOT: [sp, #{{[0-9]+}}]{{$}}
// aarch64: {{(mov|sub) sp, x29}}
// aarch64: .cfi_endproc
long entry_leaf(long i)
{
	volatile long words[8];

	for (int n = 0; n < 8; n++)
		words[n] = n;
	return words[i & 7];
}

// Locals that are spilled or have their address taken, and arguments of calls.
// x86_64-LABEL: entry_arguments:
// x86_64: movq %rsp, %rbp
// x86_64: subq %{{r[a-z0-9]+}}, %rsp
// Those of the call: pushed, or stored below a stack pointer that goes down here.
// x86_64: {{pushq|subq \$[0-9]+, %rsp|addq \$-[0-9]+, %rsp}}
// x86_64: call{{q?}} {{.*}}ten
// x86_64: {{leaq -[0-9]+\(%rbp\), %rsp|movq %rbp, %rsp}}
// aarch64-LABEL: entry_arguments:
// aarch64: {{mov|add}} x29, sp
// aarch64: sub sp, sp, x
// aarch64: {{sub sp, sp, #|\[sp, #-[0-9]+\]!}}
// aarch64: bl ten
// aarch64: {{(mov|sub) sp, x29}}
long entry_arguments(long a, long b)
{
	long c = a * b;

	use(&c);
	return ten(a, b, a + 1, b + 1, a + 2, b + 2, a + 3, b + 3, a + 4, b + 4) + a + b + c;
}

// x86_64-LABEL: entry_over_aligned:
// x86_64: andq $-{{64|4096}}, %rsp
// x86_64: movq %rsp, %rbx
// x86_64: subq %{{r[a-z0-9]+}}, %rsp
// x86_64: (%rbx{{[,)]}}
// aarch64-LABEL: entry_over_aligned:
// aarch64: {{and|bfi|bic}} {{.*}}sp,{{.*}}
// aarch64: mov x19, sp
// aarch64: sub sp, sp, x
// aarch64: x19
void entry_over_aligned(long a)
{
	_Alignas(64) volatile long line[8];

	line[a & 7] = a;
	use((void *)line);
	use((void *)line);
}
