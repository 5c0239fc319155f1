// SPDX-License-Identifier: MIT
// Sanitizers come before the prologue: they neither see its alloca nor its loads.
// RUN: for level in 0 2; do for sanitizer in address thread memory; do \
// RUN:   %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O$level -fsanitize=$sanitizer -fno-discard-value-names -S -emit-llvm %s -o %t.ll && \
// RUN:   %FileCheck %s < %t.ll || { echo "-O$level $sanitizer"; exit 1; }; \
// RUN: done; done
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O2 -fsanitize=safe-stack -S %s -o - \
// RUN:   | %FileCheck %s --check-prefix=SAFE
int outside(int);

// CHECK-LABEL: define {{.*}}@entry(
// CHECK: %key = load
// CHECK-NEXT: %seal = load
// CHECK-NEXT: %step = load
// CHECK: %kstackrand.shift = alloca i8, i64 %{{.*}}, align 1
// CHECK-NEXT: call void asm
// CHECK-NEXT: br label
// CHECK-NOT: __asan_alloca_poison
// SAFE-LABEL: entry:
// SAFE-NOT: __safestack_unsafe_stack_ptr
// SAFE: .cfi_endproc
int entry(int x)
{
	return outside(x) + 1;
}
