// SPDX-License-Identifier: MIT
// The two attributes and the macro; on a declaration as well; not on variables.
// Without the front, annotations of these names do the same.
// RUN: %plain_cc -fplugin=%plugin -O2 -S -emit-llvm %s -o - 2>%t.err | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=WARN < %t.err
// RUN: %plain_cc -fpass-plugin=%passplugin -O2 -S -emit-llvm -DANNOTATE %s -o - | %FileCheck %s
int outside(int);

#ifdef ANNOTATE
#define ENTRY __attribute__((annotate("kstackrand")))
#define NO __attribute__((annotate("no_kstackrand")))
#else
#ifndef __KSTACKRAND__
#error no macro
#endif
#define ENTRY __attribute__((kstackrand))
#define NO __attribute__((no_kstackrand))
// WARN: attributes.c:[[#@LINE+1]]:{{.*}}: warning: 'kstackrand' attribute only applies to functions
int variable ENTRY;
#endif

ENTRY int declared(int);
// CHECK: define {{.*}}@declared({{.*}} #[[MARKED:[0-9]+]]
int declared(int x) { return outside(x) + 1; }
// CHECK: define {{.*}}@defined({{.*}} #[[MARKED2:[0-9]+]]
ENTRY int defined(int x) { return outside(x) + 1; }
// CHECK: define {{.*}}@both({{.*}} #[[PLAIN:[0-9]+]]
ENTRY NO int both(int x) { return outside(x) + 1; }
// CHECK: define {{.*}}@neither({{.*}} #[[PLAIN]]
int neither(int x) { return outside(x) + 1; }

// CHECK-DAG: attributes #[[MARKED]] = { {{.*}}noinline{{.*}}"kstackrand"="model=inline,rng=fast,bits=6,entry"{{.*}}"kstackrand-entry"="declared"
// CHECK-DAG: attributes #[[MARKED2]] = { {{.*}}"kstackrand-entry"="defined"
