// SPDX-License-Identifier: MIT
// Exactly one instrumentation: the plugin named twice, by both its names, two
// pipelines in a row, two rounds of the compiler.
// RUN: %plain_cc -fplugin=%plugin -fplugin=%plugin -fplugin=%passplugin -fpass-plugin=%passplugin -fpass-plugin=%passplugin \
// RUN:   -fplugin-arg-kstackrand-entry=entry -O2 -S -emit-llvm %s -o %t.ll
// RUN: %FileCheck %s < %t.ll
// RUN: %plain_cc -fplugin=%passplugin -fpass-plugin=%passplugin -mllvm -kstackrand=entry=entry \
// RUN:   -O2 -x ir %t.ll -S -emit-llvm -o - | %FileCheck %s
// RUN: %plain_cc -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.raw.ll
// RUN: opt-%version -load %passplugin -load-pass-plugin %passplugin -kstackrand=entry=entry \
// RUN:   -passes='default<O2>,default<O2>' -S %t.raw.ll -o - | %FileCheck %s
// RUN: cp %passplugin %t.copy.so
// RUN: opt-%version -load %passplugin -load %t.copy.so -load-pass-plugin %passplugin -load-pass-plugin %t.copy.so \
// RUN:   -kstackrand=entry=entry -passes='default<O2>' -S %t.raw.ll -o - | %FileCheck %s

// CHECK-LABEL: define {{.*}}@entry(
// CHECK: asm sideeffect "$(xadd{{.*}}
// CHECK-NOT: xadd
// CHECK: = alloca i8
// CHECK-NOT: = alloca i8
int entry(int x)
{
	return x + 1;
}
