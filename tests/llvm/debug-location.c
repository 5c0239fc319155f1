// SPDX-License-Identifier: MIT
// Everything inserted has a location, of line 0, so that a breakpoint on the
// function stands behind it; where there is no debug info, nothing has.
// RUN: for model in inline call; do for level in 0 2; do \
// RUN:   %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -fplugin-arg-kstackrand-model=$model \
// RUN:     -O$level -g -S -emit-llvm %s -o %t.ll && \
// RUN:   sed -n '/@entry(/,/^}/p' %t.ll | grep -E 'kstackrand|asm|alloca i8|mul|xor|zext|trunc|lshr|and i64' \
// RUN:   | grep -v '^define' > %t.inserted && test $(wc -l < %t.inserted) -ge 3 && ! grep -v '!dbg' %t.inserted && \
// RUN:   grep -q '!DILocation(line: 0, scope' %t.ll || { echo "$model -O$level"; exit 1; }; \
// RUN: done; done
// RUN: %plain_cc -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -O2 -S -emit-llvm %s -o - | %FileCheck %s
// CHECK-NOT: !dbg
int outside(int);

int entry(int x)
{
	return outside(x) + 1;
}
