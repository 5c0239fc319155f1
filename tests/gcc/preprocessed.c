// SPDX-License-Identifier: MIT
// Compiled in two steps, as -save-temps, distcc and ccache do it: what gcc -E
// writes holds the attributes, and is compiled with the plugin as it stands.
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d
// RUN: for language in c c++; do for flags in "" -g3 -fdirectives-only "-fdirectives-only -dD"; do \
// RUN:   %cc -x $language -I%include -E $flags %s -o source.i && \
// RUN:   %cc -x $language -O2 -fpreprocessed $flags -S source.i -o source.s && \
// RUN:   %python %support/count_in_functions.py source.s 'xadd|ldxr' | grep -x '.*entry.* 1' || \
// RUN:     { echo "$language $flags" >&2; exit 1; }; \
// RUN: done; done
// Switched off, the plugin still knows its attributes.
// RUN: %cc -I%include -E %s -o source.i && %cc -O2 -Wall -Werror -fplugin-arg-kstackrand-disable -S source.i -o source.s
// RUN: ! grep __kstackrand source.s
// RUN: for flags in -save-temps -no-integrated-cpp -g3 -pipe; do \
// RUN:   rm -f source.o && %cc -O2 -I%include $flags -c %s -o source.o && test -e source.o || exit 1; \
// RUN: done
#include <kstackrand/kstackrand.h>

int outside(int);

#ifdef __KSTACKRAND__
KSTACKRAND_ENTRY int entry(int x)
{
	return outside(x);
}
#endif
