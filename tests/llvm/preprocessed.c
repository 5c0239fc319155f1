// SPDX-License-Identifier: MIT
// Compiled in two steps, as -save-temps, distcc and ccache do it. From Clang 17 on
// the header finds out by itself that the plugin is there; before, it is told,
// as kstackrand-config does.
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d
// RUN: told=-D__KSTACKRAND__=1; test %version -lt 17 || told=; \
// RUN: for flags in -save-temps -no-integrated-cpp -g3 -pipe; do \
// RUN:   %cc -O2 -I%include $flags $told -c %s -o object.o && \
// RUN:   %objdump -d object.o | grep xadd || { echo "$flags" >&2; exit 1; }; \
// RUN: done
#include <kstackrand/kstackrand.h>

int outside(int);

KSTACKRAND_ENTRY int entry(int x)
{
	return outside(x);
}
