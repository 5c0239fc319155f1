// SPDX-License-Identifier: MIT
// The note of a function whose symbol has every character that means something to
// an assembler or to a template of assembly; and a static function does not become
// one whose address is taken, which for -fcf-protection would cost an instruction.
// REQUIRES: native, x86_64
// RUN: %cc -O2 -fPIC -fcf-protection=branch -fplugin-arg-kstackrand-entry='*' -c %s -o %t.o
// RUN: readelf -p .note.kstackrand %t.o | %FileCheck %s
// CHECK-DAG: odd na%me{a|b}$c
// CHECK-DAG: do$llar
// CHECK-DAG: local
// RUN: %objdump -d --no-show-raw-insn %t.o | %FileCheck %s --check-prefix=CODE
// CODE-LABEL: <local>:
// CODE-NOT: endbr64
// CODE: ret
int puts(const char *);

int odd(int x) __asm__("odd na%me{a|b}$c");
int dollar(int x) __asm__("do$llar");

int odd(int x)
{
	return puts("odd") + x;
}

static __attribute__((noinline)) int local(int x)
{
	return puts("local") + x;
}

int dollar(int x)
{
	return local(x) + local(x + 1);
}
