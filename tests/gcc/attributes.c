// SPDX-License-Identifier: MIT
// An attribute on something else than a function is a warning, and nothing more.
// RUN: %cc -O2 -S %s -o %t.s 2>%t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: ! grep kstackrand %t.s
// CHECK: attributes.c:[[#@LINE+1]]:{{.*}}warning: {{.*}}kstackrand{{.*}} attribute only applies to functions
__attribute__((kstackrand)) int variable = 1;
// CHECK: attributes.c:[[#@LINE+1]]:{{.*}}warning: {{.*}}no_kstackrand{{.*}} attribute only applies to functions
__attribute__((no_kstackrand)) int other = 2;
