// SPDX-License-Identifier: MIT
// kstackrand_siphash() is SipHash-1-3, of messages of eight bytes: by the vector for
// the reference's key and message, as Rust's standard library has it too, and by what
// Python makes of such messages, which hashes bytes so, with keys of our choice.
// RUN: %cc -O2 -I%include %s -o %t
// RUN: test $(echo 0706050403020100 0f0e0d0c0b0a0908 0706050403020100 | %run %t) = 369095118d299a8e
// RUN: for seed in 0 1 4294967295; do \
// RUN:   PYTHONHASHSEED=$seed %python %support/siphash_cases.py $seed >%t.cases && test $(wc -l <%t.cases) -eq 1000 && \
// RUN:   cut -d ' ' -f 1-3 %t.cases | %run %t >%t.ours && cut -d ' ' -f 4 %t.cases | cmp - %t.ours || exit 1; \
// RUN: done
#include <inttypes.h>
#include <kstackrand/abi.h>
#include <stdio.h>

/* Keys and message in, hash out, one a line. */
int main(void)
{
	uint64_t key[2], message;

	while (scanf("%" SCNx64 "%" SCNx64 "%" SCNx64, &key[0], &key[1], &message) == 3)
		printf("%016" PRIx64 "\n", kstackrand_siphash(message, key));
	return 0;
}
